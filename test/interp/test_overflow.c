/* Accumulators that could leave their width, found when a program is made. */
#include "test/support/fast_case.h"

#include <stdio.h>
#include <string.h>

/* A layer of one input code and weights `w`, 8 bits, as op; u8 codes of zero point 0 reach 255. */
typedef struct layer {
    assay_op op;
    bool nhwc, transpose_b;
    int64_t group, depth;
    int32_t weight[2], bias[2]; /* of two output channels, the weight at every place */
} layer;

static bool is_spatial(const layer *l)
{
    return l->op == ASSAY_OP_CONV || l->op == ASSAY_OP_CONV_TRANSPOSE;
}

static assay_attrs attrs_of(const layer *l)
{
    assay_attrs a = {0};
    if (is_spatial(l)) {
        assay_attrs_defaults(ASSAY_ATTRS_conv, &a);
        a.conv.layout = l->nhwc ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW;
        a.conv.group = l->group;
        a.conv.kernel = a.conv.stride = a.conv.dilation = (assay_list){1, {1}};
        a.conv.pad_begin = a.conv.pad_end = (assay_list){1, {0}};
    } else if (l->op == ASSAY_OP_MATMUL) {
        assay_attrs_defaults(ASSAY_ATTRS_matmul, &a);
        a.matmul.transpose_b = l->transpose_b;
    }
    return a;
}

static void shape_of_input(const layer *l, assay_type *x)
{
    const int64_t channels_first[3] = {1, l->depth, 3},
                  channels_last[3] = {1, is_spatial(l) ? 3 : l->depth, l->depth};
    x->rank = is_spatial(l) ? 3 : 2;
    memcpy(x->dim, is_spatial(l) && !l->nhwc ? channels_first : channels_last,
           sizeof channels_first);
}

/* The weights' shape, and which of the two output channels each weight is of. */
static void shape_of_weights(const layer *l, assay_type *w)
{
    const bool last = is_spatial(l) && l->nhwc;
    const bool mixed = l->op == ASSAY_OP_CONV_TRANSPOSE && !l->nhwc;
    const bool columns = l->op == ASSAY_OP_MATMUL && !l->transpose_b;
    const int64_t per = l->depth / l->group;
    w->rank = is_spatial(l) ? 3 : 2;
    w->dim[0] = mixed || columns ? l->depth : 2;
    w->dim[1] = mixed ? 2 / l->group : columns ? 2 : last ? 1 : per;
    w->dim[2] = last ? per : 1;
}

static int64_t channel_of(const layer *l, int64_t weight)
{
    const bool mixed = l->op == ASSAY_OP_CONV_TRANSPOSE && !l->nhwc && l->group == 1;
    const bool columns = l->op == ASSAY_OP_MATMUL && !l->transpose_b;
    return mixed || columns ? weight % 2 : weight / (l->depth / l->group);
}

static assay_graph *make(const layer *l)
{
    static const float scale[2] = {0.1f, 0.1f};
    static const int32_t zero[2] = {0, 0};
    assay_type x = {.elem = assay_int(8, false), .q = {ASSAY_Q_TENSOR, 0, 0, 1, scale, zero}};
    assay_type w = {.elem = assay_int(8, true), .q = {ASSAY_Q_TENSOR, 0, 0, 1, scale, zero}};
    const assay_type b = {.elem = assay_int(32, true), .rank = 1, .dim = {2}};
    const assay_attrs a = attrs_of(l);
    assay_graph *g;
    assay_error err;
    int in[3], y, n_in = l->op == ASSAY_OP_MATMUL ? 2 : 3;
    const char *name = "y";
    shape_of_input(l, &x);
    shape_of_weights(l, &w);
    assert_ok(assay_graph_new("n", &g, &err), &err);
    assert_ok(assay_graph_add_value(g, "x", &x, &in[0], &err), &err);
    assert_ok(assay_graph_add_constant(g, "w", &w, NULL, &in[1], &err), &err);
    int8_t *code = (int8_t *)(uintptr_t)g->value[in[1]].data;
    for (int64_t i = 0; i < assay_shape_count(&w); i++)
        code[i] = (int8_t)l->weight[channel_of(l, i)];
    if (n_in > 2) {
        assert_ok(assay_graph_add_constant(g, "b", &b, NULL, &in[2], &err), &err);
        memcpy((void *)(uintptr_t)g->value[in[2]].data, l->bias, sizeof l->bias);
    }
    assert_ok(assay_graph_add_inferred(g, l->op, "layer", in, n_in, &name, 1,
                                       l->op == ASSAY_OP_FC ? NULL : &a, &y, &err),
              &err);
    g->value[y].type.elem = assay_int(8, false);
    assert_ok(assay_graph_set_qparams(g, y, &x.q, &err), &err);
    assert_ok(assay_graph_set_inputs(g, in, 1, &err), &err);
    assert_ok(assay_graph_set_outputs(g, &y, 1, &err), &err);
    return g;
}

static assay_status prepare(const assay_graph *g, int bits, const char *overflow, assay_error *err)
{
    char text[128];
    assay_scheme *s;
    assay_program *p;
    snprintf(text, sizeof text, "scheme: t\naccumulator:\n  bits: %d\n  overflow: %s\n", bits,
             overflow);
    assert_ok(assay_scheme_parse("t", text, strlen(text), &s, err), err);
    assay_status status = assay_program_make_as_is(g, s, false, &p, err);
    if (status == ASSAY_OK)
        assay_program_free(p);
    assay_scheme_free(s);
    return status;
}

/* At depth 4 and weight 100: 4 * 255 * 100 = 102,000; with a bias of 29,071 it is 2^17 - 1. */
static void test_border(void **state)
{
    static const layer list[] = {
        {ASSAY_OP_CONV, false, false, 1, 4, {3, -100}, {0, 29071}},
        {ASSAY_OP_CONV, true, false, 1, 4, {3, -100}, {0, -29071}},
        {ASSAY_OP_CONV, false, false, 2, 8, {3, 100}, {0, 29071}},
        {ASSAY_OP_CONV_TRANSPOSE, true, false, 1, 4, {3, -100}, {0, 29071}},
        {ASSAY_OP_CONV_TRANSPOSE, false, false, 1, 4, {3, -100}, {0, 29071}},
        {ASSAY_OP_CONV_TRANSPOSE, false, false, 2, 8, {3, -100}, {0, 29071}},
        {ASSAY_OP_FC, false, false, 1, 4, {3, -100}, {0, 29071}}};
    static const char *const others[] = {"wrap", "saturate-each-step", "saturate-at-end", "trap"};
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        layer l = list[i];
        assay_error err;
        assay_graph *g = make(&l);
        assert_ok(prepare(g, 18, "refuse", &err), &err);
        assay_graph_free(g);
        l.bias[1] += l.bias[1] > 0 ? 1 : -1;
        g = make(&l);
        assert_int_equal(prepare(g, 18, "refuse", &err), ASSAY_ERR_SCHEME);
        assert_non_null(strstr(err.text, "node 'layer'"));
        assert_non_null(strstr(err.text, "channel 1 may reach 131072"));
        assert_non_null(strstr(err.text, "holds 131071"));
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            assert_ok(prepare(g, 18, others[k], &err), &err);
        assay_graph_free(g);
    }
}

static void test_product(void **state)
{
    const layer l = {ASSAY_OP_MATMUL, false, false, 1, 4, {3, 100}, {0}};
    const layer m = {ASSAY_OP_MATMUL, false, true, 1, 4, {3, 100}, {0}};
    const layer *const list[] = {&l, &m};
    (void)state;
    for (int i = 0; i < 2; i++) {
        assay_error err;
        assay_graph *g = make(list[i]);
        assert_ok(prepare(g, 18, "refuse", &err), &err); /* 102,000 */
        assert_int_equal(prepare(g, 17, "refuse", &err), ASSAY_ERR_SCHEME);
        assert_non_null(strstr(err.text, "may reach 102000"));
        assay_graph_free(g);
    }
}

/* A second operand that is computed: 4 * 255 * 255. */
static void test_computed(void **state)
{
    static const float scale = 0.1f;
    static const int32_t zero = 0;
    assay_type t = {.elem = assay_int(8, false),
                    .rank = 2,
                    .dim = {4, 4},
                    .q = {ASSAY_Q_TENSOR, 0, 0, 1, &scale, &zero}};
    test_rng r = test_seed("computed", 3);
    fast_net n = fast_begin();
    assay_attrs a;
    assay_error err;
    (void)state;
    assay_attrs_defaults(ASSAY_ATTRS_matmul, &a);
    fast_add_input(&n, &t);
    fast_add_input(&n, &t);
    fast_finish(&n, ASSAY_OP_MATMUL, &a, &t, &r);
    assert_ok(prepare(n.graph, 19, "refuse", &err), &err);
    assert_int_equal(prepare(n.graph, 18, "refuse", &err), ASSAY_ERR_SCHEME);
    assert_non_null(strstr(err.text, "may reach 260100"));
    assay_graph_free(n.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_border),
                                       cmocka_unit_test(test_product),
                                       cmocka_unit_test(test_computed)};
    return cmocka_run_group_tests_name("overflow", tests, NULL, NULL);
}
