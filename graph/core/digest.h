/* Digests of networks that do not depend on the batch size: of the structure, and of the weights
 * that a value is computed from. */
#ifndef ASSAY_GRAPH_DIGEST_H
#define ASSAY_GRAPH_DIGEST_H

#include "graph/core/graph.h"

/* XXH3-128 hex of the graph's structure: nodes, attributes, names, element types and ranks, without
 * constants' payload and without extents, any of which may count samples. */
assay_status assay_graph_digest(const assay_graph *g, char digest[33], assay_error *err);

/* How often the elements of a constant count. Copies that the batch makes of a weight (a token
 * expanded over it, positions repeated for it) lie anywhere, and each element then stands so many
 * times more often. */
enum assay_lineage {
    ASSAY_LINEAGE,             /* counts divided by their greatest common divisor */
    ASSAY_LINEAGE_BY_AXES,     /* profiles of November 2026: copies along an axis count once */
    ASSAY_LINEAGE_WITH_COPIES, /* older profiles: as often as they occur */
    ASSAY_LINEAGE_FORMS
};

/* lineage[v] identifies the weights that value v is computed from: a sum over the float constants
 * among its ancestors of a digest of their elements, whatever the elements' order. It is the same
 * for every batch size, for a layer kept whole or lowered, and with unrelated nodes beside it; it
 * differs when a weight does. 0 for values that depend on no float constant. `lineage` has room for
 * g->n_values. */
assay_status assay_value_lineage(const assay_graph *g, enum assay_lineage form, uint64_t *lineage,
                                 assay_error *err);

#endif
