/* Rules by which a prepared unit of a parameter record adds up products; see sums.h. */
#include "schemes/derive/sums.h"

#include <math.h>
#include <string.h>

#include "schemes/apply/unit.h"

int derive_unit_sum_bits(const assay_unit *u)
{
    return u->rec.accumulator.bits;
}

bool derive_unit_saturates_pairs(const assay_unit *u)
{
    return u->rec.accumulator.saturate_pairs;
}

bool derive_unit_adds_alike(const assay_unit *a, const assay_unit *b)
{
    return memcmp(&a->rec.accumulator, &b->rec.accumulator, sizeof a->rec.accumulator) == 0;
}

size_t derive_unit_forms(const assay_unit *u)
{
    return u->scale[ASSAY_OUT].n;
}

/* ---- codes that follow sums ---- */

/* Bits that a multiplier has at least, for its error and another rounding's to be below 2^-6. */
#define FINE_BITS 8
/* Roundings of at most one code each. */
#define ROUNDINGS 3
/* A zero point and a rounding more. */
#define BESIDE 0x1p17

/* Values below `max` in magnitude stay what they are in so many bits; 0: no register holds them.
 */
static bool fits(double max, int bits)
{
    return bits == 0 || max < ldexp(1, bits - 1);
}

/* The same, or the register ends at its greatest value. */
static bool narrows(double max, int bits, int32_t overflow)
{
    return overflow != ASSAY_NARROW_WRAP || fits(max, bits);
}

/* A multiplier m of at least FINE_BITS and a right shift, which differ from the exact ones by less
 * than a factor of two. */
static bool integers_follow(const assay_rule_rescale *k, double greatest, double ratio)
{
    const bool shift = k->encoding == ASSAY_ENCODE_SHIFT;
    const int bits = shift ? 0 : k->reduced_bits ? k->reduced_bits : k->multiplier_bits;
    const int fixed = k->pre_shift == ASSAY_PRE_FIXED ? k->pre_shift_bits : 0;
    int exponent;
    frexp(ratio, &exponent);
    const int right = (shift ? 0 : k->multiplier_bits) - exponent, rest = bits - exponent - fixed;
    const int first = k->round.step[0].bits;
    const int left = k->left_shift == ASSAY_LEFT_PRODUCT ? 0 : first - rest + 1;
    const double operand = ldexp(greatest, left > 0 ? left - fixed : -fixed) + 1;
    if ((!shift && bits < FINE_BITS) || k->common_shift || k->pre_shift == ASSAY_PRE_REST ||
        k->round.n + (fixed > 0) > ROUNDINGS || (fixed > 0 && ldexp(ratio, fixed) > 0.5))
        return false;
    if (right >= k->shift_max && k->beyond_shift_max != ASSAY_SMALL_ZERO &&
        k->beyond_shift_max != ASSAY_SMALL_REFUSE)
        return false;
    return (k->left_shift != ASSAY_LEFT_WRAP || left <= 0 || fits(operand, 32)) &&
           fits(ldexp(operand, bits), k->product_bits) &&
           narrows(greatest * ratio * 2 + BESIDE, k->result_bits, k->result_overflow);
}

bool derive_unit_follows(const assay_unit *u, double greatest, double ratio)
{
    const assay_rule_accumulator *a = &u->rec.accumulator;
    const assay_rule_rescale *k = &u->rec.rescale;
    const double codes = greatest * ratio * 2 + BESIDE;
    if ((a->overflow == ASSAY_OVERFLOW_WRAP && !fits(greatest, a->bits)) || !(ratio > 0) ||
        k->store == ASSAY_STORE_WRAP || !narrows(codes, k->sum_bits, k->sum_overflow))
        return false;
    switch (k->encoding) {
    case ASSAY_ENCODE_MULTIPLIER:
    case ASSAY_ENCODE_SHIFT:
        return integers_follow(k, greatest, ratio);
    case ASSAY_ENCODE_F32:
    case ASSAY_ENCODE_F64:
        return k->float_overflow == ASSAY_FLOAT_SATURATE || fits(codes, 32);
    default:
        return k->encoding == ASSAY_ENCODE_THRESHOLDS;
    }
}
