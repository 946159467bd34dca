/* Digests of networks that do not depend on the batch size: of the structure, and of the weights
 * that a value is computed from. */
#ifndef ASSAY_GRAPH_DIGEST_H
#define ASSAY_GRAPH_DIGEST_H

#include "graph/core/graph.h"

/* XXH3-128 hex of the graph's structure (nodes, attributes, names, shapes) without constants'
 * payload and without batch size. */
assay_status assay_graph_digest(const assay_graph *g, char digest[33], assay_error *err);

/* lineage[v] identifies the weights that value v is computed from: a sum over the float constants
 * among its ancestors of a digest of their elements, whatever the elements' order. It is the same
 * for every batch size, for a layer kept whole or lowered, and with unrelated nodes beside it; it
 * differs when a weight does. Copies along an axis (a token expanded over the batch) count once,
 * or, with `copies`, as often as they stand there (profiles of older versions have that). 0 for
 * values that depend on no float constant. `lineage` has room for g->n_values. */
assay_status assay_value_lineage(const assay_graph *g, bool copies, uint64_t *lineage,
                                 assay_error *err);

#endif
