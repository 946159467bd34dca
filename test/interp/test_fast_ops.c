/* The fast engine against the reference: ops without weights. */
#include "test/support/fast_case.h"

#include <math.h>

static void check_pool(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    fast_net n = fast_begin();
    assay_attrs a;
    bool nhwc = test_between(r, 0, 1), global = test_between(r, 0, 3) == 0;
    int spatial = (int)test_between(r, 1, 3);
    int64_t dim[6], extent[3] = {1, 1, 1};
    assay_op op = global                  ? ASSAY_OP_GLOBAL_AVG_POOL
                  : test_between(r, 0, 1) ? ASSAY_OP_MAX_POOL
                                          : ASSAY_OP_AVG_POOL;
    if (global) {
        assay_attrs_defaults(ASSAY_ATTRS_layout, &a);
        a.layout.layout = nhwc ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW;
    } else {
        assay_attrs_defaults(ASSAY_ATTRS_pool, &a);
        a.pool.layout = nhwc ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW;
        a.pool.count_include_pad = test_between(r, 0, 1);
        fast_put(&a.pool.kernel, spatial, r, 1, 3);
        fast_put(&a.pool.stride, spatial, r, 1, 3);
        fast_put(&a.pool.dilation, spatial, r, 1, 1);
        fast_put(&a.pool.pad_begin, spatial, r, 0, 0);
        fast_put(&a.pool.pad_end, spatial, r, 0, 0);
        for (int i = 0; i < spatial; i++)
            a.pool.pad_begin.v[i] = test_between(r, 0, a.pool.kernel.v[i] - 1);
    }
    for (int i = 0; i < spatial; i++)
        extent[i] = test_between(r, 3, spatial == 1 ? 40 : 9);
    int rank =
        fast_shape(dim, nhwc, test_between(r, 1, 2), test_between(r, 1, 40), spatial, extent);
    assay_type x = fast_activation(r, rank, dim), y = x;
    if (test_between(r, 0, 1))
        fast_rescale(&y, 0.07f, r);
    fast_add_input(&n, &x);
    fast_finish(&n, op, &a, &y, r);
    fast_check(&n, s, r, t);
    assay_graph_free(n.graph);
}

static void check_element_wise(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    static const assay_op binary[] = {ASSAY_OP_ADD, ASSAY_OP_SUB, ASSAY_OP_MUL, ASSAY_OP_MAX,
                                      ASSAY_OP_LESS};
    static const assay_op unary[] = {ASSAY_OP_RELU, ASSAY_OP_SIGMOID, ASSAY_OP_HARD_SWISH,
                                     ASSAY_OP_EXP};
    fast_net n = fast_begin();
    bool two = test_between(r, 0, 1);
    assay_op op = two ? binary[test_between(r, 0, 4)] : unary[test_between(r, 0, 3)];
    assay_attrs a;
    assay_attrs_defaults(assay_op_get(op)->attrs, &a);
    assay_type x =
        fast_activation(r, 3,
                        (int64_t[]){two ? 260 : 3, test_between(r, 1, two ? 2 : 300),
                                    two                     ? 255
                                    : test_between(r, 0, 2) ? 5
                                                            : 70}); /* tables of 16-bit codes pay */
    assay_type b = x, y = x;
    if (two)
        x.dim[1] = 1;
    if (two && test_between(r, 0, 1))
        b.dim[2] = 1;
    fast_rescale(&y, 0.03f, r);
    fast_add_input(&n, &x);
    if (two)
        fast_add_input(&n, &b);
    fast_finish(&n, op, &a, &y, r);
    fast_check(&n, s, r, t);
    assay_graph_free(n.graph);
}

static void check_add(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    fast_net n = fast_begin();
    assay_attrs a;
    assay_op op = test_between(r, 0, 2) ? ASSAY_OP_ADD : ASSAY_OP_SUB;
    assay_attrs_defaults(assay_op_get(op)->attrs, &a);
    assay_type x = fast_activation(r, 1, (int64_t[]){test_between(r, 1, 12000)}), b = x, y = x;
    static float b_scale;
    static int32_t b_zero;
    b_scale = (float)(0.05 * ldexp(1 + test_unit(r), (int)test_between(r, -4, 2)));
    b_zero = fast_draw(r, x.elem);
    b.q = fast_params(1, &b_scale, &b_zero);
    fast_rescale(&y, (float)(0.05 * ldexp(1 + test_unit(r), (int)test_between(r, -3, 3))), r);
    fast_add_input(&n, &x);
    fast_add_input(&n, &b);
    fast_finish(&n, op, &a, &y, r);
    fast_check(&n, s, r, t);
    assay_graph_free(n.graph);
}

/* Values of any size in any order: no scheme has a say. */
static void check_transpose(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    fast_net n = fast_begin();
    assay_attrs a;
    int64_t dim[4];
    const int rank = (int)test_between(r, 2, 4);
    assay_attrs_defaults(ASSAY_ATTRS_perm, &a);
    a.perm.perm.n = rank;
    for (int i = 0; i < rank; i++) {
        dim[i] = test_between(r, 0, 3) ? test_between(r, 1, 40) : 1;
        a.perm.perm.v[i] = i;
    }
    const bool keeps_last = test_between(r, 0, 2) == 0; /* a run of few elements moves as one */
    if (keeps_last)
        dim[rank - 1] = test_between(r, 2, 4);
    for (int i = rank - 1 - keeps_last; i > 0; i--) {
        const int k = (int)test_between(r, 0, i);
        const int64_t v = a.perm.perm.v[i];
        a.perm.perm.v[i] = a.perm.perm.v[k];
        a.perm.perm.v[k] = v;
    }
    assay_type x = fast_activation(r, rank, dim);
    if (test_between(r, 0, 2) == 0) { /* plain values of four bytes */
        x.q = (assay_qparams){0};
        x.elem =
            test_between(r, 0, 1) ? assay_int(32, true) : (assay_elem){ASSAY_KIND_F32, 32, true};
    }
    fast_add_input(&n, &x);
    fast_finish(&n, ASSAY_OP_TRANSPOSE, &a, &x, r);
    n.graph->node[0].act_lo = -INFINITY;
    n.graph->node[0].act_hi = INFINITY;
    fast_check(&n, s, r, t);
    assay_graph_free(n.graph);
}

/* Over some axes from one to another, sometimes ones that are no neighbours; an image large enough
 * for a table now and then. */
static void check_reduce(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    static const assay_op ops[] = {ASSAY_OP_REDUCE_MEAN, ASSAY_OP_REDUCE_SUM, ASSAY_OP_REDUCE_MAX,
                                   ASSAY_OP_REDUCE_MIN};
    fast_net n = fast_begin();
    assay_attrs a;
    const int64_t dim[4] = {test_between(r, 1, 3), test_between(r, 1, 9), test_between(r, 1, 9),
                            test_between(r, 0, 2) ? test_between(r, 1, 40) : 300};
    const int64_t first = test_between(r, 0, 3), last = test_between(r, first, 3);
    assay_attrs_defaults(ASSAY_ATTRS_reduce, &a);
    a.reduce.keepdims = test_between(r, 0, 1);
    for (int64_t i = first; i <= last; i++)
        if (i == first || i == last || test_between(r, 0, 3))
            a.reduce.axes.v[a.reduce.axes.n++] = i;
    assay_type x = fast_activation(r, 4, dim), y = x;
    if (test_between(r, 0, 1))
        fast_rescale(&y, 0.07f, r);
    fast_add_input(&n, &x);
    fast_finish(&n, ops[test_between(r, 0, 3)], &a, &y, r);
    fast_check(&n, s, r, t);
    assay_graph_free(n.graph);
}

/* Floats to codes and back: all binades, ties, infinities and NaN. */
static void check_convert(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    const int64_t dim[2] = {test_between(r, 1, 3), test_between(r, 1, 300)};
    const assay_type codes = fast_activation(r, 2, dim);
    const assay_type floats = {.elem = {.kind = ASSAY_KIND_F32, .bits = 32, .is_signed = true},
                               .rank = 2,
                               .dim = {dim[0], dim[1]}};
    for (int back = 0; back < 2; back++) {
        fast_net n = fast_begin();
        fast_add_input(&n, back ? &codes : &floats);
        fast_finish_given(&n, back ? ASSAY_OP_DEQUANTIZE : ASSAY_OP_QUANTIZE,
                          back ? &floats : &codes);
        fast_check(&n, s, r, t);
        assay_graph_free(n.graph);
    }
}

/* Shapes differ from preset to preset. */
static void all_ops(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    for (int i = 0; i < 6; i++) {
        check_pool(s, r, t);
        check_reduce(s, r, t);
        check_convert(s, r, t);
        check_add(s, r, t);
        check_transpose(s, r, t);
    }
    check_element_wise(s, r, t);
}

static void test_presets(void **state)
{
    test_rng r = test_seed("fast engine, other ops", 5);
    (void)state;
    const fast_tally all = fast_presets(all_ops, &r);
    assert_true(all.taken > all.left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_presets)};
    return cmocka_run_group_tests_name("fast_ops", tests, NULL, NULL);
}
