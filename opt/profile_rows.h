/* The passes that profiling makes over every element: its place in the ring of bins, and the
 * count. profile_rows.c is compiled once for any machine and once for AVX2; the numbers are the
 * same. */
#ifndef ASSAY_OPT_PROFILE_ROWS_H
#define ASSAY_OPT_PROFILE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "opt/profile.h"

/* Zeros go to one of these, behind the ring of bins, in turn: additions one after another to the
 * same place would wait for each other, and behind a ReLU every other element is zero. */
#define ASSAY_PROFILE_ZEROS 16
#define ASSAY_PROFILE_ROW   (ASSAY_HISTOGRAM_BINS + ASSAY_PROFILE_ZEROS)

typedef struct assay_profile_rows {
    /* Of 0 < n < 2^31 elements: the least and the greatest, and at[i], where in the ring bin
     * floor(x[i] * scale) is or, for zeros, ASSAY_HISTOGRAM_BINS + i % ASSAY_PROFILE_ZEROS. scale
     * is 2^-k, and limit the bits of the greatest float below 2^(k + 24). False when an element is
     * not in [-2^(k + 24), 2^(k + 24)), or is NaN: the results then mean nothing. */
    bool (*places)(const float *x, size_t n, float scale, int32_t limit, int32_t *at, float *least,
                   float *greatest);
    /* Counts at[0], at[2], ... in the first table, the others in the second: neighbours are often
     * equal, and additions to the same place wait for each other. n is even. */
    void (*count)(const int32_t *at, size_t n, uint16_t (*table)[ASSAY_PROFILE_ROW]);
    /* Moves the counts of both tables to those of `into`. */
    void (*fold)(uint16_t (*table)[ASSAY_PROFILE_ROW], uint16_t *into);
} assay_profile_rows;

extern const assay_profile_rows assay_profile_rows_any;
#ifdef ASSAY_X86
extern const assay_profile_rows assay_profile_rows_avx2;
#endif

#endif
