/* The passes that profiling makes over every element: its place in the ring of bins, and the
 * count. rows.c is compiled for any machine, for AVX2 and for AVX-512; the numbers are the
 * same. */
#ifndef ASSAY_OPT_PROFILE_ROWS_H
#define ASSAY_OPT_PROFILE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "opt/profile/profile.h"

/* Zeros go to these in turn, after the ring of bins: successive additions to the
 * same place would wait for each other, and after a ReLU every other element is zero. */
#define ASSAY_PROFILE_ZEROS 16
#define ASSAY_PROFILE_ROW   (ASSAY_HISTOGRAM_BINS + ASSAY_PROFILE_ZEROS)
/* Elements that a clamp leaves as they are have places in the first row, others in the second. */
#define ASSAY_PROFILE_TABLE (2 * ASSAY_PROFILE_ROW)

/* How to find places, and what is observed meanwhile. [0] is for elements in [lo, hi], [1] for
 * others.
 */
typedef struct assay_profile_split {
    float lo, hi; /* the clamp; infinite: none */
    float scale[2];
    int32_t limit[2];
    float least, greatest; /* of all */
    uint32_t below, above; /* how many are less than lo, more than hi */
} assay_profile_split;

typedef struct assay_profile_rows {
    /* Of 0 < n < 2^31 elements: at[i], where in its row's ring bin floor(x[i] * scale) is or, for
     * zeros, ASSAY_HISTOGRAM_BINS + i % ASSAY_PROFILE_ZEROS. A scale is 2^-k, its limit the bits of
     * the greatest float below 2^(k + 24). False when an element is not in
     * [-2^(k + 24), 2^(k + 24)), or is NaN: places then mean nothing, nor does a least or greatest
     * that is not finite. */
    bool (*places)(const float *x, size_t n, assay_profile_split *s, uint16_t *at);
    /* Adds one at each place. Elements far apart are taken together: neighbours are often equal,
     * and additions to the same place wait for each other. */
    void (*count)(const uint16_t *at, size_t n, uint16_t *table);
    /* The greatest count of a table. */
    uint16_t (*greatest)(const uint16_t *table);
} assay_profile_rows;

extern const assay_profile_rows profile_rows_any;
#ifdef ASSAY_X86
extern const assay_profile_rows profile_rows_avx2, profile_rows_avx512;
#endif

#endif
