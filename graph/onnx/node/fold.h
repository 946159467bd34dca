/* Between the files of constant folding: fold.c computes, fold_move.c moves elements. */
#ifndef ASSAY_GRAPH_ONNX_FOLD_H
#define ASSAY_GRAPH_ONNX_FOLD_H

#include "graph/onnx/node/node.h"

/* A constant for a result. NULL, without failing the node, when the result is much larger than the
 * `operands` elements that it is made from: then the op stays in the graph. */
onnx_const *onnx_fold_result(onnx_node *n, int dtype, int rank, const int64_t *dim,
                             int64_t operands);

/* Element `to` of y becomes element `from` of x; both of `size` bytes per element. */
void onnx_copy_element(onnx_const *y, int64_t to, const onnx_const *x, int64_t from, size_t size);

/* Reshape, expand, transpose, slice, tile, concat and gather; NULL for others. */
const onnx_const *onnx_fold_move(onnx_node *n, assay_op op, const assay_attrs *attr,
                                 onnx_value *const *in, int n_in);

/* numpy broadcasting to a shape, which must fit. NULL as onnx_fold_result. */
const onnx_const *onnx_expand_const(onnx_node *n, const onnx_const *x, const assay_list *shape);

/* Every element converted as Cast does. NULL, without failing the node, where a float lies beyond
 * the integers of the type: what those become is the scheme's to say, so the cast stays in the
 * graph. */
const onnx_const *onnx_cast_const(onnx_node *n, const onnx_const *x, int dtype);

#endif
