/* Networks written as ONNX and read again: under a scheme they give the bits that they gave before.
 */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/onnx/export.h"
#include "graph/onnx/onnx.h"
#include "graph/text/text.h"
#include "interp/kernel/kernel.h"
#include "interp/run/program.h"
#include "opt/quantize/qdq.h"
#include "test/support/sampled.h"

#define IMAGE "input x: i8[1,4,4,2] q(0.1,3)\n"

static const struct {
    const char *what, *text, *scheme; /* NULL: onnxruntime */
} nets[] = {
    {"channels last",
     "graph g {\n" IMAGE "const w: i8[3,3,3,2] q(axis=0,[0.1,0.2,0.3],[0,0,0]) = "
     "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,-1,-2,-3,-4,-5,-6,-7,-8,-9,-10,-11,-12,-13,-14,"
     "-15,-16,-17,-18,9,8,7,6,5,4,3,2,1,0,-1,-2,-3,-4,-5,-6,-7,-8]\n"
     "const b: i32[3] = [5,-7,100]\n"
     "c: i8[1,4,4,3] q(0.5,-4) = conv(x, w, b) {layout=nhwc, pad_begin=[1,1], pad_end=[1,1]}\n"
     "p: i8[1,2,2,3] q(0.5,-4) = max_pool(c) {layout=nhwc, kernel=[2,2], stride=[2,2]}\n"
     "a: i8[1,2,2,3] q(0.7,1) = add(p, p)\n"
     "g: i8[1,1,1,3] q(0.7,1) = global_avg_pool(a) {layout=nhwc}\n"
     "r: i8[1,3] q(0.7,1) = reshape(g) {shape=[1,3]}\n"
     "output r\n output a\n}\n"},
    {"transposed operands", "graph g {\ninput x: i8[2,3,4] q(0.1,3)\ninput y: i8[2,5,4] q(0.2,-1)\n"
                            "m: i8[2,3,5] q(0.4,2) = matmul(x, y) {transpose_b=true}\n"
                            "n: i8[2,4,5] q(0.4,2) = matmul(x, m) {transpose_a=true}\n"
                            "output m\n output n\n}\n"},
    {"nearest resize",
     "graph g {\n" IMAGE
     "r: i8[1,8,12,2] q(0.1,3) = resize(x) {layout=nhwc, coordinate=asymmetric, "
     "nearest=floor, size=[1,8,12,2]}\noutput r\n}\n",
     "tflite"},
    {"plain sums", "graph g {\ninput x: u8[3,4] q(0.1,3)\n"
                   "const w: i8[2,4] q(axis=0,[0.1,0.2],[0,0]) = [1,2,3,4,-5,6,-7,8]\n"
                   "const b: i32[2] = [5,-7]\n"
                   "s: i32[3,2] = fc(x, w, b)\nf: f32[3,2] = cast(s)\n"
                   "const k: f32[2] = [0.5,0.25]\ny: f32[3,2] = mul(f, k)\noutput y\n}\n"},
    {"another meaning", "graph g {\ninput x: i8[5] q(0.1,3)\nr: i8[5] q(0.3,1) = relabel(x)\n"
                        "l: i8[5] q(0.2,0) = leaky_relu(r) {alpha=0.1}\noutput l\n}\n"},
    {"a bias of 64 bits",
     "graph g {\ninput x: i16[1,2,3,3] q(0.001,0)\n"
     "const w: i8[2,2,2,2] q(axis=0,[0.01,0.02],[0,0]) = "
     "[1,-2,3,-4,5,-6,7,-8,9,-10,11,-12,13,-14,15,-16]\nconst b: i64[2] = [4000001,-77]\n"
     "y: i16[1,2,2,2] q(0.01,0) = conv(x, w, b)\noutput y\n}\n",
     "tflite"},
    {"names that the exporter makes",
     "graph g {\ninput x: i8[2,2] q(0.1,3)\nconst w: i8[2,2] q(0.1,0) = [1,2,3,-4]\n"
     "\"y:float\": i8[2,2] q(0.2,0) = fc(x, w)\n\"x:real\": i8[2,2] q(0.2,1) = relu(\"y:float\")\n"
     "\"x:scale\": i8[2,2] q(0.3,1) = add(\"x:real\", x)\n"
     "\"x:real:made\": i8[2,2] q(0.3,1) = relu(\"x:scale\")\n"
     "y: i8[2,2] q(0.1,0) = add(\"x:real:made\", \"y:float\")\noutput y\n}\n"},
    {"bounds", "graph g {\ninput x: i8[2,2] q(0.1,3)\nconst w: i8[2,2] q(0.1,0) = [1,2,3,-4]\n"
               "y: i8[2,2] q(0.1,0) = fc(x, w) act[0,0.5]\noutput y\n}\n"},
    {"log softmax",
     "graph g {\ninput x: i8[3,5] q(0.5,3)\n"
     "y: i8[3,5] q(0.0625,127) = log_softmax(x)\noutput y\n}\n",
     "tflite"},
    {"the greatest",
     "graph g {\ninput x: i8[3,5] q(0.5,3)\n"
     "v: i8[3,2] q(0.5,3), k: i32[3,2] = topk(x) {k=2, index_bits=32}\n"
     "l: i8[1,5] q(0.5,3), p: i64[1,5] = topk(x) {axis=0, largest=false}\n"
     "a: i32[3] = arg_max(x) {axis=1, keepdims=false, index_bits=32}\n"
     "output v\n output k\n output l\n output p\n output a\n}\n",
     "tflite"},
    {"elements by their positions",
     "graph g {\ninput x: i8[3,4] q(0.5,3)\nconst at: i32[2,1] = [2,0]\n"
     "const deep: i64[2,2] = [0,3,2,1]\ninput u: i8[2,4] q(0.5,3)\n"
     "s: i8[3,4] q(0.5,3) = scatter_nd(x, at, u)\n"
     "g: i8[2,4] q(0.5,3) = gather_nd(x, at)\ne: i8[2] q(0.5,3) = gather_nd(s, deep)\n"
     "output s\n output g\n output e\n}\n",
     "tflite"},
    {"reductions at positions",
     "graph g {\ninput x: i8[3,4] q(0.5,3)\nconst at: i64[3,1] = [2,0,2]\n"
     "input u: i8[3,4] q(0.5,3)\nf: f32[3,4] = dequantize(x)\nv: f32[3,4] = dequantize(u)\n"
     "a: f32[3,4] = scatter_reduce(f, at, v)\n"
     "b: f32[3,4] = scatter_reduce(f, at, v) {reduction=mul}\n"
     "c: f32[3,4] = scatter_reduce(f, at, v) {reduction=min}\n"
     "d: f32[3,4] = scatter_reduce(f, at, v) {reduction=max}\n"
     "output a\n output b\n output c\n output d\n}\n"},
    {"running sums",
     "graph g {\ninput x: i8[3,4] q(0.5,3)\nf: f32[3,4] = dequantize(x)\n"
     "a: f32[3,4] = cumsum(f)\nb: f32[3,4] = cumsum(f) {axis=1, exclusive=true, reverse=true}\n"
     "output a\n output b\n}\n"},
    {"comparisons", "graph g {\ninput x: i8[3,4] q(0.5,3)\ninput y: i8[4] q(0.5,3)\n"
                    "a: bool[3,4] = greater_equal(x, y)\nb: bool[3,4] = less(x, y)\n"
                    "c: bool[3,4] = greater(x, y)\nd: bool[3,4] = less_equal(x, y)\n"
                    "e: bool[3,4] = not_equal(x, y)\nf: bool[3,4] = logical_and(a, e)\n"
                    "g: bool[3,4] = logical_or(b, f)\nh: bool[3,4] = logical_not(g)\n"
                    "i: bool[3,4] = not_equal(c, h)\ns: i8[3,4] q(0.5,3) = select(i, x, y)\n"
                    "output i\n output d\n output s\n output g\n}\n"},
    {"images at computed places",
     "graph g {\ninput x: i8[2,3,4,5] q(0.1,3)\ninput p: i8[2,2,3,2] q(0.01,3)\n"
     "f: f32[2,3,4,5] = dequantize(x)\ng: f32[2,2,3,2] = dequantize(p)\n"
     "a: f32[2,3,2,3] = grid_sample(f, g)\n"
     "b: f32[2,3,2,3] = grid_sample(f, g) {mode=cubic, padding=reflection, align_corners=true}\n"
     "c: f32[2,3,2,3] = grid_sample(f, g) {mode=nearest, padding=border}\n"
     "const r: f32[2,4] = [0,1,3,3,-1,0,2,4]\nconst i: i32[2] = [1,0]\n"
     "d: f32[2,3,2,2] = roi_align(f, r, i) {height=2, width=2, ratio=2, aligned=false, scale=0.5}\n"
     "output a\n output b\n output c\n output d\n}\n"},
    {"volumes at computed places",
     "graph g {\ninput x: i8[1,2,3,4,2] q(0.1,3)\ninput p: i8[1,2,1,2,3] q(0.01,3)\n"
     "f: f32[1,2,3,4,2] = dequantize(x)\ng: f32[1,2,1,2,3] = dequantize(p)\n"
     "a: f32[1,2,2,1,2] = grid_sample(f, g)\noutput a\n}\n"},
    {"pads by what is there",
     "graph g {\n" IMAGE "p: i8[1,7,6,2] q(0.1,3) = "
     "pad(x) {begin=[0,1,2,0], end=[0,2,0,0], mode=reflect}\n"
     "s: i8[1,9,5,3] q(0.1,3) = pad(x) {begin=[0,3,0,1], end=[0,2,1,0], mode=symmetric}\n"
     "e: i8[2,5,4,2] q(0.1,3) = pad(x) {begin=[1,1,0,0], end=[0,0,0,0], mode=edge}\n"
     "output p\n output s\n output e\n}\n",
     "tflite"},
    {"pads by going round, and by a code",
     "graph g {\n" IMAGE "p: i8[1,6,6,2] q(0.1,3) = "
     "pad(x) {begin=[0,1,2,0], end=[0,1,0,0], mode=wrap}\n"
     "s: i8[1,5,4,2] q(0.1,3) = pad(x) {begin=[0,1,0,0], end=[0,0,0,0], has_code=true, code=-7}\n"
     "output p\n output s\n}\n",
     "tflite"},
    {"pads of integers",
     "graph g {\n" IMAGE "m: i64[1,4,4] = arg_max(x) {axis=3, keepdims=false}\n"
     "n: i64[1,5,4] = pad(m) {begin=[0,1,0], end=[0,0,0], value=7}\n"
     "o: i64[1,4,6] = pad(m) {begin=[0,0,1], end=[0,0,1], value=-inf}\n"
     "q: i64[1,4,5] = pad(m) {begin=[0,0,1], end=[0,0,0], has_code=true, code=9007199254740993}\n"
     "output n\n output o\n output q\n}\n",
     "tflite"},
    {"layer norm without scale",
     "graph g {\ninput x: i8[3,4,5] q(0.1,3)\nf: f32[3,4,5] = dequantize(x)\n"
     "a: f32[3,4,5] = layer_norm(f)\nb: f32[3,4,5] = layer_norm(f) {axis=1, epsilon=0.25}\n"
     "c: i8[3,4,5] q(0.02,1) = layer_norm(x)\noutput a\n output b\n output c\n}\n",
     "tflite"},
    {"what is several operators",
     "graph g {\ninput x: i8[3,4] q(0.5,3)\ninput z: i8[3,4] q(0.5,3)\n"
     "f: f32[3,4] = dequantize(x)\nconst c: f32[4] = [3,-2.5,0.5,7]\n"
     "a: f32[3,4] = floor_div(f, c)\nb: f32[3,4] = squared_difference(f, c)\n"
     "m: f32[3,4] = mod(f, c) {truncated=true}\nr: f32[3,4] = reverse(a) {axes=[0,1]}\n"
     "h: f32[3,4] = dequantize(z)\n"
     "s: f32[3,4] = add_n(r, b, m, h)\np: f32[3,1] = reduce_prod(s) {axes=[1]}\n"
     "output s\n output p\n}\n"},
    {"norms of channels", "graph g {\n" IMAGE "f: f32[1,4,4,2] = dequantize(x)\n"
                          "const s: f32[4] = [1,2,0.5,-1]\nconst v: f32[4] = [1,2,0.5,3]\n"
                          "b: f32[1,4,4,2] = batch_norm(f, s, v, s, v) {epsilon=0.01}\n"
                          "l: f32[1,4,4,2] = lrn(b) {size=3, alpha=0.5, bias=2}\noutput l\n}\n"},
    {"bits of integers",
     "graph g {\ninput x: u8[5]\nconst m: u8[5] = [15,240,85,1,0]\n"
     "a: u8[5] = bitwise_and(x, m)\nb: u8[5] = bitwise_or(x, m)\n"
     "c: u8[5] = bitwise_xor(a, b)\nconst t: u8[5] = [3,7,2,5,9]\nd: u8[5] = mod(c, t)\n"
     "output d\n output a\n}\n"},
    {"log softmax of floats", "graph g {\ninput x: i8[3,5] q(0.5,3)\nf: f32[3,5] = dequantize(x)\n"
                              "y: f32[3,5] = log_softmax(f) {axis=0}\noutput y\n}\n"},
};

static assay_graph *parse(const char *text)
{
    assay_graph *g;
    assay_error err;
    assay_status s = text_graph_parse(text, strlen(text), "test", NULL, &g, &err);
    if (s)
        print_error("%s\n", text);
    assert_ok(s, &err);
    return g;
}

static assay_graph *through_onnx(const assay_graph *g, const assay_scheme *s)
{
    unsigned char *bytes;
    size_t length;
    assay_graph *back;
    assay_error err;
    assert_ok(onnx_export_graph(g, &bytes, &length, &err), &err);
    assert_ok(onnx_import_memory("exported", bytes, length, NULL, &back, &err), &err);
    assert_ok(quantize_group_qdq(back, s, run_has_integer_kernel, NULL, &err), &err);
    free(bytes);
    return back;
}

/* Runs g on random codes, the same for the same seed; output k to out[k]. */
static void execute(const assay_graph *g, const assay_scheme *s, uint64_t seed, void **out)
{
    test_rng rng = {seed};
    assay_program *p;
    assay_run *r;
    assay_error err;
    assert_ok(assay_program_make_as_is(g, s, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    for (int i = 0; i < g->n_inputs; i++) {
        unsigned char *x = assay_run_data(r, g->input[i]);
        for (size_t k = 0; k < assay_type_bytes(&g->value[g->input[i]].type); k++)
            x[k] = (unsigned char)test_between(&rng, 0, 255);
    }
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    for (int i = 0; i < g->n_outputs; i++) {
        size_t size = assay_type_bytes(&g->value[g->output[i]].type);
        out[i] = malloc(size);
        assert_non_null(out[i]);
        memcpy(out[i], assay_run_data(r, g->output[i]), size);
    }
    assay_run_free(r);
    assay_program_free(p);
}

/* Of both networks all outputs of random inputs are equal. */
static void compare_bits(const char *what, const assay_graph *g, const assay_graph *back,
                         const assay_scheme *s)
{
    void *want[8], *got[8];
    assert_int_equal(g->n_outputs, back->n_outputs);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        execute(g, s, seed, want);
        execute(back, s, seed, got);
        for (int k = 0; k < g->n_outputs; k++) {
            const assay_value *a = &g->value[g->output[k]], *b = &back->value[back->output[k]];
            assert_string_equal(a->name, b->name);
            assert_true(assay_shape_equal(&a->type, &b->type));
            if (memcmp(want[k], got[k], assay_type_bytes(&a->type)) != 0)
                fail_msg("%s: output '%s' differs, seed %d", what, a->name, (int)seed);
            free(want[k]);
            free(got[k]);
        }
    }
}

static void exported_networks_keep_their_bits(void **state)
{
    assay_scheme *s;
    assay_error err;
    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        const char *preset = nets[i].scheme ? nets[i].scheme : "onnxruntime";
        assert_ok(assay_scheme_open(preset, &s, &err), &err);
        assay_graph *g = parse(nets[i].text), *back = through_onnx(g, s);
        compare_bits(nets[i].what, g, back, s);
        assay_graph_free(back);
        assay_graph_free(g);
        assay_scheme_free(s);
    }
}

/* Weights of 4 bits in blocks, the last one short, and a bias of their sums' unit, which is the
 * scheme's and neither input's nor weights'. */
static void weights_in_blocks_keep_their_bits(void **state)
{
    static const char *const scheme =
        "{scheme: t, types: {weight_bits: 4, weight_scales: per-block}, "
        "blocks: {kind: multiplier, size: 4, multiplier_bits: 6}}";
    static const char *const text =
        "graph net {\ninput x: i8[2,6] q(0.05,3)\n"
        "const w: i4[3,6] q(axis=1,block=4,[0.1,0.02,0.03,0.06,0.05,0.05],[0,0,0,0,0,0]) ="
        " [1,-2,3,4,5,-6,7,-8,1,2,3,4,-5,6,7,-8,1,2]\n"
        "const b: f32[3] = [1,-0.5,0.25]\nxf: f32[2,6] = dequantize(x)\n"
        "wf: f32[3,6] = dequantize(w)\nyf: f32[2,3] = fc(xf, wf, b)\n"
        "y: i8[2,3] q(0.03,-7) = quantize(yf)\noutput y\n}\n";
    assay_graph *g = parse(text);
    assay_scheme *s;
    assay_error err;
    (void)state;

    assert_ok(assay_scheme_parse("t", scheme, strlen(scheme), &s, &err), &err);
    assert_ok(quantize_group_qdq(g, s, run_has_integer_kernel, NULL, &err), &err);
    assert_int_equal(assay_node_in(g, &g->node[0], 2)->type.elem.bits, 32);
    assay_graph *back = through_onnx(g, s);
    assert_int_equal(back->n_nodes, 1);
    compare_bits("blocks", g, back, s);
    assay_graph_free(back);
    assay_graph_free(g);
    assay_scheme_free(s);
}

/* NonZero has a column for each element and becomes `where` again for a sample that keeps as many.
 */
static void what_a_condition_keeps_has_its_positions(void **state)
{
    static const char *const text =
        "graph g {\ninput x: f32[2,3]\ny: i64[4,2] = where(x) {count=4}\noutput y\n}\n";
    static const float x[6] = {0, 2, 0, -1, 0.5F, 3};
    static const int64_t rows[8] = {0, 1, 1, 0, 1, 1, 1, 2};
    test_sampled sampled = {.x = x};
    const assay_onnx_options options = {.sample = test_sampled_of(&sampled)};
    assay_graph *g = parse(text), *back;
    unsigned char *bytes;
    size_t length;
    int64_t y[8];
    const void *in[1] = {x};
    void *out[1] = {y};
    assay_error err;
    (void)state;

    assert_ok(onnx_export_graph(g, &bytes, &length, &err), &err);
    assert_ok(onnx_import_memory("exported", bytes, length, &options, &back, &err), &err);
    assert_true(sampled.used);
    assert_ok(run_whole_graph(back, NULL, in, out, &err), &err);
    assert_memory_equal(y, rows, sizeof rows);
    free(bytes);
    assay_graph_free(back);
    assay_graph_free(g);
}

/* What ONNX has no words for is refused by name. */
static void the_rest_is_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"graph g {\ninput x: i8[1,4,4,4,2] q(0.1,3)\n"
         "p: i8[1,2,2,2,2] q(0.1,3) = max_pool(x) {layout=nhwc, kernel=[2,2,2], stride=[2,2,2]} "
         "@pool\n"
         "output p\n}\n",
         "node 'pool' (max_pool): its channels are last, and it is not an image of two dimensions"},
        {"graph g {\ninput x: i16[2,2] q(0.1,0)\nconst w: i8[2,2] q(0.1,0) = [1,2,3,-4]\n"
         "const b: i64[2] = [1,123456789012]\ny: i16[2,2] q(0.1,0) = fc(x, w, b) @wide\noutput "
         "y\n}\n",
         "node 'wide' (fc): a 64-bit bias that float32 cannot hold exactly"},
        {"graph g {\ninput x: i8[2,2] q(0.1,0)\n"
         "const w: i8[2,2] q(axis=1,block=1,[0.1,0.2,0.3,0.4],[0,0,0,0]) = [1,2,3,-4]\n"
         "const b: i32[2] = [1,2]\ny: i8[2,2] q(0.1,0) = fc(x, w, b) @blocks\noutput y\n}\n",
         "node 'blocks' (fc): a bias in codes without a scale beside weights in blocks"},
        {"graph g {\ninput x: f32[2,2]\ny: f32[2,2] = log_softmax(x) {beta=2} @sharp\noutput "
         "y\n}\n",
         "node 'sharp' (log_softmax): a softmax with a beta other than 1"},
        {"graph g {\ninput x: i8[2] q(0.1,3)\nvar h: i8[2] q(0.1,3) = [0,0]\n"
         "r: i8[2] q(0.1,3) = read(h) @before\ny: i8[2] q(0.1,3) = add(x, r)\noutput y\n}\n",
         "node 'before' (read): state kept between runs, for which ONNX has no operator"},
        {"graph g {\ninput x: f32[2]\ny: f32[2] = mod(x, x) @rest\noutput y\n}\n",
         "node 'rest' (mod): a remainder of floats with the divisor's sign"},
        {"graph g {\ninput x: i32[2]\ny: i32[2] = floor_div(x, x) @down\noutput y\n}\n",
         "node 'down' (floor_div): a quotient of integers rounded down"},
        {"graph g {\ninput x: i8[2,2] q(axis=0,[0.1,0.2],[0,1])\n"
         "y: i8[2,3] q(axis=0,[0.1,0.2],[0,1]) = "
         "pad(x) {begin=[0,1], end=[0,0], has_code=true, code=5} @fill\noutput y\n}\n",
         "node 'fill' (pad): a pad by a code where channels have scales of their own"},
        {"graph g {\ninput x: f32[1,4,2]\n"
         "y: f32[1,4,2] = lrn(x) {layout=nhwc} @lrn\noutput y\n}\n",
         "node 'lrn' (lrn): its channels are last, and it is not an image of two dimensions"},
        {"graph g {\ninput x: f32[2]\ny: f32[2] = atan2(x, x) @angle\noutput y\n}\n",
         "node 'angle' (atan2): an op that is not exported"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assay_graph *g = parse(bad[i].text);
        unsigned char *bytes;
        size_t length;
        assay_error err;
        assert_int_equal(onnx_export_graph(g, &bytes, &length, &err), ASSAY_ERR_UNSUPPORTED);
        assert_null(bytes);
        assert_string_equal(err.text, bad[i].why);
        assay_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exported_networks_keep_their_bits),
        cmocka_unit_test(what_a_condition_keeps_has_its_positions),
        cmocka_unit_test(weights_in_blocks_keep_their_bits),
        cmocka_unit_test(the_rest_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
