/* Rewrites of the graph, of movements, averages and floats: text in, text out; what must be
 * refused.
 */
#include "test/support/rewrite_case.h"

#include <stdio.h>
#include <string.h>

static void the_same_node_twice_is_one(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[1,1,3,3] q(0.1,0)\n" REWRITE_CONV_PARTS
                         "c: i8[1,2,2,2] q(0.5,0) = conv(x,w,b) {kernel=[2,2]}\n"
                         "d: i8[1,2,2,2] q(0.5,0) = conv(x,w,b) {kernel=[2,2]}\n"
                         "e: i8[1,2,2,2] q(0.5,0) = add(c,d) output e }",
                         "common: d after c: exact: the same op, attributes and inputs",
                         "add(c, c)", "d:");
    rewrite_outcome o = rewrite_run("tflite", "graph t { input x: i8[4] q(0.1,0)\n"
                                              "a: i8[4] q(0.2,0) = rescale(x)\n"
                                              "b: i8[4] q(0.2,1) = rescale(x) output a output b }");
    assert_int_equal(o.report.applied, 0);
    rewrite_finish(&o);
}

static void constants_are_computed_once(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[3] q(0.1,0) const k: i8[3] q(0.1,0) = [10,-20,30]\n"
                         "r: i8[3] q(0.2,1) = rescale(k)\n"
                         "y: i8[3] q(0.2,0) = add(x,r) output y }",
                         "constant: r: exact: 3 elements computed",
                         "const r: i8[3] q(0.2,1) = [6,-9,16]", "rescale");
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[2,3] q(0.1,0) const k: i8[3,2] q(0.1,0) = "
                         "[1,2,3,4,5,6]\n"
                         "r: i8[2,3] q(0.1,0) = transpose(k) {perm=[1,0]}\n"
                         "y: i8[2,3] q(0.2,0) = add(x,r) output y }",
                         "constant: r: exact: 6 elements computed", "[1,3,5,2,4,6]", "transpose");
}

static void moves_merge_and_cancel(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[2,3,4] q(0.1,0)\n"
                         "a: i8[4,2,3] q(0.1,0) = transpose(x) {perm=[2,0,1]}\n"
                         "r: i8[4,2,3] q(0.1,0) = relu(a)\n"
                         "b: i8[2,3,4] q(0.1,0) = transpose(r) {perm=[1,2,0]} output b }",
                         "merge-moves: b: exact: 24/24 elements come from the same place",
                         "b: i8[2,3,4] q(0.1,0) = relu(x)", "transpose");
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[2,3,4] q(0.1,0)\n"
                         "a: i8[6,4] q(0.1,0) = reshape(x) {shape=[6,4]}\n"
                         "b: i8[4,6] q(0.1,0) = reshape(a) {shape=[4,6]} output b }",
                         "merge-moves: b after a: exact", "reshape(x) {shape=[4,6]}", "[6,4]");
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[1,3,1,4] q(0.1,0)\n"
                         "a: i8[3,1,1,4] q(0.1,0) = transpose(x) {perm=[1,0,2,3]} output a }",
                         "merge-moves: a: exact", "reshape(x) {shape=[3,1,1,4]}", "transpose");
}

static void transposes_sink_below_two_operands(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[2,3] q(0.1,0) input z: i8[2,3] q(0.2,3)\n"
                         "a: i8[3,2] q(0.1,0) = transpose(x) {perm=[1,0]}\n"
                         "b: i8[3,2] q(0.2,3) = transpose(z) {perm=[1,0]}\n"
                         "c: i8[3,2] q(0.3,0) = add(a,b)\n"
                         "d: i8[2,3] q(0.3,0) = transpose(c) {perm=[1,0]} output d }",
                         "sink-transpose: c after a: exact: the node works element by element",
                         "d: i8[2,3] q(0.3,0) = add(x, z)", "transpose");
}

#define PAD_CONV(value)                                                                            \
    "graph t { input x: i8[1,1,3,3] q(0.1,5)\n" REWRITE_CONV_PARTS                                 \
    "p: i8[1,1,5,5] q(0.1,5) = pad(x) {begin=[0,0,1,1],end=[0,0,1,1]" value "}\n"                  \
    "c: i8[1,2,4,4] q(0.5,0) = conv(p,w,b) {kernel=[2,2]} output c }"

static void padding_goes_into_convolutions_where_it_is_the_zero_point(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite", PAD_CONV(""),
                         "pad-into-conv: c after p: exact: the padding is the zero point 5",
                         "pad_begin=[1,1]", "pad(");
    rewrite_expect_refused("tflite", PAD_CONV(",value=-inf"), "pad-into-conv: c after p: refused",
                           "padding: -128 became 5");
}

static void the_lesser_of_a_code_and_a_number_is_a_bound(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[4] q(0.1,0) const lo: i8[1] q(0.1,0) = [-30]\n"
                         "const hi: i8[1] q(0.1,0) = [60]\n"
                         "a: i8[4] q(0.1,0) = max(x,lo) b: i8[4] q(0.1,0) = min(hi,a) output b }",
                         "choice-to-clip: b: exact", "b: i8[4] q(0.1,0) = rescale(x) codes[-30,60]",
                         "min(");
}

static void bounds_go_up_into_the_layer(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[1,1,3,3] q(0.1,0)\n" REWRITE_CONV_PARTS
                         "const lo: i8[1] q(0.5,0) = [-3] const hi: i8[1] q(0.5,0) = [9]\n"
                         "c: i8[1,2,2,2] q(0.5,0) = conv(x,w,b) {kernel=[2,2]}\n"
                         "d: i8[1,2,2,2] q(0.5,0) = max(c,lo)\n"
                         "e: i8[1,2,2,2] q(0.5,0) = min(d,hi) output e }",
                         "absorb-up-weighted: ", "conv(x, w, b) codes[-3,9]", "max(");
}

static void chains_become_one_table(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[4] q(0.1,3)\n"
                         "a: i8[4] q(0.00390625,-128) = sigmoid(x)\n"
                         "b: i8[4] q(0.05,1) = square(a)\n"
                         "f: f32[4] = dequantize(b) c: u8[4] q(0.07,9) = quantize(f) output c }",
                         "table: c after b: exact: 256/256 codes equal", "= lookup(x, \"c:table\")",
                         "square");
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[4] q(0.1,3) const t: i4[16] = "
                         "[1,2,3,4,5,6,7,0,-1,-2,-3,-4,-5,-6,-7,-8]\n"
                         "a: i4[4] q(0.5,0) = rescale(x) b: i4[4] q(0.5,0) = lookup(a,t)\n"
                         "c: i8[4] q(0.1,0) = neg(b) output c }",
                         "table: c after ", "lookup(x,", "neg");
    rewrite_outcome o =
        rewrite_run("tflite", "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.3,5) = rescale(x)\n"
                              "b: i8[4] q(0.17,-3) = rescale(a) output b }");
    rewrite_lacks(o.log.text, "table"); /* no table for rescales alone */
    rewrite_finish(&o);
}

#define AVERAGE(a_params, tail)                                                                    \
    "graph t { input x: i8[1,1,4,4] q(0.1,0)\n"                                                    \
    "a: " a_params " = rescale(x)\n" tail

static void rescales_sink_below_averages_where_no_sum_tells(void **state)
{
    const char shift[] =
        AVERAGE("i8[1,1,4,4] q(0.1,5)",
                "b: i8[1,1,2,2] q(0.1,5) = avg_pool(a) {kernel=[2,2],stride=[2,2]}\n"
                "t: i8[1,1,2,2] q(0.0078125,0) = tanh(b) output t }");
    const char scale[] =
        AVERAGE("i8[1,1,4,4] q(0.13,5)",
                "b: i8[1,1,2,2] q(0.13,5) = avg_pool(a) {kernel=[2,2],stride=[2,2]}\n"
                "output b }");
    (void)state;
    /* u8 of the same scale: no code saturates, and the target rounds about the zero point */
    rewrite_expect_exact("tosa-single",
                         "graph t { input x: i8[1,1,4,4] q(0.1,0)\n"
                         "a: u8[1,1,4,4] q(0.1,128) = rescale(x)\n"
                         "b: u8[1,1,2,2] q(0.1,128) = avg_pool(a) {kernel=[2,2],stride=[2,2]}\n"
                         "output b }",
                         "sink-average: b after a: exact: 1021 pairs of sums equal", "avg_pool(x)",
                         "avg_pool(a)");
    rewrite_expect_refused("tflite", scale, "sink-average: b after a: refused, differs by",
                           "cells: ");
    rewrite_outcome o = rewrite_run("tflite", shift); /* +5 saturates at 127 */
    rewrite_has(o.log.text, "sink-average: b after a: refused");
    rewrite_finish(&o);
}

static void averages_take_over_what_follows(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[1,1,4,4] q(0.1,3)\n"
                         "b: i8[1,1,4,4] q(0.1,3) = avg_pool(x) {kernel=[3,3],stride=[1,1],"
                         "pad_begin=[1,1],pad_end=[1,1]}\n"
                         "r: i8[1,1,4,4] q(0.1,3) = relu(b) output r }",
                         "absorb-up-average: r after b: exact", "codes[3,127]", "relu");
}

static void a_mean_over_space_is_a_pool_where_it_gives_the_same(void **state)
{
    (void)state;
    rewrite_expect_exact("tosa-single",
                         "graph t { input x: i8[1,2,3,3] q(0.1,3)\n"
                         "m: i8[1,2,1,1] q(0.1,3) = reduce_mean(x) {axes=[2,3]} output m }",
                         "mean-to-pool: m: exact: 2296 sums equal", "global_avg_pool(x)", "mean");
}

static void quantize_takes_over_what_follows(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: f32[4] q: i8[4] q(0.1,3) = quantize(x)\n"
                         "r: i8[4] q(0.1,3) = relu(q) output r }",
                         "absorb-up-quantize: r after q: exact: thresholds equal over all floats",
                         "r: i8[4] q(0.1,3) = quantize(x) codes[3,127]", "relu");
    rewrite_expect_refused("tflite",
                           "graph t { input x: f32[4] q: i8[4] q(0.1,3) = quantize(x)\n"
                           "r: i8[4] q(0.17,0) = rescale(q) output r }",
                           "absorb-up-quantize: r after q: refused, differs by", "became");
}

/* 4-bit codes in front: the rescale doubles, and no code saturates. */
#define DOUBLED(bias)                                                                              \
    "graph t { input x: i4[1,1,3,3] q(0.25,0)\n"                                                   \
    "const w: i8[1,1,2,2] q(0.0078125,0) = [1,2,3,4]\n"                                            \
    "const b: i32[1] q(0.0009765625,0) = [" bias "]\n"                                             \
    "a: i8[1,1,3,3] q(0.125,0) = rescale(x)\n"                                                     \
    "c: i8[1,1,2,2] q(0.015625,0) = conv(a,w,b) {kernel=[2,2]} output c }"

static void a_bias_is_rescaled_where_it_divides(void **state)
{
    (void)state;
    rewrite_expect_exact("tosa-single", DOUBLED("100"),
                         "absorb-down-weighted: c after a: exact: reachable [", "= [50]",
                         "rescale(x)");
    rewrite_expect_refused("tosa-single", DOUBLED("101"),
                           "absorb-down-weighted: c after a: refused",
                           "bias 101 of channel 0 became 50 times 2");
}

static void a_bias_that_would_overflow_is_refused(void **state)
{
    (void)state;
    rewrite_expect_refused(
        "tflite",
        "graph t { input x: i8[1,1,3,3] q(0.001,0) a: i8[1,1,3,3] q(0.1,0) = rescale(x)\n"
        "const w: i8[2,1,2,2] q(axis=0,[0.01,0.02],[0,0]) = [1,2,3,4,-90,100,-110,120]\n"
        "const b: i32[2] q(axis=0,[0.001,0.002],[0,0]) = [100000000,0]\n"
        "c: i8[1,2,2,2] q(0.5,0) = conv(a,w,b) {kernel=[2,2]} output c }",
        "absorb-down-weighted: c after a: refused", "bias 100000000 became");
}

static void rescales_sink_below_splits(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[4,2] q(0.1,0) a: i8[4,2] q(0.3,5) = rescale(x)\n"
                         "b: i8[2,2] q(0.3,5), c: i8[2,2] q(0.3,5) = split(a) {axis=0}\n"
                         "output b output c }",
                         "sink-move: b after a: exact", "split(x)", "split(a)");
}

/* A name that must survive is told, not passed over in silence. */
static void what_stays_for_a_names_sake_is_told(void **state)
{
    (void)state;
    rewrite_expect_refused("tflite",
                           "graph t { input x: i8[4] q(0.1,0) f: f32[4] = dequantize(x)\n"
                           "y: i8[4] q(0.1,0) = quantize(f) output y }",
                           "quantize-dequantized: y after f: refused: an output of the network "
                           "keeps its name",
                           "");
    rewrite_expect_refused("tflite",
                           "graph t { input x: i8[4] q(0.1,0) y: i8[4] q(0.1,0) = rescale(x) "
                           "output y }",
                           "identity: y: refused: an output of the network keeps its name", "");
}

/* The pattern of Glow's users: at the end no rescale is left. */
#define GLOW_PATTERN(between)                                                                      \
    "graph t { input x: i8[1,1,6,6] q(0.1,0)\n" REWRITE_CONV_PARTS                                 \
    "c: i8[1,2,5,5] q(0.5,0) = conv(x,w,b) {kernel=[2,2]}\n"                                       \
    "l: i8[1,2,5,5] q(0.25,0) = lrn(c) {size=3,alpha=0.01}\n" between                              \
    "const v: i8[1,2,2,2] q(0.02,0) = [1,2,3,4,-90,100,-110,120]\n"                                \
    "d: i8[1,1,3,3] q(0.1,0) = conv(m,v) {kernel=[2,2]} output d }"

static void no_rescale_is_left_between_convolutions(void **state)
{
    static const char *const schemes[] = {"tflite", "tflite-single", "npu16", "litert-ref"};
    test_rng r = test_seed("no_rescale_is_left_between_convolutions", 3);
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        rewrite_outcome o = rewrite_run(
            schemes[i], GLOW_PATTERN("r: u8[1,2,5,5] q(0.25,128) = rescale(l)\n"
                                     "m: u8[1,2,4,4] q(0.25,128) = max_pool(r) {kernel=[2,2]}\n"));
        rewrite_has(o.log.text, "exact");
        rewrite_lacks(o.text.text, "rescale(");
        rewrite_same_bits(&o, &r, 6);
        rewrite_certified(&o);
        rewrite_finish(&o);
    }
}

/* Another scale is rounded to: each rule that could take the rescale tells why it does not. */
static void a_rescale_that_rounds_is_left_between_convolutions(void **state)
{
    (void)state;
    rewrite_outcome o = rewrite_run(
        "tflite", GLOW_PATTERN("r: i8[1,2,5,5] q(0.4,3) = rescale(l)\n"
                               "m: i8[1,2,4,4] q(0.4,3) = max_pool(r) {kernel=[2,2]}\n"));
    rewrite_has(o.log.text,
                "absorb-up-lrn: r after l: refused, differs by 1 LSB: products with gains");
    rewrite_has(o.log.text, "; product ");
    rewrite_has(o.log.text, "sink-order: m after r: exact");
    rewrite_has(o.log.text, "absorb-down-weighted: d after r: refused");
    rewrite_has(o.text.text, "rescale(");
    rewrite_certified(&o);
    rewrite_finish(&o);
}

static void a_normalization_reads_past_a_shift_of_the_zero_point(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[1,4,2,2] q(0.5,0)\n"
                         "a: u8[1,4,2,2] q(0.5,128) = rescale(x)\n"
                         "l: i8[1,4,2,2] q(0.25,3) = lrn(a) {size=3,alpha=0.01} output l }",
                         "absorb-down-lrn: l after a: exact: products with gains", "lrn(x)",
                         "rescale");
    rewrite_expect_refused("tflite",
                           "graph t { input x: i8[1,4,2,2] q(0.5,0)\n"
                           "a: i8[1,4,2,2] q(0.3,2) = rescale(x)\n"
                           "l: i8[1,4,2,2] q(0.25,3) = lrn(a) {size=3,alpha=0.01} output l }",
                           "absorb-down-lrn: l after a: refused", "became");
}

static void a_normalization_takes_over_bounds(void **state)
{
    (void)state;
    rewrite_expect_exact("tflite",
                         "graph t { input x: i8[1,4,2,2] q(0.5,0)\n"
                         "l: i8[1,4,2,2] q(0.25,3) = lrn(x) {size=3,alpha=0.01}\n"
                         "r: i8[1,4,2,2] q(0.25,3) = relu(l) output r }",
                         "absorb-up-lrn: r after l: exact: products with gains", "codes[3,127]",
                         "relu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_node_twice_is_one),
        cmocka_unit_test(constants_are_computed_once),
        cmocka_unit_test(moves_merge_and_cancel),
        cmocka_unit_test(transposes_sink_below_two_operands),
        cmocka_unit_test(padding_goes_into_convolutions_where_it_is_the_zero_point),
        cmocka_unit_test(the_lesser_of_a_code_and_a_number_is_a_bound),
        cmocka_unit_test(bounds_go_up_into_the_layer),
        cmocka_unit_test(chains_become_one_table),
        cmocka_unit_test(rescales_sink_below_averages_where_no_sum_tells),
        cmocka_unit_test(averages_take_over_what_follows),
        cmocka_unit_test(a_mean_over_space_is_a_pool_where_it_gives_the_same),
        cmocka_unit_test(quantize_takes_over_what_follows),
        cmocka_unit_test(a_bias_is_rescaled_where_it_divides),
        cmocka_unit_test(a_bias_that_would_overflow_is_refused),
        cmocka_unit_test(rescales_sink_below_splits),
        cmocka_unit_test(what_stays_for_a_names_sake_is_told),
        cmocka_unit_test(no_rescale_is_left_between_convolutions),
        cmocka_unit_test(a_rescale_that_rounds_is_left_between_convolutions),
        cmocka_unit_test(a_normalization_reads_past_a_shift_of_the_zero_point),
        cmocka_unit_test(a_normalization_takes_over_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
