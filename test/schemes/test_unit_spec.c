/* Attributes of a node and the fields of a unit's specification that they stand in. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "schemes/node/spec.h"
#include "test/support/net.h"

typedef struct fields {
    int64_t depth, flag;
    double alpha, beta, gamma, epsilon, act_lo, act_hi;
    int64_t rows, columns; /* of a window */
    int64_t step, outputs; /* of a convolution's channels */
    int64_t a_block, b_block;
    bool uncounted;
} fields;

/* The specification of the newest node. */
static assay_unit_spec newest(const assay_graph *g, assay_type in[ASSAY_SPEC_IN])
{
    assay_unit_spec spec;
    assay_unit_spec_fill(g, &g->node[g->n_nodes - 1], in, &spec);
    assert_true(spec.in == in);
    assert_int_equal(spec.size, sizeof spec);
    return spec;
}

static void check(const assay_graph *g, const char *op, fields want)
{
    assay_type in[ASSAY_SPEC_IN];
    const assay_unit_spec s = newest(g, in);
    assert_string_equal(s.op, op);
    assert_string_equal(s.node, g->node[g->n_nodes - 1].name);
    assert_int_equal(s.depth, want.depth);
    assert_int_equal(s.flag, want.flag);
    assert_int_equal(s.window[0], want.rows);
    assert_int_equal(s.window[1], want.columns);
    assert_int_equal(s.channel_step, want.step);
    assert_int_equal(s.channel_outputs, want.outputs);
    assert_int_equal(s.scale_block[0], want.a_block);
    assert_int_equal(s.scale_block[1], want.b_block);
    assert_int_equal(s.uncounted, want.uncounted);
    assert_true(s.alpha == want.alpha && s.beta == want.beta);
    assert_true(s.gamma == want.gamma && s.epsilon == want.epsilon);
    assert_true(s.act_lo == (want.act_lo != 0 ? want.act_lo : -INFINITY));
    assert_true(s.act_hi == (want.act_hi != 0 ? want.act_hi : INFINITY));
}

static void parameters(void **state)
{
    (void)state;
    test_rng rng = test_seed("spec", 1);
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(2, 6, 5, 4));
    int w = net_constant(g, &rng, "w", -1, 1, NET_SHAPE(8, 3, 3, 2));
    int t = net_constant(g, &rng, "t", -1, 1, NET_SHAPE(6, 4, 3, 2));
    int m = net_constant(g, &rng, "m", -1, 1, NET_SHAPE(4, 7));
    int f = net_constant(g, &rng, "f", -1, 1, NET_SHAPE(9, 120));
    assay_attrs a = {.conv = {.group = 2}};
    net_node(g, ASSAY_OP_CONV, "conv", &a, x, w, -2);
    check(g, "conv", (fields){.depth = 18, .flag = 2, .step = 6});
    a = (assay_attrs){.conv = {.group = 6}};
    int d = net_constant(g, &rng, "d", -1, 1, NET_SHAPE(12, 1, 3, 2));
    net_node(g, ASSAY_OP_CONV, "each", &a, x, d, -2); /* two filters for each channel */
    check(g, "conv", (fields){.depth = 6, .flag = 6, .step = 6, .outputs = 2});
    a = (assay_attrs){.conv = {.group = 1, .layout = ASSAY_LAYOUT_NHWC}};
    int c = net_constant(g, &rng, "c", -1, 1, NET_SHAPE(8, 3, 2, 4));
    net_node(g, ASSAY_OP_CONV, "innermost", &a, x, c, -2);
    check(g, "conv", (fields){.depth = 24, .flag = 1, .step = 1});
    int one = net_input(g, "one", NET_SHAPE(1, 1, 5, 4));
    int v = net_constant(g, &rng, "v", -1, 1, NET_SHAPE(8, 1, 3, 2));
    a = (assay_attrs){.conv = {.group = 1, .depthwise = true}};
    net_node(g, ASSAY_OP_CONV, "depthwise", &a, one, v, -2);
    check(g, "conv", (fields){.depth = 6, .flag = 2, .step = 6, .outputs = 8});
    a = (assay_attrs){.conv = {.group = 2}};
    net_node(g, ASSAY_OP_CONV_TRANSPOSE, "transposed", &a, x, t, -2);
    check(g, "conv_transpose", (fields){.depth = 3 * 6, .flag = 2});
    net_node(g, ASSAY_OP_MATMUL, "matmul", NULL, x, m, -2);
    check(g, "matmul", (fields){.depth = 4});
    a = (assay_attrs){.matmul = {.transpose_a = true}};
    int k = net_constant(g, &rng, "k", -1, 1, NET_SHAPE(5, 7));
    net_node(g, ASSAY_OP_MATMUL, "turned", &a, x, k, -2);
    check(g, "matmul", (fields){.depth = 5});
    int flat = net_input(g, "flat", NET_SHAPE(2, 120));
    net_node(g, ASSAY_OP_FC, "fc", NULL, flat, f, -2);
    check(g, "fc", (fields){.depth = 120});

    a = (assay_attrs){.pool = {.kernel = {.n = 2, .v = {3, 2}}, .count_include_pad = true}};
    net_node(g, ASSAY_OP_AVG_POOL, "avg", &a, x, -2);
    check(g, "avg_pool", (fields){.depth = 6, .flag = 1, .rows = 3, .columns = 2});
    net_node(g, ASSAY_OP_GLOBAL_AVG_POOL, "global", NULL, x, -2);
    check(g, "global_avg_pool", (fields){.depth = 20, .rows = 5, .columns = 4});
    a = (assay_attrs){.layout = {.layout = ASSAY_LAYOUT_NHWC}};
    net_node(g, ASSAY_OP_GLOBAL_AVG_POOL, "global_last", &a, x, -2);
    check(g, "global_avg_pool", (fields){.depth = 30, .rows = 6, .columns = 5});
    net_node(g, ASSAY_OP_REDUCE_MEAN, "mean", NULL, x, -2);
    check(g, "reduce_mean", (fields){.depth = 240});
    a = (assay_attrs){.reduce = {.axes = {.n = 2, .v = {-1, 1}}}};
    net_node(g, ASSAY_OP_REDUCE_MEAN, "mean_of_two", &a, x, -2);
    check(g, "reduce_mean", (fields){.depth = 24, .rows = 6, .columns = 4});
    a = (assay_attrs){.reduce = {.axes = {.n = 1, .v = {2}}}};
    net_node(g, ASSAY_OP_REDUCE_MEAN, "mean_of_one", &a, x, -2);
    check(g, "reduce_mean", (fields){.depth = 5, .rows = 1, .columns = 5});
    a = (assay_attrs){.reduce = {.axes = {.n = 2, .v = {-1, 1}}}};
    net_node(g, ASSAY_OP_REDUCE_SUM, "sum", &a, x, -2);
    check(g, "reduce_sum", (fields){.depth = 24});
    a = (assay_attrs){.softmax = {.axis = -2, .beta = 0.5f}};
    net_node(g, ASSAY_OP_SOFTMAX, "softmax", &a, x, -2);
    check(g, "softmax", (fields){.depth = 5, .beta = 0.5});
    a = (assay_attrs){.norm = {.axis = 1, .epsilon = 0.25f}};
    net_node(g, ASSAY_OP_L2_NORM, "l2", &a, x, -2);
    check(g, "l2_norm", (fields){.depth = 6, .epsilon = 0.25});
    a = (assay_attrs){.norm = {.axis = -2, .epsilon = 0.5f}};
    net_node(g, ASSAY_OP_LAYER_NORM, "layer", &a, x, -2);
    check(g, "layer_norm", (fields){.depth = 20, .epsilon = 0.5});
    a = (assay_attrs){.lrn = {.size = 3, .alpha = 0.5f, .beta = 0.75f, .bias = 2}};
    net_node(g, ASSAY_OP_LRN, "lrn", &a, x, -2);
    check(g, "lrn", (fields){.depth = 3, .alpha = 0.5, .beta = 0.75, .gamma = 2});

    a = (assay_attrs){.alpha = {.alpha = 0.125f}};
    net_node(g, ASSAY_OP_LEAKY_RELU, "leaky", &a, x, -2);
    check(g, "leaky_relu", (fields){.alpha = 0.125});
    a = (assay_attrs){.alpha_beta = {.alpha = 0.25f, .beta = 0.5f}};
    net_node(g, ASSAY_OP_HARD_SIGMOID, "hard", &a, x, -2);
    check(g, "hard_sigmoid", (fields){.alpha = 0.25, .beta = 0.5});
    a = (assay_attrs){.gelu = {.approximate = ASSAY_GELU_TANH}};
    net_node(g, ASSAY_OP_GELU, "gelu", &a, x, -2);
    check(g, "gelu", (fields){.flag = ASSAY_GELU_TANH});
    a = (assay_attrs){
        .resize = {.mode = ASSAY_RESIZE_LINEAR, .size = {.n = 4, .v = {2, 6, 10, 8}}}};
    net_node(g, ASSAY_OP_RESIZE, "resize", &a, x, -2);
    check(g, "resize", (fields){.flag = ASSAY_RESIZE_LINEAR});
    a.resize.size = (assay_list){.n = 4, .v = {2, 9, 10, 8}};
    net_node(g, ASSAY_OP_RESIZE, "channels", &a, x, -2);
    check(g, "resize", (fields){.flag = ASSAY_RESIZE_LINEAR, .depth = 1});
    const int volume = net_input(g, "volume", NET_SHAPE(1, 2, 2, 2, 2));
    a.resize = (assay_attr_resize){.mode = ASSAY_RESIZE_LINEAR, .size = {5, {1, 2, 4, 4, 4}}};
    net_node(g, ASSAY_OP_RESIZE, "cells", &a, volume, -2);
    check(g, "resize", (fields){.flag = ASSAY_RESIZE_LINEAR, .depth = 1});
    a = (assay_attrs){
        .pad = {.begin = {.n = 4}, .end = {.n = 4, .v = {0, 0, 1, 1}}, .value = 1.5f}};
    net_node(g, ASSAY_OP_PAD, "pad", &a, x, -2);
    check(g, "pad", (fields){.alpha = 1.5});
    net_node(g, ASSAY_OP_ADD, "add", NULL, x, x, -2);
    check(g, "add", (fields){.depth = 0});
    assay_graph_free(g);
}

/* Shapes that give no products, or no second axis to turn. */
/* A window of 2 x 2 over 5 x 4 cells, in steps of one or two rows. */
static void uncounted(void **state)
{
    (void)state;
    static const struct {
        int64_t begin, end, stride;
        bool ceil_mode, include_pad, uncounted;
    } list[] = {
        {.stride = 1},
        {.begin = 1, .stride = 1, .uncounted = true},
        {.end = 1, .stride = 1, .uncounted = true},
        {.begin = 1, .end = 1, .stride = 1, .include_pad = true},
        {.end = 1, .stride = 2, .uncounted = true},
        {.begin = 1, .end = 1, .stride = 3, .include_pad = true},
        {.stride = 2},
        {.stride = 2, .ceil_mode = true, .uncounted = true},
        {.stride = 2, .ceil_mode = true, .include_pad = true, .uncounted = true},
    };
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(2, 6, 5, 4));
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char name[16];
        assay_attrs a = {.pool = {.kernel = {.n = 2, .v = {2, 2}},
                                  .stride = {.n = 2, .v = {list[i].stride, 1}},
                                  .pad_begin = {.n = 2, .v = {list[i].begin, 0}},
                                  .pad_end = {.n = 2, .v = {list[i].end, 0}},
                                  .ceil_mode = list[i].ceil_mode,
                                  .count_include_pad = list[i].include_pad}};
        snprintf(name, sizeof name, "avg%zu", i);
        net_node(g, ASSAY_OP_AVG_POOL, name, &a, x, -2);
        check(g, "avg_pool",
              (fields){.depth = 4,
                       .flag = list[i].include_pad,
                       .rows = 2,
                       .columns = 2,
                       .uncounted = list[i].uncounted});
    }
    assay_graph_free(g);
}

static void degenerate(void **state)
{
    (void)state;
    const int64_t none[4] = {0, 6, 3, 3}, one[1] = {5};
    assay_error err = {0};
    assay_graph *g = net_new();
    assay_type t = {.elem = assay_f32(), .rank = 4};
    int x = net_input(g, "x", NET_SHAPE(1, 6, 5, 4)), v = net_input(g, "v", NET_SHAPE(5)), w, y;
    memcpy(t.dim, none, sizeof none);
    assert_ok(assay_graph_add_value(g, "w", &t, &w, &err), &err);
    assert_ok(assay_graph_add_value(g, "y", &t, &y, &err), &err);
    int conv[2] = {x, w}, matmul[2] = {v, v}, id;
    assay_attrs a = {.conv = {.group = 1}};
    assert_ok(assay_graph_add_node(g, ASSAY_OP_CONV, "conv", conv, 2, &y, 1, &a, &id, &err), &err);
    check(g, "conv", (fields){.depth = 0, .flag = 1}); /* no filters */
    t.rank = 1;
    memcpy(t.dim, one, sizeof one);
    assert_ok(assay_graph_add_value(g, "z", &t, &y, &err), &err);
    a = (assay_attrs){.matmul = {.transpose_a = true}};
    assert_ok(assay_graph_add_node(g, ASSAY_OP_MATMUL, "dot", matmul, 2, &y, 1, &a, &id, &err),
              &err);
    check(g, "matmul", (fields){.depth = 5});
    assay_graph_free(g);
}

/* Bounds: the tightest of clip's own, the fused activation's and those given as codes. */
static void bounds(void **state)
{
    (void)state;
    const float half = 0.5f;
    const int32_t three = 3;
    const assay_qparams tensor = {ASSAY_Q_TENSOR, 0, 0, 1, &half, &three};
    assay_error err = {0};
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(4));
    assay_attrs a = {.clip = {.lo = -1, .hi = 6}};
    net_node(g, ASSAY_OP_CLIP, "clip", &a, x, -2);
    check(g, "clip", (fields){.alpha = -1, .beta = 6, .act_lo = -1, .act_hi = 6});
    assay_node *n = &g->node[g->n_nodes - 1];
    n->act_lo = -0.5f;
    n->act_hi = 5;
    check(g, "clip", (fields){.alpha = -1, .beta = 6, .act_lo = -0.5, .act_hi = 5});

    net_node(g, ASSAY_OP_RELU, "relu", NULL, x, -2);
    n = &g->node[g->n_nodes - 1];
    n->has_code_bounds = true;
    n->code_lo = -7;
    n->code_hi = 9;
    check(g, "relu", (fields){0}); /* a float output has no codes */
    assert_ok(assay_graph_set_qparams(g, n->out[0], &tensor, &err), &err);
    check(g, "relu", (fields){.act_lo = -5, .act_hi = 3});
    n->act_lo = -4;
    n->act_hi = 2;
    check(g, "relu", (fields){.act_lo = -4, .act_hi = 2});
    assay_graph_free(g);
}

/* An absent input has the kind "none"; only so many inputs are looked at. */
static void inputs(void **state)
{
    (void)state;
    test_rng rng = test_seed("inputs", 2);
    assay_type in[ASSAY_SPEC_IN];
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(2, 5));
    int w = net_constant(g, &rng, "w", -1, 1, NET_SHAPE(3, 5));
    net_node(g, ASSAY_OP_FC, "fc", NULL, x, w, ASSAY_NO_VALUE, -2);
    assay_unit_spec s = newest(g, in);
    assert_int_equal(s.n_in, 3);
    assert_int_equal(s.in[1].dim[0], 3);
    assert_int_equal(s.in[2].elem.kind, ASSAY_KIND_NONE);
    int many[ASSAY_SPEC_IN + 1];
    for (int i = 0; i <= ASSAY_SPEC_IN; i++)
        many[i] = x;
    assay_error err = {0};
    int out;
    const char *name = "joined";
    assert_ok(assay_graph_add_inferred(g, ASSAY_OP_CONCAT, name, many, ASSAY_SPEC_IN + 1, &name, 1,
                                       NULL, &out, &err),
              &err);
    s = newest(g, in);
    assert_int_equal(s.n_in, ASSAY_SPEC_IN);
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parameters), cmocka_unit_test(uncounted),
                                       cmocka_unit_test(degenerate), cmocka_unit_test(bounds),
                                       cmocka_unit_test(inputs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
