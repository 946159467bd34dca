/* A rescale in front of a product goes into it. It does when it multiplies every code, counted from
 * the zero point, by one whole number k, and the bias is a multiple of k: then what was summed is k
 * times what is summed now, and the threshold forms decide. k is 1 where only the zero point moves.
 *
 * Otherwise the sums differ by at most what the rescale's errors add up to through the weights, and
 * the threshold forms tell by how many codes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "opt/lower/nodes.h"
#include "opt/prove/fragment.h"
#include "opt/prove/products.h"
#include "opt/prove/prove.h"
#include "opt/prove/rescale_bias.h"

#define LARGEST_FACTOR (INT64_C(1) << 16)

static int64_t zero_of(const assay_type *t)
{
    return t->q.zero_point[0];
}

/* The whole number by which the table multiplies, or 0; then *at is a code that shows it. */
static int64_t factor_of(const assay_type *x, const assay_type *y, const int64_t *table, size_t n,
                         size_t *at)
{
    int64_t least = assay_elem_min(x->elem), zero = zero_of(x) - least;
    int64_t next = zero + 1 < (int64_t)n ? zero + 1 : zero - 1;
    int64_t k = (table[next] - zero_of(y)) / (next - zero);
    *at = (size_t)next;
    if (k < 1 || k > LARGEST_FACTOR)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (table[i] - zero_of(y) != k * ((int64_t)i - zero)) {
            *at = i;
            return 0;
        }
    return k;
}

/* ---- the bias ---- */

/* Every bias is known, and fits its type in the new unit; where there is a factor, it divides all.
 */
static bool bias_is_good(const assay_graph *g, const assay_node *n, int64_t factor, double ratio,
                         assay_verdict *v)
{
    for (int64_t c = 0; n->n_in > 2 && n->in[2] >= 0 && c < prove_product_channels(g, n); c++) {
        assay_elem e = g->value[n->in[2]].type.elem;
        int64_t bias, now;
        if (!prove_product_bias(g, n, c, &bias)) {
            snprintf(v->evidence, sizeof v->evidence, "the bias is not known");
            return false;
        }
        double real = factor > 0 ? 0 : (double)bias * ratio;
        if (fabs(real) > (double)assay_elem_max(e)) {
            snprintf(v->evidence, sizeof v->evidence, "the bias of channel %lld would overflow",
                     (long long)c);
            snprintf(v->counterexample, sizeof v->counterexample, "bias %lld became %.0f",
                     (long long)bias, real);
            return false;
        }
        now = prove_rescaled_bias(bias, factor, ratio);
        if (factor > 0 && now * factor != bias) {
            snprintf(v->evidence, sizeof v->evidence, "the bias is not a multiple of %lld",
                     (long long)factor);
            snprintf(v->counterexample, sizeof v->counterexample,
                     "bias %lld of channel %lld became %lld times %lld", (long long)bias,
                     (long long)c, (long long)now, (long long)factor);
            return false;
        }
    }
    return true;
}

/* ---- forms ---- */

static int64_t ceil_div(int64_t a, int64_t k)
{
    return a >= 0 ? (a + k - 1) / k : -(-a / k);
}

/* The form of codes by k * x becomes the form by x. */
static void divide_steps(assay_threshold_form *s, int64_t k)
{
    size_t kept = 0;
    s->lo = ceil_div(s->lo, k);
    s->hi = -ceil_div(-s->hi, k);
    for (size_t i = 0; i < s->n; i++) {
        int64_t from = ceil_div(s->from[i], k);
        from = from < s->lo ? s->lo : from;
        kept -= kept > 0 && s->from[kept - 1] == from; /* a step between two sums */
        if (from > s->hi)
            break;
        s->from[kept] = from;
        s->code[kept++] = s->code[i];
    }
    s->n = kept;
}

typedef struct linear {
    const assay_graph *g;
    const assay_node *node;
    const assay_scheme *scheme;
    const assay_type *weights;
    int64_t factor;
    double ratio;              /* sums in front of the bias are sums now times 1 / ratio */
    double error_lo, error_hi; /* of one rescaled code, in codes of the rescale's output */
} linear;

static assay_status make_forms(const linear *l, const assay_unit *before, const assay_unit *after,
                               size_t channel, assay_interval r, assay_threshold_form *a,
                               assay_threshold_form *b, assay_error *err)
{
    const int64_t k = l->factor;
    const assay_interval times = {k * r.lo, k * r.hi};
    assay_status s = prove_form_make(l->scheme, before, channel, times, a, err);
    if (s)
        return s;
    divide_steps(a, k);
    s = prove_form_make(l->scheme, after, channel, r, b, err);
    if (s)
        assay_threshold_form_free(a);
    return s;
}

static assay_status compare_exactly(const linear *l, const assay_unit *before,
                                    const assay_unit *after, assay_proof *proof, assay_error *err)
{
    size_t channels = prove_form_count(l->scheme, before, l->weights), steps = 0;
    const size_t other = prove_form_count(l->scheme, after, l->weights);
    channels = other > channels ? other : channels;
    assay_verdict *v = &proof->verdict;
    memset(v, 0, sizeof *v);
    for (size_t c = 0; c < channels; c++) {
        assay_threshold_form a, b;
        assay_disagreements d;
        assay_status s = make_forms(l, before, after, c, proof->reach, &a, &b, err);
        if (s)
            return s;
        assay_threshold_form_compare(&a, &b, &d);
        steps += b.n;
        assay_threshold_form_free(&a);
        assay_threshold_form_free(&b);
        if (!d.count)
            continue;
        bool refused = d.first[0].a == ASSAY_REFUSED || d.first[0].b == ASSAY_REFUSED;
        v->kind = refused || v->kind == ASSAY_UNPROVED ? ASSAY_UNPROVED : ASSAY_BOUNDED;
        if (d.greatest <= v->bound)
            continue;
        v->bound = d.greatest;
        snprintf(v->counterexample, sizeof v->counterexample,
                 "accumulator %lld of channel %zu: %lld became %lld", (long long)d.first[0].from, c,
                 (long long)d.first[0].a, (long long)d.first[0].b);
    }
    snprintf(
        v->evidence, sizeof v->evidence,
        "reachable [%lld, %lld], sums times %lld, threshold forms %s (%zu channels, %zu steps)",
        (long long)proof->reach.lo, (long long)proof->reach.hi, (long long)l->factor,
        v->kind == ASSAY_EXACT ? "equal" : "differ", channels, steps);
    return ASSAY_OK;
}

static bool is_ordered(const assay_threshold_form *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->code[i] == ASSAY_REFUSED || (i > 0 && s->code[i] < s->code[i - 1]))
            return false;
    return true;
}

/* Sums before lie within [down, up] of sums now by the ratio of scales; false: too far to tell. */
static bool drift_of(const linear *l, bool one_channel, int64_t c, assay_drift *out)
{
    double down = 0, up = 0;
    int64_t first = one_channel ? c : 0,
            end = one_channel ? c + 1 : prove_product_channels(l->g, l->node);
    for (int64_t k = first; k < end; k++) {
        int64_t bias = 0;
        prove_product_bias(l->g, l->node, k, &bias);
        double weights = (double)prove_product_extremes(l->g, l->node, -1, 1, k).hi;
        double off = (double)bias - (double)prove_rescaled_bias(bias, 0, l->ratio) / l->ratio;
        double worst = fmax(-l->error_lo, l->error_hi) * weights;
        down = fmin(down, off - worst);
        up = fmax(up, off + worst);
    }
    if (!(up < 0x1p40 && down > -0x1p40))
        return false;
    *out = (assay_drift){(int64_t)floor(down), (int64_t)ceil(up)};
    return true;
}

/* Code of the form at a sum that is known to lie within the form's ends. */
static int64_t code_near(const assay_threshold_form *s, double sum)
{
    sum = fmin(fmax(sum, (double)s->lo), (double)s->hi);
    return assay_threshold_form_at(s, (int64_t)sum);
}

static assay_status bound_channel(const linear *l, const assay_unit *before,
                                  const assay_unit *after, assay_interval was, size_t c,
                                  assay_proof *proof, assay_error *err)
{
    assay_drift *d = &proof->drift[c];
    assay_verdict *v = &proof->verdict;
    assay_threshold_form a, b;
    if (!drift_of(l, before->scale[ASSAY_OUT].n > 1, (int64_t)c, d))
        return assay_fail(err, ASSAY_ERR_LIMIT, "errors too wide for an interval");
    assay_status s =
        assay_threshold_form_make(&before->scale[ASSAY_OUT], c, was.lo, was.hi, &a, err);
    if (s)
        return s;
    s = assay_threshold_form_make(&after->scale[ASSAY_OUT], c, proof->reach.lo, proof->reach.hi, &b,
                                  err);
    if (!s && (!is_ordered(&a) || !is_ordered(&b)))
        v->kind = ASSAY_UNPROVED;
    for (size_t i = 0; !s && v->kind != ASSAY_UNPROVED && i < b.n; i++) {
        int64_t first = b.from[i], last = i + 1 < b.n ? b.from[i + 1] - 1 : b.hi;
        int64_t low =
            b.code[i] - code_near(&a, floor((double)first / l->ratio) + (double)d->down - 1);
        int64_t high = code_near(&a, ceil((double)last / l->ratio) + (double)d->up + 1) - b.code[i];
        v->bound = low > v->bound ? low : v->bound;
        v->bound = high > v->bound ? high : v->bound;
    }
    assay_threshold_form_free(&a);
    if (!s)
        assay_threshold_form_free(&b);
    return s;
}

static assay_status bound(const linear *l, const assay_unit *before, const assay_unit *after,
                          assay_interval was, assay_proof *proof, assay_error *err)
{
    size_t channels = before->scale[ASSAY_OUT].n, other = after->scale[ASSAY_OUT].n;
    char found[sizeof proof->verdict.counterexample];
    memcpy(found, proof->verdict.counterexample, sizeof found);
    proof->verdict = (assay_verdict){.kind = ASSAY_BOUNDED};
    memcpy(proof->verdict.counterexample, found, sizeof found);
    channels = other > channels ? other : channels;
    proof->was = was;
    proof->n_drift = channels;
    proof->drift = calloc(channels + 1, sizeof *proof->drift);
    if (!proof->drift)
        return assay_out_of_memory(err);
    for (size_t c = 0; c < channels; c++) {
        assay_status s = bound_channel(l, before, after, was, c, proof, err);
        if (s)
            return s;
    }
    const bool nothing = proof->verdict.kind == ASSAY_BOUNDED && proof->verdict.bound == 0;
    snprintf(proof->verdict.evidence, sizeof proof->verdict.evidence,
             "errors of a rescaled code in [%.3g, %.3g], carried through the weights%s",
             l->error_lo, l->error_hi, nothing ? ", change no code" : "");
    if (nothing) {
        proof->verdict.kind = ASSAY_EXACT;
        proof->verdict.counterexample[0] = '\0';
    }
    return ASSAY_OK;
}

/* What the rescale makes of codes beside what the scales say. */
static void measure_errors(linear *l, const assay_type *x, const assay_type *y,
                           const int64_t *table, size_t n)
{
    int64_t least = assay_elem_min(x->elem);
    for (size_t i = 0; i < n; i++) {
        double real = (double)(least + (int64_t)i - zero_of(x)) / l->ratio;
        double e = (double)(table[i] - zero_of(y)) - real;
        l->error_lo = fmin(l->error_lo, e);
        l->error_hi = fmax(l->error_hi, e);
    }
}

/* Sums of the codes that the rescale reads, with the bias in their unit. */
static assay_status reach_now(const linear *l, const assay_type *x, const assay_unit *u,
                              assay_interval *out, assay_error *err)
{
    const int64_t max = u->rec.accumulator.bits < 52
                            ? (INT64_C(1) << (u->rec.accumulator.bits - 1)) - 1
                            : INT64_C(1) << 50;
    *out = (assay_interval){0, 0};
    for (int64_t c = 0; c < prove_product_channels(l->g, l->node); c++) {
        int64_t bias = 0;
        prove_product_bias(l->g, l->node, c, &bias);
        bias = prove_rescaled_bias(bias, 0, l->ratio);
        assay_extremes e =
            prove_product_extremes(l->g, l->node, assay_elem_min(x->elem) - zero_of(x),
                                   assay_elem_max(x->elem) - zero_of(x), c);
        if (e.magnitude + (bias < 0 ? -bias : bias) > max)
            return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "the accumulator might overflow");
        out->lo = e.lo + bias < out->lo ? e.lo + bias : out->lo;
        out->hi = e.hi + bias > out->hi ? e.hi + bias : out->hi;
    }
    return ASSAY_OK;
}

static void tell_error(const assay_type *x, const assay_type *y, const int64_t *table, size_t at,
                       assay_verdict *v)
{
    int64_t code = assay_elem_min(x->elem) + (int64_t)at;
    snprintf(v->counterexample, sizeof v->counterexample,
             "input %lld: %lld became %lld (counted from zero points)", (long long)code,
             (long long)(table[at] - zero_of(y)), (long long)(code - zero_of(x)));
}

/* The rewritten product has the bias that the proof is about. */
static bool has_new_bias(const linear *l, const assay_graph *after, assay_verdict *v)
{
    const assay_node *n = NULL;
    for (int i = 0; i < after->n_nodes; i++)
        n = lower_is_product(&after->node[i]) ? &after->node[i] : n;
    for (int64_t c = 0; n && c < prove_product_channels(l->g, l->node); c++) {
        int64_t was = 0, is = 0, wanted;
        prove_product_bias(l->g, l->node, c, &was);
        wanted = prove_rescaled_bias(was, l->factor, l->ratio);
        if (prove_product_bias(after, n, c, &is) && is == wanted)
            continue;
        snprintf(v->evidence, sizeof v->evidence, "the bias is in another unit");
        snprintf(v->counterexample, sizeof v->counterexample,
                 "bias %lld of channel %lld became %lld instead of %lld", (long long)was,
                 (long long)c, (long long)is, (long long)wanted);
        return false;
    }
    return n != NULL;
}

/* Why no argument is known, into the verdict; false: one is. */
static bool is_beyond(linear *l, const assay_match *m, bool exact, assay_verdict *v)
{
    const bool built_in = l->scheme->vt == &assay_family_vtable;
    if (l->factor && !bias_is_good(l->g, l->node, l->factor, l->ratio, v))
        l->factor = 0;
    if (l->factor != 1 && !exact) {
        snprintf(v->evidence, sizeof v->evidence, "the accumulator may overflow");
        return true;
    }
    if (!l->factor && (m->slot[0] > 0 || !built_in)) {
        snprintf(v->evidence, sizeof v->evidence, "no bound is known %s",
                 built_in ? "for a second operand" : "of a plugin's sums");
        return true;
    }
    return !l->factor && !bias_is_good(l->g, l->node, 0, l->ratio, v);
}

/* By a whole factor: sums before are multiples of sums after. */
static assay_status judge_exact(linear *l, const assay_sums *sums, const assay_unit *before,
                                const assay_unit *after, assay_proof *proof, assay_error *err)
{
    const int64_t k = l->factor;
    proof->reach = (assay_interval){ceil_div(proof->reach.lo, k), -ceil_div(-proof->reach.hi, k)};
    if (prove_sums_alike(l->scheme, before, after, sums))
        return compare_exactly(l, before, after, proof, err);
    snprintf(proof->verdict.evidence, sizeof proof->verdict.evidence,
             "the accumulators have other rules");
    return ASSAY_OK;
}

static assay_status judge(linear *l, const assay_match *m, const assay_rule *rule,
                          const assay_unit *before, const int64_t *table, size_t n,
                          assay_proof *proof, assay_error *err)
{
    const assay_scheme *s = l->scheme;
    const assay_node *rescale = &l->g->node[m->upper[0]];
    const assay_type *x = &assay_node_in(l->g, rescale, 0)->type;
    const assay_type *y = &assay_node_out(l->g, rescale, 0)->type;
    assay_verdict *v = &proof->verdict;
    assay_unit *after = NULL;
    assay_sums sums;
    size_t at;
    v->kind = ASSAY_UNPROVED;
    l->factor = factor_of(x, y, table, n, &at);
    if (s->vt == &assay_family_vtable && before->rec.accumulator.saturate_pairs) {
        snprintf(v->evidence, sizeof v->evidence,
                 "pairs of raw codes saturate in this target's accumulator");
        return ASSAY_OK;
    }
    assay_status status = prove_product_reach(l->g, l->node, ASSAY_NO_VALUE, s, before, &sums, err);
    if (status)
        return status;
    proof->reach = sums.reach;
    if (!l->factor)
        tell_error(x, y, table, at, v);
    if (is_beyond(l, m, sums.exact, v))
        return ASSAY_OK;
    proof->factor = l->factor;
    status = prove_rewrite(m, rule, NULL, proof, err);
    if (status || !proof->possible || !has_new_bias(l, proof->after, v))
        return status;
    status = prove_product_prepare(proof->after, s, &after, err);
    if (status)
        return status;
    if (l->factor) {
        status = judge_exact(l, &sums, before, after, proof, err);
    } else {
        const assay_interval was = proof->reach;
        measure_errors(l, x, y, table, n);
        status = reach_now(l, x, after, &proof->reach, err);
        if (!status)
            status = bound(l, before, after, was, proof, err);
    }
    s->vt->release(after);
    return status;
}

assay_status prove_linear(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                          const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                          assay_error *err)
{
    linear l = {.g = g,
                .node = &g->node[m->lower],
                .scheme = s,
                .weights = &assay_node_in(g, &g->node[m->lower], 1)->type,
                .ratio = prove_rescale_ratio(g, m->upper[0])};
    assay_unit *before = NULL;
    int64_t *table = NULL;
    size_t n = 0;
    assay_status status = prove_product_cut(g, m, l.node, s, &proof->before, &before, err);
    if (!status)
        status = prove_tabulate(g, m->upper[0], s, run, &table, &n, err);
    if (!status)
        status = judge(&l, m, rule, before, table, n, proof, err);
    if (before)
        s->vt->release(before);
    free(table);
    return prove_impossible(proof, status, err);
}
