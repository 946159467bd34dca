/* Patterns as a unit reads them, and the one way from a sum to a result's pattern. */
#include <assert.h>

#include "schemes/mac/terms.h"

assay_mac_value mac_read_pattern(const assay_mac *m, int64_t f, int64_t flush, uint64_t pattern)
{
    const assay_mac_layout *l = mac_layout_of((enum assay_mac_format)f);
    assay_mac_value v = mac_decode((enum assay_mac_format)f, pattern);
    const bool subnormal = l->exponent_bits > 0 && l->specials != ASSAY_MAC_SCALE &&
                           v.kind == ASSAY_MAC_NUMBER && v.significand != 0 &&
                           v.significand >> l->fraction_bits == 0;
    if (subnormal && flush != ASSAY_MAC_FLUSH_NONE)
        v.significand = 0;
    if (v.kind != ASSAY_MAC_NUMBER || v.significand != 0)
        return v;
    v.negative = v.negative && flush != ASSAY_MAC_FLUSH_PLUS;
    if (m->zero_exponent != ASSAY_MAC_NONE)
        v.unit = (int)m->zero_exponent;
    return v;
}

mac_term mac_term_of(const assay_mac_value *v)
{
    return (mac_term){v->kind, v->negative, v->unit, v->exponent, v->significand};
}

mac_term mac_running(const assay_mac *m, uint64_t pattern)
{
    const assay_mac_value v = mac_read_pattern(m, m->out, m->flush_acc, pattern);
    return mac_term_of(&v);
}

/* v cut to its first 64 bits, with one sticky bit for those below. */
static assay_mac_value narrowed(const mac_term *v)
{
    const int drop = mac_digits(v->significand) - 64;
    assay_mac_value out = {v->kind, v->negative, 0, v->exponent, (uint64_t)v->significand};
    assert(drop <= 64);
    if (drop > 0) {
        const assay_uint128 lost = v->significand & (((assay_uint128)1 << drop) - 1);
        out.significand = (uint64_t)(v->significand >> drop) | (lost != 0);
        out.exponent += drop;
    }
    return out;
}

/* Whether v, not 0, is below the least normal number of l, before or after it is rounded to l. */
static bool is_tiny(const assay_mac *m, const assay_mac_layout *l, const assay_mac_value *v,
                    const assay_mac_rounding *how)
{
    const int least = 1 - l->bias, top = v->exponent + mac_digits(v->significand) - 1;
    if (top != least - 1 || m->flush_out == ASSAY_MAC_TINY_BEFORE)
        return top < least;
    const int drop = top - how->fraction_bits - v->exponent;
    if (drop <= 0)
        return true;
    const assay_int128 n = v->significand,
                       r = assay_round_shift128(v->negative ? -n : n, (unsigned)drop, how->mode);
    return mac_digits((assay_uint128)(r < 0 ? -r : r)) <= how->fraction_bits + 1;
}

uint64_t mac_result(const assay_mac *m, const mac_term *v, int64_t mode, int64_t fraction)
{
    const enum assay_mac_format out = (enum assay_mac_format)m->out;
    const assay_mac_layout *l = mac_layout_of(out);
    const assay_mac_rounding how = {
        (enum assay_rounding)mode, fraction > 0 ? (int)fraction : l->fraction_bits,
        m->overflow == ASSAY_MAC_LARGEST && v->kind == ASSAY_MAC_NUMBER};
    assert(how.fraction_bits <= l->fraction_bits);
    const uint64_t sign = (uint64_t)1 << (l->exponent_bits + l->fraction_bits);
    assay_mac_value x = narrowed(v);
    if (v->kind == ASSAY_MAC_NAN)
        return (uint64_t)m->nan;
    if (v->kind == ASSAY_MAC_NUMBER && v->significand != 0 && m->flush_out != ASSAY_MAC_TINY_NONE &&
        is_tiny(m, l, &x, &how))
        x.significand = 0;
    uint64_t pattern = mac_encode(out, &x, &how);
    if ((pattern & (sign - 1)) == 0 && m->zero_sign == ASSAY_MAC_ZERO_PLUS)
        return 0;
    if (how.saturate) /* so that the largest number has no more fraction bits than others */
        pattern &= ~(((uint64_t)1 << (l->fraction_bits - how.fraction_bits)) - 1);
    return pattern;
}
