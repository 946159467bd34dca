/* Small floats: decode, and encode with one rounding. */
#include "schemes/mac/formats.h"

#include <assert.h>
#include <string.h>

#define LAYOUT(ID, name, bits, exponent, fraction, bias, specials)                                 \
    {name, bits, exponent, fraction, bias, ASSAY_MAC_##specials},
static const assay_mac_layout layouts[] = {ASSAY_MAC_FLOATS(LAYOUT)};

/* The shifts by these: each stays inside a word, and a sign, field and fraction in one of 64 bits.
 */
#define FITS(ID, name, bits, exponent, fraction, bias, specials)                                   \
    static_assert((exponent) >= 0 && (exponent) <= 11 && (fraction) >= 0 && (fraction) <= 52 &&    \
                      (bits) >= 1 && (exponent) + (fraction) <= (bits) && (bits) <= 64,            \
                  "a format of 64 bits at most");
ASSAY_MAC_FLOATS(FITS)

const assay_mac_layout *mac_layout_of(enum assay_mac_format f)
{
    assert((int)f >= 0 && (int)f < ASSAY_MAC_FORMATS);
    return &layouts[f];
}

bool mac_format_parse(const char *name, enum assay_mac_format *f)
{
    for (int i = 0; i < ASSAY_MAC_FORMATS; i++)
        if (strcmp(layouts[i].name, name) == 0) {
            *f = (enum assay_mac_format)i;
            return true;
        }
    return false;
}

bool mac_is_signed(enum assay_mac_format f)
{
    return layouts[f].specials != ASSAY_MAC_SCALE && f != ASSAY_MAC_UE4M3;
}

uint64_t mac_pattern_of(enum assay_mac_format f, bool negative, uint64_t magnitude)
{
    const assay_mac_layout *l = &layouts[f];
    const uint64_t sign = negative && mac_is_signed(f);
    const uint64_t pattern = magnitude | sign << (l->exponent_bits + l->fraction_bits);
    return f == ASSAY_MAC_TF32 ? pattern << 13 : pattern;
}

static uint64_t ones(int n)
{
    assert(n >= 0 && n < 64);
    return ((uint64_t)1 << n) - 1;
}

/* Whether this (exponent field and fraction, without the sign) is Inf or NaN. */
static enum assay_mac_kind kind_of(const assay_mac_layout *l, uint64_t magnitude, bool negative)
{
    const uint64_t all = ones(l->exponent_bits + l->fraction_bits);
    const uint64_t infinity = all - ones(l->fraction_bits);
    switch (l->specials) {
    case ASSAY_MAC_IEEE:
        return magnitude < infinity    ? ASSAY_MAC_NUMBER
               : magnitude == infinity ? ASSAY_MAC_INF
                                       : ASSAY_MAC_NAN;
    case ASSAY_MAC_FNUZ:
        return negative && magnitude == 0 ? ASSAY_MAC_NAN : ASSAY_MAC_NUMBER;
    case ASSAY_MAC_FINITE:
    case ASSAY_MAC_INTEGER:
        return ASSAY_MAC_NUMBER;
    case ASSAY_MAC_FN:
    case ASSAY_MAC_SCALE:
        break;
    }
    return magnitude == all ? ASSAY_MAC_NAN : ASSAY_MAC_NUMBER;
}

static assay_mac_value integer(uint64_t pattern)
{
    const int64_t n = apply_wrap((int64_t)(pattern & 255), 8);
    return (assay_mac_value){
        .negative = n < 0, .exponent = -6, .significand = (uint64_t)(n < 0 ? -n : n)};
}

assay_mac_value mac_decode(enum assay_mac_format f, uint64_t pattern)
{
    const assay_mac_layout *l = &layouts[f];
    if (l->specials == ASSAY_MAC_INTEGER)
        return integer(pattern);
    if (f == ASSAY_MAC_TF32)
        pattern >>= 13;
    const uint64_t magnitude = pattern & ones(l->exponent_bits + l->fraction_bits);
    const int field = (int)(magnitude >> l->fraction_bits);
    assay_mac_value v = {.significand = magnitude & ones(l->fraction_bits)};
    if (l->specials == ASSAY_MAC_SCALE) { /* here every exponent field is that of a normal number */
        v.significand = 1;
        v.unit = field - l->bias;
    } else {
        v.negative =
            mac_is_signed(f) && (pattern >> (l->exponent_bits + l->fraction_bits) & 1) != 0;
        v.significand |= (uint64_t)(field != 0) << l->fraction_bits;
        v.unit = (field != 0 ? field : 1) - l->bias;
    }
    v.exponent = v.unit - l->fraction_bits;
    v.kind = kind_of(l, magnitude, v.negative);
    return v;
}

static uint64_t with_sign(enum assay_mac_format f, bool negative, uint64_t magnitude)
{
    const bool plus = layouts[f].specials == ASSAY_MAC_FNUZ && magnitude == 0; /* there is no -0 */
    return mac_pattern_of(f, negative && !plus, magnitude);
}

/* Exponent field and fraction of the largest number. */
static uint64_t largest(const assay_mac_layout *l)
{
    const uint64_t all = ones(l->exponent_bits + l->fraction_bits);
    switch (l->specials) {
    case ASSAY_MAC_IEEE:
        return all - ones(l->fraction_bits) - 1;
    case ASSAY_MAC_FN:
        return all - 1;
    case ASSAY_MAC_FNUZ:
    case ASSAY_MAC_FINITE:
    case ASSAY_MAC_SCALE:
    case ASSAY_MAC_INTEGER:
        break;
    }
    return all;
}

static uint64_t not_a_number(enum assay_mac_format f, bool negative)
{
    const assay_mac_layout *l = &layouts[f];
    switch (l->specials) {
    case ASSAY_MAC_IEEE:
        return with_sign(f, negative, largest(l) + 1 + ((uint64_t)1 << (l->fraction_bits - 1)));
    case ASSAY_MAC_FN:
        return with_sign(f, negative, largest(l) + 1);
    case ASSAY_MAC_FNUZ:
        assert(l->bits <= 64);
        return (uint64_t)1 << (l->bits - 1);
    case ASSAY_MAC_FINITE:
    case ASSAY_MAC_SCALE:
    case ASSAY_MAC_INTEGER:
        break;
    }
    return largest(l);
}

static uint64_t beyond(enum assay_mac_format f, bool negative, bool saturate)
{
    const assay_mac_layout *l = &layouts[f];
    if (saturate || l->specials == ASSAY_MAC_FINITE)
        return with_sign(f, negative, largest(l));
    if (l->specials == ASSAY_MAC_IEEE)
        return with_sign(f, negative, largest(l) + 1);
    return not_a_number(f, negative);
}

/* In units of 2^-6, within 127 of them on either side. Numbers beyond, and Inf, give the nearest of
 * these; NaN gives the greatest, as in other formats without a NaN. */
static uint64_t encode_integer(const assay_mac_value *v, enum assay_rounding mode)
{
    const assay_int128 n = v->negative ? -(assay_int128)v->significand : v->significand;
    const int drop = -6 - v->exponent, greatest = 127;
    assay_int128 units = v->negative ? -greatest : greatest;
    if (v->kind == ASSAY_MAC_NAN)
        return (uint64_t)greatest;
    if (v->kind == ASSAY_MAC_NUMBER && n == 0)
        units = 0;
    else if (v->kind == ASSAY_MAC_NUMBER && drop > -32)
        units = drop < 0 ? n * ((assay_int128)1 << -drop)
                         : assay_round_shift128(n, drop < 127 ? (unsigned)drop : 127, mode);
    return (uint64_t)(units > greatest ? greatest : units < -greatest ? -greatest : units) & 255;
}

uint64_t mac_encode(enum assay_mac_format f, const assay_mac_value *v,
                    const assay_mac_rounding *how)
{
    const assay_mac_layout *l = &layouts[f];
    if (l->specials == ASSAY_MAC_INTEGER)
        return encode_integer(v, how->mode);
    if (v->kind == ASSAY_MAC_NAN)
        return not_a_number(f, v->negative);
    if (v->kind == ASSAY_MAC_INF)
        return beyond(f, v->negative, how->saturate && l->specials != ASSAY_MAC_FNUZ);
    if (v->significand == 0)
        return with_sign(f, v->negative, 0);
    /* The value lies in [2^top, 2^(top+1)); below the least normal exponent the spacing of numbers
     * stays. */
    const int least = 1 - l->bias;
    const int top = v->exponent + 63 - __builtin_clzll(v->significand);
    const int unit = top > least ? top : least;
    const int drop = unit - how->fraction_bits - v->exponent;
    if (unit > least + (1 << l->exponent_bits))
        return beyond(f, v->negative, how->saturate);
    assert(drop >= -how->fraction_bits && how->fraction_bits <= l->fraction_bits);
    assay_int128 n = v->significand;
    n = v->negative ? -n : n;
    n = drop < 0 ? n * ((assay_int128)1 << -drop)
                 : assay_round_shift128(n, drop < 127 ? (unsigned)drop : 127, how->mode);
    assert((n < 0 ? -n : n) <= (assay_int128)2 << how->fraction_bits);
    /* A carry out of the fraction increments the exponent field; a subnormal's bit before the
     * binary point makes that field 1. */
    const uint64_t digits = (uint64_t)(n < 0 ? -n : n) << (l->fraction_bits - how->fraction_bits);
    const uint64_t magnitude = ((uint64_t)(unit - least) << l->fraction_bits) + digits;
    if (magnitude > largest(l))
        return beyond(f, v->negative, how->saturate);
    return with_sign(f, v->negative, magnitude);
}
