/* The threshold form of a rescale: the code as a step function of the accumulator, exact. Every
 * rescale is monotone in the accumulator between the points where its arithmetic wraps around, so
 * each step is found by bisection; two rescales agree exactly where their forms do. */
#ifndef ASSAY_SCHEMES_THRESHOLDS_H
#define ASSAY_SCHEMES_THRESHOLDS_H

#include "schemes/apply/unit.h"

#define ASSAY_REFUSED INT64_MIN /* the code of an accumulator that the target refuses */

/* Runs of equal codes over lo..hi: run i is from[i] .. from[i + 1] - 1 (the last one to hi). */
typedef struct assay_threshold_form {
    int64_t lo, hi;
    size_t n;
    int64_t *from, *code; /* n entries; owned: assay_threshold_form_free */
} assay_threshold_form;

/* ASSAY_ERR_LIMIT beyond 2^22 runs (a rescale that wraps around again and again over a wide
 * range), ASSAY_ERR_MEMORY. On failure nothing is owned. */
assay_status assay_threshold_form_make(const assay_rescale *r, size_t channel, int64_t lo,
                                       int64_t hi, assay_threshold_form *out, assay_error *err);
/* The form of codes that only a function tells. monotone: it is said never to fall, so steps are
 * found by bisection, and ASSAY_ERR_SCHEME names two accumulators that show otherwise where it
 * looks; else every accumulator is asked about. */
assay_status assay_threshold_form_ask(int64_t (*code)(const void *of, int64_t x), const void *of,
                                      bool monotone, int64_t lo, int64_t hi,
                                      assay_threshold_form *out, assay_error *err);
void assay_threshold_form_free(assay_threshold_form *s);
/* The code at x, lo <= x <= hi. */
int64_t assay_threshold_form_at(const assay_threshold_form *s, int64_t x);

/* A run of accumulators on which two forms give codes a and b. */
typedef struct assay_disagreement {
    int64_t from, to, a, b;
} assay_disagreement;

#define ASSAY_FIRST_DISAGREEMENTS 8

typedef struct assay_disagreements {
    uint64_t count;      /* accumulators on which they differ */
    uint64_t runs;       /* in so many runs */
    uint64_t considered; /* of so many, for which one side or both have a code */
    int64_t greatest;    /* greatest difference of codes, refusals apart */
    size_t n_first;
    assay_disagreement first[ASSAY_FIRST_DISAGREEMENTS]; /* those nearest to 0 */
} assay_disagreements;

/* Two forms over the same lo..hi. */
void assay_threshold_form_compare(const assay_threshold_form *a, const assay_threshold_form *b,
                                  assay_disagreements *out);

#endif
