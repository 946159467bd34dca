/* Rounding of floats in vector forms (schemes/apply/simd/round.h) against the definitions of the
 * modes, on every kind of float: whole, halves, their neighbours, tiny. Built a second time with
 * x87 arithmetic, where C keeps sums in a wider type: the same bits. */
#include "test/support/roundings.h"
#include "test/support/support.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#define SIMD_NAME test
#include "schemes/apply/simd/round.h"

static float from_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static void rounds(float f)
{
    for (int i = 0; i < ASSAY_ROUND_COUNT; i++) {
        const enum assay_rounding mode = (enum assay_rounding)i;
        const int64_t got = round_float(f, mode), want = test_rounded(f, mode);
        if (got != want)
            fail_msg("%s of %a: %lld, expected %lld", assay_rounding_name(mode), (double)f,
                     (long long)got, (long long)want);
    }
}

static void edges(void **state)
{
    (void)state;
    for (int half = -2000; half <= 2000; half++) {
        const uint32_t bits = bits_of((float)half / 2);
        for (uint32_t near = half == 0 ? 0 : (uint32_t)-2; near != 3; near++)
            rounds(from_bits(bits + near));
    }
    for (int e = 1; e < 127 + 22; e++)
        for (uint32_t sign = 0; sign <= 1; sign++) {
            rounds(from_bits(sign << 31 | (uint32_t)e << 23));
            rounds(from_bits(sign << 31 | (uint32_t)e << 23 | 0x7fffff));
        }
}

static void random_floats(void **state)
{
    (void)state;
    test_rng r = test_seed("round_float", 7);
    for (int i = 0; i < 200000; i++) {
        const uint32_t e = (uint32_t)test_between(&r, 90, 127 + 21);
        rounds(from_bits((uint32_t)(test_random(&r) & 0x807fffff) | e << 23));
    }
}

int main(void)
{
    printf("# floats are computed with FLT_EVAL_METHOD %d\n", (int)FLT_EVAL_METHOD);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges),
        cmocka_unit_test(random_floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
