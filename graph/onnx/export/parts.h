/* Between the files of the exporter: export.c has nodes, codes.c conversions, ops.c
 * operators, picks.c those by positions, several.c those that become several, moves.c those that
 * take numbers as inputs. */
#ifndef ASSAY_GRAPH_ONNX_EXPORT_PARTS_H
#define ASSAY_GRAPH_ONNX_EXPORT_PARTS_H

#include "graph/onnx/export/write.h"

/* ---- codes.c ---- */

/* The parameters of a value, written once. */
void onnx_export_parameters(onnx_writer *w, int v);
/* QuantizeLinear or DequantizeLinear (op) of `from` into `to`, with the parameters written for
 * `name`, which are those of t. */
void onnx_export_convert(onnx_writer *w, const char *op, const char *from, const char *name,
                         const assay_type *t, const char *to);
/* The name of a value's real numbers; of codes a DequantizeLinear is made at the first use. */
const char *onnx_export_real(onnx_writer *w, int v);
/* A QuantizeLinear of `from` gives value v. */
void onnx_export_quantize(onnx_writer *w, const char *from, int v);
/* The name of node n's bias as real numbers, at the scale of the products, whatever its own
 * parameters say. */
const char *onnx_export_bias(onnx_writer *w, const assay_node *n);
/* Whether v is a bias of 64 bits, which DequantizeLinear lacks. */
bool onnx_export_is_wide_bias(const assay_graph *g, int v);

/* ---- small.c: float_encode, float_decode, scaled_matmul, block_scale ---- */
void onnx_export_encode(onnx_writer *w, const assay_node *n, const char *name,
                        const char *const *in, const char *y);
void onnx_export_decode(onnx_writer *w, const assay_node *n, const char *name,
                        const char *const *in, const char *y);
void onnx_export_product(onnx_writer *w, const assay_node *n, const char *name,
                         const char *const *in, const char *y);
void onnx_export_scale(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                       const char *y);

/* ---- moves.c: numbers that are inputs ---- */
void onnx_export_slice(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                       const char *y);
void onnx_export_reverse(onnx_writer *w, const assay_node *n, const char *name,
                         const char *const *in, const char *y);
void onnx_export_pad(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                     const char *y);
void onnx_export_shaped(onnx_writer *w, const assay_node *n, const char *name,
                        const char *const *in, const char *y);

/* ---- picks.c: positions ---- */
void onnx_export_arg(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                     const char *y);
void onnx_export_topk(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                      const char *y);
void onnx_export_where(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                       const char *y);
void onnx_export_gather_nd(onnx_writer *w, const assay_node *n, const char *name,
                           const char *const *in, const char *y);
void onnx_export_scatter(onnx_writer *w, const assay_node *n, const char *name,
                         const char *const *in, const char *y);
void onnx_export_cumsum(onnx_writer *w, const assay_node *n, const char *name,
                        const char *const *in, const char *y);
void onnx_export_grid(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                      const char *y);
void onnx_export_roi(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                     const char *y);

/* ---- several.c: several operators, or other inputs ---- */
void onnx_export_clip(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                      const char *y);
void onnx_export_cast(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                      const char *y);
void onnx_export_square(onnx_writer *w, const assay_node *n, const char *name,
                        const char *const *in, const char *y);
void onnx_export_rsqrt(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                       const char *y);
void onnx_export_layer_norm(onnx_writer *w, const assay_node *n, const char *name,
                            const char *const *in, const char *y);
void onnx_export_not_equal(onnx_writer *w, const assay_node *n, const char *name,
                           const char *const *in, const char *y);
void onnx_export_floor_div(onnx_writer *w, const assay_node *n, const char *name,
                           const char *const *in, const char *y);
void onnx_export_squared_difference(onnx_writer *w, const assay_node *n, const char *name,
                                    const char *const *in, const char *y);

/* ---- ops.c ---- */

/* Node n on real values named `in`, its result named y. Refuses what ONNX has no operator for. */
void onnx_export_operation(onnx_writer *w, const assay_node *n, const char *const *in,
                           const char *y);
/* The same for a product of codes without a scale: in has both operands and their zero points. */
void onnx_export_sums(onnx_writer *w, const assay_node *n, const char *const *in, const char *y);

#endif
