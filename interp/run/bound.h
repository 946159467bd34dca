/* Bounds of a node's accumulators, whatever its inputs hold: bound.c calls the part that the op
 * needs, and reports what is wrong. */
#ifndef ASSAY_INTERP_BOUND_H
#define ASSAY_INTERP_BOUND_H

#include "interp/kernel/kernel.h"

/* The greatest |code - zero point| of a type. */
int64_t run_bound_reach(const assay_type *t);
/* a * b + c of what is not negative, or the greatest int64. */
int64_t run_bound_of(int64_t a, int64_t b, int64_t c);

/* The greatest |sum| of raw codes that an average pool, mean, sum, add_n or cumsum may bring to its
 * accumulator. */
int64_t run_bound_of_sums(const assay_graph *g, const assay_node *n);

/* Whether the sums of weights with a scale for each block stay in the accumulator for every output
 * channel; *channel is the first for which they may not. Bias and weights are constants. Fails only
 * for want of memory. */
assay_status run_bound_blocks(const assay_graph *g, const assay_node *n,
                              const assay_scheme_vtable *vt, const assay_unit *unit, bool *within,
                              int64_t *channel, assay_error *err);

#endif
