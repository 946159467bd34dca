/* What may be changed in a network, and what is measured to quantize it.
 *
 * Passes take a graph and leave an equivalent one; names of surviving values never change. */
#ifndef ASSAY_OPT_OPT_H
#define ASSAY_OPT_OPT_H

#include "graph/graph.h"
#include "schemes/scheme.h"

/* ---- the canonical lowering: one for profiling and quantization alike (opt/canonical.c):
 * constant folding, BatchNorm folding, identity and dead-code removal, in that order, to a fixed
 * point. Exact in float up to the rounding of the folded constants. ---- */
/* Evaluates a node of constants into out buffers; supplied by interp (opt does not depend on it).
 */
typedef assay_status (*assay_evaluate_fn)(const assay_graph *g, const assay_node *n,
                                          void *const *out, assay_error *err);
assay_status assay_fold_constants(assay_graph *g, assay_evaluate_fn evaluate, int *n_folded,
                                  assay_error *err);
assay_status assay_fold_batch_norm(assay_graph *g, int *n_folded, assay_error *err);
assay_status assay_eliminate_dead(assay_graph *g, int *n_removed, assay_error *err);
assay_status assay_canonicalize(assay_graph *g, assay_evaluate_fn evaluate, assay_error *err);

/* XXH3-128 hex of the graph's canonical text without constants' payload and without batch size. */
assay_status assay_graph_digest(const assay_graph *g, char digest[33], assay_error *err);

/* ---- profile (opt/profile.h), quantizer (opt/quantize.h) ---- */
#endif
