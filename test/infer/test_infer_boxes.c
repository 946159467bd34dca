/* Pairs of rules told by boxes: of those that are alike every row of small domains has one code, of
 * those that are not the row that was found has two, by a rescale of its own (naive.c). */
#include "test/infer/worlds.h"

#include <string.h>

#include "graph/core/type.h"
#include "interp/infer/boxes.h"

typedef struct tally {
    size_t alike, apart, untold;
} tally;

/* What the row of a pair that differs is under the naive rescale. */
static void check_row(const world *w, const infer_rule *a, const infer_rule *b,
                      const infer_row *row)
{
    const naive_row g = {.type = w->o.type,
                         .acc = row->acc,
                         .zp = row->zp,
                         .multiplier = row->multiplier,
                         .shift = row->shift,
                         .bounded = row->bounded,
                         .lo = row->lo,
                         .hi = row->hi};
    const int64_t max = INT64_C(1) << (w->o.acc_bits - 1);
    assert_true(row->acc >= -max && row->acc < max);
    assert_true(row->multiplier >= w->e.multiplier_lo && row->multiplier <= w->e.multiplier_hi);
    assert_true(row->shift >= w->e.shift_lo && row->shift <= w->e.shift_hi);
    assert_true(row->zp >= assay_elem_min(w->o.type) && row->zp <= assay_elem_max(w->o.type));
    assert_int_not_equal(naive_code(a, &g), naive_code(b, &g));
}

static void check_pair(const world *w, const infer_rule *a, const infer_rule *b, tally *n)
{
    infer_row row;
    switch (infer_tell(&w->e, a, b, &row)) {
    case INFER_ALIKE:
        n->alike++;
        world_compare(w, a, b);
        break;
    case INFER_APART:
        n->apart++;
        check_row(w, a, b, &row);
        break;
    case INFER_UNTOLD:
        n->untold++;
    }
}

/* Some fields of `k` as another rule has them. */
static infer_rule neighbour(test_rng *r, const infer_rule *k, int32_t bits)
{
    const infer_rule other = world_rule(r, bits);
    infer_rule b = *k;
    for (int n = world_some(r, 1, 2); n > 0; n--)
        switch (world_some(r, 0, 7)) {
        case 0:
            b.operand_bits = other.operand_bits;
            break;
        case 1:
            b.product_bits = other.product_bits;
            break;
        case 2:
            b.left_shift = other.left_shift;
            break;
        case 3:
            world_steps(r, &b, 5);
            break;
        case 4:
            b.result_bits = other.result_bits;
            b.result_overflow = other.result_overflow;
            break;
        case 5:
            b.sum_bits = b.zero_point == ASSAY_STAGE_AFTER ? world_some(r, 0, 6) : 0;
            b.sum_overflow = other.sum_overflow;
            break;
        case 6:
            b.input_bits = other.input_bits;
            b.input_shift_range = other.input_shift_range;
            break;
        default:
            b.reduced_bits = other.reduced_bits;
            b.reduced_overflow = other.reduced_overflow;
        }
    return b;
}

/* A shift to the left of more than 31 bits is refused. */
static int32_t min_shift(const infer_rule *k, int32_t min)
{
    const int32_t first = k->round.n > 1 ? k->round.step[0].bits : 0;
    return k->left_shift == ASSAY_LEFT_PRODUCT || min > first - 31 ? min : first - 31;
}

static void test_pairs(void **state)
{
    (void)state;
    test_rng r = test_seed("boxes", 20261126);
    tally n = {0, 0, 0};
    for (int i = 0; i < 6000; i++) {
        world w;
        const int32_t bits = world_some(&r, 1, 3), acc_bits = world_some(&r, 2, 5);
        const int64_t max = INT64_C(1) << bits;
        const int64_t lo = test_between(&r, -max, max), hi = test_between(&r, lo, max);
        int32_t min = test_between(&r, 0, 5) ? world_some(&r, -2, 4) : world_some(&r, -29, -25);
        const infer_rule a = world_rule(&r, bits), b = neighbour(&r, &a, bits);
        min = min_shift(&b, min_shift(&a, min));
        world_make(&w, world_types[world_some(&r, 0, WORLD_TYPES - 1)], acc_bits, lo, hi, min,
                   min + world_some(&r, 0, 6));
        check_pair(&w, &a, &b, &n);
    }
    print_message("# %zu pairs alike, %zu apart, %zu untold\n", n.alike, n.apart, n.untold);
    assert_true(n.alike > 1000 && n.apart > 1000);
    assert_int_equal(n.untold, 0); /* down to single rows, so small domains are decided */
}

/* Registers as targets have them: what differs is found, what does not is told. */
static void test_large(void **state)
{
    (void)state;
    world w;
    infer_row row;
    world_make(&w, (assay_elem){ASSAY_KIND_INT, 8, true}, 32, 0, INT32_MAX, 0, 62);
    infer_rule a = world_plain();
    a.multiplier_bits = 31;
    a.round =
        (assay_steps){.n = 2, .step = {{31, ASSAY_ROUND_HALF_UP}, {0, ASSAY_ROUND_HALF_AWAY}}};
    infer_rule b = a;
    b.left_shift = ASSAY_LEFT_WRAP;
    assert_int_equal(infer_tell(&w.e, &a, &b, &row), INFER_APART);
    check_row(&w, &a, &b, &row);
    w.e.shift_lo = 31; /* nothing goes to the left */
    assert_int_equal(infer_tell(&w.e, &a, &b, &row), INFER_ALIKE);
    b.result_bits = 20; /* beyond the codes */
    assert_int_equal(infer_tell(&w.e, &a, &b, &row), INFER_ALIKE);
    b.operand_bits = 31;
    assert_int_equal(infer_tell(&w.e, &a, &b, &row), INFER_APART);
    check_row(&w, &a, &b, &row);
    b.operand_bits = 0;
    b.round.step[0].mode = ASSAY_ROUND_HALF_EVEN;
    assert_int_equal(infer_tell(&w.e, &a, &b, &row), INFER_APART);
    check_row(&w, &a, &b, &row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs), cmocka_unit_test(test_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
