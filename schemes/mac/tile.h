/* Dots of 16 columns at a time, of units whose step is one aligned sum of small products, or such
 * sums that meet an aligned accumulator (tile_aside.c).
 *
 * Elements of at most 8 bits have at most 8 significant digits: a product is exact in a float, and
 * times a power of two that brings the step's last kept digit to 1, truncating it to an integer is
 * the unit's cut. The greatest exponents come first, then the cut terms and their sum, in integers.
 * Elements of 16 bits, and tf32, have at most 11: their products are exact in a float, too, but
 * each has a power of two of its own, as their exponents reach beyond a float's. Exact groups
 * (mxf4, nvf4) are summed in floats, too, and their scales' digits are multiplied in integers;
 * exact sums of int8mx are floats altogether, up to 2^12, where each is a multiple of 2^-12; under
 * scales of powers of two an IEEE addition is what rounds such a sum and the running value. What
 * is no number, and results below the least normal or beyond the greatest number, are not computed
 * here: `odd`, and an element's `special`, say so. */
#ifndef ASSAY_SCHEMES_MAC_TILE_H
#define ASSAY_SCHEMES_MAC_TILE_H

#include "schemes/mac/mac.h"

enum { MAC_TILE = 16 };

/* What a pattern stands for, and the exponent of its leading digit; of a wide format the value is
 * the significand alone, in units of that exponent. */
typedef struct mac_element {
    float value;
    int32_t unit;
    bool special; /* no number */
} mac_element;

/* What the pattern of a block scale stands for: digits * 2^(unit - fraction bits); digits 0 where
 * it is not a number above 0. */
typedef struct mac_tile_scale {
    int32_t digits, unit;
} mac_tile_scale;

/* 16 columns of B: [K][MAC_TILE] elements. */
typedef struct mac_tile {
    const assay_mac *unit;
    int64_t a_run, b_run; /* of K under one scale, where the unit takes scales */
    const float *value;
    const int32_t *exponent;
    const uint8_t *scale;         /* [runs][MAC_TILE], patterns; NULL: the unit takes none */
    const mac_tile_scale *scales; /* by pattern, where the unit has exact groups */
} mac_tile;

/* Running values: sign and significand of 24 bits, exponent of the leading digit. */
typedef struct mac_running {
    int32_t digits[MAC_TILE], unit[MAC_TILE];
    bool odd[MAC_TILE]; /* left the normal numbers at some step; stays so */
} mac_running;

bool mac_tile_takes(const assay_mac *m);
/* Are the elements of a unit that is taken of more than 8 bits? Both are or none is. */
bool mac_tile_is_wide(const assay_mac *m);
mac_element mac_tile_element(const assay_mac *m, int64_t format, uint32_t pattern);
/* Of a unit's block scales, by pattern. */
void mac_tile_scales(const assay_mac *m, mac_tile_scale table[256]);
/* Of a format of at most 8 bits, by pattern; a zero has the unit's exponent of zeros. */
void mac_tile_table(const assay_mac *m, int64_t format, mac_element table[256]);
/* Elements first to last of K of a row of A, whose first element a, exponent and a_scale hold, by
 * the tile: r, from +0. */
void mac_tile_run(const mac_tile *t, const float *a, const int32_t *exponent,
                  const int32_t *a_scale, size_t first, size_t last, mac_running *r);
/* Column j as an f32, where it is not odd. */
uint32_t mac_tile_pattern(const mac_running *r, int j);

#endif
