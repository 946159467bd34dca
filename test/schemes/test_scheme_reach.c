/* Numbers that codes can bring into registers whose width no parameter states: derived to fit, or
 * refused in one line, and never wrapped around unseen. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "test/support/scheme_unit.h"

/* A record and a node whose inputs have so many bits (0: 8) and the zero point of both. `message`
 * after "scheme t, node node (op): "; NULL: the unit is prepared. */
typedef struct reach {
    const char *record, *op, *message;
    int bits1, bits2, bits_out;
    int32_t zero;
    float s1, s2, s_out; /* 0: 1 */
    int64_t depth;
    bool is_unsigned;
} reach;

static void check_one(const reach *r)
{
    char expected[600] = "";
    const unsigned bits1 = r->bits1 ? (unsigned)r->bits1 : 8;
    const unsigned bits2 = r->bits2 ? (unsigned)r->bits2 : bits1;
    const float s1 = r->s1 != 0 ? r->s1 : 1, s2 = r->s2 != 0 ? r->s2 : 1;
    const float s_out = r->s_out != 0 ? r->s_out : 1;
    const int32_t none = 0;
    assay_type in[2] = {code_type(bits1, !r->is_unsigned, &s1, &r->zero),
                        code_type(bits2, !r->is_unsigned, &s2, &r->zero)};
    assay_type out = code_type(r->bits_out ? (unsigned)r->bits_out : 8, true, &s_out, &none);
    assay_unit_spec spec = unit_spec(r->op, in, 2, &out);
    assay_scheme *s = unit_scheme(r->record);
    assay_error err = {0};
    assay_unit *u = NULL;
    if (r->depth)
        spec.depth = r->depth;
    assay_status status = s->vt->prepare(s, &spec, &u, &err);
    if (r->message)
        snprintf(expected, sizeof expected, "scheme t, node node (%s): %s", r->op, r->message);
    if (status != (r->message ? ASSAY_ERR_SCHEME : ASSAY_OK) ||
        (r->message && strcmp(err.text, expected) != 0))
        fail_msg("%s%s\nexpected: %s\nfound:    %s", r->record, r->op, expected, err.text);
    if (u)
        s->vt->release(u);
    assay_scheme_free(s);
}

#define CHECK(list)                                                                                \
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)                                        \
    check_one(&list[i])

#define BEYOND(what, max, bits) what " can reach " max ", beyond the " bits " bits that hold it"
#define DIVIDES(how)            "binary: {div: " how "}\n"
#define FLOOR                   "rescale: {round: [floor]}\n"
#define SUM                     "with this add.bits the sum"

static void sums(void **state)
{
    (void)state;
    static const reach list[] = {
        /* Two halves of the greatest code, each rounded up, are one too many; rounded down not. */
        {"", "add", BEYOND("the sum of two rescaled codes", "2.14748365e+09", "32"), .bits1 = 32,
         .s_out = 4},
        {"", "add", BEYOND("the sum of two rescaled codes", "2.14748365e+09", "32"), .bits1 = 31,
         .s_out = 4, .is_unsigned = true},
        {FLOOR, "add", NULL, .bits1 = 32},
        {FLOOR, "add", NULL, .bits1 = 31, .is_unsigned = true},
        {FLOOR, "add", BEYOND("a code less its zero point", "2.14748365e+09", "32"), .bits1 = 32,
         .zero = -1},
        {FLOOR, "add", BEYOND("a code less its zero point", "-2.14748365e+09", "32"), .bits1 = 32,
         .zero = 1},
        {"", "add", NULL, .bits1 = 29},
        {"", "add", NULL, .s_out = 0x1p-22F},
        {"", "add", BEYOND("the sum, shifted left for its output scale,", "2.14748365e+09", "32"),
         .s_out = 0x1p-22F, .zero = -1},
        {"", "sub", NULL, .bits1 = 16, .zero = 32767},
        {"", "add_n", NULL, .bits1 = 32}, /* of no room to shift the exact sum is rescaled */
        {"add: {kind: common-exponent}\n", "add", BEYOND(SUM, "-6.87194767e+10", "32"),
         .bits1 = 16},
        {"wide: {add: {kind: common-exponent, bits: 14}}\n", "add", NULL, .bits1 = 16},
        {"add: {kind: common-exponent, bits: 15}\n", "add", NULL, .bits1 = 16},
        {"add: {kind: common-exponent, bits: 15}\n", "sub", NULL, .bits1 = 16},
        {"add: {kind: common-exponent, bits: 15}\n", "add", BEYOND(SUM, "2.14748365e+09", "32"),
         .bits1 = 16, .zero = -1},
        {"add: {kind: common-exponent, bits: 15}\n", "add", BEYOND(SUM, "-2.14754918e+09", "32"),
         .bits1 = 16, .zero = 1},
        {"add: {kind: common-exponent, bits: 15}\n", "add", NULL, .bits1 = 16, .s1 = 0.5F},
        {"add: {kind: common-exponent, bits: 14}\n", "add", BEYOND(SUM, "2.6843136e+09", "32"),
         .bits1 = 16, .zero = -32768, .s1 = 1.5F},
        {"add: {kind: common-exponent, bits: 21}\n", "sub", NULL, .zero = -128},
        {"add: {kind: fixed-scale}\n", "add", BEYOND(SUM, "-6.87194767e+10", "32"), .bits1 = 16},
        {"add: {kind: fixed-scale, bits: 14}\n", "add", NULL, .bits1 = 16},
        {"add: {kind: fixed-scale}\n", "add", BEYOND(SUM, "-1.34351946e+11", "32"), .s1 = 1000},
        {"add: {kind: align-power-of-two, bits: 30}\n", "add", NULL, .bits1 = 32},
        {"add: {kind: align-power-of-two, bits: 30}\n", "add", BEYOND(SUM, "4.61168602e+18", "63"),
         .bits1 = 32, .zero = -1},
    };
    CHECK(list);
}

static void products(void **state)
{
    (void)state;
    static const reach list[] = {
        {"", "mul", BEYOND("the product of two codes", "1.84467441e+19", "63"), .bits1 = 32,
         .zero = INT32_MIN},
        {"", "mul", BEYOND("the product of two codes", "4.61168602e+18", "63"), .bits1 = 32},
        {"", "mul", NULL, .bits1 = 31},
        {"", "prelu", BEYOND("the product of two codes", "4.61168602e+18", "63"), .bits1 = 32},
        {"", "max", NULL, .bits1 = 32},
        {"", "fc", BEYOND("the exact sum of the products", "4.61168602e+18", "63"), .bits1 = 32},
        {"", "fc", NULL, .bits1 = 32, .bits2 = 8, .depth = 1 << 22},
        {"", "fc", BEYOND("the exact sum of the products", "4.61168602e+18", "63"), .bits1 = 32,
         .bits2 = 8, .depth = 1 << 24},
        {"", "fc", "a code of 32 bits less its zero point -1 can leave the 32 bits that hold it",
         .bits1 = 32, .bits2 = 8, .zero = -1},
        {"", "matmul",
         "a code of 32 bits less its zero point -1 can leave the 32 bits that hold it", .bits1 = 8,
         .bits2 = 32, .zero = -1},
        {"", "fc", NULL, .bits1 = 31, .bits2 = 8, .zero = -1},
        {"", "squared_difference", NULL},
        {"", "squared_difference", NULL, .bits1 = 16},
        /* Codes from 0 on are no farther apart than codes of both signs; 32 bits at a fine scale
         * have few values at the coarse one. */
        {"", "squared_difference", NULL, .bits1 = 16, .zero = -32768},
        {"", "squared_difference", BEYOND("the square of a difference", "4.2949673e+09", "32"),
         .bits1 = 17, .zero = -65536},
        {"", "squared_difference", BEYOND("the square of a difference", "4.2949673e+09", "32"),
         .bits1 = 17},
        {"", "squared_difference", NULL, .bits1 = 32, .s1 = 0x1p-16F, .bits2 = 8},
        {"", "squared_difference", NULL, .bits1 = 32, .s1 = 0x1p-16F, .bits2 = 16},
        {"", "squared_difference", BEYOND("the square of a difference", "2.4159191e+09", "32"),
         .bits1 = 32, .s1 = 0x1p-15F, .bits2 = 16},
        {"", "squared_difference", BEYOND("a shifted code", "-2.74877907e+11", "32"), .bits2 = 32,
         .s2 = 0x1p-30F},
        {"", "squared_difference", BEYOND("a shifted code", "2.14748365e+09", "32"), .bits1 = 32,
         .zero = -1, .s1 = 0x1p-30F, .bits2 = 8},
        {"binary: {squared_difference_bits: 10}\n", "squared_difference",
         BEYOND("the square of a difference", "1.70459136e+10", "32")},
        /* What a pre-shift cuts off is added to the halves of codes. */
        {"rescale: {pre_shift: fixed, pre_shift_bits: 30, round: [1 half-even, half-even]}\n",
         "squared_difference", BEYOND("the square of a difference", "2.88230376e+17", "32")},
        {"rescale: {pre_shift: fixed, pre_shift_bits: 3}\n", "squared_difference", NULL},
        {"binary: {compare: rescale}\n", "less", NULL, .bits1 = 24},
        {"binary: {compare: rescale}\n", "less",
         BEYOND("a code shifted left by 8", "2.14748365e+09", "32"), .bits1 = 24, .zero = -1},
        {"binary: {compare: rescale}\n", "less",
         BEYOND("a code shifted left by 8", "-2.1474839e+09", "32"), .bits1 = 24, .zero = 1},
        {"binary: {compare: exact}\n", "less", NULL, .bits1 = 32},
        /* The dividend takes the divisor's sign; 2^31 as a divisor changed its own. */
        {DIVIDES("newton-reciprocal"), "div",
         BEYOND("a code less its zero point", "2.14748365e+09", "32"), .bits1 = 32},
        {DIVIDES("newton-reciprocal"), "div",
         BEYOND("a code less its zero point", "2.14748365e+09", "32"), .bits1 = 8, .bits2 = 32},
        {DIVIDES("newton-reciprocal"), "div", NULL, .bits1 = 31, .is_unsigned = true},
        {DIVIDES("float"), "div", NULL, .bits1 = 32, .zero = -1},
        {DIVIDES("truncate-then-scale"), "div", NULL, .bits1 = 32, .zero = -1},
        {"unary: {leaky_relu: fixed-8}\n", "leaky_relu", NULL, .bits1 = 16, .s1 = 256},
        {"unary: {leaky_relu: fixed-8}\n", "leaky_relu",
         BEYOND("a code times its slope in 8 fraction bits", "2.14748365e+09", "32"), .bits1 = 16,
         .s1 = 256, .zero = -1},
        {"unary: {leaky_relu: fixed-8}\n", "leaky_relu", NULL, .bits1 = 17, .s1 = 256,
         .zero = 65535},
        {"unary: {rsqrt: newton}\n", "rsqrt", NULL, .bits1 = 32},
        {"unary: {rsqrt: newton}\n", "rsqrt",
         BEYOND("a code less its zero point", "2.14748365e+09", "32"), .bits1 = 32, .zero = -1},
        {"unary: {gelu: i-bert}\n", "gelu", NULL, .s1 = 0.002F},
        {"unary: {gelu: i-bert}\n", "gelu", NULL, .s1 = 0.0009F, .zero = 127},
        {"unary: {gelu: i-bert}\n", "gelu",
         BEYOND("a code times I-BERT's erf", "-7.03601041e+09", "32"), .s1 = 0.0005F},
    };
    CHECK(list);
}

static void rows(void **state)
{
    (void)state;
    static const char shares[] =
        "its codes count 2^-8 from -128; the output has 8 bits, scale 0.0078125, zero point 0";
    static const reach list[] = {
        {"pool: {kind: reciprocal}\n", "avg_pool", NULL, .bits1 = 16, .depth = 65536},
        {"pool: {kind: reciprocal}\n", "avg_pool",
         BEYOND("the sum of the window", "2.14748365e+09", "32"), .bits1 = 16, .depth = 65536,
         .zero = -1},
        {"pool: {kind: reciprocal}\n", "global_avg_pool", NULL, .depth = 1 << 24},
        {"pool: {kind: reciprocal}\n", "global_avg_pool",
         BEYOND("the sum of the window", "-2.14748378e+09", "32"), .depth = (1 << 24) + 1},
        {"softmax: {l2_norm: newton-inverse-sqrt}\n", "l2_norm", NULL, .depth = 131071},
        {"softmax: {l2_norm: newton-inverse-sqrt}\n", "l2_norm",
         BEYOND("the sum of squares", "2.14748365e+09", "32"), .depth = 131072},
        {"softmax: {l2_norm: newton-inverse-sqrt}\n", "l2_norm",
         BEYOND("the sum of squares", "2.14748365e+09", "32"), .bits1 = 16, .depth = 2},
        {"softmax: {kind: fixed-point}\n", "softmax", shares, .s_out = 0x1p-7F},
        {"softmax: {kind: integer-table}\n", "softmax", shares, .s_out = 0x1p-7F},
        {"softmax: {kind: fixed-point}\n", "softmax",
         "its codes count 2^-32 from -2147483648; the output has 32 bits, scale 2.32830644e-10, "
         "zero point 0",
         .bits_out = 32, .s_out = 0x1p-32F},
        {"softmax: {kind: integer-table}\n", "softmax",
         "its codes count 2^-8 from -32768; the output has 16 bits, scale 3.05175781e-05, zero "
         "point 0",
         .bits_out = 16, .s_out = 0x1p-15F},
        {"softmax: {kind: fixed-point}\n", "softmax",
         "its codes count 2^-8 from -128; the output has 8 bits, scale 0.00390625, zero point 0",
         .s_out = 0x1p-8F},
        {"softmax: {kind: integer-table}\n", "softmax",
         "needs rows of fewer than 2^32 codes; found 4294967296", .s_out = 0x1p-8F,
         .depth = INT64_C(1) << 32},
        {"softmax: {kind: q31-table}\n", "softmax", NULL, .s_out = 0x1.00001p-16F},
        {"softmax: {kind: q31-table}\n", "softmax",
         "needs an output scale above 2^-16; found 1.52587891e-05", .s_out = 0x1p-16F},
        {"softmax: {kind: q31-table}\n", "softmax",
         "needs an output scale above 2^-16; found 1.17549435e-38", .s_out = 0x1p-126F},
        {"rescale: {reduced_bits: 15, round: [half-up], left_shift: product}\n", "reduce_prod",
         "a product of many codes needs rescale.result_bits"},
        {"rescale: {reduced_bits: 15, round: [half-up], left_shift: product, result_bits: 48}\n",
         "reduce_prod", BEYOND("a product times one more code", "4.61168602e+18", "63"),
         .bits1 = 16},
        {"rescale: {reduced_bits: 15, round: [half-up], left_shift: product, result_bits: 64}\n",
         "reduce_prod", BEYOND("a product times one more code", "3.02231455e+23", "63"),
         .bits1 = 16},
        {"rescale: {reduced_bits: 15, round: [half-up], left_shift: product, result_bits: 1}\n",
         "reduce_prod", NULL, .bits1 = 16},
        {"rescale: {reduced_bits: 15, round: [half-up], left_shift: product, result_bits: 32}\n",
         "reduce_prod", NULL, .bits1 = 16, .zero = 32767},
    };
    CHECK(list);
}

/* The left shift in force is the record's where it fits, else the greatest that does: with 16-bit
 * codes TFLite's own 15; and sums of wide codes come out right. */
static void left_shift(void **state)
{
    (void)state;
    static const int32_t zero = 0;
    assay_scheme *s = unit_scheme("");
    for (unsigned bits = 4; bits <= 29; bits++) {
        const float one = 1;
        assay_type in[2] = {code_type(bits, true, &one, &zero), code_type(bits, true, &one, &zero)};
        const assay_type out = code_type(bits, true, &one, &zero);
        const assay_unit_spec spec = unit_spec("add", in, 2, &out);
        const int32_t top = (int32_t)((1U << (bits - 1)) - 1);
        const int32_t a[4] = {top, -top - 1, top / 2, -top / 3}, b[4] = {top, -top - 1, 1, top / 5};
        int32_t y[4];
        size_t count;
        assay_unit *u = unit_prepare(s, &spec);
        const int64_t *shift = unit_param(s, u, "constants", &count);
        assert_int_equal(count, 1);
        assert_int_equal(shift[0], bits <= 11 ? 20 : 31 - (int)bits);
        s->vt->binary(u, a, b, 4, y);
        for (int i = 0; i < 4; i++) {
            int64_t sum = (int64_t)a[i] + b[i];
            sum = sum > top ? top : sum < -top - 1 ? -top - 1 : sum;
            assert_in_range(y[i] - sum + 1, 0, 2);
        }
        s->vt->release(u);
    }
    assay_scheme_free(s);
}

/* Sums of codes that leave no bit for the shift: it was -1 of them. */
static void no_room(void **state)
{
    (void)state;
    static const float one = 1;
    static const int32_t zero = 0;
    assay_scheme *s = unit_scheme("");
    const assay_type out = code_type(8, true, &one, &zero);
    for (unsigned bits = 28; bits <= 31; bits++) {
        const assay_type x = code_type(bits, true, &one, &zero);
        const assay_unit_spec spec = unit_spec("add_n", &x, 1, &out);
        assay_unit *u = unit_prepare(s, &spec);
        const int64_t sums[3] = {5, -100, 1 << 26};
        const int32_t count[3] = {1, 2, 1};
        int32_t y[3];
        s->vt->pool(u, sums, count, 3, y);
        assert_int_equal(y[0], 5);
        assert_int_equal(y[1], -100);
        assert_int_equal(y[2], 127);
        s->vt->release(u);
    }
    assay_scheme_free(s);
}

/* What fills its register to the last code, on either side, comes out of it whole. */
static void ends(void **state)
{
    (void)state;
    static const struct {
        const char *record, *op;
        unsigned bits;
        int32_t a[2], b[2], y[2];
        float s_out;
    } list[] = {
        {FLOOR, "add", 32, {INT32_MIN, INT32_MAX}, {INT32_MIN, INT32_MAX}, {-128, 127}, 0x1p24F},
        {FLOOR, "sub", 32, {INT32_MIN, INT32_MAX}, {INT32_MIN, INT32_MAX}, {0, 0}, 0x1p24F},
        {"add: {kind: common-exponent, bits: 15}\n",
         "add",
         16,
         {-32768, 32767},
         {-32768, 32767},
         {-64, 64},
         0x1p9F},
        {"binary: {compare: rescale}\n",
         "less",
         24,
         {-(1 << 23), (1 << 23) - 1},
         {(1 << 23) - 1, -(1 << 23)},
         {1, 0},
         1},
        {DIVIDES("truncate-then-scale"),
         "div",
         32,
         {INT32_MIN, INT32_MAX},
         {1 << 25, 1 << 25},
         {-64, 63},
         1},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        static const int32_t zero = 0;
        const float half = 0.5F;
        const assay_type x = code_type(list[i].bits, true, &half, &zero);
        assay_type in[2] = {x, x};
        const assay_type out = code_type(8, true, &list[i].s_out, &zero);
        const assay_unit_spec spec = unit_spec(list[i].op, in, 2, &out);
        assay_scheme *s = unit_scheme(list[i].record);
        assay_unit *u = unit_prepare(s, &spec);
        int32_t y[2];
        s->vt->binary(u, list[i].a, list[i].b, 2, y);
        if (memcmp(y, list[i].y, sizeof y) != 0)
            fail_msg("%s%s: %d %d; expected %d %d", list[i].record, list[i].op, y[0], y[1],
                     list[i].y[0], list[i].y[1]);
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums),    cmocka_unit_test(products),
                                       cmocka_unit_test(rows),    cmocka_unit_test(left_shift),
                                       cmocka_unit_test(no_room), cmocka_unit_test(ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
