/* Rows by fused multiply-adds against their definitions. The exponential: floats of every binade,
 * around every place where its powers of two change, beyond both ends, subnormal results, no
 * numbers. */
#include "test/support/support.h"

#include <math.h>
#include <string.h>

#include "interp/float/fused.h"
#include "schemes/derive/mlas.h"

enum { ROW = 1021 };

static void compare(const float *x, int64_t n)
{
    float y[ROW];
    float_exp(x, n, y);
    for (int64_t i = 0; i < n; i++) {
        const float want = derive_mlas_exp(x[i]);
        if (memcmp(&y[i], &want, sizeof want) != 0)
            fail_msg("e^%.9g is %.9g, in vectors %.9g", (double)x[i], (double)want, (double)y[i]);
    }
}

static void all_binades(void **state)
{
    float x[ROW];
    uint64_t bits = 0;
    (void)state;
    while (bits < UINT64_C(1) << 32) {
        int64_t n = 0;
        for (; n < ROW && bits < UINT64_C(1) << 32; bits += 4001) {
            const uint32_t low = (uint32_t)bits;
            memcpy(&x[n++], &low, sizeof low);
        }
        compare(x, n);
    }
}

static void near_changes(void **state)
{
    float x[2 * ROW];
    int64_t n = 0;
    (void)state;
    for (int m = -152; m <= 130; m++) { /* (m + 1/2) ln 2, and its neighbours */
        float v = (float)((m + 0.5) * 0.6931471805599453);
        for (int k = 0; k < 3; k++, v = nextafterf(v, INFINITY))
            x[n++] = v;
    }
    for (int64_t i = 0; i < n; i += ROW)
        compare(x + i, n - i < ROW ? n - i : ROW);
}

static void ends(void **state)
{
    const float x[] = {0,         -0.0f,     INFINITY,        -INFINITY,        NAN,
                       88.77626f, 88.77627f, -103.97208f,     -103.97209f,      1e30f,
                       -1e30f,    0x1p-149f, 0x1.fffffep127f, -0x1.fffffep127f, -87.4f};
    (void)state;
    compare(x, sizeof x / sizeof *x);
}

static void scales_and_squares(void **state)
{
    test_rng r = test_seed("fused rows", 4);
    (void)state;
    for (int i = 0; i < 200; i++) {
        float x[ROW], scale[ROW], bias[ROW], y[ROW], lane[ASSAY_FUSED_LANES],
            want[ASSAY_FUSED_LANES];
        const int64_t n = test_between(&r, 1, ROW),
                      whole = n / ASSAY_FUSED_LANES * ASSAY_FUSED_LANES;
        const float mean = (float)test_unit(&r);
        for (int64_t k = 0; k < n; k++) {
            x[k] = y[k] = (float)ldexp(test_unit(&r) - 0.5, (int)test_between(&r, -20, 20));
            scale[k] = (float)(test_unit(&r) - 0.5);
            bias[k] = (float)(test_unit(&r) - 0.5);
        }
        float_scale(scale, bias, n, y);
        for (int64_t k = 0; k < n; k++)
            assert_true(y[k] == fmaf(x[k], scale[k], bias[k]));
        for (int k = 0; k < ASSAY_FUSED_LANES; k++)
            lane[k] = want[k] = (float)k;
        float_squares(x, whole, mean, lane);
        for (int64_t k = 0; k < whole; k++) {
            float *sum = &want[k % ASSAY_FUSED_LANES];
            *sum = fmaf(x[k] - mean, x[k] - mean, *sum);
        }
        assert_memory_equal(lane, want, sizeof want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_binades),
                                       cmocka_unit_test(near_changes), cmocka_unit_test(ends),
                                       cmocka_unit_test(scales_and_squares)};
    return cmocka_run_group_tests_name("float_fused", tests, NULL, NULL);
}
