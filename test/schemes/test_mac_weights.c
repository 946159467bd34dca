/* Weights in llama.cpp's blocks, worked out by hand from the formulas of schemes/mac/weights.h; the
 * models of test/twin have whole networks of them. */
#include "test/support/support.h"

#include <math.h>
#include <string.h>

#include "schemes/mac/weights.h"

static int32_t bits_of(float x)
{
    int32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

/* A block of zeros but for its first elements. */
static bool encode(const char *format, const float *x, int n, mac_weights_block *b)
{
    int32_t bits[MAC_WEIGHTS_BLOCK] = {0};
    const mac_weights_format *f = mac_weights_find(format);
    assert_non_null(f);
    for (int i = 0; i < n; i++)
        bits[i] = bits_of(x[i]);
    return mac_weights_encode(f, bits, b);
}

static void formats(void **state)
{
    int n = 0;
    (void)state;
    for (; mac_weights_names[n]; n++) {
        const mac_weights_format *f = mac_weights_find(mac_weights_names[n]);
        assert_non_null(f);
        assert_string_equal(f->name, mac_weights_names[n]);
        assert_int_equal(f->block % f->part, 0);
    }
    assert_int_equal(n, 4);
    assert_null(mac_weights_find("q4_1"));
    assert_null(mac_weights_find("q4_k"));
}

static void one_scale(void **state)
{
    static const float x[] = {-2, 1.75F, 0.125F, 0.124F, -0.126F};
    mac_weights_block b;
    (void)state;
    assert_true(encode("q4_0", x, 5, &b)); /* d = 1/4: -2 is -8, 1.75 is 7, halves go up */
    assert_int_equal(b.d, 0x3400);
    assert_int_equal(b.code[0], 0);
    assert_int_equal(b.code[1], 15);
    assert_int_equal(b.code[2], 9);
    assert_int_equal(b.code[3], 8);
    assert_int_equal(b.code[4], 7);
    assert_int_equal(b.code[31], 8);
    static const float y[] = {127, -2.5F, 2.5F, -126.4F, 0.49F};
    assert_true(encode("q8_0", y, 5, &b)); /* d = 1, halves away from zero */
    assert_int_equal(b.d, 0x3c00);
    assert_int_equal(b.code[0], 127);
    assert_int_equal(b.code[1], -3);
    assert_int_equal(b.code[2], 3);
    assert_int_equal(b.code[3], -126);
    assert_int_equal(b.code[4], 0);
}

static void scales_of_parts(void **state)
{
    /* reaches 63 * 15 from 0: t = 63, d = 1, s = 63; below 0: u = 63, d_min = 1, m = 63 in part 1
     */
    float x[64] = {945, 31.5F, 94.5F};
    mac_weights_block b;
    (void)state;
    x[32] = -63;
    x[33] = 42;
    assert_true(encode("q4_K", x, 64, &b));
    assert_int_equal(b.d, 0x3c00);
    assert_int_equal(b.d_min, 0x3c00);
    assert_int_equal(b.scale[0], 63);
    assert_int_equal(b.min[0], 0);
    assert_int_equal(b.code[0], 15);
    assert_int_equal(b.code[1], 0);  /* 1/2 to even */
    assert_int_equal(b.code[2], 2);  /* 3/2 */
    assert_int_equal(b.scale[1], 7); /* (42 + 63) / 15 */
    assert_int_equal(b.min[1], 63);
    assert_int_equal(b.code[32], 0);
    assert_int_equal(b.code[33], 15);
    assert_int_equal(b.code[34], 9); /* 63 / 7 */
    assert_int_equal(b.scale[2], 0); /* of zeros */
    assert_int_equal(b.code[64], 0);
    /* t = 128 of part 0: d = -1, s = -128; of part 1 t = -4, s = 4 */
    float y[32] = {-4096, 3968, 192};
    y[16] = 128;
    y[17] = -2;
    assert_true(encode("q6_K", y, 32, &b));
    assert_int_equal(b.d, 0xbc00);
    assert_int_equal(b.scale[0], -128);
    assert_int_equal(b.code[0], 0);
    assert_int_equal(b.code[1], 63);
    assert_int_equal(b.code[2], 34); /* 3/2 to even */
    assert_int_equal(b.scale[1], 4);
    assert_int_equal(b.code[16], 0);
    assert_int_equal(b.code[17], 32); /* 1/2 to even */
    assert_int_equal(b.scale[2], 0);
    assert_int_equal(b.code[40], 32);
}

/* No number, or out of reach of an f16. */
static void refused(void **state)
{
    static const float far[] = {6e7F}, low[] = {-6e7F}, nan[] = {0, NAN}, inf[] = {INFINITY};
    mac_weights_block b;
    (void)state;
    for (int i = 0; mac_weights_names[i]; i++) {
        const char *f = mac_weights_names[i];
        assert_false(encode(f, nan, 2, &b));
        assert_false(encode(f, inf, 1, &b));
        assert_int_equal(encode(f, far, 1, &b), i >= 2);
        assert_int_equal(encode(f, low, 1, &b), i == 3); /* q4_K's least is divided by 63 alone */
        assert_true(encode(f, far, 0, &b));
        assert_int_equal(b.d & 0x7fff, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(formats), cmocka_unit_test(one_scale),
                                       cmocka_unit_test(scales_of_parts),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
