/* The two passes that profiling makes over every element: its bin, and the count.
 * profile_rows.c is compiled once for any machine and once for AVX2; the numbers are the same. */
#ifndef ASSAY_OPT_PROFILE_ROWS_H
#define ASSAY_OPT_PROFILE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "opt/profile.h"

#define ASSAY_PROFILE_HALF (ASSAY_PROFILE_BINS / 2) /* the bin that starts at zero */
/* Zeros go to one of these, behind the bins, in turn: additions one after another to the same place
 * would wait for each other, and behind a ReLU every other element is zero. */
#define ASSAY_PROFILE_ZEROS 16
#define ASSAY_PROFILE_ROW   (ASSAY_PROFILE_BINS + ASSAY_PROFILE_ZEROS)

typedef struct assay_profile_rows {
    /* Of 0 < n < 2^31 elements: the least and the greatest, and bin[i], floor(x[i] * scale) +
     * ASSAY_PROFILE_HALF or, for zeros, ASSAY_PROFILE_BINS + i % ASSAY_PROFILE_ZEROS. scale is
     * HALF / 2^k, and limit the bits of the greatest float below 2^k. False when an element is not
     * in [-2^k, 2^k), or is NaN: the results then mean nothing. */
    bool (*bins)(const float *x, size_t n, float scale, int32_t limit, int32_t *bin, float *least,
                 float *greatest);
    /* Counts bin[0], bin[2], ... in the first table, the others in the second: neighbours are often
     * equal, and additions to the same place wait for each other. n is even. */
    void (*count)(const int32_t *bin, size_t n, uint16_t (*table)[ASSAY_PROFILE_ROW]);
} assay_profile_rows;

extern const assay_profile_rows assay_profile_rows_any;
#ifdef ASSAY_X86
extern const assay_profile_rows assay_profile_rows_avx2;
#endif

#endif
