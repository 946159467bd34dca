/* Running a program over many samples: accuracy, and profiles. All cores work over samples; memory
 * is an arena a thread, whatever the number of samples. */
#ifndef ASSAY_INTERP_EVAL_H
#define ASSAY_INTERP_EVAL_H

#include "interp/run/program.h"
#include "opt/profile/profile.h"

/* Where samples come from. `read` fills the network's k-th input (its type's bytes) with that of
 * sample i and may be called from several threads at once; label is -1 when there is none. */
typedef struct assay_samples {
    void *user;
    int64_t first, count; /* samples first .. first + count - 1 */
    assay_status (*read)(void *user, int64_t i, int k, void *input, assay_error *err);
    int64_t (*label)(void *user, int64_t i);
    void (*done)(void *user); /* may be NULL; called one at a time after each sample */
} assay_samples;

#define ASSAY_EVAL_TOP 5

typedef struct assay_accuracy {
    int64_t samples; /* with a label */
    int64_t
        top[ASSAY_EVAL_TOP]; /* top[k-1]: label among the k greatest outputs; ties: lower index */
    char digest[33];         /* XXH3-128 over the outputs' bytes, in sample order */
} assay_accuracy;

/* Evaluates the program's first output as class scores. predictions, when not NULL, receives the
 * best class of each sample. threads 0: all cores. */
assay_status assay_evaluate(const assay_program *p, const assay_samples *samples, int threads,
                            int64_t *predictions, assay_accuracy *out, assay_error *err);

/* Profiles every float value of an all-float program, each right after its node has run. Of what a
 * failure leaves in the profile nothing is to be used. */
assay_status assay_profile_samples_of(const assay_program *p, const assay_samples *samples,
                                      int threads, assay_profile *profile, assay_error *err);

#endif
