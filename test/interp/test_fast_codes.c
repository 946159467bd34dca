/* The fast engine against the reference: element-wise functions of one and two codes of 4 to 16
 * bits, any two shapes that broadcast, few elements and many. */
#include "test/support/fast_case.h"

#include <math.h>
#include <string.h>

static float scale[3];
static int32_t zero[3];

static assay_type draw_type(test_rng *r, int i, assay_elem e, int rank, const int64_t *dim)
{
    assay_type t = {.elem = e, .rank = rank};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    scale[i] = (float)ldexp(test_between(r, 0, 2) ? 1 + test_unit(r) : 1,
                            (int)test_between(r, -8, e.bits > 8 ? -6 : -2));
    zero[i] = e.bits > 8 || test_between(r, 0, 2) == 0 ? 0 : fast_draw(r, e);
    if (i > 0 && test_between(r, 0, 3) == 0) {
        scale[i] = scale[0];
        zero[i] = zero[0];
    }
    t.q = fast_params(1, &scale[i], &zero[i]);
    return t;
}

static assay_elem draw_elem(test_rng *r)
{
    static const assay_elem kinds[] = {{ASSAY_KIND_INT, 8, true},  {ASSAY_KIND_INT, 8, false},
                                       {ASSAY_KIND_INT, 16, true}, {ASSAY_KIND_INT, 16, true},
                                       {ASSAY_KIND_INT, 4, true},  {ASSAY_KIND_INT, 12, true}};
    return kinds[test_between(r, 0, (int)(sizeof kinds / sizeof *kinds) - 1)];
}

/* The output's shape, sometimes of thousands of elements; then two operands', of which each may
 * lack axes in front and have an extent of 1 anywhere. */
static void draw_shapes(test_rng *r, int rank[2], int64_t dim[2][6])
{
    int64_t whole[6];
    const int n = (int)test_between(r, 1, 5);
    const bool large = n < 3 && test_between(r, 0, 3) == 0;
    for (int i = 0; i < n; i++)
        whole[i] = test_between(r, 1, i == n - 1 ? 70 : 5);
    if (large)
        whole[0] = test_between(r, 300, 2000);
    for (int k = 0; k < 2; k++) {
        const int left_out = test_between(r, 0, 3) ? 0 : (int)test_between(r, 0, n - 1);
        rank[k] = n - left_out;
        for (int i = left_out; i < n; i++)
            dim[k][i - left_out] = test_between(r, 0, 3) ? whole[i] : 1;
    }
    if (test_between(r, 0, 2) == 0) { /* alike */
        rank[1] = rank[0];
        memcpy(dim[1], dim[0], sizeof dim[0]);
    }
}

static void check_binary(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    static const assay_op ops[] = {ASSAY_OP_ADD,          ASSAY_OP_ADD,
                                   ASSAY_OP_ADD,          ASSAY_OP_SUB,
                                   ASSAY_OP_MUL,          ASSAY_OP_MUL,
                                   ASSAY_OP_MIN,          ASSAY_OP_MAX,
                                   ASSAY_OP_DIV,          ASSAY_OP_SQUARED_DIFFERENCE,
                                   ASSAY_OP_EQUAL,        ASSAY_OP_LESS,
                                   ASSAY_OP_GREATER_EQUAL};
    const assay_op op = ops[test_between(r, 0, (int)(sizeof ops / sizeof *ops) - 1)];
    const assay_elem e = draw_elem(r);
    fast_net n = fast_begin();
    assay_attrs a;
    int rank[2];
    int64_t dim[2][6];
    draw_shapes(r, rank, dim);
    assay_attrs_defaults(assay_op_get(op)->attrs, &a);
    const assay_type x = draw_type(r, 0, e, rank[0], dim[0]);
    const assay_type b = draw_type(r, 1, e, rank[1], dim[1]);
    const assay_type y = draw_type(r, 2, e, 0, dim[0]);
    fast_add_input(&n, &x);
    if (test_between(r, 0, 2))
        fast_add_input(&n, &b);
    else
        fast_add_constant(&n, &b, r);
    fast_finish(&n, op, &a, &y, r);
    fast_check(&n, s, r, t);
    assay_graph_free(n.graph);
}

static void check_unary(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    static const assay_op ops[] = {ASSAY_OP_RELU, ASSAY_OP_LEAKY_RELU, ASSAY_OP_ABS, ASSAY_OP_CLIP,
                                   ASSAY_OP_SIGMOID};
    const assay_op op = ops[test_between(r, 0, (int)(sizeof ops / sizeof *ops) - 1)];
    const int64_t dim[2] = {test_between(r, 1, 6),
                            test_between(r, 0, 5) ? test_between(r, 1, 700) : 6000};
    fast_net n = fast_begin();
    assay_attrs a;
    assay_attrs_defaults(assay_op_get(op)->attrs, &a);
    const assay_type x = draw_type(r, 0, draw_elem(r), 2, dim);
    const assay_type y = draw_type(r, 1, x.elem, 0, dim);
    fast_add_input(&n, &x);
    fast_finish(&n, op, &a, &y, r);
    fast_check(&n, s, r, t);
    assay_graph_free(n.graph);
}

static void test_presets(void **state)
{
    test_rng r = test_seed("fast engine, codes", 6);
    fast_tally all = {0};
    (void)state;
    for (const char *const *name = assay_scheme_presets(); *name; name++) {
        assay_scheme *s;
        assay_error err;
        fast_tally t = {0};
        assert_ok(assay_scheme_open(*name, &s, &err), &err);
        for (int i = 0; i < 30; i++) {
            check_binary(s, &r, &t);
            if (i % 2)
                check_unary(s, &r, &t);
        }
        print_message("# %s: %d runs taken, %d left to ref, %d cases refused\n", *name, t.taken,
                      t.left, t.refused);
        all.taken += t.taken;
        all.left += t.left;
        assay_scheme_free(s);
    }
    assert_int_equal(all.left, 0);
    assert_true(all.taken > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_presets)};
    return cmocka_run_group_tests_name("fast_codes", tests, NULL, NULL);
}
