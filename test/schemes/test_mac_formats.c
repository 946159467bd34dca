/* schemes/mac/formats.h: every pattern of the small formats decoded, every bf16 and f16 encoded
 * into each of them, f32 in all its binades (test/vectors/matrix-units), and back in every mode. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "schemes/mac/formats.h"
#include "schemes/mac/terms.h"
#include "test/support/npz.h"
#include "test/support/support.h"

static const assay_mac_rounding to_f32 = {ASSAY_ROUND_TRUNC, 23, false};

static assay_mac_rounding nearest(enum assay_mac_format f, bool saturate)
{
    return (assay_mac_rounding){ASSAY_ROUND_HALF_EVEN, mac_layout_of(f)->fraction_bits, saturate};
}

static struct npz *archive(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "matrix-units/%s.npz", name);
    struct npz *z = npz_vectors(path);
    assert_non_null(z);
    return z;
}

/* The archive shows a NaN as 7fc00000, and keeps the sign of every other code. */
static void every_small_pattern_decodes(void **state)
{
    struct npz *z = archive("format-decode");
    (void)state;
    for (size_t c = 0; c < npz_count(z); c++) {
        enum assay_mac_format f;
        size_t n;
        assert_true(mac_format_parse(npz_name(z, c), &f));
        const int64_t *x = npz_i64(z, npz_name(z, c), &n, NULL);
        assert_non_null(x);
        for (size_t i = 0; i < n; i++) {
            assay_mac_value v = mac_decode(f, (uint32_t)i);
            if (v.kind == ASSAY_MAC_NAN)
                v.negative = false;
            const uint32_t got = (uint32_t)mac_encode(ASSAY_MAC_F32, &v, &to_f32);
            if (got != (uint32_t)x[i])
                fail_msg("%s, code %zu: %08x, expected %08x", npz_name(z, c), i, got,
                         (uint32_t)x[i]);
        }
    }
    npz_close(z);
}

/* A column "bf16_e4m3fn_sat" (or without the first part, where `from` is given). */
static void check_column(struct npz *z, const char *column, const char *from, const int64_t *x)
{
    char word[64], *end;
    enum assay_mac_format in, out;
    size_t n;
    const char *rest = from == NULL ? strchr(column, '_') + 1 : column;
    snprintf(word, sizeof word, "%.*s", from == NULL ? (int)(rest - column - 1) : 8,
             from == NULL ? column : from);
    assert_true(mac_format_parse(word, &in));
    snprintf(word, sizeof word, "%s", rest);
    end = strchr(word, '_');
    assert_non_null(end);
    *end = '\0';
    assert_true(mac_format_parse(word, &out));
    const assay_mac_rounding how = nearest(out, strcmp(end + 1, "sat") == 0);
    const int64_t *y = npz_i64(z, column, &n, NULL);
    assert_non_null(y);
    for (size_t i = 0; i < n; i++) {
        const uint32_t code = x != NULL ? (uint32_t)x[i] : (uint32_t)i;
        const assay_mac_value v = mac_decode(in, code);
        const uint32_t got = (uint32_t)mac_encode(out, &v, &how);
        if (got != (uint32_t)y[i])
            fail_msg("%s, %08x: %02x, expected %02x", column, code, got, (uint32_t)y[i]);
    }
}

static void every_half_encodes(void **state)
{
    struct npz *z = archive("b16-to-small-exhaustive");
    (void)state;
    for (size_t c = 0; c < npz_count(z); c++)
        check_column(z, npz_name(z, c), NULL, NULL);
    npz_close(z);
}

static void f32_encodes(void **state)
{
    struct npz *z = archive("f32-to-small");
    size_t n;
    (void)state;
    const int64_t *x = npz_i64(z, "x", &n, NULL);
    assert_non_null(x);
    for (size_t c = 0; c < npz_count(z); c++) {
        const char *name = npz_name(z, c);
        if (name[0] == 'e' && strncmp(name, "e8m0", 4) != 0)
            check_column(z, name, "f32", x);
    }
    npz_close(z);
}

/* A number of a format is itself there, however it is rounded. */
static void numbers_come_back(void **state)
{
    (void)state;
    for (int f = 0; f < ASSAY_MAC_FORMATS; f++) {
        const assay_mac_layout *l = mac_layout_of((enum assay_mac_format)f);
        if (f == ASSAY_MAC_E8M0 || f == ASSAY_MAC_UE4M3)
            continue;
        const int width = 1 + l->exponent_bits + l->fraction_bits;
        const uint64_t step = width > 32 ? UINT64_C(18014398509482143) : width > 24 ? 4099 : 1;
        for (uint64_t n = 0; n < (width > 32 ? 1024 : ((uint64_t)1 << width) / step); n++)
            for (int mode = 0; mode < ASSAY_ROUND_COUNT; mode += 1 + (width > 16)) {
                const uint64_t code = (n * step) << (f == ASSAY_MAC_TF32 ? 13 : 0);
                const assay_mac_value v = mac_decode((enum assay_mac_format)f, code);
                assay_mac_rounding how = nearest((enum assay_mac_format)f, false);
                how.mode = (enum assay_rounding)mode;
                if (v.kind == ASSAY_MAC_NAN || (f == ASSAY_MAC_INT8MX && code == 0x80))
                    continue; /* no number; or -128, which is kept within -127 */
                const uint64_t back = mac_encode((enum assay_mac_format)f, &v, &how);
                if (back != code)
                    fail_msg("%s %llx comes back as %llx", l->name, (unsigned long long)code,
                             (unsigned long long)back);
            }
    }
}

/* The directed modes at the edges: half of the least subnormal, one digit beyond the largest. */
static void edges(void **state)
{
    const assay_mac_value tiny = {.exponent = -1000, .significand = 1},
                          minus = {.negative = true, .exponent = -1000, .significand = 1},
                          huge = {.exponent = 1000, .significand = 3},
                          near = {.exponent = 103, .significand = 0x1ffffff};
    (void)state;
    assay_mac_rounding how = {ASSAY_ROUND_TRUNC, 23, false};
    assert_int_equal(mac_encode(ASSAY_MAC_F32, &tiny, &how), 0);
    assert_int_equal(mac_encode(ASSAY_MAC_F32, &minus, &how), 0x80000000);
    assert_int_equal(mac_encode(ASSAY_MAC_F32, &huge, &how), 0x7f800000);
    assert_int_equal(mac_encode(ASSAY_MAC_F32, &near, &how), 0x7f7fffff);
    how.fraction_bits = 13; /* lower digits are 0 */
    assert_int_equal(mac_encode(ASSAY_MAC_F32, &near, &how), 0x7f7ffc00);
    how.mode = ASSAY_ROUND_CEIL;
    assert_int_equal(mac_encode(ASSAY_MAC_F32, &near, &how), 0x7f800000);
    how.fraction_bits = 23;
    assert_int_equal(mac_encode(ASSAY_MAC_F32, &tiny, &how), 1);
    assert_int_equal(mac_encode(ASSAY_MAC_F32, &minus, &how), 0x80000000);
    how.saturate = true;
    assert_int_equal(mac_encode(ASSAY_MAC_F32, &huge, &how), 0x7f7fffff);
    how = nearest(ASSAY_MAC_E2M1, false); /* has neither Inf nor NaN */
    assert_int_equal(mac_encode(ASSAY_MAC_E2M1, &huge, &how), 7);
}

/* Units of 2^-6 within 127, beside this machine's arithmetic. */
static void integers_encode(void **state)
{
    const assay_mac_value nan = {.kind = ASSAY_MAC_NAN, .negative = true},
                          inf = {.kind = ASSAY_MAC_INF, .negative = true},
                          least = {.negative = true, .exponent = -6, .significand = 128};
    assay_mac_rounding how = nearest(ASSAY_MAC_INT8MX, false);
    (void)state;
    for (uint32_t i = 0; i < 1u << 16; i++) {
        const uint32_t bits = i << 16 | i * 40503u >> 16;
        const assay_mac_value v = mac_decode(ASSAY_MAC_F32, bits);
        float x;
        memcpy(&x, &bits, sizeof x);
        if (v.kind != ASSAY_MAC_NUMBER)
            continue;
        const double units = fmax(-127, fmin(127, rint((double)x * 64)));
        const uint64_t found = mac_encode(ASSAY_MAC_INT8MX, &v, &how);
        if (found != (uint8_t)(int8_t)units)
            fail_msg("%a: %llx", (double)x, (unsigned long long)found);
    }
    assert_int_equal(mac_encode(ASSAY_MAC_INT8MX, &nan, &how), 0x7f);
    assert_int_equal(mac_encode(ASSAY_MAC_INT8MX, &inf, &how), 0x81);
    assert_int_equal(mac_encode(ASSAY_MAC_INT8MX, &least, &how), 0x81);
    const assay_mac_value far = {.exponent = 1000}; /* a zero, whatever its exponent */
    assert_int_equal(mac_encode(ASSAY_MAC_INT8MX, &far, &how), 0);
    how.mode = ASSAY_ROUND_CEIL;
    const assay_mac_value tiny = {.exponent = -1000, .significand = 1};
    assert_int_equal(mac_encode(ASSAY_MAC_INT8MX, &tiny, &how), 1);
}

static void names(void **state)
{
    enum assay_mac_format f;
    (void)state;
    assert_false(mac_format_parse("e4m3", &f));
    assert_int_equal(mac_decode(ASSAY_MAC_UE4M3, 0x80 | 0x38).negative, false);
    assert_int_equal(mac_decode(ASSAY_MAC_UE4M3, 0xff).kind, ASSAY_MAC_NAN);
}

/* Under zero_exponent the unit of a zero may be anything, far beyond what 64 bits can be shifted.
 */
static void pieces_of_zero(void **unused)
{
    (void)unused;
    const assay_mac_value zero = {.unit = 3000, .exponent = -133},
                          eleven = {.unit = 3, .exponent = 0, .significand = 11};
    for (int second = 0; second < 2; second++) {
        assert_int_equal(mac_piece(&zero, 8, second), 0);
        assert_int_equal(mac_piece(&eleven, 2, second), second ? 3 : 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_of_zero),     cmocka_unit_test(every_small_pattern_decodes),
        cmocka_unit_test(every_half_encodes), cmocka_unit_test(f32_encodes),
        cmocka_unit_test(numbers_come_back),  cmocka_unit_test(edges),
        cmocka_unit_test(integers_encode),    cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
