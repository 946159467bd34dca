/* Dot products of 16 columns at a time, for units whose step is one aligned sum of small products,
 * or such sums that are added to an aligned accumulator (tile_aside.c).
 *
 * Elements of at most 8 bits have at most 8 significant bits: a product is exact in a float, and
 * once it is multiplied by the power of two that brings the step's last kept bit to 1, truncation
 * to an integer is the unit's cut. So the greatest exponents are found first, then the terms are
 * cut and summed in integers. Elements of 16 bits, and tf32, have at most 11 significant bits:
 * their products are exact in a float, too, but each has its own power of two, since their
 * exponents exceed a float's range.
 *
 * Exact groups (mxf4, nvf4) are also summed in floats, and the bits of their scales are multiplied
 * in integers. Exact sums of int8mx are floats throughout, up to 2^12, where each is a multiple of
 * 2^-12; with scales that are powers of two, an IEEE addition rounds such a sum and the running
 * value.
 *
 * Elements of Inf or NaN, and results below the least normal number, are not computed here: they
 * are marked in `special` and in `odd`. */
#ifndef ASSAY_SCHEMES_MAC_TILE_H
#define ASSAY_SCHEMES_MAC_TILE_H

#include "schemes/mac/mac.h"

enum { MAC_TILE = 16 };

/* An element's value and the exponent of its leading bit; in a wide format the value is the
 * significand alone, in units of that exponent. */
typedef struct mac_element {
    float value;
    int32_t unit;
    bool special; /* Inf or NaN */
} mac_element;

/* The value of a block scale: digits * 2^(unit - fraction bits); digits is 0 unless it is a number
 * above 0. */
typedef struct mac_tile_scale {
    int32_t digits, unit;
} mac_tile_scale;

/* 16 columns of B: [K][MAC_TILE] elements. */
typedef struct mac_tile {
    const assay_mac *unit;
    int64_t a_run, b_run; /* elements of K that share a scale, if the unit takes scales */
    const float *value;
    const int32_t *exponent;
    const uint8_t *scale;         /* [runs][MAC_TILE], patterns; NULL if the unit takes none */
    const mac_tile_scale *scales; /* by pattern, for a unit with exact groups */
} mac_tile;

/* Running values: sign and significand of 24 bits, exponent of the leading bit. */
typedef struct mac_running {
    int32_t digits[MAC_TILE], unit[MAC_TILE];
    int32_t infinite[MAC_TILE]; /* 1 or -1: Inf of this sign, which no later step changes; else 0 */
    bool odd[MAC_TILE];         /* some step left the range of normal numbers; stays set */
} mac_running;

bool mac_tile_takes(const assay_mac *m);
/* Whether the elements have more than 8 bits, both of them or neither, in a unit that is computed
 * here. */
bool mac_tile_is_wide(const assay_mac *m);
mac_element mac_tile_element(const assay_mac *m, int64_t format, uint32_t pattern);
/* The values of a unit's block scales, by pattern. */
void mac_tile_scales(const assay_mac *m, mac_tile_scale table[256]);
/* The values of a format of at most 8 bits, by pattern; zeros have the unit's exponent of zeros. */
void mac_tile_table(const assay_mac *m, int64_t format, mac_element table[256]);
/* Elements first to last of K of a row of A times the tile, into r, from +0; a, exponent and
 * a_scale begin at the first of these elements. */
void mac_tile_run(const mac_tile *t, const float *a, const int32_t *exponent,
                  const int32_t *a_scale, size_t first, size_t last, mac_running *r);
/* Column j as an f32; not if it is odd. */
uint32_t mac_tile_pattern(const mac_running *r, int j);

#endif
