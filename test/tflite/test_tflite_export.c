/* Small networks written as TFLite: each comes back the same; what TFLite has no words for is
 * refused by name, all of it at once. With ASSAY_SEEDS=DIR the files are left there, for fuzzers.
 */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/tflite/export.h"
#include "graph/tflite/flat/flat.h"
#include "graph/tflite/tflite.h"
#include "test/support/tflite_build.h"
#include "test/support/tflite_graphs.h"
#include "test/support/tflite_roundtrip.h"

static void comes_back(void **state)
{
    test_rng rng = test_seed("tflite_export", 7);
    (void)state;
    for (int i = 0; i < n_tflite_graphs; ++i) {
        assay_graph *g = tflite_graph(tflite_graphs[i]);
        roundtrip sum = {0};
        test_tflite_roundtrip(g, "tflite", 3, &rng, &sum);
        test_tflite_roundtrip(g, "tflite-single", 1, &rng, &sum);
        if (sum.mismatches)
            fail_msg("%s: %ld mismatches", g->name, sum.mismatches);
        assert_true(sum.values >= 4 * (g->n_nodes > 1 ? g->n_nodes / 2 : 1));
        tflite_leave_seed(g);
        assay_graph_free(g);
    }
}

static const char *const refusals[][2] = {
    {"graph a { input x: f32[2,3]\n y: f32[2,3] = erf(x)\n z: f32[2,3] = softplus(y)\n output z }",
     "node 'y' (erf): no TFLite operator is written for it; node 'z' (softplus)"},
    {"graph b { input x: i8[2,3] q(0.1,0)\n const w: i8[4,3] q(0.1,0) = splat 1\n"
     "y: i32[2,4] = fc(x, w)\n output y }",
     "plain sums"},
    {"graph c { input x: i8[2,3] q(0.1,0)\n const w: i8[4,3] q(0.1,5) = splat 1\n"
     "y: i8[2,4] q(0.1,0) = fc(x, w)\n output y }",
     "signed weights with a zero point"},
    {"graph d { input x: u4[2,3] q(0.1,0)\n y: u4[6] q(0.1,0) = reshape(x) {shape=[6]}\n output y "
     "}",
     "value 'x' (u4): a type that TFLite does not have"},
    {"graph e { input x: f32[1,4,4,1]\n y: f32[1,2,2,1] = avg_pool(x) {layout=nhwc, kernel=[3,3], "
     "stride=[2,2], pad_begin=[1,1]}\n output y }",
     "averages at the border"},
    {"graph f { input x: i8[2,3] q(0.1,0)\n y: i8[2,3] q(0.2,0) = clip(x) {lo=-1, hi=2}\n output y "
     "}",
     "between different parameters"},
    {"graph f16 { input x: i16[2,3] q(0.1,0)\n y: i16[2,3] q(0.2,0) = clip(x) {lo=-1, hi=1}\n"
     "output y }",
     "between different parameters"},
    {"graph g { input x: f32[2,3]\n y: f32[2,3] = softmax(x) {axis=0}\n output y }",
     "an axis that is not the last"},
    {"graph h { input x: f32[1,2,4,4,4]\n const w: f32[1,2,1,1,1] = splat 1\n"
     "y: f32[1,1,4,4,4] = conv(x, w)\n output y }",
     "two spatial dimensions"},
    {"graph k { input x: f32[1,1,3,3]\n y: f32[1,1,6,6] = resize(x) {size=[1,1,6,6]}\n output y }",
     "no resize"},
    {"graph l { input x: i16[2,3] q(0.1,7)\n const w: i8[4,3] q(0.1,0) = splat 1\n"
     "y: i16[2,4] q(0.1,0) = fc(x, w)\n output y }",
     "16-bit codes with a zero point"},
};

/* What a reader gets of the network that we write; it borrows the bytes, which are the caller's. */
static assay_graph *written_and_read(const char *text, unsigned char **file)
{
    size_t length;
    assay_error err;
    assay_graph *g = tflite_graph(text), *back;
    assert_ok(tfl_export_graph(g, file, &length, &err), &err);
    assert_ok(tfl_import_memory("m", *file, length, &back, &err), &err);
    assay_graph_free(g);
    return back;
}

/* MAXIMUM compares raw codes: what has other parameters than the result is requantized before it in
 * what we write, and codes of the result in what we read. */
static void raw_maximum(void **state)
{
    (void)state;
    assay_graph *g = tflite_graph("graph m { input a: i8[2] q(0.1,3)\n input b: i8[2] q(0.2,1)\n"
                                  "y: i8[2] q(0.2,1) = max(a, b)\n output y }");
    assay_graph *back;
    unsigned char *bytes, *file;
    size_t length;
    assay_error err;
    assert_ok(tfl_export_graph(g, &bytes, &length, &err), &err);
    assert_ok(tfl_import_memory("m", bytes, length, &back, &err), &err);
    assert_int_equal(back->n_nodes, 2);
    assert_int_equal(back->node[0].op, ASSAY_OP_RESCALE);
    assert_int_equal(tb_producer(back, "y")->op, ASSAY_OP_MAX);
    assay_graph_free(back);
    assay_graph_free(g);
    free(bytes);

    tb_model m = {.n_inputs = 2, .n_outputs = 1, .input = {0, 1}, .output = {2}};
    tb_add(&m, "a", TFL_INT8, 2, -1);
    tb_quant(&m, 0.1F, 3);
    tb_add(&m, "b", TFL_INT8, 2, -1);
    tb_quant(&m, 0.2F, 1);
    tb_add(&m, "y", TFL_INT8, 2, -1);
    tb_quant(&m, 0.2F, 1);
    tb_outputs(tb_operator(&m, 55, 0, 1, -2), 2, -2); /* MAXIMUM */
    back = tb_import_ok(&m, &file);
    assert_int_equal(back->n_nodes, 2);
    assert_int_equal(back->node[0].op, ASSAY_OP_RELABEL);
    assay_graph_free(back);
    free(file);
}

/* No runtime has RELU_N1_TO_1 and RELU_0_TO_1 of 16-bit codes: they go as MAXIMUM and MINIMUM. */
static void wide_bounds(void **state)
{
    static const struct {
        const char *type, *bounds;
        assay_op first;
        int nodes;
    } cases[] = {{"i16", "lo=-1, hi=1", ASSAY_OP_MAX, 2},
                 {"i16", "lo=0, hi=1", ASSAY_OP_MAX, 2},
                 {"i16", "lo=0, hi=6", ASSAY_OP_CLIP, 1},
                 {"i8", "lo=-1, hi=1", ASSAY_OP_CLIP, 1},
                 {"i8", "lo=0, hi=1", ASSAY_OP_CLIP, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "graph w { input x: %s[2,3] q(0.1,0)\n y: %s[2,3] q(0.1,0) = clip(x) {%s}\n"
                 "output y }",
                 cases[i].type, cases[i].type, cases[i].bounds);
        assay_graph *g = tflite_graph(text), *back;
        unsigned char *bytes;
        size_t length;
        assay_error err;
        assert_ok(tfl_export_graph(g, &bytes, &length, &err), &err);
        assert_ok(tfl_import_memory("w", bytes, length, &back, &err), &err);
        assert_int_equal(back->n_nodes, cases[i].nodes);
        assert_int_equal(back->node[0].op, cases[i].first);
        assay_graph_free(back);
        free(bytes);
        assay_graph_free(g);
    }
}

/* SELECT_V2 likewise: of its operands the two that it chooses from. */
static void raw_select(void **state)
{
    (void)state;
    assay_graph *back;
    unsigned char *file;
    tb_model m = {.n_inputs = 3, .n_outputs = 1, .input = {0, 1, 2}, .output = {3}};
    tb_add(&m, "c", TFL_BOOL, 2, -1);
    tb_add(&m, "a", TFL_INT8, 2, -1);
    tb_quant(&m, 0.1F, 3);
    tb_add(&m, "b", TFL_INT8, 2, -1);
    tb_quant(&m, 0.2F, 1);
    tb_add(&m, "y", TFL_INT8, 2, -1);
    tb_quant(&m, 0.2F, 1);
    tb_outputs(tb_operator(&m, 123, 0, 1, 2, -2), 3, -2); /* SELECT_V2 */
    back = tb_import_ok(&m, &file);
    assert_int_equal(back->n_nodes, 2);
    assert_int_equal(back->node[0].op, ASSAY_OP_RELABEL);
    assert_string_equal(back->value[back->node[0].in[0]].name, "a");
    assay_graph_free(back);
    free(file);
}

/* The biases, versions and parameters that a file must have for runtimes to take it as it is meant:
 * CONV_2D has a bias, LiteRT's delegate refuses a bias without a scale, and TensorFlow Lite 2.9
 * ignores the activation of a TRANSPOSE_CONV unless it is of version 4. */
static void bias_of_zeros(void **state)
{
    test_rng rng = test_seed("bias_of_zeros", 21);
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        char text[400], weights[128];
        const double x = test_unit(&rng) + 0.01,
                     w[2] = {test_unit(&rng) + 0.01, test_unit(&rng) + 0.01};
        const bool by_channel = trial & 1;
        if (by_channel)
            snprintf(weights, sizeof weights, "axis=0,[%.9g,%.9g],[0,0]", w[0], w[1]);
        else
            snprintf(weights, sizeof weights, "%.9g,0", w[0]);
        snprintf(
            text, sizeof text,
            "graph m { input x: i8[1,3,3,2] q(%.9g,1)\n const w: i8[2,2,2,%d] q(%s) = splat 3\n"
            "y: i8[1,2,2,2] q(0.5,0) = conv(x, w) {layout=nhwc, group=%d}\n output y }",
            x, trial & 2 ? 1 : 2, weights, trial & 2 ? 2 : 1);
        unsigned char *file;
        assay_graph *back = written_and_read(text, &file);
        const assay_value *b = &back->value[back->node[0].in[2]];
        const assay_type *bias = &b->type;
        assert_string_equal(b->name, "y:bias"); /* of the file, not implied by the reader */
        assert_int_equal(bias->q.count, by_channel ? 2 : 1);
        for (size_t i = 0; i < bias->q.count; i++)
            assert_true(bias->q.scale[i] == (float)x * (float)w[i]);
        assay_graph_free(back);
        free(file);
    }
}

/* The version of the file's first operator. */
static int version_of(const char *text)
{
    unsigned char *bytes;
    size_t length;
    assay_error err;
    assay_graph *g = tflite_graph(text);
    assert_ok(tfl_export_graph(g, &bytes, &length, &err), &err);
    flat_file file = {.name = "m", .bytes = bytes, .size = length};
    const flat_vector codes = tfl_flat_list(tfl_flat_root(&file), MODEL_OPERATOR_CODES, 4);
    const int version = tfl_flat_i32(tfl_flat_list_table(codes, 0), CODE_VERSION, 1);
    assert_ok(tfl_flat_status(&file, &err), &err);
    assay_graph_free(g);
    free(bytes);
    return version;
}

static void versions(void **state)
{
#define TRANSPOSED(more)                                                                           \
    "graph m { input x: i8[1,3,3,2] q(0.5,1)\n const w: i8[2,2,2,2] q(0.5,0) = splat 3\n"          \
    "y: i8[1,4,4,2] q(0.5,0) = conv_transpose(x, w) {layout=nhwc}" more "\n"
    (void)state;
    assert_int_equal(version_of(TRANSPOSED("") "output y }"), 1);
    assert_int_equal(version_of(TRANSPOSED(" act[0,6]") "output y }"), 4);
    assert_int_equal(
        version_of(TRANSPOSED(
            "") "const v: i8[2,2,2,2] q(0.5,0) = splat 1\n"
                "z: i8[1,5,5,2] q(0.5,0) = conv_transpose(y, v) {layout=nhwc} act[0,inf]\n"
                "output z }"),
        4);
}

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; ++i) {
        assay_graph *g = tflite_graph(refusals[i][0]);
        unsigned char *bytes;
        size_t length;
        assay_error err;
        assert_refused(tfl_export_graph(g, &bytes, &length, &err), &err, refusals[i][1]);
        assert_null(bytes);
        assay_graph_free(g);
    }
}

/* A graph of a hundred nodes that cannot be written: the message stays a line and counts them. */
static void refused_all(void **state)
{
    static char text[8192];
    size_t used = (size_t)snprintf(text, sizeof text, "graph many { input v0: f32[2]\n");
    unsigned char *bytes;
    size_t length;
    assay_graph *g;
    assay_error err;

    (void)state;
    for (int i = 1; i <= 100; ++i)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "v%d: f32[2] = erf(v%d)\n", i, i - 1);
    snprintf(text + used, sizeof text - used, "output v100 }");
    g = tflite_graph(text);
    assert_refused(tfl_export_graph(g, &bytes, &length, &err), &err, "more");
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_maximum), cmocka_unit_test(wide_bounds),
        cmocka_unit_test(raw_select),  cmocka_unit_test(bias_of_zeros),
        cmocka_unit_test(versions),    cmocka_unit_test(comes_back),
        cmocka_unit_test(refused),     cmocka_unit_test(refused_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
