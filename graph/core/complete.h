/* Completing a node's attributes. */
#ifndef ASSAY_GRAPH_COMPLETE_H
#define ASSAY_GRAPH_COMPLETE_H

#include "graph/core/graph.h"

/* Fills what was left empty in *a from the node's input types and op, and counts negative axes from
 * the front. What makes no sense for the inputs is left as it is: assay_infer refuses it. */
void assay_node_complete(const assay_graph *g, const assay_node *n, assay_attrs *a);

#endif
