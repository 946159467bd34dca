/* The fast engine against the reference: softmax and layer normalization, every kind that schemes
 * have, rows of 1 to thousands of codes, along any axis. */
#include "test/support/fast_case.h"

#include <math.h>

static float x_scale, y_scale, gamma_scale;
static int32_t x_zero, y_zero;
static const int32_t none = 0;

/* Rows along the last axis or another; sometimes long. */
static int draw_shape(test_rng *r, int64_t dim[6])
{
    const int rank = (int)test_between(r, 1, 4);
    for (int i = 0; i < rank; i++)
        dim[i] = test_between(r, 1, 7);
    dim[rank - 1] = test_between(r, 0, 5) ? test_between(r, 1, 70) : test_between(r, 200, 5000);
    return rank;
}

static assay_type draw_input(test_rng *r, bool wide)
{
    assay_type t = {.elem = assay_int(test_between(r, 0, 3) ? 8 : (unsigned)test_between(r, 2, 8),
                                      test_between(r, 0, 1))};
    if (wide && test_between(r, 0, 3) == 0)
        t.elem = assay_int(16, true);
    t.rank = draw_shape(r, t.dim);
    x_scale = (float)ldexp(1 + test_unit(r), (int)test_between(r, -9, 0));
    x_zero = t.elem.bits == 16 ? 0 : fast_draw(r, t.elem);
    t.q = fast_params(1, &x_scale, &x_zero);
    return t;
}

static void check_softmax(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    fast_net n = fast_begin();
    assay_attrs a;
    const assay_type x = draw_input(r, false);
    assay_type y = x;
    assay_attrs_defaults(ASSAY_ATTRS_softmax, &a);
    a.softmax.axis = test_between(r, 0, 2) ? -1 : test_between(r, 0, x.rank - 1);
    a.softmax.beta = test_between(r, 0, 2) ? 1 : (float)(test_unit(r) * 3 + 0.1);
    y.elem.is_signed = test_between(r, 0, 1);
    y_scale = 1.0f / (float)(1 << y.elem.bits);
    y_zero = (int32_t)assay_elem_min(y.elem);
    if (!assay_scheme_fixed_output(s, "softmax", y.elem, &y_scale, &y_zero) &&
        test_between(r, 0, 2) == 0) {
        y_scale *= (float)(0.25 + 2 * test_unit(r));
        y_zero = fast_draw(r, y.elem);
    }
    y.q = fast_params(1, &y_scale, &y_zero);
    fast_add_input(&n, &x);
    fast_finish(&n, ASSAY_OP_SOFTMAX, &a, &y, r);
    fast_check(&n, s, r, t);
    assay_graph_free(n.graph);
}

static void check_layer_norm(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    fast_net n = fast_begin();
    assay_attrs a;
    const assay_type x = draw_input(r, true);
    assay_type y = x, g = {.rank = 0};
    unsigned bits, finer;
    assay_scheme_norm_codes(s, x.elem.bits > 8, &bits, &finer);
    assay_attrs_defaults(ASSAY_ATTRS_norm, &a);
    a.norm.axis = test_between(r, 0, 2) ? -1 : test_between(r, 0, x.rank - 1);
    a.norm.epsilon = test_between(r, 0, 1) ? 1e-5f : 0.5f;
    const int first = (int)(a.norm.axis < 0 ? a.norm.axis + x.rank : a.norm.axis);
    for (int i = first; i < x.rank; i++)
        g.dim[g.rank++] = x.dim[i];
    g.elem = assay_int(bits, true);
    gamma_scale = (float)ldexp(1 + test_unit(r), (int)test_between(r, -14, -5));
    g.q = fast_params(1, &gamma_scale, &none);
    fast_add_input(&n, &x);
    if (test_between(r, 0, 3))
        fast_add_constant(&n, &g, r);
    assay_type b = g;
    const float beta_scale = test_between(r, 0, 3) ? ldexpf(gamma_scale, -(int)finer) : gamma_scale;
    b.elem = assay_int(test_between(r, 0, 1) ? 32 : 20, true);
    b.q = fast_params(1, &beta_scale, &none);
    if (n.n_in == 2 && test_between(r, 0, 1))
        fast_add_constant(&n, &b, r);
    y.elem = assay_int(8, test_between(r, 0, 1));
    y_scale = (float)ldexp(1 + test_unit(r), (int)test_between(r, -7, -3));
    y_zero = fast_draw(r, y.elem);
    y.q = fast_params(1, &y_scale, &y_zero);
    fast_finish(&n, ASSAY_OP_LAYER_NORM, &a, &y, r);
    fast_check(&n, s, r, t);
    assay_graph_free(n.graph);
}

/* The others, of whatever parameters the scheme gives their outputs; 16-bit softmax too. */
static void check_others(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    static const assay_op ops[] = {ASSAY_OP_SOFTMAX, ASSAY_OP_LOG_SOFTMAX, ASSAY_OP_L2_NORM,
                                   ASSAY_OP_LRN};
    assay_op op = ops[test_between(r, 0, (int)(sizeof ops / sizeof *ops) - 1)];
    fast_net n = fast_begin();
    assay_attrs a;
    assay_type x = draw_input(r, op != ASSAY_OP_LOG_SOFTMAX), y;
    if (op == ASSAY_OP_LRN && x.rank < 3)
        op = ASSAY_OP_L2_NORM;
    if (op == ASSAY_OP_SOFTMAX) {
        x.elem = assay_int(16, true);
        x_zero = 0;
    }
    assay_attrs_defaults(assay_op_get(op)->attrs, &a);
    if (op == ASSAY_OP_LRN)
        a.lrn.size = test_between(r, 1, 7);
    y = x;
    y_scale = 1.0f / 128;
    y_zero = 0;
    assay_scheme_fixed_output(s, assay_op_get(op)->name, y.elem, &y_scale, &y_zero);
    y.q = fast_params(1, &y_scale, &y_zero);
    fast_add_input(&n, &x);
    fast_finish(&n, op, &a, &y, r);
    fast_check(&n, s, r, t);
    assay_graph_free(n.graph);
}

static void eight_each(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    for (int i = 0; i < 8; i++) {
        check_softmax(s, r, t);
        check_layer_norm(s, r, t);
        if (i % 2)
            check_others(s, r, t);
    }
}

static void many_each(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    for (int i = 0; i < 8; i++)
        eight_each(s, r, t);
}

static void test_presets(void **state)
{
    test_rng r = test_seed("rows", 9);
    (void)state;
    const fast_tally all = fast_presets(eight_each, &r);
    assert_true(all.taken > all.left);
}

/* Kinds, roundings and fractions that presets do not have together. */
static void test_kinds(void **state)
{
    static const char *const schemes[] = {
        "softmax: {kind: fixed-point, layer_norm: integer-sqrt}\nrescale: {round: [half-up]}",
        "softmax: {kind: float-table, layer_norm: integer-sqrt, layer_norm_fraction: 16}",
        "softmax: {kind: integer-table, layer_norm: integer-sqrt, layer_norm_fraction: 4}",
        "softmax: {kind: q31-table, layer_norm: integer-sqrt, layer_norm_shift: 9}",
        ("softmax: {kind: float-sum, layer_norm: integer-sqrt, layer_norm_shift: 16}\n"
         "rescale: {encoding: float32, scale: f32, round: [half-even]}"),
        "softmax: {kind: i-bert, layer_norm: newton-inverse-sqrt}"};
    test_rng r = test_seed("kinds of rows", 10);
    (void)state;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        const fast_tally t = fast_scheme(schemes[i], many_each, &r);
        print_message("# %zu: %d runs taken, %d left to ref, %d cases refused\n", i, t.taken,
                      t.left, t.refused);
        if (i + 1 < sizeof schemes / sizeof *schemes)
            assert_true(t.taken > t.left);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_presets),
                                       cmocka_unit_test(test_kinds)};
    return cmocka_run_group_tests_name("fast_rows", tests, NULL, NULL);
}
