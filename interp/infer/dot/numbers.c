/* Numbers of a format, drawn; see numbers.h. */
#include "interp/infer/dot/numbers.h"

int64_t infer_dot_among(rows_random *r, int64_t lo, int64_t hi)
{
    return lo < hi ? rows_between(r, lo, hi) : lo;
}

void infer_dot_exponents(enum assay_mac_format f, int *lo, int *hi)
{
    const assay_mac_layout *l = mac_layout_of(f);
    const int top = (1 << l->exponent_bits) - 1;
    *lo =
        l->specials == ASSAY_MAC_INTEGER ? -6 : (l->specials == ASSAY_MAC_SCALE ? 0 : 1) - l->bias;
    *hi = l->specials == ASSAY_MAC_INTEGER                                  ? 0
          : l->specials == ASSAY_MAC_IEEE || l->specials == ASSAY_MAC_SCALE ? top - 1 - l->bias
                                                                            : top - l->bias;
}

/* Fractions: none, one digit, all, any. */
static uint64_t digits(rows_random *r, int n)
{
    const uint64_t all = ((uint64_t)1 << n) - 1;
    switch (n > 0 ? infer_dot_among(r, 0, 5) : 0) {
    case 0:
        return 0;
    case 1:
        return (uint64_t)1 << infer_dot_among(r, 0, n - 1);
    case 2:
        return all;
    case 3:
        return all ^ (uint64_t)1 << infer_dot_among(r, 0, n - 1);
    default:
        return rows_next(r) & all;
    }
}

static uint64_t integer(bool negative, int64_t e, uint64_t fraction)
{
    const uint64_t n = ((uint64_t)64 | (fraction & 63)) >> -apply_clamp_to(e, -6, 0);
    return (negative ? 0 - n : n) & 255;
}

/* Exponent field and fraction; in place of a NaN of FN the number before it. */
static uint64_t finite(const assay_mac_layout *l, uint64_t field, uint64_t fraction)
{
    const uint64_t p = field << l->fraction_bits | fraction,
                   all = ((uint64_t)1 << (l->exponent_bits + l->fraction_bits)) - 1;
    return l->specials == ASSAY_MAC_FN && p == all ? p - 1 : p;
}

uint64_t infer_dot_number(rows_random *r, enum assay_mac_format f, bool negative, int64_t e,
                          bool plain)
{
    const assay_mac_layout *l = mac_layout_of(f);
    int lo, hi;
    const uint64_t fraction = plain ? 0 : digits(r, l->fraction_bits);
    if (l->specials == ASSAY_MAC_INTEGER)
        return integer(negative, e, fraction);
    infer_dot_exponents(f, &lo, &hi);
    e = apply_clamp_to(e, lo, hi) + l->bias;
    return mac_pattern_of(f, negative, finite(l, (uint64_t)e, fraction));
}

uint64_t infer_dot_any(rows_random *r, enum assay_mac_format f, int end)
{
    const assay_mac_layout *l = mac_layout_of(f);
    const int64_t top = ((int64_t)1 << l->exponent_bits) - 1;
    if (l->specials == ASSAY_MAC_INTEGER)
        return rows_next(r) & 255;
    const int64_t max =
        l->specials == ASSAY_MAC_IEEE || l->specials == ASSAY_MAC_SCALE ? top - 1 : top;
    const int64_t e = end < 0   ? infer_dot_among(r, 0, max < 3 ? max : 3)
                      : end > 0 ? max - infer_dot_among(r, 0, max < 3 ? max : 3)
                                : infer_dot_among(r, 0, max);
    const uint64_t p = finite(l, (uint64_t)e, digits(r, l->fraction_bits));
    const bool negative = mac_is_signed(f) && (rows_next(r) & 1);
    return mac_pattern_of(f, negative && (p != 0 || l->specials != ASSAY_MAC_FNUZ), p);
}

uint64_t infer_dot_special(rows_random *r, enum assay_mac_format f)
{
    const assay_mac_layout *l = mac_layout_of(f);
    const uint64_t magnitude = ((uint64_t)1 << (l->exponent_bits + l->fraction_bits)) - 1;
    if (l->specials == ASSAY_MAC_INTEGER || l->specials == ASSAY_MAC_FINITE)
        return infer_dot_any(r, f, 0);
    if (l->specials == ASSAY_MAC_SCALE)
        return magnitude;
    if (l->specials == ASSAY_MAC_FNUZ)
        return mac_pattern_of(f, true, 0);
    uint64_t p = magnitude; /* the only NaN of FN */
    if (l->specials == ASSAY_MAC_IEEE) {
        p = magnitude >> l->fraction_bits << l->fraction_bits;
        p |= (infer_dot_among(r, 1, 2) == 1) ? 0 : digits(r, l->fraction_bits);
    }
    return mac_pattern_of(f, mac_is_signed(f) && (infer_dot_among(r, 1, 2) == 1), p);
}

/* The significand without its zeros at the end. */
static uint64_t odd_part(enum assay_mac_format f, uint64_t pattern)
{
    const uint64_t s = mac_decode(f, pattern).significand;
    const int zeros = s > 0 ? __builtin_ctzll(s) : 0;
    return s >> zeros;
}

int infer_dot_product_digits(enum assay_mac_format of_a, uint64_t a, enum assay_mac_format of_b,
                             uint64_t b)
{
    uint64_t p;
    return __builtin_mul_overflow(odd_part(of_a, a), odd_part(of_b, b), &p) || p == 0
               ? 0
               : 64 - __builtin_clzll(p);
}
