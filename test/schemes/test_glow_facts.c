/* Facts about Glow and graphs (schemes/SOURCES.md); and that a profile
 * of one lowering serves another. */
#include "test/support/rewrite_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/kernel/kernel.h"
#include "interp/run/evaluate.h"
#include "opt/lower/opt.h"
#include "opt/quantize/quantize.h"
#include "test/support/net.h"

/* Runs a network with one input and one output. */
static void run(const char *scheme, const char *text, const void *x, void *y)
{
    assay_graph *g;
    assay_scheme *s;
    assay_error err;
    assert_ok(text_graph_parse(text, strlen(text), "text", NULL, &g, &err), &err);
    assert_ok(assay_scheme_open(scheme, &s, &err), &err);
    assert_ok(run_whole_graph(g, s, (const void *const[]){x}, (void *const[]){y}, &err), &err);
    assay_graph_free(g);
    assay_scheme_free(s);
}

static void fact_13_chains_saturate_at_the_intersection(void **state)
{
    const uint8_t x[3] = {35, 12, 4};
    uint8_t y[3];
    assay_error err;
    (void)state;
    rewrite_outcome o = rewrite_run("tflite", "graph t { input x: u8[3] q(0.1,0)\n"
                                              "a: u8[3] q(0.1,0) = rescale(x) codes[10,30]\n"
                                              "b: u8[3] q(0.1,0) = rescale(a) codes[0,40]\n"
                                              "c: u8[3] q(0.1,0) = rescale(b) codes[20,40]\n"
                                              " output c }");
    assert_int_equal(o.after->n_nodes, 1);
    assert_ok(
        run_whole_graph(o.after, o.scheme, (const void *const[]){x}, (void *const[]){y}, &err),
        &err);
    assert_memory_equal(y, ((uint8_t[]){30, 20, 20}), 3);
    rewrite_finish(&o);
}

static void fact_14_a_clipping_rescale_before_dequantize_stays(void **state)
{
    (void)state;
    rewrite_expect_refused("glow-interp",
                           "graph t { input x: i8[4] q(0.5,0) a: i8[4] q(0.25,0) = rescale(x)\n"
                           "f: f32[4] = dequantize(a) output f }",
                           "absorb-down: f after a: refused", "became");
}

static void fact_15_a_users_quantize_dequantize_still_rounds(void **state)
{
    const char text[] = "graph t { input x: f32[1] q: i8[1] q(0.1,0) = quantize(x)\n"
                        "f: f32[1] = dequantize(q) output f }";
    const float x = 1000;
    float y;
    assay_error err;
    (void)state;
    rewrite_outcome o = rewrite_run("glow-interp", text);
    assert_int_equal(o.report.applied, 0);
    assert_ok(
        run_whole_graph(o.after, o.scheme, (const void *const[]){&x}, (void *const[]){&y}, &err),
        &err);
    assert_float_equal(y, 12.7f, 1e-5);
    rewrite_finish(&o);
}

#define POOL(kind)                                                                                 \
    "graph t { input x: i8[1,1,4,4] q(0.1,0) a: i8[1,1,4,4] q(0.13,5) = rescale(x)\n"              \
    "b: i8[1,1,2,2] q(0.13,5) = " kind "(a) {kernel=[2,2],stride=[2,2]} output b }"

static void fact_16_rescales_pass_max_pool_but_not_average_pool(void **state)
{
    (void)state;
    rewrite_expect_exact("glow-interp", POOL("max_pool"), "sink-order: b after a: exact",
                         "max_pool(x)", "max_pool(a)");
    rewrite_expect_refused("glow-interp", POOL("avg_pool"), "sink-average: b after a: refused",
                           "became");
}

static void fact_17_a_convolution_does_not_swallow_a_rescale(void **state)
{
    (void)state;
    rewrite_expect_refused("glow-interp",
                           "graph t { input x: i8[1,1,3,3] q(0.2,0) a: i8[1,1,3,3] q(0.1,0) = "
                           "rescale(x)\n" REWRITE_CONV_PARTS
                           "c: i8[1,2,2,2] q(0.5,0) = conv(a,w,b) {kernel=[2,2]} output c }",
                           "absorb-down-weighted: c after a: refused", "became");
}

/* ---- profiles and lowerings ---- */

static void take_sample(assay_profile *p, const assay_graph *g, test_rng *r, uint64_t sample)
{
    assay_graph *copy;
    assay_error err;
    float *x = net_random_input(r, g, 0);
    assert_ok(assay_graph_clone(g, &copy, &err), &err);
    net_run(copy, (const float *const[]){x});
    for (int v = 0; v < g->n_values; v++)
        profile_observe(p, v, copy->value[v].data, (size_t)assay_shape_count(&g->value[v].type));
    assert_ok(profile_add_sample(p, sample, &err), &err);
    assay_graph_free(copy);
    free(x);
}

static assay_profile *profile_of(const assay_graph *g)
{
    test_rng r = {7};
    assay_profile *p;
    assay_error err;
    assert_ok(profile_new(g, &p, &err), &err);
    for (uint64_t i = 0; i < 16; i++)
        take_sample(p, g, &r, i);
    return p;
}

/* A layer y = x * W^T + b, whole or in its parts, with W as it is or behind a transpose and a
 * reshape; `batch` rows, and beside it a branch that has nothing to do with it. */
static assay_graph *layer(bool whole, bool behind, int64_t batch, bool branch)
{
    test_rng r = {11};
    assay_graph *g = net_new();
    assay_error err;
    int x = net_input(g, "x", NET_SHAPE(batch, 6)), w, y;
    if (behind) { /* [2,3,4] -> [4,6]: the same numbers for every form */
        assay_attrs turn = {.perm = {.perm = {3, {2, 0, 1}}}},
                    flat = {.shape = {.shape = {2, {4, 6}}}};
        w = net_constant(g, &r, "W.stored", -1, 1, NET_SHAPE(2, 3, 4));
        w = net_node(g, ASSAY_OP_TRANSPOSE, "W.turned", &turn, w, -2);
        w = net_node(g, ASSAY_OP_RESHAPE, "W", &flat, w, -2);
    } else {
        w = net_constant(g, &r, "W", -1, 1, NET_SHAPE(4, 6));
        float *data = (float *)(uintptr_t)g->value[w].data, stored[24];
        memcpy(stored, data, sizeof stored);
        for (int i = 0; i < 24; i++)
            data[i] = stored[i % 6 * 4 + i / 6];
    }
    int b = net_constant(g, &r, "b", -1, 1, NET_SHAPE(4));
    if (whole) {
        y = net_node(g, ASSAY_OP_FC, "y", NULL, x, w, b, -2);
    } else {
        assay_attrs turn = {.perm = {.perm = {2, {1, 0}}}};
        w = net_node(g, ASSAY_OP_TRANSPOSE, "W.t", &turn, w, -2);
        y = net_node(g, ASSAY_OP_MATMUL, "product", NULL, x, w, -2);
        y = net_node(g, ASSAY_OP_ADD, "y", NULL, y, b, -2);
    }
    net_output(g, net_node(g, ASSAY_OP_RELU, "z", NULL, y, -2));
    if (branch)
        net_output(g, net_node(g, ASSAY_OP_TANH, "aside", NULL, x, -2));
    assert_ok(lower_canonicalize(g, run_evaluate_node, &err), &err);
    return g;
}

static assay_graph *quantized(const assay_graph *g, const assay_profile *p, const assay_scheme *s)
{
    const assay_quantize_options options = {.has_kernel = run_has_integer_kernel};
    assay_quantize_report report;
    assay_graph *q;
    assay_error err;
    assert_ok(quantize_network(g, p, s, &options, &q, &report, &err), &err);
    assert_int_equal(report.n_float, 0);
    quantize_report_free(&report);
    return q;
}

/* The first row of z from one input row. */
static void first_row(const assay_graph *q, const assay_scheme *s, const float *row, float z[4])
{
    assay_error err;
    int64_t batch = q->value[q->input[0]].type.dim[0];
    float x[60], y[40], aside[60];
    for (int64_t i = 0; i < batch; i++)
        memcpy(x + 6 * i, row, 6 * sizeof *x);
    assert_ok(run_whole_graph(q, s, (const void *const[]){x}, (void *const[]){y, aside}, &err),
              &err);
    memcpy(z, y, 4 * sizeof *z);
}

/* The form is quantized with the profile of the whole layer, batch 1, and gives its bits. */
static void expect_same_bits(bool whole, bool behind, int64_t batch, bool branch)
{
    test_rng r = test_seed("expect_same_bits", 5);
    assay_graph *g = layer(true, false, 1, false), *other = layer(whole, behind, batch, branch);
    assay_profile *p = profile_of(branch ? other : g);
    assay_scheme *s;
    assay_error err;
    assert_ok(assay_scheme_open("tflite", &s, &err), &err);
    assert_ok(profile_check(p, g, &err), &err);
    assert_ok(profile_check(p, other, &err), &err);
    assay_graph *q = quantized(g, p, s), *o = quantized(other, p, s);
    for (int i = 0; i < 50; i++) {
        float *row = net_random_input(&r, g, 0), a[4], b[4];
        first_row(q, s, row, a);
        first_row(o, s, row, b);
        assert_memory_equal(a, b, sizeof a);
        free(row);
    }
    assay_graph_free(g);
    assay_graph_free(other);
    assay_graph_free(q);
    assay_graph_free(o);
    profile_free(p);
    assay_scheme_free(s);
}

static void fact_18_a_layer_in_parts_is_requantized_once(void **state)
{
    (void)state;
    expect_same_bits(false, false, 1, false);
}

static void fact_19_weights_behind_movements_are_constants_by_row(void **state)
{
    assay_graph *g = layer(false, true, 1, false);
    assay_profile *p = profile_of(g);
    assay_scheme *s;
    assay_error err;
    (void)state;
    assert_int_equal(net_producer(g, "y")->op, ASSAY_OP_FC);
    assert_ok(assay_scheme_open("tflite", &s, &err), &err);
    assay_graph *q = quantized(g, p, s);
    for (int i = 0; i < q->n_nodes; i++)
        if (q->node[i].op == ASSAY_OP_FC) {
            const assay_value *w = assay_node_in(q, &q->node[i], 1);
            assert_non_null(w->data);
            assert_int_equal(w->type.q.count, 4);
        }
    assay_graph_free(g);
    assay_graph_free(q);
    profile_free(p);
    assay_scheme_free(s);
    expect_same_bits(false, true, 1, false);
    expect_same_bits(true, true, 1, false);
}

/* FC(constant, constant, placeholder), as the arithmetic of its parts and whole. */
static void a_profile_of_one_lowering_serves_another(void **state)
{
    assay_graph *parts = layer(false, false, 1, false), *whole = layer(true, false, 1, false);
    assay_profile *p = profile_of(parts);
    assay_error err;
    (void)state;
    assert_ok(profile_check(p, whole, &err), &err);
    assay_graph_free(parts);
    assay_graph_free(whole);
    profile_free(p);
}

static void a_profile_of_one_batch_serves_another(void **state)
{
    (void)state;
    expect_same_bits(true, false, 5, false);
}

static void a_profile_with_unrelated_nodes_serves(void **state)
{
    (void)state;
    expect_same_bits(true, false, 1, true);
}

static void fact_20_the_mean_of_hundreds_is_a_hundred(void **state)
{
    const int8_t x[4] = {100, 100, 100, 100};
    int8_t y = 0;
    (void)state;
    for (int i = 0; i < 3; i++) {
        run((const char *const[]){"tflite", "glow-interp", "tosa-single"}[i],
            "graph t { input x: i8[1,4] q(0.1,0)\n"
            "y: i8[1,1] q(0.1,0) = reduce_mean(x) {axes=[1]} output y }",
            x, &y);
        assert_int_equal(y, 100);
    }
}

/* Every entry of a table of 16-bit codes is the function of that code's own real value. */
static void fact_23_tables_are_evaluated_at_each_code(void **state)
{
    enum { N = 65536 };
    static int16_t x[N], y[N];
    const float s = 6.0f / 32768;
    char text[200];
    (void)state;
    for (int i = 0; i < N; i++)
        x[i] = (int16_t)(i - 32768);
    snprintf(text, sizeof text,
             "graph t { input x: i16[65536] q(%.9g,0)\n"
             "y: i16[65536] q(0.00048828125,0) = gelu(x) output y }",
             (double)s);
    run("glow-interp", text, x, y);
    assert_int_equal(y[32768], 0);
    for (int i = 0; i < N; i++) {
        double v = (double)s * x[i], f = v / 2 * (1 + erf(v / sqrt(2))) / 0.00048828125;
        if (fabs(f - (double)y[i]) > 0.5 + 1e-3) /* Glow divides by the scale in binary32 */
            fail_msg("code %d: %d, expected %.3f", (int)x[i], (int)y[i], f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fact_13_chains_saturate_at_the_intersection),
        cmocka_unit_test(fact_14_a_clipping_rescale_before_dequantize_stays),
        cmocka_unit_test(fact_15_a_users_quantize_dequantize_still_rounds),
        cmocka_unit_test(fact_16_rescales_pass_max_pool_but_not_average_pool),
        cmocka_unit_test(fact_17_a_convolution_does_not_swallow_a_rescale),
        cmocka_unit_test(fact_18_a_layer_in_parts_is_requantized_once),
        cmocka_unit_test(fact_19_weights_behind_movements_are_constants_by_row),
        cmocka_unit_test(a_profile_of_one_lowering_serves_another),
        cmocka_unit_test(a_profile_of_one_batch_serves_another),
        cmocka_unit_test(a_profile_with_unrelated_nodes_serves),
        cmocka_unit_test(fact_20_the_mean_of_hundreds_is_a_hundred),
        cmocka_unit_test(fact_23_tables_are_evaluated_at_each_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
