/* Blocks of accumulators in vectors against the rows of the same unit: every preset, scales from
 * tiny to above 1, per tensor and per channel, accumulators at every border of 32 bits; and drawn
 * rescales, their registers of any widths, to codes of several types; by every instruction set that
 * the machine has. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/core/type.h"
#include "interp/fast/isa.h"
#include "schemes/apply/apply.h"
#include "schemes/narrow.h"
#include "schemes/scheme.h"
#include "test/support/record_case.h"

enum { CHANNELS = 40, ROWS = 24, STEP = 48, DRAWN = 3000 };

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

/* Of a unit whose codes are `type` and whose scales are below 2^(max + 1). Returns its vector
 * form. */
static enum assay_simd_way check_type(const assay_scheme *s, assay_elem type, int max, test_rng *r,
                                      int *in_numbers)
{
    float sx = 1, sy = 1, sw[CHANNELS];
    bool by_channel = test_between(r, 0, 1), bounded = test_between(r, 0, 1);
    int least = (int)test_between(r, -40, max);
    int32_t zero[CHANNELS] = {0};
    int32_t zy = (int32_t)test_between(r, assay_elem_min(type), assay_elem_max(type));
    for (int c = 0; c < CHANNELS; c++)
        sw[c] = test_between(r, 0, 3)
                    ? (float)ldexp(1 + test_unit(r), (int)test_between(r, least, max))
                    : (float)ldexp(1, (int)test_between(r, least, max));
    assay_type in[2] = {{.elem = type, .q = {ASSAY_Q_TENSOR, 0, 0, 1, &sx, zero}},
                        {.elem = {ASSAY_KIND_INT, 8, true},
                         .rank = 2,
                         .dim = {CHANNELS, 8},
                         .q = {by_channel ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR, 0, 0,
                               by_channel ? CHANNELS : 1, sw, zero}}};
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
        return ASSAY_SIMD_NONE; /* the scheme has no such rescale */
    enum assay_simd_way found = ASSAY_SIMD_NONE;
    for (enum assay_isa isa = ASSAY_ISA_PORTABLE; isa <= ASSAY_ISA_VNNI; isa++) {
        assay_block_fn block = has(isa) ? s->vt->simd->block(u, isa) : NULL;
        for (int i = 0; block && i < 6; i++) {
            size_t n = (size_t)test_between(r, 1, CHANNELS);
            compare(s, u, block, (size_t)test_between(r, 0, CHANNELS - (int64_t)n), n, r);
        }
        found = block ? u->simd.way : found;
    }
    *in_numbers += check_numbers(s, u, r);
    s->vt->release(u);
    return found;
}

/* Of bytes. Returns whether the unit has a vector form. */
static bool check_unit(const assay_scheme *s, test_rng *r, int *in_numbers)
{
    const assay_elem byte = {ASSAY_KIND_INT, 8, test_between(r, 0, 1)};
    const int max = test_between(r, 0, 1) ? -2 : 1;
    return check_type(s, byte, max, r, in_numbers) != ASSAY_SIMD_NONE;
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
            const char *mode = assay_rounding_name((enum assay_rounding)m);
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

static int32_t pick(test_rng *r, int n, const int32_t *list)
{
    return list[test_between(r, 0, n - 1)];
}
#define PICK(r, ...)                                                                               \
    pick(r, (int)(sizeof(int32_t[]){__VA_ARGS__} / sizeof(int32_t)), (int32_t[]){__VA_ARGS__})

/* None, or bits of a register, those around 32 often. */
static int32_t draw_width(test_rng *r, int max)
{
    return test_between(r, 0, 1) ? PICK(r, 0, 0, 0, 24, 31, 32, max)
                                 : (int32_t)test_between(r, 8, max);
}

/* One rounding, two as vectors have them, or any two. */
static assay_steps draw_steps(test_rng *r, int32_t encoding)
{
    assay_steps s = {2, {{31, ASSAY_ROUND_HALF_UP}, {0, ASSAY_ROUND_HALF_AWAY}}};
    if (encoding == ASSAY_ENCODE_GLOW && test_between(r, 0, 3))
        return (assay_steps){1, {{0, ASSAY_ROUND_HALF_UP}}};
    if (encoding == ASSAY_ENCODE_F32 || test_between(r, 0, 1))
        return (assay_steps){1, {{0, (int32_t)test_between(r, 0, ASSAY_ROUND_COUNT - 1)}}};
    if (test_between(r, 0, 3) == 0)
        for (int i = 0; i < 2; i++)
            s.step[i].mode = (int32_t)test_between(r, 0, ASSAY_ROUND_COUNT - 1);
    return s;
}

static assay_rule_rescale draw_rescale(test_rng *r)
{
    assay_record d;
    assay_record_default(&d);
    assay_rule_rescale k = d.rescale;
    k.encoding = PICK(r, ASSAY_ENCODE_MULTIPLIER, ASSAY_ENCODE_MULTIPLIER, ASSAY_ENCODE_MULTIPLIER,
                      ASSAY_ENCODE_GLOW, ASSAY_ENCODE_F32);
    const bool real = k.encoding == ASSAY_ENCODE_F32, glow = k.encoding == ASSAY_ENCODE_GLOW;
    k.scale = PICK(r, ASSAY_FORM_DOUBLE, ASSAY_FORM_F32, real ? ASSAY_FORM_F32_STEPS : k.scale);
    k.multiplier_bits = PICK(r, 31, 31, 15, 7);
    k.round = draw_steps(r, k.encoding);
    k.left_shift = PICK(r, ASSAY_LEFT_PRODUCT, ASSAY_LEFT_WRAP, ASSAY_LEFT_SATURATE);
    k.product_bits = glow ? PICK(r, 0, 32, 32) : PICK(r, 0, 0, 0, 0, 0, 0, 0, 32, 48);
    k.operand_bits = PICK(r, 0, 0, 0, 0, 0, 0, 0, 0, 20);
    k.result_bits = draw_width(r, 64);
    k.result_overflow = PICK(r, ASSAY_NARROW_WRAP, ASSAY_NARROW_SATURATE);
    k.sum_bits = draw_width(r, 32);
    k.sum_overflow = PICK(r, ASSAY_NARROW_WRAP, ASSAY_NARROW_SATURATE);
    k.zero_point = PICK(r, ASSAY_STAGE_AFTER, ASSAY_STAGE_AFTER, ASSAY_STAGE_AFTER,
                        real ? ASSAY_STAGE_INSIDE : ASSAY_STAGE_BEFORE);
    k.store = PICK(r, ASSAY_STORE_SATURATE, ASSAY_STORE_SATURATE, ASSAY_STORE_WRAP);
    k.float_overflow = PICK(r, ASSAY_FLOAT_SATURATE, ASSAY_FLOAT_INT_MIN);
    return k;
}

/* Pairs of all widths and overflows, whatever else a rescale does. */
static void test_drawn(void **state)
{
    static const assay_elem types[] = {{ASSAY_KIND_INT, 8, true},  {ASSAY_KIND_INT, 8, false},
                                       {ASSAY_KIND_INT, 16, true}, {ASSAY_KIND_INT, 4, true},
                                       {ASSAY_KIND_INT, 6, false}, {ASSAY_KIND_INT, 32, true}};
    int of_type[sizeof types / sizeof *types] = {0}, of_way[ASSAY_SIMD_FLOAT + 1] = {0};
    int numbers = 0;
    test_rng r = test_seed("drawn rescales", 3);
    (void)state;
    for (int i = 0; i < DRAWN; i++) {
        assay_record d;
        assay_record_default(&d);
        d.rescale = draw_rescale(&r);
        if (!record_makes_sense(&d))
            continue;
        assay_scheme *s = record_scheme(&d);
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            const int max = (int)test_between(&r, -2, 30);
            const enum assay_simd_way way = check_type(s, types[t], max, &r, &numbers);
            of_type[t] += way != ASSAY_SIMD_NONE;
            of_way[way]++;
        }
        assay_scheme_free(s);
    }
    for (int way = ASSAY_SIMD_NONE; way <= ASSAY_SIMD_FLOAT; way++) {
        print_message("# form %d: %d units\n", way, of_way[way]);
        assert_true(of_way[way] > 0 || !has(ASSAY_ISA_VNNI));
    }
    for (int t = 0; t < 5; t++) /* codes of 32 bits are beyond them */
        assert_true(of_type[t] > 0 || (t > 1 && !has(ASSAY_ISA_VNNI)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks),
                                       cmocka_unit_test(test_roundings),
                                       cmocka_unit_test(test_drawn)};
    return cmocka_run_group_tests_name("simd", tests, NULL, NULL);
}
