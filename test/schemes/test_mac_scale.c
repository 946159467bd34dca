/* schemes/mac/scale.h: scales of blocks and elements under them, against test/vectors/matrix-units
 * (MX in four modes of five formats, NVFP4 in two), and what those rows do not hold. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "schemes/mac/scale.h"
#include "test/support/npz.h"
#include "test/support/support.h"

#define ONE UINT32_C(0x3f800000)

static struct npz *archive(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "matrix-units/%s.npz", name);
    struct npz *z = npz_vectors(path);
    assert_non_null(z);
    return z;
}

static const int64_t *column(struct npz *z, const char *name, size_t *n)
{
    const int64_t *x = npz_i64(z, name, n, NULL);
    assert_non_null(x);
    return x;
}

static void load(const int64_t *from, size_t n, int32_t *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (int32_t)from[i];
}

static void check_mx(struct npz *z, const assay_mac_scaling *s, const char *name)
{
    char scale_name[72]; /* of a name below 64 */
    size_t rows, n;
    snprintf(scale_name, sizeof scale_name, "%s_scale", name);
    const int64_t *x = column(z, "x", &n), *codes = column(z, name, &n),
                  *scale = column(z, scale_name, &rows);
    for (size_t r = 0; r < rows; r++) {
        int32_t in[32], out[32];
        load(x + 32 * r, 32, in);
        const uint32_t got = mac_scale_of(s, in, 32, ONE, NULL);
        if (got != (uint32_t)scale[r])
            fail_msg("%s, row %zu: scale %u, expected %u", name, r, got, (uint32_t)scale[r]);
        mac_scale_encode(s, in, 32, got, ONE, out, NULL);
        for (size_t i = 0; got != 0xff && i < 32; i++)
            if (out[i] != (int32_t)codes[32 * r + i])
                fail_msg("%s, row %zu, element %zu: %02x, expected %02x", name, r, i, out[i],
                         (unsigned)codes[32 * r + i]);
    }
}

static void mx_blocks(void **state)
{
    static const char *const modes[] = {"floor", "ceil", "even", "rceil"};
    static const enum assay_scale_rule rules[] = {ASSAY_SCALE_FLOOR, ASSAY_SCALE_CEIL,
                                                  ASSAY_SCALE_EVEN, ASSAY_SCALE_ROUND_UP};
    static const enum assay_mac_format formats[] = {ASSAY_MAC_E4M3FN, ASSAY_MAC_E5M2,
                                                    ASSAY_MAC_E3M2, ASSAY_MAC_E2M3, ASSAY_MAC_E2M1};
    struct npz *z = archive("mx-quantize");
    (void)state;
    for (int m = 0; m < 4; m++)
        for (int f = 0; f < (int)(sizeof formats / sizeof *formats); f++) {
            const assay_mac_scaling s = {.elements = formats[f],
                                         .to = ASSAY_MAC_E8M0,
                                         .rule = rules[m],
                                         .saturate = true,
                                         .reach = ONE};
            char name[64];
            snprintf(name, sizeof name, "%s_%s", mac_layout_of(formats[f])->name, modes[m]);
            check_mx(z, &s, name);
        }
    npz_close(z);
}

static void nvfp4_blocks(void **state)
{
    struct npz *z = archive("nvfp4-quantize");
    size_t n, rows;
    const int64_t *x = column(z, "x", &n), *second = column(z, "tensor_scale", &rows),
                  *scale = column(z, "block_scale", &rows),
                  *codes[2] = {column(z, "e2m1_divide", &n), column(z, "e2m1_mul_reciprocal", &n)};
    (void)state;
    for (size_t r = 0; r < rows; r++)
        for (int by = 0; by < 2; by++) {
            const assay_mac_scaling s = {.elements = ASSAY_MAC_E2M1,
                                         .to = ASSAY_MAC_E4M3FN,
                                         .rule = ASSAY_SCALE_AMAX,
                                         .by = (enum assay_scale_by)by,
                                         .saturate = true,
                                         .reach = ONE};
            int32_t in[16], out[16];
            load(x + 16 * r, 16, in);
            const uint32_t got = mac_scale_of(&s, in, 16, (uint32_t)second[r], NULL);
            if (got != (uint32_t)scale[r])
                fail_msg("row %zu: scale %02x, expected %02x", r, got, (unsigned)scale[r]);
            mac_scale_encode(&s, in, 16, got, (uint32_t)second[r], out, NULL);
            for (size_t i = 0; i < 16; i++)
                if (out[i] != (int32_t)codes[by][16 * r + i])
                    fail_msg("row %zu, element %zu, by %d: %x, expected %x", r, i, by, out[i],
                             (unsigned)codes[by][16 * r + i]);
        }
    npz_close(z);
}

/* f32 scales: m / 448, 1 of a row of zeros; the element of the greatest magnitude is the greatest.
 */
static void f32_scales(void **state)
{
    const assay_mac_scaling s = {.elements = ASSAY_MAC_E4M3FN,
                                 .to = ASSAY_MAC_F32,
                                 .rule = ASSAY_SCALE_AMAX,
                                 .saturate = true,
                                 .reach = ONE};
    const int32_t zeros[2] = {0, INT32_MIN}, x[3] = {0x3f800000, (int32_t)0xc2c80000, 0x41200000};
    int32_t out[3], back[3];
    (void)state;
    assert_int_equal(mac_scale_of(&s, zeros, 2, ONE, NULL), ONE);
    mac_scale_encode(&s, zeros, 2, ONE, ONE, out, NULL);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 0x80);
    /* 1, -100, 10: 100 / 448 is 0x3e649249 */
    assert_int_equal(mac_scale_of(&s, x, 3, ONE, NULL), 0x3e649249);
    mac_scale_encode(&s, x, 3, 0x3e649249, ONE, out, NULL);
    assert_int_equal(out[0], 0x49); /* 4.48 to 4.5 */
    assert_int_equal(out[1], 0xfe); /* -448 */
    assert_int_equal(out[2], 0x63); /* 44.8 to 44 */
    mac_scale_decode(&s, out, 3, 0x3e649249, ONE, back, NULL);
    assert_int_equal((uint32_t)back[1], UINT32_C(0xc2c80000));
}

static void what_is_no_number(void **state)
{
    assay_mac_scaling s = {.elements = ASSAY_MAC_E5M2,
                           .to = ASSAY_MAC_E8M0,
                           .rule = ASSAY_SCALE_FLOOR,
                           .saturate = true,
                           .reach = ONE};
    const int32_t infinite[2] = {0x3f800000, 0x7f800000}, big[1] = {0x7f7fffff};
    int32_t out[2];
    (void)state;
    assert_int_equal(mac_scale_of(&s, infinite, 2, ONE, NULL), 0xff);
    mac_scale_encode(&s, infinite, 2, 0xff, ONE, out, NULL);
    assert_int_equal(out[0], 0x7e);
    s.rule = ASSAY_SCALE_EVEN; /* rounds up to Inf */
    assert_int_equal(mac_scale_of(&s, big, 1, ONE, NULL), 0xff);
    s.to = ASSAY_MAC_F32;
    s.saturate = false;
    mac_scale_encode(&s, big, 1, ONE, ONE, out, NULL);
    assert_int_equal(out[0], 0x7c); /* Inf */
}

/* MXINT8: 127 units of 2^-6 below a scale of 1; rule even takes what rounds to 128 of them to the
 * next. */
static void integers(void **state)
{
    static const int32_t max = 0x3ffe0000 /* 127 / 64 */, half = 0x3fff0000 /* 127.5 / 64 */;
    const int32_t x[3] = {half, (int32_t)0xbf004000 /* -32.0625 / 64 */, 0x40000000};
    assay_mac_scaling s = {.elements = ASSAY_MAC_INT8MX, .to = ASSAY_MAC_E8M0, .saturate = true};
    int32_t out[3];
    (void)state;
    s.rule = ASSAY_SCALE_EVEN;
    assert_int_equal(mac_scale_of(&s, &max, 1, ONE, NULL), 127);
    assert_int_equal(mac_scale_of(&s, &half, 1, ONE, NULL), 128);
    s.rule = ASSAY_SCALE_FLOOR;
    assert_int_equal(mac_scale_of(&s, &half, 1, ONE, NULL), 127);
    mac_scale_encode(&s, x, 3, 127, ONE, out, NULL);
    assert_int_equal(out[0], 127);
    assert_int_equal(out[1], 0x100 - 32);
    assert_int_equal(out[2], 127);
    mac_scale_decode(&s, out, 3, 127, ONE, out, NULL);
    assert_int_equal(out[0], max);
}

/* The code of a power of two by the table of ONNX's Cast. */
static uint32_t power_of(float x, enum assay_power_round round, bool saturate)
{
    int exponent;
    if (isnan(x) || x < 0)
        return 255;
    if (isinf(x) || x < 0x1p-127F)
        return !saturate ? 255 : isinf(x) ? 254 : 0;
    const float digits = 2 * frexpf(x, &exponent);
    const bool up = round == ASSAY_POWER_UP        ? digits > 1
                    : round == ASSAY_POWER_NEAREST ? digits >= 1.5F
                                                   : false;
    const int code = exponent - 1 + up + 127;
    return code < 255 ? (uint32_t)code : saturate ? 254 : 255;
}

/* Elements of e8m0 under a scale of 1 and of 1 times 1/2. */
static void powers(void **state)
{
    test_rng r = test_seed("elements of e8m0", 41);
    (void)state;
    for (int i = 0; i < 20000; i++) {
        static const uint32_t ends[] = {0,          1,          0x3fffff,   0x400000,   0x400001,
                                        0x600000,   0x7fffff,   0x800000,   0x7f7fffff, 0x7f400000,
                                        0x7f000001, 0x7f800000, 0x7fc00000, 0x80000000, 0xbf800000};
        const int n_ends = (int)(sizeof ends / sizeof *ends);
        const uint32_t bits = i < n_ends ? ends[i] : (uint32_t)test_random(&r);
        const bool halved = i >= n_ends && i % 2;
        float x;
        memcpy(&x, &bits, sizeof x);
        for (int k = 0; k < 6; k++) {
            static const enum assay_power_round rounds[] = {ASSAY_POWER_UP, ASSAY_POWER_DOWN,
                                                            ASSAY_POWER_NEAREST};
            const assay_mac_scaling s = {.elements = ASSAY_MAC_E8M0,
                                         .to = ASSAY_MAC_F32,
                                         .by = k % 2 ? ASSAY_SCALE_BY_DIVIDE
                                                     : ASSAY_SCALE_BY_RECIPROCAL,
                                         .saturate = k < 3,
                                         .round = rounds[k % 3]};
            const int32_t in = (int32_t)bits;
            int32_t out;
            mac_scale_encode(&s, &in, 1, ONE, halved ? 0x3f000000 : ONE, &out, NULL);
            const uint32_t want = power_of(halved ? 2 * x : x, s.round, s.saturate);
            if ((uint32_t)out != want)
                fail_msg("%a: %d, expected %u", (double)x, out, want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mx_blocks),         cmocka_unit_test(integers),
        cmocka_unit_test(nvfp4_blocks),      cmocka_unit_test(f32_scales),
        cmocka_unit_test(what_is_no_number), cmocka_unit_test(powers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
