/* Exact sums, in two's complement as wide as the exponents of the terms require. */
#include <assert.h>
#include <string.h>

#include "schemes/mac/terms.h"

/* from 2^-2400 (squares of f64's least number, scaled) to 2^2320, with the carries of 2^16 terms */
enum { MAX_LIMBS = 80 };

/* Adds (or subtracts) x * 2^shift; a carry out of the highest limb is dropped, as in two's
 * complement. */
static void accumulate(uint64_t *limb, size_t n, const mac_term *t, unsigned shift)
{
    const size_t first = shift / 64;
    const unsigned s = shift % 64;
    const assay_uint128 low = t->significand << s;
    const uint64_t part[3] = {(uint64_t)low, (uint64_t)(low >> 64),
                              s == 0 ? 0 : (uint64_t)(t->significand >> 64) >> (64 - s)};
    uint64_t carry = t->negative;
    for (size_t i = first; i < n; i++) {
        const uint64_t digits = i - first < 3 ? part[i - first] : 0;
        const assay_uint128 sum = (assay_uint128)limb[i] + (t->negative ? ~digits : digits) + carry;
        limb[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
}

static bool negate(uint64_t *limb, size_t n)
{
    if (limb[n - 1] >> 63 == 0)
        return false;
    uint64_t carry = 1;
    for (size_t i = 0; i < n; i++) {
        limb[i] = ~limb[i] + carry;
        carry = carry && limb[i] == 0;
    }
    return true;
}

/* The highest 64 bits or more; the lowest of these is set if any bit below is. */
static mac_term top_of(const uint64_t *limb, size_t n, int min)
{
    size_t top = n;
    while (top > 0 && limb[top - 1] == 0)
        top--;
    if (top <= 2)
        return (mac_term){.exponent = min, .significand = (assay_uint128)limb[1] << 64 | limb[0]};
    bool sticky = false;
    for (size_t i = 0; i + 2 < top; i++)
        sticky = sticky || limb[i] != 0;
    return (mac_term){.exponent = min + 64 * (int)(top - 2),
                      .significand = (assay_uint128)limb[top - 1] << 64 | limb[top - 2] | sticky};
}

mac_term mac_special(const mac_term *term, size_t n)
{
    bool inf[2] = {false, false};
    for (size_t i = 0; i < n; i++) {
        if (term[i].kind == ASSAY_MAC_NAN)
            return term[i];
        if (term[i].kind == ASSAY_MAC_INF)
            inf[term[i].negative] = true;
    }
    return (mac_term){.kind = inf[0] && inf[1]   ? ASSAY_MAC_NAN
                              : inf[0] || inf[1] ? ASSAY_MAC_INF
                                                 : ASSAY_MAC_NUMBER,
                      .negative = inf[1]};
}

mac_term mac_exact_sum(const mac_term *term, size_t n)
{
    uint64_t limb[MAX_LIMBS];
    int min = INT32_MAX, max = INT32_MIN;
    for (size_t i = 0; i < n; i++) {
        const int top = term[i].exponent + mac_digits(term[i].significand);
        if (term[i].significand == 0)
            continue;
        min = term[i].exponent < min ? term[i].exponent : min;
        max = top > max ? top : max;
    }
    if (max < min)
        return (mac_term){.significand = 0};
    /* 32 bits for the sign and the carries */
    const size_t limbs = (size_t)(max - min + 32) / 64 + 2;
    assert(limbs <= MAX_LIMBS);
    memset(limb, 0, limbs * sizeof *limb);
    for (size_t i = 0; i < n; i++)
        if (term[i].significand != 0)
            accumulate(limb, limbs, &term[i], (unsigned)(term[i].exponent - min));
    const bool negative = negate(limb, limbs);
    mac_term sum = top_of(limb, limbs, min);
    sum.negative = negative;
    return sum;
}
