/* Phases of many turns, which are no codes, and logarithms of what spans many powers of two, of
 * which the report warns. */
#include <math.h>

#include "test/support/quantized.h"

#define WIDE 8

static test_rng rng_of(void **state)
{
    return *(test_rng *)*state;
}

/* x in [-1, 1) times frequencies up to `fastest`, sine and cosine beside each other, and a layer.
 */
static quantized embedding(test_rng *rng, double fastest, const char *scheme)
{
    assay_graph *g = net_new();
    assay_attrs last = {.axis = {.axis = 1}};
    int t = net_input(g, "t", NET_SHAPE(4, 1));
    int phase =
        net_node(g, ASSAY_OP_MUL, "phase", NULL, t,
                 net_constant(g, rng, "frequencies", fastest / 2, fastest, NET_SHAPE(1, WIDE)), -2);
    int both = net_node(g, ASSAY_OP_CONCAT, "both", &last,
                        net_node(g, ASSAY_OP_SIN, "sin", NULL, phase, -2),
                        net_node(g, ASSAY_OP_COS, "cos", NULL, phase, -2), -2);
    net_output(g, net_node(g, ASSAY_OP_FC, "y", NULL, both,
                           net_constant(g, rng, "w", -1, 1, NET_SHAPE(5, 2 * WIDE)), -2));
    quantized s = quantized_prepare(g, rng, scheme);
    quantized_make(&s, (assay_quantize_options){0});
    return s;
}

static void test_many_turns_stay_float(void **state)
{
    test_rng rng = rng_of(state);
    for (int k = 0; k < 4; k++) {
        quantized s = embedding(&rng, k < 2 ? 40 : 1000, k % 2 ? "tflite-int16x8" : "tflite");
        assert_int_equal(s.report.n_float, 3);
        assert_string_equal(quantized_reason(&s, "sin"),
                            "its input, a phase, spans so many turns that codes are too coarse");
        assert_non_null(quantized_reason(&s, "cos"));
        assert_string_equal(quantized_reason(&s, "phase"),
                            "it computes a phase, for which codes are too coarse");
        assert_true(quantized_sqnr(&s, &rng, 0) > (k % 2 ? 35 : 30));
        quantized_drop(&s);
    }
}

static void test_a_turn_is_codes(void **state)
{
    test_rng rng = rng_of(state);
    quantized s = embedding(&rng, 4, "tflite");
    assert_int_equal(s.report.n_float, 0);
    assert_true(quantized_sqnr(&s, &rng, 0) > 24);
    quantized_drop(&s);
}

/* log(x^4 + floor) of x in [-1, 1). */
static quantized logarithm(test_rng *rng, float floor, const char *scheme)
{
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(8, 64));
    int square = net_node(g, ASSAY_OP_MUL, "square", NULL, x, x, -2);
    int power = net_node(g, ASSAY_OP_MUL, "power", NULL, square, square, -2);
    int above =
        net_node(g, ASSAY_OP_ADD, "above", NULL, power,
                 net_constant(g, rng, "floor", (double)floor, (double)floor, NET_SHAPE(1)), -2);
    net_output(g, net_node(g, ASSAY_OP_LOG, "log", NULL, above, -2));
    quantized s = quantized_prepare(g, rng, scheme);
    quantized_make(&s, (assay_quantize_options){0});
    return s;
}

static void test_steep_logarithms_are_warned_of(void **state)
{
    test_rng rng = rng_of(state);
    for (int k = 0; k < 4; k++) {
        quantized s = logarithm(&rng, ldexpf(1, -14 - k), "tflite");
        assert_int_equal(s.report.n_weak, 1);
        assert_string_equal(s.report.weak[0].node, "log");
        assert_true(s.report.weak[0].sqnr < 20);
        assert_true(quantized_sqnr(&s, &rng, 0) < 20);
        quantized_drop(&s);
        s = logarithm(&rng, 2, "tflite");
        assert_int_equal(s.report.n_weak, 0);
        assert_true(quantized_sqnr(&s, &rng, 0) > 20);
        quantized_drop(&s);
    }
}

int main(void)
{
    test_rng rng = test_seed("quantize_phases", 20261126);
    void *state = &rng;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_many_turns_stay_float, state),
        cmocka_unit_test_prestate(test_a_turn_is_codes, state),
        cmocka_unit_test_prestate(test_steep_logarithms_are_warned_of, state),
    };
    return cmocka_run_group_tests_name("quantize_phases", tests, NULL, NULL);
}
