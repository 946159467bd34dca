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

static void exported_networks_keep_their_bits(void **state)
{
    assay_scheme *s;
    assay_error err;
    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        const char *preset = nets[i].scheme ? nets[i].scheme : "onnxruntime";
        assert_ok(assay_scheme_open(preset, &s, &err), &err);
        assay_graph *g = parse(nets[i].text), *back = through_onnx(g, s);
        void *want[4], *got[4];
        assert_int_equal(g->n_outputs, back->n_outputs);
        for (uint64_t seed = 1; seed <= 20; seed++) {
            execute(g, s, seed, want);
            execute(back, s, seed, got);
            for (int k = 0; k < g->n_outputs; k++) {
                const assay_value *a = &g->value[g->output[k]], *b = &back->value[back->output[k]];
                assert_string_equal(a->name, b->name);
                assert_true(assay_shape_equal(&a->type, &b->type));
                if (memcmp(want[k], got[k], assay_type_bytes(&a->type)) != 0)
                    fail_msg("%s: output '%s' differs, seed %d", nets[i].what, a->name, (int)seed);
                free(want[k]);
                free(got[k]);
            }
        }
        assay_graph_free(back);
        assay_graph_free(g);
        assay_scheme_free(s);
    }
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
         "node 'blocks' (fc): a bias in codes beside weights in blocks"},
        {"graph g {\ninput x: f32[2,2]\ny: f32[2,2] = log_softmax(x) {beta=2} @sharp\noutput "
         "y\n}\n",
         "node 'sharp' (log_softmax): a softmax with a beta other than 1"},
        {"graph g {\ninput x: i8[2] q(0.1,3)\nvar h: i8[2] q(0.1,3) = [0,0]\n"
         "r: i8[2] q(0.1,3) = read(h) @before\ny: i8[2] q(0.1,3) = add(x, r)\noutput y\n}\n",
         "node 'before' (read): state kept between runs, for which ONNX has no operator"},
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
        cmocka_unit_test(the_rest_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
