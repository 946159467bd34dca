/* Smoothing of activations into weights: the same floats to the bit, the profile that observing
 * would give, and better codes where channels differ. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/lower/opt.h"
#include "test/support/smoothed.h"

enum { WIDE = 24, ROWS = 6, OUTLIERS = 4, ROUNDS = 20 };

static test_rng rng_of(void **state)
{
    return *(test_rng *)*state;
}

/* Outlier channels of a normalization or a layer (gamma, beta: by channel), that cancel in the
 * layers that read it. */
static void plant(assay_graph *g, test_rng *rng, const int *made_by, int n_made, const int *layer,
                  int n_layers)
{
    for (int k = 0; k < OUTLIERS; k++) {
        const int64_t c = test_between(rng, 0, WIDE - 1);
        for (int i = 0; i < n_made; i++) {
            const int64_t each = assay_shape_count(&g->value[made_by[i]].type) / WIDE;
            smoothed_scale(g, made_by[i], c * each, 1, each, 5);
        }
        for (int i = 0; i < n_layers; i++)
            smoothed_scale(g, layer[i], c, WIDE, assay_shape_count(&g->value[layer[i]].type) / WIDE,
                           -5);
    }
}

/* x -> normalization -> two layers -> relu of the one -> layer, + the other; "norm" is by
 * layer_norm or by a product and a sum with constants. */
static assay_graph *block(test_rng *rng, bool layer_norm, bool outliers)
{
    assay_graph *g = net_new();
    assay_attrs last = {.norm = {.axis = 1, .epsilon = 1e-5f}};
    const int x = net_input(g, "x", NET_SHAPE(ROWS, WIDE));
    const int gamma = net_constant(g, rng, "gamma", .5, 1.5, NET_SHAPE(WIDE));
    const int beta = net_constant(g, rng, "beta", -.2, .2, NET_SHAPE(WIDE));
    const int w1 = net_constant(g, rng, "w1", -.3, .3, NET_SHAPE(WIDE, WIDE));
    const int b1 = net_constant(g, rng, "b1", -.2, .2, NET_SHAPE(WIDE));
    const int w2 = net_constant(g, rng, "w2", -.3, .3, NET_SHAPE(8, WIDE));
    const int w3 = net_constant(g, rng, "w3", -.3, .3, NET_SHAPE(8, WIDE));
    if (outliers) {
        plant(g, rng, (int[]){gamma, beta}, 2, (int[]){w1, w2}, 2);
        plant(g, rng, (int[]){w1, b1}, 2, (int[]){w3}, 1);
    }
    const int norm = layer_norm
                         ? net_node(g, ASSAY_OP_LAYER_NORM, "norm", &last, x, gamma, beta, -2)
                         : net_node(g, ASSAY_OP_ADD, "norm", NULL, beta,
                                    net_node(g, ASSAY_OP_MUL, "scaled", NULL, x, gamma, -2), -2);
    const int wide = net_node(g, ASSAY_OP_RELU, "relu", NULL,
                              net_node(g, ASSAY_OP_FC, "fc1", NULL, norm, w1, b1, -2), -2);
    net_output(g, net_node(g, ASSAY_OP_ADD, "y", NULL,
                           net_node(g, ASSAY_OP_FC, "fc2", NULL, norm, w2, -2),
                           net_node(g, ASSAY_OP_FC, "fc3", NULL, wide, w3, -2), -2));
    return g;
}

/* The smoothed value's exponents, from two runs; every element must scale by its channel's. */
static void check_scaled(const float *was, const float *is, int64_t n, const char *name)
{
    int exponent[WIDE];
    bool known[WIDE] = {false};
    for (int64_t i = 0; i < n; i++) {
        const int c = (int)(i % WIDE);
        if (was[i] != 0 && !known[c]) {
            exponent[c] = ilogbf(was[i]) - ilogbf(is[i]);
            known[c] = true;
        }
        if (is[i] != (known[c] ? ldexpf(was[i], -exponent[c]) : 0.0f))
            fail_msg("%s: element %d is %a, and was %a", name, (int)i, (double)is[i],
                     (double)was[i]);
    }
}

/* norm, relu and fc1 are scaled; where there is one, the product, too. */
static void test_floats_stay(void **state)
{
    test_rng rng = rng_of(state);
    for (int round = 0; round < ROUNDS; round++)
        smoothed_floats_stay(block(&rng, round % 2 == 0, round % 3 != 0), &rng, check_scaled, 2,
                             round % 2 ? 4 : 3);
}

static double sqnr(uint64_t seed, const char *scheme, bool outliers, double alpha)
{
    test_rng rng = {seed};
    assay_graph *g = block(&rng, false, outliers);
    quantized s = quantized_prepare_channels(g, &rng, scheme);
    quantized_make(&s, (assay_quantize_options){.smooth = alpha});
    assert_int_equal(s.report.smoothing.n, alpha > 0 ? 2 : 0);
    assert_int_equal(s.report.n_float, 0);
    const double got = quantized_sqnr(&s, &rng, 0);
    quantized_drop(&s);
    return got;
}

/* Codes of 8 bits, of activations of which a few channels are 32 times the others. */
static void test_outliers_cost_less(void **state)
{
    test_rng rng = rng_of(state);
    for (int round = 0; round < 5; round++) {
        const uint64_t seed = (uint64_t)test_between(&rng, 1, 1 << 30);
        const double without = sqnr(seed, "tflite", true, 0), with = sqnr(seed, "tflite", true, .5);
        if (!(with > without + 6))
            fail_msg("seed %d: %g dB without, %g dB with", (int)seed, without, with);
    }
}

/* What something else reads, or computes without constants, stays; and says nothing. */
static void test_others_stay(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    assay_attrs last = {.norm = {.axis = 1, .epsilon = 1e-5f}};
    const int x = net_input(g, "x", NET_SHAPE(ROWS, WIDE));
    const int w = net_constant(g, &rng, "w", -1, 1, NET_SHAPE(WIDE, WIDE));
    const int gamma = net_constant(g, &rng, "gamma", .5, 1.5, NET_SHAPE(WIDE));
    const int bare = net_node(g, ASSAY_OP_LAYER_NORM, "bare", &last, x, -2);
    const int norm = net_node(g, ASSAY_OP_LAYER_NORM, "norm", &last,
                              net_node(g, ASSAY_OP_FC, "fc", NULL, bare, w, -2), gamma, -2);
    net_output(g, net_node(g, ASSAY_OP_ADD, "y", NULL, norm,
                           net_node(g, ASSAY_OP_FC, "fc2", NULL, norm, w, -2), -2));
    quantized s = quantized_prepare_channels(g, &rng, "tflite");
    quantized_make(&s, (assay_quantize_options){.smooth = .5});
    assert_int_equal(s.report.smoothing.n, 0);
    quantized_drop(&s);
}

static void test_channels_are_needed(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = block(&rng, true, true), *q;
    quantized s = quantized_prepare(g, &rng, "tflite");
    const assay_quantize_options o = {.smooth = .5, .has_kernel = quantized_has_kernel};
    assay_error err;
    assert_int_equal(quantize_network(s.g, s.profile, s.scheme, &o, &q, NULL, &err),
                     ASSAY_ERR_INPUT);
    assert_string_equal(err.text, "smoothing: the profile has no channels of 'norm'; take it with "
                                  "`per_channel`");
    quantized_drop(&s);
}

/* Constants at the ends of the floats: a channel that would round, or overflow, stays. */
static void test_ends_of_floats(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = block(&rng, true, true), *smoothed;
    smoothed_scale(g, assay_graph_find_value(g, "w2"), 3, WIDE, 1, -148);
    smoothed_scale(g, assay_graph_find_value(g, "gamma"), 5, 1, 1, -130);
    quantized s = quantized_prepare_channels(g, &rng, "tflite");
    assay_profile *of_smoothed, *anew;
    assay_smoothing made;
    assay_error err;
    assert_ok(assay_graph_clone(s.g, &smoothed, &err), &err);
    assert_ok(quantize_smooth(smoothed, s.profile, .5, &of_smoothed, &made, &err), &err);
    assert_ok(profile_new(smoothed, &anew, &err), &err);
    assert_int_equal(smoothed_compare(s.g, smoothed, &rng, check_scaled, anew), 3);
    quantize_smoothing_free(&made);
    profile_free(of_smoothed);
    profile_free(anew);
    assay_graph_free(smoothed);
    quantized_drop(&s);
}

/* A weight of fc1, between both smoothed values, that either alone scales exactly and both do not:
 * it is scaled by no more than it bears. */
static void test_weights_between_two(void **state)
{
    enum { IN = 3, OUT = 5 };
    test_rng rng = rng_of(state);
    assay_graph *g = block(&rng, true, false), *smoothed;
    const int w1 = assay_graph_find_value(g, "w1");
    smoothed_scale(g, assay_graph_find_value(g, "gamma"), IN, 1, 1, -10);
    smoothed_scale(g, assay_graph_find_value(g, "beta"), IN, 1, 1, -10);
    smoothed_scale(g, w1, OUT * WIDE, 1, WIDE, 10);
    ((float *)(uintptr_t)g->value[w1].data)[OUT * WIDE + IN] = 0x1p-141F;
    quantized s = quantized_prepare_channels(g, &rng, "tflite");
    assay_profile *of_smoothed;
    assay_smoothing made;
    assay_error err;
    int64_t n;
    assert_ok(assay_graph_clone(s.g, &smoothed, &err), &err);
    assert_ok(quantize_smooth(smoothed, s.profile, .5, &of_smoothed, &made, &err), &err);
    assert_int_equal(made.n, 2);
    assert_string_equal(made.value[0].value, "norm");
    const assay_node *fc1 = net_producer(smoothed, "fc1:smoothed");
    const float *was = net_data(s.g, "w1", &n), *is = smoothed->value[fc1->in[1]].data;
    for (int64_t i = 0; i < n; i++) {
        const int by = made.value[0].exponent[i % WIDE] - made.value[1].exponent[i / WIDE];
        if (ldexpf(is[i], -by) != was[i])
            fail_msg("weight %d is %a, and was %a: not 2^%d of it", (int)i, (double)is[i],
                     (double)was[i], by);
    }
    quantize_smoothing_free(&made);
    profile_free(of_smoothed);
    assay_graph_free(smoothed);
    quantized_drop(&s);
}

int main(void)
{
    test_rng rng = test_seed("quantize_smooth", 20261127);
    void *state = &rng;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_floats_stay, state),
        cmocka_unit_test_prestate(test_outliers_cost_less, state),
        cmocka_unit_test_prestate(test_others_stay, state),
        cmocka_unit_test_prestate(test_channels_are_needed, state),
        cmocka_unit_test_prestate(test_ends_of_floats, state),
        cmocka_unit_test_prestate(test_weights_between_two, state),
    };
    return cmocka_run_group_tests_name("quantize_smooth", tests, NULL, NULL);
}
