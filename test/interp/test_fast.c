/* The fast engine against the reference, convolutions and matrix products: engine `both` compares
 * every element of every node it takes, codes and accumulators, on every instruction set that the
 * machine has. */
#include "test/support/fast_case.h"

static void check_conv(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    fast_net n = fast_begin();
    assay_attrs a;
    int spatial = (int)test_between(r, 1, 3);
    bool nhwc = test_between(r, 0, 1);
    int64_t dim[6], extent[3], group = 1, c = test_between(r, 1, 40), o = test_between(r, 1, 70);
    if (test_between(r, 0, 2) == 0) {
        group = test_between(r, 2, 5);
        c = group * test_between(r, 1, 6);
        o = group * test_between(r, 1, 20);
    } else if (test_between(r, 0, 2) == 0) {
        group = c = o = test_between(r, 2, 140);
    }
    assay_attrs_defaults(ASSAY_ATTRS_conv, &a);
    a.conv.layout = nhwc ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW;
    a.conv.group = group;
    fast_put(&a.conv.kernel, spatial, r, 1, spatial == 3 ? 2 : 4);
    fast_put(&a.conv.stride, spatial, r, 1, 3);
    fast_put(&a.conv.dilation, spatial, r, 1, test_between(r, 0, 1) ? 1 : 2);
    fast_put(&a.conv.pad_begin, spatial, r, 0, 0);
    fast_put(&a.conv.pad_end, spatial, r, 0, 0);
    int64_t cells = 1;
    for (int i = 0; i < spatial; i++) {
        int64_t reach = (a.conv.kernel.v[i] - 1) * a.conv.dilation.v[i];
        if (test_between(r, 0, 1)) {
            a.conv.pad_begin.v[i] = test_between(r, 0, reach);
            a.conv.pad_end.v[i] = test_between(r, 0, reach);
        }
        extent[i] = test_between(r, reach + 1, reach + (spatial == 1 ? 40 : spatial == 2 ? 9 : 4));
        cells *= a.conv.kernel.v[i];
    }
    int rank = fast_shape(dim, nhwc, test_between(r, 1, 2), c, spatial, extent);
    assay_type x = fast_activation(r, rank, dim);
    fast_shape(dim, nhwc, o, c / group, spatial, a.conv.kernel.v);
    assay_type w = fast_weights(r, rank, dim), y = fast_output(r, c / group * cells);
    fast_add_input(&n, &x);
    fast_add_constant(&n, &w, r);
    if (test_between(r, 0, 3))
        fast_add_bias(&n, o, r);
    fast_finish(&n, ASSAY_OP_CONV, &a, &y, r);
    fast_check(&n, s, r, t);
    assay_graph_free(n.graph);
}

static void check_conv_transpose(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    fast_net n = fast_begin();
    assay_attrs a;
    const int spatial = (int)test_between(r, 1, 2);
    const bool nhwc = test_between(r, 0, 1);
    int64_t dim[6], extent[3];
    const int64_t group = nhwc ? 1 : test_between(r, 1, 3), per = test_between(r, 1, 12);
    const int64_t c = group * test_between(r, 1, 12), o = group * per;
    assay_attrs_defaults(ASSAY_ATTRS_conv, &a);
    a.conv.layout = nhwc ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW;
    a.conv.group = group;
    fast_put(&a.conv.kernel, spatial, r, 1, 4);
    fast_put(&a.conv.stride, spatial, r, 1, 3);
    fast_put(&a.conv.dilation, spatial, r, 1, 2);
    fast_put(&a.conv.pad_begin, spatial, r, 0, 2);
    fast_put(&a.conv.pad_end, spatial, r, 0, 2);
    int64_t cells = 1;
    for (int i = 0; i < spatial; i++) {
        extent[i] = test_between(r, 6, spatial == 1 ? 30 : 9);
        cells *= a.conv.kernel.v[i];
    }
    int rank = fast_shape(dim, nhwc, test_between(r, 1, 2), c, spatial, extent);
    assay_type x = fast_activation(r, rank, dim);
    fast_shape(dim, nhwc, nhwc ? o : c, nhwc ? c : per, spatial, a.conv.kernel.v);
    assay_type w = fast_weights(r, rank, dim), y = fast_output(r, c / group * cells);
    w.q = fast_params(1, w.q.scale, w.q.zero_point);
    fast_add_input(&n, &x);
    fast_add_constant(&n, &w, r);
    if (test_between(r, 0, 1))
        fast_add_bias(&n, o, r);
    fast_finish(&n, ASSAY_OP_CONV_TRANSPOSE, &a, &y, r);
    fast_check(&n, s, r, t);
    assay_graph_free(n.graph);
}

/* Both operands computed; batches broadcast. */
static void check_product(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    fast_net n = fast_begin();
    assay_attrs a;
    const int64_t k = test_between(r, 1, 90), o = test_between(r, 1, 70);
    const int64_t heads = test_between(r, 1, 3), images = test_between(r, 1, 2);
    assay_attrs_defaults(ASSAY_ATTRS_matmul, &a);
    a.matmul.transpose_b = test_between(r, 0, 1);
    assay_type x = fast_activation(r, 4, (int64_t[]){images, heads, test_between(r, 1, 30), k});
    const bool columns = !a.matmul.transpose_b;
    assay_type w = fast_weights(
        r, 3, (int64_t[]){test_between(r, 0, 1) ? heads : 1, columns ? k : o, columns ? o : k});
    w.q = fast_params(1, w.q.scale, w.q.zero_point);
    assay_type y = fast_output(r, k);
    fast_add_input(&n, &x);
    fast_add_input(&n, &w);
    fast_finish(&n, ASSAY_OP_MATMUL, &a, &y, r);
    fast_check(&n, s, r, t);
    assay_graph_free(n.graph);
}

static void check_matrix(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    fast_net n = fast_begin();
    assay_attrs a;
    bool matmul = test_between(r, 0, 1), constant = test_between(r, 0, 3) > 0;
    const bool deep = test_between(r, 0, 15) == 0;
    int64_t k = deep ? 4096 : test_between(r, 1, 200), o = test_between(r, 1, deep ? 9 : 100);
    assay_attrs_defaults(ASSAY_ATTRS_matmul, &a);
    a.matmul.transpose_b = test_between(r, 0, 1);
    assay_type x = fast_activation(
        r, 3, (int64_t[]){test_between(r, 1, 2), test_between(r, 1, deep ? 2 : 30), k});
    bool columns = matmul && !a.matmul.transpose_b;
    assay_type w = fast_weights(r, 2, columns ? (int64_t[]){k, o} : (int64_t[]){o, k});
    if (matmul)
        w.q = fast_params(1, w.q.scale, w.q.zero_point);
    assay_type y = fast_output(r, k);
    fast_add_input(&n, &x);
    if (constant || !matmul)
        fast_add_constant(&n, &w, r);
    else
        fast_add_input(&n, &w);
    if (!matmul && test_between(r, 0, 1))
        fast_add_bias(&n, o, r);
    fast_finish(&n, matmul ? ASSAY_OP_MATMUL : ASSAY_OP_FC, matmul ? &a : NULL, &y, r);
    fast_check(&n, s, r, t);
    assay_graph_free(n.graph);
}

/* ---- schemes ---- */

static void all_products(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    for (int i = 0; i < 8; i++) {
        check_conv(s, r, t);
        check_conv(s, r, t);
        check_matrix(s, r, t);
        check_conv_transpose(s, r, t);
        check_product(s, r, t);
    }
}

/* Shapes differ from preset to preset. */
static void test_presets(void **state)
{
    test_rng r = test_seed("fast engine", 1);
    (void)state;
    const fast_tally all = fast_presets(all_products, &r);
    assert_true(all.taken > 2 * all.left);
}

static void some_products(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    for (int i = 0; i < 20; i++) {
        check_conv(s, r, t);
        check_matrix(s, r, t);
    }
}

/* Accumulators whose policy or order matters: saturating, trapping, narrow, in lanes. */
static void test_policies(void **state)
{
    static const char *const rules[] = {
        "accumulator: {bits: 16, overflow: saturate-each-step}",
        "accumulator: {bits: 20, overflow: trap}",
        "accumulator: {bits: 18, overflow: wrap}",
        "accumulator: {bits: 24, overflow: saturate-at-end}",
        "accumulator: {bits: 16, overflow: saturate-each-step, order: lanes, lanes: 4}",
        "accumulator: {saturate_pairs: yes}"};
    test_rng r = test_seed("policies", 2);
    (void)state;
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        assert_true(fast_scheme(rules[k], some_products, &r).left > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_presets),
                                       cmocka_unit_test(test_policies)};
    return cmocka_run_group_tests_name("fast", tests, NULL, NULL);
}
