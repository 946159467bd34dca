/* Calibration: the range of real values that is worth representing, from what a profile saw. */
#ifndef ASSAY_OPT_CALIBRATE_H
#define ASSAY_OPT_CALIBRATE_H

#include "opt/profile.h"

typedef enum assay_calibration {
    ASSAY_CALIBRATE_MIN_MAX,    /* everything that was seen */
    ASSAY_CALIBRATE_PERCENTILE, /* all but 1 in 20,000 elements at each end */
    ASSAY_CALIBRATE_MSE,        /* least mean squared error of clipping plus rounding */
    ASSAY_CALIBRATE_KL          /* least Kullback-Leibler divergence of the quantized histogram */
} assay_calibration;

/* The range that the calibration chooses for a type of `levels` codes; it lies in [e->min, e->max]
 * and takes in 0 when that does. e must have finite observations.
 *
 * MSE: for each candidate (first the upper end, then the lower one, shrunk towards 0 in 1/64 steps)
 * every bin costs the square of its distance to the range, and step^2 / 12 inside (uniform rounding
 * noise, Widrow 1956). KL: the same candidates; the reference is the histogram clipped to the range
 * with what lies outside added to its outer bins, the candidate the histogram without that,
 * averaged over each code's bins (Migacz, 8-bit inference with TensorRT, GTC 2017). */
void assay_calibrate(const assay_profile_entry *e, assay_calibration method, double levels,
                     double *min, double *max);

/* "min-max", "percentile", "mse", "kl"; false when there is no such name. */
bool assay_calibration_find(const char *name, assay_calibration *c);

#endif
