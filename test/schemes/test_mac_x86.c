/* This processor's own VDPBF16PS, where it has the instruction, beside the unit x86-avx512-bf16: a
 * million dots, subnormals, infinities and NaN among them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/mac/mac.h"
#include "test/support/support.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11

#include <immintrin.h>

enum { LANES = 16, BATCH = 1 << 12, BATCHES = 16 };
enum { ROWS = LANES * BATCH };

/* An exponent of 8 bits: anything, near 1, so small that products are subnormal, subnormal, or
 * Inf and NaN. */
static uint32_t exponent(uint64_t draw)
{
    const uint32_t low = (uint32_t)draw & 255;
    switch (draw >> 8 & 7) {
    case 0:
        return low;
    case 1:
        return 60 + (low & 7);
    case 2:
        return low & 15 ? 64 : 0;
    case 3:
        return (low & 31) == 0 ? 255 : 190;
    default:
        return 124 + (low & 7);
    }
}

static uint16_t bf16(test_rng *rng)
{
    const uint64_t draw = test_random(rng);
    const uint32_t digits = (draw >> 16 & 7) == 0 ? 0 : (uint32_t)(draw >> 20) & 127;
    return (uint16_t)((draw >> 63) << 15 | exponent(draw) << 7 | digits);
}

static uint32_t f32(test_rng *rng)
{
    const uint64_t draw = test_random(rng);
    const uint32_t digits = (draw >> 16 & 7) == 0 ? 0 : (uint32_t)(draw >> 20) & 0x7fffff;
    return (uint32_t)((draw >> 63) << 31) | ((draw >> 17 & 7) == 0 ? 0 : exponent(draw) << 23) |
           digits;
}

__attribute__((target("avx512f,avx512bf16"))) static void
instruction(const uint16_t *a, const uint16_t *b, const uint32_t *c, uint32_t *d)
{
    const __m512i left = _mm512_loadu_si512(a), right = _mm512_loadu_si512(b);
    __m512 sum = _mm512_castsi512_ps(_mm512_loadu_si512(c));
    sum = _mm512_dpbf16_ps(sum, (__m512bh)left, (__m512bh)right);
    _mm512_storeu_si512(d, _mm512_castps_si512(sum));
}

static void draw_rows(test_rng *rng, uint16_t *a, uint16_t *b, uint32_t *c)
{
    for (size_t i = 0; i < 2 * ROWS; i++) {
        a[i] = bf16(rng);
        b[i] = bf16(rng);
    }
    for (size_t i = 0; i < ROWS; i++)
        c[i] = f32(rng);
}

static void every_dot(void **state)
{
    static uint16_t a[2 * ROWS], b[2 * ROWS];
    static uint32_t c[ROWS], d[ROWS], expected[ROWS];
    const assay_mac_rows rows = {.k = 2, .a = a, .b = b, .c = c};
    test_rng rng = test_seed("VDPBF16PS", 20);
    assay_mac_unit u;
    assay_error err;
    (void)state;
    if (!__builtin_cpu_supports("avx512bf16")) {
        print_message("this processor has no VDPBF16PS\n");
        skip();
    }
    assert_int_equal(mac_open("x86-avx512-bf16", &u, &err), ASSAY_OK);
    for (int n = 0; n < BATCHES; n++) {
        draw_rows(&rng, a, b, c);
        for (size_t i = 0; i < ROWS; i += LANES)
            instruction(a + 2 * i, b + 2 * i, c + i, expected + i);
        assert_int_equal(mac_dots(&u.record, ROWS, &rows, d, &err), ASSAY_OK);
        for (size_t i = 0; i < ROWS; i++)
            if (d[i] != expected[i])
                fail_msg("%04x*%04x + %04x*%04x + %08" PRIx32 ": %08" PRIx32
                         ", the processor gives %08" PRIx32,
                         a[2 * i], b[2 * i], a[2 * i + 1], b[2 * i + 1], c[i], d[i], expected[i]);
    }
    print_message("%d dots as the processor gives them\n", BATCHES * ROWS);
}

#else

static void every_dot(void **state)
{
    (void)state;
    print_message("no compiler for VDPBF16PS here\n");
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_dot)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
