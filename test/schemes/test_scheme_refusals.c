/* Nodes that a scheme refuses, each with its one line. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/core/attr.h"
#include "schemes/derive/derive.h"
#include "test/support/scheme_unit.h"

/* A record and a node. What is 0 has the usual value: 8 bits, scale 1, beta 1, as many inputs as
 * two. */
typedef struct refusal {
    const char *record, *op;
    const char *message; /* after "scheme t, node node (op): " */
    float s1, s2, s_out;
    int32_t z1, z_out;
    int bits1, bits_out;
    int64_t depth, flag, rows, columns;
    double beta, act_lo, act_hi;
    int n_in;
    bool is_unsigned, uncounted;
} refusal;

static float or_one(float s)
{
    return s != 0 ? s : 1;
}

static void check_one(const refusal *r)
{
    char text[512], expected[700];
    assay_error err = {0};
    assay_scheme *s;
    assay_unit *u;
    const float s1 = or_one(r->s1), s2 = or_one(r->s2), s_out = or_one(r->s_out);
    const int32_t zero = 0;
    const unsigned bits1 = r->bits1 ? (unsigned)r->bits1 : 8;
    const unsigned bits_out = r->bits_out ? (unsigned)r->bits_out : 8;
    assay_type in[2] = {code_type(bits1, !r->is_unsigned, &s1, &r->z1),
                        code_type(8, true, &s2, &zero)};
    assay_type out = code_type(bits_out, !r->is_unsigned, &s_out, &r->z_out);
    assay_unit_spec spec = unit_spec(r->op, in, r->n_in ? r->n_in : 2, &out);
    spec.depth = r->depth;
    spec.flag = r->flag;
    spec.window[0] = r->rows;
    spec.window[1] = r->columns;
    spec.uncounted = r->uncounted;
    spec.beta = r->beta != 0 ? r->beta : 1;
    spec.act_lo = r->act_lo != 0 ? r->act_lo : -INFINITY;
    spec.act_hi = r->act_hi != 0 ? r->act_hi : INFINITY;
    snprintf(text, sizeof text, "scheme: t\n%s", r->record);
    assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
    assert_int_equal(s->vt->prepare(s, &spec, &u, &err), ASSAY_ERR_SCHEME);
    assert_null(u);
    snprintf(expected, sizeof expected, "scheme t, node node (%s): %s", r->op, r->message);
    if (strcmp(err.text, expected) != 0)
        fail_msg("%s\nexpected: %s\nfound:    %s", r->record, expected, err.text);
    assay_scheme_free(s);
}

#define CHECK(list)                                                                                \
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)                                        \
    check_one(&list[i])

#define GIVEN(m, s) "nodes: {node: {given: {multiplier: " m ", shift: " s "}}}\n"
#define POW2                                                                                       \
    "types: {power_of_two_scales: yes, activation_zero_point: none}\n"                             \
    "rescale: {scale: power-of-two, encoding: shift"

static void ops(void **state)
{
    (void)state;
    static const refusal list[] = {
        {"", "nothing", "no quantized form of nothing is known"},
        {"", "reshape", "no quantized form of reshape is known"},
        {"float_ops: [conv]\n", "conv", "scheme t leaves conv in float (float_ops)"},
        {"", "add", "1 inputs; expected at least 2", .n_in = 1},
        {"", "relu", "-1 inputs; expected at least 1", .n_in = -1},
        {"", "div", "the target has no integer form of division"},
        {"", "softmax", "the target has no integer form of softmax"},
        {"", "log_softmax", "the target has no integer form of log softmax"},
        {"", "l2_norm", "the target has no integer form of L2 normalization"},
        {"resize: {kind: none}\n", "resize", "the target has no integer form of bilinear resize",
         .flag = ASSAY_RESIZE_LINEAR},
        {"", "resize", "the target has no integer form of cubic resize",
         .flag = ASSAY_RESIZE_CUBIC},
        {"", "resize",
         "the target has no integer form of linear resize over other than 1 or 2 spatial axes",
         .flag = ASSAY_RESIZE_LINEAR, .depth = 1},
        {"table: {kind: none}\n", "exp", "the target has no integer form of tables of functions"},
        {"softmax: {kind: float-sum}\n", "softmax",
         "float-sum needs output codes of at most 8 bits", .bits_out = 16},
        {"softmax: {kind: lut-16}\nrescale: {encoding: float32, round: [floor]}\n", "softmax",
         "its fixed-point form needs rescale.encoding: multiplier and no pre-shift"},
        {POW2 "}\nsoftmax: {kind: fixed-point}\n", "softmax",
         "its fixed-point form needs rescale.encoding: multiplier and no pre-shift"},
        {"rescale: {pre_shift: fixed, pre_shift_bits: 3}\nunary: {logistic: fixed-point}\n", "tanh",
         "its fixed-point form needs rescale.encoding: multiplier and no pre-shift"},
        {"unary: {rsqrt: newton}\nrescale: {encoding: float32, round: [floor]}\n", "rsqrt",
         "its fixed-point form needs rescale.encoding: multiplier and no pre-shift"},
        {"", "exp", "a table needs an input of at most 16 bits; found 17", .bits1 = 17},
    };
    CHECK(list);
}

/* What is subtracted before scaling is an offset of the accumulator, which no type tells. */
static void offsets(void **state)
{
    (void)state;
    static const char message[] =
        "the output has zero point 5, but what rescale.zero_point: before subtracts is an offset "
        "of "
        "the accumulator; expected zero point 0, or the device's offset as given.zero_point";
    static const refusal list[] = {
        {"rescale: {zero_point: before}\n", "conv", message, .z_out = 5},
        {"rescale: {zero_point: before}\n", "relu", message, .z_out = 5},
        {"rescale: {zero_point: before}\n", "max", message, .z_out = 5},
        {"rescale: {zero_point: before}\n", "min", message, .z_out = 5},
        {"rescale: {zero_point: before}\npool: {kind: rescale}\n", "global_avg_pool", message,
         .z_out = 5, .depth = 4},
        {"rescale: {zero_point: before}\nsoftmax: {l2_norm: newton-inverse-sqrt}\n", "l2_norm",
         message, .z_out = 5},
        {"rescale: {zero_point: before}\nnodes: {node: {given: {multiplier: 5, shift: 3}}}\n",
         "conv", message, .z_out = 5},
    };
    CHECK(list);
}

static void ranges(void **state)
{
    (void)state;
    static const refusal list[] = {
        {"", "add", "the fused activation [1000, inf] leaves no code of the output",
         .act_lo = 1000},
        {"", "max_pool", "the fused activation [-inf, -1000] leaves no code of the output",
         .act_hi = -1000},
        {"", "sigmoid", "the fused activation [1000, inf] leaves no code of the output",
         .act_lo = 1000},
        {"unary: {logistic: fixed-point}\n", "sigmoid",
         "the fused activation [1000, inf] leaves no code of the output", .act_lo = 1000},
        {"unary: {hard_swish: fixed-point}\n", "hard_swish",
         "the fused activation [1000, inf] leaves no code of the output", .act_lo = 1000},
        {"unary: {rsqrt: newton}\n", "rsqrt",
         "the fused activation [1000, inf] leaves no code of the output", .act_lo = 1000},
        {"", "quantize", "the fused activation [1000, inf] leaves no code of the output",
         .act_lo = 1000},
        {"", "squared_difference", "the fused activation [1000, inf] leaves no code of the output",
         .act_lo = 1000},
        {"", "prelu", "the fused activation [1000, inf] leaves no code of the output",
         .act_lo = 1000},
        {"", "leaky_relu", "the fused activation [1000, inf] leaves no code of the output",
         .act_lo = 1000},
        {"", "avg_pool", "the fused activation [1000, inf] leaves no code of the output",
         .act_lo = 1000, .depth = 4},
        {"softmax: {kind: fixed-point}\n", "softmax",
         "the fused activation [1000, inf] leaves no code of the output", .act_lo = 1000},
    };
    CHECK(list);
}

static void scales(void **state)
{
    (void)state;
    static const refusal list[] = {
        {"rescale: {scale: f32}\n", "conv", "scale inf is not a finite number", .s1 = 1e30f,
         .s2 = 1e30f},
        {POW2 ", shift_min: 0}\n", "conv", "scale 2 needs a right shift of -1, outside 0..62",
         .s1 = 2},
        {POW2 "}\n", "conv", "scale 5.42101086e-20 needs a right shift of 64, outside -1100..62",
         .s1 = 0x1p-64f},
        {POW2 "}\n", "conv", "scale 3 is not a power of two", .s1 = 3},
        {"rescale: {encoding: glow}\n", "conv", "scale 1e+10 is not a float32 between 0 and 2^31",
         .s1 = 1e10f},
        {"rescale: {encoding: glow}\n", "conv",
         "scale 1.00000001e-60 is not a float32 between 0 and 2^31", .s1 = 1e-30f, .s2 = 1e-30f},
        {"rescale: {encoding: float32, round: [floor]}\n", "conv",
         "scale 1.00000003e+60 is not a float32 above 0", .s1 = 1e30f, .s2 = 1e30f},
        {"rescale: {encoding: float32, round: [floor]}\n", "conv",
         "scale 1.00000001e-60 is not a float32 above 0", .s1 = 1e-30f, .s2 = 1e-30f},
        {"rescale: {shift_min: 31}\n", "conv",
         "scale 1 needs a right shift of 30, below shift_min 31"},
        {"rescale: {shift_max: 29, beyond_shift_max: refuse}\n", "conv",
         "scale 1 needs a right shift of 30, beyond shift_max 29"},
        {"rescale: {encoding: float32, round: [floor]}\n" GIVEN("1", "1"), "conv",
         "given multipliers need an integer encoding"},
        {"rescale: {encoding: float64, round: [floor]}\n" GIVEN("1", "1"), "conv",
         "given multipliers need an integer encoding"},
        {"rescale: {encoding: thresholds, round: [floor]}\n" GIVEN("1", "1"), "conv",
         "given multipliers need an integer encoding"},
        {GIVEN("[1, 2]", "[1, 2]"), "conv", "2 given multipliers; expected 1 or 1"},
        {GIVEN("1", "1, diff_min: -1"), "conv", "given.diff_min: only softmax has one"},
        {"softmax: {kind: fixed-point}\n" GIVEN("1", "1, zero_point: 1"), "softmax",
         "given zero_point; a row's codes begin where its type does"},
        {"softmax: {kind: fixed-point}\nrescale: {product_bits: 32, left_shift: product}\n",
         "softmax",
         "the difference -3 of two codes is scaled to 67108864; e^x needs a number from -2^31 to 0",
         .bits_out = 8},
        {"unary: {abs: table}\n", "abs", "a table needs an input of at most 16 bits; found 17",
         .bits1 = 17},
        {"softmax: {kind: lut-16}\n" GIVEN("1", "1, diff_min: -1"), "softmax",
         "given diff_min; a table counts every difference", .bits1 = 16, .bits_out = 16},
        {"softmax: {l2_norm: newton-inverse-sqrt}\n" GIVEN("1", "1"), "l2_norm",
         "multipliers are given, but this arithmetic takes none"},
        {"rescale: {encoding: thresholds, round: [floor]}\n", "conv",
         "thresholds need an output of at most 16 bits", .bits_out = 17},
        {"rescale: {encoding: thresholds, round: [floor]}\n", "add",
         "it rescales on the way to its output, but thresholds give no more than the output's "
         "codes "
         "(rescale.encoding)"},
        {"rescale: {encoding: thresholds, round: [floor]}\n", "conv",
         "scale 1e+30 is outside 2^-74 to 2^53", .s1 = 1e30f},
        {"rescale: {encoding: thresholds, round: [floor]}\n", "conv",
         "scale 1e-30 is outside 2^-74 to 2^53", .s1 = 1e-30f},
        {"rescale: {encoding: thresholds, round: [floor], scale: f32}\n", "conv",
         "scale 0 is outside 2^-74 to 2^53", .s1 = 1e-30f, .s2 = 1e-30f},
    };
    CHECK(list);
}

static void classes(void **state)
{
    (void)state;
    static const char reach[] = "the input scale is out of reach of 4 integer bits";
    static const char sigmoid[] =
        "the output must have scale 0.00390625 and zero point -128; found 1 and 0";
    static const refusal list[] = {
        {"add: {kind: common-exponent}\n", "add",
         "scale ratios 3.35544e+07 and 1 are out of reach of a common exponent", .s1 = 0x1p25f},
        {"add: {kind: common-exponent}\n", "add",
         "scale ratios 8.88178e-16 and 8.88178e-16 are out of reach of a common exponent",
         .s_out = 0x1p50f},
        {"add: {kind: align-power-of-two}\n", "add", "needs power-of-two scales; found 3, 1, 1",
         .s1 = 3},
        {"add: {kind: align-power-of-two}\n", "add", "needs power-of-two scales; found 1, 3, 1",
         .s2 = 3},
        {"add: {kind: align-power-of-two}\n", "add", "needs power-of-two scales; found 1, 1, 3",
         .s_out = 3},
        {"add: {kind: plain}\n", "add", "a plain add needs equal scales; found 2, 1, 1", .s1 = 2},
        {"add: {kind: plain}\n", "add", "a plain add needs equal scales; found 1, 1, 2",
         .s_out = 2},
        {"unary: {logistic: fixed-point}\n", "sigmoid", sigmoid},
        {"nodes: {node: {unary: {logistic: fixed-point}}}\n", "sigmoid", sigmoid},
        {"unary: {logistic: fixed-point}\n", "sigmoid",
         "the output must have scale 0.00390625 and zero point -128; found 0.00390625 and 0",
         .s_out = 0x1p-8f},
        {"unary: {logistic: fixed-point}\n", "sigmoid", reach, .s1 = 0x1p-29f, .s_out = 0x1p-8f,
         .z_out = -128},
        {"unary: {logistic: fixed-point}\n", "tanh", reach, .s1 = 16, .s_out = 0x1p-7f},
        {"unary: {logistic: fixed-point}\n", "tanh",
         "fixed-point needs 8-bit codes or signed 16-bit codes with zero point 0", .bits1 = 12,
         .bits_out = 16, .s_out = 0x1p-15f},
        {"unary: {logistic: fixed-point}\n", "tanh",
         "fixed-point needs 8-bit codes or signed 16-bit codes with zero point 0", .bits1 = 16,
         .z1 = 3, .bits_out = 16, .s_out = 0x1p-15f},
        {"unary: {logistic: fixed-point}\n", "tanh",
         "fixed-point needs 8-bit codes or signed 16-bit codes with zero point 0", .bits1 = 16,
         .s_out = 0x1p-7f},
        {"unary: {logistic: fixed-point}\n", "tanh",
         "fixed-point needs 8-bit codes or signed 16-bit codes with zero point 0", .bits_out = 16,
         .s_out = 0x1p-15f},
        {"unary: {hard_swish: fixed-point}\n", "hard_swish",
         "the scales 256 and 1 are out of reach of the 16-bit form", .s1 = 256},
        {"unary: {hard_swish: fixed-point}\n", "hard_swish",
         "the scales 4096 and 64 are out of reach of the 16-bit form", .s1 = 4096, .s_out = 64},
        {"unary: {hard_swish: fixed-point}\n", "hard_swish",
         "the scales 1.2676506e+30 and 7.88860905e-31 are out of reach of the 16-bit form",
         .s1 = 0x1p100f, .s_out = 0x1p-100f},
        {"pool: {kind: divided-multiplier}\nrescale: {shift_min: 31}\n", "reduce_mean",
         "scale 1 needs a right shift of 30, below shift_min 31", .depth = 4},
        {"pool: {kind: rescale-divide}\nrescale: {encoding: thresholds, round: [half-even]}\n",
         "avg_pool",
         "pool.kind rescale-divide divides what is rescaled, but thresholds give no more than the "
         "output's codes (rescale.encoding)",
         .depth = 4},
        {"pool: {kind: dpu}\n", "avg_pool", "needs power-of-two scales", .s1 = 3, .depth = 4},
        {"pool: {kind: dpu}\n", "avg_pool", "needs power-of-two scales", .s_out = 3, .depth = 4},
        {"pool: {kind: float-sum}\n", "avg_pool", "needs input codes of at most 16 bits",
         .bits1 = 17, .depth = 4},
        {"", "avg_pool", "a window of 0 cells; expected 1 to 65536"},
        {"", "avg_pool", "a window of 65537 cells; expected 1 to 65536", .depth = 65537},
        {"pool: {kind: two-stage}\n", "avg_pool",
         "two-stage pooling needs windows of one or two axes", .depth = 4},
        {"pool: {kind: two-stage}\n", "avg_pool",
         "two-stage pooling needs a window of 1 to 8 rows and columns; found 0 x 3, 3 cells",
         .depth = 3, .columns = 3},
        {"pool: {kind: two-stage}\n", "avg_pool",
         "two-stage pooling needs a window of 1 to 8 rows and columns; found 3 x 0, 3 cells",
         .depth = 3, .rows = 3},
        {"pool: {kind: two-stage}\n", "avg_pool",
         "two-stage pooling needs a window of 1 to 8 rows and columns; found 9 x 1, 9 cells",
         .depth = 9, .rows = 9, .columns = 1},
        {"pool: {kind: two-stage}\n", "avg_pool",
         "two-stage pooling needs a window of 1 to 8 rows and columns; found 1 x 9, 9 cells",
         .depth = 9, .rows = 1, .columns = 9},
        {"pool: {kind: two-stage}\n", "avg_pool",
         "pool.kind two-stage divides by the whole window; a window of the node reaches "
         "cells that do not count",
         .depth = 4, .rows = 2, .columns = 2, .uncounted = true},
        {"pool: {kind: dpu}\n", "avg_pool",
         "pool.kind dpu divides by the whole window; a window of the node reaches "
         "cells that do not count",
         .depth = 4, .rows = 2, .columns = 2, .uncounted = true},
    };
    CHECK(list);
}

static void rows(void **state)
{
    (void)state;
    static const char lut[] = "needs signed 16-bit codes in and out";
    static const refusal list[] = {
        {"softmax: {kind: fixed-point}\n", "softmax",
         "beta * input scale 3.7252903e-09 is out of reach of 5 integer bits", .s1 = 0x1p-28f},
        {"softmax: {kind: fixed-point}\nrescale: {multiplier_bits: 8}\n", "softmax",
         "beta * input scale 32 is out of reach of 5 integer bits", .s1 = 1000},
        {"softmax: {kind: fixed-point}\nrescale: {shift_min: 31}\n", "softmax",
         "scale 67108864 needs a right shift of 4, below shift_min 31"},
        {"softmax: {log_softmax: yes}\nrescale: {shift_min: 31}\n", "log_softmax",
         "scale 67108864 needs a right shift of 4, below shift_min 31"},
        {"softmax: {kind: fixed-point}\n", "softmax", "beta -1; expected a finite number above 0",
         .beta = -1},
        {"softmax: {kind: fixed-point}\n", "softmax", "beta inf; expected a finite number above 0",
         .beta = INFINITY},
        {"softmax: {kind: lut-16}\n", "softmax", lut},
        {"softmax: {kind: lut-16}\n", "softmax", lut, .bits1 = 16},
        {"softmax: {kind: lut-16}\n", "softmax", lut, .bits1 = 16, .bits_out = 16,
         .is_unsigned = true},
        {"softmax: {kind: fixed-point}\n", "softmax", "needs input codes of at most 8 bits",
         .bits1 = 9},
    };
    CHECK(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ops),     cmocka_unit_test(offsets),
                                       cmocka_unit_test(ranges),  cmocka_unit_test(scales),
                                       cmocka_unit_test(classes), cmocka_unit_test(rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
