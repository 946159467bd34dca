/* Terms of 16 columns, cut and summed: shared by tile.c, tile_aside.c and tile_sums.c. */
#ifndef ASSAY_SCHEMES_MAC_TILE_SUMS_H
#define ASSAY_SCHEMES_MAC_TILE_SUMS_H

#include <string.h>

#include "schemes/mac/rounded.h"
#include "schemes/mac/tile.h"

enum {
    MAC_TILE_NOTHING = -20000, /* the exponent of a zero that has none: below any other */
    MAC_TILE_LANES = 4
};

/* Every stride-th of n products of a row of A and a tile, from element `first` of B's K on, where
 * a[0] and exponent[0] are A's. */
typedef struct mac_tile_terms {
    const float *a;
    const int32_t *exponent;
    size_t first, n, stride;
} mac_tile_terms;

/* Products of 22 digits at most. */
static inline bool mac_format_is_wide(int64_t format)
{
    return format == ASSAY_MAC_BF16 || format == ASSAY_MAC_F16 || format == ASSAY_MAC_TF32;
}
/* 2^n, n at most 127, at least 2^-126. */
static inline float mac_power_of_two(int32_t n)
{
    const uint32_t bits = (uint32_t)((n < -126 ? -126 : n > 127 ? 127 : n) + 127) << 23;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* The greatest exponents of the products; MAC_TILE_NOTHING / 2 or less if there is none. */
void mac_tile_greatest(const mac_tile *t, const mac_tile_terms *s, int32_t top[MAC_TILE]);
/* Adds to sum[j] the products times 2^shift[j], in units of 2^(top[j] - align_bits), truncated
 * toward 0. */
void mac_tile_sum(const mac_tile *t, const mac_tile_terms *s, const int32_t top[MAC_TILE],
                  const int32_t shift[MAC_TILE], int64_t sum[MAC_TILE]);

/* Column j becomes sum * 2^grid, rounded; sums are below 2^53. A column that is infinite stays so,
 * as every element is finite. */
static inline void mac_tile_store(const mac_rounder *how, mac_running *r, int j, int64_t sum,
                                  int32_t grid)
{
    const uint64_t bits = mac_round_bits(how, mac_bits_of((double)sum));
    const int32_t unit = grid + (int32_t)(bits >> 52 & 0x7ff) - 1023,
                  digits = (int32_t)(bits >> 29 & 0x7fffff) | 0x800000;
    const bool under = sum != 0 && unit < (int32_t)(how->least >> 52) - 1023,
               over = sum != 0 && unit >= (int32_t)(how->beyond >> 52) - 1023;
    r->digits[j] = sum == 0 ? 0 : sum < 0 ? -digits : digits;
    r->unit[j] = sum == 0 ? MAC_TILE_NOTHING : unit;
    r->infinite[j] = r->infinite[j] != 0 ? r->infinite[j] : !over ? 0 : sum < 0 ? -1 : 1;
    r->odd[j] |= under || (over && how->largest);
}

/* Units with an aligned accumulator: whether a unit is one, and its elements first to last of K. */
bool mac_tile_is_aside(const assay_mac *m);
void mac_tile_run_aside(const mac_tile *t, const float *a, const int32_t *exponent, size_t first,
                        size_t last, mac_running *r);

#endif
