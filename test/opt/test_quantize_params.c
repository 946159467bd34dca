/* The quantizer: shared parameters, constants as codes, precision rules, options that are refused.
 */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"

#include "interp/run/evaluate.h"
#include "test/support/quantized.h"

static test_rng rng_of(void **state)
{
    return *(test_rng *)*state;
}

/* ---- shared parameters ---- */

/* What a concat joins shares parameters, unless a target's fixed output is too narrow. */
static void test_concat(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    assay_attrs axis = {.axis = {.axis = 1}};
    int x = net_input(g, "x", NET_SHAPE(1, 6));
    int a = net_node(g, ASSAY_OP_FC, "a", NULL, x,
                     net_constant(g, &rng, "wa", -4, 4, NET_SHAPE(6, 6)), -2);
    int b = net_node(g, ASSAY_OP_FC, "b", NULL, x,
                     net_constant(g, &rng, "wb", -1, 1, NET_SHAPE(6, 6)), -2);
    int c = net_constant(g, &rng, "c", 30, 31, NET_SHAPE(1, 2));
    int m = net_node(g, ASSAY_OP_SOFTMAX, "m", NULL, b, -2);
    net_output(g, net_node(g, ASSAY_OP_CONCAT, "y", &axis, a, b, c, m, -2));
    quantized s = quantized_prepare(g, &rng, "tflite");
    quantized_make(&s, (assay_quantize_options){0});
    assert_int_equal(s.report.n_rescale, 1);
    quantized_assert_same(&s, "a", "y");
    quantized_assert_same(&s, "b", "y");
    quantized_assert_same(&s, "c", "y");
    quantized_assert_same(&s, "m:as:y", "y");
    assert_true(quantized_type(&s, "m")->q.scale[0] == 1.0f / 256);
    assert_true(quantized_type(&s, "y")->q.scale[0] * 255 > 30); /* the constant is in the range */
    assert_true(quantized_sqnr(&s, &rng, 0) > 24);
    quantized_drop(&s);
}

/* Rows of a constant table chosen by an integer input: the table is quantized, nothing converts. */
static void test_embedding(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new(), *run;
    assay_type index = {.elem = assay_int(64, true), .rank = 1, .dim = {3}};
    int64_t rows[3] = {4, 0, 2};
    int ids;
    assay_error err;
    assert_ok(assay_graph_add_value(g, "ids", &index, &ids, &err), &err);
    assert_ok(assay_graph_set_inputs(g, &ids, 1, &err), &err);
    int table = net_constant(g, &rng, "table", -2, 2, NET_SHAPE(5, 6));
    int y = net_node(g, ASSAY_OP_GATHER, "rows", NULL, table, ids, -2);
    net_output(g, net_node(g, ASSAY_OP_FC, "y", NULL, y,
                           net_constant(g, &rng, "w", -1, 1, NET_SHAPE(4, 6)), -2));
    quantized s = {.g = g};
    assert_ok(profile_new(g, &s.profile, &err), &err);
    assert_ok(assay_graph_clone(g, &run, &err), &err);
    run->value[ids].data = rows;
    for (int i = 0; i < run->n_nodes; i++) {
        int out = run->node[i].out[0];
        void *data = calloc(1, assay_type_bytes(&run->value[out].type));
        assert_ok(run_evaluate_node(run, &run->node[i], &data, &err), &err);
        run->value[out].data = data;
        profile_observe(s.profile, out, data, (size_t)assay_shape_count(&run->value[out].type));
    }
    for (int i = 0; i < run->n_nodes; i++)
        free((void *)(uintptr_t)run->value[run->node[i].out[0]].data);
    assay_graph_free(run);
    assert_ok(assay_scheme_open("tflite", &s.scheme, &err), &err);
    quantized_make(&s, (assay_quantize_options){0});
    assert_int_equal(s.report.n_float, 0);
    assert_int_equal(s.report.n_convert, 1); /* y:f32 */
    assert_int_equal(quantized_type(&s, "ids")->elem.bits, 64);
    assert_int_equal(quantized_type(&s, "table")->elem.bits, 8);
    quantized_assert_same(&s, "table", "rows");
    assert_true(quantized_type(&s, "rows")->q.scale[0] * 255 > 3.5f); /* the whole table's range */
    quantized_drop(&s);
}

static void test_precision_rules(void **state)
{
    test_rng rng = rng_of(state);
    const assay_precision_rule rules[] = {{"logits", assay_int(16, true)},
                                          {"flat", assay_int(16, true)}};
    assay_quantize_options o = {.precision = rules, .n_precision = 1};
    quantized s = quantized_prepare(quantized_classifier(&rng), &rng, "tflite");
    quantized_make(&s, o);
    if (!quantized_reason(&s, "logits")) { /* the target takes 16-bit inputs: flat widens */
        assert_int_equal(quantized_type(&s, "logits")->elem.bits, 16);
        assert_int_equal(quantized_type(&s, "flat:i16")->elem.bits, 16);
        assert_int_equal(quantized_type(&s, "flat")->elem.bits, 8);
        assert_true(quantized_sqnr(&s, &rng, 1) > 24);
    }
    quantized_drop(&s);
}

/* TFLite's 16-bit codes have no zero points, and their layers biases of 64 bits. */
static void test_wide_tflite(void **state)
{
    test_rng rng = rng_of(state);
    const assay_precision_rule all = {"*", assay_int(16, true)};
    quantized s = quantized_prepare(quantized_classifier(&rng), &rng, "tflite");
    int wide = 0, biases = 0;
    quantized_make(&s, (assay_quantize_options){.precision = &all, .n_precision = 1});
    for (int v = 0; v < s.q->n_values; v++) {
        const assay_type *t = &s.q->value[v].type;
        if (!assay_is_quantized(t) || t->elem.bits != 16)
            continue;
        assert_int_equal(t->q.zero_point[0], 0);
        wide++;
    }
    for (int i = 0; i < s.q->n_nodes; i++) {
        const assay_node *n = &s.q->node[i];
        if ((n->op != ASSAY_OP_CONV && n->op != ASSAY_OP_FC) || n->n_in < 3)
            continue;
        assert_int_equal(assay_node_in(s.q, n, 0)->type.elem.bits, 16);
        assert_int_equal(assay_node_in(s.q, n, 2)->type.elem.bits, 64);
        biases++;
    }
    assert_true(wide >= 5 && biases >= 2);
    assert_true(quantized_sqnr(&s, &rng, 0) > 40);
    quantized_drop(&s);
}

/* One bias and one weight tensor for two inputs of different scale: the bias needs a twin. */
static void test_constants_with_two_readers(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(1, 6)), big;
    int w = net_constant(g, &rng, "w", -1, 1, NET_SHAPE(6, 6));
    int b = net_constant(g, &rng, "b", -1, 1, NET_SHAPE(6));
    int y = net_node(g, ASSAY_OP_FC, "first", NULL, x, w, b, -2);
    big = net_node(g, ASSAY_OP_FC, "second", NULL, y, w, b, -2);
    net_output(g, big);
    quantized s = quantized_prepare(g, &rng, "tflite");
    quantized_make(&s, (assay_quantize_options){0});
    assert_int_equal(net_producer(s.q, "first")->in[1], net_producer(s.q, "second")->in[1]);
    assert_true(assay_graph_find_value(s.q, "b") >= 0);
    assert_true(assay_graph_find_value(s.q, "b:second") >= 0);
    quantized_drop(&s);
}

/* A bias far beyond the products' range: the weight scale makes room for it. */
static void test_bias_fits(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(1, 6));
    int w = net_constant(g, &rng, "w", -1e-6, 1e-6, NET_SHAPE(2, 6));
    int b = net_constant(g, &rng, "b", 50, 60, NET_SHAPE(2));
    net_output(g, net_node(g, ASSAY_OP_FC, "y", NULL, x, w, b, -2));
    quantized s = quantized_prepare(g, &rng, "tflite");
    quantized_make(&s, (assay_quantize_options){0});
    const assay_value *bias = &s.q->value[assay_graph_find_value(s.q, "b")];
    for (int o = 0; o < 2; o++) {
        int32_t code = ((const int32_t *)bias->data)[o];
        assert_true(code <= 1 << 29);
        double real = (double)bias->type.q.scale[o] * code;
        assert_true(fabs(real - (double)((const float *)g->value[b].data)[o]) < 1e-5);
    }
    quantized_drop(&s);
}

/* The largest bias takes the whole of a type that the accumulator has room beside, and of one that
 * it has not a quarter. */
static void test_bias_takes_its_range(void **state)
{
    static const struct {
        const char *types;
        int64_t max;
    } cases[] = {
        {"types: {bias_bits: 8}", 127},
        {"types: {bias_bits: 12}", 2047},
        {"types: {bias_bits: 16}", 32767},
        {"types: {bias_bits: 24}", 8388607},
        {"types: {bias_bits: 16}\naccumulator: {bits: 17}", 8192},
        {"types: {bias_bits: 16}\naccumulator: {bits: 18}", 32767},
        {"types: {bias_bits: 32}", 1 << 29},
    };
    char path[700], dir[600], text[300];
    test_rng rng = rng_of(state);
    test_temp_dir(dir, sizeof dir);
    snprintf(path, sizeof path, "%s/bias.yaml", dir);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_graph *g = net_new();
        int64_t max = 0;
        snprintf(text, sizeof text, "scheme: bias\nextends: npu16\n%s\n", cases[i].types);
        test_write_file(path, text, strlen(text));
        int x = net_input(g, "x", NET_SHAPE(1, 6));
        int w = net_constant(g, &rng, "w", -1e-6, 1e-6, NET_SHAPE(2, 6));
        int b = net_constant(g, &rng, "b", 50, 60, NET_SHAPE(2));
        net_output(g, net_node(g, ASSAY_OP_FC, "y", NULL, x, w, b, -2));
        quantized s = quantized_prepare(g, &rng, path);
        quantized_make(&s, (assay_quantize_options){0});
        const assay_value *bias = &s.q->value[assay_graph_find_value(s.q, "b")];
        for (size_t o = 0; o < 2; o++) {
            const int64_t code = assay_elem_get(bias->type.elem, bias->data, o);
            max = code > max ? code : max;
        }
        if (max > cases[i].max || max < cases[i].max - 1 - cases[i].max / 1000)
            fail_msg("%s: the largest bias is %lld of %lld", cases[i].types, (long long)max,
                     (long long)cases[i].max);
        quantized_drop(&s);
    }
    test_remove_tree(dir);
}

static void test_transposed_convolution_axis(void **state)
{
    test_rng rng = rng_of(state);
    for (int64_t group = 1; group <= 2; group++) {
        assay_graph *g = net_new();
        assay_attrs attr = {.conv = {.group = group}};
        int x = net_input(g, "x", NET_SHAPE(1, 4, 3, 3));
        net_output(g,
                   net_node(g, ASSAY_OP_CONV_TRANSPOSE, "y", &attr, x,
                            net_constant(g, &rng, "w", -1, 1, NET_SHAPE(4, 6 / group, 2, 2)), -2));
        quantized s = quantized_prepare(g, &rng, "tflite");
        quantized_make(&s, (assay_quantize_options){0});
        const assay_qparams *q = &quantized_type(&s, "w")->q;
        assert_int_equal(q->granularity, group == 1 ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR);
        assert_int_equal(q->count, group == 1 ? 6 : 1);
        assert_int_equal(q->axis, group == 1 ? 1 : 0);
        assert_true(quantized_sqnr(&s, &rng, 0) > 24);
        quantized_drop(&s);
    }
}

static void test_integer_io(void **state)
{
    test_rng rng = rng_of(state);
    quantized s = quantized_prepare(quantized_classifier(&rng), &rng, "tflite");
    quantized_make(&s, (assay_quantize_options){.integer_io = true});
    assert_int_equal(s.report.n_convert, 0);
    assert_int_equal(quantized_type(&s, "x")->elem.bits, 8);
    assert_string_equal(s.q->value[s.q->output[0]].name, "y");
    assert_string_equal(s.q->value[s.q->output[1]].name, "logits");
    quantized_drop(&s);
}

static void test_power_of_two(void **state)
{
    test_rng rng = rng_of(state);
    quantized s = quantized_prepare(quantized_classifier(&rng), &rng, "tflite");
    quantized_make(
        &s, (assay_quantize_options){.has_symmetry = true,
                                     .activation = {.symmetry = ASSAY_SYMMETRIC_POWER_OF_TWO}});
    for (int v = 0; v < s.q->n_values; v++)
        for (size_t i = 0; i < s.q->value[v].type.q.count; i++) {
            int exponent;
            assert_true(frexpf(s.q->value[v].type.q.scale[i], &exponent) == 0.5f);
        }
    quantized_drop(&s);
}

/* Unsigned activations without zero points: what is never negative starts at code 0, the rest goes
 * to the signed type of the same width. */
static void test_unsigned_without_zero_point(void **state)
{
    test_rng rng = rng_of(state);
    quantized s = quantized_prepare(quantized_classifier(&rng), &rng, "finn-threshold");
    quantized_make(&s, (assay_quantize_options){0});
    assert_true(quantized_type(&s, "x:q")->elem.is_signed);
    assert_false(quantized_type(&s, "relu1")->elem.is_signed);
    assert_true(quantized_type(&s, "sum")->elem.is_signed);
    for (int v = 0; v < s.q->n_values; v++)
        for (size_t i = 0; i < s.q->value[v].type.q.count; i++)
            assert_int_equal(s.q->value[v].type.q.zero_point[i], 0);
    assert_true(quantized_sqnr(&s, &rng, 1) > 8); /* 4 bits */
    quantized_drop(&s);
}

static void test_refusals(void **state)
{
    test_rng rng = rng_of(state);
    quantized s = quantized_prepare(quantized_classifier(&rng), &rng, "tflite"),
              other = quantized_prepare(quantized_classifier(&rng), &rng, "npu16");
    const assay_precision_rule nobody[] = {{"conv9", assay_f32()}},
                               wide[] = {{"*", assay_int(24, true)}};
    assay_quantize_options none = {0}, unmatched = {.precision = nobody, .n_precision = 1},
                           too_wide = {.precision = wide, .n_precision = 1},
                           asymmetric = {.has_symmetry = true,
                                         .activation = {.symmetry = ASSAY_ASYMMETRIC}};
    assay_graph *q;
    assay_error err;
    assert_refused(quantize_network(s.g, other.profile, s.scheme, &none, &q, NULL, &err), &err,
                   "other weights");
    assert_refused(quantize_network(s.g, s.profile, s.scheme, &unmatched, &q, NULL, &err), &err,
                   "conv9");
    assert_refused(quantize_network(s.g, s.profile, s.scheme, &too_wide, &q, NULL, &err), &err,
                   "2 to 16 bits");
    assert_refused(
        quantize_network(other.g, other.profile, other.scheme, &asymmetric, &q, NULL, &err), &err,
        "npu16");
    ((float *)(uintptr_t)s.g->value[assay_graph_find_value(s.g, "wf")].data)[7] = NAN;
    assay_profile *p;
    assert_ok(profile_new(s.g, &p, &err), &err);
    float x[1] = {1};
    for (int v = 0; v < s.g->n_values; v++)
        profile_observe(p, v, x, 1);
    assert_refused(quantize_network(s.g, p, s.scheme, &none, &q, NULL, &err), &err,
                   "constant 'wf': element 7");
    assert_null(q);
    profile_free(p);
    quantized_drop(&s);
    quantized_drop(&other);
}

int main(void)
{
    test_rng rng = test_seed("quantize_params", 20261121);
    void *state = &rng;
#define WITH_RNG(test) cmocka_unit_test_prestate(test, state)
    const struct CMUnitTest tests[] = {
        WITH_RNG(test_concat),
        WITH_RNG(test_embedding),
        WITH_RNG(test_precision_rules),
        WITH_RNG(test_wide_tflite),
        WITH_RNG(test_constants_with_two_readers),
        WITH_RNG(test_bias_fits),
        WITH_RNG(test_bias_takes_its_range),
        WITH_RNG(test_transposed_convolution_axis),
        WITH_RNG(test_integer_io),
        WITH_RNG(test_power_of_two),
        WITH_RNG(test_unsigned_without_zero_point),
        WITH_RNG(test_refusals),
    };
    return cmocka_run_group_tests_name("quantize_params", tests, NULL, NULL);
}
