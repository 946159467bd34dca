/* A rescale in front of a product that is merged into it. That is exact when it multiplies every
 * code, counted from the zero point, by one whole number k, and the bias is a multiple of k: the
 * old sums are then k times the new ones, and the threshold forms decide. k is 1 where only the
 * zero point moves.
 *
 * Otherwise the sums differ by at most the rescale's errors carried through the weights, and the
 * threshold forms tell by how many codes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "opt/lower/nodes.h"
#include "opt/prove/fragment.h"
#include "opt/prove/linear.h"
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

/* The rescale's codes compared with those that the scales give. */
static void measure_errors(prove_linear_case *l, const assay_type *x, const assay_type *y,
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
static assay_status reach_now(const prove_linear_case *l, const assay_type *x, const assay_unit *u,
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
static bool has_new_bias(const prove_linear_case *l, const assay_graph *after, assay_verdict *v)
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
        snprintf(v->evidence, sizeof v->evidence, "the bias is in a different unit");
        snprintf(v->counterexample, sizeof v->counterexample,
                 "bias %lld of channel %lld became %lld instead of %lld", (long long)was,
                 (long long)c, (long long)is, (long long)wanted);
        return false;
    }
    return n != NULL;
}

/* Why no argument is known, into the verdict; false: one is. */
static bool is_beyond(prove_linear_case *l, const assay_match *m, bool exact, assay_verdict *v)
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
static assay_status judge_exact(prove_linear_case *l, const assay_sums *sums,
                                const assay_unit *before, const assay_unit *after,
                                assay_proof *proof, assay_error *err)
{
    const int64_t k = l->factor;
    proof->reach = (assay_interval){prove_linear_ceil_div(proof->reach.lo, k),
                                    -prove_linear_ceil_div(-proof->reach.hi, k)};
    if (prove_sums_alike(l->scheme, before, after, sums))
        return prove_linear_compare_exactly(l, before, after, proof, err);
    snprintf(proof->verdict.evidence, sizeof proof->verdict.evidence,
             "the accumulators differ in width, overflow or order");
    return ASSAY_OK;
}

static assay_status judge(prove_linear_case *l, const assay_match *m, const assay_rule *rule,
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
            status = prove_linear_bound(l, before, after, was, proof, err);
    }
    s->vt->release(after);
    return status;
}

assay_status prove_linear(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                          const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                          assay_error *err)
{
    prove_linear_case l = {.g = g,
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
