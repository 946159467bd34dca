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

/* ---- one function a kind of operator (ops.def) ---- */
#define TFL_OP(code, name, function, op) assay_status tfl_op_##function(const tfl_op *o);
#include "graph/tflite/op/ops.def"

#endif
