/* Threshold forms against every accumulator of a range, and traces against the code that runs. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/apply/apply.h"
#include "schemes/rescale/single.h"
#include "schemes/rescale/thresholds.h"
#include "schemes/rescale/trace.h"

typedef struct question {
    double scale;
    int64_t zero, in_zero;
    assay_elem type;
} question;

static question random_question(test_rng *rng, const assay_scheme *s)
{
    bool pow2 = assay_data(s)->base.types.power_of_two_scales != 0;
    question q = {.type = {ASSAY_KIND_INT, 8, test_between(rng, 0, 1) != 0}};
    q.scale = ldexp(pow2 ? 0.5 : 0.5 + test_unit(rng) / 2, (int)test_between(rng, -12, 3));
    q.zero = q.type.is_signed ? test_between(rng, -128, 127) : test_between(rng, 0, 255);
    q.in_zero = test_between(rng, 0, 1) ? test_between(rng, -200, 200) : 0;
    return q;
}

/* False when the target refuses the scale. */
static bool prepare(assay_single *o, const assay_scheme *s, const question *q)
{
    char why[256];
    assay_error err;
    const assay_batch b = {.n = 1,
                           .type = q->type,
                           .scale = &q->scale,
                           .zero_point = &q->zero,
                           .in_zero = &q->in_zero};
    assert_ok(assay_single_start(o, s, NULL, false, &err), &err);
    return assay_single_set(o, &b, 0, why, sizeof why);
}

static int64_t code_of(const assay_single *o, int64_t x)
{
    return apply_rescale_accepts(&o->r, x, 0) ? apply_rescale_one(&o->r, x, 0) : ASSAY_REFUSED;
}

static assay_scheme *open_scheme(const char *name)
{
    assay_scheme *s;
    assay_error err;
    assert_ok(assay_scheme_open(name, &s, &err), &err);
    return s;
}

/* A question to a preset that takes its scale. */
typedef struct trial {
    const char *preset;
    int k;
    question q;
    assay_single o;
    test_rng *rng;
} trial;

/* `times` questions to each preset; those whose scale it refuses are passed over. */
static void each_preset(test_rng *rng, int times, void (*check)(const trial *t))
{
    for (const char *const *name = assay_scheme_presets(); *name != NULL; name++) {
        assay_scheme *s = open_scheme(*name);
        for (int k = 0; k < times; k++) {
            trial t = {.preset = *name, .k = k, .q = random_question(rng, s), .rng = rng};
            if (prepare(&t.o, s, &t.q))
                check(&t);
        }
        assay_scheme_free(s);
    }
}

/* Any number of bits of int32, as likely few as many. */
static int64_t random_sum(test_rng *rng)
{
    const int64_t all = test_between(rng, INT32_MIN, INT32_MAX);
    return all >> test_between(rng, 0, 31);
}

/* Ranges around 0, around +-2^24 (float32 conversion), and at both ends of int32 (wrap-around). */
static void check_range(const trial *t)
{
    static const int64_t centre[] = {
        0, 16777216, -16777216, INT32_MAX - 2000, INT32_MIN + 2000, INT64_C(536870912)};
    const int64_t lo = centre[t->k % 6] - 2000, hi = centre[t->k % 6] + 2000;
    assay_threshold_form form;
    assay_error err;
    assert_ok(assay_threshold_form_make(&t->o.r, 0, lo, hi, &form, &err), &err);
    assert_int_equal(form.from[0], lo);
    for (int64_t x = lo; x <= hi; x++)
        if (assay_threshold_form_at(&form, x) != code_of(&t->o, x))
            fail_msg("%s, R %.17g: %lld has the code %lld, the form %lld", t->preset, t->q.scale,
                     (long long)x, (long long)code_of(&t->o, x),
                     (long long)assay_threshold_form_at(&form, x));
    assay_threshold_form_free(&form);
}

static void exhaustive(void **state)
{
    (void)state;
    test_rng rng = test_seed("exhaustive", 31);
    each_preset(&rng, 12, check_range);
}

/* Over all of int32: every step is a step, and between steps samples agree. */
static void check_int32(const trial *t)
{
    assay_threshold_form form;
    assay_error err;
    if (assay_threshold_form_make(&t->o.r, 0, INT32_MIN, INT32_MAX, &form, &err) != ASSAY_OK) {
        assert_non_null(strstr(err.text, "narrower range")); /* VTA's stores wrap often */
        return;
    }
    for (size_t i = 0; i < form.n && i < 3000; i++) {
        assert_int_equal(code_of(&t->o, form.from[i]), form.code[i]);
        if (i > 0)
            assert_int_equal(code_of(&t->o, form.from[i] - 1), form.code[i - 1]);
    }
    for (int i = 0; i < 3000; i++) {
        const int64_t x = random_sum(t->rng);
        assert_int_equal(assay_threshold_form_at(&form, x), code_of(&t->o, x));
    }
    assay_threshold_form_free(&form);
}

static void whole_range(void **state)
{
    (void)state;
    test_rng rng = test_seed("whole", 32);
    each_preset(&rng, 3, check_int32);
}

static void comparison(void **state)
{
    (void)state;
    test_rng rng = test_seed("comparison", 33);
    static const char *const pairs[][2] = {
        {"tflite", "tflite-single"}, {"tflite", "tosa-double"}, {"gemmini", "fbgemm"},
        {"glow-cpu", "onnx-ref"},    {"vta", "vta-rounded"},    {"nvdla", "ruy"},
    };
    for (int k = 0; k < 120; k++) {
        assay_scheme *a = open_scheme(pairs[k % 6][0]), *b = open_scheme(pairs[k % 6][1]);
        question q = random_question(&rng, a);
        assay_single x, y;
        if (prepare(&x, a, &q) && prepare(&y, b, &q)) {
            assay_threshold_form p, r;
            assay_disagreements d;
            assay_error err;
            const int64_t lo = -6000, hi = 7000;
            uint64_t count = 0;
            int64_t nearest = INT64_MAX;
            assert_ok(assay_threshold_form_make(&x.r, 0, lo, hi, &p, &err), &err);
            assert_ok(assay_threshold_form_make(&y.r, 0, lo, hi, &r, &err), &err);
            assay_threshold_form_compare(&p, &r, &d);
            for (int64_t i = lo; i <= hi; i++)
                if (code_of(&x, i) != code_of(&y, i)) {
                    count++;
                    nearest = llabs(i) < nearest ? llabs(i) : nearest;
                }
            assert_int_equal(d.count, count);
            assert_int_equal(d.considered, hi - lo + 1);
            assert_int_equal(d.n_first > 0, count > 0);
            if (count > 0) {
                const assay_disagreement *f = &d.first[0];
                assert_int_equal(f->from > 0 ? f->from : f->to < 0 ? -f->to : 0, nearest);
                assert_int_equal(code_of(&x, f->from), f->a);
                assert_int_equal(code_of(&y, f->to), f->b);
            }
            assay_threshold_form_free(&p);
            assay_threshold_form_free(&r);
        }
        assay_scheme_free(a);
        assay_scheme_free(b);
    }
}

/* Two forms by hand, -4 .. 5: refusals differ from codes, but not by a number. */
static void refused_runs(void **state)
{
    (void)state;
    int64_t from_a[] = {-4, -2, 2}, code_a[] = {1, ASSAY_REFUSED, 9};
    int64_t from_b[] = {-4, 0, 3, 5}, code_b[] = {1, 5, 7, ASSAY_REFUSED};
    const assay_threshold_form a = {-4, 5, 3, from_a, code_a}, b = {-4, 5, 4, from_b, code_b};
    assay_disagreements d;
    assay_threshold_form_compare(&a, &b, &d);
    assert_int_equal(d.considered, 10);
    assert_int_equal(d.count, 8); /* all but -4 and -3 */
    assert_int_equal(d.runs, 5);
    assert_int_equal(d.greatest, 4);
    assert_int_equal(d.n_first, 5);
    assay_threshold_form_compare(&b, &a, &d);
    assert_int_equal(d.count, 8);
    assert_int_equal(d.greatest, 4);
    assay_threshold_form_compare(&a, &a, &d);
    assert_int_equal(d.count, 0);
    assert_int_equal(d.considered, 6); /* not -2 .. 1, for which neither has a code */
}

/* What is explained is what runs. */
static void check_traces(const trial *t)
{
    for (int i = 0; i < 200; i++) {
        const int64_t x = random_sum(t->rng), code = code_of(&t->o, x);
        assay_trace trace;
        assay_trace_run(&t->o.r, x, 0, &trace);
        assert_int_equal(trace.accepted, code != ASSAY_REFUSED);
        if (trace.accepted && trace.code != code)
            fail_msg("%s, R %.17g, acc %lld: explained as %lld, runs as %lld", t->preset,
                     t->q.scale, (long long)x, (long long)trace.code, (long long)code);
    }
}

static void traces(void **state)
{
    (void)state;
    test_rng rng = test_seed("traces", 34);
    each_preset(&rng, 60, check_traces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exhaustive), cmocka_unit_test(whole_range),
                                       cmocka_unit_test(comparison), cmocka_unit_test(refused_runs),
                                       cmocka_unit_test(traces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
