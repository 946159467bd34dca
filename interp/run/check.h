/* Checks of what the integer kernels assume beyond the verifier. */
#ifndef ASSAY_INTERP_CHECK_H
#define ASSAY_INTERP_CHECK_H

#include "interp/kernel/kernel.h"

/* Checks the types of a node that has an integer kernel with a unit: codes of at most 32 bits with
 * parameters per tensor, weights per tensor, per output channel or per block of inputs, a bias of
 * signed integers, float and bool only where the op converts or compares. ASSAY_ERR_UNSUPPORTED and
 * a line that names the node. */
assay_status run_check_integer_node(const assay_graph *g, const assay_node *n, assay_error *err);

/* Whether the vtable has the row functions that a kernel calls; names the first that is missing. */
assay_status run_check_vtable(const assay_graph *g, const assay_node *n, unsigned calls,
                              const assay_scheme_vtable *vt, assay_error *err);

/* Whether a node of these calls (kernel.h) has integer sums before its rescale: averages that a
 * scheme adds in floats, window by window, have none. */
bool run_has_sums(const assay_node *n, unsigned calls, const assay_scheme_vtable *vt,
                  const assay_unit *unit);

/* Whether the sums of a node stay within the range that its scheme allows them to reach; else
 * ASSAY_ERR_SCHEME and a line with the node, the bound and the limit. calls: what the node's kernel
 * calls; others than `accumulate` and `pool` have no sums. */
assay_status run_check_accumulator(const assay_graph *g, const assay_node *n, unsigned calls,
                                   const assay_scheme_vtable *vt, const assay_unit *unit,
                                   assay_error *err);

#endif
