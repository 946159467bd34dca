/* Runs of a value's elements, with gaps between them: an attention's scores and, far below, what is
 * masked. Outer bounds: every element lies in a run, but a run may hold none. */
#ifndef ASSAY_OPT_QUANTIZE_RUNS_H
#define ASSAY_OPT_QUANTIZE_RUNS_H

#include "opt/quantize/plan.h"

#define QUANTIZE_RUNS 8

/* Ascending and apart; the lowest may be -infinity. n = 0: not known. */
typedef struct quantize_runs {
    int n;
    bool of_types; /* made of constants and bools alone: the profile may have seen fewer */
    double lo[QUANTIZE_RUNS], hi[QUANTIZE_RUNS];
} quantize_runs;

/* Of every real value, in the plan's arena (n_values of them), NULL without memory. Inputs, casts
 * and constants have a run wherever there is a gap; sums, products, choices and moves have those of
 * what they are made from; all else has one, from its least to its greatest element. */
quantize_runs *quantize_runs_of_values(const assay_quantizer *q);

/* Add, sub, mul, max: runs are combined by twos. */
bool quantize_runs_combines(const assay_node *n);
/* What is there is an input's element: select and moves (a pad adds its own). */
bool quantize_runs_chooses(const assay_node *n);

#endif
