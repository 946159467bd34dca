/* Smoothing by way of pools, transposes, gates and products of matrices: the same floats to the
 * bit, the profile that observing would give, and better codes where channels differ. */
#include <math.h>
#include <stdio.h>

#include "test/support/smoothed.h"

enum { WIDE = 24, ROWS = 6, OUTLIERS = 4, ROUNDS = 20, HEADS = 2, SIZE = WIDE / HEADS };

static test_rng rng_of(void **state)
{
    return *(test_rng *)*state;
}

/* Every element is another one's by a power of two: which, the profile tells. */
static void check_powers(const float *was, const float *is, int64_t n, const char *name)
{
    for (int64_t i = 0; i < n; i++) {
        int a, b;
        if (frexpf(was[i], &a) != frexpf(is[i], &b))
            fail_msg("%s: element %d is %a, and was %a", name, (int)i, (double)is[i],
                     (double)was[i]);
    }
}

static int layer(assay_graph *g, test_rng *rng, const char *name, int x, int64_t out, int64_t in)
{
    char weights[16], bias[16];
    snprintf(weights, sizeof weights, "w_%s", name);
    snprintf(bias, sizeof bias, "b_%s", name);
    const int w = net_constant(g, rng, weights, -.4, .4, NET_SHAPE(out, in));
    const int b = net_constant(g, rng, bias, -.2, .2, NET_SHAPE(out));
    return net_node(g, ASSAY_OP_FC, name, NULL, x, w, b, -2);
}

static int moved(assay_graph *g, const char *name, int x, assay_list shape, assay_list perm,
                 bool turned_first)
{
    assay_attrs to = {.shape = {.shape = shape}}, turn = {.perm = {.perm = perm}};
    char first[16];
    snprintf(first, sizeof first, "%s_1", name);
    const assay_op op[] = {ASSAY_OP_RESHAPE, ASSAY_OP_TRANSPOSE};
    const assay_attrs *attr[] = {&to, &turn};
    x = net_node(g, op[turned_first], first, attr[turned_first], x, -2);
    return net_node(g, op[!turned_first], name, attr[!turned_first], x, -2);
}

/* Heads of an attention; queries and keys, values and output are smoothed, and what both read. */
static assay_graph *attention(test_rng *rng)
{
    assay_graph *g = net_new();
    const assay_list heads = {4, {1, ROWS, HEADS, SIZE}}, turn = {4, {0, 2, 1, 3}};
    const assay_list turn_keys = {4, {0, 2, 3, 1}}, flat = {3, {1, ROWS, WIDE}};
    const int x = net_input(g, "x", NET_SHAPE(1, ROWS, WIDE));
    const int gamma = net_constant(g, rng, "gamma", .2, 2, NET_SHAPE(WIDE));
    const int half = net_constant(g, rng, "half", .3, .4, 0, NULL);
    const int norm = net_node(g, ASSAY_OP_MUL, "norm", NULL, x, gamma, -2);
    const int q = moved(g, "qh", layer(g, rng, "q", norm, WIDE, WIDE), heads, turn, false);
    const int k = moved(g, "kh", layer(g, rng, "k", norm, WIDE, WIDE), heads, turn_keys, false);
    const int v = moved(g, "vh", layer(g, rng, "v", norm, WIDE, WIDE), heads, turn, false);
    assay_attrs last = {.softmax = {.axis = 3, .beta = 1}};
    int a = net_node(g, ASSAY_OP_MATMUL, "scores", NULL, q, k, -2);
    a = net_node(g, ASSAY_OP_MUL, "scaled", NULL, a, half, -2);
    a = net_node(g, ASSAY_OP_SOFTMAX, "weights", &last, a, -2);
    a = net_node(g, ASSAY_OP_MATMUL, "mixed", NULL, a, v, -2);
    net_output(g, layer(g, rng, "y", moved(g, "joined", a, flat, turn, true), 8, WIDE));
    return g;
}

/* A gate: half of a layer's channels times a function of the others. */
static assay_graph *gate(test_rng *rng)
{
    assay_graph *g = net_new();
    assay_attrs halves = {.split = {.axis = 1, .sizes = {2, {WIDE, WIDE}}}};
    int both[2],
        two = layer(g, rng, "two", net_input(g, "x", NET_SHAPE(ROWS, WIDE)), 2 * WIDE, WIDE);
    const char *const names[] = {"up", "down"};
    assay_error err;
    assert_ok(assay_graph_add_inferred(g, ASSAY_OP_SPLIT, "halves", &two, 1, names, 2, &halves,
                                       both, &err),
              &err);
    const int open = net_node(g, ASSAY_OP_SIGMOID, "open", NULL, both[1], -2);
    const int through = net_node(g, ASSAY_OP_MUL, "through", NULL, both[0], open, -2);
    net_output(g, layer(g, rng, "y", through, 8, WIDE));
    return g;
}

static int convolution(assay_graph *g, test_rng *rng, const char *name, int x, int64_t out,
                       int64_t in, int64_t kernel, int64_t group)
{
    char weights[16];
    snprintf(weights, sizeof weights, "w_%s", name);
    const int64_t pad = kernel / 2;
    assay_attrs a = {.conv = {.kernel = {2, {kernel, kernel}},
                              .pad_begin = {2, {pad, pad}},
                              .pad_end = {2, {pad, pad}},
                              .group = group}};
    const int w =
        net_constant(g, rng, weights, -.4, .4, NET_SHAPE(out, in / group, kernel, kernel));
    return net_node(g, ASSAY_OP_CONV, name, &a, x, w, -2);
}

/* Pointwise, depthwise, pooled, grouped, averaged. */
static assay_graph *convolutions(test_rng *rng)
{
    assay_graph *g = net_new();
    assay_attrs pool = {.pool = {.kernel = {2, {2, 2}}, .stride = {2, {2, 2}}}};
    assay_attrs steep = {.alpha = {.alpha = .125f}};
    int x = net_input(g, "x", NET_SHAPE(1, 3, 8, 8));
    x = net_node(g, ASSAY_OP_RELU, "r1", NULL, convolution(g, rng, "c1", x, WIDE, 3, 1, 1), -2);
    x = convolution(g, rng, "c2", x, 2 * WIDE, WIDE, 3, WIDE);
    x = net_node(g, ASSAY_OP_LEAKY_RELU, "r2", &steep, x, -2);
    x = net_node(g, ASSAY_OP_MAX_POOL, "pooled", &pool, x, -2);
    x = convolution(g, rng, "c3", x, WIDE, 2 * WIDE, 3, 2);
    x = net_node(g, ASSAY_OP_GLOBAL_AVG_POOL, "mean", NULL, x, -2);
    net_output(g, convolution(g, rng, "y", x, 4, WIDE, 1, 1));
    return g;
}

/* y = fc(a + b, ...) - constant by channel, over constants by channel. */
static assay_graph *sums(test_rng *rng)
{
    assay_graph *g = net_new();
    const int x = net_input(g, "x", NET_SHAPE(ROWS, WIDE));
    const int c = net_constant(g, rng, "c", -1, 1, NET_SHAPE(WIDE));
    const int two = net_constant(g, rng, "two", 2, 3, 0, NULL);
    int a = layer(g, rng, "a", x, WIDE, WIDE);
    a = net_node(g, ASSAY_OP_NEG, "minus", NULL, a, -2);
    a = net_node(g, ASSAY_OP_DIV, "less", NULL, a, two, -2);
    a = net_node(g, ASSAY_OP_ADD, "sum", NULL, layer(g, rng, "b", x, WIDE, WIDE), a, -2);
    a = net_node(g, ASSAY_OP_SUB, "shifted", NULL, c, a, -2);
    net_output(g, layer(g, rng, "y", a, 8, WIDE));
    return g;
}

static void test_floats_stay_on_every_way(void **state)
{
    test_rng rng = rng_of(state);
    const struct {
        assay_graph *(*build)(test_rng *);
        int sites, scaled;
    } ways[] = {{attention, 3, 13}, {gate, 1, 3}, {convolutions, 3, 7}, {sums, 1, 6}};
    for (int i = 0; i < ROUNDS; i++)
        smoothed_floats_stay(ways[i % 4].build(&rng), &rng, check_powers, ways[i % 4].sites,
                             ways[i % 4].scaled);
}

/* A product of matrices that sums nothing, such as of an empty cache, takes no factors. */
static void test_empty_products_stay(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    const int a = net_input(g, "a", NET_SHAPE(ROWS, 0));
    const int b = net_node(g, ASSAY_OP_RELU, "b", NULL, net_input(g, "x", NET_SHAPE(0, WIDE)), -2);
    const int y = net_node(g, ASSAY_OP_MATMUL, "product", NULL, a, b, -2);
    net_output(g, layer(g, &rng, "y", y, 8, WIDE));
    assay_profile *p, *of_smoothed;
    assay_smoothing made;
    assay_error err;
    assert_ok(profile_new(g, &p, &err), &err);
    assert_ok(quantize_smooth(g, p, .5, &of_smoothed, &made, &err), &err);
    assert_int_equal(made.n, 0);
    quantize_smoothing_free(&made);
    profile_free(of_smoothed);
    profile_free(p);
    assay_graph_free(g);
}

/* Outlier channels planted on these ways: a constant's channels times 2^by. */
typedef struct planted {
    const char *constant;
    int64_t each; /* elements of a channel, one after the other */
    int by;
} planted;

static double sqnr_planted(uint64_t seed, assay_graph *(*build)(test_rng *), const planted *p,
                           int n, double alpha)
{
    test_rng rng = {seed};
    assay_graph *g = build(&rng);
    for (int c = 0; c < OUTLIERS; c++)
        for (int k = 0; k < n; k++)
            smoothed_scale(g, assay_graph_find_value(g, p[k].constant), c * 5 * p[k].each, 1,
                           p[k].each, p[k].by);
    quantized s = quantized_prepare_channels(g, &rng, "tflite");
    quantized_make(&s, (assay_quantize_options){.smooth = alpha});
    const double got = quantized_sqnr(&s, &rng, 0);
    quantized_drop(&s);
    return got;
}

static void test_outliers_cost_less_on_every_way(void **state)
{
    test_rng rng = rng_of(state);
    const planted keys[] = {{"w_q", WIDE, 6}, {"b_q", 1, 6}, {"w_k", WIDE, -6}, {"b_k", 1, -6}};
    const planted filters[] = {{"w_c1", 3, 6}, {"w_c2", 18, -6}};
    const uint64_t seed = (uint64_t)test_between(&rng, 1, 1 << 30);
    const struct {
        assay_graph *(*build)(test_rng *);
        const planted *p;
        int n;
    } ways[] = {{attention, keys, 4}, {convolutions, filters, 2}};
    for (int i = 0; i < 2; i++) {
        const double without = sqnr_planted(seed, ways[i].build, ways[i].p, ways[i].n, 0);
        const double with = sqnr_planted(seed, ways[i].build, ways[i].p, ways[i].n, .5);
        if (!(with > without + 3))
            fail_msg("seed %d, way %d: %g dB without, %g dB with", (int)seed, i, without, with);
    }
}

int main(void)
{
    test_rng rng = test_seed("quantize_smooth_ways", 20261128);
    void *state = &rng;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_floats_stay_on_every_way, state),
        cmocka_unit_test_prestate(test_empty_products_stay, state),
        cmocka_unit_test_prestate(test_outliers_cost_less_on_every_way, state),
    };
    return cmocka_run_group_tests_name("quantize_smooth_ways", tests, NULL, NULL);
}
