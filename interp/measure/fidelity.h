/* Fidelity of one network's values to another's on the same samples: signal-to-quantization-noise
 * ratio, correct labels and agreement of the first output (judge.h). */
#ifndef ASSAY_INTERP_FIDELITY_H
#define ASSAY_INTERP_FIDELITY_H

#include "interp/measure/part.h"

/* Values to compare, by index: real values of both, of the same shape. */
typedef struct assay_value_pair {
    int reference, other;
} assay_value_pair;

typedef struct assay_fidelity {
    int64_t samples;
    assay_accuracy reference, other; /* against the labels, if there are any */
    int64_t compared;   /* samples, pixels or tokens, whose best class is compared; 0: there are no
                           classes */
    int64_t agree;      /* of them with the same best class in both */
    bool by_agreement;  /* the drop is measured by that, whatever labels there are */
    double output_sqnr; /* dB, of the first output */
    double output_mse;  /* mean of squared differences of it, in its real values */
} assay_fidelity;

/* Points that the other network loses: of top-1 to the labels, of mean IoU to label maps; of tokens
 * that follow by how many percent perplexity, e^loss, is above the reference's; by agreement and
 * without labels the share of samples (pixels) that it classifies otherwise than the reference. NaN
 * for an output without classes: only its noise can be judged. */
double measure_fidelity_drop(const assay_fidelity *f);
/* What those points measure, such as "top-1" or "agreement with float (no labels)". */
const char *measure_fidelity_drop_name(const assay_fidelity *f);

/* The first output of a reference on every sample, for measures that need no more of it. Zero at
 * first; the first measure fills it, unless it were more than ASSAY_RECORDED_BYTES. */
typedef struct assay_recorded {
    char *output; /* free(3) it */
} assay_recorded;
#define ASSAY_RECORDED_BYTES (256 << 20)

/* Runs both programs on every sample, the reference not where n is 0 and `recorded` has its outputs
 * (of these samples; may be NULL). sqnr[k] receives 10 log10(sum r^2 / sum (r - o)^2) of pair k
 * over all samples, in dB: infinite when there is no noise, NaN for a pair with an index below 0.
 * Elements that are not finite in the reference are left out. Programs must keep all values that
 * are compared. The result does not depend on the number of threads (0: all cores). */
assay_status measure_fidelity_measure(const assay_program *reference, const assay_program *other,
                                      const assay_samples *samples, int threads,
                                      const assay_value_pair *pair, int n, assay_recorded *recorded,
                                      double *sqnr, assay_fidelity *out, assay_error *err);

/* The same without pairs, sample by sample. measure_part_free(out) either way. */
assay_status measure_fidelity_part(const assay_program *reference, const assay_program *other,
                                   const assay_samples *samples, int threads, assay_part *out,
                                   assay_error *err);
/* The numbers of a part that is all there is; without a twin `samples` and `other` alone. */
void measure_fidelity_of(const assay_part *p, assay_fidelity *out);

#endif
