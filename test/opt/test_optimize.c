/* Rewrites of rescales: text in, text out, a rule at a time; what must be refused. */
#include "test/support/rewrite_case.h"

#include <stdio.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/run/evaluate.h"

/* Glow (schemes/SOURCES.md): the true saturation is the intersection [2, 3] of all ranges. */
static const char chain[] = "graph t { input x: u8[6] q(0.1,0)\n"
                            "a: u8[6] q(0.1,0) = rescale(x) codes[10,30]\n"
                            "b: u8[6] q(0.1,0) = rescale(a) codes[0,40]\n"
                            "c: u8[6] q(0.1,0) = rescale(b) codes[20,40]\n output c }";

static void merging_saturates_at_the_intersection(void **state)
{
    const uint8_t x[6] = {35, 12, 4, 0, 25, 255};
    uint8_t y[6];
    const void *in = x;
    void *out = y;
    assay_error err;
    rewrite_outcome o = rewrite_run("tflite", chain);
    (void)state;
    rewrite_has(o.text.text, "c: u8[6] q(0.1,0) = rescale(x) codes[20,30]");
    assert_int_equal(o.after->n_nodes, 1);
    assert_ok(run_whole_graph(o.after, o.scheme, &in, &out, &err), &err);
    assert_memory_equal(y, ((uint8_t[]){30, 20, 20, 20, 25, 30}), 6);
    rewrite_certified(&o);
    rewrite_finish(&o);
}

static void merging_is_refused_where_the_first_rounding_shows(void **state)
{
    (void)state;
    rewrite_expect_refused("tflite",
                           "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.3,5) = rescale(x)\n"
                           "b: i8[4] q(0.17,-3) = rescale(a) output b }",
                           "merge-rescales: b after a: refused, differs by 2 LSB", "became");
}

static void identities_go(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.1,0) = rescale(x)\n"
                         "b: i8[4] q(0.1,0) = clip(a) {lo=-100,hi=100}\n"
                         "s: i8[4] q(0.00390625,-128) = sigmoid(b) output s }",
                         "identity: b: exact: 256/256 codes equal", "sigmoid(x)", "clip");
    rewrite_expect_refused("tflite",
                           "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.1,0) = relu(x)\n"
                           "t: i8[4] q(0.1,0) = reverse(a) {axes=[0]} output t }",
                           "identity: a: refused, differs by 128 LSB", "became");
}

static void quantize_after_dequantize(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.3,5) = rescale(x)\n"
                         "f: f32[4] = dequantize(a) b: i8[4] q(0.3,5) = quantize(f) output b }",
                         "quantize-dequantized: b after f: exact", "b: i8[4] q(0.3,5) = rescale(x)",
                         "quantize");
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[4] q(0.1,0)\n"
                         "f: f32[4] = dequantize(x) b: u8[4] q(0.1,128) = quantize(f) output b }",
                         "quantize-dequantized: b after f: exact: 256/256", "= rescale(x)",
                         "quantize");
}

static void a_pair_in_a_users_network_still_rounds(void **state)
{
    (void)state;
    rewrite_expect_refused("tflite",
                           "graph t { input x: f32[4] q: i8[4] q(0.1,0) = quantize(x)\n"
                           "f: f32[4] = dequantize(q) y: f32[4] = neg(f) output y }",
                           "dequantize-quantized: f after q: refused, not proved", "became");
}

static void rescale_into_dequantize(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[4] q(0.5,0) a: u8[4] q(0.5,128) = rescale(x)\n"
                         "f: f32[4] = dequantize(a) output f }",
                         "absorb-down: f after a: exact: 256/256 codes equal", "dequantize(x)",
                         "rescale");
    rewrite_expect_refused("tflite",
                           "graph t { input x: i8[4] q(0.5,0) a: i8[4] q(0.5,20) = rescale(x)\n"
                           "f: f32[4] = dequantize(a) output f }",
                           "absorb-down: f after a: refused", "became");
}

static void rescales_sink_below_what_moves(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[2,3] q(0.1,0) a: i8[2,3] q(0.3,5) = rescale(x)\n"
                         "b: i8[3,2] q(0.3,5) = transpose(a) {perm=[1,0]}\n"
                         "c: i8[6] q(0.3,5) = reshape(b) {shape=[6]} output c }",
                         "sink-move: c after", "c: i8[6] q(0.3,5) = rescale(", "reshape(a)");
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[2] q(0.1,0) input z: i8[3] q(0.1,0)\n"
                         "a: i8[2] q(0.3,5) = rescale(x) b: i8[3] q(0.3,5) = rescale(z)\n"
                         "c: i8[5] q(0.3,5) = concat(a, b) output c }",
                         "sink-move: c after a: exact", "concat(x, z)", "concat(a");
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.3,5) = rescale(x)\n"
                         "c: i8[6] q(0.3,5) = pad(a) {begin=[1],end=[1]} output c }",
                         "sink-move: c after a: exact", "pad(x)", "pad(a)");
}

static void padding_that_would_be_rescaled_is_refused(void **state)
{
    (void)state;
    rewrite_expect_refused("tflite",
                           "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.3,5) = rescale(x)\n"
                           "c: i8[6] q(0.3,5) = pad(a) {begin=[1],end=[1],value=-inf} output c }",
                           "sink-move: c after a: refused", "became");
}

static const char pool[] = "graph t { input x: i8[1,1,4,4] q(0.1,0)\n"
                           "a: i8[1,1,4,4] q(0.13,5) = rescale(x)\n"
                           "b: i8[1,1,2,2] q(0.13,5) = %s(a) {kernel=[2,2],stride=[2,2]}\n"
                           "output b }";

static void rescales_sink_below_max_pool_only(void **state)
{
    char text[400];
    (void)state;
    snprintf(text, sizeof text, pool, "max_pool");
    rewrite_expect_exact("tflite", text, "sink-order: b after a: exact: 256/256 codes in order",
                         "max_pool(x)", "max_pool(a)");
    snprintf(text, sizeof text, pool, "avg_pool");
    rewrite_outcome o = rewrite_run("tflite", text);
    assert_int_equal(o.report.applied, 0);
    rewrite_finish(&o);
}

static void rescales_sink_below_a_choice_of_two(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[4] q(0.1,0) input z: i8[4] q(0.1,0)\n"
                         "a: i8[4] q(0.3,5) = rescale(x) b: i8[4] q(0.3,5) = rescale(z)\n"
                         "c: i8[4] q(0.3,5) = max(a, b) output c }",
                         "exact: 65536/65536 pairs of codes equal", "max(x, z)", "max(a");
}

static void binary_ops_take_over_rescales(void **state)
{
    (void)state;
    rewrite_expect_exact(
        "tflite",
        "graph t { input x: i8[4] q(0.1,0) input z: i8[4] q(0.1,0)\n"
        "a: u8[4] q(0.1,128) = rescale(x) c: i8[4] q(0.2,0) = mul(a, z) output c }",
        "absorb-down: c after a", "mul(x, z)", "rescale");
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[4] q(0.1,0) input z: i8[4] q(0.2,0)\n"
                         "c: i8[4] q(0.2,0) = mul(x, z) r: i8[4] q(0.2,0) = relu(c) output r }",
                         "absorb-up: r after c: exact: 65536/65536", "mul(x, z) codes[0,127]",
                         "relu");
    rewrite_expect_refused(
        "tflite",
        "graph t { input x: i8[4] q(0.1,0) input z: i8[4] q(0.3,4)\n"
        "c: i8[4] q(0.2,0) = add(x, z) r: i8[4] q(0.31,7) = rescale(c) output r }",
        "absorb-up: r after c: refused, differs by 1 LSB", "became");
}

static void convolutions_take_over_what_follows(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[1,1,3,3] q(0.1,0)\n" REWRITE_CONV_PARTS
                         "c: i8[1,2,2,2] q(0.5,0) = conv(x,w,b) {kernel=[2,2]}\n"
                         "r: u8[1,2,2,2] q(0.5,128) = rescale(c) output r }",
                         "absorb-up-weighted: r after c: exact: reachable [",
                         "r: u8[1,2,2,2] q(0.5,128) = conv(x, w, b)", "rescale");
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[1,1,3,3] q(0.1,0)\n" REWRITE_CONV_PARTS
                         "c: i8[1,2,2,2] q(0.5,0) = conv(x,w,b) {kernel=[2,2]}\n"
                         "r: i8[1,2,2,2] q(0.5,0) = relu(c) output r }",
                         "absorb-up-weighted: r after c: exact", "codes[0,127]", "relu");
    rewrite_expect_refused("tflite",
                           "graph t { input x: i8[1,1,3,3] q(0.1,0)\n" REWRITE_CONV_PARTS
                           "c: i8[1,2,2,2] q(0.2,0) = conv(x,w,b) {kernel=[2,2]}\n"
                           "r: i8[1,2,2,2] q(0.33,3) = rescale(c) output r }",
                           "absorb-up-weighted: r after c: refused, differs by 1 LSB",
                           "accumulator");
}

static void convolutions_read_past_a_shift_of_the_zero_point_only(void **state)
{
    (void)state;
    rewrite_expect_exact("tosa-single",
                         "graph t { input x: i8[1,1,3,3] q(0.1,0) a: u8[1,1,3,3] q(0.1,128) = "
                         "rescale(x)\n" REWRITE_CONV_PARTS
                         "c: i8[1,2,2,2] q(0.5,0) = conv(a,w,b) {kernel=[2,2]} output c }",
                         "absorb-down-weighted: c after a: exact: reachable [", "conv(x",
                         "rescale");
    rewrite_expect_refused("tflite",
                           "graph t { input x: i8[1,1,3,3] q(0.2,0) a: i8[1,1,3,3] q(0.1,0) = "
                           "rescale(x)\n" REWRITE_CONV_PARTS
                           "c: i8[1,2,2,2] q(0.5,0) = conv(a,w,b) {kernel=[2,2]} output c }",
                           "absorb-down-weighted: c after a: refused", "became");
}

static void bounded_mode_applies_within_the_bound(void **state)
{
    const char text[] = "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.15,5) = rescale(x)\n"
                        "b: i8[4] q(0.17,-3) = rescale(a) output b }";
    (void)state;
    rewrite_outcome o = rewrite_with(
        "tflite", text, &(assay_optimize_options){.allow = ASSAY_ALLOW_BOUNDED, .bound = 1});
    rewrite_has(o.log.text, "merge-rescales: b after a: bounded by 1 LSB");
    assert_int_equal(o.report.applied, 1);
    rewrite_certified(&o);
    rewrite_finish(&o);
    o = rewrite_with("tflite", text,
                     &(assay_optimize_options){.allow = ASSAY_ALLOW_BOUNDED, .bound = 0});
    assert_int_equal(o.report.applied, 0);
    rewrite_finish(&o);
}

static void passes_are_chosen_by_name(void **state)
{
    assay_optimize_report report;
    assay_scheme *s;
    assay_graph *g;
    assay_error err;
    (void)state;
    rewrite_outcome o =
        rewrite_with("tflite", chain, &(assay_optimize_options){.passes = "identity"});
    assert_int_equal(o.report.applied, 0);
    rewrite_finish(&o);
    assert_ok(assay_scheme_open("tflite", &s, &err), &err);
    assert_ok(text_graph_parse(chain, strlen(chain), "text", NULL, &g, &err), &err);
    assay_optimize_options options = {.passes = "identity,merge", .run = run_whole_graph};
    assert_refused(rewrite_optimize(g, s, &options, &report, &err), &err, "no pass 'merge'");
    assay_graph_free(g);
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging_saturates_at_the_intersection),
        cmocka_unit_test(merging_is_refused_where_the_first_rounding_shows),
        cmocka_unit_test(identities_go),
        cmocka_unit_test(quantize_after_dequantize),
        cmocka_unit_test(a_pair_in_a_users_network_still_rounds),
        cmocka_unit_test(rescale_into_dequantize),
        cmocka_unit_test(rescales_sink_below_what_moves),
        cmocka_unit_test(padding_that_would_be_rescaled_is_refused),
        cmocka_unit_test(rescales_sink_below_max_pool_only),
        cmocka_unit_test(rescales_sink_below_a_choice_of_two),
        cmocka_unit_test(binary_ops_take_over_rescales),
        cmocka_unit_test(convolutions_take_over_what_follows),
        cmocka_unit_test(convolutions_read_past_a_shift_of_the_zero_point_only),
        cmocka_unit_test(bounded_mode_applies_within_the_bound),
        cmocka_unit_test(passes_are_chosen_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
