/* Every shape of a rescale's row, one set of parameters or one per channel, against the trace,
 * which is written apart; what a target refuses; rules whose row must be the general one. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "schemes/apply/apply.h"
#include "schemes/record/data.h"
#include "schemes/rescale/trace.h"
#include "test/support/scheme_unit.h"

enum { CHANNELS = 5 };

static const char *const rules[] = {
    "round: [half-up]",
    "round: [half-away]",
    "round: [half-even]",
    "round: [half-zero]",
    "round: [floor]",
    "round: [trunc]",
    "round: [ceil]",
    "round: [odd]",
    "round: [away]",
    "round: [31 half-up, half-away]",
    "round: [31 half-up, half-away], left_shift: product",
    "round: [31 half-up, half-away], left_shift: saturate",
    "round: [31 half-away, half-up]",
    "round: [31 half-up, half-up]",
    "round: [30 half-up, half-away]",
    "round: [20 floor, 10 odd, half-even]",
    "encoding: glow, round: [half-up], product_bits: 32",
    "encoding: glow, round: [half-up], product_bits: 32, operand_bits: 12",
    "encoding: glow, round: [floor], product_bits: 32",
    "encoding: glow, round: [half-up]",
    "pre_shift: fixed, pre_shift_bits: 4, round: [half-up], product_bits: 32",
    ("pre_shift: fixed, pre_shift_bits: 4, round: [half-up], product_bits: 32, "
     "pre_shift_round: half-up"),
    "pre_shift: rest, round: [15 half-up], operand_bits: 16, pre_shift_round: half-up",
    "pre_shift: rest, round: [15 half-up], operand_bits: 16",
    "pre_shift: rest, round: [15 half-up], operand_bits: 12",
    "pre_shift: rest, round: [15 floor], operand_bits: 16, pre_shift_round: half-up",
    "multiplier_bits: 32, round: [half-up]",
    "operand_bits: 20, round: [half-up]",
    "product_bits: 40, round: [half-up]",
    "result_bits: 7, round: [half-up]",
    "result_bits: 7, result_overflow: wrap, round: [half-up]",
    "shift_max: 400, round: [half-up]",
    "store: wrap, round: [half-up]",
    "encoding: thresholds, round: [half-even]",
    "encoding: float32, round: [half-even]",
    "encoding: float32, round: [half-even], zero_point: inside",
    "encoding: float32, round: [half-away], scale: f32-steps",
    "encoding: float32, round: [odd]",
    "encoding: float32, round: [half-even], float_overflow: int-min",
    "encoding: float32, round: [half-even], float_rounding: add-one",
    "encoding: float32, round: [half-even], float_rounding: add-one, float_overflow: int-min",
    "encoding: float32, round: [half-even], sum_bits: 9",
    "encoding: float32, round: [half-even], sum_bits: 9, sum_overflow: saturate",
    "encoding: float32, round: [half-even], store: wrap",
    "encoding: float64, round: [half-even]",
    "encoding: float64, round: [ceil], zero_point: inside",
};

static int64_t draw(test_rng *r)
{
    switch (test_between(r, 0, 4)) {
    case 0:
        return test_between(r, -300, 300);
    case 1:
        return (int32_t)test_random(r);
    case 2:
        return (int64_t)test_random(r) >> test_between(r, 20, 40);
    case 3:
        return test_between(r, -20, 20) * (INT64_C(1) << test_between(r, 0, 30));
    default:
        return test_between(r, 0, 1) ? INT32_MAX : INT32_MIN;
    }
}

/* The unit of a rule with scales near 2^-least .. 2. */
static assay_unit *prepare(const assay_scheme *s, test_rng *r, size_t channels, int least,
                           float *scale, int32_t *zero)
{
    static const float one = 1;
    static const int32_t zeros[CHANNELS] = {0};
    assay_error err = {0};
    assay_unit *u;
    assay_type in[2] = {code_type(8, true, &one, zeros), code_type(8, true, &one, zeros)};
    assay_type out = code_type(8, true, &one, zero);
    for (size_t c = 0; c < channels; c++)
        scale[c] = (float)((1 + test_unit(r)) / (double)(INT64_C(1) << test_between(r, 0, least)));
    *zero = (int32_t)test_between(r, -128, 127);
    in[1].dim[0] = (int64_t)channels;
    in[1].q =
        (assay_qparams){channels > 1 ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR, 0, 0, channels, scale, zeros};
    const assay_unit_spec spec = unit_spec("conv", in, 2, &out);
    assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
    return u;
}

static void check(const char *rule, const assay_scheme *s, test_rng *r, size_t channels)
{
    float scale[CHANNELS];
    int32_t zero, y[CHANNELS];
    int64_t acc[CHANNELS];
    assay_unit *u = prepare(s, r, channels, 30, scale, &zero);
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    for (int i = 0; i < 200; i++) {
        const size_t first = (size_t)test_between(r, 0, CHANNELS);
        const size_t n = (size_t)test_between(r, 0, (int64_t)(CHANNELS - first));
        for (size_t j = 0; j < CHANNELS; j++) {
            acc[j] = draw(r);
            y[j] = 1000;
        }
        s->vt->requantize(u, acc, n, first, y);
        for (size_t j = 0; j < CHANNELS; j++) {
            assay_trace t;
            if (j >= n) {
                assert_int_equal(y[j], 1000);
                continue;
            }
            assay_trace_run(o, acc[j], first + j, &t);
            if (y[j] != t.code)
                fail_msg("{%s}, scale %.9g: acc %lld gives %d, traced as %lld", rule,
                         (double)scale[channels > 1 ? first + j : 0], (long long)acc[j], y[j],
                         (long long)t.code);
            /* without its end, the same value */
            if (o->rule->zero_point == ASSAY_STAGE_AFTER && o->rule->sum_bits == 32)
                assert_int_equal(apply_rescale_finish(o, apply_rescale_value(o, acc[j], first + j)),
                                 y[j]);
        }
    }
    s->vt->release(u);
}

static assay_scheme *scheme_of(const char *rule)
{
    char text[300];
    assay_error err = {0};
    assay_scheme *s;
    snprintf(text, sizeof text, "scheme: t\nrescale: {%s}\n", rule);
    assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
    return s;
}

static void shapes(void **state)
{
    (void)state;
    test_rng r = test_seed("rows", 5);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        assay_scheme *s = scheme_of(rules[i]);
        for (int k = 0; k < 6; k++)
            check(rules[i], s, &r, k % 2 ? CHANNELS : 1);
        assay_scheme_free(s);
    }
}

/* Scales far above 1 or below 2^-60: shifts beyond every register. */
static void far_scales(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        float scale;
        int64_t acc;
        int32_t code;
    } list[] = {
        {"round: [half-up], left_shift: product, sum_bits: 0", 0x1p100f, 1, 127},
        {"round: [half-up], left_shift: product, sum_bits: 0", 0x1p100f, -1, -128},
        {"round: [half-up], left_shift: product, sum_bits: 0", 0x1p100f, 0, 0},
        {"round: [half-up], shift_max: 1100", 0x1p-120f, INT32_MAX, 0},
        {"round: [ceil], shift_max: 1100", 0x1p-120f, 1, 1},
        {"round: [floor], shift_max: 1100", 0x1p-120f, -1, -1},
        {"left_shift: product, sum_bits: 0", 0x1p40f, -1, -128},
        {"encoding: float32, round: [half-even]", 0x1p40f, 1, 127},
        {"encoding: float32, round: [half-even]", 0x1p-100f, INT32_MAX, 0},
        {"encoding: float32, round: [ceil]", 0x1p-100f, 1, 1},
        {"left_shift: wrap", 0x1p100f, 1, 0}, /* all bits leave on the left */
        {"left_shift: saturate", 0x1p100f, 1, 127},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const float one = 1;
        const int32_t zero = 0;
        assay_error err = {0};
        assay_unit *u;
        assay_scheme *s = scheme_of(list[i].rule);
        assay_type in[2] = {code_type(8, true, &list[i].scale, &zero),
                            code_type(8, true, &one, &zero)};
        assay_type out = code_type(8, true, &one, &zero);
        const assay_unit_spec spec = unit_spec("conv", in, 2, &out);
        int32_t y;
        assay_trace t;
        assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
        s->vt->requantize(u, &list[i].acc, 1, 0, &y);
        if (y != list[i].code)
            fail_msg("{%s}: %d, expected %d", list[i].rule, y, list[i].code);
        assay_trace_run(&u->scale[ASSAY_OUT], list[i].acc, 0, &t);
        assert_int_equal(t.code, y);
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* Multipliers of more than 32 bits, as a file may give them, leave the 64-bit rows. */
static void wide_multipliers(void **state)
{
    (void)state;
    static const int64_t multipliers[] = {INT64_C(1) << 31,       -(INT64_C(1) << 31),
                                          (INT64_C(1) << 31) + 1, -(INT64_C(1) << 31) - 1,
                                          INT64_C(1) << 32,       -(INT64_C(1) << 32)};
    const int64_t shift = 35;
    test_rng rng = test_seed("multipliers", 7);
    assay_scheme *s = scheme_of("round: [half-away], left_shift: product");
    for (size_t i = 0; i < sizeof multipliers / sizeof *multipliers; i++) {
        assay_rescale r = {.rule = &assay_data(s)->base.rescale,
                           .n = 1,
                           .multiplier = &multipliers[i],
                           .shift = &shift,
                           .lo = INT32_MIN,
                           .hi = INT32_MAX,
                           .clamp_lo = INT32_MIN,
                           .clamp_hi = INT32_MAX,
                           .out_bits = 32,
                           .out_signed = true};
        apply_rescale_choose(&r);
        for (int k = 0; k < 500; k++) {
            const int64_t x = k < 2 ? (k ? INT32_MAX : INT32_MIN) : draw(&rng) % INT32_MAX;
            const assay_int128 p = (assay_int128)x * multipliers[i], half = INT64_C(1) << 34;
            const int64_t want = (int64_t)(p < 0 ? -((half - p) >> 35) : (p + half) >> 35);
            assert_int_equal(apply_rescale_one(&r, x, 0), want);
        }
    }
    assay_scheme_free(s);
}

/* What the target would refuse: too wide an operand, an operand out of the shift's range, a result
 * or its sum with the zero point beyond their bits. */
static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        int64_t multiplier, shift, acc;
        bool accepted;
    } list[] = {
        {"input_bits: 8", 1, 0, 127, true},
        {"input_bits: 8", 1, 0, 128, false},
        {"input_bits: 8", 1, 0, -128, true},
        {"input_bits: 8", 1, 0, -129, false},
        {"input_shift_range: yes, shift_min: 2, shift_max: 62", 1, 8, 127, true},
        {"input_shift_range: yes, shift_min: 2, shift_max: 62", 1, 8, 128, false},
        {"input_shift_range: yes, shift_min: 2, shift_max: 62", 1, 1, 0, true},
        {"input_shift_range: yes, shift_min: 2, shift_max: 62", 1, 63, -1, true},
        {"input_shift_range: yes, shift_min: 2, shift_max: 63", 1, 63, INT32_MAX, true},
        {"input_shift_range: yes, shift_min: 2, shift_max: 62", -1, 8, -128, true},
        {"input_shift_range: yes, shift_min: 2, shift_max: 62", -1, 8, 128, false},
        {"result_overflow: refuse, result_bits: 8, round: [floor]", 1, 0, 120, true},
        {"result_overflow: refuse, result_bits: 8, round: [floor]", 1, 0, 128, false},
        {"result_overflow: refuse, result_bits: 8, round: [floor]", 1, 0, 127, true},
        {"sum_overflow: refuse, sum_bits: 8, round: [floor]", 1, 0, 127, false}, /* + 3 */
        {"sum_overflow: refuse, sum_bits: 8, round: [floor]", 1, 0, 124, true},
        {"sum_bits: 0, round: [floor]", 1, 0, 127, true},
        {"sum_overflow: refuse, sum_bits: 8, zero_point: before, round: [floor]", 1, 0, 140, true},
        {"result_bits: 0, round: [floor]", 1, 0, 5000, true},
        {"result_overflow: refuse, result_bits: 64, round: [floor]", 4, 0, INT64_MAX / 4 + 1,
         false},
        {"result_overflow: refuse, result_bits: 64, round: [floor]", 4, 0, INT64_MAX / 8, true},
        {"result_overflow: refuse, result_bits: 64, round: [floor]", 4, 0, INT64_MIN / 4, true},
        {"result_overflow: refuse, result_bits: 64, round: [floor]", 4, 0, INT64_MIN / 4 - 1,
         false},
        {"input_shift_range: yes, shift_min: 0, shift_max: 62", 1, 0, 0, true},
        {"input_shift_range: yes, shift_min: 0, shift_max: 62", 1, 0, 1, false},
        {"result_overflow: saturate, result_bits: 8, round: [floor]", 1, 0, 5000, true},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        assay_scheme *s = scheme_of(list[i].rule);
        assay_rescale r = {.rule = &assay_data(s)->base.rescale,
                           .n = 1,
                           .multiplier = &list[i].multiplier,
                           .shift = &list[i].shift,
                           .zero_point = 3,
                           .lo = -128,
                           .hi = 127,
                           .clamp_lo = -128,
                           .clamp_hi = 127,
                           .out_bits = 8,
                           .out_signed = true};
        apply_rescale_choose(&r);
        if (apply_rescale_accepts(&r, list[i].acc, 0) != list[i].accepted)
            fail_msg("%zu: %s", i, list[i].rule);
        assay_scheme_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shapes), cmocka_unit_test(far_scales),
                                       cmocka_unit_test(wide_multipliers),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
