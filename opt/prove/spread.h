/* Spread of a difference: from one value to the outputs of the network. Internal to opt/. */
#ifndef ASSAY_OPT_SPREAD_H
#define ASSAY_OPT_SPREAD_H

#include "opt/prove/rule.h"

/* When the codes of `value` change by at most lsb, those of output i of the network, which may have
 * changed by so_far[i] before, change by at most spread[i] more (g->n_outputs entries each): never
 * by more in all than its type holds. Of an output in float the codes are those that it was
 * dequantized from. Functions of codes are looked at on all codes; sums of products are bounded
 * through their weights; whatever else a node may be, its codes change by no more than its type
 * holds. */
assay_status prove_spread(const assay_graph *g, const assay_scheme *s, assay_run_fn run, int value,
                          int64_t lsb, const int64_t *so_far, int64_t *spread, assay_error *err);

#endif
