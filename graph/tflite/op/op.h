/* The operators: a line of ops.def each, and the function that makes nodes of it. */
#ifndef ASSAY_GRAPH_TFLITE_OP_H
#define ASSAY_GRAPH_TFLITE_OP_H

#include "graph/tflite/node/node.h"

/* ---- variable.c: resource variables are the model's, values are a graph's ---- */
void tfl_enter_body(tfl_import *inner);
/* Every variable that the body has used is one of the graph around it, too. */
assay_status tfl_leave_body(const tfl_op *o, tfl_import *inner);

/* ---- conv.c ---- */
/* Float activations in input x over integer weights in input w ("hybrid"): TFLite quantizes the
 * activations of each run by their own range, for speed. The network that this approximates is
 * float, with the real values of the weights, and that is what is imported: the weights become
 * these. Others are left as they are. */
assay_status tfl_real_weights(const tfl_op *op, int x, int w);

/* SAME along one axis: the output has ceil(in/stride) positions and the smaller half of the padding
 * comes first (tensorflow/lite/kernels/padding.h). */
void tfl_pad_same(int64_t in, int64_t reach, int64_t stride, int64_t *begin, int64_t *end);
/* Of a transposed convolution along spatial axis i, whose first pad, stride and dilation are set:
 * the pad after, so that `in` positions give the extent `out`. */
void tfl_pad_transposed(int64_t in, int64_t kernel, int64_t out, int i, assay_attr_conv *a);
/* The node on x, weights and, when the operator has one, the bias in input `bias`. bias_type: that
 * of a missing bias of 16-bit activations. */
assay_status tfl_weighted_node(const tfl_op *o, int x, int w, int bias, int bias_type, int y,
                               const assay_attrs *a, int *id);
/* ---- hybrid.c ---- */
/* Float activations in input x over integer weights in input w are to be computed as TFLite does.
 */
bool tfl_is_hybrid(const tfl_op *op, int x, int w);
/* y = the operator's op on x, weights w and a bias (or ASSAY_NO_VALUE); *id is the last node. */
assay_status tfl_hybrid_node(const tfl_op *o, int x, int w, int bias, int y, const assay_attrs *a,
                             int *id);
/* The same for one that multiplies rows by weights of one scale for all (in a state, in a step). */
bool tfl_is_hybrid_product(const tfl_op *op, int x, int w);
/* Rows, or weights, that several products may share. Codes (of rows) and scale are ASSAY_NO_VALUE
 * until the first one makes them. */
typedef struct tfl_factor {
    int value, codes, scale;
} tfl_factor;
static inline tfl_factor tfl_factor_of(int value)
{
    return (tfl_factor){value, ASSAY_NO_VALUE, ASSAY_NO_VALUE};
}
/* y = rows x by weights w and a bias (or ASSAY_NO_VALUE); the names of its parts begin with `name`,
 * as "step3/x/". */
assay_status tfl_hybrid_product(const tfl_op *o, const char *name, bool asymmetric, tfl_factor *x,
                                tfl_factor *w, int bias, int y);
/* ---- weights.c ---- */
/* Input i with its axis perm[k] as axis k: a constant anew, else a node. */
assay_status tfl_permuted_weights(const tfl_op *o, int i, const assay_list *perm, int *value);

/* ---- one function a kind of operator (ops.def) ---- */
#define TFL_OP(code, name, function, op) assay_status tfl_op_##function(const tfl_op *o);
#define TFL_CUSTOM(name, function)       assay_status tfl_custom_##function(const tfl_op *o);
#include "graph/tflite/op/ops.def"

#endif
