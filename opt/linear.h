/* The bias of a product under another input scale. Internal to opt/. */
#ifndef ASSAY_OPT_LINEAR_H
#define ASSAY_OPT_LINEAR_H

#include "graph/graph.h"

/* Adds the bias of `node` in units of what `rescale` (in front of it) reads: divided by factor
 * where that is not 0, else by the ratio of scales and rounded. *bias: the old one's value, and
 * then the new one's, named after the node's result, Y:bias:rescaled. */
assay_status assay_rescale_bias(assay_graph *g, int node, int rescale, int64_t factor, int *bias,
                                assay_error *err);

#endif
