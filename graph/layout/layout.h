/* Change of layout: channels first to channels last, and back. */
#ifndef ASSAY_GRAPH_LAYOUT_H
#define ASSAY_GRAPH_LAYOUT_H

#include "graph/core/graph.h"

/* A graph that computes what g does with every image op (4 dimensions) in the given layout: *out,
 * or NULL when g has no such op in the other one. Inputs and outputs keep names and shapes. A value
 * between has its name and its elements, in another order: [N,C,H,W] becomes [N,H,W,C], or the
 * reverse. Where both orders are needed, the second is NAME:first or NAME:last. Constants of g are
 * borrowed. */
assay_status layout_change(const assay_graph *g, enum assay_layout layout, assay_graph **out,
                           assay_error *err);

#endif
