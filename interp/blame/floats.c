/* Nodes in floats; see floats.h. */
#include "interp/blame/floats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/blame/families.h"

/* Products, or values, that an element is the sum of; 0: the node does not add floats. */
static double terms_of(const assay_graph *g, const assay_node *n)
{
    const int64_t macs = assay_node_macs(g, n);
    const double out = (double)assay_shape_count(&assay_node_out(g, n, 0)->type);
    const double in = (double)assay_shape_count(&assay_node_in(g, n, 0)->type);
    double area = 1;
    if (n->op == ASSAY_OP_CONV_TRANSPOSE) /* an element may receive all taps of a channel */
        return (double)assay_shape_count(&assay_node_in(g, n, 1)->type) + 1;
    if (macs > 0)
        return (double)macs / out + 1;
    if (!(assay_op_get(n->op)->traits & ASSAY_T_SUMS))
        return 0;
    for (int i = 0; n->op == ASSAY_OP_AVG_POOL && i < n->attr.pool.kernel.n; i++)
        area *= (double)n->attr.pool.kernel.v[i];
    return n->op == ASSAY_OP_AVG_POOL ? area + 1 : in / out + 1;
}

/* The magnitudes of a float operand, in the case's arena; NULL: out of memory. */
static const void *magnitudes(blame_case *c, int i)
{
    const int64_t n = assay_shape_count(&c->in[i]);
    float *to = assay_arena_array(c->arena, (size_t)n + 16, sizeof *to);
    for (int64_t k = 0; k < n && to; k++)
        to[k] = fabsf(((const float *)c->data[i])[k]);
    return to;
}

assay_status blame_float_slack(const blame_device *d, int node, int sample, float **out,
                               assay_error *err)
{
    const assay_node *n = &d->graph->node[node];
    const void *in[BLAME_IN] = {NULL};
    const int64_t count = assay_shape_count(&d->graph->value[n->out[0]].type);
    blame_case c;
    *out = NULL;
    if (!blame_case_can(n) || n->n_in < 1 || !assay_node_in(d->graph, n, 0) ||
        d->graph->value[n->out[0]].type.elem.kind != ASSAY_KIND_F32 ||
        assay_node_is_quantized(d->graph, n) || !(terms_of(d->graph, n) > 0))
        return ASSAY_OK;
    assay_arena *arena = assay_arena_new();
    *out = calloc((size_t)count + 16, sizeof **out);
    bool good = arena && *out;
    for (int i = 0; i < n->n_in; i++) {
        const assay_value *v = assay_node_in(d->graph, n, i);
        if (v && !v->data)
            in[i] = blame_at(d, sample, n->in[i])->believed;
    }
    blame_case_fill(&c, d->graph, n, d->scheme, in, arena);
    c.act_lo = -INFINITY;
    c.act_hi = INFINITY;
    for (int i = 0; i < c.n_in && good; i++)
        if (c.in[i].elem.kind == ASSAY_KIND_F32)
            good = (c.data[i] = magnitudes(&c, i)) != NULL;
    assay_status status = good ? blame_case_run(&c, *out, NULL, err) : assay_out_of_memory(err);
    for (int64_t e = 0; e < count && !status; e++)
        (*out)[e] = (float)(ldexp(terms_of(d->graph, n), -23) * (double)(*out)[e]);
    assay_arena_free(arena);
    return status;
}

int blame_float_order_count(blame_search *s)
{
    return s->n_after == 0 && s->rel < 0 && s->type->elem.kind == ASSAY_KIND_F32 &&
           !assay_node_is_quantized(s->d->graph, s->n) && blame_case_can(s->n) &&
           terms_of(s->d->graph, s->n) > 0;
}

/* The device's own number where another order may make it of the replay's. */
bool blame_float_order_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    bool good = true;
    (void)i;
    for (int k = 0; k < s->n_samples && good; k++) {
        float *slack, a, b;
        good = !blame_float_slack(s->d, s->node, s->sample[k], &slack, NULL) && slack;
        for (int64_t e = 0; e < s->count && good; e++) {
            int32_t *code = &codes[k * s->count + e];
            memcpy(&a, &s->dev[k * s->count + e], sizeof a);
            memcpy(&b, code, sizeof b);
            if (s->seen[k * s->count + e] && fabsf(a - b) <= slack[e])
                memcpy(code, &a, sizeof a);
        }
        free(slack);
    }
    blame_tell(story, "accumulator.order", 2,
               "floats added in another order: no element is further off than that may make it");
    return good;
}

/* ---- numbers of nodes of floats ---- */

enum { NO_BOUNDS, RELU, RELU6, RELU1, SEEN_LO, SEEN_HI, SEEN_BOTH, BOUNDS };

int blame_float_bounds_count(blame_search *s)
{
    return s->type->elem.kind == ASSAY_KIND_F32 && !assay_node_is_quantized(s->d->graph, s->n)
               ? s->n_after == 0 ? BOUNDS : SEEN_LO
               : 0;
}

/* Bounds of a node of its own as those of any: bounds of what a clip of no bounds gives. */
static void open_bounds(blame_case *c)
{
    if (c->op == ASSAY_OP_RELU)
        c->act_lo = fmaxf(c->act_lo, 0.0f);
    else if (c->op == ASSAY_OP_CLIP) {
        c->act_lo = fmaxf(c->act_lo, c->attr.clip.lo);
        c->act_hi = fminf(c->act_hi, c->attr.clip.hi);
    } else
        return;
    c->op = ASSAY_OP_CLIP;
    c->attr.clip.lo = -INFINITY;
    c->attr.clip.hi = INFINITY;
}

bool blame_float_bounds_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    open_bounds(c);
    float lo = i == RELU || i == RELU6 ? 0.0f : i == RELU1 ? -1.0f : -INFINITY;
    float hi = i == RELU6 ? 6.0f : i == RELU1 ? 1.0f : INFINITY;
    float min = INFINITY, max = -INFINITY, v;
    for (int64_t e = 0; e < s->n_samples * s->count && i >= SEEN_LO; e++)
        if (s->seen[e]) {
            memcpy(&v, &s->dev[e], sizeof v);
            min = fminf(min, v);
            max = fmaxf(max, v);
        }
    if (i >= SEEN_LO) {
        lo = i == SEEN_HI ? c->act_lo : min;
        hi = i == SEEN_LO ? c->act_hi : max;
    }
    if ((i >= SEEN_LO && s->differing < 2) || (lo == c->act_lo && hi == c->act_hi) || !(lo <= hi))
        return false; /* one element may hold anything */
    blame_tell(story, "saturation.bounds", i < SEEN_LO ? 1 : (lo != c->act_lo) + (hi != c->act_hi),
               "bounds %.9g and %.9g instead of %.9g and %.9g", (double)lo, (double)hi,
               (double)c->act_lo, (double)c->act_hi);
    c->act_lo = lo;
    c->act_hi = hi;
    return true;
}

/* The scale that codes are made real with, from the element of the greatest magnitude: those
 * nearest to the quotient. */
enum { SCALES = 9 };

int blame_float_scale_count(blame_search *s)
{
    return s->n->op == ASSAY_OP_DEQUANTIZE && s->n_after == 0 &&
                   blame_input_type(s, 0)->q.granularity == ASSAY_Q_TENSOR
               ? SCALES
               : 0;
}

bool blame_float_scale_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const double zero = c->in[0].q.zero_point ? c->in[0].q.zero_point[0] : 0;
    const void *data = blame_at(s->d, s->sample[0], s->n->in[0])->believed;
    double best = 0;
    float quotient = 0, *scale, v;
    for (int64_t e = 0; e < s->count && data; e++) {
        const double q = (double)assay_elem_get(c->in[0].elem, data, (size_t)e) - zero;
        if (!s->seen[e] || !(fabs(q) > best))
            continue;
        memcpy(&v, &s->dev[e], sizeof v);
        best = fabs(q);
        quotient = (float)((double)v / q);
    }
    if (!(quotient > 0) || !isfinite(quotient) || !blame_own_params(c, &c->in[0], &scale, NULL))
        return false;
    for (int k = 0; k < (i + 1) / 2; k++)
        quotient = nextafterf(quotient, i % 2 ? INFINITY : 0.0f);
    int power;
    if (frexp((double)quotient / (double)scale[0], &power) == 0.5)
        return false; /* a shift */
    blame_tell(story, "rescale.multiplier", 1, "scale %.9g instead of %.9g", (double)quotient,
               (double)scale[0]);
    scale[0] = quotient;
    return s->differing > 1;
}
