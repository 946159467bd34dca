/* Combinations of parameters that a scheme file cannot have, each with its complaint, and possible
 * ones of the same parameters. */
#include "test/support/support.h"

#include <string.h>

#include "schemes/record/data.h"
#include "test/support/bad_scheme.h"

/* Impossible combinations: what holds, and what would be possible. */
static void combinations(void **state)
{
    (void)state;
#define RECORD(section, x) "scheme: a\n" section ": {" x "}\n"
    static const bad_file list[] = {
        {RECORD("types", "activation_zero_point: middle, activation_bits: 1"),
         "f:2:32: types.activation_zero_point: middle needs more than one bit"},
        {RECORD("types", "weight_narrow: yes, weight_signed: no"),
         "f:2:24: types.weight_narrow: yes needs weight_signed: yes (unsigned weights have no most "
         "negative code)"},
        {RECORD("types", "weight_narrow: true, weight_bits: 1"),
         "f:2:24: types.weight_narrow: yes needs weight_bits of at least 2"},
        {RECORD("types", "activation_bits: 7") "accumulator: {saturate_pairs: yes}\n",
         "f:3:31: accumulator.saturate_pairs: yes is defined for activation_bits: 8 only"},
        {RECORD("accumulator", "order: lanes"),
         "f:2:22: accumulator.order: lanes needs lanes of at least 2"},
        {RECORD("rescale", "shift_min: 5, shift_max: 4"),
         "f:2:22: rescale.shift_min 5 is above shift_max 4"},
        {RECORD("rescale", "below_shift_min: tosa-generator, shift_min: 1"),
         "f:2:28: rescale.below_shift_min: tosa-generator needs shift_min: 2, not 1"},
        {RECORD("rescale", "beyond_shift_max: tosa-generator, shift_max: 16"),
         "f:2:29: rescale.beyond_shift_max: tosa-generator needs shift_max: 62, not 16"},
        {RECORD("rescale", "below_shift_min: denormal"),
         "f:2:28: rescale.below_shift_min: found \"denormal\", expected one of: refuse, zero, "
         "largest, "
         "tosa-generator"},
        {RECORD("rescale", "below_shift_min: unnormalised"),
         "f:2:28: rescale.below_shift_min: found \"unnormalised\", expected one of: refuse, zero, "
         "largest, "
         "tosa-generator"},
        {RECORD("rescale", "beyond_shift_max: largest"),
         "f:2:29: rescale.beyond_shift_max: found \"largest\", expected one of: refuse, zero, "
         "denormal, unnormalised, tosa-generator"},
        {RECORD("rescale", "encoding: float32, zero_point: before, round: [floor]"),
         "f:2:42: rescale.zero_point: before needs an integer encoding (floats: inside or after)"},
        {RECORD("rescale", "scale: f32-steps"),
         "f:2:18: rescale.scale: f32-steps needs encoding: float32 (others take f32, f32-product, "
         "double or power-of-two)"},
        {RECORD("rescale", "scale: power-of-two"),
         "f:2:18: rescale.scale: power-of-two needs types.power_of_two_scales: yes"},
        {RECORD("rescale", "reduced_bits: 31"),
         "f:2:25: rescale.reduced_bits 31 must be less than multiplier_bits 31"},
        {RECORD("rescale",
                "encoding: float64, pre_shift: fixed, pre_shift_bits: 3, round: [floor]"),
         "f:2:41: rescale.pre_shift: none with this encoding (glow derives its own, floats have "
         "none)"},
        {RECORD("rescale", "encoding: glow, pre_shift: fixed, pre_shift_bits: 3"),
         "f:2:38: rescale.pre_shift: none with this encoding (glow derives its own, floats have "
         "none)"},
        {RECORD("rescale", "pre_shift: fixed"),
         "f:2:22: rescale.pre_shift: fixed needs pre_shift_bits from 1 to 31"},
        {RECORD("rescale", "store: refuse"),
         "f:2:18: rescale.store: found \"refuse\", expected one of: wrap, saturate"},
        {RECORD("add", "zero_point: before"),
         "f:2:19: add.zero_point: found \"before\", expected one of: after, inside"},
        {RECORD("table", "zero_point: before"),
         "f:2:21: table.zero_point: found \"before\", expected one of: after, inside"},
        {RECORD("convert", "zero_point: before"),
         "f:2:23: convert.zero_point: found \"before\", expected one of: after, inside"},
        {RECORD("rescale", "encoding: float32, round: [away], float_rounding: add-one"),
         "f:2:61: rescale.float_rounding: add-one needs round: [half-even] (its neighbour is the "
         "nearest, even on a tie)"},
        {RECORD("rescale", "round: []"), "f:2:18: rescale.round needs at least one rounding step"},
        {RECORD("rescale", "pre_shift: rest"), "f:2:22: rescale.pre_shift: rest needs one rounding "
                                               "step with its bits, such as [15 half-up]"},
        {RECORD("rescale", "pre_shift: rest, round: [floor]"),
         "f:2:22: rescale.pre_shift: rest needs one rounding step with its bits, such as [15 "
         "half-up]"},
        {RECORD("rescale", "round: [floor, floor]"),
         "f:2:18: rescale.round: step 1 needs its bits, such as \"31 half-up\" (only the last step "
         "takes "
         "the rest)"},
        {RECORD("rescale", "encoding: float32"),
         "f:2:10: rescale.round: 2 steps, but encoding float32 rounds its product once; write "
         "encoding: multiplier beside them, or one rounding"},
        {RECORD("rescale", "encoding: thresholds"),
         "f:2:10: rescale.round: 2 steps, but encoding thresholds rounds its product once; write "
         "encoding: multiplier beside them, or one rounding"},
        {RECORD("rescale", "encoding: float64, round: [4 floor, half-up]"),
         "f:2:37: rescale.round: 2 steps, but encoding float64 rounds its product once; write "
         "encoding: multiplier beside them, or one rounding"},
        {RECORD("rescale", "encoding: thresholds, round: [floor], store: wrap"),
         "f:2:56: rescale.store: saturate with encoding: thresholds, which have a least and a "
         "greatest code"},
        {RECORD("types",
                "power_of_two_scales: yes") "rescale: {scale: power-of-two, encoding: shift}\n",
         "f:2:8: types.activation_zero_point: none or middle with encoding: shift"},
        {RECORD("nodes", "n: {rescale: {shift_min: 63}}"),
         "f:2:34: with the overrides of n: rescale.shift_min 63 is above shift_max 62"},
        {RECORD("wide", "rescale: {shift_min: 63}"),
         "f:2:29: with the overrides of wide: rescale.shift_min 63 is above "
         "shift_max "
         "62"},
    };
    CHECK_BAD_FILES(list);
}

/* Possible ones of the same parameters. */
static void possible(void **state)
{
    (void)state;
    static const char *const list[] = {
        RECORD("types", "activation_zero_point: middle, activation_bits: 2"),
        RECORD("types", "activation_zero_point: middle, activation_bits: 1, activation_signed: no"),
        RECORD("types", "weight_narrow: false, weight_signed: no"),
        RECORD("accumulator", "order: lanes, lanes: 2"),
        RECORD("rescale", "below_shift_min: largest, pre_shift: rest, round: [15 half-up]"),
        ("scheme: a\ntypes: {power_of_two_scales: yes, activation_zero_point: middle}\n"
         "rescale: {scale: power-of-two, encoding: shift}\n"),
        "scheme: a\ntypes: {power_of_two_scales: yes}\nrescale: {scale: power-of-two}\n",
        "scheme: a\ncontract: {exact: all of it, approximate: [one, two], exact_ops: [all]}\n",
        "scheme: a\nfloat_ops: [all]\nunsigned_depthwise: {accumulator: {bits: 30}}\n",
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        assay_error err = {0};
        assay_scheme *s, *again;
        assert_ok(assay_scheme_parse("f", list[i], strlen(list[i]), &s, &err), &err);
        assert_ok(assay_scheme_parse("g", s->text, strlen(s->text), &again, &err), &err);
        assert_string_equal(s->text, again->text);
        assay_scheme_free(again);
        assay_scheme_free(s);
    }
    assay_scheme_free(NULL); /* as free(NULL) */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(combinations),
        cmocka_unit_test(possible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
