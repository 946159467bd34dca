/* The quantizer: names, fused activations, borders and their reasons, and that the integer network
 * computes what the float one does. */
#include "test/support/support.h"

#include <math.h>
#include <string.h>

#include "interp/run/program.h"
#include "test/support/quantized.h"

static test_rng rng_of(void **state)
{
    return *(test_rng *)*state;
}

static void test_names_and_parameters(void **state)
{
    test_rng rng = rng_of(state);
    quantized s = quantized_prepare(quantized_classifier(&rng), &rng, "tflite");
    quantized_make(&s, (assay_quantize_options){0});
    assert_int_equal(s.report.n_float, 0);
    assert_int_equal(s.report.n_fused, 1);
    assert_int_equal(s.report.n_rescale, 0);
    assert_int_equal(s.report.n_convert, 3); /* x:q, y:f32, logits:f32 */

    assert_int_equal(quantized_type(&s, "x")->elem.kind, ASSAY_KIND_F32);
    assert_int_equal(quantized_type(&s, "x:q")->elem.bits, 8);
    assert_string_equal(s.q->value[s.q->output[0]].name, "y:f32");
    assert_string_equal(s.q->value[s.q->output[1]].name, "logits:f32");
    assert_int_equal(assay_graph_find_value(s.q, "conv1"), -1); /* fused away */
    const assay_node *conv = net_producer(s.q, "relu1");
    assert_int_equal(conv->op, ASSAY_OP_CONV);
    assert_true(conv->act_lo == 0 && conv->act_hi == INFINITY);
    assert_int_equal(quantized_type(&s, "relu1")->q.zero_point[0],
                     -128); /* behind the activation */
    quantized_assert_same(&s, "relu1", "pool");
    quantized_assert_same(&s, "sum", "flat");

    const assay_type *w = quantized_type(&s, "w1"), *b = quantized_type(&s, "b1");
    assert_int_equal(w->q.granularity, ASSAY_Q_AXIS);
    assert_int_equal(w->q.count, 8);
    assert_int_equal(b->elem.bits, 32);
    for (int o = 0; o < 8; o++) {
        assert_int_equal(w->q.zero_point[o], 0);
        assert_int_equal(b->q.zero_point[o], 0);
        assert_true(b->q.scale[o] == quantized_type(&s, "x:q")->q.scale[0] * w->q.scale[o]);
    }
    assert_true(quantized_type(&s, "y")->q.scale[0] == 1.0f / 256);
    assert_int_equal(quantized_type(&s, "y")->q.zero_point[0], -128);
    quantized_drop(&s);
}

static void test_accuracy(void **state)
{
    test_rng rng = rng_of(state);
    static const char *const schemes[] = {"tflite", "tflite-single", "glow-interp", "glow-cpu",
                                          "npu16"};
    for (int i = 0; i < (int)(sizeof schemes / sizeof *schemes); i++) {
        quantized s = quantized_prepare(quantized_classifier(&rng), &rng, schemes[i]);
        quantized_make(&s, (assay_quantize_options){0});
        double sqnr = quantized_sqnr(&s, &rng, 1);
        printf("# %s: logits %.1f dB, %d nodes in float\n", schemes[i], sqnr, s.report.n_float);
        assert_true(sqnr > (strcmp(schemes[i], "npu16") == 0 ? 18 : 24));
        quantized_drop(&s);
    }
}

/* Depthwise channels that differ by 2^7 need a scale each. */
static void test_per_channel_beats_per_tensor(void **state)
{
    test_rng rng = rng_of(state);
    quantized s = quantized_prepare(quantized_classifier(&rng), &rng, "tflite");
    const int64_t n = 8 * 9;
    double noise[2];
    for (int k = 0; k < 2; k++) {
        quantize_report_free(&s.report);
        quantized_make(&s, (assay_quantize_options){.weights = k ? ASSAY_WEIGHTS_PER_TENSOR
                                                                 : ASSAY_WEIGHTS_PER_CHANNEL});
        const assay_value *w = &s.q->value[assay_graph_find_value(s.q, "wd")];
        const float *x = s.g->value[assay_graph_find_value(s.g, "wd")].data;
        noise[k] = 0;
        for (int64_t i = n - 9; i < n; i++) { /* the smallest channel */
            size_t c = w->type.q.count == 1 ? 0 : (size_t)(i / 9);
            noise[k] += fabs((double)x[i] -
                             (double)w->type.q.scale[c] * (double)((const int8_t *)w->data)[i]);
        }
        assert_int_equal(w->type.q.count, k ? 1 : 8);
        assay_graph_free(s.q);
        s.q = NULL;
    }
    assert_true(noise[0] * 20 < noise[1]);
    quantized_drop(&s);
}

/* ---- borders ---- */

/* x -> conv -> lrn (which the target has in float) -> relu -> turn -> fc */
static void test_unsupported_stays_float(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    assay_attrs lrn = {.lrn = {.size = 3, .alpha = 0.1f, .beta = 0.75f, .bias = 1}};
    assay_attrs flat = {.shape = {.shape = {2, {1, 36}}}};
    int x = net_input(g, "x", NET_SHAPE(1, 4, 3, 3));
    int y = net_node(g, ASSAY_OP_CONV, "conv", NULL, x,
                     net_constant(g, &rng, "w", -1, 1, NET_SHAPE(4, 4, 1, 1)), -2);
    y = net_node(g, ASSAY_OP_LRN, "lrn", &lrn, y, -2);
    y = net_node(g, ASSAY_OP_RELU, "relu", NULL, y, -2);
    y = net_node(g, ASSAY_OP_RESHAPE, "flat", &flat, y, -2);
    net_output(g, net_node(g, ASSAY_OP_FC, "y", NULL, y,
                           net_constant(g, &rng, "v", -1, 1, NET_SHAPE(5, 36)), -2));
    quantized s = quantized_prepare(g, &rng, "{scheme: t, extends: tflite, float_ops: [lrn]}");
    quantized_make(&s, (assay_quantize_options){0});
    assert_int_equal(s.report.n_float, 2);
    assert_non_null(quantized_reason(&s, "lrn"));
    assert_string_equal(quantized_reason(&s, "relu"), "its input is computed in float");
    assert_int_equal(net_producer(s.q, "conv:f32")->op, ASSAY_OP_DEQUANTIZE);
    assert_int_equal(quantized_type(&s, "conv")->elem.bits, 8);
    assert_int_equal(net_producer(s.q, "lrn")->op, ASSAY_OP_LRN);
    assert_int_equal(net_producer(s.q, "relu:f32")->op, ASSAY_OP_RELU); /* codes take the name */
    assert_int_equal(net_producer(s.q, "relu")->op, ASSAY_OP_QUANTIZE);
    quantized_assert_same(&s, "relu", "flat");
    assert_int_equal(s.report.n_convert, 4);
    assert_true(quantized_sqnr(&s, &rng, 0) > 24);
    quantized_drop(&s);
}

/* Nodes that only move data between float nodes are not worth codes. */
static void test_moves_between_float_nodes_stay(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    assay_attrs flat = {.shape = {.shape = {2, {1, 36}}}};
    int x = net_input(g, "x", NET_SHAPE(1, 4, 3, 3));
    int y = net_node(g, ASSAY_OP_EXP, "exp", NULL, x, -2);
    y = net_node(g, ASSAY_OP_RESHAPE, "flat", &flat, y, -2);
    net_output(g, net_node(g, ASSAY_OP_TANH, "y", NULL, y, -2));
    const assay_precision_rule rules[] = {{"exp", assay_f32()}, {"tan?", assay_f32()}};
    quantized s = quantized_prepare(g, &rng, "tflite");
    quantized_make(&s, (assay_quantize_options){.precision = rules, .n_precision = 2});
    assert_int_equal(s.report.n_integer, 0);
    assert_string_equal(quantized_reason(&s, "exp"), "kept in float on request");
    assert_string_equal(quantized_reason(&s, "flat"), "it only moves data between float nodes");
    assert_int_equal(s.q->n_nodes, 3);
    quantized_drop(&s);
}

/* An activation of a value that others see stays a node. */
static void test_shared_input_is_not_fused(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(1, 6));
    int y = net_node(g, ASSAY_OP_FC, "fc", NULL, x,
                     net_constant(g, &rng, "w", -1, 1, NET_SHAPE(6, 6)), -2);
    assay_attrs clip = {.clip = {.lo = -0.5f, .hi = 0.75f}};
    int z = net_node(g, ASSAY_OP_CLIP, "clip", &clip, y, -2);
    z = net_node(g, ASSAY_OP_RELU, "relu", NULL, net_node(g, ASSAY_OP_ADD, "sum", NULL, y, z, -2),
                 -2);
    net_output(g, net_node(g, ASSAY_OP_CLIP, "y", &clip, z, -2));
    quantized s = quantized_prepare(g, &rng, "tflite");
    quantized_make(&s, (assay_quantize_options){0});
    assert_int_equal(s.report.n_fused, 1); /* relu and the last clip are one by now */
    assert_int_equal(net_producer(s.q, "clip")->op, ASSAY_OP_CLIP);
    const assay_node *sum = net_producer(s.q, "y");
    assert_int_equal(sum->op, ASSAY_OP_ADD);
    assert_true(sum->act_lo == 0 && sum->act_hi == 0.75f); /* relu, then [-0.5, 0.75] */
    assert_true(quantized_sqnr(&s, &rng, 0) > 24);
    quantized_drop(&s);
}

int main(void)
{
    test_rng rng = test_seed("quantize", 20261121);
    void *state = &rng;
#define WITH_RNG(test) cmocka_unit_test_prestate(test, state)
    const struct CMUnitTest tests[] = {
        WITH_RNG(test_names_and_parameters),           WITH_RNG(test_accuracy),
        WITH_RNG(test_per_channel_beats_per_tensor),   WITH_RNG(test_unsupported_stays_float),
        WITH_RNG(test_moves_between_float_nodes_stay), WITH_RNG(test_shared_input_is_not_fused),
    };
    return cmocka_run_group_tests_name("quantize", tests, NULL, NULL);
}
