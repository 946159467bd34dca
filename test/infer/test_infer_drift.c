/* Steps that drift (interp/infer/drift.h): no rule with a multiplier and a shift has them, float32
 * has. Rules are drawn whose registers end near where the rows lead; their codes are naive.c's. */
#include "test/support/support.h"

#include <math.h>
#include <string.h>

#include "graph/core/type.h"
#include "interp/infer/drift.h"
#include "test/infer/worlds.h"

enum { ACC = 32 };

/* What an encoding may make of R = 2^-k: fewer bits of the multiplier with the shift, or no more
 * than the least, or the greatest, shift lets it hold. */
typedef struct encoder {
    int bits, min, max;
    int64_t beyond; /* the multiplier at a shift beyond `max` where none is left: 0 or 1 */
    int64_t below;  /* at one below `min` */
} encoder;

static void encode(const encoder *e, int k, naive_row *g)
{
    const int shift = e->bits - 1 + k;
    g->multiplier = INT64_C(1) << (e->bits - 1);
    g->shift = shift;
    if (shift < e->min) {
        g->multiplier = e->below;
        g->shift = e->min;
    } else if (shift > e->max) {
        const int lost = shift - e->max;
        g->multiplier = lost < e->bits ? g->multiplier >> lost : e->beyond;
        g->shift = e->max;
    }
}

static encoder drawn_encoder(test_rng *r)
{
    encoder e = {.bits = world_some(r, 1, 24), .min = -100, .max = 100};
    if (world_some(r, 0, 9) == 0)
        e.min = world_some(r, 20, 48);
    if (world_some(r, 0, 4) == 0)
        e.max = world_some(r, 20, 48);
    e.beyond = world_some(r, 0, 1);
    e.below = world_some(r, 0, 1) ? (INT64_C(1) << e.bits) - 1 : 0;
    return e;
}

static int32_t near(test_rng *r, int32_t bits)
{
    const int32_t n = bits + world_some(r, -3, 12);
    return world_some(r, 0, 2) == 0 ? 0 : n < 1 ? 1 : n > 60 ? 60 : n;
}

/* Fields near those that the rows would show. */
static infer_rule drawn_rule(test_rng *r, const encoder *e, int k)
{
    infer_rule rule = world_rule(r, e->bits);
    rule.reduced_bits = 0;
    rule.multiplier_bits = 32;
    rule.input_bits = 0;
    rule.input_shift_range = 0;
    if (rule.pre_shift == ASSAY_PRE_FIXED)
        rule.pre_shift_bits = world_some(r, 1, k + 1 < 31 ? k + 1 : 31);
    rule.operand_bits = world_some(r, 0, 1) ? 0 : near(r, 28);
    rule.product_bits = near(r, e->bits + k);
    world_steps(r, &rule, 31);
    if (rule.pre_shift == ASSAY_PRE_REST)
        rule.round.step[0].bits = world_some(r, 1, 40);
    rule.result_bits = near(r, 7);
    rule.sum_bits = rule.zero_point == ASSAY_STAGE_AFTER && world_some(r, 0, 1) ? near(r, 8) : 0;
    rule.sum_bits = rule.sum_bits > 32 ? 32 : rule.sum_bits;
    return rule;
}

static int distances(const infer_rule *k, const encoder *e, assay_elem type, int acc_bits)
{
    infer_row row[INFER_MAX_DRIFT];
    int64_t answer[INFER_MAX_DRIFT];
    const size_t n = infer_drift_rows(acc_bits, row);
    assert_true(n > 0 && n <= INFER_MAX_DRIFT);
    for (size_t i = 0; i < n; i++) {
        naive_row g = {.acc = row[i].acc, .type = type};
        encode(e, -ilogbf(row[i].in), &g);
        answer[i] = naive_code(k, &g);
    }
    return infer_drift_distances(answer, acc_bits);
}

static void test_no_rule_of_integers(void **state)
{
    (void)state;
    static const assay_elem types[] = {
        {ASSAY_KIND_INT, 8, true}, {ASSAY_KIND_INT, 8, false}, {ASSAY_KIND_INT, 16, true}};
    test_rng r = test_seed("drift", 20261126);
    size_t of[3] = {0};
    for (int i = 0; i < 20000; i++) {
        const int acc_bits = world_some(&r, 27, 34);
        const encoder e = drawn_encoder(&r);
        const infer_rule k = drawn_rule(&r, &e, acc_bits - 8 < 24 ? acc_bits - 8 : 24);
        const int n = distances(&k, &e, WORLD_SOME_OF(&r, types), acc_bits);
        assert_in_range(n, 0, 2);
        of[n]++;
    }
    print_message("# %zu rules with one distance, %zu with two\n", of[1], of[2]);
    assert_true(of[1] > 1000 && of[2] > 50);
}

/* float32(x) * 2^-k, rounded, as the language has it. */
static int64_t of_floats(const infer_row *row, double (*mode)(double), bool loses)
{
    const double x = loses ? (double)(float)row->acc : (double)row->acc;
    return (int64_t)mode(x * (double)row->in);
}

static int float_distances(double (*mode)(double), bool loses, int acc_bits)
{
    infer_row row[INFER_MAX_DRIFT];
    int64_t answer[INFER_MAX_DRIFT];
    const size_t n = infer_drift_rows(acc_bits, row);
    for (size_t i = 0; i < n; i++)
        answer[i] = of_floats(&row[i], mode, loses);
    return infer_drift_distances(answer, acc_bits);
}

static void test_floats(void **state)
{
    (void)state;
    static double (*const modes[])(double) = {nearbyint, round, floor, ceil, trunc};
    infer_row row[INFER_MAX_DRIFT];
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        for (int acc_bits = 27; acc_bits <= 64; acc_bits++) {
            assert_true(float_distances(modes[i], true, acc_bits) > 2);
            assert_int_equal(float_distances(modes[i], false, acc_bits), 1);
        }
    assert_int_equal(infer_drift_rows(26, row), 0);
    assert_int_equal(infer_drift_distances(NULL, 26), 0);
}

/* A row that is refused, or has neither integer's code, shows nothing. */
static void test_spoilt(void **state)
{
    (void)state;
    infer_row row[INFER_MAX_DRIFT];
    int64_t answer[INFER_MAX_DRIFT];
    const size_t n = infer_drift_rows(ACC, row);
    for (size_t i = 0; i < n; i++)
        answer[i] = of_floats(&row[i], nearbyint, true);
    assert_int_equal(infer_drift_distances(answer, ACC), 4);
    for (size_t i = 0; i < n; i++) {
        const int64_t was = answer[i];
        answer[i] = INFER_REFUSED;
        assert_int_equal(infer_drift_distances(answer, ACC), 0);
        answer[i] = was;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_rule_of_integers),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_spoilt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
