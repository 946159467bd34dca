/* Specification of a node for the scheme that prepares it: the one place that says which of a
 * node's attributes stands in which field of assay_unit_spec. Used by the program that runs a graph
 * and by the quantizer that asks a scheme what it supports.
 *
 *   op                        depth                        alpha, beta, gamma, epsilon, flag
 *   conv, conv_transpose      I/group * kernel cells       flag: group (2 for a depthwise conv of
 *                                                          one channel: more than 1, no plain conv)
 *   conv                                                   channel_step: distance of a filter's
 *                                                          channels; channel_outputs: outputs for
 *                                                          each input channel if depthwise
 *   svdf_time                 as conv
 *   fc, svdf_feature          K
 *   matmul                    K                            flag: transpose_b
 *   max_pool, avg_pool        kernel cells                 flag: count_include_pad
 *   avg_pool, global_avg_pool, reduce_mean                 window: extents of its axes
 *   avg_pool                                               uncounted: a window reaches padding
 *                                                          that does not count, or over the end
 *   global_avg_pool           spatial cells
 *   reduce_*                  reduced elements
 *   softmax, log_softmax      row length                   beta
 *   l2_norm, layer_norm       row length                   epsilon
 *   lrn                       size                         alpha, beta, gamma (bias)
 *   clip                                                   alpha (lo), beta (hi); in act_* too
 *   leaky_relu, elu                                        alpha
 *   hard_sigmoid                                           alpha, beta
 *   gelu                                                   flag: enum assay_gelu
 *   custom, custom_...                                     flag: number
 *   resize                    axes beyond two spatial      flag: enum assay_resize_mode
 *                             ones that it goes over, 1
 *                             where it has no spatial one
 *   pad                                                    alpha (value)
 *   block_scale                                            flag: elements, rule << 8; alpha: reach
 *   float_encode                                           flag: by, saturate << 1
 *   scaled_matmul             K                            scale_block: elements of K under one
 *                                                          scale, of a and b
 *
 * What the reference kernels ask of a unit, beyond what the vtable's comment says:
 *   - max_pool, reduce_max, reduce_min and resize (nearest) choose codes and hand them to `unary`,
 *     which applies the fused activation and, when input and output parameters differ, a rescale.
 *   - avg_pool, global_avg_pool, reduce_mean, reduce_sum: sums of raw codes go through
 * `apply_overflow`, then `pool`. Cells of padding that count are added as the zero point.
 *   - resize (linear): fy, fx are fractions in 1/1024, 0..1023; corners in the order (y0,x0),
 *     (y0,x1), (y1,x0), (y1,x1).
 *   - lrn: `row` on all channels of one place, with the window's size in depth. The unit of a
 * record then makes each code by what `requantize` does to (x - zero point) * gain, where the gains
 * lie between those of its parameter "table", never increasing, and 0.
 *   - prelu: `binary` with a the input, b the slope. */
#ifndef ASSAY_SCHEMES_SPEC_H
#define ASSAY_SCHEMES_SPEC_H

#include "graph/core/graph.h"
#include "schemes/vtable.h"

#define ASSAY_SPEC_IN 8 /* inputs that a spec describes; no op with arithmetic has more */

/* Fills *spec for node n of g. `in` is the caller's room for the input types; spec->in points to
 * it. spec borrows from g. Bounds given as codes are turned into the real values of those codes,
 * which any rounding to nearest turns back into the same codes. */
void assay_unit_spec_fill(const assay_graph *g, const assay_node *n, assay_type in[ASSAY_SPEC_IN],
                          assay_unit_spec *spec);

#endif
