/* Calibration: the range of real values worth representing, from a profile's observations. */
#ifndef ASSAY_OPT_CALIBRATE_H
#define ASSAY_OPT_CALIBRATE_H

#include "opt/calibrate/qparams.h"
#include "opt/profile/histogram.h"

typedef enum assay_calibration {
    ASSAY_CALIBRATE_MIN_MAX,    /* everything that was observed */
    ASSAY_CALIBRATE_PERCENTILE, /* all but a few elements at each end */
    ASSAY_CALIBRATE_MSE,        /* least mean squared error of clipping plus rounding */
    ASSAY_CALIBRATE_KL,         /* least Kullback-Leibler divergence of the quantized histogram */
    ASSAY_CALIBRATE_HEADROOM    /* a multiple of what was observed, where codes have room for it */
} assay_calibration;

#define ASSAY_PERCENTILE 99.99 /* by default: 1 in 20,000 elements is left out at each end */
#define ASSAY_HEADROOM   2     /* by default: one bit */
#define ASSAY_ROOMY      1024  /* codes; with no more than these a bit is not to spare */

typedef struct assay_calibrate_how {
    assay_calibration method;
    double percentile; /* 0: ASSAY_PERCENTILE */
    double headroom;   /* 0: ASSAY_HEADROOM */
} assay_calibrate_how;

/* What was chosen. */
typedef struct assay_calibrated {
    assay_calibration used; /* not what was asked for when `note` says why */
    double min, max;
    double clipped;   /* share of the finite elements outside of [min, max] */
    const char *note; /* NULL, or why the method could not judge (a constant text) */
    bool final;       /* Glow's own range, which its method takes as it is (assay_choice.final) */
} assay_calibrated;

/* The range that the calibration chooses for a type of `levels` codes; it lies in [h->min, h->max]
 * (with headroom in a multiple of that) and takes in 0 when that does. h must have finite
 * observations.
 *
 * MSE: for each candidate (first the upper end, then the lower one, shrunk towards 0 in 1/64 steps)
 * every bin costs the square of its distance to the range, and step^2 / 12 inside (uniform rounding
 * noise, Widrow 1956). KL: the same candidates; the reference is the histogram clipped to the range
 * with what lies outside added to its outer bins, the candidate the histogram without that,
 * averaged over each code's bins (Migacz, 8-bit inference with TensorRT, GTC 2017). A histogram of
 * fewer bins than codes cannot tell ranges apart by KL; then it is min-max, and the note says so.
 */
void calibrate_range(const assay_histogram *h, const assay_calibrate_how *how, double levels,
                     assay_calibrated *out);

/* The same for the parameters that are to be chosen from it: with Glow's method, KL is Glow's own,
 * over the bins (merged by twos until there are at most 2048) instead of Glow's histogram. */
void calibrate_for(const assay_choice *c, const assay_histogram *h, const assay_calibrate_how *how,
                   assay_calibrated *out);

/* Glow's KL calibration to the bit: a histogram of n counts over [min, max], spread over the range
 * [*lo, *hi] that its method made of it (calibrate_choose_glow_range), which it narrows. False,
 * and nothing changed, where Glow leaves the range as it is: fewer than 255 bins (or more than
 * ASSAY_HISTOGRAM_BINS), or an empty range. */
bool calibrate_glow_kl(const float *count, int n, float min, float max, bool symmetric, float *lo,
                       float *hi);

/* Narrows a chosen range for codes lo..hi (zero point 0) whose scale is to be a power of two: the
 * one that holds the range may be almost twice too coarse for it. Halves it while the squared error
 * of clipping plus rounding, as above, falls; headroom stays as it is. */
void calibrate_power_of_two(const assay_histogram *h, double lo, double hi,
                            assay_calibrated *range);

/* "min-max", "percentile", "percentile:99.9", "mse", "kl", "headroom", "headroom:1.5"; false when
 * it is none of them. */
bool calibrate_find(const char *name, assay_calibrate_how *how);
const char *calibrate_name(assay_calibration c);

#endif
