/* Checking a rescale that was merged into a product without an exact factor. The sums before lie
 * near the sums after it divided by the ratio of scales, no farther than the certificate says
 * (drift), which follows from the rescale's errors and the model's weights. From the drift the two
 * forms tell by how many codes results can differ. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "opt/check/check.h"
#include "schemes/derive/sums.h"

#define WIDEST (INT64_C(1) << 52)
#define PROBES 1024

typedef struct drifting {
    const check_context *c;
    const assay_node *a, *function, *b;
    assay_unit *before, *after;
    int64_t lo, hi, was_lo, was_hi; /* claimed intervals of sums */
    int64_t down, up;               /* claimed drift of the channel at hand */
    double ratio, error; /* of the rescale: of scales; greatest, in codes of its output */
    size_t channel;
    int64_t worst, last_before, last_after;
    bool ordered;
} drifting;

static const assay_type *type_of(const assay_graph *g, int v)
{
    return &g->value[v].type;
}

static int64_t code(const drifting *d, const assay_unit *u, int64_t sum)
{
    int32_t out;
    d->c->scheme->vt->requantize(u, &sum, 1, d->channel, &out);
    return out;
}

static int64_t code_before(const drifting *d, double sum)
{
    sum = fmin(fmax(sum, (double)d->was_lo), (double)d->was_hi);
    return code(d, d->before, (int64_t)sum);
}

/* ---- the bound ---- */

/* Sums first .. last give one code now. */
static void look_at_run(drifting *d, int64_t first, int64_t last, int64_t now)
{
    int64_t least = code_before(d, floor((double)first / d->ratio) + (double)d->down - 1);
    int64_t max = code_before(d, ceil((double)last / d->ratio) + (double)d->up + 1);
    d->ordered &= now >= d->last_after && least <= max && least >= d->last_before;
    d->last_after = now;
    d->last_before = least;
    d->worst = now - least > d->worst ? now - least : d->worst;
    d->worst = max - now > d->worst ? max - now : d->worst;
}

/* The last sum of from .. to with the code that `from` has; `to` has another. */
static int64_t end_of_run(const drifting *d, int64_t from, int64_t to, int64_t now)
{
    while (to - from > 1) {
        int64_t middle = from + (to - from) / 2;
        if (code(d, d->after, middle) == now)
            from = middle;
        else
            to = middle;
    }
    return from;
}

static void look_at_channel(drifting *d)
{
    const int64_t stride = d->hi - d->lo < PROBES ? 1 : (d->hi - d->lo) / PROBES;
    int64_t first = d->lo, now = code(d, d->after, d->lo);
    d->last_before = d->last_after = INT64_MIN;
    for (int64_t x = d->lo; x < d->hi;) {
        int64_t next = d->hi - x < stride ? d->hi : x + stride;
        while (code(d, d->after, next) != now) {
            int64_t end = end_of_run(d, x, next, now);
            look_at_run(d, first, end, now);
            first = x = end + 1;
            now = code(d, d->after, x);
        }
        x = next;
    }
    look_at_run(d, first, d->hi, now);
}

/* ---- what the drift rests on ---- */

/* Greatest distance of what the rescale makes of a code from what the scales say. */
static void measure_error(drifting *d, const int32_t *table, size_t size)
{
    const assay_type *x = type_of(d->c->before, d->function->in[0]);
    const assay_type *y = type_of(d->c->before, d->function->out[0]);
    d->ratio = (double)y->q.scale[0] / (double)x->q.scale[0];
    for (size_t i = 0; i < size; i++) {
        double from = (double)(assay_elem_min(x->elem) + (int64_t)i - x->q.zero_point[0]);
        d->error = fmax(d->error, fabs((double)(table[i] - y->q.zero_point[0]) - from / d->ratio));
    }
}

static int64_t bias_of(const assay_graph *g, const assay_node *n, int64_t channel)
{
    const assay_value *v = n->n_in > 2 && n->in[2] >= 0 ? &g->value[n->in[2]] : NULL;
    return v && v->data ? assay_elem_get(v->type.elem, v->data, (size_t)channel) : 0;
}

/* The bias in the new unit is the old one's nearest. */
static assay_status check_bias(const drifting *d)
{
    const check_context *c = d->c;
    if (d->a->n_in < 3 || d->a->in[2] < 0)
        return ASSAY_OK;
    const assay_value *old = &c->before->value[d->a->in[2]], *now = &c->after->value[d->b->in[2]];
    int64_t n = assay_shape_count(&old->type);
    if (!old->data || !now->data || assay_shape_count(&now->type) != n)
        return check_reject(c, "a bias that is not known");
    for (int64_t i = 0; i < n; i++)
        if (fabs((double)bias_of(c->after, d->b, i) -
                 (double)bias_of(c->before, d->a, i) * d->ratio) > 0.5)
            return check_reject(c, "the bias is not in the new unit");
    return ASSAY_OK;
}

/* With the model: the drift and both intervals are those of its weights. */
static assay_status check_weights(const drifting *d, const json_t *drift, bool *known)
{
    const check_context *c = d->c;
    const assay_type *x = type_of(c->before, d->function->in[0]);
    const size_t forms = json_array_size(drift);
    double down = 0, up = 0;
    const check_reachable was =
        check_reach(c, c->before, d->a, -1, d->before, type_of(c->before, d->a->in[0]));
    const check_reachable is = check_reach(c, c->after, d->b, -1, d->after, x);
    *known = was.known && is.known;
    if (!*known)
        return ASSAY_OK;
    if (was.overflows || is.overflows)
        return check_reject(c, "the accumulator may overflow");
    if (d->was_lo != was.lo || d->was_hi != was.hi || d->lo != is.lo || d->hi != is.hi)
        return check_reject(c, "the reachable accumulators are not those claimed");
    const int64_t channels = assay_shape_count(type_of(c->before, d->a->out[0]));
    for (int64_t k = 0; k < channels; k++) {
        const int64_t magnitude = check_magnitude(c, c->before, d->a, k);
        int64_t low, high;
        double off =
            (double)bias_of(c->before, d->a, k) - (double)bias_of(c->after, d->b, k) / d->ratio;
        double far = d->error * (double)magnitude;
        down = fmin(forms > 1 ? 0 : down, off - far);
        up = fmax(forms > 1 ? 0 : up, off + far);
        if (forms == 1 && k + 1 < channels)
            continue;
        check_interval(json_array_get(drift, forms > 1 ? (size_t)k : 0), &low, &high);
        if (low != (int64_t)floor(down) || high != (int64_t)ceil(up))
            return check_reject(c, "sums do not drift as claimed");
    }
    return ASSAY_OK;
}

/* ---- all of it ---- */

static assay_status read_claims(drifting *d, const json_t *step, const json_t **drift)
{
    const check_context *c = d->c;
    *drift = json_object_get(step, "drift");
    bool good = check_interval(json_object_get(step, "reachable"), &d->lo, &d->hi) &&
                check_interval(json_object_get(step, "was_reachable"), &d->was_lo, &d->was_hi);
    size_t forms = derive_unit_forms(d->before), other = derive_unit_forms(d->after);
    forms = other > forms ? other : forms;
    good = good && d->lo >= -WIDEST && d->hi <= WIDEST && d->was_lo >= -WIDEST &&
           d->was_hi <= WIDEST && json_array_size(*drift) == forms;
    for (size_t i = 0; good && i < forms; i++)
        good = check_interval(json_array_get(*drift, i), &d->down, &d->up) && d->down <= 0 &&
               d->up >= 0;
    return good ? ASSAY_OK : check_reject(c, "no interval of accumulators, or no drift");
}

static assay_status look_at_all(drifting *d, const json_t *drift, int64_t *worst)
{
    d->ordered = true;
    for (d->channel = 0; d->channel < json_array_size(drift); d->channel++) {
        check_interval(json_array_get(drift, d->channel), &d->down, &d->up);
        look_at_channel(d);
    }
    *worst = d->worst;
    return d->ordered ? ASSAY_OK : check_reject(d->c, "a threshold form that is not monotone");
}

assay_status check_drift(check_context *c, const json_t *step, int64_t *worst)
{
    drifting d = {.c = c};
    const json_t *drift = NULL;
    int32_t *table = NULL;
    size_t size = 0;
    bool known = false;
    assay_status s = c->scheme->plugin_handle
                         ? check_reject(c, "a bound on the sums of a plugin")
                         : check_product_pair(c, true, &d.a, &d.function, &d.b);
    if (!s)
        s = check_tabulate(c, c->before, d.function, &table, &size);
    if (!s)
        s = check_prepare_pair(c, d.a, d.b, &d.before, &d.after);
    if (!s)
        s = read_claims(&d, step, &drift);
    if (!s) {
        measure_error(&d, table, size);
        s = check_bias(&d);
    }
    if (!s)
        s = check_model_bias(c, d.a);
    if (!s)
        s = check_weights(&d, drift, &known);
    if (!s)
        s = look_at_all(&d, drift, worst);
    c->given += !known;
    check_release_pair(c, d.before, d.after);
    free(table);
    return s;
}
