/* Align, cut, add, round once: the step of mac.def. */
#include <assert.h>

#include "schemes/mac/mac.h"

enum { MAX_TERMS = 64 + 1 };

/* Scale codes have no zero and no Inf: exponents are added. */
static void scale_by(assay_mac_value *v, uint8_t code)
{
    const assay_mac_value s = mac_decode(ASSAY_MAC_E8M0, code);
    if (s.kind == ASSAY_MAC_NAN)
        v->kind = ASSAY_MAC_NAN;
    v->unit += s.unit;
    v->exponent += s.exponent;
}

static bool is_zero(const assay_mac_value *v)
{
    return v->kind == ASSAY_MAC_NUMBER && v->significand == 0;
}

/* Exact, digits as they come: not normalised. */
static assay_mac_value product(const assay_mac *m, const assay_mac_row *row, size_t i)
{
    const assay_mac_value a = mac_decode((enum assay_mac_format)m->a, row->a[i]),
                          b = mac_decode((enum assay_mac_format)m->b, row->b[i]);
    assay_mac_value p = {.kind = a.kind > b.kind ? a.kind : b.kind,
                         .negative = a.negative != b.negative,
                         .unit = a.unit + b.unit,
                         .exponent = a.exponent + b.exponent,
                         .significand = a.significand * b.significand};
    if (p.kind == ASSAY_MAC_INF && (is_zero(&a) || is_zero(&b)))
        p.kind = ASSAY_MAC_NAN;
    if (m->scale_block > 0) {
        scale_by(&p, row->scale_a[i / (size_t)m->scale_block]);
        scale_by(&p, row->scale_b[i / (size_t)m->scale_block]);
    }
    return p;
}

/* Is the sum of these Inf or NaN? Its kind and sign, else a NUMBER. */
static assay_mac_value special(const assay_mac_value *term, size_t n)
{
    bool inf[2] = {false, false};
    for (size_t i = 0; i < n; i++) {
        if (term[i].kind == ASSAY_MAC_NAN)
            return term[i];
        if (term[i].kind == ASSAY_MAC_INF)
            inf[term[i].negative] = true;
    }
    return (assay_mac_value){.kind = inf[0] && inf[1]   ? ASSAY_MAC_NAN
                                     : inf[0] || inf[1] ? ASSAY_MAC_INF
                                                        : ASSAY_MAC_NUMBER,
                             .negative = inf[1]};
}

/* The sum of n numbers on the grid of the greatest exponent: each is below 2^56 there. */
static assay_mac_value aligned_sum(const assay_mac *m, const assay_mac_value *term, size_t n)
{
    int greatest = (int)m->least_max;
    for (size_t i = 0; i < n; i++)
        if (term[i].significand != 0 && term[i].unit > greatest)
            greatest = term[i].unit;
    const int grid = greatest - (int)m->align_bits;
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const int drop = grid - term[i].exponent;
        const int64_t digits = (int64_t)term[i].significand,
                      signed_digits = term[i].negative ? -digits : digits;
        if (digits == 0)
            continue;
        assert(drop < 0 ? drop > -56 && digits >> (56 + drop) == 0 : digits >> 56 == 0);
        sum += drop < 0 ? signed_digits * ((int64_t)1 << -drop)
                        : apply_round_shift(signed_digits, (unsigned)drop,
                                            (enum assay_rounding)m->align_cut);
    }
    return (assay_mac_value){.negative = sum < 0,
                             .exponent = grid,
                             .significand = sum < 0 ? 0 - (uint64_t)sum : (uint64_t)sum};
}

static uint32_t step(const assay_mac *m, const assay_mac_row *row, size_t first, assay_mac_value c)
{
    const enum assay_mac_format out = (enum assay_mac_format)m->out;
    const assay_mac_rounding how = {
        (enum assay_rounding)m->out_round,
        m->out_frac > 0 ? (int)m->out_frac : mac_layout_of(out)->fraction_bits, false};
    assay_mac_value term[MAX_TERMS];
    const size_t n = (size_t)m->group;
    assert(n < MAX_TERMS);
    for (size_t i = 0; i < n; i++)
        term[i] = product(m, row, first + i);
    term[n] = c;
    assay_mac_value sum = special(term, n + 1);
    if (sum.kind == ASSAY_MAC_NAN)
        return (uint32_t)m->nan;
    if (sum.kind == ASSAY_MAC_NUMBER)
        sum = aligned_sum(m, term, n + 1);
    return mac_encode(out, &sum, &how);
}

/* The accumulator that comes in as a number of the result's format, which holds it: digits move up,
 * so a subnormal may become normal, with an exponent of its own. */
static uint32_t widened(const assay_mac *m, uint32_t c)
{
    const enum assay_mac_format out = (enum assay_mac_format)m->out;
    const assay_mac_rounding exact = {ASSAY_ROUND_TRUNC, mac_layout_of(out)->fraction_bits, false};
    const assay_mac_value v = mac_decode((enum assay_mac_format)m->acc, c);
    return mac_encode(out, &v, &exact);
}

uint32_t mac_dot(const assay_mac *m, const assay_mac_row *row)
{
    uint32_t d = widened(m, row->c);
    for (size_t i = 0; i < row->k; i += (size_t)m->group)
        d = step(m, row, i, mac_decode((enum assay_mac_format)m->out, d));
    return d;
}
