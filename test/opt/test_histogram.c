/* Histograms: the state is a function of the set of elements, by any order and grouping, and never
 * shows fewer than 2000 bins of what was seen. */
#include "test/support/support.h"

#include <math.h>
#include <string.h>

#include "opt/profile/histogram.h"

enum { N = 3000, PARTS = 9 };

static void add(assay_histogram *h, float x)
{
    profile_histogram_grow(h, x, x);
    assert_true(profile_histogram_holds(h, x, x));
    ++*profile_histogram_at(h, profile_histogram_bin(h, (double)x));
    profile_histogram_note(h, 1, x, x);
}

static assay_histogram empty(void)
{
    assay_histogram h;
    assay_error err;
    assert_ok(profile_histogram_init(&h, &err), &err);
    return h;
}

/* The least exponent, tried one by one from the definition. */
static int least_exponent(float min, float max)
{
    const double far = fmax(fabs((double)min), fabs((double)max));
    int k = ASSAY_HISTOGRAM_MIN_EXPONENT;
    while (far >= ldexp(ASSAY_HISTOGRAM_MAX_BIN, k) ||
           floor(ldexp((double)max, -k)) - floor(ldexp((double)min, -k)) > 4095)
        k++;
    return k;
}

/* Elements of one kind of data; kinds from 0. */
static float element(test_rng *rng, int kind)
{
    const float u = (float)test_unit(rng);
    switch (kind) {
    case 0: /* a ReLU's */
        return u < 0.5f ? 0 : u;
    case 1: /* just above a power of two */
        return u * 1.001f;
    case 2: /* negative only */
        return -u * 100;
    case 3: /* of both signs, unequal */
        return u * 1.001f - 0.001f;
    case 4: /* far from zero */
        return 100 + u;
    case 5: /* a few ulp wide */
        return 1 + (float)(int)(u * 40) * 0x1p-23f;
    case 6: /* all magnitudes */
        return ldexpf(2 * u - 1, (int)test_between(rng, -149, 128));
    case 7: /* subnormal */
        return (2 * u - 1) * 0x1p-127f;
    default: /* the whole range */
        return u < 0.4f ? -0x1.fffffep127f : u < 0.8f ? 0x1.fffffep127f : 2 * u - 1;
    }
}

static void test_any_order_and_grouping(void **state)
{
    test_rng rng = test_seed("histogram", 20261121);
    (void)state;
    for (int round = 0; round < 5 * 9; round++) {
        const int kind = round % 9;
        assay_histogram one = empty(), part[PARTS];
        for (int i = 0; i < PARTS; i++)
            part[i] = empty();
        for (int i = 0; i < N; i++) {
            /* sometimes the last parts see another sign, or magnitude */
            const float x = element(&rng, kind) * (round > 20 && i % 7 == 0 ? -0.01f : 1);
            add(&one, x);
            add(&part[round > 20 && i % 7 == 0 ? 0 : test_between(&rng, 0, PARTS - 1)], x);
        }
        assert_int_equal(one.exponent, least_exponent(one.min, one.max));
        for (int left = PARTS; left > 1; left--) {
            int a = (int)test_between(&rng, 0, left - 1), b = (int)test_between(&rng, 0, left - 2);
            b += b >= a;
            profile_histogram_merge(&part[a], &part[b]);
            profile_histogram_clear(&part[b]);
            part[b] = part[left - 1];
        }
        assert_true(part[0].exponent == one.exponent && profile_histogram_equal(&part[0], &one));
        profile_histogram_clear(&part[0]);
        profile_histogram_clear(&one);
    }
}

static void test_at_least_2000_bins(void **state)
{
    test_rng rng = test_seed("histogram", 2000);
    (void)state;
    for (int round = 0; round < 20000; round++) {
        float x[2] = {element(&rng, round % 9), element(&rng, round % 9)};
        const float ulps = fabsf(x[0] - x[1]) / ldexpf(fmaxf(fabsf(x[0]), fabsf(x[1])), -24);
        assay_histogram h = empty();
        int first, end;
        add(&h, x[0]);
        add(&h, x[1]);
        profile_histogram_extent(&h, &first, &end);
        assert_true(end - first <= ASSAY_HISTOGRAM_BINS);
        if (ulps > 8192 && h.exponent > ASSAY_HISTOGRAM_MIN_EXPONENT && end - first < 2000)
            fail_msg("%a and %a: %d bins", (double)x[0], (double)x[1], end - first);
        profile_histogram_clear(&h);
    }
}

/* Whether an element is held is whether the exponent would stay the least one. */
static void test_holds(void **state)
{
    test_rng rng = test_seed("histogram", 3);
    (void)state;
    for (int round = 0; round < 20000; round++) {
        assay_histogram h = empty();
        const float a = element(&rng, round % 9),
                    b = round % 3 ? element(&rng, round % 9)
                                  : ldexpf(round % 2 ? 1 : -1, (int)test_between(&rng, -30, 30));
        if (round % 5 != 0)
            add(&h, a);
        const float lo = h.finite > 0 ? fminf(a, b) : b, hi = h.finite > 0 ? fmaxf(a, b) : b;
        assert_int_equal(profile_histogram_holds(&h, b, b), least_exponent(lo, hi) == h.exponent);
        profile_histogram_clear(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order_and_grouping),
        cmocka_unit_test(test_at_least_2000_bins),
        cmocka_unit_test(test_holds),
    };
    return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
