/* Passes over a network, and what is measured to quantize it.
 *
 * Passes take a graph and leave an equivalent one; names of surviving values never change. */
#ifndef ASSAY_OPT_OPT_H
#define ASSAY_OPT_OPT_H

#include "graph/core/graph.h"
#include "schemes/scheme.h"

/* Evaluates a node of constants into out buffers; supplied by interp (opt does not depend on it).
 * ASSAY_ERR_UNSUPPORTED means that it cannot: the node is then left as it is. */
typedef assay_status (*assay_evaluate_fn)(const assay_graph *g, const assay_node *n,
                                          void *const *out, assay_error *err);

/* The canonical lowering, one for profiling and quantization alike (opt/lower/canonical.c): the
 * passes below to a fixed point, then lower_batch_norm, lower_eliminate_common and the
 * verifier. Exact in float up to the rounding of the folded constants. Relu and clip stay nodes of
 * their own, so that a profile sees the values on both sides; the quantizer fuses them. */
assay_status lower_canonicalize(assay_graph *g, assay_evaluate_fn evaluate, assay_error *err);

/* ---- the passes; *changed receives how many applications there were ---- */

/* Nodes whose inputs are all constants become constants under the names of their outputs. Quantized
 * values are left alone: their parameters are part of the network. */
assay_status lower_fold_constants(assay_graph *g, assay_evaluate_fn evaluate, int *changed,
                                  assay_error *err);
/* The same, and numbers are made of constant codes and patterns, too: where nothing takes those any
 * more. */
assay_status lower_fold_codes(assay_graph *g, assay_evaluate_fn evaluate, int *changed,
                              assay_error *err);
/* BatchNorm, and add, sub, mul and div by constants, one per channel, into the convolution,
 * transposed convolution or fully-connected preceding layer, when nothing else uses its output. The
 * layer's output takes the name of the value that it then computes. */
assay_status lower_fold_affine(assay_graph *g, int *changed, assay_error *err);
/* A remaining BatchNorm becomes a depthwise 1x1 convolution (one rounding when quantized), or
 * mul and add where there are no spatial axes. */
assay_status lower_batch_norm(assay_graph *g, int *changed, assay_error *err);
/* matmul by a constant matrix becomes a fully-connected layer. */
assay_status lower_matmul(assay_graph *g, int *changed, assay_error *err);
/* Not in the canonical lowering, the quantizer's own, as it changes the bits of floats. Division by
 * a constant becomes multiplication by its reciprocal (one more rounding of binary32); 1 / x
 * becomes reciprocal; a power of 2, 1/2, -1 or -1/2 becomes square, sqrt, reciprocal or rsqrt. */
assay_status lower_arithmetic(assay_graph *g, int *changed, assay_error *err);
/* The greater or lesser of a value and one number becomes a clip; clips and relus in a row become
 * one where nothing else uses the values between them. */
assay_status lower_clip(assay_graph *g, int *changed, assay_error *err);
/* Nodes of the same op, attributes and inputs become one: the first in order. A later one that
 * yields an output of the network stays. */
assay_status lower_eliminate_common(assay_graph *g, int *changed, assay_error *err);
/* Padding by zeros in space goes into the convolution after it. */
assay_status lower_fold_pad(assay_graph *g, int *changed, assay_error *err);
/* Nodes that return their input are removed: reshape to the same shape, transpose that moves
 * nothing, slice of everything, pad by nothing, concat of one, clip without bounds, ... */
assay_status lower_eliminate_identity(assay_graph *g, int *changed, assay_error *err);
/* Casts of floats to float16 and bfloat16 go, and their results keep their names: what is profiled
 * and quantized is in float32 between its nodes. */
assay_status lower_drop_narrowing(assay_graph *g, assay_error *err);
/* Nodes whose outputs reach no output of the graph go, and unused constants. */
assay_status lower_eliminate_dead(assay_graph *g, int *changed, assay_error *err);

/* ---- profile: opt/profile/profile.h; parameters: opt/calibrate/qparams.h; quantizer:
 * opt/quantize/quantize.h ---- */
#endif
