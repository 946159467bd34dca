/* Threshold forms of a product with and without the rescale in front of it: equal, or how far
 * apart. */
#include "opt/prove/linear.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "opt/prove/products.h"
#include "opt/prove/rescale_bias.h"

int64_t prove_linear_ceil_div(int64_t a, int64_t k)
{
    return a >= 0 ? (a + k - 1) / k : -(-a / k);
}

/* The form of codes by k * x becomes the form by x. */
static void divide_steps(assay_threshold_form *s, int64_t k)
{
    size_t kept = 0;
    s->lo = prove_linear_ceil_div(s->lo, k);
    s->hi = -prove_linear_ceil_div(-s->hi, k);
    for (size_t i = 0; i < s->n; i++) {
        int64_t from = prove_linear_ceil_div(s->from[i], k);
        from = from < s->lo ? s->lo : from;
        kept -= kept > 0 && s->from[kept - 1] == from; /* a step between two sums */
        if (from > s->hi)
            break;
        s->from[kept] = from;
        s->code[kept++] = s->code[i];
    }
    s->n = kept;
}

static assay_status make_forms(const prove_linear_case *l, const assay_unit *before,
                               const assay_unit *after, size_t channel, assay_interval r,
                               assay_threshold_form *a, assay_threshold_form *b, assay_error *err)
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

assay_status prove_linear_compare_exactly(const prove_linear_case *l, const assay_unit *before,
                                          const assay_unit *after, assay_proof *proof,
                                          assay_error *err)
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
static bool drift_of(const prove_linear_case *l, bool one_channel, int64_t c, assay_drift *out)
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

static assay_status bound_channel(const prove_linear_case *l, const assay_unit *before,
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

assay_status prove_linear_bound(const prove_linear_case *l, const assay_unit *before,
                                const assay_unit *after, assay_interval was, assay_proof *proof,
                                assay_error *err)
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
