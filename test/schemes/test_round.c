/* schemes/round.h against twins that share no code with it: a bit-serial one (a number is a
 * string of bits, rounding a ripple of carries) and one by definition (of the neighbours of
 * the exact quotient, the one that the rule names). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/round.h"
#include "test/support/roundings.h"
#include "test/support/support.h"

static test_rng rng;

static uint64_t random64(void)
{
    return test_random(&rng);
}
/* Random width, and runs of equal low bits, so that ties and exact values occur. */
static int64_t random_wide(void)
{
    uint64_t x = random64() >> (random64() & 63);
    switch (random64() & 3) {
    case 0:
        x <<= random64() & 63;
        break;
    case 1:
        x |= ((uint64_t)1 << (random64() & 63)) - 1;
        break;
    }
    return random64() & 1 ? (int64_t)x : (int64_t)(0 - x);
}

/* ---- the bit-serial twin ---- */

enum { BITS = 160 };

/* Rounds the magnitude: its bits from s up are kept, plus one if the rule says so. */
static assay_int128 shift_ref(assay_int128 n, unsigned s, enum assay_rounding mode)
{
    char bit[BITS + 2] = {0};
    int negative = n < 0;
    assay_uint128 magnitude = negative ? -(assay_uint128)n : (assay_uint128)n;
    for (unsigned i = 0; i < 128; i++)
        bit[i] = (char)(magnitude >> i & 1);

    int half = s > 0 && bit[s - 1], rest = 0;
    for (unsigned i = 0; i + 1 < s; i++)
        rest |= bit[i];
    /* Of the magnitude the kept bits are truncated: a negative value's floor is one further out. */
    const bool inexact = half || rest, odd_floor = bit[s] != (negative && inexact);
    const int quarters = half + half + rest; /* 0 to 3: what is cut off, from the magnitude */
    const enum test_part cut =
        !negative || !inexact ? (enum test_part)quarters : (enum test_part)(4 - quarters);
    const bool up = test_rounds_up(mode, negative, odd_floor, cut);
    bool grow = inexact && (negative ? !up : up); /* away from zero by one */
    for (unsigned i = s; grow && i < BITS; i++) {
        grow = bit[i] != 0;
        bit[i] = !bit[i];
    }
    assay_uint128 out = 0;
    for (unsigned i = 0; i < 128 && i + s < BITS; i++)
        out |= (assay_uint128)bit[i + s] << i;
    return (assay_int128)(negative ? -out : out);
}

/* ---- the twin by definition: n / d ---- */

static int64_t div_ref(int64_t num, int64_t den, enum assay_rounding mode)
{
    assay_int128 n = den < 0 ? -(assay_int128)num : num, d = den < 0 ? -(assay_int128)den : den;
    assay_int128 below = n / d;
    while (below * d > n) /* C truncates: at most one step */
        below--;
    assay_int128 above = below * d == n ? below : below + 1;
    assay_int128 to_below = n - below * d, to_above = above * d - n;
    assay_int128 r = below;
    if (below != above)
        r += test_rounds_up(mode, n < 0, below % 2 != 0,
                            to_below < to_above    ? TEST_BELOW_HALF
                            : to_below == to_above ? TEST_HALF
                                                   : TEST_ABOVE_HALF);
    return r > INT64_MAX ? INT64_MAX : (int64_t)r;
}

/* ---- tests ---- */

static enum assay_rounding mode_at(unsigned i, const char **name)
{
    enum assay_rounding mode = (enum assay_rounding)i;
    *name = assay_rounding_name(mode);
    assert_non_null(*name);
    return mode;
}

static void names_go_both_ways(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < ASSAY_ROUND_COUNT; i++) {
        const char *name;
        enum assay_rounding mode, want = mode_at(i, &name);
        assert_true(assay_rounding_parse(name, &mode));
        assert_int_equal(mode, want);
        assert_non_null(assay_rounding_words(mode));
    }
    assert_null(assay_rounding_words((enum assay_rounding)ASSAY_ROUND_COUNT));
    enum assay_rounding untouched = ASSAY_ROUND_ODD;
    assert_false(assay_rounding_parse("half", &untouched));
    assert_false(assay_rounding_parse("", &untouched));
    assert_int_equal(untouched, ASSAY_ROUND_ODD);
    assert_null(assay_rounding_name((enum assay_rounding)ASSAY_ROUND_COUNT));
}

/* The table in the header, in quarters. */
static void the_truth_table(void **unused)
{
    (void)unused;
    static const int quarters[] = {-10, -6, -3, -2, -1, 1, 2, 3, 6, 10};
    static const struct {
        const char *name;
        int result[10];
    } rows[] = {
        {"half-up", {-2, -1, -1, 0, 0, 0, 1, 1, 2, 3}},
        {"half-away", {-3, -2, -1, -1, 0, 0, 1, 1, 2, 3}},
        {"half-even", {-2, -2, -1, 0, 0, 0, 0, 1, 2, 2}},
        {"half-zero", {-2, -1, -1, 0, 0, 0, 0, 1, 1, 2}},
        {"floor", {-3, -2, -1, -1, -1, 0, 0, 0, 1, 2}},
        {"trunc", {-2, -1, 0, 0, 0, 0, 0, 0, 1, 2}},
        {"ceil", {-2, -1, 0, 0, 0, 1, 1, 1, 2, 3}},
        {"odd", {-3, -1, -1, -1, -1, 1, 1, 1, 1, 3}},
        {"away", {-3, -2, -1, -1, -1, 1, 1, 1, 2, 3}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum assay_rounding mode;
        assert_true(assay_rounding_parse(rows[i].name, &mode));
        for (unsigned j = 0; j < 10; j++) {
            assert_int_equal(assay_round_shift(quarters[j], 2, mode), rows[i].result[j]);
            assert_int_equal(assay_round_shift128(quarters[j], 2, mode), rows[i].result[j]);
            assert_int_equal(assay_round_div(quarters[j], 4, mode), rows[i].result[j]);
            assert_int_equal(assay_round_div(-quarters[j], -4, mode), rows[i].result[j]);
        }
    }
}

static void shift_exhaustive(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < ASSAY_ROUND_COUNT; i++) {
        const char *name;
        enum assay_rounding mode = mode_at(i, &name);
        for (int n = -2048; n < 2048; n++)
            for (unsigned s = 0; s < 128; s += s < 66 ? 1 : 20) {
                assay_int128 want = shift_ref(n, s, mode);
                if (assay_round_shift(n, s, mode) != want ||
                    assay_round_shift128(n, s, mode) != want)
                    fail_msg("%s: %d / 2^%u", name, n, s);
            }
        assert_int_equal(assay_round_shift(-1, 1000, mode), shift_ref(-1, 100, mode));
    }
}

static void div_exhaustive(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < ASSAY_ROUND_COUNT; i++) {
        const char *name;
        enum assay_rounding mode = mode_at(i, &name);
        for (int n = -1024; n <= 1024; n++)
            for (int d = -100; d <= 100; d++)
                if (d != 0 && assay_round_div(n, d, mode) != div_ref(n, d, mode))
                    fail_msg("%s: %d / %d", name, n, d);
    }
}

static void wide_random(void **unused)
{
    (void)unused;
    rng = test_seed("round", 20261121);
    for (unsigned trial = 0; trial < 100000; trial++) {
        const char *name;
        enum assay_rounding mode = mode_at(trial % ASSAY_ROUND_COUNT, &name);
        int64_t n = random_wide(), d = random_wide();
        unsigned s = (unsigned)(random64() % 70), s128 = (unsigned)(random64() % 128);
        assay_int128 wide = (assay_int128)n * random_wide() + random_wide();
        if (assay_round_shift(n, s, mode) != shift_ref(n, s, mode))
            fail_msg("%s: %" PRId64 " / 2^%u", name, n, s);
        if (assay_round_shift128(wide, s128, mode) != shift_ref(wide, s128, mode))
            fail_msg("%s: 128 bits, trial %u, / 2^%u", name, trial, s128);
        if (d != 0 && assay_round_div(n, d, mode) != div_ref(n, d, mode))
            fail_msg("%s: %" PRId64 " / %" PRId64, name, n, d);
    }
}

/* The ends of the ranges, where a careless formula overflows. */
static void extremes(void **unused)
{
    (void)unused;
    static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    assay_int128 min128 = (assay_int128)((assay_uint128)1 << 127), max128 = ~min128;
    for (unsigned i = 0; i < ASSAY_ROUND_COUNT; i++) {
        const char *name;
        enum assay_rounding mode = mode_at(i, &name);
        for (unsigned a = 0; a < 7; a++) {
            for (unsigned s = 0; s < 128; s++)
                assert_true(assay_round_shift(ends[a], s, mode) == shift_ref(ends[a], s, mode));
            for (unsigned b = 0; b < 7; b++)
                if (ends[b] != 0)
                    assert_true(assay_round_div(ends[a], ends[b], mode) ==
                                div_ref(ends[a], ends[b], mode));
        }
        for (unsigned s = 0; s < 128; s++) {
            assert_true(assay_round_shift128(min128, s, mode) == shift_ref(min128, s, mode));
            assert_true(assay_round_shift128(max128, s, mode) == shift_ref(max128, s, mode));
        }
    }
}

/* Monotone, and rounding to odd first with two guard bits makes a second rounding harmless. */
static void laws(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < ASSAY_ROUND_COUNT; i++) {
        enum assay_rounding mode = (enum assay_rounding)i;
        for (int n = -2048; n < 2047; n++)
            for (unsigned s = 0; s < 14; s++) {
                assert_true(assay_round_shift(n, s, mode) <= assay_round_shift(n + 1, s, mode));
                if (s < 2)
                    continue;
                for (unsigned first = 0; first <= s - 2; first++) {
                    int64_t guard = assay_round_shift(n, first, ASSAY_ROUND_ODD);
                    assert_int_equal(assay_round_shift(guard, s - first, mode),
                                     assay_round_shift(n, s, mode));
                }
            }
    }
}

/* x less or more 2^bits = size, as often as it takes to lie in lo .. lo + size - 1. */
static int64_t wrapped_into(int64_t x, int64_t lo, int64_t size)
{
    while (x < lo)
        x += size;
    while (x >= lo + size)
        x -= size;
    return x;
}

static int64_t saturated_to(int64_t x, int64_t lo, int64_t hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* x * 2^s, wrapped at every doubling. */
static void check_left_shifts(int64_t x, unsigned bits, int64_t lo, int64_t size)
{
    int64_t wrapped = x;
    for (unsigned s = 0; s < 12; s++) {
        assert_int_equal(apply_shift_left_wrap(x, s, bits), wrapped);
        assert_int_equal(apply_shift_left_saturate(x, s, bits),
                         saturated_to(x * ((int64_t)1 << s), lo, lo + size - 1));
        wrapped = wrapped_into(2 * wrapped, lo, size);
    }
}

/* Narrowing, by counting: the range of b bits is -2^(b-1) .. 2^(b-1) - 1, or 0 .. 2^b - 1. */
static void narrowing(void **unused)
{
    (void)unused;
    int64_t size = 1;
    for (unsigned bits = 1; bits <= 10; bits++) {
        size *= 2;
        const int64_t lo = -(size / 2), hi = size / 2 - 1;
        assert_int_equal(apply_int_min(bits), lo);
        assert_int_equal(apply_int_max(bits), hi);
        for (int64_t x = -3000; x <= 3000; x++) {
            assert_int_equal(apply_saturate(x, bits), saturated_to(x, lo, hi));
            assert_int_equal(apply_saturate128(x, bits), saturated_to(x, lo, hi));
            assert_int_equal(apply_saturate_unsigned(x, bits), saturated_to(x, 0, size - 1));
            assert_int_equal(apply_wrap(x, bits), wrapped_into(x, lo, size));
            assert_int_equal(apply_wrap_unsigned(x, bits), wrapped_into(x, 0, size));
            if (lo <= x && x <= hi)
                check_left_shifts(x, bits, lo, size);
        }
    }
}

static void narrowing_extremes(void **unused)
{
    (void)unused;
    assert_true(apply_int_min(64) == INT64_MIN && apply_int_max(64) == INT64_MAX);
    assert_true(apply_saturate(INT64_MIN, 64) == INT64_MIN);
    assert_true(apply_wrap(INT64_MIN, 64) == INT64_MIN && apply_wrap(-1, 64) == -1);
    assert_true(apply_saturate_unsigned(INT64_MAX, 63) == INT64_MAX);
    assert_true(apply_shift_left_saturate(3, 62, 64) == INT64_MAX);
    assert_true(apply_shift_left_saturate(-1, 63, 64) == INT64_MIN);
    assert_true(apply_shift_left_saturate(-1, 64, 64) == INT64_MIN);
    assert_true(apply_shift_left_saturate(1, 99, 64) == INT64_MAX);
    assert_true(apply_shift_left_saturate(0, 99, 8) == 0);
    assert_true(apply_shift_left_wrap(3, 63, 64) == INT64_MIN);
    assert_true(apply_shift_left_wrap(3, 64, 64) == 0);
    assert_true(apply_saturate128((assay_int128)INT64_MAX * 4, 64) == INT64_MAX);
    assert_true(apply_saturate128((assay_int128)INT64_MIN * 4, 33) == -((int64_t)1 << 32));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(the_truth_table),
        cmocka_unit_test(shift_exhaustive),
        cmocka_unit_test(div_exhaustive),
        cmocka_unit_test(wide_random),
        cmocka_unit_test(extremes),
        cmocka_unit_test(laws),
        cmocka_unit_test(narrowing),
        cmocka_unit_test(narrowing_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
