/* Small networks that TFLite can express, as text. */
#include "test/support/tflite_graphs.h"

#include <stdlib.h>
#include <string.h>

#include "graph/core/buf.h"
#include "graph/text/text.h"

const char *const tflite_graphs[] = {
    /* convolutions: SAME, VALID, padded by hand, dilated, grouped, depthwise; channels last, first
     */
    "graph same { input x: i8[1,5,5,2] q(0.05,3)\n"
    "const w: i8[2,3,3,2] q(axis=0,[0.01,0.02],[0,0]) = splat 5\n const b: i32[2] = [100,-200]\n"
    "y: i8[1,5,5,2] q(0.1,-4) = conv(x, w, b) {layout=nhwc, pad_begin=[1,1], pad_end=[1,1]} "
    "act[0,6]\n"
    "output y }",
    "graph stride { input x: i8[1,6,7,2] q(0.05,3)\n"
    "const w: i8[2,3,3,2] q(axis=0,[0.01,0.02],[0,0]) = splat -3\n"
    "y: i8[1,3,3,2] q(0.1,-4) = conv(x, w) {layout=nhwc, stride=[2,2], pad_begin=[1,0], "
    "pad_end=[1,0]} "
    "act[-0.5,0.75]\n output y }",
    "graph first { input x: i8[1,2,5,6] q(0.05,3)\n"
    "const w: i8[2,2,3,3] q(axis=0,[0.01,0.02],[0,0]) = splat 7\n const b: i32[2] = [10,20]\n"
    "y: i8[1,2,5,6] q(0.1,-4) = conv(x, w, b) {pad_begin=[1,1], pad_end=[1,1]} act[0,inf]\n"
    "p: i8[1,2,2,3] q(0.1,-4) = max_pool(y) {kernel=[3,2], stride=[2,2]}\n"
    "c: i8[1,4,2,3] q(0.1,-4) = concat(p, p) {axis=1}\n"
    "s: i8[1,4,2,3] q(0.2,0) = add(c, c)\n"
    "r: i8[1,24] q(0.2,0) = reshape(s) {shape=[1,24]}\n output r, y }",
    "graph depth { input x: i8[1,4,4,2] q(0.05,3)\n"
    "const w: i8[4,3,3,1] q(axis=0,[0.01,0.02,0.03,0.04],[0,0,0,0]) = splat 9\n"
    "y: i8[1,2,2,4] q(0.1,-4) = conv(x, w) {layout=nhwc, group=2}\n output y }",
    "graph dilated { input x: f32[1,9,9,1]\n const w: f32[2,3,3,1] = splat 0.25\n"
    "y: f32[1,5,5,2] = conv(x, w) {layout=nhwc, dilation=[2,2]} act[0,2.5]\n output y }",
    "graph wide { input x: i16[1,3,3,2] q(0.001,0)\n"
    "const w: i8[2,1,1,2] q(axis=0,[0.01,0.02],[0,0]) = splat 5\n const b: i64[2] = [1000,-1000]\n"
    "y: i16[1,3,3,2] q(0.002,0) = conv(x, w, b) {layout=nhwc}\n output y }",
    "graph narrow { input x: i8[2,6] q(0.05,3)\n const w: i4[3,6] q(0.02,0) = splat -2\n"
    "const b: i32[3] q(0.001,0) = [1,2,3]\n y: i8[2,3] q(0.1,1) = fc(x, w, b) act[-1,1]\n output y "
    "}",
    "graph legacy { input x: u8[1,4,4,1] q(0.05,128)\n const w: u8[2,2,2,1] q(0.02,100) = "
    "[1,2,3,150,90,100,255,0]\n"
    "y: u8[1,3,3,2] q(0.1,20) = conv(x, w) {layout=nhwc}\n output y }",
    "graph up { input x: i8[1,3,3,2] q(0.05,3)\n"
    "const w: i8[2,2,2,2] q(axis=0,[0.01,0.02],[0,0]) = splat 5\n"
    "y: i8[1,6,6,2] q(0.1,-4) = conv_transpose(x, w) {layout=nhwc, stride=[2,2]}\n output y }",
    "graph product { input a: i8[2,3,4] q(0.05,3)\n input b: i8[2,5,4] q(0.04,-2)\n"
    "y: i8[2,3,5] q(0.1,0) = matmul(a, b) {transpose_b=true}\n output y }",
    /* pools and means */
    "graph pools { input x: i8[1,5,5,2] q(0.05,3)\n"
    "a: i8[1,5,5,2] q(0.05,3) = avg_pool(x) {layout=nhwc, kernel=[3,3], pad_begin=[1,1], "
    "pad_end=[1,1]}\n"
    "c: i8[1,5,5,2] q(0.05,3) = avg_pool(x) {layout=nhwc, kernel=[3,3], pad_begin=[1,1], "
    "pad_end=[1,1], count_include_pad=true}\n"
    "m: i8[1,3,3,2] q(0.05,3) = max_pool(x) {layout=nhwc, kernel=[2,2], stride=[2,2], "
    "pad_begin=[1,1]}\n"
    "g: i8[1,1,1,2] q(0.05,3) = global_avg_pool(x) {layout=nhwc}\n"
    "r: i8[1,2] q(0.1,0) = reduce_mean(x) {axes=[1,2], keepdims=false}\n"
    "t: i8[1,5,1,2] q(0.2,0) = reduce_sum(x) {axes=[2]}\n"
    "u: i8[1,5,5,1] q(0.05,3) = reduce_max(x) {axes=[3]}\n output a, c, m, g, r, t, u }",
    /* element-wise */
    "graph elements { input x: i8[1,2,3] q(0.05,3)\n input z: i8[2,1] q(0.02,-5)\n"
    "a: i8[1,2,3] q(0.1,0) = add(x, z) act[0,inf]\n s: i8[1,2,3] q(0.1,0) = sub(a, x)\n"
    "m: i8[1,2,3] q(0.01,0) = mul(s, z)\n g: i8[1,2,3] q(0.00390625,-128) = sigmoid(m)\n"
    "t: i8[1,2,3] q(0.0078125,0) = tanh(m)\n l: i8[1,2,3] q(0.01,0) = leaky_relu(m) {alpha=0.1}\n"
    "h: i8[1,2,3] q(0.01,0) = hard_swish(m)\n o: i8[1,2,3] q(0.00390625,-128) = softmax(m)\n"
    "q: i8[1,2,3] q(0.05,0) = squared_difference(x, z)\n"
    "c: i8[1,2,3] q(0.05,3) = clip(x) {lo=-0.3, hi=0.9}\n"
    "n: i8[1,2,3] q(0.05,3) = max(x, c)\n w: i16[1,2,3] q(0.001,0) = rescale(n)\n"
    "k: bool[1,2,3] = less(x, c)\n e: i8[1,2,3] q(0.05,3) = select(k, x, n)\n"
    "f: f32[1,2,3] = dequantize(e)\n output g, t, l, h, o, q, w, f }",
    "graph floats { input x: f32[2,3]\n const p: f32[3] = [0.1,0.2,0.3]\n"
    "a: f32[2,3] = prelu(x, p)\n b: f32[2,3] = abs(a)\n c: f32[2,3] = sqrt(b)\n"
    "d: f32[2,3] = exp(a)\n e: f32[2,3] = div(d, c) act[-1,1]\n f: f32[2,3] = elu(x) {alpha=1}\n"
    "g: f32[2,3] = gelu(x) {approximate=tanh}\n h: f32[2,3] = clip(x) {lo=0, hi=6}\n"
    "i: f32[2,3] = clip(x) {lo=-0.25, hi=0.5}\n k: f32[2,3] = min(f, g)\n l: f32[2,3] = floor(d)\n"
    "m: f32[2,3] = sin(x)\n n: f32[2,3] = log_softmax(x)\n o: f32[2,3] = cumsum(x) {axis=1}\n"
    "q: i8[2,3] q(0.02,1) = quantize(o)\n r: i32[2,3] = cast(d) {to=i32}\n"
    "output e, h, i, k, l, m, n, q, r }",
    /* movement */
    "graph moves { input x: i8[1,4,6,2] q(0.05,3)\n"
    "a: i8[1,6,4,2] q(0.05,3) = transpose(x) {perm=[0,2,1,3]}\n"
    "b: i8[1,2,3,2] q(0.05,3) = slice(a) {begin=[0,1,2,0], step=[1,2,-1,1], size=[1,2,3,2]}\n"
    "c: i8[1,2,2,2] q(0.05,3) = slice(x) {begin=[0,1,2,0], size=[1,2,2,2]}\n"
    "d: i8[1,3,5,2] q(0.05,3) = pad(c) {begin=[0,1,1,0], end=[0,0,2,0]}\n"
    "e: i8[1,3,5,2] q(0.05,3) = pad(c) {begin=[0,1,1,0], end=[0,0,2,0], has_code=true, code=-7}\n"
    "f: i8[1,4,4,2] q(0.05,3) = pad(c) {begin=[0,1,1,0], end=[0,1,1,0], mode=reflect}\n"
    "g: i8[1,2,4,4] q(0.05,3) = tile(c) {repeats=[1,1,2,2]}\n"
    "h: i8[1,2,2,2] q(0.05,3) = reverse(c) {axes=[1]}\n"
    "i: i8[1,2,2,8] q(0.05,3) = space_to_depth(f) {layout=nhwc}\n"
    "k: i8[1,4,4,2] q(0.05,3) = depth_to_space(i) {layout=nhwc}\n"
    "l: i8[1,1,6,2] q(0.05,3), m: i8[1,3,6,2] q(0.05,3) = split(x) {axis=1, sizes=[1,3]}\n"
    "n: i8[3,2,2,2] q(0.05,3) = expand(c) {shape=[3,2,2,2]}\n"
    "const j: i32[2] = [1,0]\n o: i8[1,2,6,2] q(0.05,3) = gather(x, j) {axis=1}\n"
    "p: i8[1,8,12,2] q(0.05,3) = resize(x) {layout=nhwc, mode=linear, size=[1,8,12,2]}\n"
    "q: i8[1,8,12,2] q(0.05,3) = resize(x) {layout=nhwc, coordinate=asymmetric, nearest=floor, "
    "size=[1,8,12,2]}\n"
    "r: i8[1,48] q(0.05,3) = reshape(x) {shape=[1,48]}\n z: i8[1,48] q(0.1,-1) = relabel(r)\n"
    "t: i64[1,4,6] = arg_max(x) {axis=3, keepdims=false}\n u: i8[1,1,6,2] q(0.07,0) = relabel(l)\n"
    "output b, d, e, g, h, k, m, n, o, p, q, z, t, u }",
    /* state */
    "graph stream { input x: i8[1,3] q(0.05,3)\n var s: i8[1,3] q(0.05,3) = [3,3,3]\n"
    "a: i8[1,3] q(0.05,3) = read(s)\n b: i8[1,6] q(0.05,3) = concat(a, x) {axis=1}\n"
    "c: i8[1,3] q(0.05,3) = assign(s, x)\n output b }",
    "graph begun { input x: f32[2]\n var s: f32[2] = [1,2]\n var t: f32[2]\n a: f32[2] = read(s)\n"
    "b: f32[2] = read(t)\n c: f32[2] = add(a, b)\n d: f32[2] = assign(s, x)\n"
    "e: f32[2] = assign(t, c)\n output c }",
    /* an SVDF of two units, two filters each, that remembers three steps; and of one step */
    "graph svdf { input x: i8[1,4] q(0.1,3)\n const w: i8[4,4] q(0.02,0) = splat 9\n"
    "var s: i16[1,12] q(0.01,0)\n y/feature: i16[1,4] q(0.01,0) = svdf_feature(x, w)\n"
    "y/memory_before: i16[1,12] q(0.01,0) = read(s)\n y/memory: i16[1,4,3] q(0.01,0) = "
    "reshape(y/memory_before) {shape=[1,4,3]}\n"
    "y/newest: i16[1,4,1] q(0.01,0) = reshape(y/feature) {shape=[1,4,1]}\n"
    "y/kept: i16[1,4,2] q(0.01,0) = slice(y/memory) {begin=[0,0,1], size=[1,4,2]}\n"
    "y/joined: i16[1,4,3] q(0.01,0) = concat(y/kept, y/newest) {axis=2}\n"
    "y/memory_after: i16[1,12] q(0.01,0) = reshape(y/joined) {shape=[1,12]}\n"
    "y/stored: i16[1,12] q(0.01,0) = assign(s, y/memory_after)\n"
    "y/cells: i16[1,1,1,12] q(0.01,0) = reshape(y/stored) {shape=[1,1,1,12]}\n"
    "const v: i16[2,1,1,6] q(0.001,0) = splat 90\n const i: i32[2] q(0.00001,0) = [700,-900]\n"
    "y/sum: i8[1,1,1,2] q(0.05,-4) = svdf_time(y/cells, v, i) {layout=nhwc, group=2}\n"
    "y: i8[1,2] q(0.05,-4) = reshape(y/sum) {shape=[1,2]}\n output y }",
    "graph svdf1 { input x: i8[1,4] q(0.1,3)\n const w: i8[2,4] q(0.02,0) = splat 9\n"
    "var s: i16[1,2] q(0.01,0)\n y/feature: i16[1,2] q(0.01,0) = svdf_feature(x, w)\n"
    "y/memory_before: i16[1,2] q(0.01,0) = read(s)\n y/memory: i16[1,2,1] q(0.01,0) = "
    "reshape(y/memory_before) {shape=[1,2,1]}\n"
    "y/newest: i16[1,2,1] q(0.01,0) = reshape(y/feature) {shape=[1,2,1]}\n"
    "y/memory_after: i16[1,2] q(0.01,0) = reshape(y/newest) {shape=[1,2]}\n y/stored: "
    "i16[1,2] q(0.01,0) = assign(s, y/memory_after)\n"
    "y/cells: i16[1,1,1,2] q(0.01,0) = reshape(y/stored) {shape=[1,1,1,2]}\n"
    "const v: i16[2,1,1,1] q(0.001,0) = splat 90\n"
    "y/sum: i8[1,1,1,2] q(0.05,-4) = svdf_time(y/cells, v) {layout=nhwc, group=2}\n"
    "y: i8[1,2] q(0.05,-4) = reshape(y/sum) {shape=[1,2]}\n output y }",
    /* control flow; a body that has the graph's variable, and one inside another */
    "graph flow { input p: bool[1]\n input x: f32[2]\n input n: i32[1]\n var s: f32[2] = [1,1]\n"
    "graph yes { input v: f32[2]\n var s: f32[2]\n r: f32[2] = read(s)\n w: f32[2] = add(v, r)\n"
    "z: f32[2] = assign(s, w)\n output w }\n"
    "graph no { input v: f32[2]\n w: f32[2] = relu(v)\n output w }\n"
    "graph test { input k: i32[1]\n input v: f32[2]\n const most: i32[1] = [4]\n"
    "t: bool[1] = less(k, most)\n output t }\n"
    "graph body { input k: i32[1]\n input v: f32[2]\n const one: i32[1] = [1]\n"
    "const few: i32[1] = [2]\n"
    "graph early { input e: f32[2]\n const h: f32[1] = [3]\n g: f32[2] = add(e, h)\n output g }\n"
    "graph late { input e: f32[2]\n g: f32[2] = mul(e, e)\n output g }\n"
    "l: i32[1] = add(k, one)\n q: bool[1] = less(k, few)\n w: f32[2] = if(q, v)\n output l, w }\n"
    "a: f32[2] = read(s)\n y: f32[2] = if(p, x)\n"
    "m: i32[1], z: f32[2] = while(n, y) {condition=2, body=3}\n output m, z, a }",
};
const int n_tflite_graphs = (int)(sizeof tflite_graphs / sizeof *tflite_graphs);

/* "w: i8[2,3] ... = splat 5" stands for as many numbers around 5 as the shape has elements. */
static void expand(const char *text, assay_buf *out)
{
    for (const char *at; (at = strstr(text, "splat")) != NULL;) {
        const char *statement = at, *dim;
        char *end;
        double centre = strtod(at + 5, &end);
        long count = 1;
        while (*statement != ':')
            --statement;
        dim = strchr(statement, '[');
        do
            count *= strtol(dim + 1, (char **)(uintptr_t)&dim, 10);
        while (*dim == ',');
        assay_buf_add(out, text, (size_t)(at - text));
        for (long i = 0; i < count; ++i)
            assay_buf_printf(out, "%s%g", i ? "," : "[", centre * (double)((i * 7 + 1) % 5 - 1));
        assay_buf_printf(out, "]");
        text = end;
    }
    assay_buf_add(out, text, strlen(text));
}

assay_graph *tflite_graph(const char *text)
{
    assay_graph *g;
    assay_buf whole = {0};
    assay_error err;

    expand(text, &whole);
    assert_ok(assay_buf_status(&whole, &err), &err);
    assert_ok(text_graph_parse(whole.text, whole.length, "text", NULL, &g, &err), &err);
    assay_buf_free(&whole);
    return g;
}
