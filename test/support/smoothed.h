/* Smoothed networks beside those they were made of: for tests. */
#ifndef ASSAY_TEST_SMOOTHED_H
#define ASSAY_TEST_SMOOTHED_H

#include "test/support/quantized.h"

/* Multiplies rows (apart elements, each `stride` after the other) of a constant by 2^by. */
void smoothed_scale(assay_graph *g, int constant, int64_t first, int64_t stride, int64_t n, int by);
/* Fails the test unless `is`, of a smoothed value, is what `was` scales to. */
typedef void (*smoothed_check)(const float *was, const float *is, int64_t n, const char *name);
/* Runs both networks on one input, compares all values. Returns how many are scaled. */
int smoothed_compare(const assay_graph *before, const assay_graph *after, test_rng *rng,
                     smoothed_check scaled_by, assay_profile *p);
/* Smooths g, which it takes, and runs both networks on the 64 inputs that were profiled: every
 * float stays but `scaled` ones, of so many sites, and the derived profile is the one that
 * observing gives. */
void smoothed_floats_stay(assay_graph *g, test_rng *rng, smoothed_check scaled_by, int sites,
                          int scaled);

#endif
