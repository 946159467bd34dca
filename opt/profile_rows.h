/* The two passes that profiling makes over every element: a survey of the range, and the bins.
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
    /* Whether all n > 0 elements are finite; if so, least and greatest. */
    bool (*survey)(const float *x, size_t n, float *lo, float *hi);
    /* At most 2^31 - 1 elements. bin[i]: floor(x[i] * scale) + ASSAY_PROFILE_HALF, where scale is a
     * power of two and every product lies in [-HALF, HALF); for zeros ASSAY_PROFILE_BINS + i %
     * ASSAY_PROFILE_ZEROS. */
    void (*bins)(const float *x, size_t n, float scale, int32_t *bin);
    /* Counts bin[0], bin[2], ... in the first table, the others in the second: neighbours are often
     * equal, and additions to the same place wait for each other. n is even. */
    void (*count)(const int32_t *bin, size_t n, uint16_t (*table)[ASSAY_PROFILE_ROW]);
} assay_profile_rows;

extern const assay_profile_rows assay_profile_rows_any;
#ifdef ASSAY_X86
extern const assay_profile_rows assay_profile_rows_avx2;
#endif

#endif
