/* One rescale on its own: what it refuses, how its scale is formed of three, how its roundings are
 * shown. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "schemes/explain/explain.h"
#include "schemes/record/data.h"

#include "test/support/scheme_unit.h"

static void refused(void **state)
{
    (void)state;
    const int64_t acc[2] = {1, 128}, multiplier[2] = {1 << 30, 1 << 30}, shift[2] = {1, 1};
    const double half[2] = {0.5, 0.5}, scale[2] = {-1, 0.5};
    int64_t out[2], m[2], sh[2], pre[2];
    uint8_t error[2];
    assay_error err = {0};
    assay_batch b = {.n = 2, .type = assay_int(8, true), .acc = acc};
    assay_scheme plugin = {.name = "p"};

    assert_int_equal(assay_scheme_batch_apply(&plugin, &b, out, error, &err),
                     ASSAY_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "scheme p: a plugin has no parameter record");
    assert_int_equal(
        assay_scheme_batch_derive(&plugin, NULL, false, half, 2, m, sh, pre, error, &err),
        ASSAY_ERR_UNSUPPORTED);
    assert_int_equal(assay_explain_rounding(stderr, &plugin, NULL, false, &err),
                     ASSAY_ERR_UNSUPPORTED);
    assert_int_equal(assay_explain_examples(stderr, &plugin, NULL, false, &err),
                     ASSAY_ERR_UNSUPPORTED);
    assert_null(assay_scheme_contract(&plugin, ASSAY_CONTRACT_EXACT));
    assert_false(assay_scheme_is_exact(&plugin, "conv", 8));
    assert_true(assay_scheme_is_exact(&plugin, "reshape", 16));
    assert_false(assay_scheme_is_exact_by_channel(&plugin, "conv", 8));
    assert_false(assay_scheme_is_exact(&plugin, "nothing", 8));
    assert_false(assay_scheme_is_exact_float(&plugin, "exp"));

    assay_scheme *s = unit_scheme("rescale: {input_bits: 8}\n");
    assert_refused(assay_scheme_batch_apply(s, &b, out, error, &err), &err,
                   "scales, or multipliers and shifts, are needed");
    b.multiplier = multiplier;
    assert_refused(assay_scheme_batch_apply(s, &b, out, error, &err), &err,
                   "scales, or multipliers and shifts, are needed");
    b.shift = shift;
    assert_refused(assay_scheme_batch_apply(s, &b, out, NULL, &err), &err,
                   "row 1: the target refuses the accumulator 128");
    assert_ok(assay_scheme_batch_apply(s, &b, out, error, &err), &err);
    assert_int_equal(error[0], 0);
    assert_int_equal(error[1], 1);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 0);
    assert_refused(assay_scheme_batch_derive(s, NULL, false, scale, 2, m, sh, pre, NULL, &err),
                   &err, "row 0: scale -1 is negative");
    assert_ok(assay_scheme_batch_derive(s, NULL, false, scale, 2, m, sh, pre, error, &err), &err);
    assert_int_equal(error[0], 1);
    assert_ok(assay_scheme_batch_derive(s, NULL, false, scale, 2, m, sh, NULL, error, &err), &err);
    assert_int_equal(m[1], 1 << 30);
    assert_int_equal(sh[1], 0);
    assert_int_equal(pre[1], 0);
    assay_scheme_free(s);

    s = unit_scheme("rescale: {encoding: thresholds, round: [floor]}\n");
    assert_refused(assay_scheme_batch_apply(s, &b, out, NULL, &err), &err,
                   "row 0: this encoding takes scales, not multipliers");
    assert_refused(assay_scheme_batch_derive(s, NULL, false, half, 2, m, sh, pre, NULL, &err), &err,
                   "scheme t: its scales become thresholds, not multipliers");
    assay_scheme_free(s);

    s = unit_scheme(
        "rescale: {encoding: glow, product_bits: 32, round: [half-up], shift_sign: right}\n");
    b.shift = (const int64_t[]){9, 9}; /* without a pre-shift: x * 300 / 2^9 */
    b.multiplier = (const int64_t[]){300, 300};
    assert_ok(assay_scheme_batch_apply(s, &b, out, NULL, &err), &err);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 75);
    b.pre = (const int64_t[]){1, 7}; /* the shift is the one after it */
    assert_ok(assay_scheme_batch_apply(s, &b, out, NULL, &err), &err);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 1); /* 300 / 512, half up */
    b.pre = NULL;
    assay_scheme_free(s);

    s = unit_scheme(
        "rescale: {left_shift: product, pre_shift: rest, shift_max: 200, round: [15 half-up]}\n");
    b.multiplier = (const int64_t[]){1, 1};
    b.shift = (const int64_t[]){-100, 100}; /* pre-shifts of 116 and -84 bits */
    assert_ok(assay_scheme_batch_apply(s, &b, out, NULL, &err), &err);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 127);
    assay_scheme_free(s);
}

/* Rows of unsigned codes have the arithmetic of nodes with such codes. */
static void unsigned_codes(void **state)
{
    (void)state;
    const int64_t acc[1] = {5};
    const double half[1] = {0.5};
    int64_t out, m, sh;
    assay_error err = {0};
    assay_scheme *s =
        unit_scheme("rescale: {round: [half-up]}\n"
                    "unsigned_ops: {conv: {rescale: {round: [floor], multiplier_bits: 15}}}\n");
    for (int is_signed = 0; is_signed < 2; is_signed++) {
        const assay_elem type = assay_int(8, is_signed);
        const assay_batch b = {.n = 1, .type = type, .acc = acc, .scale = half};
        assert_ok(assay_scheme_batch_apply(s, &b, &out, NULL, &err), &err);
        assert_int_equal(out, is_signed ? 3 : 2);
        assert_ok(assay_scheme_batch_derive(s, NULL, assay_variant_of_codes(false, type), half, 1,
                                            &m, &sh, NULL, NULL, &err),
                  &err);
        assert_int_equal(m, is_signed ? 1 << 30 : 1 << 14);
        const assay_batch fc = {.n = 1, .op = "fc", .type = type, .acc = acc, .scale = half};
        assert_ok(assay_scheme_batch_apply(s, &fc, &out, NULL, &err), &err);
        assert_int_equal(out, 3);
    }
    assay_scheme_free(s);
}

/* The rounding table has a dash where the target takes no such scale. */
static void rounding_table(void **state)
{
    (void)state;
    char *text;
    size_t size;
    assay_error err = {0};
    assay_scheme *s = unit_scheme("rescale: {shift_max: 31, beyond_shift_max: refuse}\n");
    FILE *f = open_memstream(&text, &size);
    assert_ok(assay_explain_rounding(f, s, NULL, false, &err), &err);
    fclose(f);
    assert_non_null(strstr(text,
                           "  R = 1/2                      -2     -1      .      0      .      "
                           ".      1      .      2      3\n"));
    assert_non_null(strstr(text,
                           "  R = 1/4                       -      -      -      -      -      "
                           "-      -      -      -      -\n"));
    free(text);
    assay_scheme_free(s);
}

/* Three scales apart: formed as the rule says, or applied one after the other. */
static void formed(void **state)
{
    (void)state;
    static const struct {
        const char *record;
        double real; /* of in * weight / out below */
    } list[] = {
        {"", (double)0.1f * (double)0.3f / (double)0.7f},
        {"rescale: {scale: f32-product}\n", (double)(0.1f * 0.3f) / (double)0.7f},
        {"rescale: {scale: f32}\n", (double)(0.1f * 0.3f / 0.7f)},
    };
    const int64_t acc = 2000000;
    char why[256];
    assay_error err = {0};
    const assay_batch b = {.n = 1, .type = assay_int(32, true)};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        assay_single o;
        assay_scheme *s = unit_scheme(list[i].record);
        int exponent;
        assert_ok(assay_single_start(&o, s, NULL, false, &err), &err);
        assert_true(assay_single_form(&o, &b, 0, 0.1f, 0.3f, 0.7f, why, sizeof why));
        assert_int_equal(o.multiplier, llround(ldexp(frexp(list[i].real, &exponent), 31)));
        assert_false(assay_single_form(&o, &b, 0, -0.1f, 0.3f, 0.7f, why, sizeof why));
        assert_non_null(strstr(why, "is negative"));
        assay_scheme_free(s);
    }
    assay_single o;
    assay_scheme *s =
        unit_scheme("rescale: {encoding: float32, scale: f32-steps, round: [trunc]}\n");
    assert_ok(assay_single_start(&o, s, NULL, false, &err), &err);
    assert_true(assay_single_form(&o, &b, 0, 0.1f, 0.3f, 0.7f, why, sizeof why));
    volatile float f = (float)acc;
    f = f * 0.1f;
    f = f * 0.3f;
    f = f / 0.7f;
    assert_int_equal(apply_rescale_one(&o.r, acc, 0), (int32_t)f);
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused),
        cmocka_unit_test(unsigned_codes),
        cmocka_unit_test(rounding_table),
        cmocka_unit_test(formed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
