/* The bias of a product under another input scale. Internal to opt/. */
#ifndef ASSAY_OPT_RESCALE_BIAS_H
#define ASSAY_OPT_RESCALE_BIAS_H

#include "graph/core/graph.h"

/* Output scale of a rescale by its input scale. */
double prove_rescale_ratio(const assay_graph *g, int rescale);
/* A bias in units of the new scale: divided by factor where that is not 0, else times the ratio and
 * rounded. */
int64_t prove_rescaled_bias(int64_t bias, int64_t factor, double ratio);
/* Adds the bias of `node` in units of what `rescale` (before it) reads. *bias: the old one's
 * value, and then the new one's, named after the node's result, Y:bias:rescaled. */
assay_status prove_rescale_bias(assay_graph *g, int node, int rescale, int64_t factor, int *bias,
                                assay_error *err);

#endif
