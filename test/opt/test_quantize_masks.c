/* Attention masks, quantized: the range ends where softmax does not see that it does. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "test/support/quantized.h"

#define TOKENS 6
#define WIDE   16

static test_rng rng_of(void **state)
{
    return *(test_rng *)*state;
}

typedef struct attention {
    assay_graph *g;
    int x, scores;
} attention;

static attention begin(test_rng *rng)
{
    attention a = {.g = net_new()};
    a.x = net_input(a.g, "x", NET_SHAPE(1, TOKENS, WIDE));
    int q = net_node(a.g, ASSAY_OP_FC, "q", NULL, a.x,
                     net_constant(a.g, rng, "wq", -1, 1, NET_SHAPE(WIDE, WIDE)), -2);
    assay_attrs t = {.matmul = {.transpose_b = true}};
    a.scores = net_node(a.g, ASSAY_OP_MATMUL, "scores", &t, q, a.x, -2);
    return a;
}

static void end(const attention *a, int masked)
{
    assay_attrs row = {.softmax = {.axis = 2, .beta = 1}};
    masked = net_node(a->g, ASSAY_OP_SOFTMAX, "attention", &row, masked, -2);
    net_output(a->g, net_node(a->g, ASSAY_OP_MATMUL, "y", NULL, masked, a->x, -2));
}

static quantized finish(attention a, test_rng *rng, int masked, const char *scheme)
{
    end(&a, masked);
    quantized s = quantized_prepare(a.g, rng, scheme);
    quantized_make(&s, (assay_quantize_options){0});
    return s;
}

static void fill(assay_graph *g, int constant, float above_diagonal)
{
    for (int i = 0; i < TOKENS; i++)
        for (int j = i + 1; j < TOKENS; j++)
            ((float *)(uintptr_t)g->value[constant].data)[i * TOKENS + j] = above_diagonal;
}

static quantized causal(test_rng *rng, float masked, double bias, const char *scheme)
{
    attention a = begin(rng);
    int mask = net_constant(a.g, rng, "mask", -bias, bias, NET_SHAPE(TOKENS, TOKENS));
    fill(a.g, mask, masked);
    return finish(a, rng, net_node(a.g, ASSAY_OP_ADD, "masked", NULL, a.scores, mask, -2), scheme);
}

static const assay_value_choice *choice_of(const quantized *s, const char *value)
{
    for (int i = 0; i < s->report.n_choices; i++)
        if (strcmp(s->report.choice[i].value, value) == 0)
            return &s->report.choice[i];
    fail_msg("'%s' has no codes", value);
    return NULL;
}

/* Every node is integer, as good as without a mask; the range of the masked scores goes to 8.3 (9
 * bits and ln 6) below the least score. */
static void assert_cut_off(quantized *s, test_rng *rng)
{
    const assay_value_choice *c = choice_of(s, "masked");
    const bool wide = c->elem.bits > 8;
    const double room = (wide ? 17 : 9) * log(2) + log(TOKENS);
    assert_int_equal(s->report.n_float, 0);
    assert_true(c->range.min < -room && c->range.min > -room - 20);
    assert_string_equal(c->range.note, "masked below: softmax does not see it");
    assert_true(c->range.clipped > 0.2 && c->range.clipped < 0.6);
    for (int i = 0; i < 4; i++)
        assert_true(quantized_sqnr(s, rng, 0) > (wide ? 38 : 20));
    quantized_drop(s);
}

static void test_constant_masks(void **state)
{
    static const float huge[] = {-100, -1e4f, -1e9f, -FLT_MAX, -INFINITY};
    test_rng rng = rng_of(state);
    for (int k = 0; k < 10; k++) {
        const char *scheme = k % 2 ? "tflite-int16x8" : "tflite";
        quantized s = causal(&rng, huge[k / 2], 0, scheme);
        assert_cut_off(&s, &rng);
        s = causal(&rng, huge[k / 2], 0.5, scheme); /* with a bias of positions in it */
        assert_cut_off(&s, &rng);
    }
}

/* What is no mask keeps its range: of -30, e^-30 is seen in front of scores that are as low. */
static void test_small_numbers_are_no_masks(void **state)
{
    test_rng rng = rng_of(state);
    quantized s = causal(&rng, -30, 0, "tflite");
    assert_int_equal(s.report.n_float, 0);
    assert_true(choice_of(&s, "masked")->range.min < -28);
    assert_null(choice_of(&s, "masked")->range.note);
    quantized_drop(&s);
}

static int zeros_and_ones(attention *a, const char *input, assay_op compare)
{
    assay_attrs to = {.cast = {.to = ASSAY_CAST_F32}};
    test_rng none = {0};
    int bits = net_node(a->g, compare, "set", NULL, net_input(a->g, input, NET_SHAPE(1, 1, TOKENS)),
                        net_constant(a->g, &none, "half", -0.5, -0.5, NET_SHAPE(1)), -2);
    return net_node(a->g, ASSAY_OP_CAST, "ones", &to, bits, -2);
}

static int scalar(attention *a, const char *name, float x)
{
    test_rng none = {0};
    int v = net_constant(a->g, &none, name, 0, 0, NET_SHAPE(1));
    *(float *)(uintptr_t)a->g->value[v].data = x;
    return v;
}

/* (1 - mask) * factor, as BERT has it: only the cast from bool is no integer node. */
static void test_computed_masks(void **state)
{
    static const float factor[] = {-1e4f, -1e9f, -FLT_MAX};
    test_rng rng = rng_of(state);
    for (int k = 0; k < 6; k++) {
        attention a = begin(&rng);
        int m = net_node(a.g, ASSAY_OP_SUB, "off", NULL, scalar(&a, "one", 1),
                         zeros_and_ones(&a, "mask", ASSAY_OP_GREATER), -2);
        m = net_node(a.g, ASSAY_OP_MUL, "far", NULL, m, scalar(&a, "factor", factor[k / 2]), -2);
        m = net_node(a.g, ASSAY_OP_ADD, "masked", NULL, a.scores, m, -2);
        quantized s = finish(a, &rng, m, k % 2 ? "tflite-int16x8" : "tflite");
        assert_int_equal(s.report.n_float, 1);
        assert_non_null(quantized_reason(&s, "ones"));
        assert_true(choice_of(&s, "masked")->range.min > -50);
        assert_true(choice_of(&s, "far")->range.min > -80);
        assert_true(quantized_sqnr(&s, &rng, 0) > (k % 2 ? 38 : 20));
        quantized_drop(&s);
    }
}

/* Inputs of which none is below a mask's threshold. */
static float *none_below(test_rng *rng, const assay_graph *g, int i)
{
    float *x = net_random_input(rng, g, i);
    for (int64_t k = 0; i == 1 && k < assay_shape_count(&g->value[g->input[i]].type); k++)
        x[k] = fabsf(x[k]);
    return x;
}

/* A bool shows both its values whatever the profile saw: (1 - mask) * factor where no sample masks,
 * mask * factor likewise. The comparison is in float, where no threshold is rounded. */
static void test_masks_that_no_sample_has(void **state)
{
    static const char *const scheme[] = {"tflite", "tflite-int16x8", "onnxruntime", "pow2"};
    const assay_precision_rule set = {"set", {ASSAY_KIND_F32, 32, true}, true};
    test_rng rng = rng_of(state);
    for (int k = 0; k < 8; k++) {
        const bool inverted = k % 2;
        attention a = begin(&rng);
        int m = zeros_and_ones(&a, "mask", inverted ? ASSAY_OP_GREATER : ASSAY_OP_LESS);
        if (inverted)
            m = net_node(a.g, ASSAY_OP_SUB, "off", NULL, scalar(&a, "one", 1), m, -2);
        m = net_node(a.g, ASSAY_OP_MUL, "far", NULL, m, scalar(&a, "factor", -1e4f), -2);
        end(&a, net_node(a.g, ASSAY_OP_ADD, "masked", NULL, a.scores, m, -2));
        quantized s = quantized_prepare_drawn(a.g, &rng, scheme[k / 2], none_below);
        quantized_make(&s, (assay_quantize_options){.precision = &set, .n_precision = 1});
        assert_string_equal(choice_of(&s, "ones")->range.note,
                            "a mask: both of its values, observed or not");
        for (int i = 0; i < 4; i++)
            assert_true(quantized_sqnr(&s, &rng, 0) > 18);
        quantized_drop(&s);
    }
}

static void test_selected_masks(void **state)
{
    static const float huge[] = {-1e4f, -FLT_MAX, -INFINITY};
    test_rng rng = rng_of(state);
    for (int k = 0; k < 6; k++) {
        attention a = begin(&rng);
        int keys = net_input(a.g, "keys", NET_SHAPE(1, 1, TOKENS));
        int set = net_node(a.g, ASSAY_OP_GREATER, "set", NULL, keys, scalar(&a, "half", -0.5f), -2);
        int m = net_node(a.g, ASSAY_OP_SELECT, "masked", NULL, set, a.scores,
                         scalar(&a, "least", huge[k / 2]), -2);
        quantized s = finish(a, &rng, m, k % 2 ? "tflite-int16x8" : "tflite");
        assert_true(choice_of(&s, "masked")->range.min > -50);
        assert_null(quantized_reason(&s, "masked"));
        assert_null(quantized_reason(&s, "attention"));
        assert_true(quantized_sqnr(&s, &rng, 0) > (k % 2 ? 38 : 20));
        quantized_drop(&s);
    }
}

/* A mask that others see as well keeps its range; the scores are cut off all the same. */
static void test_seen_elsewhere(void **state)
{
    test_rng rng = rng_of(state);
    attention a = begin(&rng);
    int m = net_node(a.g, ASSAY_OP_MUL, "far", NULL, zeros_and_ones(&a, "mask", ASSAY_OP_GREATER),
                     scalar(&a, "factor", -1e4f), -2);
    int both = net_node(a.g, ASSAY_OP_ADD, "masked", NULL, a.scores, m, -2);
    net_output(a.g, m);
    quantized s = finish(a, &rng, both, "tflite");
    assert_true(choice_of(&s, "far")->range.min < -9999);
    assert_true(choice_of(&s, "masked")->range.min > -50);
    quantized_drop(&s);
}

static float *drawn(test_rng *rng, const assay_graph *g, int i, float a, float b)
{
    float *x = net_random_input(rng, g, i);
    for (int64_t k = 0; i == 1 && k < assay_shape_count(&g->value[g->input[i]].type); k++)
        x[k] = x[k] > 0.5F ? a : b;
    return x;
}

static float *all_zero(test_rng *rng, const assay_graph *g, int i)
{
    return drawn(rng, g, i, 0, 0);
}

static float *all_one(test_rng *rng, const assay_graph *g, int i)
{
    return drawn(rng, g, i, 1, 1);
}

static float *one_and_zero(test_rng *rng, const assay_graph *g, int i)
{
    return drawn(rng, g, i, 0, 1);
}

static float *zero_and_one(test_rng *rng, const assay_graph *g, int i)
{
    return drawn(rng, g, i, 1, 0);
}

static float *zero_and_far(test_rng *rng, const assay_graph *g, int i)
{
    return drawn(rng, g, i, -1e4f, 0);
}

/* Integers of an input, as floats. */
static int cast_twice(attention *a, int m)
{
    const assay_attrs to[] = {{.cast = {.to = ASSAY_CAST_I64}}, {.cast = {.to = ASSAY_CAST_F32}}};
    m = net_node(a->g, ASSAY_OP_CAST, "whole", &to[0], m, -2);
    return net_node(a->g, ASSAY_OP_CAST, "ones", &to[1], m, -2);
}

/* Inputs of floats and integers that mask in no sample, and then do: (1 - m) * c, m * c, and masks
 * that are added as they are, moved before or not. */
static void test_inputs_that_no_sample_masks(void **state)
{
    static const char *const scheme[] = {"tflite", "tflite-int16x8", "onnxruntime", "pow2"};
    enum { ADDED = 1, INVERTED = 2, INTEGERS = 4, MOVED = 8, FORMS = 16 };
    test_rng rng = rng_of(state);
    for (int k = 0; k < 4 * FORMS; k++) {
        const int form = k % FORMS;
        if ((form & ADDED) && (form & (INVERTED | INTEGERS)))
            continue;
        attention a = begin(&rng);
        assay_attrs row = {.shape = {.shape = {3, {1, 1, TOKENS}}}};
        int m = form & MOVED ? net_node(a.g, ASSAY_OP_RESHAPE, "row", &row,
                                        net_input(a.g, "keys", NET_SHAPE(1, TOKENS)), -2)
                             : net_input(a.g, "keys", NET_SHAPE(1, 1, TOKENS));
        if (form & INTEGERS)
            m = cast_twice(&a, m);
        if (form & INVERTED)
            m = net_node(a.g, ASSAY_OP_SUB, "off", NULL, scalar(&a, "one", 1), m, -2);
        if (!(form & ADDED))
            m = net_node(a.g, ASSAY_OP_MUL, "far", NULL, m, scalar(&a, "factor", -1e4f), -2);
        end(&a, net_node(a.g, ASSAY_OP_ADD, "masked", NULL, a.scores, m, -2));
        quantized s = quantized_prepare_drawn(a.g, &rng, scheme[k / FORMS],
                                              form & INVERTED ? all_one : all_zero);
        quantized_make(&s, (assay_quantize_options){0});
        double sum = 0; /* 4 to 6 dB a sample where the mask is ignored */
        for (int i = 0; i < 4; i++)
            sum += quantized_sqnr_drawn(&s, &rng, 0,
                                        form & ADDED      ? zero_and_far
                                        : form & INVERTED ? one_and_zero
                                                          : zero_and_one);
        assert_true(sum > 4 * 25);
        quantized_drop(&s);
    }
}

/* Zeros that are subtracted are no mask. One that others see as well has no codes: float. */
static void test_zeros_that_may_mask(void **state)
{
    test_rng rng = rng_of(state);
    for (int k = 0; k < 2; k++) {
        attention a = begin(&rng);
        int m = net_input(a.g, "keys", NET_SHAPE(1, 1, TOKENS));
        end(&a, net_node(a.g, k ? ASSAY_OP_ADD : ASSAY_OP_SUB, "masked", NULL, a.scores, m, -2));
        net_output(a.g, net_node(a.g, ASSAY_OP_RELU, "seen", NULL, m, -2));
        quantized s = quantized_prepare_drawn(a.g, &rng, "tflite", all_zero);
        quantized_make(&s, (assay_quantize_options){0});
        const char *why = quantized_reason(&s, "masked");
        assert_int_equal(why != NULL, k);
        assert_true(!k || strstr(why, "an input that was 0 in every sample"));
        assert_true(quantized_sqnr_drawn(&s, &rng, 0, k ? zero_and_far : all_zero) > 18);
        quantized_drop(&s);
    }
}

static float *all_three(test_rng *rng, const assay_graph *g, int i)
{
    return drawn(rng, g, i, 3, 3);
}

/* Integers that are one other number in every sample, or that are added, show no more: the report
 * says so. Where the profile has both, there is nothing to say. */
static void test_integers_that_show_no_mask(void **state)
{
    static const quantized_draw draw[] = {all_three, all_zero, zero_and_one};
    test_rng rng = rng_of(state);
    for (int k = 0; k < 3; k++) {
        attention a = begin(&rng);
        int m = cast_twice(&a, net_input(a.g, "keys", NET_SHAPE(1, 1, TOKENS)));
        if (k != 1)
            m = net_node(a.g, ASSAY_OP_MUL, "far", NULL, m, scalar(&a, "factor", -1e4f), -2);
        end(&a, net_node(a.g, ASSAY_OP_ADD, "masked", NULL, a.scores, m, -2));
        quantized s = quantized_prepare_drawn(a.g, &rng, "tflite", draw[k]);
        quantized_make(&s, (assay_quantize_options){0});
        const char *why = quantized_reason(&s, "ones");
        assert_non_null(why);
        assert_int_equal(strstr(why, "no profiled sample is masked") != NULL, k < 2);
        quantized_drop(&s);
    }
}

/* A mask that is read elsewhere too has no codes for its -infinity, seen or not. */
static void test_infinity_that_no_sample_has(void **state)
{
    const assay_precision_rule set = {"set", {ASSAY_KIND_F32, 32, true}, true};
    test_rng rng = rng_of(state);
    attention a = begin(&rng);
    int keys = net_input(a.g, "keys", NET_SHAPE(1, 1, TOKENS));
    int below = net_node(a.g, ASSAY_OP_LESS, "set", NULL, keys, scalar(&a, "half", -0.5f), -2);
    int m = net_node(a.g, ASSAY_OP_SELECT, "far", NULL, below, scalar(&a, "least", -INFINITY),
                     scalar(&a, "zero", 0), -2);
    end(&a, net_node(a.g, ASSAY_OP_ADD, "masked", NULL, a.scores, m, -2));
    net_output(a.g, m);
    quantized s = quantized_prepare_drawn(a.g, &rng, "tflite", none_below);
    quantized_make(&s, (assay_quantize_options){.precision = &set, .n_precision = 1});
    assert_string_equal(quantized_reason(&s, "far"),
                        "it reads or writes values that are infinite or NaN");
    for (int i = 0; i < 4; i++)
        assert_true(quantized_sqnr(&s, &rng, 0) > 18);
    quantized_drop(&s);
}

/* What is made of it otherwise does not say where its elements lie: float, as codes would lose all
 * scores. */
static void test_unknown_masks_stay_float(void **state)
{
    test_rng rng = rng_of(state);
    attention a = begin(&rng);
    int m =
        net_node(a.g, ASSAY_OP_EXP, "exp", NULL, zeros_and_ones(&a, "mask", ASSAY_OP_GREATER), -2);
    m = net_node(a.g, ASSAY_OP_MUL, "far", NULL, m, scalar(&a, "factor", -1e4f), -2);
    m = net_node(a.g, ASSAY_OP_ADD, "masked", NULL, a.scores, m, -2);
    quantized s = finish(a, &rng, m, "tflite");
    assert_non_null(quantized_reason(&s, "masked"));
    assert_non_null(quantized_reason(&s, "attention"));
    assert_int_equal(quantized_type(&s, "scores")->elem.bits, 8);
    assert_int_equal(quantized_type(&s, "y")->elem.bits, 8);
    quantized_drop(&s);
}

int main(void)
{
    test_rng rng = test_seed("quantize_masks", 20261126);
    void *state = &rng;
#define WITH_RNG(test) cmocka_unit_test_prestate(test, state)
    const struct CMUnitTest tests[] = {
        WITH_RNG(test_constant_masks),
        WITH_RNG(test_small_numbers_are_no_masks),
        WITH_RNG(test_computed_masks),
        WITH_RNG(test_masks_that_no_sample_has),
        WITH_RNG(test_selected_masks),
        WITH_RNG(test_seen_elsewhere),
        WITH_RNG(test_infinity_that_no_sample_has),
        WITH_RNG(test_inputs_that_no_sample_masks),
        WITH_RNG(test_zeros_that_may_mask),
        WITH_RNG(test_integers_that_show_no_mask),
        WITH_RNG(test_unknown_masks_stay_float),
    };
    return cmocka_run_group_tests_name("quantize_masks", tests, NULL, NULL);
}
