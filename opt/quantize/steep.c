/* Steep functions: codes of an input that spans many powers of two are fine where it is large and
 * useless where it is small, which is where a logarithm or a reciprocal is steepest (log of a power
 * spectrum). What the codes leave of the function's values is predicted from the profile. */
#include <math.h>

#include "opt/quantize/plan.h"

#define FEWEST_DB 20 /* of signal to noise that pass without a warning */
#define WIDEST    10 /* bits: of wider codes the histogram's bins say nothing */

/* The functions whose slope has no bound. False: the node is none of them. */
static bool value_of(assay_op op, double x, double *y)
{
    switch (op) {
    case ASSAY_OP_LOG:
        *y = log(x);
        return true;
    case ASSAY_OP_SQRT:
        *y = sqrt(x);
        return true;
    case ASSAY_OP_RSQRT:
        *y = 1 / sqrt(x);
        return true;
    case ASSAY_OP_RECIPROCAL:
        *y = 1 / x;
        return true;
    default:
        return false;
    }
}

static double decode(const assay_code *c, double x, enum assay_rounding round)
{
    const int64_t code =
        calibrate_quantize_real(x, (double)c->scale, c->zero_point, assay_elem_min(c->elem),
                                assay_elem_max(c->elem), round);
    return (double)c->scale * (double)(code - c->zero_point);
}

/* Signal to noise, in dB, of the function's values over elements h when its input is in codes c;
 * where a code is outside of its domain, all of the value is lost. */
static double predict(assay_op op, const assay_histogram *h, const assay_code *c,
                      enum assay_rounding round)
{
    double n = 0, sum = 0, squares = 0, noise = 0, want, got;
    int first, end;
    profile_histogram_extent(h, &first, &end);
    for (int i = first; i < end; i++) {
        const double count = (double)*profile_histogram_at(h, i), x = ldexp(i + 0.5, h->exponent);
        if (count <= 0 || !value_of(op, x, &want) || !isfinite(want))
            continue;
        value_of(op, decode(c, x, round), &got);
        const double off = isfinite(got) ? want - got : want;
        n += count;
        sum += count * want;
        squares += count * want * want;
        noise += count * off * off;
    }
    const double signal = n > 0 ? squares - sum * sum / n : 0;
    return noise > 0 && signal > 0 ? 10 * log10(signal / noise) : INFINITY;
}

double quantize_steep_sqnr(const assay_quantizer *q, int node)
{
    const assay_node *n = &q->g->node[node];
    double y;
    if (q->node[node].state != ASSAY_PLAN_INTEGER || !value_of(n->op, 1, &y) ||
        lower_is_constant(q->g, n->in[0]))
        return INFINITY;
    const assay_profile_entry *e = profile_entry_of(q->profile, q->g, n->in[0]);
    const assay_code code = quantize_plan_code(q, n->in[0]);
    if (!e || code.elem.bits > WIDEST)
        return INFINITY;
    const double db = predict(n->op, &e->seen, &code, q->caps.constant_round);
    return db < FEWEST_DB ? db : INFINITY;
}
