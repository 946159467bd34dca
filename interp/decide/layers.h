/* The layers of a network whose accumulators are rescaled (conv, fc, matmul, ...), with the
 * accumulators that each can reach: for comparing schemes layer by layer. */
#ifndef ASSAY_INTERP_DECIDE_LAYERS_H
#define ASSAY_INTERP_DECIDE_LAYERS_H

#include "graph/core/graph.h"
#include "schemes/apply/unit.h"
#include "schemes/node/spec.h"
#include "schemes/scheme.h"

typedef struct decide_layer {
    const assay_node *node;
    size_t channels;  /* 1 when all have the same bounds */
    int64_t *lo, *hi; /* least and greatest accumulator per channel, bias included; owned */
    int64_t bound;    /* of any sum of absolute products and the bias */
    const char *why;  /* why comparing rescales decides nothing; NULL: it does */
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
} decide_layer;

/* Whether node i of g is such a layer; 0 no, 1 yes, -1 when out of memory. decide_layer_free. The
 * bounds are exact for conv and fc with constant weights: each product at its extremes. For others
 * they are depth times the greatest product. */
int decide_layer_of(const assay_graph *g, int i, decide_layer *out);
void decide_layer_free(decide_layer *l);
/* Whether the accumulator of the layer's unit holds every sum, so that the rescale alone decides.
 */
bool decide_layer_is_exact(const decide_layer *l, const assay_scheme *s, const assay_unit *u);

#endif
