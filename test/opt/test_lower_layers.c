/* The canonical lowering of what stands around a layer: batch normalization and padding go into the
 * convolution, and the network still computes the same. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/lower/opt.h"
#include "test/support/canonical_case.h"
#include "test/support/net.h"

static test_rng rng_of(void **state)
{
    return *(test_rng *)*state;
}

static int batch_norm(assay_graph *g, test_rng *rng, const char *out, int x, int64_t channels)
{
    char name[4][32];
    int p[4];
    for (int i = 0; i < 4; i++) {
        snprintf(name[i], sizeof name[i], "%s.%d", out, i);
        p[i] = net_constant(g, rng, name[i], i == 3 ? 0.2 : -2, 3, NET_SHAPE(channels));
    }
    return net_node(g, ASSAY_OP_BATCH_NORM, out, NULL, x, p[0], p[1], p[2], p[3], -2);
}

static void test_batch_norm_into_conv(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    assay_attrs grouped = {.conv = {.group = 2}};
    int x = net_input(g, "x", NET_SHAPE(2, 4, 5, 6));
    int w = net_constant(g, &rng, "w", -1, 1, NET_SHAPE(6, 2, 3, 3));
    int y = net_node(g, ASSAY_OP_CONV, "conv", &grouped, x, w, -2);
    y = net_node(g, ASSAY_OP_RELU, "relu", NULL, batch_norm(g, &rng, "bn", y, 6), -2);
    net_output(g, y);
    assay_graph *c = canonical_case(g, &rng);
    assert_int_equal(c->n_nodes, 2);
    assert_int_equal(net_producer(c, "bn")->op, ASSAY_OP_CONV);
    assert_int_equal(net_producer(c, "bn")->n_in, 3);
    assert_int_equal(assay_graph_find_value(c, "conv"), -1);
    assay_graph_free(c);
    assay_graph_free(g);
}

static void test_batch_norm_into_conv_transpose(void **state)
{
    test_rng rng = rng_of(state);
    for (int64_t group = 1; group <= 2; group++) {
        assay_graph *g = net_new();
        assay_attrs attr = {.conv = {.group = group}};
        int x = net_input(g, "x", NET_SHAPE(1, 4, 5, 6));
        int w = net_constant(g, &rng, "w", -1, 1, NET_SHAPE(4, 6 / group, 3, 2));
        int b = net_constant(g, &rng, "b", -1, 1, NET_SHAPE(6));
        int y = net_node(g, ASSAY_OP_CONV_TRANSPOSE, "up", &attr, x, w, b, -2);
        net_output(g, batch_norm(g, &rng, "bn", y, 6));
        assay_graph *c = canonical_case(g, &rng);
        assert_int_equal(c->n_nodes, 1);
        assay_graph_free(c);
        assay_graph_free(g);
    }
}

/* The weights are used by a second layer, which must keep them. */
static void test_shared_weights_are_not_changed(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(1, 4, 5, 5));
    int w = net_constant(g, &rng, "w", -1, 1, NET_SHAPE(4, 4, 3, 3));
    int b = net_constant(g, &rng, "b", -1, 1, NET_SHAPE(4));
    net_output(g, net_node(g, ASSAY_OP_CONV, "plain", NULL, x, w, b, -2));
    int y = net_node(g, ASSAY_OP_CONV, "conv", NULL, x, w, b, -2);
    net_output(g, batch_norm(g, &rng, "bn", y, 4));
    assay_graph *c = canonical_case(g, &rng);
    assert_int_equal(c->n_nodes, 2);
    assert_true(assay_graph_find_value(c, "w") >= 0);
    assay_graph_free(c);
    assay_graph_free(g);
}

static void test_layer_seen_by_others_is_not_folded(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(1, 4, 5, 5));
    int w = net_constant(g, &rng, "w", -1, 1, NET_SHAPE(4, 4, 1, 1));
    int y = net_node(g, ASSAY_OP_CONV, "conv", NULL, x, w, -2);
    int z = batch_norm(g, &rng, "bn", y, 4);
    net_output(g, net_node(g, ASSAY_OP_ADD, "sum", NULL, y, z, -2));
    assay_graph *c = canonical_case(g, &rng);
    assert_non_null(net_producer(c, "conv"));
    assert_int_equal(net_count_op(c, ASSAY_OP_BATCH_NORM), 0);
    assay_graph_free(c);
    assay_graph_free(g);
}

static void test_standalone_batch_norm(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(2, 3, 4, 5)), flat = net_input(g, "flat", NET_SHAPE(2, 7));
    net_output(g, batch_norm(g, &rng, "bn", x, 3));
    net_output(g, batch_norm(g, &rng, "bn_flat", flat, 7));
    assay_graph *c = canonical_case(g, &rng);
    assert_int_equal(net_producer(c, "bn")->op, ASSAY_OP_CONV);
    assert_int_equal(net_producer(c, "bn")->attr.conv.group, 3);
    assert_int_equal(net_producer(c, "bn_flat")->op, ASSAY_OP_ADD);
    assert_int_equal(net_producer(c, "bn_flat:scaled")->op, ASSAY_OP_MUL);
    assay_graph_free(c);
    assay_graph_free(g);
}

static assay_attrs pad_attrs(int64_t channel, int64_t top, int64_t right, float value)
{
    return (assay_attrs){
        .pad = {.begin = {4, {0, channel, top, 0}}, .end = {4, {0, 0, 0, right}}, .value = value}};
}

static void test_pad_into_conv(void **state)
{
    test_rng rng = rng_of(state);
    const struct {
        assay_attrs attr;
        int left; /* pads left */
    } cases[] = {
        {pad_attrs(0, 2, 1, 0), 0}, {pad_attrs(0, 2, 1, 0.5f), 1}, {pad_attrs(1, 0, 0, 0), 1}};
    for (size_t i = 0; i < 3; i++) {
        assay_graph *g = net_new();
        int x = net_input(g, "x", NET_SHAPE(1, 3, 6, 6));
        int y = net_node(g, ASSAY_OP_PAD, "padded", &cases[i].attr, x, -2);
        int64_t channels = g->value[y].type.dim[1];
        int w = net_constant(g, &rng, "w", -1, 1, NET_SHAPE(2, channels, 3, 3));
        net_output(g, net_node(g, ASSAY_OP_CONV, "y", NULL, y, w, -2));
        assay_graph *c = canonical_case(g, &rng);
        assert_int_equal(net_count_op(c, ASSAY_OP_PAD), cases[i].left);
        assay_graph_free(c);
        assay_graph_free(g);
    }
}

int main(void)
{
    test_rng rng = test_seed("lower_layers", 20261121);
    void *state = &rng;
#define WITH_RNG(test) cmocka_unit_test_prestate(test, state)
    const struct CMUnitTest tests[] = {
        WITH_RNG(test_batch_norm_into_conv),
        WITH_RNG(test_batch_norm_into_conv_transpose),
        WITH_RNG(test_shared_weights_are_not_changed),
        WITH_RNG(test_layer_seen_by_others_is_not_folded),
        WITH_RNG(test_standalone_batch_norm),
        WITH_RNG(test_pad_into_conv),
    };
    return cmocka_run_group_tests_name("lower_layers", tests, NULL, NULL);
}
