/* Running a program over many samples: accuracy, and profiles. All cores work over samples; memory
 * is one arena per thread, whatever the number of samples. */
#ifndef ASSAY_INTERP_EVAL_H
#define ASSAY_INTERP_EVAL_H

#include <xxhash.h>

#include "interp/run/program.h"
#include "opt/profile/profile.h"

/* Where samples come from. `read` fills the network's k-th input (its type's bytes) with that of
 * sample i and may be called from several threads at once; label is -1 when there is none. */
typedef struct assay_samples {
    void *user;
    int64_t first, count; /* samples first .. first + count - 1 */
    bool sequence; /* they are steps: state is carried from each to the next, in one thread */
    assay_status (*read)(void *user, int64_t i, int k, void *input, assay_error *err);
    int64_t (*label)(void *user, int64_t i);
    void (*done)(void *user); /* may be NULL; called one at a time after each sample */
    /* What sample i is called in messages, in buf, which it returns; NULL: by its number. */
    const char *(*name)(void *user, int64_t i, char *buf, size_t size);
    /* Labels by pixel: map[0] rows of map[1] of sample i, below 0 where a pixel has none. NULL: a
     * sample has one label, or none. */
    assay_status (*label_map)(void *user, int64_t i, int64_t *label, assay_error *err);
    int64_t map[2];
    int64_t
        tokens; /* above 0: label_map gives the tokens that follow each of a sample's `tokens` */
    bool by_agreement; /* the drop is measured in agreement with the reference, not with labels */
    int class_axis;    /* 1 + the first output's axis of classes; 0: as judge.h says */
    /* The same samples for a reference network that takes them otherwise; NULL: the same way. */
    const struct assay_samples *reference;
} assay_samples;

#define ASSAY_EVAL_TOP 5

typedef struct assay_accuracy {
    int64_t samples; /* with a label; pixels or tokens, where labels are by pixel or by token */
    int64_t
        top[ASSAY_EVAL_TOP]; /* top[k-1]: label among the k greatest outputs; ties: lower index */
    double loss;     /* mean of -ln p of the tokens that follow, p by softmax; NaN without such */
    double mean_iou; /* over the classes that labels or outputs have; NaN without label maps */
    char digest[33]; /* XXH3-128 over the outputs' bytes, in sample order */
} assay_accuracy;

/* Evaluates the program's first output (judge.h). predictions, when not NULL, receives the best
 * class of each sample, -1 where the output is not a list of classes. threads 0: all cores. */
assay_status measure_evaluate(const assay_program *p, const assay_samples *samples, int threads,
                              int64_t *predictions, assay_accuracy *out, assay_error *err);

/* The same, sample by sample (part.h). measure_part_free(out) either way. */
struct assay_part;
assay_status measure_evaluate_part(const assay_program *p, const assay_samples *samples,
                                   int threads, int64_t *predictions, struct assay_part *out,
                                   assay_error *err);

/* XXH3-128 over a tensor's elements, and over n such hashes: the digest of assay_accuracy. */
void measure_output_hash(const assay_type *t, const void *data, XXH128_canonical_t *hash);
void measure_accuracy_digest(const XXH128_canonical_t *hash, int64_t n, char digest[33]);

/* Profiles every float value of an all-float program, each right after its node has run. After a
 * failure the profile must not be used. */
assay_status measure_profile_samples_of(const assay_program *p, const assay_samples *samples,
                                        int threads, assay_profile *profile, assay_error *err);

#endif
