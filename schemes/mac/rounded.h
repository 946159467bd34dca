/* Numbers of binary64 rounded to fewer digits, by any rounding, for the fast forms of matrix units:
 * a sum to odd there is as good as exact for one more rounding to at most 50 digits. */
#ifndef ASSAY_SCHEMES_MAC_ROUNDED_H
#define ASSAY_SCHEMES_MAC_ROUNDED_H

#include <assert.h>
#include <string.h>

#include "schemes/mac/mac.h"
#include "schemes/round.h"

/* How magnitudes lose their last `drop` digits, and between which they are normal numbers of a
 * format: as bit patterns of binary64. What is beyond becomes Inf, unless it is not to. */
typedef struct mac_rounder {
    uint64_t add;                 /* before the digits are cut, and what changes in it: */
    uint64_t negative, odd, both; /* by the sign, by the last digit kept, and by the two together */
    int drop;
    uint64_t least, beyond, largest; /* largest: 1, no Inf */
} mac_rounder;

static inline uint64_t mac_bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double mac_double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* What is added to a magnitude whose last kept digit is odd, or not. A negative number has the
 * floor beyond its magnitude (the other parity, where digits are lost) and comes nearer by its
 * addend. */
static inline uint64_t mac_addend(int64_t mode, uint64_t half, bool negative, bool odd)
{
    const uint64_t ones = 2 * half - 1;
    const uint64_t addend =
        assay_rounding_addend((enum assay_rounding)mode, half, ones, 0 - (uint64_t)negative,
                              0 - (uint64_t)(odd != negative), UINT64_MAX);
    assert(addend <= ones); /* a number without such digits stays */
    return negative ? ones - addend : addend;
}

/* To so many fraction bits of `out`, which is f32, f16 or bf16; 0: all. */
static inline mac_rounder mac_rounder_of(const assay_mac *m, int64_t mode, int64_t fraction_bits)
{
    const assay_mac_layout *l = mac_layout_of((enum assay_mac_format)m->out);
    const int drop = 52 - (fraction_bits > 0 ? (int)fraction_bits : l->fraction_bits);
    assert(drop >= 1 && drop <= 52);
    const uint64_t half = (uint64_t)1 << (drop - 1);
    const uint64_t add = mac_addend(mode, half, false, false),
                   negative = add ^ mac_addend(mode, half, true, false),
                   odd = add ^ mac_addend(mode, half, false, true),
                   all = add ^ mac_addend(mode, half, true, true);
    return (mac_rounder){.add = add,
                         .negative = negative,
                         .odd = odd,
                         .both = all ^ negative ^ odd,
                         .drop = drop,
                         .least = (uint64_t)(1024 - l->bias) << 52,
                         .beyond = (uint64_t)(1024 + l->bias) << 52,
                         .largest = m->overflow == ASSAY_MAC_LARGEST};
}

static inline uint64_t mac_round_bits(const mac_rounder *r, uint64_t bits)
{
    const uint64_t digits = ((uint64_t)1 << r->drop) - 1, negative = 0 - (bits >> 63),
                   odd = 0 - (bits >> r->drop & 1),
                   add = r->add ^ (negative & r->negative) ^ (odd & r->odd) ^
                         (negative & odd & r->both);
    return (bits + add) & ~digits;
}

/* x rounded; `odd` where that is not known: below the normal numbers (the least one counts, a flush
 * may have changed it), beyond them where there is no Inf, and NaN. */
static inline double mac_round_double(const mac_rounder *r, double x, uint64_t *odd)
{
    const uint64_t bits = mac_round_bits(r, mac_bits_of(x)), sign = bits & (uint64_t)1 << 63,
                   magnitude = bits ^ sign, infinity = (uint64_t)0x7ff << 52,
                   over = magnitude >= r->beyond;
    *odd |=
        ((magnitude != 0) & (magnitude <= r->least)) | (over & r->largest) | (magnitude > infinity);
    return mac_double_of(over ? sign | infinity : bits);
}

/* x + y to odd: what the sum lost (Knuth's two-sum; of an infinite one nothing) says on which side
 * of it the exact sum is. */
static inline double mac_add_to_odd(double x, double y)
{
    const double s = x + y, z = s - x, e = (x - (s - z)) + (y - z);
    const uint64_t bits = mac_bits_of(s), lost = (e < 0) | (e > 0),
                   less = (mac_bits_of(e) ^ bits) >> 63;
    return mac_double_of((bits - (lost & less)) | lost);
}

#endif
