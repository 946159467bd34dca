/* Fields that assay infer leaves out of a rule, and lists of steps that it calls the same: on every
 * row of small domains both rules give one code. The codes are those of a rescale that is written
 * here, of schemes/README.md ("the record in one breath") and the words of record.def, in plain
 * integers. */
#include "test/infer/worlds.h"

#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "interp/infer/modes.h"
#include "interp/infer/same.h"
#include "test/support/roundings.h"

/* ---- fields that are left out ---- */

static size_t left_out;

static void check(const world *w, const infer_rule *k)
{
    const infer_rule normal = infer_normal(&w->e, k);
    if (memcmp(k, &normal, sizeof normal) == 0)
        return;
    left_out++;
    world_compare(w, k, &normal);
}

/* ---- the end of a rule: result, sum, store ---- */
static void test_ends(void **state)
{
    (void)state;
    left_out = 0;
    for (size_t t = 0; t < WORLD_TYPES; t++)
        for (int before = 0; before < 2; before++) {
            world w;
            world_make(&w, world_types[t], 4, 0, 3, 0, 1);
            infer_rule k = world_plain();
            k.multiplier_bits = 2;
            k.zero_point = before ? ASSAY_STAGE_BEFORE : ASSAY_STAGE_AFTER;
            for (k.store = 0; k.store < 2; k.store++)
                for (k.result_bits = 0; k.result_bits <= 7; k.result_bits++)
                    for (k.result_overflow = 0; k.result_overflow < 3; k.result_overflow++)
                        for (k.sum_bits = 0; k.sum_bits <= (before ? 0 : 7); k.sum_bits++)
                            for (k.sum_overflow = 0; k.sum_overflow < 3; k.sum_overflow++)
                                check(&w, &k);
        }
    assert_true(left_out > 1000);
}

/* ---- what stands before the rounding ---- */
static void try_refusals(const world *w, infer_rule *k)
{
    for (k->input_bits = 0; k->input_bits <= 6; k->input_bits += 2)
        for (k->input_shift_range = 0; k->input_shift_range < 2; k->input_shift_range++)
            check(w, k);
}

static void try_products(const world *w, infer_rule *k)
{
    for (k->operand_bits = 0; k->operand_bits <= 6; k->operand_bits++)
        for (k->product_bits = 0; k->product_bits <= 9; k->product_bits++)
            for (k->left_shift = 0; k->left_shift < (k->pre_shift == ASSAY_PRE_REST ? 1 : 3);
                 k->left_shift++)
                for (int32_t first = 0; first <= (k->pre_shift == ASSAY_PRE_REST ? 0 : 2);
                     first++) {
                    if (k->pre_shift != ASSAY_PRE_REST)
                        k->round = first
                                       ? (assay_steps){.n = 2,
                                                       .step = {{first, ASSAY_ROUND_HALF_UP},
                                                                {0, ASSAY_ROUND_FLOOR}}}
                                       : (assay_steps){.n = 1, .step = {{0, ASSAY_ROUND_HALF_UP}}};
                    try_refusals(w, k);
                }
}

static void test_before(void **state)
{
    (void)state;
    left_out = 0;
    for (int before = 0; before < 2; before++)
        for (int reduced = 0; reduced < 3; reduced++) {
            world w;
            infer_rule k = world_plain();
            world_make(&w, world_types[before], 4, reduced ? -3 : -2, 4, -1, 4);
            k.multiplier_bits = 2;
            k.reduced_bits = reduced > 0;
            k.reduced_overflow = reduced == 1 ? ASSAY_REDUCED_CAP : ASSAY_REDUCED_RENORMALISE;
            k.zero_point = before ? ASSAY_STAGE_BEFORE : ASSAY_STAGE_AFTER;
            try_products(&w, &k);
            k.pre_shift = ASSAY_PRE_FIXED;
            k.pre_shift_bits = 1;
            k.pre_shift_round = ASSAY_ROUND_CEIL;
            try_products(&w, &k);
            k.pre_shift = ASSAY_PRE_REST;
            k.pre_shift_bits = 0;
            k.round = (assay_steps){.n = 1, .step = {{2, ASSAY_ROUND_HALF_EVEN}}};
            try_products(&w, &k);
        }
    assert_true(left_out > 1000);
}

/* ---- any rule and domain ---- */

/* A neighbour that may be the same: another list of steps. */
static void check_steps(const world *w, test_rng *r, const infer_rule *k, size_t *same)
{
    infer_rule other = *k;
    world_steps(r, &other, 5);
    const infer_rule a = infer_normal(&w->e, k), b = infer_normal(&w->e, &other);
    if (memcmp(&a, &b, sizeof a) == 0 || !infer_is_same(&w->e, &a, &b))
        return;
    ++*same;
    world_compare(w, k, &other);
}

static void test_any(void **state)
{
    (void)state;
    test_rng r = test_seed("fields", 20261124);
    size_t same = 0;
    left_out = 0;
    for (int i = 0; i < 3000; i++) {
        world w;
        const int32_t bits = world_some(&r, 1, 3), acc_bits = world_some(&r, 2, 5);
        const int64_t max = INT64_C(1) << bits;
        const int64_t lo = test_between(&r, -max, max), hi = test_between(&r, lo, max);
        const int32_t s_lo =
            test_between(&r, 0, 5) ? world_some(&r, -2, 4) : world_some(&r, -29, -25);
        infer_rule k = world_rule(&r, bits);
        const int32_t first = k.round.n > 1 ? k.round.step[0].bits : 0;
        const int32_t min =
            k.left_shift == ASSAY_LEFT_PRODUCT || s_lo > first - 31 ? s_lo : first - 31;
        world_make(&w, world_types[world_some(&r, 0, WORLD_TYPES - 1)], acc_bits, lo, hi, min,
                   min + world_some(&r, 0, 6));
        check(&w, &k);
        for (int n = 0; n < 8; n++)
            check_steps(&w, &r, &k, &same);
    }
    print_message("# %zu rules with a field left out, %zu pairs of lists\n", left_out, same);
    assert_true(left_out > 1500 && same > 2000);
}

/* ---- modes, by what they make of quarters ---- */

enum { QUARTERS = 24 }; /* on either side of 0 */

static int64_t quarters(int32_t mode, int n)
{
    return test_rounded((long double)n / 4, (enum assay_rounding)mode);
}

/* Of the quarters lo..hi, each `by`. */
static bool same_mode(int32_t a, int32_t b, int lo, int hi, int by)
{
    bool same = true;
    for (int n = lo; n <= hi; n += by)
        same &= quarters(a, n) == quarters(b, n);
    return same;
}

static bool is_nearest(int32_t mode)
{
    bool nearest = true;
    for (int n = -QUARTERS; n <= QUARTERS; n++)
        nearest &= llabs(4 * quarters(mode, n) - n) <= 2;
    return nearest;
}

static bool is_periodic(int32_t mode)
{
    bool periodic = true;
    for (int n = -QUARTERS; n <= QUARTERS; n++)
        periodic &= quarters(mode, n + 8) == quarters(mode, n) + 2;
    return periodic;
}

static void check_mode(int32_t mode)
{
    const int32_t positives = infer_mode_of_positives(mode), halves = infer_mode_of_halves(mode);
    assert_true(same_mode(mode, positives, 0, QUARTERS, 1));
    assert_true(same_mode(mode, halves, -QUARTERS, QUARTERS, 2));
    for (int32_t other = 0; other < ASSAY_ROUND_COUNT; other++) {
        assert_false(other < positives && same_mode(mode, other, 0, QUARTERS, 1));
        assert_false(other < halves && same_mode(mode, other, -QUARTERS, QUARTERS, 2));
    }
    assert_int_equal(infer_is_nearest_mode(mode), is_nearest(mode));
    assert_int_equal(infer_is_periodic_mode(mode), is_periodic(mode));
    for (int tie = 0; tie < 2; tie++) {
        assert_int_equal(infer_mode_reaches(mode, tie, true), quarters(mode, 4 - 1 - tie) == 1);
        assert_int_equal(infer_mode_reaches(mode, tie, false), quarters(mode, 32 - 1 - tie) == 8);
    }
}

/* And each mode has one among those of magnitudes, which rounds -x as x where one does. */
static void test_modes(void **state)
{
    (void)state;
    const infer_modes modes = infer_magnitude_modes();
    for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++) {
        int stands = 0;
        bool odd = true, of_it = true;
        check_mode(mode);
        for (int n = 0; n <= QUARTERS; n++)
            odd &= quarters(mode, -n) == -quarters(mode, n);
        for (int m = 0; m < modes.n; m++)
            if (same_mode(mode, modes.mode[m], 0, QUARTERS, 1)) {
                stands++;
                of_it = modes.mode[m] == mode;
            }
        assert_int_equal(stands, 1);
        assert_true(of_it || !odd);
    }
}

/* ---- lists of steps, decided ---- */

enum {
    BITS = 6,
    SHIFTS = 9,
    MODES = ASSAY_ROUND_COUNT,
    LISTS = MODES * (1 + 4 * MODES + 3 * MODES * MODES) /* of one step, of two, of three */
};

typedef struct listed {
    assay_steps s;
    int8_t value[SHIFTS][2 << BITS];
} listed;

static listed list[LISTS];

static void tabulate(listed *l)
{
    for (int shift = 1; shift <= SHIFTS; shift++)
        for (int p = 0; p < 2 << BITS; p++)
            l->value[shift - 1][p] = (int8_t)naive_steps(&l->s, p - (1 << BITS), shift);
}

static void make_lists(void)
{
    size_t n = 0;
    for (int a = 0; a < MODES; a++) {
        list[n++].s = (assay_steps){.n = 1, .step = {{0, a}}};
        for (int b = 0; b < MODES; b++)
            for (int bits = 1; bits <= 4; bits++)
                list[n++].s = (assay_steps){.n = 2, .step = {{bits, a}, {0, b}}};
        for (int b = 0; b < MODES; b++)
            for (int c = 0; c < MODES; c++)
                for (int bits = 0; bits < 3; bits++)
                    list[n++].s =
                        (assay_steps){.n = 3, .step = {{bits + 1, a}, {3 - bits, b}, {0, c}}};
    }
    assert_int_equal(n, LISTS);
    for (size_t i = 0; i < LISTS; i++)
        tabulate(&list[i]);
}

static bool is_same(const listed *a, const listed *b, int bits, int min, int max)
{
    const size_t from = (size_t)((1 << BITS) - (1 << bits)), n = (size_t)2 << bits;
    for (int shift = min; shift <= max; shift++)
        if (memcmp(a->value[shift - 1] + from, b->value[shift - 1] + from, n) != 0)
            return false;
    return true;
}

static void test_steps(void **state)
{
    (void)state;
    static const int range[][3] = {
        {BITS, 1, SHIFTS}, {BITS, 4, SHIFTS}, {3, 1, SHIFTS}, {BITS, 5, 5}, {0, 1, 4}};
    size_t same = 0;
    make_lists();
    for (size_t at = 0; at < sizeof range / sizeof *range; at++)
        for (size_t i = 0; i < LISTS; i++)
            for (size_t k = i + 1; k < LISTS; k++) {
                if (list[i].s.n == 3 && list[k].s.n == 3 && (i + k) % 16 != at)
                    continue;
                const bool is =
                    is_same(&list[i], &list[k], range[at][0], range[at][1], range[at][2]);
                same += is;
                if (is != infer_same_steps(&list[i].s, &list[k].s, range[at][0], range[at][1],
                                           range[at][2]))
                    fail_msg("lists %zu and %zu, products of %d bits, shifts %d to %d", i, k,
                             range[at][0], range[at][1], range[at][2]);
            }
    print_message("# %d lists, %zu pairs that are the same\n", LISTS, same);
}

/* One product. */
static void test_product(void **state)
{
    (void)state;
    const assay_steps up = {.n = 1, .step = {{0, ASSAY_ROUND_HALF_UP}}};
    const assay_steps two = {.n = 2, .step = {{48, ASSAY_ROUND_HALF_UP}, {0, ASSAY_ROUND_FLOOR}}};
    const assay_int128 p = (assay_int128)1 << 47;
    assert_true(infer_same_product(&up, &two, p, 1, 63));
    assert_false(infer_same_product(&up, &two, -2 * p, 1, 63));
    assert_true(infer_same_steps(&up, &two, 47, 1, 63));
    assert_false(infer_same_steps(&up, &two, 48, 1, 63));
}

/* ---- lists that are searched ---- */

enum { ROWS = 240, FOUND = 300, ACC_BITS = 7, MULTIPLIER_BITS = 4 };

static infer_row draw_row(test_rng *r, const world *w, const infer_rule *k)
{
    const int64_t half = INT64_C(1) << (ACC_BITS - 1);
    infer_row row = {.acc = test_between(r, 0, 7) ? test_between(r, -half, half - 1) : 0,
                     .multiplier = test_between(r, 0, w->t.multiplier_hi),
                     .shift = world_some(r, w->t.shift_lo, w->t.shift_hi),
                     .zp = world_some(r, 0, 2) ? 0 : world_some(r, -128, 127)};
    const naive_row g = {.acc = row.acc,
                         .zp = row.zp,
                         .multiplier = row.multiplier,
                         .shift = row.shift,
                         .type = w->o.type};
    row.answer = naive_code(k, &g);
    return row;
}

/* On every product and shift of the domain. */
static bool is_alike(const world *w, const assay_steps *a, const assay_steps *b)
{
    const int64_t half = INT64_C(1) << (ACC_BITS - 1);
    for (int64_t shift = w->t.shift_lo; shift <= w->t.shift_hi; shift++)
        for (int64_t m = 0; m <= w->t.multiplier_hi; m++)
            for (int64_t x = -half; x < half; x++)
                if (naive_steps(a, x * m, shift) != naive_steps(b, x * m, shift))
                    return false;
    return true;
}

static void find_list(world *w, test_rng *r, const infer_rule *k, infer_row *row, size_t n)
{
    assay_error err;
    for (size_t i = 0; i < n; i++)
        row[i] = draw_row(r, w, k);
    assert_int_equal(infer_engine_take(&w->e, row, n, &err), ASSAY_OK);
    assert_int_equal(infer_find_ends(&w->e, &err), ASSAY_OK);
    for (int tail = 0; tail < w->e.n_tails; tail++) {
        infer_candidate c = {.rule = world_plain(), .tail = tail, .form = INFER_WIDE};
        c.rule.multiplier_bits = MULTIPLIER_BITS;
        if (!w->e.tail[tail].before)
            infer_push(&w->e, &c);
    }
    infer_find_steps(&w->e);
}

/* However few the rows are, the list that gave the answers, or one that is the same, is found. */
static void test_found(void **state)
{
    (void)state;
    test_rng r = test_seed("found", 20261128);
    static infer_row row[ROWS];
    for (int i = 0; i < FOUND; i++) {
        world w;
        infer_rule k = world_plain();
        const int32_t lo = world_some(&r, 0, 2);
        world_make(&w, (assay_elem){ASSAY_KIND_INT, 8, true}, ACC_BITS, 0,
                   (1 << MULTIPLIER_BITS) - 1, lo, world_some(&r, lo + 2, 7));
        w.e.multiplier_bits = k.multiplier_bits = MULTIPLIER_BITS;
        w.t.random.state = 1;
        w.t.complete = true;
        world_steps(&r, &k, 4);
        find_list(&w, &r, &k, row, (size_t)test_between(&r, ROWS / 8, ROWS));
        bool found = false;
        for (size_t at = 0; at < w.e.list.n && !found; at++)
            found = is_alike(&w, &w.e.list.item[at].rule.round, &k.round);
        if (!found || !w.t.complete)
            fail_msg("list %d of %d steps: not among %zu", i, k.round.n, w.e.list.n);
        infer_engine_close(&w.e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),  cmocka_unit_test(test_before),  cmocka_unit_test(test_any),
        cmocka_unit_test(test_steps), cmocka_unit_test(test_product), cmocka_unit_test(test_found),
        cmocka_unit_test(test_modes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
