/* The fast engine against the reference: fully connected and matrix products whose weights have a
 * scale for each block of inputs; blocks of any length, weights of 2 to 8 bits with zero points,
 * accumulators that wrap, saturate at each step and trap. */
#include "test/support/fast_case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const records[] = {
    "blocks: {kind: multiplier, multiplier_bits: 6}",
    "blocks: {kind: multiplier, multiplier_bits: 8, shift: 4, round: half-even}",
    "blocks: {kind: multiplier, multiplier_bits: 4, sum_bits: 12, sum_overflow: saturate}\n"
    "accumulator: {bits: 20, overflow: saturate-each-step}",
    "blocks: {kind: multiplier, multiplier_bits: 6}\n"
    "accumulator: {bits: 24, overflow: wrap, order: reverse}",
    "blocks: {kind: multiplier, multiplier_bits: 8}\naccumulator: {bits: 22, overflow: trap}"};

static float scales[4096], y_scale;
static int32_t zeros[4096], y_zero;

/* Weights [outputs, depth], or [depth, outputs] by columns. */
static assay_type draw_weights(test_rng *r, int64_t outputs, int64_t depth, bool columns)
{
    const int64_t block = test_between(r, 2, depth > 2 ? depth : 2);
    const int64_t along = (depth + block - 1) / block;
    const bool centred = test_between(r, 0, 2) == 0;
    assay_type w = {.elem = assay_int((unsigned)test_between(r, 2, 8), true),
                    .rank = 2,
                    .dim = {columns ? depth : outputs, columns ? outputs : depth}};
    for (int64_t i = 0; i < outputs * along; i++) {
        scales[i] = (float)ldexp(1 + test_unit(r), (int)test_between(r, -9, -6));
        zeros[i] = centred ? fast_draw(r, w.elem) : 0;
    }
    w.q = (assay_qparams){ASSAY_Q_BLOCK, columns ? 0 : 1, block, (size_t)(outputs * along), scales,
                          zeros};
    return w;
}

static void check(const assay_scheme *s, test_rng *r, fast_tally *t)
{
    const bool matmul = test_between(r, 0, 1), columns = matmul && test_between(r, 0, 2);
    const int64_t depth = test_between(r, 1, 70), outputs = test_between(r, 1, 50);
    const int64_t dim[3] = {test_between(r, 1, 2), test_between(r, 1, 20), depth};
    fast_net n = fast_begin();
    assay_attrs a;
    const assay_op op = matmul ? ASSAY_OP_MATMUL : ASSAY_OP_FC;
    assay_attrs_defaults(assay_op_get(op)->attrs, &a);
    if (matmul)
        a.matmul.transpose_b = !columns;
    const assay_type x = fast_activation(r, 3, dim);
    const assay_type w = draw_weights(r, outputs, depth, columns);
    fast_add_input(&n, &x);
    fast_add_constant(&n, &w, r);
    if (!matmul && test_between(r, 0, 1))
        fast_add_bias(&n, outputs, r);
    y_scale =
        (float)(0.05 * scales[0] * sqrt((double)depth) * ldexp(1, (int)test_between(r, 2, 7)));
    y_zero = (int32_t)test_between(r, -128, 127);
    const assay_type y = {.elem = assay_int(8, true), .q = fast_params(1, &y_scale, &y_zero)};
    fast_finish(&n, op, &a, &y, r);
    fast_check(&n, s, r, t);
    assay_graph_free(n.graph);
}

static void test_blocks(void **state)
{
    test_rng r = test_seed("fast engine, weights per block", 8);
    fast_tally all = {0};
    (void)state;
    for (size_t k = 0; k < sizeof records / sizeof *records; k++) {
        char text[400];
        fast_tally t = {0};
        assay_scheme *s;
        assay_error err;
        snprintf(text, sizeof text, "scheme: t\n%s\n", records[k]);
        assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
        for (int i = 0; i < 60; i++)
            check(s, &r, &t);
        print_message("# record %zu: %d runs taken, %d left to ref, %d cases refused\n", k, t.taken,
                      t.left, t.refused);
        assert_true(t.taken > 0);
        all.taken += t.taken;
        all.left += t.left;
        assay_scheme_free(s);
    }
    assert_true(all.taken > 4 * all.left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks)};
    return cmocka_run_group_tests_name("fast_blocks", tests, NULL, NULL);
}
