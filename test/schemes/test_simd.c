/* Blocks of accumulators in vectors against the rows of the same unit: every preset, scales from
 * tiny to above 1, per tensor and per channel, accumulators at every border of 32 bits; by every
 * instruction set that the machine has. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "interp/fast/isa.h"
#include "schemes/narrow.h"
#include "schemes/scheme.h"

enum { CHANNELS = 40, ROWS = 24, STEP = 48 };

static bool has(enum assay_isa isa)
{
    static const char *const names[] = {"portable", "avx2", "vnni"};
    const assay_isa_kernels *k;
    return fast_isa_choose(names[isa], &k, NULL) == ASSAY_OK;
}

static int32_t draw_sum(test_rng *r)
{
    static const int32_t edges[] = {0, 1, -1, INT32_MIN, INT32_MIN + 1, INT32_MAX, INT32_MAX - 1};
    switch (test_between(r, 0, 3)) {
    case 0:
        return edges[test_between(r, 0, 6)];
    case 1:
        return (int32_t)test_random(r);
    case 2:
        return (int32_t)(test_random(r) >> test_between(r, 32, 63)) *
               (test_between(r, 0, 1) ? 1 : -1);
    default: /* few bits set: ties */
        return (int32_t)((uint32_t)test_between(r, -300, 300) << test_between(r, 0, 22));
    }
}

static void compare(const assay_scheme *s, const assay_unit *u, assay_block_fn block, size_t first,
                    size_t n, test_rng *r)
{
    int32_t acc[ROWS * STEP], want[CHANNELS];
    int64_t wide[CHANNELS];
    uint8_t got[ROWS * STEP];
    const size_t rows = (size_t)test_between(r, 1, ROWS);
    for (int i = 0; i < ROWS * STEP; i++)
        acc[i] = draw_sum(r);
    memset(got, 0x5a, sizeof got);
    block(u, acc, rows, n, STEP, first, got, STEP);
    for (size_t i = rows * STEP; i < ROWS * STEP; i++)
        assert_int_equal(got[i], 0x5a);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < n; j++)
            wide[j] = acc[i * STEP + j];
        s->vt->requantize(u, wide, n, first, want);
        for (size_t j = 0; j < n; j++)
            if (got[i * STEP + j] != (uint8_t)want[j])
                fail_msg("%s: accumulator %d of channel %zu: row %d, block %d", s->name,
                         acc[i * STEP + j], first + j, (uint8_t)want[j], got[i * STEP + j]);
        for (size_t j = n; j < STEP; j++)
            assert_int_equal(got[i * STEP + j], 0x5a);
    }
}

/* What assay_narrow_form says of an accumulator (schemes/narrow.h), in plain C. */
static int32_t by_numbers(const assay_narrow_form *k, int32_t acc)
{
    const int64_t product = (int64_t)acc * k->factor;
    const uint32_t bits = (uint32_t)k->factor;
    int64_t y;
    if (k->by == ASSAY_NARROW_FLOAT) {
        float f;
        memcpy(&f, &bits, sizeof f);
        y = lrintf((float)acc * f);
    } else if (k->by == ASSAY_NARROW_HALF_UP) {
        y = (product + (INT64_C(1) << (k->shift - 1))) >> k->shift;
    } else {
        const int64_t q = (product + (1 << 30)) >> 31, one = INT64_C(1) << (k->shift - 31);
        const int64_t away = ((q < 0 ? -q : q) + one / 2) / one;
        y = q < 0 ? -away : away;
    }
    assert_true(y > -(INT64_C(1) << 31) + (1 << 24) && y < (INT64_C(1) << 31) - (1 << 24));
    y += k->zero_point;
    return (int32_t)(y < k->lo ? k->lo : y > k->hi ? k->hi : y);
}

/* Returns whether the unit says what it does in numbers. */
static bool check_numbers(const assay_scheme *s, const assay_unit *u, test_rng *r)
{
    bool found = false;
    for (size_t c = 0; c < CHANNELS; c++) {
        assay_narrow_form k;
        if (!assay_scheme_narrow(s->vt, u, c, &k))
            continue;
        found = true;
        for (int i = 0; i < 50; i++) {
            const int64_t acc = draw_sum(r);
            int32_t want;
            s->vt->requantize(u, &acc, 1, c, &want);
            if (by_numbers(&k, (int32_t)acc) != want)
                fail_msg("%s: accumulator %d of channel %zu: row %d, numbers %d", s->name, (int)acc,
                         c, want, by_numbers(&k, (int32_t)acc));
        }
    }
    return found;
}

/* Returns whether the unit has a vector form. */
static bool check_unit(const assay_scheme *s, test_rng *r, int *in_numbers)
{
    float sx = 1, sy = 1, sw[CHANNELS];
    bool by_channel = test_between(r, 0, 1), is_signed = test_between(r, 0, 1);
    bool bounded = test_between(r, 0, 1);
    int max = test_between(r, 0, 1) ? -2 : 1, least = (int)test_between(r, -40, max);
    int32_t zero[CHANNELS] = {0};
    int32_t zy = (int32_t)(is_signed ? test_between(r, -128, 127) : test_between(r, 0, 255));
    for (int c = 0; c < CHANNELS; c++)
        sw[c] = test_between(r, 0, 3)
                    ? (float)ldexp(1 + test_unit(r), (int)test_between(r, least, max))
                    : (float)ldexp(1, (int)test_between(r, least, max));
    assay_type in[2] = {
        {.elem = {ASSAY_KIND_INT, 8, is_signed}, .q = {ASSAY_Q_TENSOR, 0, 0, 1, &sx, zero}},
        {.elem = {ASSAY_KIND_INT, 8, true},
         .rank = 2,
         .dim = {CHANNELS, 8},
         .q = {by_channel ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR, 0, 0, by_channel ? CHANNELS : 1, sw,
               zero}}};
    assay_type out = {.elem = in[0].elem, .q = {ASSAY_Q_TENSOR, 0, 0, 1, &sy, &zy}};
    assay_unit_spec spec = {.size = sizeof spec,
                            .op = "fc",
                            .node = "n",
                            .in = in,
                            .n_in = 2,
                            .out = &out,
                            .depth = 8,
                            .act_lo = bounded ? 0 : -INFINITY,
                            .act_hi = bounded ? 6 : INFINITY};
    assay_unit *u;
    if (s->vt->prepare(s, &spec, &u, NULL) != ASSAY_OK)
        return false; /* the preset has no such rescale */
    bool found = false;
    for (enum assay_isa isa = ASSAY_ISA_PORTABLE; isa <= ASSAY_ISA_VNNI; isa++) {
        assay_block_fn block = has(isa) ? s->vt->simd->block(u, isa) : NULL;
        for (int i = 0; block && i < 6; i++) {
            size_t n = (size_t)test_between(r, 1, CHANNELS);
            compare(s, u, block, (size_t)test_between(r, 0, CHANNELS - (int64_t)n), n, r);
        }
        found = found || block != NULL;
    }
    *in_numbers += check_numbers(s, u, r);
    s->vt->release(u);
    return found;
}

static void test_blocks(void **state)
{
    test_rng r = test_seed("blocks", 1);
    (void)state;
    for (const char *const *name = assay_scheme_presets(); *name; name++) {
        assay_scheme *s;
        assay_error err;
        int found = 0, numbers = 0;
        assert_ok(assay_scheme_open(*name, &s, &err), &err);
        for (int i = 0; i < 200; i++)
            found += check_unit(s, &r, &numbers);
        print_message("# %s: %d of 200 units have a vector form, %d numbers\n", *name, found,
                      numbers);
        if (strcmp(*name, "tflite") == 0 || strcmp(*name, "onnxruntime") == 0)
            assert_true(numbers > 0);
        assay_scheme_free(s);
    }
}

/* Every rounding of a single shift, and of a float product. */
static void test_roundings(void **state)
{
    static const char *const rescales[] = {
        "encoding: multiplier\n  multiplier_bits: 31\n  round: [%s]\n",
        "encoding: multiplier\n  multiplier_bits: 15\n  sum_bits: 0\n  round: [%s]\n",
        "encoding: float32\n  scale: f32\n  round: [%s]\n",
        "encoding: float32\n  scale: f32\n  zero_point: inside\n  round: [%s]\n",
        "encoding: float32\n  scale: f32-steps\n  zero_point: inside\n  round: [%s]\n",
        "encoding: float32\n  scale: f32\n  float_overflow: int-min\n  round: [%s]\n"};
    test_rng r = test_seed("roundings", 2);
    (void)state;
    for (size_t k = 0; k < sizeof rescales / sizeof *rescales; k++)
        for (int m = 0; m < ASSAY_ROUND_COUNT; m++) {
            const char *mode = apply_rounding_name((enum assay_rounding)m);
            char text[512], rescale[256];
            assay_scheme *s;
            assay_error err;
            int found = 0, numbers = 0;
            snprintf(rescale, sizeof rescale, rescales[k], mode);
            snprintf(text, sizeof text, "scheme: t\nrescale:\n  %s", rescale);
            assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
            for (int i = 0; i < 60; i++)
                found += check_unit(s, &r, &numbers);
            if (k < 2 || has(ASSAY_ISA_VNNI))
                assert_true(found > 0);
            if ((k == 0 && m == 0) || ((k == 2 || k == 5) && m == 2))
                assert_true(numbers > 0);
            assay_scheme_free(s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks),
                                       cmocka_unit_test(test_roundings)};
    return cmocka_run_group_tests_name("simd", tests, NULL, NULL);
}
