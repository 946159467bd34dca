/* A rescale in words, step by step, compared as text. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "schemes/explain/explain.h"

#include "test/support/scheme_unit.h"

typedef struct worked {
    const char *record;
    double scale;
    int64_t acc, zero, in_zero;
    const char *steps;
} worked;

static const worked cases[] = {
    {"rescale: {pre_shift: fixed, pre_shift_bits: 4, operand_bits: 6, multiplier_bits: 4, "
     "left_shift: product, round: [half-up]}\n",
     0.40625, -100, 5, 7,
     "  accumulator             -100\n"
     "  minus input zero point  -100 - 7 = -107\n"
     "  pre-shift               -107 >> 4 = -7\n"
     "  saturated to  6 bits    -7\n"
     "  product                 -7 * 13 = -91\n"
     "  rounding 1              -91 / 2^1 = -45.5 -> -45, half-up (a tie)\n"
     "  plus zero point         -45 + 5 = -40\n"
     "  code                    -40\n"},
    {"rescale: {round: [half-up], result_bits: 4}\n", 0.5, 25, 0, 0,
     "  accumulator             25\n"
     "  product                 25 * 1073741824 = 26843545600\n"
     "  rounding 1              26843545600 / 2^31 = 12.5 -> 13, half-up (a tie)\n"
     "  narrowed to  4 bits     7\n"
     "  code                    7\n"},
    {"rescale: {left_shift: saturate}\n", 4, 1 << 30, 0, 0,
     "  accumulator             1073741824\n"
     "  shifted left            1073741824 * 2^3 = 2147483647 in 32 bits\n"
     "  product                 2147483647 * 1073741824 = 2305843008139952128\n"
     "  rounding 1              2305843008139952128 / 2^31 = 1073741823.5 -> 1073741824, half-up "
     "(a tie)\n"
     "  rounding 2              1073741824 / 2^0 = 1073741824 -> 1073741824, half-away\n"
     "  saturated to -128..127  127\n"
     "  code                    127\n"},
    {"", 4, 1 << 30, 0, 0,
     "  accumulator             1073741824\n"
     "  shifted left            1073741824 * 2^3 = 0 in 32 bits (wrapped around)\n"
     "  product                 0 * 1073741824 = 0\n"
     "  rounding 1              0 / 2^31 = 0 -> 0, half-up\n"
     "  rounding 2              0 / 2^0 = 0 -> 0, half-away\n"
     "  code                    0\n"},
    {"rescale: {left_shift: product, round: [half-up], product_bits: 16, multiplier_bits: 8}\n",
     0.75, -300, 0, 0,
     "  accumulator             -300\n"
     "  product                 -300 * 192 = -57600\n"
     "  product in 16 bits      7936\n"
     "  rounding 1              7936 / 2^8 = 31 -> 31, half-up\n"
     "  code                    31\n"},
    {"rescale: {left_shift: product, round: [half-up], multiplier_bits: 8}\n", 768, -3, 0, 0,
     "  accumulator             -3\n"
     "  product                 -3 * 192 = -576\n"
     "  product shifted left    by 2\n"
     "  rounding 1              -2304 / 2^0 = -2304 -> -2304, half-up\n"
     "  saturated to -128..127  -128\n"
     "  code                    -128\n"},
    {"rescale: {store: wrap}\n", 0.5, 513, 3, 0,
     "  accumulator             513\n"
     "  product                 513 * 1073741824 = 550829555712\n"
     "  rounding 1              550829555712 / 2^31 = 256.5 -> 257, half-up (a tie)\n"
     "  rounding 2              257 / 2^0 = 257 -> 257, half-away\n"
     "  plus zero point         257 + 3 = 260\n"
     "  low 8 bits              4\n"
     "  code                    4\n"},
    {"rescale: {encoding: float64, round: [half-even]}\n", 0.1, 25, 1, 0,
     "  accumulator             25\n"
     "  as float64              25\n"
     "  times R in float64      25 * 0.1 = 2.5\n"
     "  rounded                 2, half-even (a tie)\n"
     "  plus zero point         2 + 1 = 3\n"
     "  code                    3\n"},
    {"rescale: {encoding: float32, scale: f32-steps, zero_point: inside, round: [half-even]}\n",
     0.5, -5, 10, 0,
     "  accumulator             -5\n"
     "  as float32              -5\n"
     "  times in scale          -5 * 0.5 = -2.5\n"
     "  times weight scale      * 1 = -2.5\n"
     "  divided by out scale    / 1 = -2.5\n"
     "  plus zero point         + 10 = 7.5\n"
     "  rounded                 8, half-even (a tie)\n"
     "  code                    8\n"},
    {"accumulator: {bits: 8, overflow: refuse}\n", 0.5, 128, 0, 0,
     "  accumulator             128\n"
     "  beyond 8 bits, which the target refuses\n"},
    {"accumulator: {bits: 8, overflow: saturate-at-end}\nrescale: {round: [half-up]}\n", 0.5, 200,
     0, 0,
     "  accumulator             200\n"
     "  saturated to  8 bits    127\n"
     "  product                 127 * 1073741824 = 136365211648\n"
     "  rounding 1              136365211648 / 2^31 = 63.5 -> 64, half-up (a tie)\n"
     "  code                    64\n"},
    {"accumulator: {bits: 8, overflow: wrap}\nrescale: {round: [half-up], zero_point: before}\n",
     0.5, 200, 4, 0,
     "  accumulator             200\n"
     "  wrapped to    8 bits    -56\n"
     "  minus zero point        -56 - 4 = -60\n"
     "  product                 -60 * 1073741824 = -64424509440\n"
     "  rounding 1              -64424509440 / 2^31 = -30 -> -30, half-up\n"
     "  code                    -30\n"},
    {"rescale: {input_bits: 8}\n", 0.5, 128, 0, 0,
     "  accumulator             128\n"
     "  the target refuses this accumulator\n"},
};

static void steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const worked *w = &cases[i];
        char why[256], *text;
        size_t size;
        assay_error err = {0};
        assay_single o;
        assay_scheme *s = unit_scheme(w->record);
        const assay_batch b = {.n = 1,
                               .type = assay_int(8, true),
                               .scale = &w->scale,
                               .zero_point = &w->zero,
                               .in_zero = &w->in_zero};
        assert_ok(assay_single_start(&o, s, NULL, false, &err), &err);
        assert_true(assay_single_set(&o, &b, 0, why, sizeof why));
        FILE *f = open_memstream(&text, &size);
        assay_explain_steps(f, &o, w->acc);
        fclose(f);
        if (strcmp(text, w->steps) != 0)
            fail_msg("%s\nexpected:\n%sfound:\n%s", w->record, w->steps, text);
        free(text);
        assay_scheme_free(s);
    }
}

/* A quotient so near an integer or a half that float64 cannot tell is called so in words. */
static void trifles(void **state)
{
    (void)state;
    static const struct {
        double scale;
        int64_t acc;
        const char *line;
    } list[] = {
        {2147483647 / 0x1p31, INT32_MAX,
         " / 2^31 = 2147483646 plus a trifle -> 2147483646, half-up\n"},
        {2147483647 / 0x1p31, -INT32_MAX, " / 2^31 = -2147483646 less a trifle -> -2147483646, "},
        {2147483647 / 0x1p32, INT32_MAX - 1,
         " / 2^32 = 1073741822.5 plus a trifle -> 1073741823, "},
        {2147483647 / 0x1p32, 1 - INT32_MAX,
         " / 2^32 = -1073741822.5 less a trifle -> -1073741823, "},
    };
    assay_scheme *s = unit_scheme("rescale: {round: [half-up], left_shift: product}\n");
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char why[256], *text;
        size_t size;
        assay_error err = {0};
        assay_single o;
        const assay_batch b = {.n = 1, .type = assay_int(32, true), .scale = &list[i].scale};
        assert_ok(assay_single_start(&o, s, NULL, false, &err), &err);
        assert_true(assay_single_set(&o, &b, 0, why, sizeof why));
        FILE *f = open_memstream(&text, &size);
        assay_explain_steps(f, &o, list[i].acc);
        fclose(f);
        if (strstr(text, list[i].line) == NULL)
            fail_msg("expected %s in\n%s", list[i].line, text);
        free(text);
    }
    assay_scheme_free(s);
}

typedef struct sentence {
    const char *record, *line;
    bool said;
} sentence;

static void formula(void **state)
{
    (void)state;
    static const char pow2[] = "types: {power_of_two_scales: yes, activation_zero_point: none}\n"
                               "rescale: {scale: power-of-two, encoding: shift}\n";
    static const sentence list[] = {
        {"", "  R = in * weight / out is formed in double precision, from float32 scales.\n", true},
        {"rescale: {scale: f32-product}\n", "formed as a float32 product in * weight, then", true},
        {"rescale: {encoding: float32, scale: f32-steps, round: [half-even]}\n",
         "  R = in * weight / out is never formed: the accumulator is multiplied by in", true},
        {"rescale: {pre_shift: fixed, pre_shift_bits: 4}\n",
         "  x is shifted right by 4 first, rounded floor.\n", true},
        {"rescale: {pre_shift: rest, round: [15 half-up], pre_shift_round: ceil}\n",
         "  x is first shifted right, rounded ceil, by all but the last 15 bits.\n", true},
        {"rescale: {reduced_bits: 15}\n", "  m is then rounded half-up to 15 bits.\n", true},
        {pow2, "  R becomes a shift alone: R = 1 / 2^s, s <= 62.\n", true},
        {pow2, "m is then", false},
        {"rescale: {multiplier_renormalise: no}\n", "rounded half-away, not renormalised;", true},
        {"rescale: {encoding: float64, round: [floor], zero_point: inside}\n",
         "  R stays a float64 (binary64).\n  x * R is a product of floats; plus the zero point it "
         "is rounded to an integer floor.\n  The sum saturates",
         true},
        {"rescale: {encoding: float32, round: [half-even], float_rounding: add-one}\n",
         " (the neighbour found by adding 1.0f).\n", true},
        {"rescale: {result_bits: 16, result_overflow: refuse}\n",
         "  The result is refused beyond 16 bits.\n", true},
        {"rescale: {zero_point: before}\n",
         "  The zero point is an offset: it is subtracted before the multiplication, and nothing "
         "is added after.\n",
         true},
        {"rescale: {sum_bits: 9, sum_overflow: saturate}\n", ", which saturates in 9 bits.\n",
         true},
        {"rescale: {input_bits: 9}\n", "  A run stops at an accumulator that is refused;", true},
        {"rescale: {sum_bits: 9}\n", "  A run stops at an accumulator that is refused;", false},
        {"rescale: {sum_bits: 9, sum_overflow: refuse}\n", ", which is refused beyond 9 bits.\n",
         true},
        {"rescale: {sum_bits: 0}\n", "  The zero point is added to the rounded integer.\n", true},
        {"rescale: {encoding: thresholds, round: [ceil]}\n",
         "  A threshold is where the exact product acc * R, rounded ceil, takes the code.\n", true},
        {"rescale: {common_shift: yes}\n",
         "  The channels of a layer share the s of the greatest R.\n", true},
        {"rescale: {shift_sign: left}\n", "Shifts: left: m * 2^shift\n", true},
        {"rescale: {shift_sign: right}\n", "Shifts: right: m / 2^shift\n", true},
        {"rescale: {shift_sign: right-of-multiplier}\n",
         "Shifts: right, after the multiplier's own bits: m / 2^bits / 2^shift\n", true},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char *text;
        size_t size;
        assay_scheme *s = unit_scheme(list[i].record);
        FILE *f = open_memstream(&text, &size);
        assay_explain_formula(f, &assay_data(s)->base);
        fprintf(f, "Shifts: %s\n", assay_explain_shift_sign(&assay_data(s)->base.rescale));
        fclose(f);
        if ((strstr(text, list[i].line) != NULL) != list[i].said)
            fail_msg("%s\n%s: %s\n%s", list[i].record, list[i].said ? "expected" : "unexpected",
                     list[i].line, text);
        free(text);
        assay_scheme_free(s);
    }
}

static void bits(void **state)
{
    static const struct {
        assay_int128 v;
        unsigned cut;
        const char *text;
    } list[] = {{0, 0, "0b0"},        {-1, 0, "0b1"},      {5, 0, "0b0101"},    {-6, 0, "0b1010"},
                {-6, 2, "0b10.10"},   {5, 3, "0b0.101"},   {-1, 4, "0b1.1111"}, {11, 1, "0b0101.1"},
                {-11, 1, "0b1010.1"}, {1, 6, "0b0.000001"}};
    char text[ASSAY_EXPLAIN_BITS];
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        assert_string_equal(assay_explain_bits(list[i].v, list[i].cut, text), list[i].text);
    const assay_int128 least = (assay_int128)((assay_uint128)1 << 127);
    assert_int_equal(strlen(assay_explain_bits(least, 0, text)), 130);
    assert_int_equal(strlen(assay_explain_bits(least, 127, text)), 131);
}

/* The rescale of a unit's channel in words: its own parameters, and values in binary. */
static void of_units(void **state)
{
    static const struct {
        const char *record;
        int64_t acc;
        const char *line; /* one of them */
    } list[] = {
        {"rescale: {round: [half-up], left_shift: product}\n", 77,
         "  in binary               0b010011.01000000000000000000000000000000 -> 0b010011, cut "
         "off: "
         ".01000000000000000000000000000000\n"},
        {"rescale: {round: [half-up], left_shift: product}\n", -77,
         "  in binary               0b10110011\n"},
        {"rescale: {encoding: thresholds, round: [half-up]}\n", 77,
         "  thresholds at most it   147 of 255\n"},
        {"rescale: {encoding: float32, round: [half-even]}\n", 77,
         "  its IEEE bits           0x419a0000\n"},
        {"rescale: {encoding: float64, round: [half-even]}\n", 77,
         "  its IEEE bits           0x4033400000000000\n"},
        {"rescale: {encoding: float32, scale: f32-steps, round: [half-even]}\n", 77,
         "  code                    19\n"},
        {"types: {power_of_two_scales: yes, activation_zero_point: none}\n"
         "rescale: {scale: power-of-two, encoding: shift, round: [floor]}\n",
         77, "  code                    19\n"},
    };
    static const float scales[2] = {1, 0.25f};
    static const int32_t zeros[2] = {0, 0};
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        assay_scheme *s = unit_scheme(list[i].record);
        assay_type in[2] = {code_type(8, true, scales, zeros), code_type(8, true, scales, zeros)};
        const assay_type out = in[0];
        in[1].rank = 2;
        in[1].dim[0] = 2;
        in[1].dim[1] = 1;
        in[1].q = (assay_qparams){ASSAY_Q_AXIS, 0, 0, 2, scales, zeros};
        const assay_unit_spec spec = unit_spec("fc", in, 2, &out);
        assay_unit *u = unit_prepare(s, &spec);
        assay_single o;
        char *text;
        size_t size;
        int32_t code;
        assay_single_of_unit(&o, u, &u->scale[ASSAY_OUT], 1);
        s->vt->requantize(u, &list[i].acc, 1, 1, &code);
        assert_int_equal(apply_rescale_one(&o.r, list[i].acc, 0), code);
        FILE *f = open_memstream(&text, &size);
        assay_explain_steps_in_binary(f, &o, list[i].acc);
        fclose(f);
        if (!strstr(text, list[i].line))
            fail_msg("%s\nexpected:\n%sfound:\n%s", list[i].record, list[i].line, text);
        free(text);
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits),    cmocka_unit_test(of_units), cmocka_unit_test(steps),
        cmocka_unit_test(trifles), cmocka_unit_test(formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
