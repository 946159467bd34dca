/* Shape and type inference: a table of cases for every op. A case is a graph in the text form; the
 * type that the node declares is the expectation, or the refusal names what must be said. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "graph/text/text.h"

typedef struct infer_case {
    const char *inputs; /* items before the node */
    const char *node;   /* the node */
    const char *refusal;
} infer_case;

#define X4 "input x: f32[2,6,8,10]"
#define Q  "q(0.5,3)"

/* Bodies: twice what is given, one bool from an i32, and what fits neither. */
#define BODIES                                                                                     \
    "graph a { input v: f32[2] w: f32[2] = add(v, v) output w } "                                  \
    "graph b { input v: f32[2] w: f32[2] = relu(v) output w } "                                    \
    "graph t { input v: f32[2] w: bool[2] = less(v, v) z: bool[1] = slice(w) "                     \
    "{begin=[0], step=[1], size=[1]} output z } "                                                  \
    "graph c { input v: f32[3] w: f32[3] = relu(v) output w } "

static const infer_case cases[] = {
    /* ---- control flow ---- */
    {"input p: bool[] input x: f32[2] " BODIES, "y: f32[2] = if(p, x)", NULL},
    {"input p: bool[1] input x: f32[2] " BODIES, "y: f32[2] = if(p, x) {on_true=1, on_false=0}",
     NULL},
    {"input p: bool[2] input x: f32[2] " BODIES, "y: f32[2] = if(p, x)", "not one bool"},
    {"input p: bool[] input x: f32[2] " BODIES, "y: f32[2] = if(p, x) {on_true=4}",
     "'on_true' is 4, but there are 4 subgraphs"},
    {"input p: bool[] input x: f32[2] " BODIES, "y: f32[2] = if(p, x) {on_false=3}",
     "input 1 has another type than in subgraph 'c'"},
    {"input p: bool[] input x: f32[2] " BODIES, "y: f32[2] = if(p, x, x)", "takes 1 inputs"},
    {"input p: bool[] input x: f32[2] " BODIES, "y: f32[2] = if(p, x) {on_false=2}",
     "other types in subgraphs 'a' and 't'"},
    {"input x: f32[2] " BODIES, "y: f32[2] = while(x) {condition=2, body=0}", NULL},
    {"input x: f32[2] " BODIES, "y: f32[2] = while(x) {condition=1, body=0}",
     "'b' does not give one bool"},
    {"input x: f32[2] " BODIES, "y: f32[2] = while(x) {condition=2, body=-1}", "'body' is -1"},
    {"input x: f32[2] " BODIES, "y: f32[2] = while(x, x) {condition=2, body=0}",
     "2 inputs but 1 outputs"},
    {"input x: f32[2] " BODIES, "y: f32[3] = while(x) {condition=2, body=0}", "expected f32[2]"},
    /* ---- conv ---- */
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,6,8] = conv(x, w)", NULL},
    {X4 " input w: f32[4,6,3,3] input b: f32[4]", "y: f32[2,4,6,8] = conv(x, w, b)", NULL},
    {X4 " input w: f32[4,6,3,3]",
     "y: f32[2,4,4,5] = conv(x, w) {stride=[2,2], pad_begin=[1,1], pad_end=[1,1]}", NULL},
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,4,6] = conv(x, w) {dilation=[2,2]}", NULL},
    {X4 " input w: f32[6,1,3,3]", "y: f32[2,6,6,8] = conv(x, w) {group=6}", NULL},
    {"input x: f32[1,8,10,6] input w: f32[4,3,3,6]", "y: f32[1,6,8,4] = conv(x, w) {layout=nhwc}",
     NULL},
    {"input x: f32[1,3,9] input w: f32[5,3,4]", "y: f32[1,5,6] = conv(x, w)", NULL},
    {"input x: f32[1,3,9,9,9] input w: f32[5,3,1,2,3]", "y: f32[1,5,9,8,7] = conv(x, w)", NULL},
    {"input x: i8[1,3,4,4] " Q " const w: i8[1,3,1,1] q(axis=0,[0.5],[0]) = [1,2,3]"
     " const b: i32[1] q(axis=0,[0.25],[0]) = [9]",
     "y: u8[1,1,4,4] q(1,0) = conv(x, w, b)", NULL},
    {X4 " input w: f32[4,5,3,3]", "y: f32[2,4,6,8] = conv(x, w)", "5 channels a group"},
    {X4 " input w: f32[4,3,3,3]", "y: f32[2,4,6,8] = conv(x, w) {group=4}", "6 input channels"},
    {X4 " input w: f32[5,3,3,3]", "y: f32[2,5,6,8] = conv(x, w) {group=2}", "do not divide"},
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,6,8] = conv(x, w) {group=0}", "group is 0"},
    {X4 " input w: f32[4,6,9,3]", "y: f32[2,4,1,8] = conv(x, w)", "does not fit"},
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,6,8] = conv(x, w) {stride=[0,1]}", "'stride'"},
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,6,8] = conv(x, w) {stride=[1]}", "1 entries"},
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,6,8] = conv(x, w) {pad_begin=[-1,0]}", "'pad_begin'"},
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,6,8] = conv(x, w) {dilation=[9223372036854775807,1]}",
     "'dilation'"},
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,6,8] = conv(x, w) {kernel=[3,2]}", "kernel extent 2"},
    {X4 " input w: f32[4,6,3,3] input b: f32[5]", "y: f32[2,4,6,8] = conv(x, w, b)", "bias is [5]"},
    {X4 " input w: f32[4,6,3]", "y: f32[2,4,6,8] = conv(x, w)", "rank 3"},
    {"input x: f32[2,6] input w: f32[4,6]", "y: f32[2,4] = conv(x, w)", "rank 2"},
    {X4 " input w: i8[4,6,3,3] q(1,0)", "y: f32[2,4,6,8] = conv(x, w)", "input 1 is i8"},
    {X4, "y: f32[2,4,6,8] = conv(x, _)", "input 1 is required"},
    {X4, "y: f32[2,4,6,8] = conv(x)", "1 inputs, expected 2 to 3"},
    {X4 " input w: f32[4,6,3,3]", "y: f32[2,4,6,9] = conv(x, w)", "expected f32[2,4,6,8]"},
    {X4 " input w: f32[4,6,3,3]", "y: bool[2,4,6,8] = conv(x, w)", "expected f32[2,4,6,8]"},
    {"input x: i8[1,3,4,4] " Q " const w: i8[1,3,1,1] q(axis=1,[1,1,1],[0,0,0]) = [1,2,3]",
     "y: u8[1,1,4,4] q(1,0) = conv(x, w)", "output channels"},
    {"input x: i8[1,1,4,4] " Q " const w: i8[1,1,1,1] q(1,0) = [1]"
     " const b: i32[1] q(0.5,1) = [9]",
     "y: u8[1,1,4,4] q(1,0) = conv(x, w, b)", "zero point 0 in bias"},
    /* ---- conv_transpose ---- */
    {"input x: f32[1,4,5,5] input w: f32[4,3,3,3]", "y: f32[1,3,7,7] = conv_transpose(x, w)", NULL},
    {"input x: f32[1,4,5,5] input w: f32[4,3,3,3]",
     "y: f32[1,3,10,10] = conv_transpose(x, w) {stride=[2,2], pad_begin=[1,1], pad_end=[1,1], "
     "output_padding=[1,1]}",
     NULL},
    {"input x: f32[1,4,5,5] input w: f32[4,3,3,3]",
     "y: f32[1,6,7,7] = conv_transpose(x, w) {group=2}", NULL},
    {"input x: f32[1,5,5,4] input w: f32[3,2,2,4]",
     "y: f32[1,10,10,3] = conv_transpose(x, w) {layout=nhwc, stride=[2,2]}", NULL},
    {"input x: f32[1,4,5,5] input w: f32[5,3,3,3]", "y: f32[1,3,7,7] = conv_transpose(x, w)",
     "5 input channels"},
    {"input x: f32[1,4,5,5] input w: f32[4,3,3,3]",
     "y: f32[1,3,7,7] = conv_transpose(x, w) {pad_begin=[9,9]}", "does not fit"},
    {"input x: f32[1,4,5,5] input w: f32[4,3,3,3]",
     "y: f32[1,3,7,7] = conv_transpose(x, w) {stride=[1073741824,1073741824]}", "2^40"},
    /* ---- fc, matmul ---- */
    {"input x: f32[2,7,5] input w: f32[3,5] input b: f32[3]", "y: f32[2,7,3] = fc(x, w, b)", NULL},
    {"input x: f32[2,4] input w: f32[3,5]", "y: f32[2,3] = fc(x, w)", "[..,K] and [O,K]"},
    {"input x: f32[] input w: f32[3,5]", "y: f32[3] = fc(x, w)", "[..,K] and [O,K]"},
    {"input a: f32[2,3] input b: f32[3,4]", "y: f32[2,4] = matmul(a, b)", NULL},
    {"input a: f32[5,1,2,3] input b: f32[6,3,4]", "y: f32[5,6,2,4] = matmul(a, b)", NULL},
    {"input a: f32[3,2] input b: f32[4,3]",
     "y: f32[2,4] = matmul(a, b) {transpose_a=true, transpose_b=true}", NULL},
    {"input a: f32[3] input b: f32[3]", "y: f32[] = matmul(a, b)", NULL},
    {"input a: f32[3] input b: f32[7,3,4]", "y: f32[7,4] = matmul(a, b)", NULL},
    {"input a: f32[7,2,3] input b: f32[3]", "y: f32[7,2] = matmul(a, b)", NULL},
    {"input a: f32[2,3] input b: f32[4,3]", "y: f32[2,3] = matmul(a, b)", "inner extents"},
    {"input a: f32[2,2,3] input b: f32[3,3,3]", "y: f32[2,2,3] = matmul(a, b)", "broadcast"},
    {"input a: f32[] input b: f32[3]", "y: f32[] = matmul(a, b)", "scalar"},
    {"input a: f32[3] input b: f32[3]", "y: f32[] = matmul(a, b) {transpose_a=true}", "vector"},
    /* ---- normalizations ---- */
    {X4 " input s: f32[6]", "y: f32[2,6,8,10] = batch_norm(x, s, s, s, s)", NULL},
    {X4 " input s: f32[10]", "y: f32[2,6,8,10] = batch_norm(x, s, s, s, s) {layout=nhwc}", NULL},
    {X4 " input s: f32[5]", "y: f32[2,6,8,10] = batch_norm(x, s, s, s, s)", "scale is [5]"},
    {"input x: f32[6] input s: f32[6]", "y: f32[6] = batch_norm(x, s, s, s, s)", "rank 1"},
    {X4, "y: f32[2,6,8,10] = lrn(x) {size=5}", NULL},
    {X4, "y: f32[2,6,8,10] = lrn(x) {size=0}", "size is 0"},
    {X4, "y: f32[2,6,8,10] = softmax(x)", NULL},
    {X4, "y: f32[2,6,8,10] = softmax(x) {axis=-4}", NULL},
    {X4, "y: f32[2,6,8,10] = softmax(x) {axis=4}", "axis 4"},
    {X4, "y: f32[2,6,8,10] = softmax(x) {axis=-5}", "axis -5"},
    {X4, "y: f32[2,6,8,10] = log_softmax(x) {axis=1}", NULL},
    {X4, "y: f32[2,6,8,10] = l2_norm(x) {axis=1}", NULL},
    {X4 " input s: f32[8,10]", "y: f32[2,6,8,10] = layer_norm(x, s, s) {axis=2}", NULL},
    {X4 " input s: f32[10]", "y: f32[2,6,8,10] = layer_norm(x, _, s)", NULL},
    {X4 " input s: f32[8,10]", "y: f32[2,6,8,10] = layer_norm(x, s)", "normalized axes"},
    /* ---- two operands ---- */
    {"input a: f32[2,1,4] input b: f32[3,1]", "y: f32[2,3,4] = add(a, b)", NULL},
    {"input a: f32[] input b: f32[3]", "y: f32[3] = sub(a, b)", NULL},
    {"input a: f32[0] input b: f32[1]", "y: f32[0] = mul(a, b)", NULL},
    {"input a: f32[2] input b: f32[3]", "y: f32[2] = add(a, b)", "do not broadcast"},
    {"input a: f32[2] input b: f32[2]", "y: f32[2] = add_n(a, b, a)", NULL},
    {"input a: f32[2] input b: f32[1]", "y: f32[2] = add_n(a, b)", "input 1 has another type"},
    {"input x: i8[2] " Q, "y: i8[4] " Q " = pad(x) {begin=[1], end=[1], has_code=true, code=-128}",
     NULL},
    {"input x: i8[2] " Q, "y: i8[4] " Q " = pad(x) {begin=[1], end=[1], has_code=true, code=128}",
     "fill 128 is not a code"},
    {"input x: f32[2]", "y: f32[4] = pad(x) {begin=[1], end=[1], has_code=true}", "is not a code"},
    {"input a: f32[2] input b: i32[2]", "y: f32[2] = add(a, b)", "input 1 is i32"},
    {"input a: i8[2] " Q " input b: u8[2] " Q, "y: i16[2] q(1,0) = add(a, b)", NULL},
    {"input a: f32[2] input b: f32[2]", "y: f32[2] = div(a, b)", NULL},
    {"input a: f32[2] input b: f32[2]", "y: f32[2] = min(a, b)", NULL},
    {"input a: i8[2] " Q " input b: i8[2] " Q, "y: i8[2] " Q " = max(a, b)", NULL},
    {"input a: f32[2] input b: f32[2]", "y: f32[2] = pow(a, b)", NULL},
    {"input a: i64[2] input b: i64[2]", "y: i64[2] = mod(a, b)", NULL},
    {"input a: i32[2] input b: i32[2]", "y: i32[2] = floor_div(a, b)", NULL},
    {"input a: i32[2] input b: i32[2]", "y: i64[2] = floor_div(a, b)", "expected i32[2]"},
    {"input a: f32[2] input b: f32[2]", "y: f32[2] = squared_difference(a, b)", NULL},
    {X4 " input s: f32[6,1,1]", "y: f32[2,6,8,10] = prelu(x, s)", NULL},
    {"input a: f32[6,1] input s: f32[6,2]", "y: f32[6,2] = prelu(a, s)", "slope is larger"},
    {"input a: f32[2] input b: f32[1]", "y: bool[2] = equal(a, b)", NULL},
    {"input a: f32[2] input b: f32[1]", "y: f32[2] = equal(a, b)", "expected bool[2]"},
    {"input a: f32[2] input b: f32[1]", "y: bool[2] = not_equal(a, b)", NULL},
    {"input a: f32[2] input b: f32[1]", "y: bool[2] = less(a, b)", NULL},
    {"input a: f32[2] input b: f32[1]", "y: bool[2] = less_equal(a, b)", NULL},
    {"input a: f32[2] input b: f32[1]", "y: bool[2] = greater(a, b)", NULL},
    {"input a: f32[2] input b: f32[1]", "y: bool[2] = greater_equal(a, b)", NULL},
    {"input a: bool[2] input b: bool[1]", "y: bool[2] = logical_and(a, b)", NULL},
    {"input a: bool[2] input b: bool[1]", "y: bool[2] = logical_or(a, b)", NULL},
    {"input a: bool[2]", "y: bool[2] = logical_not(a)", NULL},
    {"input a: bool[2] input b: f32[1]", "y: bool[2] = logical_and(a, b)", "input 1 is not bool"},
    {"input c: bool[3,1] input a: f32[2] input b: f32[]", "y: f32[3,2] = select(c, a, b)", NULL},
    {"input c: bool[1] input a: i8[2] " Q " input b: i8[2] " Q, "y: i8[2] " Q " = select(c, a, b)",
     NULL},
    {"input a: f32[2]", "y: f32[2] = select(a, a, a)", "condition"},
    /* ---- one operand ---- */
    {X4, "y: f32[2,6,8,10] = relu(x)", NULL},
    {X4, "y: f32[2,6,8] = relu(x)", "expected f32[2,6,8,10]"},
    {"input x: i8[2] " Q, "y: f32[2] = relu(x)", "expected i8[2]"},
    {X4, "y: f32[2,6,8,10] = relu(x, x)", "2 inputs, expected 1"},
    {X4, "y: f32[2,6,8,10], z: f32[1] = relu(x)", "2 outputs, expected 1"},
    {X4, "y: f32[2,6,8,10] = clip(x) {lo=0, hi=6}", NULL},
    {X4, "y: f32[2,6,8,10] = clip(x) {lo=nan}", "'lo' is out of range"},
    {X4, "y: f32[2,6,8,10] = leaky_relu(x) {alpha=0.1}", NULL},
    {X4, "y: f32[2,6,8,10] = gelu(x) {approximate=tanh}", NULL},
    {X4, "y: f32[2,6,8,10] = cumsum(x) {axis=-1}", NULL},
    {X4, "y: f32[2,6,8,10] = cumsum(x) {axis=7}", "axis 7"},
    {X4, "y: i64[2,6,8,10] = cast(x) {to=i64}", NULL},
    {X4, "y: i32[2,6,8,10] = cast(x) {to=i64}", "expected i64"},
    {X4, "y: i8[2,6,8,10] q(0.1,2) = quantize(x)", NULL},
    {X4, "y: i8[2,6,8,10] = quantize(x)", "the output is not an integer with parameters"},
    {"input x: i8[2] " Q, "y: f32[2] = dequantize(x)", NULL},
    {"input x: i8[2]", "y: f32[2] = dequantize(x)", "the input is not an integer with parameters"},
    {"input x: i8[2] " Q, "y: u16[2] q(0.1,9) = rescale(x)", NULL},
    {"input x: i8[2] " Q, "y: f32[2] = rescale(x)", "the output is not an integer"},
    /* ---- pools and reductions ---- */
    {X4, "y: f32[2,6,4,5] = max_pool(x) {kernel=[2,2], stride=[2,2]}", NULL},
    {X4, "y: f32[2,6,3,4] = max_pool(x) {kernel=[3,3], stride=[2,2]}", NULL},
    {X4, "y: f32[2,6,4,5] = max_pool(x) {kernel=[3,3], stride=[2,2], ceil_mode=true}", NULL},
    /* the third window would start in the padding behind the input (ONNX opset 19) */
    {"input x: f32[1,1,2,2]",
     "y: f32[1,1,1,1] = max_pool(x) {kernel=[1,1], stride=[2,2], ceil_mode=true}", NULL},
    {"input x: f32[1,1,5,5]",
     "y: f32[1,1,3,3] = avg_pool(x) {kernel=[2,2], stride=[2,2], ceil_mode=true}", NULL},
    {"input x: i8[1,1,5,5] " Q, "y: i8[1,1,4,4] " Q " = max_pool(x) {kernel=[2,2]}", NULL},
    {X4, "y: f32[2,6,7,9] = avg_pool(x) {kernel=[2,2]}", NULL},
    {X4, "y: f32[2,5,7,10] = avg_pool(x) {layout=nhwc, kernel=[2,2]}", NULL},
    {X4, "y: f32[2,6,8,10] = avg_pool(x) {kernel=[3,3], pad_begin=[1,1], pad_end=[1,1]}", NULL},
    {X4, "y: f32[2,6,8,10] = avg_pool(x)", "'kernel' has 0 entries"},
    {X4, "y: f32[2,6,8,10] = max_pool(x) {kernel=[0,1]}", "'kernel'"},
    {X4, "y: f32[2,6,8,10] = max_pool(x) {kernel=[2,2], pad_begin=[2,2]}", "in the padding"},
    {X4, "y: f32[2,6,8,10] = max_pool(x) {kernel=[9,9]}", "does not fit"},
    /* once 2^90 steps, and 0 in int64 */
    {"input x: f32[1,1,2,2,2]",
     "y: f32[1,1,1,1,1] = max_pool(x) {kernel=[1073741824,1073741824,1073741824], "
     "pad_begin=[536870911,536870911,536870911], pad_end=[536870911,536870911,536870911]}",
     "a window has more than 1073741824 cells"},
    {X4, "y: f32[2,6,1,1] = global_avg_pool(x)", NULL},
    {X4, "y: f32[2,1,1,10] = global_avg_pool(x) {layout=nhwc}", NULL},
    {"input x: f32[2,6,0]", "y: f32[2,6,1] = global_avg_pool(x)", "empty"},
    {X4, "y: f32[2,1,8,1] = reduce_mean(x) {axes=[1,-1]}", NULL},
    {X4, "y: f32[2,8] = reduce_sum(x) {axes=[3,1], keepdims=false}", NULL},
    {X4, "y: f32[] = reduce_prod(x) {keepdims=false}", NULL},
    {X4, "y: f32[1,1,1,1] = reduce_max(x)", NULL},
    {X4, "y: f32[2,6,8] = reduce_min(x) {axes=[-1], keepdims=false}", NULL},
    {X4, "y: f32[2,1,8,1] = reduce_mean(x) {axes=[1,1]}", "named twice"},
    {X4, "y: f32[2,1,8,1] = reduce_mean(x) {axes=[4]}", "axis 4"},
    {X4, "y: i64[2,1,8,10] = arg_max(x) {axis=1}", NULL},
    {X4, "y: i32[2,6,8] = arg_min(x) {axis=-1, keepdims=false, index_bits=32}", NULL},
    {X4, "y: i64[2,6,8] = arg_min(x) {axis=9}", "axis 9"},
    {X4, "y: i64[2,6,8] = arg_max(x) {index_bits=16}", "index_bits is 16"},
    {X4, "y: f32[2,6,8,3], i: i64[2,6,8,3] = topk(x) {k=3}", NULL},
    {X4, "y: f32[2,6,8,11], i: i64[2,6,8,11] = topk(x) {k=11}", "k is 11"},
    {"input x: i8[4,5] " Q, "y: i8[4,2] " Q ", i: i32[4,2] = topk(x) {k=2, index_bits=32}", NULL},
    {X4, "y: i64[9,4] = where(x) {count=9}", NULL},
    {"input x: bool[3]", "y: i64[0,1] = where(x)", NULL},
    {"input x: i8[4,5] " Q " input u: i8[2,5] " Q " input b: i32[2]",
     "y: i8[4,5] " Q " = update_slice(x, u, b)", NULL},
    {"input x: f32[4,5] input u: f32[5,5] input b: i32[2]", "y: f32[4,5] = update_slice(x, u, b)",
     "the update is larger"},
    {"input x: f32[4,5] input u: f32[5] input b: i64[2]", "y: f32[4,5] = update_slice(x, u, b)",
     "the update is larger"},
    {"input x: f32[4,5] input u: f32[1,5] input b: i32[1]", "y: f32[4,5] = update_slice(x, u, b)",
     "no entry for each"},
    {"input x: f32[4] input u: i32[1] input b: i32[1]", "y: f32[4] = update_slice(x, u, b)",
     "the update differ"},
    {"input x: i8[4,5] " Q " input i: i32[3,1] input u: i8[3,5] " Q,
     "y: i8[4,5] " Q " = scatter_nd(x, i, u)", NULL},
    {"input x: f32[4,5] input i: i64[2,3,2] input u: f32[2,3]",
     "y: f32[4,5] = scatter_reduce(x, i, u) {reduction=max}", NULL},
    {"input x: f32[4,5] input i: i64[3,1] input u: f32[3,4]", "y: f32[4,5] = scatter_nd(x, i, u)",
     "not that of what the indices pick"},
    {"input x: f32[4,5] input i: i64[3,3] input u: f32[3]", "y: f32[4,5] = scatter_nd(x, i, u)",
     "last extent is 3, expected 1 to 2"},
    {"input x: f32[4,5] input i: i64[3,2] input u: i32[3]", "y: f32[4,5] = scatter_reduce(x, i, u)",
     "updates differ"},
    {"input x: f32[2,3,4,5] input g: f32[2,7,6,2]",
     "y: f32[2,3,7,6] = grid_sample(x, g) {mode=cubic}", NULL},
    {"input x: f32[2,3,4,5] input g: f32[2,7,6,3]", "y: f32[2,3,7,6] = grid_sample(x, g)",
     "the grid is not [2, ..., 2] of rank 4"},
    {"input x: f32[2,3,4,5] input r: f32[7,4] input b: i64[7]",
     "y: f32[7,3,2,3] = roi_align(x, r, b) {height=2, width=3}", NULL},
    {"input x: f32[2,3,4,5] input r: f32[7,5] input b: i64[7]",
     "y: f32[7,3,1,1] = roi_align(x, r, b)", "rois are not [R,4]"},
    {"input x: bool[3]", "y: i64[4,1] = where(x) {count=4}", "count is 4, expected 0 to 3"},
    /* ---- moves ---- */
    {X4, "y: f32[12,80] = reshape(x) {shape=[12,-1]}", NULL},
    {X4, "y: f32[960] = reshape(x) {shape=[960]}", NULL},
    {X4, "y: f32[961] = reshape(x) {shape=[961]}", "cannot reshape"},
    {X4, "y: f32[7] = reshape(x) {shape=[7,-1]}", "'shape' holds -1"},
    {X4, "y: f32[1] = reshape(x) {shape=[1,1,1,1,1,1,960]}", "at most 6"},
    {X4, "y: f32[1] = reshape(x) {shape=[1099511627776,1099511627776,1099511627776]}", "2^40"},
    {"input x: i8[6] " Q, "y: i8[2,3] " Q " = reshape(x) {shape=[2,3]}", NULL},
    {"input x: i8[6] " Q, "y: i8[2,3] q(0.5,4) = reshape(x) {shape=[2,3]}", "parameters differ"},
    {"input x: f32[3,1]", "y: f32[2,3,4] = expand(x) {shape=[2,1,4]}", NULL},
    {"input x: f32[3,2]", "y: f32[3,4] = expand(x) {shape=[3,4]}", "do not broadcast"},
    {X4, "y: f32[10,8,6,2] = transpose(x)", NULL},
    {X4, "y: f32[2,8,10,6] = transpose(x) {perm=[0,2,3,1]}", NULL},
    {"input x: i8[2,3] q(axis=0,[1,2],[3,4])", "y: i8[3,2] q(axis=1,[1,2],[3,4]) = transpose(x)",
     NULL},
    {"input x: i8[2,3] q(axis=0,[1,2],[3,4])", "y: i8[6] q(1,0) = reshape(x) {shape=[6]}",
     "cannot pass through"},
    {X4, "y: f32[2,6,8,10] = transpose(x) {perm=[0,1,1,2]}", "named twice"},
    {X4, "y: f32[2,6,8,10] = transpose(x) {perm=[0,1]}", "2 entries"},
    {"input a: f32[2,3] input b: f32[2,5]", "y: f32[2,8] = concat(a, b) {axis=-1}", NULL},
    {"input a: f32[2,3]", "y: f32[2,3] = concat(a)", NULL},
    {"input a: f32[2,3] input b: f32[3,3]", "y: f32[2,6] = concat(a, b) {axis=1}", "differ beside"},
    {"input a: i8[2] q(1,0) input b: i8[2] q(2,0)", "y: i8[4] q(1,0) = concat(a, b)",
     "differ from the first"},
    {"input a: f32[2]", "y: f32[2] = concat()", "0 inputs, expected at least 1"},
    {"input a: f32[2]", "y: f32[2] = concat(a, _)", "input 1 is required"},
    {X4, "y: f32[2,3,8,10], z: f32[2,3,8,10] = split(x) {axis=1}", NULL},
    {X4, "y: f32[2,1,8,10], z: f32[2,5,8,10] = split(x) {axis=1, sizes=[1,5]}", NULL},
    {X4, "y: f32[2,1,8,10], z: f32[2,4,8,10] = split(x) {axis=1, sizes=[1,4]}", "add up to 5"},
    {"input x: f32[3]", "y: f32[1], z: f32[2] = split(x)", "does not divide"},
    {"input x: f32[13]",
     "a: f32[1], b: f32[1], c: f32[1], d: f32[1], e: f32[1], f: f32[1], g: f32[1], h: f32[1],"
     " i: f32[1], j: f32[1], k: f32[1], l: f32[1], y: f32[1] = split(x)",
     NULL},
    {X4, "y: f32[1,6,8,3] = slice(x) {begin=[1,0,0,9], step=[1,1,1,-4], size=[1,6,8,3]}", NULL},
    {X4, "y: f32[2,6,8,0] = slice(x) {size=[2,6,8,0]}", NULL},
    {X4, "y: f32[2,6,8,10] = slice(x) {begin=[1,0,0,0]}", "axis 0 has extent 2"},
    {X4, "y: f32[2,6,8,10] = slice(x) {step=[0,1,1,1]}", "step of axis 0 is zero"},
    {X4, "y: f32[2,6,8,10] = slice(x) {step=[-1,1,1,1]}", "axis 0 has extent 2"},
    {X4, "y: f32[4,6,8,13] = pad(x) {begin=[2,0,0,1], end=[0,0,0,2]}", NULL},
    {X4, "y: f32[2,6,8,19] = pad(x) {mode=reflect, end=[0,0,0,9]}", NULL},
    {X4, "y: f32[2,6,8,20] = pad(x) {mode=reflect, end=[0,0,0,10]}", "padded by 10"},
    {X4, "y: f32[2,6,8,20] = pad(x) {mode=symmetric, end=[0,0,0,10]}", NULL},
    {X4, "y: f32[2,6,8,9] = pad(x) {end=[0,0,0,-1]}", "'end' holds -1"},
    {"input x: f32[2,3]", "y: f32[4,9] = tile(x) {repeats=[2,3]}", NULL},
    {"input x: f32[2,3]", "y: f32[4,9] = tile(x) {repeats=[2]}", "1 entries"},
    {"input x: f32[2,3]", "y: f32[4,9] = tile(x) {repeats=[1099511627776,1]}", "2^40"},
    {X4, "y: f32[2,6,8,10] = reverse(x) {axes=[-1,0]}", NULL},
    {X4, "y: f32[2,6,8,10] = reverse(x) {axes=[4]}", "axis 4"},
    {"input x: i8[2,6] q(1,0) input w: i8[4,6] q(1,0)", "y: i16[2,4] q(1,0) = svdf_feature(x, w)",
     NULL},
    {"input x: i8[2,6] q(1,0) input w: i8[4,5] q(1,0)", "y: i16[2,4] q(1,0) = svdf_feature(x, w)",
     "expected [..,K] and [O,K]"},
    {"input x: i16[2,1,1,6] q(1,0) input w: i16[3,1,1,2] q(1,0)",
     "y: i8[2,1,1,3] q(1,0) = svdf_time(x, w) {layout=nhwc, group=3}", NULL},
    {"input x: i16[2,1,1,6] q(1,0) input w: i16[3,1,1,2] q(1,0)",
     "y: i8[2,1,1,3] q(1,0) = svdf_time(x, w) {layout=nhwc, group=2}", "channels a group"},
    {"input x: i8[2,1,4,5] q(1,0) input w: i8[3,1,1,1] q(1,0)",
     "y: i8[2,3,4,5] q(1,0) = conv(x, w) {depthwise=true}", NULL},
    {"input x: i8[2,6,4,5] q(1,0) input w: i8[3,6,1,1] q(1,0)",
     "y: i8[2,3,4,5] q(1,0) = conv(x, w) {depthwise=true}", "of one input channel, not of 6"},
    {"input x: i16[2,1,1,1] q(1,0) input w: i16[3,1,1,1] q(1,0)",
     "y: i8[2,1,1,3] q(1,0) = svdf_time(x, w) {layout=nhwc, depthwise=true}", "marks a conv"},
    {"input x: i8[2,1,4,5] q(1,0) input w: i8[1,3,1,1] q(1,0)",
     "y: i8[2,3,4,5] q(1,0) = conv_transpose(x, w) {depthwise=true}", "not its transpose"},
    {"input x: i8[2,3] q(0.5,1)", "y: i8[2,3] q(0.25,-3) = relabel(x)", NULL},
    {X4, "y: f32[2,6,8,10] = custom(x) {number=3}", NULL},
    {X4, "y: f32[2,6,8,10] = custom_monotone(x)", NULL},
    {X4, "y: f32[2,6,8,10] = custom_binary(x, x)", NULL},
    {"input x: u2[2,3] q(0.5,1) const t: i4[4] = [1,-2,3,7]",
     "y: i4[2,3] q(0.25,-3) = lookup(x, t)", NULL},
    {"input x: u2[2,3] q(0.5,1) const t: i4[3] = [1,-2,3]", "y: i4[2,3] q(0.25,-3) = lookup(x, t)",
     "4 plain integers"},
    {"input x: u2[2,3] q(0.5,1) const t: i4[4] = [1,-2,3,7]",
     "y: i8[2,3] q(0.25,-3) = lookup(x, t)", "another kind"},
    {"input x: u2[2,3] const t: i4[4] = [1,-2,3,7]", "y: i4[2,3] q(0.25,-3) = lookup(x, t)",
     "at most 16 bits"},
    {"input x: i8[2,3] q(0.5,1)", "y: u8[2,3] q(0.25,3) = relabel(x)", "element kind differs"},
    {"input x: i8[2,3]", "y: i8[2,3] q(0.25,3) = relabel(x)", NULL},
    {"input x: i8[2,3] q(0.25,3)", "y: i8[2,3] = relabel(x)", NULL},
    {"input x: f32[2,3]", "y: i8[2,3] q(0.25,3) = relabel(x)", "not an integer with parameters"},
    {"input x: i8[2,3] q(axis=0,[1,2],[3,4])",
     "y: i8[2,1,3] q(axis=0,[1,2],[3,4]) = reshape(x) {shape=[2,1,3]}", NULL},
    {"var v: i8[2,3] q(0.5,1)", "y: i8[2,3] q(0.5,1) = read(v)", NULL},
    {"var v: i8[2,3] q(0.5,1)", "y: i8[2,3] q(0.5,2) = read(v)", "parameters differ"},
    {"input x: i8[2,3] q(0.5,1)", "y: i8[2,3] q(0.5,1) = read(x)", "'x' is not a variable"},
    {"var v: i8[2,3] q(0.5,1)", "y: i8[3,2] q(0.5,1) = read(v)", "expected i8[2,3]"},
    {"var v: i8[2,3] q(0.5,1) input x: i8[2,3] q(0.5,1)", "y: i8[2,3] q(0.5,1) = assign(v, x)",
     NULL},
    {"var v: i8[2,3] q(0.5,1) input x: i8[2,3] q(0.5,1)", "y: i8[2,3] q(0.5,1) = assign(x, v)",
     "'x' is not a variable"},
    {"var v: i8[2,3] q(0.5,1) input x: i8[2,3] q(0.5,2)", "y: i8[2,3] q(0.5,1) = assign(v, x)",
     "differs from the variable's"},
    {"var v: i8[2,3] q(0.5,1) input x: i8[3,2] q(0.5,1)", "y: i8[2,3] q(0.5,1) = assign(v, x)",
     "differs from the variable's"},
    {X4 " input i: i64[3,4]", "y: f32[2,3,4,8,10] = gather(x, i) {axis=1}", NULL},
    {X4 " input i: i32[]", "y: f32[2,6,8] = gather(x, i) {axis=-1}", NULL},
    {X4 " input i: i32[2,6,5]", "y: f32[2,6,5,10] = gather(x, i) {axis=2, batch_dims=2}", NULL},
    {X4 " input i: i32[2,5]", "y: f32[2,5,8,10] = gather(x, i) {axis=1, batch_dims=1}", NULL},
    {X4 " input i: i32[2,5]", "y: f32[2] = gather(x, i) {axis=1, batch_dims=2}", "batch_dims is 2"},
    {X4 " input i: i32[3,5]", "y: f32[2] = gather(x, i) {axis=1, batch_dims=1}", "extents 2 and 3"},
    {X4 " input i: f32[3]", "y: f32[3,6,8,10] = gather(x, i)", "indices are f32"},
    {X4 " input i: i8[3]", "y: f32[3,6,8,10] = gather(x, i)", "indices are i8"},
    {X4 " input i: i64[1,1,1,1]", "y: f32[1] = gather(x, i)", "more than 6"},
    {X4 " input i: i64[5,2]", "y: f32[5,8,10] = gather_nd(x, i)", NULL},
    {X4 " input i: i64[5,5]", "y: f32[5] = gather_nd(x, i)", "last extent is 5"},
    {"input x: f32[1,8,2,3]", "y: f32[1,2,4,6] = depth_to_space(x)", NULL},
    {"input x: f32[1,2,3,8]", "y: f32[1,4,6,2] = depth_to_space(x) {layout=nhwc}", NULL},
    {"input x: f32[1,7,2,3]", "y: f32[1,2,4,6] = depth_to_space(x)", "7 channels"},
    {"input x: f32[1,7,2]", "y: f32[1,2,4] = depth_to_space(x)", "rank 3"},
    {"input x: f32[1,2,4,6]", "y: f32[1,8,2,3] = space_to_depth(x)", NULL},
    {"input x: f32[1,2,4,7]", "y: f32[1,8,2,3] = space_to_depth(x)", "do not divide"},
    {"input x: f32[1,2,4,7]", "y: f32[1,8,2,3] = space_to_depth(x) {block=0}", "block is 0"},
    {X4, "y: f32[2,6,16,15] = resize(x) {scales=[1,1,2,1.5]}", NULL},
    {X4, "y: f32[2,6,3,3] = resize(x) {size=[2,6,3,3], mode=linear}", NULL},
    {X4, "y: f32[2,6,3,3] = resize(x)", "'size' has 0 entries"},
    {X4, "y: f32[2,6,3,3] = resize(x) {size=[2,6,3,0]}", "'size' holds 0"},
    {X4, "y: f32[2,6,3,3] = resize(x) {size=[2,6,3,3], scales=[1,1,-1,1]}", "a scale is -1"},
};

/* Element-wise ops: the shape is that of the operands, whatever else has cases above. */
static void test_element_wise(bool covered[ASSAY_OP_COUNT])
{
    for (int op = 0; op < ASSAY_OP_COUNT; ++op) {
        const assay_op_info *info = assay_op_get((assay_op)op);
        char text[256];
        assay_graph *g;
        assay_error err;
        if (covered[op] || !(info->traits & (ASSAY_T_UNARY | ASSAY_T_BINARY)))
            continue;
        int n = snprintf(text, sizeof text, "graph t {\n%s\ny: f32[2,6,8,10] = %s(%s)\noutput y }",
                         X4, info->name, info->min_in == 2 ? "x, x" : "x");
        assert_ok(text_graph_parse(text, (size_t)n, info->name, NULL, &g, &err), &err);
        assay_graph_free(g);
        covered[op] = true;
    }
}

static void test_cases(void **state)
{
    (void)state;
    bool covered[ASSAY_OP_COUNT] = {false};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const infer_case *c = &cases[i];
        char text[1024];
        assay_graph *g;
        assay_error err;
        assay_status s;
        int n = snprintf(text, sizeof text, "graph t {\n%s\n%s\noutput y }", c->inputs, c->node);
        s = text_graph_parse(text, (size_t)n, "case", NULL, &g, &err);
        if (c->refusal ? s == ASSAY_OK : s != ASSAY_OK)
            print_error("%s\n%s\n", c->inputs, c->node);
        if (c->refusal) {
            assert_refused(s, &err, c->refusal);
            assert_non_null(strstr(err.text, "node 'y'"));
            assert_null(g);
        } else {
            assert_ok(s, &err);
            covered[g->node[0].op] = true;
            assay_graph_free(g);
        }
    }
    test_element_wise(covered);
    for (int op = 0; op < ASSAY_OP_COUNT; ++op)
        if (!covered[op])
            fail_msg("no case for %s", assay_op_get((assay_op)op)->name);
}

/* What add_inferred gives is what the verifier accepts, for a graph under construction too. */
static void test_convert_needs_a_type(void **state)
{
    (void)state;
    assay_graph *g;
    assay_error err;
    assay_type t = {.elem = assay_f32(), .rank = 1, .dim = {4}};
    const char *name = "y";
    int x, y;
    assert_ok(assay_graph_new("g", &g, &err), &err);
    assert_ok(assay_graph_add_value(g, "x", &t, &x, &err), &err);
    assert_refused(
        assay_graph_add_inferred(g, ASSAY_OP_QUANTIZE, "q", &x, 1, &name, 1, NULL, &y, &err), &err,
        "add the value first");
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_convert_needs_a_type),
    };
    return cmocka_run_group_tests_name("infer", tests, NULL, NULL);
}
