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

/* The node's output 1: where a MaxPool of these attributes finds the elements that it gives
 * (pool_at.c). */
void onnx_pool_indices(onnx_node *n, const assay_attr_pool *a, onnx_value *pooled);

/* ---- Results under the suffix's name (NULL: the node's own), for operators that do more ---- */
onnx_value *onnx_conv(onnx_node *n, const char *suffix); /* conv.c */
onnx_value *onnx_gemm(onnx_node *n, const char *suffix); /* matmul.c */
onnx_value *onnx_product(onnx_node *n, onnx_value *a, onnx_value *b, const char *suffix);
/* Layer normalization over the last axis, of the kind that takes no mean off where `rms` (norm.c);
 * beta may be NULL. */
onnx_value *onnx_normalized(onnx_node *n, onnx_value *x, onnx_value *gamma, onnx_value *beta,
                            bool rms, const char *suffix);
/* The node's own result: what indices pick of x along an axis (gather; index.c). */
void onnx_picked(onnx_node *n, onnx_value *x, onnx_value *index, int64_t axis);
/* The rows of a table (gather along axis 0; index.c). */
onnx_value *onnx_rows(onnx_node *n, onnx_value *table, onnx_value *index, const char *suffix);
/* `size` elements of x from `begin` on along an axis (index.c). */
onnx_value *onnx_part(onnx_node *n, onnx_value *x, int axis, int64_t begin, int64_t size,
                      const char *suffix);

/* Values joined along an axis; a single value is returned itself (index.c). */
onnx_value *onnx_joined(onnx_node *n, onnx_value *const *in, int n_in, int64_t axis,
                        const char *suffix);
/* A constant 0, 1, ... along `axis` of `dim`, whose other axes are 1 (index.c). */
onnx_value *onnx_counted(onnx_node *n, int dtype, int rank, const int64_t *dim, const char *suffix);
/* A constant of the shape whose elements are all 1 (index.c). */
onnx_value *onnx_ones(onnx_node *n, int dtype, int rank, const int64_t *dim, const char *suffix);
/* Input 0 as DynamicQuantizeLinear has it: floats that are codes of u8, and what makes them
 * (quantize.c). */
onnx_value *onnx_dynamic_codes(onnx_node *n, onnx_value **scale, onnx_value **zero);
/* small.c: x (float32) as a small float, as Cast has it; a small float as float32; QuantizeLinear
 * of input 0 to such elements, and DequantizeLinear of one. */
onnx_value *onnx_to_small(onnx_node *n, onnx_value *x, assay_elem elem, const char *suffix);
onnx_value *onnx_from_small(onnx_node *n, onnx_value *x, const char *suffix);
void onnx_quantize_small(onnx_node *n, assay_elem elem);
void onnx_dequantize_small(onnx_node *n);
/* [B,S,N*H] as N heads, [B,N,S,H]; what has rank 4 is that already (attention.c). */
onnx_value *onnx_heads(onnx_node *n, onnx_value *x, int64_t heads, const char *suffix);
/* Heads back to [B,S,N*H], under the node's own name (attention.c). */
void onnx_heads_joined(onnx_node *n, onnx_value *x);

/* Each head of x as often as queries share it, so that there are `heads`; softcap * tanh(x /
 * softcap) where the node has that attribute (attention_std.c). */
onnx_value *onnx_shared_heads(onnx_node *n, onnx_value *x, int64_t heads, const char *suffix);
onnx_value *onnx_capped(onnx_node *n, onnx_value *x);
/* x [B,N,S,H] rotated by the angles of its rows, whose cosines and sines are in cache (rotary.c).
 */
onnx_value *onnx_rotated(onnx_node *n, onnx_value *x, onnx_value *const cache[2], onnx_value *rows,
                         bool interleaved, const char *suffix);

/* Where each element of an index along `axis` stands in x, its places along the others its own: as
 * gather_nd and scatter_nd take them (place.c). */
onnx_value *onnx_element_places(onnx_node *n, onnx_value *x, onnx_value *index, int axis);
/* [count,rank]: the indices of the elements of x that are not zero, of which there are so many;
 * and how many a constant has (constant.c). */
onnx_value *onnx_set_places(onnx_node *n, onnx_value *x, int64_t count, const char *suffix);
int64_t onnx_count_set(const onnx_const *c);
/* v with an axis of extent 1 more (index.c). */
onnx_value *onnx_row(onnx_node *n, onnx_value *v, int64_t axis);
/* Refuses to unroll so many rounds of a body (loop.c). */
void onnx_check_rounds(onnx_node *n, const pb_graph *g, int64_t rounds);

/* "" for all names of the standard domain (table.c). */
const char *onnx_standard_domain(const char *domain);
/* A function of the model's own, or NULL; a call of it (call.c). */
const pb_function *onnx_find_function(const onnx_import *im, const char *domain, const char *name);
void onnx_import_call(onnx_node *n);

#define ONNX_OP(domain, type, fn, op, min_in, max_in, max_out, attributes)                         \
    void onnx_import_##fn(onnx_node *n);
#include "graph/onnx/op/ops.def"

#endif
