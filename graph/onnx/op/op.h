/* The operators: a line of ops.def each, and the handler that makes ours of it. */
#ifndef ASSAY_GRAPH_ONNX_OP_H
#define ASSAY_GRAPH_ONNX_OP_H

#include "graph/onnx/node/node.h"

/* The line of that operator, or NULL (table.c). */
const onnx_op_row *onnx_find_op(const char *domain, const char *type);

/* ---- conv.c ---- */
/* The attributes of a Conv of x with these weights, of a pool of x, explicit padding. `nhwc`: x has
 * its channels last. */
assay_attrs onnx_conv_attrs(onnx_node *n, const assay_type *x, const assay_type *weights);
assay_attrs onnx_pool_attrs(onnx_node *n, const assay_type *x, bool nhwc);

#define ONNX_OP(domain, type, fn, op, min_in, max_in, max_out, attributes)                         \
    void onnx_import_##fn(onnx_node *n);
#include "graph/onnx/op/ops.def"

#endif
