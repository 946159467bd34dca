/* Encodings of R with limits of shifts and with a reduced multiplier: what contradicts an encoding
 * contradicts it with these too. On every R of small domains: those that have one multiplier and
 * shift without them have one with them. The encodings are written here in plain integers, from the
 * words of record.def, and agree with those of schemes/. */
#include "test/support/support.h"

#include <math.h>

#include "schemes/derive/derive.h"
#include "test/infer/naive.h"

enum {
    BITS = 5,
    R_BITS = 8,
    R_MIN = 1 << (R_BITS - 1),
    R_MAX = 1 << R_BITS,
    MIN_E = -4,
    MAX_E = 4
};

typedef struct cell {
    bool refused;
    int64_t multiplier, shift;
} cell;

/* n / 2^drop. */
static int64_t rounded(int64_t n, int64_t drop, int32_t mode)
{
    const assay_steps one = {.n = 1, .step = {{0, mode}}};
    return naive_steps(&one, n, drop);
}

static int64_t half_up(int64_t n, int64_t drop)
{
    return rounded(n, drop, ASSAY_ROUND_HALF_UP);
}

static cell refused(void)
{
    return (cell){true, 0, 0};
}

static cell generated(const assay_rule_rescale *k, cell c)
{
    if (c.shift == 0 || c.shift == 1)
        return (cell){false, c.multiplier / (c.shift == 0 ? 4 : 2), 2};
    if (c.shift == 63 && 2 * c.multiplier == INT64_C(1) << k->multiplier_bits)
        return (cell){false, 2 * c.multiplier, 62};
    if (c.shift > 62)
        return (cell){false, c.multiplier >> (c.shift - 62 > 31 ? 31 : c.shift - 62), 62};
    return refused();
}

static cell too_large(const assay_rule_rescale *k, cell c)
{
    switch (k->below_shift_min) {
    case ASSAY_LARGE_ZERO:
        return (cell){false, 0, k->zero_shift};
    case ASSAY_LARGE_LARGEST:
        return (cell){false, (INT64_C(1) << k->multiplier_bits) - 1, k->shift_min};
    case ASSAY_LARGE_GENERATOR:
        return generated(k, c);
    default:
        return refused();
    }
}

static cell too_small(const assay_rule_rescale *k, cell c)
{
    switch (k->beyond_shift_max) {
    case ASSAY_SMALL_ZERO:
        return (cell){false, 0, k->zero_shift};
    case ASSAY_SMALL_DENORMAL:
        return (cell){false, rounded(c.multiplier, c.shift - k->shift_max, k->denormal_round),
                      k->shift_max};
    case ASSAY_SMALL_GENERATOR:
        return generated(k, c);
    default:
        return refused();
    }
}

/* R = n * 2^e, of R_BITS bits; beyond: by its limits. */
static cell encode(const assay_rule_rescale *k, int64_t n, int e)
{
    const int64_t bits = k->multiplier_bits;
    cell c = {false, rounded(n, R_BITS - bits, k->multiplier_round), bits - R_BITS - e};
    if (c.multiplier == INT64_C(1) << bits && k->multiplier_renormalise)
        c = (cell){false, c.multiplier / 2, c.shift - 1};
    if (c.shift < k->shift_min)
        c = too_large(k, c);
    else if (c.shift > k->shift_max)
        c = too_small(k, c);
    if (k->reduced_bits == 0 || c.multiplier == 0 || c.refused)
        return c;
    const int64_t max = INT64_C(1) << k->reduced_bits;
    c = (cell){false, half_up(c.multiplier, bits - k->reduced_bits),
               c.shift - bits + k->reduced_bits};
    if (c.multiplier >= max && k->reduced_overflow == ASSAY_REDUCED_RENORMALISE)
        return (cell){false, max / 2, c.shift - 1};
    c.multiplier = c.multiplier >= max ? max - 1 : c.multiplier;
    return c;
}

static bool is_same(cell a, cell b)
{
    return a.refused == b.refused && a.multiplier == b.multiplier && a.shift == b.shift;
}

static void compare_with_ours(const assay_rule_rescale *k, int64_t n, int e, cell c)
{
    char why[256];
    assay_encoded x;
    int64_t multiplier = 0, shift = 0, pre;
    const bool taken = derive_encode(k, ldexp((double)n, e), &x, why, sizeof why);
    if (taken)
        derive_place_encoded(k, &x, &multiplier, &shift, &pre);
    if (!is_same(c, (cell){!taken, multiplier, shift}))
        fail_msg("%lld * 2^%d: %lld / 2^%lld here, %lld / 2^%lld ours", (long long)n, e,
                 (long long)c.multiplier, (long long)c.shift, (long long)multiplier,
                 (long long)shift);
}

static size_t n_rules;

/* Neighbours whose plain cells are one have one cell: cells of a way are runs of R. */
static void check(const assay_rule_rescale *plain, const assay_rule_rescale *k)
{
    n_rules++;
    for (int e = MIN_E; e <= MAX_E; e++)
        for (int64_t n = R_MIN; n < R_MAX; n++) {
            const int64_t after = n + 1 < R_MAX ? n + 1 : R_MIN;
            const int up = e + (after == R_MIN);
            const cell a = encode(k, n, e), b = encode(k, after, up);
            if (n % 5 == 0)
                compare_with_ours(k, n, e, a);
            if (is_same(encode(plain, n, e), encode(plain, after, up)) && !is_same(a, b))
                fail_msg("bits %d round %d: R %lld and %lld * 2^%d part", k->multiplier_bits,
                         k->multiplier_round, (long long)n, (long long)after, e);
        }
}

static void check_reduced(const assay_rule_rescale *plain, assay_rule_rescale k)
{
    for (k.reduced_bits = 0; k.reduced_bits < k.multiplier_bits; k.reduced_bits++)
        for (int how = 0; how < (k.reduced_bits ? 2 : 1); how++) {
            k.reduced_overflow = how ? ASSAY_REDUCED_RENORMALISE : ASSAY_REDUCED_CAP;
            check(plain, &k);
        }
}

static void check_limits(const assay_rule_rescale *plain, assay_rule_rescale k, int32_t shift)
{
    static const int32_t small[] = {ASSAY_SMALL_ZERO, ASSAY_SMALL_REFUSE, ASSAY_SMALL_DENORMAL};
    static const int32_t large[] = {ASSAY_LARGE_ZERO, ASSAY_LARGE_REFUSE, ASSAY_LARGE_LARGEST};
    enum { LIMITS = sizeof small / sizeof *small };
    _Static_assert(LIMITS == sizeof large / sizeof *large, "a limit of each kind at a time");
    for (int i = 0; i < LIMITS; i++) {
        k.shift_max = shift;
        k.beyond_shift_max = small[i];
        k.denormal_round = small[i] == ASSAY_SMALL_DENORMAL
                               ? (shift + k.multiplier_round + 100) % ASSAY_ROUND_COUNT
                               : 0;
        check_reduced(plain, k);
        k.shift_max = plain->shift_max;
        k.shift_min = shift;
        k.below_shift_min = large[i];
        check_reduced(plain, k);
        k.shift_min = plain->shift_min;
    }
}

/* Whatever R are one without limits are one with them. */
static void test_coarser(void **state)
{
    (void)state;
    for (int32_t bits = 1; bits <= BITS; bits++)
        for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++)
            for (int renormalise = 0; renormalise < 2; renormalise++) {
                assay_record r;
                assay_record_default(&r);
                assay_rule_rescale k = r.rescale;
                k.multiplier_bits = bits;
                k.multiplier_round = mode;
                k.multiplier_renormalise = renormalise;
                k.shift_sign = ASSAY_SHIFT_RIGHT;
                k.shift_min = -1100;
                k.shift_max = 1100;
                check_reduced(&k, k);
                for (int32_t shift = -R_BITS - MAX_E; shift <= BITS; shift++)
                    check_limits(&k, k, shift);
            }
    print_message("# %zu ways\n", n_rules);
}

/* So it is of the generator's, whose limits are what they are: R about them. */
static void test_generator(void **state)
{
    (void)state;
    for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++)
        for (int at = 0; at < 2; at++)
            for (int e = -8; e <= 8; e++)
                for (int64_t n = R_MIN; n < R_MAX - 1; n++) {
                    assay_record r;
                    assay_record_default(&r);
                    assay_rule_rescale k = r.rescale, plain = k;
                    k.multiplier_bits = plain.multiplier_bits = BITS;
                    k.multiplier_round = plain.multiplier_round = mode;
                    k.shift_sign = plain.shift_sign = ASSAY_SHIFT_RIGHT;
                    k.shift_min = 2;
                    plain.shift_min = -1100;
                    plain.shift_max = 1100;
                    k.below_shift_min = ASSAY_LARGE_GENERATOR;
                    k.beyond_shift_max = ASSAY_SMALL_GENERATOR;
                    const int about = e + BITS - R_BITS - (at ? 63 : 1);
                    const cell a = encode(&k, n, about), b = encode(&k, n + 1, about);
                    compare_with_ours(&k, n, about, a);
                    if (is_same(encode(&plain, n, about), encode(&plain, n + 1, about)) &&
                        !is_same(a, b))
                        fail_msg("mode %d: R %lld * 2^%d parts from the next", mode, (long long)n,
                                 about);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_coarser),
                                       cmocka_unit_test(test_generator)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
