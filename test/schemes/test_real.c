/* Real numbers to integers against exact rational arithmetic, all nine rules. */
#include "test/support/roundings.h"
#include "test/support/support.h"

#include <math.h>

#include "schemes/derive/real.h"

/* x = m * 2^e exactly; |m| < 2^53. Tells floor(x) and how the rest compares with 0 and 1/2. */
static int64_t real_ref(double x, enum assay_rounding mode)
{
    int e;
    int64_t m = (int64_t)ldexp(frexp(x, &e), 53);
    e -= 53;
    if (m == 0 || e >= 0)
        return m * (e >= 0 && m != 0 ? INT64_C(1) << e : 0);
    const bool negative = m < 0;
    int64_t below;
    enum test_part part;
    if (e < -60) { /* |x| < 2^-7 */
        below = negative ? -1 : 0;
        part = negative ? TEST_ABOVE_HALF : TEST_BELOW_HALF;
    } else {
        const int64_t one = INT64_C(1) << -e, rest = ((m % one) + one) % one;
        below = (m - rest) / one;
        part = rest == 0            ? TEST_WHOLE
               : rest < one - rest  ? TEST_BELOW_HALF
               : rest == one - rest ? TEST_HALF
                                    : TEST_ABOVE_HALF;
    }
    return below + test_rounds_up(mode, negative, below % 2 != 0, part);
}

static void check(double x)
{
    for (int mode = 0; mode < ASSAY_ROUND_COUNT; mode++) {
        int64_t want = real_ref(x, (enum assay_rounding)mode);
        int64_t got = derive_round_real(x, (enum assay_rounding)mode);
        if (got != want)
            fail_msg("%a %s: %lld, expected %lld", x,
                     assay_rounding_name((enum assay_rounding)mode), (long long)got,
                     (long long)want);
    }
}

static void numbers(void **state)
{
    (void)state;
    test_rng rng = test_seed("reals", 6);
    for (int k = -4096; k <= 4096; k++) { /* every multiple of 1/64 and its two neighbours */
        const double x = k / 64.0;
        check(x);
        check(nextafter(x, INFINITY));
        check(nextafter(x, -INFINITY));
    }
    for (int e = -1074; e < 62; e++) {
        check(ldexp(1, e));
        check(-ldexp(1, e));
        check(ldexp(-1 - test_unit(&rng), e));
        check(ldexp(1 + test_unit(&rng), e - 1));
    }
    for (int i = 0; i < 100000; i++)
        check(ldexp(test_unit(&rng) * 2 - 1, (int)test_between(&rng, -80, 61)));
}

static void ends(void **state)
{
    (void)state;
    for (int mode = 0; mode < ASSAY_ROUND_COUNT; mode++) {
        const enum assay_rounding m = (enum assay_rounding)mode;
        assert_int_equal(derive_round_real(NAN, m), 0);
        assert_true(derive_round_real(INFINITY, m) == INT64_C(1) << 62);
        assert_true(derive_round_real(-0x1p70, m) == -(INT64_C(1) << 62));
        assert_true(derive_round_real(0x1p62, m) == INT64_C(1) << 62);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
