/* A greedy search for calibrations, and for nodes in a wider type or in float, that lose little
 * accuracy. */
#ifndef ASSAY_INTERP_TUNE_H
#define ASSAY_INTERP_TUNE_H

#include "interp/measure/sensitivity.h"

typedef struct assay_tune_options {
    double target_drop; /* points (measure_fidelity_drop) that may be lost */
    double target_sqnr; /* above 0: dB of the first output instead of the drop */
    int max_float;      /* nodes that may be kept in float at most */
    assay_elem wide;    /* integers that nodes may have before any is kept in float; 0 bits: none */
    /* Gets one line per trial, in order; may be NULL. */
    void (*log)(void *user, const char *line);
    void *user;
} assay_tune_options;

typedef struct assay_tune_result {
    assay_quantize_options options; /* the trial's own, with what was found; arrays are below */
    assay_calibrate_rule *calibrate;
    assay_precision_rule *precision;
    char **owned; /* names in rules, but those of wide nodes: these are the network's */
    int n_owned;
    assay_fidelity before, after; /* with the trial's own options; with these */
    int trials;
    char reason[200]; /* why the search ended */
    bool reached;     /* the target */
} assay_tune_result;
void measure_tune_result_free(assay_tune_result *r);

/* The search. In 1 and 3 a trial is kept only when it lowers the drop, or keeps the drop and raises
 * the SQNR of the first output (with target_sqnr: when it raises the SQNR):
 *   1. min-max, percentile, mse and kl, each for all values; the best goes on;
 *   2. given a wider type, a small set of nodes in it that reaches the target (tune_wide.c);
 *   3. the nodes, in the order in which their quantization costs most (SQNR of the output without
 *      that node's): the other calibrations for its output, then the node in float.
 *   4. what is left, in that order, in float one after the other, whether or not each helps by
 *      itself: kept when together they do.
 * It ends when the drop is within the target, when max_float nodes are in float, or when no node is
 * left: after at most 5 + 7 n trials, beside the sensitivity table's; with a wider type after at
 * most n + 2 log n + 2 more, and another table's. ASSAY_ERR_INPUT when there is
 * a drop to judge by neither in labels nor in classes, and no target_sqnr. */
assay_status measure_tune(const assay_trial *t, const assay_tune_options *o, assay_tune_result *out,
                          assay_error *err);

#endif
