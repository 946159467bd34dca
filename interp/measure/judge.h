/* Criteria for an output: where in it classes are, how many labels it matches, and how near it is
 * to another network's. */
#ifndef ASSAY_INTERP_JUDGE_H
#define ASSAY_INTERP_JUDGE_H

#include "interp/measure/eval.h"

/* Scores of classes: class c of place p is element p / inner * classes * inner + c * inner
 * + p % inner. A place is a sample, or a pixel of it. */
typedef struct assay_judge {
    int64_t places;  /* of one sample; 0: the output has no classes */
    int64_t classes; /* 0: a place's element is the class itself (a network that ends in arg_max) */
    int64_t inner;
    bool maps;   /* labels are by pixel */
    bool tokens; /* labels are by token, the one that follows */
} assay_judge;

/* Classes of an output: the axis that samples->class_axis states; the one that is left beside
 * pixels of label maps; the last axis, where labels are the tokens that follow and the output has
 * scores for as many; all elements, where no other dimension is above 1. Else it has none: scores
 * of pixels are never taken for classes of the sample. ASSAY_ERR_INPUT for an axis that is none,
 * and for label maps that are not of the output's size; `out` is a value of a verified graph. */
assay_status measure_judge_make(const assay_value *out, const assay_samples *samples,
                                assay_judge *j, assay_error *err);

/* Does any sample have a label that the judge can use? */
bool measure_judge_has_labels(const assay_judge *j, const assay_samples *samples);

/* The greatest class at a place; ties: the lower index. */
int64_t measure_judge_best(const assay_judge *j, const assay_type *t, const void *scores,
                           int64_t place);

/* Labels matched so far, by one thread. */
typedef struct assay_tally {
    int64_t samples; /* places with a label */
    int64_t top[ASSAY_EVAL_TOP];
    bool maps;       /* places are pixels */
    int64_t classes; /* entries of the three below, which are NULL of tokens */
    int64_t *truth;  /* places by class: that have it as their label, ... */
    int64_t *chosen; /* ... as their best class, ... */
    int64_t *both;   /* ... or both */
    double loss;     /* of the sample that came last, where labels are tokens */
} assay_tally;
assay_status measure_tally_make(const assay_judge *j, assay_tally *t, assay_error *err);
void measure_tally_free(assay_tally *t);
/* label[place] of a sample, below 0 where there is none. ASSAY_ERR_INPUT, and nothing else, for one
 * beyond the classes. */
assay_status measure_tally_add(assay_tally *t, const assay_judge *j, const assay_type *type,
                               const void *scores, const int64_t *label, assay_error *err);
void measure_tally_join(assay_tally *to, const assay_tally *from);
/* Everything of *out but the digest; loss[n]: of each sample, in their order, or NULL. */
void measure_tally_end(const assay_tally *t, const double *loss, int64_t n, assay_accuracy *out);

/* Labels of sample i into label[j->places], which may be read from a file. */
assay_status measure_judge_labels(const assay_judge *j, const assay_samples *s, int64_t i,
                                  int64_t *label, assay_error *err);

#endif
