/* Operators over time, unrolled: the input of a step, its products, states, and the results of all
 * steps side by side. Values are named after the step, "OUTPUT/backward/step3/forget/sum". */
#ifndef ASSAY_GRAPH_TFLITE_UNROLL_H
#define ASSAY_GRAPH_TFLITE_UNROLL_H

#include "graph/tflite/op/op.h"

typedef struct tfl_unroll {
    const tfl_op *o;
    const char *direction; /* "", "forward/", "backward/" */
    int64_t batch, steps;
    bool time_major;
    bool asymmetric; /* codes of hybrid products have a zero point */
    bool in_float;   /* hybrid products are computed in float in any case */
    int step;        /* of which nodes are made */
} tfl_unroll;

/* Batch and steps by input x, which is [batch, n] for a `single` step. Charges for the nodes. */
assay_status tfl_unroll_sizes(tfl_unroll *u, int x, bool single);
/* Input `aux` has the batch and the steps of input x. */
assay_status tfl_unroll_beside(const tfl_op *o, int x, int aux);
/* Weights in input w under activations in input x: 2 dimensions, and real numbers unless the
 * operator is to be computed in TFLite's integers. */
assay_status tfl_unroll_weights(const tfl_unroll *u, int x, int w);
/* One node with a new value for its result; `gate` may be "". *id may be NULL. */
assay_status tfl_unroll_node(const tfl_unroll *u, assay_op op, const int *in, int n_in,
                             const assay_attrs *attr, const char *gate, const char *what,
                             const assay_type *type, int *value, int *id);
/* The variable in input `state` as the value that it has before the first step. */
assay_status tfl_unroll_read(const tfl_unroll *u, int state, const char *what, int *value);
assay_status tfl_unroll_assign(const tfl_unroll *u, int state, const char *what, int value);
/* x at the step at hand, [batch, n]. */
assay_status tfl_unroll_input(const tfl_unroll *u, int x, int *out);
/* Rows x by weights w and a bias (or ASSAY_NO_VALUE). */
assay_status tfl_unroll_product(const tfl_unroll *u, tfl_factor *x, tfl_factor *w, int bias,
                                const char *gate, const char *what, const assay_type *type,
                                int *out);
/* An activation of the schema; ACTIVATION_NONE makes no node. */
assay_status tfl_unroll_bend(const tfl_unroll *u, int activation, int x, const char *gate,
                             const char *what, const assay_type *type, int *out);
/* y = the results of all steps, each [batch, units], in the order of time; the array is used up. */
assay_status tfl_unroll_join(const tfl_unroll *u, int *result, int y);
/* Room for them. */
int *tfl_unroll_room(const tfl_unroll *u);
/* The directions' results as the operator's: one tensor each, or side by side in one. */
assay_status tfl_unroll_results(const tfl_unroll u[2], int *result[2], bool merged);

#endif
