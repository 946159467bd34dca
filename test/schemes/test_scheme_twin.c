/* Rescales against a naive twin (rescale_twin.h). Every preset, then thousands of random scheme
 * files. */
#include "test/support/rescale_twin.h"
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/record/data.h"
#include "schemes/rescale/batch.h"
#include "schemes/rescale/single.h"
#include "schemes/rescale/trace.h"

typedef struct sample {
    double scale;
    int64_t acc, zero, in_zero;
    assay_elem type;
} sample;

static sample random_sample(test_rng *rng, const assay_record *rec)
{
    static const assay_elem types[] = {{ASSAY_KIND_INT, 8, true},  {ASSAY_KIND_INT, 8, false},
                                       {ASSAY_KIND_INT, 16, true}, {ASSAY_KIND_INT, 6, false},
                                       {ASSAY_KIND_INT, 4, true},  {ASSAY_KIND_INT, 32, true}};
    sample s = {.type = types[test_between(rng, 0, 5)]};
    bool pow2 = rec->types.power_of_two_scales != 0 || test_between(rng, 0, 3) == 0;
    const bool large = test_between(rng, 0, 15) == 0; /* results leave 32 and 64 bits */
    s.scale = ldexp(pow2 ? 0.5 : 0.5 + test_unit(rng) / 2,
                    (int)test_between(rng, large ? 4 : -20, large ? 40 : 4));
    const int32_t form = rec->rescale.scale;
    if (form == ASSAY_FORM_F32 || form == ASSAY_FORM_F32_RECIPROCAL || form == ASSAY_FORM_F32_STEPS)
        s.scale = (double)(float)s.scale;
    s.acc = test_between(rng, INT32_MIN, INT32_MAX) >> test_between(rng, 0, 31);
    if (test_between(rng, 0, 2) > 0) { /* lands near the codes, often on a tie */
        double code = (double)test_between(rng, -140, 140) + (double)test_between(rng, 0, 1) / 2;
        s.acc = (int64_t)fmax(fmin(code / s.scale, 2147483647.0), -2147483648.0);
    }
    s.zero = s.type.bits == 32 ? 0
             : s.type.is_signed
                 ? test_between(rng, -(1 << (s.type.bits - 1)), (1 << (s.type.bits - 1)) - 1)
                 : test_between(rng, 0, (1 << s.type.bits) - 1);
    s.in_zero = test_between(rng, 0, 3) == 0 ? test_between(rng, -128, 255) : 0;
    return s;
}

/* The words of `scheme try` come from a trace that is written apart: it ends in the same code. */
static void check_trace(const assay_scheme *s, const assay_batch *b, int64_t code)
{
    assay_single o;
    assay_trace t;
    assay_error err = {0};
    char why[256];
    assert_ok(assay_single_start(&o, s, NULL, false, &err), &err);
    assert_true(assay_single_set(&o, b, 0, why, sizeof why));
    int64_t acc = b->acc[0];
    assert_true(assay_single_apply_overflow(&o, &acc));
    assay_trace_run(&o.r, acc, 0, &t);
    if (!t.accepted || t.code != code)
        fail_msg("%s: acc %lld: %lld, the trace %lld\n%s", s->name, (long long)acc, (long long)code,
                 (long long)t.code, s->text);
}

/* How many of n samples are compared (the target refuses others). */
static size_t compare(const assay_scheme *s, test_rng *rng, int n)
{
    assay_error err = {0};
    assay_record rec;
    assay_effective_record(assay_data(s), "conv", "", false, &rec);
    bool floats =
        rec.rescale.encoding == ASSAY_ENCODE_F32 || rec.rescale.encoding == ASSAY_ENCODE_F64;
    size_t compared = 0;
    for (int i = 0; i < n; i++) {
        sample p = random_sample(rng, &rec);
        int64_t m = 0, h = 0, pre = 0, out;
        uint8_t refused = 0;
        const assay_batch b = {.n = 1,
                               .type = p.type,
                               .acc = &p.acc,
                               .scale = &p.scale,
                               .zero_point = &p.zero,
                               .in_zero = &p.in_zero};
        assert_ok(
            assay_scheme_batch_derive(s, NULL, false, &p.scale, 1, &m, &h, &pre, &refused, &err),
            &err);
        if (refused)
            continue;
        assert_ok(assay_scheme_batch_apply(s, &b, &out, &refused, &err), &err);
        if (refused)
            continue;
        rescale_twin t = {.rec = &rec,
                          .multiplier = m,
                          .f32 = (float)p.scale,
                          .f64 = p.scale,
                          .zero = p.zero,
                          .in_zero = p.in_zero,
                          .bits = p.type.bits,
                          .is_signed = p.type.is_signed};
        t.lo = p.type.is_signed ? -(INT64_C(1) << (p.type.bits - 1)) : 0;
        t.hi = (INT64_C(1) << (p.type.bits - p.type.is_signed)) - 1;
        if (!floats)
            twin_place(&t, h, pre);
        const int64_t want = twin_code(&t, p.acc - p.in_zero);
        compared++;
        check_trace(s, &b, out);
        if (out != want)
            fail_msg(
                "%s: acc %lld, R %.17g (%lld, %lld), zero points %lld and %lld, %c%u: %lld, the "
                "twin %lld\n%s",
                s->name, (long long)p.acc, p.scale, (long long)m, (long long)h,
                (long long)p.in_zero, (long long)p.zero, p.type.is_signed ? 'i' : 'u', p.type.bits,
                (long long)out, (long long)want, s->text);
    }
    return compared;
}

static void presets(void **state)
{
    (void)state;
    test_rng rng = test_seed("presets", 909);
    for (const char *const *name = assay_scheme_presets(); *name != NULL; name++) {
        assay_scheme *s;
        assay_error err;
        assert_ok(assay_scheme_open(*name, &s, &err), &err);
        if (assay_data(s)->base.rescale.encoding != ASSAY_ENCODE_THRESHOLDS &&
            compare(s, &rng, 4000) < 100)
            fail_msg("%s: hardly a sample was taken", *name);
        assay_scheme_free(s);
    }
}

/* ---- random scheme files ---- */

static const char *any(test_rng *rng, const char *const *list, int n)
{
    return list[test_between(rng, 0, n - 1)];
}

static const char *any_mode(test_rng *rng)
{
    return assay_rounding_name((enum assay_rounding)test_between(rng, 0, ASSAY_ROUND_COUNT - 1));
}

static void random_text(test_rng *rng, char *buf, size_t size)
{
    static const char *const narrow[] = {"wrap", "saturate"};
    static const char *const left[] = {"product", "wrap", "saturate"};
    static const char *const signs[] = {"right", "left-of-multiplier", "right-of-multiplier",
                                        "left"};
    static const char *const stages[] = {"after", "after", "before"};
    int bits = (int)test_between(rng, 4, 31), steps = (int)test_between(rng, 1, 3);
    char rounds[120], extra[200] = "";
    int n = snprintf(rounds, sizeof rounds, "[");
    for (int i = 0; i + 1 < steps; i++)
        n += snprintf(rounds + n, sizeof rounds - (size_t)n, "%d %s, ",
                      (int)test_between(rng, 1, 15), any_mode(rng));
    snprintf(rounds + n, sizeof rounds - (size_t)n, "%s]", any_mode(rng));
    if (test_between(rng, 0, 2) == 0)
        snprintf(extra, sizeof extra, ", pre_shift: fixed, pre_shift_bits: %d, pre_shift_round: %s",
                 (int)test_between(rng, 1, 12), any_mode(rng));
    else if (test_between(rng, 0, 2) == 0)
        snprintf(extra, sizeof extra, ", reduced_bits: %d", (int)test_between(rng, 1, bits - 1));
    const bool wide_result = test_between(rng, 0, 3) == 0;
    snprintf(buf, size,
             "scheme: random\nrescale: {scale: double, multiplier_bits: %d, multiplier_round: %s, "
             "shift_min: %d, shift_max: %d, beyond_shift_max: denormal, denormal_round: %s, "
             "left_shift: %s, round: %s, operand_bits: %d, product_bits: %d, result_bits: %d, "
             "result_overflow: %s, zero_point: %s, sum_bits: %d, sum_overflow: %s, store: %s, "
             "shift_sign: %s%s}\n",
             bits, any_mode(rng), (int)test_between(rng, -40, 10), (int)test_between(rng, 12, 63),
             any_mode(rng), any(rng, left, 3), rounds,
             (int)test_between(rng, 0, 1) * (int)test_between(rng, 12, 40),
             (int)test_between(rng, 0, 1) * 48,
             (int)test_between(rng, 0, 1) * (int)test_between(rng, 9, wide_result ? 64 : 40),
             any(rng, narrow, 2), any(rng, stages, 3),
             (int)test_between(rng, 0, 1) * (int)test_between(rng, 18, 32), any(rng, narrow, 2),
             any(rng, narrow, 2), any(rng, signs, 4), extra);
}

static void random_float_text(test_rng *rng, char *buf, size_t size)
{
    static const char *const narrow[] = {"wrap", "saturate"};
    static const char *const stages[] = {"after", "inside"};
    static const char *const beyond[] = {"saturate", "int-min"};
    const bool single = test_between(rng, 0, 1);
    const bool add_one = single && test_between(rng, 0, 3) == 0;
    snprintf(buf, size,
             "scheme: random\nrescale: {encoding: %s, scale: %s, round: [%s], zero_point: %s, "
             "sum_bits: %d, sum_overflow: %s, store: %s, float_overflow: %s%s}\n",
             single ? "float32" : "float64", single ? "f32" : "double",
             add_one ? "half-even" : any_mode(rng), any(rng, stages, 2),
             (int)test_between(rng, 0, 1) * (int)test_between(rng, 18, 32), any(rng, narrow, 2),
             any(rng, narrow, 2), any(rng, beyond, 2), add_one ? ", float_rounding: add-one" : "");
}

static void random_files(void **state)
{
    (void)state;
    test_rng rng = test_seed("files", 911);
    size_t taken = 0, compared = 0;
    for (int i = 0; i < 4000; i++) {
        char text[1200];
        assay_scheme *s;
        assay_error err;
        (i % 4 ? random_text : random_float_text)(&rng, text, sizeof text);
        if (assay_scheme_parse("random", text, strlen(text), &s, &err) != ASSAY_OK)
            continue; /* an impossible combination, which the reader names */
        taken++;
        compared += compare(s, &rng, 60);
        assay_scheme_free(s);
    }
    print_message("# %zu random schemes, %zu rescales\n", taken, compared);
    assert_true(taken > 1500 && compared > 50000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(presets), cmocka_unit_test(random_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
