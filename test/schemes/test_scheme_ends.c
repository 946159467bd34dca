/* Rescales at the ends of what a record can say: signs, shifts, registers and refusals. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "schemes/rescale/batch.h"
#include "test/support/scheme_unit.h"

#define REFUSED INT64_MIN
#define POW2    "types: {power_of_two_scales: yes, activation_zero_point: none}\n"

/* One rescale to a type, or REFUSED. */
static int64_t code_of(const char *record, assay_elem type, int64_t acc, double scale, int64_t zero)
{
    assay_scheme *s = unit_scheme(record);
    assay_error err = {0};
    int64_t out;
    uint8_t refused = 0;
    const assay_batch b = {.n = 1, .type = type, .acc = &acc, .scale = &scale, .zero_point = &zero};
    assert_ok(assay_scheme_batch_apply(s, &b, &out, &refused, &err), &err);
    assay_scheme_free(s);
    return refused ? REFUSED : out;
}

static void rescales(void **state)
{
    (void)state;
    static const struct {
        const char *record;
        unsigned bits;
        bool is_signed;
        int64_t acc;
        double scale;
        int64_t zero, code;
    } list[] = {
        /* a shift has a sign, too */
        {POW2 "rescale: {encoding: shift, negative_scale: yes, scale: power-of-two, left_shift: "
              "product, round: [floor]}\n",
         8, true, 100, -0.25, 0, -25},
        {POW2 "rescale: {encoding: shift, negative_scale: yes, scale: power-of-two, left_shift: "
              "product, round: [floor]}\n",
         8, true, 100, 0.25, 0, 25},
        /* a negative multiplier and the multiplier 0 have a shift, hence a range */
        {"rescale: {multiplier_bits: 7, negative_scale: yes, input_shift_range: yes, left_shift: "
         "product, round: [floor]}\n",
         8, true, 118, -0.0012404265580698848, 0, -1},
        {"rescale: {multiplier_bits: 7, negative_scale: yes, input_shift_range: yes, left_shift: "
         "product, round: [floor]}\n",
         8, true, 1 << 15, -0.0012404265580698848, 0, REFUSED},
        {"rescale: {shift_sign: right, zero_shift: 15, reduced_bits: 1, input_shift_range: yes, "
         "left_shift: product, round: [half-up]}\n",
         8, true, (1 << 14) - 1, 1e-20, 7, 7},
        {"rescale: {shift_sign: right, zero_shift: 15, reduced_bits: 1, input_shift_range: yes, "
         "left_shift: product, round: [half-up]}\n",
         8, true, 1 << 14, 1e-20, 7, REFUSED},
        /* the whole shift: 33 bits, one of them before the multiplication */
        {"rescale: {input_shift_range: yes, pre_shift: fixed, pre_shift_bits: 1, left_shift: "
         "product, round: [floor]}\n",
         8, true, INT32_MAX, 0.25, 0, 127},
        /* the magnitude is what is reduced: 127 loses four bits half up, and is 2^3 then */
        {"rescale: {multiplier_bits: 7, negative_scale: yes, reduced_bits: 3, reduced_overflow: "
         "renormalise, left_shift: product, round: [floor]}\n",
         8, true, 64, -0.9921875, 0, -64},
        {"rescale: {multiplier_bits: 7, negative_scale: yes, reduced_bits: 3, left_shift: product, "
         "round: [floor]}\n",
         8, true, 64, -0.9921875, 0, -56},
        {"rescale: {multiplier_bits: 7, negative_scale: yes, reduced_bits: 3, left_shift: product, "
         "round: [floor]}\n",
         8, true, 64, -0.5625, 0, -40},
        /* refused is what leaves result_bits, not what leaves it with the zero point in it */
        {"rescale: {product_bits: 2, result_bits: 2, result_overflow: refuse, left_shift: product, "
         "round: [away]}\n",
         4, false, -362, 0.6673809885978699, 15, 15},
        {"rescale: {result_bits: 1, result_overflow: refuse, left_shift: product, round: [away]}\n",
         8, true, -14, 0.0078125, 5, 4},
        {"rescale: {result_bits: 1, result_overflow: refuse, left_shift: product, round: [away]}\n",
         8, true, 14, 0.0078125, 5, REFUSED},
        {"rescale: {sum_bits: 8, sum_overflow: refuse, left_shift: product, round: [floor]}\n", 8,
         true, 127, 1, 1, REFUSED},
        {"rescale: {sum_bits: 8, sum_overflow: refuse, left_shift: product, round: [floor]}\n", 8,
         true, 126, 1, 1, 127},
        {"rescale: {encoding: float32, zero_point: inside, sum_bits: 8, sum_overflow: refuse, "
         "round: [floor]}\n",
         8, true, 127, 1, 1, 127},
        {"rescale: {reduced_bits: 15, pre_shift: rest, operand_bits: 2, result_bits: 7, "
         "result_overflow: refuse, left_shift: product, round: [31 half-up]}\n",
         9, false, -2147483647, 7.292580007484583e-10, 0, 0},
        /* nothing is added after, so nothing wraps there */
        {"rescale: {zero_point: before, sum_bits: 16, left_shift: product, round: [15 trunc, "
         "odd]}\n",
         3, true, 51943, 36.07209396362305, 0, 3},
        {"rescale: {zero_point: before, sum_bits: 16, left_shift: product, round: [floor]}\n", 8,
         true, 40000, 1, 0, 127},
        /* a pre-shift may be longer than any register, to either side */
        {"rescale: {pre_shift: rest, shift_max: 1100, left_shift: product, round: [15 trunc]}\n", 8,
         true, -2147483647, 0x1p-90, 0, -128}, /* floor */
        {"rescale: {pre_shift: rest, shift_max: 1100, left_shift: product, round: [15 trunc]}\n", 8,
         true, -2147483647, 0x1p-140, 0, -128},
        {"rescale: {pre_shift: rest, shift_max: 1100, pre_shift_round: half-up, left_shift: "
         "product, round: [15 trunc]}\n",
         8, true, -2147483647, 0x1p-90, 0, 0},
        {"rescale: {pre_shift: rest, shift_max: 1100, pre_shift_round: floor, product_bits: 32, "
         "left_shift: product, round: [15 half-up]}\n",
         8, true, 5, 0x1p-90, 0, 0},
        {"rescale: {pre_shift: rest, left_shift: product, sum_bits: 0, round: [15 trunc]}\n", 8,
         true, 1, 0x1p90, 0, 127},
        {"rescale: {pre_shift: rest, left_shift: product, round: [15 trunc]}\n", 8, true, 0, 0x1p90,
         3, 3},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const assay_elem type = {ASSAY_KIND_INT, (uint8_t)list[i].bits, list[i].is_signed};
        const int64_t code =
            code_of(list[i].record, type, list[i].acc, list[i].scale, list[i].zero);
        if (code != list[i].code)
            fail_msg("%zu: %sexpected %lld, found %lld", i, list[i].record, (long long)list[i].code,
                     (long long)code);
    }
}

/* Glow's loop has no negative R; a float no shift. */
static void refused(void **state)
{
    (void)state;
    static const struct {
        const char *record, *message;
    } list[] = {
        {"rescale: {negative_scale: yes, encoding: glow, round: [half-away]}\n",
         "t:2:27: rescale.negative_scale: yes is not read here; it needs a rescale.encoding other "
         "than thresholds and glow"},
        {"rescale: {input_shift_range: yes, encoding: glow, round: [half-away]}\n",
         "t:2:30: rescale.input_shift_range: yes is not read here; it needs rescale.encoding: "
         "multiplier or shift"},
        {"rescale: {input_shift_range: yes, encoding: float64, round: [ceil]}\n",
         "t:2:30: rescale.input_shift_range: yes is not read here; it needs rescale.encoding: "
         "multiplier or shift"},
        {"rescale: {encoding: float32, result_bits: 15, round: [half-even]}\n",
         "t:2:43: rescale.result_bits: 15 is not read here; it needs rescale.encoding: multiplier, "
         "shift or glow"},
        {"rescale: {float_rounding: add-one, encoding: float32, round: [half-up]}\n",
         "t:2:27: rescale.float_rounding: add-one needs round: [half-even] (its neighbour is the "
         "nearest, even on a tie)"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[300];
        assay_error err = {0};
        assay_scheme *s;
        snprintf(text, sizeof text, "scheme: t\n%s", list[i].record);
        assert_int_equal(assay_scheme_parse("t", text, strlen(text), &s, &err), ASSAY_ERR_SCHEME);
        assert_string_equal(err.text, list[i].message);
    }
}

/* An average of one window of u8 codes to the same scale, as `kind` divides. */
static int32_t average(const char *record, unsigned bits, bool is_signed, float out_scale,
                       int32_t zero, int64_t sum, int32_t count)
{
    const float one = 1;
    assay_scheme *s = unit_scheme(record);
    const assay_type in = code_type(8, false, &one, &zero);
    const assay_type out = code_type(bits, is_signed, &out_scale, &zero);
    assay_unit_spec spec = unit_spec("avg_pool", &in, 1, &out);
    spec.depth = count;
    spec.window[0] = spec.window[1] = 2; /* of the four cells that have stages */
    assay_unit *u = unit_prepare(s, &spec);
    int32_t code;
    s->vt->pool(u, &sum, &count, 1, &code);
    s->vt->release(u);
    assay_scheme_free(s);
    return code;
}

/* The zero point that comes back is added in the register of sum_bits, but one that never left. */
static void pools(void **state)
{
    (void)state;
#define SUM "rescale: {sum_bits: 6}\n"
    const char *const kinds[] = {SUM "pool: {kind: reciprocal}\n", SUM "pool: {kind: two-stage}\n",
                                 SUM "pool: {kind: divide, keep_zero_point: no}\n",
                                 ("rescale: {sum_bits: 6, left_shift: product, round: [half-up]}\n"
                                  "pool: {kind: rescale-divide}\n")};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        /* mean 40, 20 less the zero point; 20 + 20 wraps in 6 bits to -24 */
        assert_int_equal(average(kinds[i], 8, false, 1, 20, 160, 4), 0);
    /* -41 / 4, half up, and 20 */
    assert_int_equal(average("rescale: {left_shift: product, round: [half-up]}\n"
                             "pool: {kind: rescale-divide, round: half-up}\n",
                             8, false, 1, 20, 39, 4),
                     10);
    assert_int_equal(average(SUM "pool: {kind: divide}\n", 8, false, 1, 20, 160, 4), 40);
    /* 3 * 2^64 / 3: a rescaled sum of more than 64 bits, whose low ones are stored */
    assert_int_equal(average("rescale: {left_shift: product, round: [half-up], sum_bits: 0, store: "
                             "wrap}\npool: {kind: rescale-divide}\n",
                             8, true, 0x1p-64F, 0, 3, 3),
                     0);
    assert_int_equal(average("rescale: {left_shift: product, round: [half-up], sum_bits: 0}\n"
                             "pool: {kind: rescale-divide}\n",
                             8, true, 0x1p-66F, 0, 255, 5),
                     127);
}

/* Bounds that a network gives as codes are those codes under any `convert`, at any width; real
 * bounds go through it. */
static void code_bounds(void **state)
{
    (void)state;
    static const struct {
        unsigned bits;
        float scale;
        int32_t zero;
        int64_t lo, hi;
    } list[] = {{16, 0.03891901299357414F, 0, -28345, -8864},
                {31, 0.16129359602928162F, 388919091, 21674001, 213582934}};
    assay_scheme *s = unit_scheme("types: {activation_bits: 16}\n"
                                  "convert: {division: reciprocal, round: ceil}\n");
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const assay_type t = code_type(list[i].bits, true, &list[i].scale, &list[i].zero);
        assay_unit_spec spec = unit_spec("rescale", &t, 1, &t);
        spec.has_code_bounds = true;
        spec.code_lo = list[i].lo;
        spec.code_hi = list[i].hi;
        spec.act_lo = (double)list[i].scale * (double)(list[i].lo - list[i].zero);
        spec.act_hi = (double)list[i].scale * (double)(list[i].hi - list[i].zero);
        assay_unit *u = unit_prepare(s, &spec);
        size_t count;
        const int64_t *range = unit_param(s, u, "range", &count);
        assert_int_equal(count, 2);
        assert_int_equal(range[0], list[i].lo);
        assert_int_equal(range[1], list[i].hi);
        s->vt->release(u);
        spec.has_code_bounds = false;
        u = unit_prepare(s, &spec);
        range = unit_param(s, u, "range", &count);
        assert_int_not_equal(range[1], list[i].hi);
        s->vt->release(u);
    }
    assay_scheme_free(s);
}

/* A relu whose fused bounds end below its zero point gives their end, whatever the store is. */
static void relu_bounds(void **state)
{
    (void)state;
    static const char *const stores[] = {"saturate", "wrap"};
    static const float scale[2] = {1, 0.5F};
    static const int32_t zero = 0;
    const assay_type in = code_type(8, true, &scale[0], &zero),
                     out = code_type(8, true, &scale[1], &zero);
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        char record[60];
        snprintf(record, sizeof record, "rescale: {store: %s}\n", stores[i]);
        assay_scheme *s = unit_scheme(record);
        assay_unit_spec spec = unit_spec("relu", &in, 1, &out);
        spec.has_code_bounds = true;
        spec.code_lo = -7;
        spec.code_hi = -3;
        spec.act_lo = -3.5;
        spec.act_hi = -1.5;
        assay_unit *u = unit_prepare(s, &spec);
        const int32_t x[2] = {-100, 100};
        int32_t y[2];
        s->vt->unary(u, x, 2, y);
        assert_int_equal(y[0], -3);
        assert_int_equal(y[1], -3);
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* I-BERT's shares count 1/127 from 0. */
static void shares(void **state)
{
    (void)state;
    static const float scale[] = {0.1F, 1.0F / 127, 1.0F / 256};
    static const int32_t zero[] = {0, 1};
    const assay_type in = code_type(8, true, &scale[0], &zero[0]);
    assay_scheme *s =
        unit_scheme("rescale: {encoding: float32, round: [half-even]}\nsoftmax: {kind: i-bert}\n");
    for (int i = 0; i < 3; i++) {
        const assay_type out = code_type(8, true, &scale[i < 2 ? 1 : 2], &zero[i == 1]);
        const assay_unit_spec spec = unit_spec("softmax", &in, 1, &out);
        assay_error err = {0};
        assay_unit *u = NULL;
        if (i == 0) {
            assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
            s->vt->release(u);
        } else {
            assert_int_not_equal(s->vt->prepare(s, &spec, &u, &err), ASSAY_OK);
            assert_non_null(strstr(err.text, "count 1/127 from 0"));
        }
    }
    assay_scheme_free(s);
}

/* Scales at which I-BERT's polynomials have no integers, and a record that it cannot be computed
 * by. */
static void polynomials(void **state)
{
    static const struct {
        const char *text, *op, *error;
        float scale;
        int64_t depth;
    } list[] = {
        {"rescale: {encoding: float32, round: [half-even]}\nsoftmax: {kind: i-bert}\n", "softmax",
         NULL, 0.5F, 4},
        {"rescale: {encoding: float32, round: [half-even]}\nsoftmax: {kind: i-bert}\n", "softmax",
         "out of reach of I-BERT's exponential", 0.7F, 4}, /* more than ln 2 */
        {"rescale: {encoding: float32, round: [half-even]}\nsoftmax: {kind: i-bert}\n", "softmax",
         "out of reach of I-BERT's exponential", 0.0001F, 64}, /* 64 * 2.8 * 10^8 */
        {"softmax: {kind: i-bert}\n", "softmax", "i-bert needs rescale.encoding: float32", 0.1F, 4},
        {"unary: {gelu: i-bert}\n", "gelu", "too small for I-BERT's GELU", 0.00001F, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        static const float unit = 1.0F / 127;
        static const int32_t zero = 0;
        const assay_type in = code_type(8, true, &list[i].scale, &zero),
                         out = code_type(8, true, &unit, &zero);
        assay_unit_spec spec = unit_spec(list[i].op, &in, 1, &out);
        assay_scheme *s = unit_scheme(list[i].text);
        assay_error err = {0};
        assay_unit *u = NULL;
        spec.depth = list[i].depth;
        if (list[i].error) {
            assert_int_not_equal(s->vt->prepare(s, &spec, &u, &err), ASSAY_OK);
            if (!strstr(err.text, list[i].error))
                fail_msg("%s: %s", list[i].error, err.text);
        } else {
            assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
            s->vt->release(u);
        }
        assay_scheme_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rescales),    cmocka_unit_test(refused),
                                       cmocka_unit_test(pools),       cmocka_unit_test(code_bounds),
                                       cmocka_unit_test(relu_bounds), cmocka_unit_test(shares),
                                       cmocka_unit_test(polynomials)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
