/* Rows of the float rules against every step of the target, one element at a time: all presets with
 * a float scale and records that none of them has, on accumulators chosen to lie on and next to the
 * boundaries of the rounding, on random ones, and on small domains from end to end. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/core/type.h"
#include "schemes/rescale/single.h"
#include "schemes/scheme.h"

enum { ROW = 512 };

static size_t compared;

static void check(const char *what, const assay_rescale *r, const int64_t *acc, size_t n)
{
    int32_t out[ROW];
    r->row(r, acc, n, 0, out);
    for (size_t i = 0; i < n; i++) {
        int32_t step = apply_rescale_element_float(r, acc[i], 0);
        if (out[i] != step)
            fail_msg("%s: accumulator %lld gives %d in the row and %d by steps", what,
                     (long long)acc[i], out[i], step);
    }
    compared += n;
}

/* Scales of all sizes, every fourth with few bits, so that ties are exact. */
static float random_scale(test_rng *r, int max)
{
    double s = ldexp(1 + test_unit(r), (int)test_between(r, -40, max));
    return (float)(test_between(r, 0, 3) ? s : ldexp(rint(ldexp(s, 6 - ilogb(s))), ilogb(s) - 6));
}

/* Near code + 0, 1/4, 1/2 steps for codes in and around the range. */
static int64_t boundary(test_rng *r, const assay_rescale *k, double real)
{
    double code = (double)test_between(r, k->lo - 3, k->hi + 3) - (double)k->zero_point;
    double at = (code + (double)test_between(r, 0, 4) / 4) / real;
    if (!(fabs(at) < 2147483000.0))
        return (int32_t)(uint32_t)test_random(r);
    return (int64_t)rint(at) + test_between(r, -1, 1);
}

static void random_rows(test_rng *rng, const char *name, const assay_scheme *s, assay_elem type,
                        int rows)
{
    assay_single single;
    assay_error err;
    assert_ok(assay_single_start(&single, s, "conv", type.bits > 8, &err), &err);
    if (!assay_single_is_float(&single))
        return;
    for (int t = 0; t < rows; t++) {
        int64_t acc[ROW];
        int64_t min = assay_elem_min(type), max = assay_elem_max(type);
        int64_t zero = t % 3 ? test_between(rng, min, max) : 0;
        int64_t lo = t % 5 ? min : test_between(rng, min, max - 2), hi = max;
        assay_batch batch = {.type = type, .zero_point = &zero, .lo = &lo, .hi = &hi};
        char why[256];
        bool small = t % 10 == 0; /* scales at the ends of what float32 holds: the slow path */
        float in = random_scale(rng, 0) * (small ? 0x1p-30f : 1), w = random_scale(rng, 0);
        float out = random_scale(rng, 0);
        if (!assay_single_form(&single, &batch, 0, in, w, out, why, sizeof why))
            continue;
        double real = (double)in * (double)w / (double)out;
        for (int i = 0; i < ROW; i++) {
            int way = (int)test_between(rng, 0, 3);
            int bits = (int)test_between(rng, 1, 40); /* beyond int32 too */
            acc[i] = way ? boundary(rng, &single.r, real)
                         : (int64_t)(test_random(rng) >> (64 - bits)) - (INT64_C(1) << (bits - 1));
        }
        single.r.in_zero = t % 7 == 0 ? 3 : 0;
        check(name, &single.r, acc, ROW);
    }
}

static void every_float_preset(void **state)
{
    test_rng rng = test_seed("float rows", 41);
    (void)state;
    for (const char *const *p = assay_scheme_presets(); *p; p++) {
        assay_scheme *s;
        assay_error err;
        assert_ok(assay_scheme_open(*p, &s, &err), &err);
        random_rows(&rng, *p, s, (assay_elem){ASSAY_KIND_INT, 8, true}, 300);
        random_rows(&rng, *p, s, (assay_elem){ASSAY_KIND_INT, 8, false}, 300);
        random_rows(&rng, *p, s, (assay_elem){ASSAY_KIND_INT, 16, true}, 300);
        random_rows(&rng, *p, s, (assay_elem){ASSAY_KIND_INT, 4, false}, 300);
        assay_scheme_free(s);
    }
    printf("# %zu elements equal\n", compared);
}

/* Every rounding, encoding, formation, stage and overflow, as one record each. */
static void every_float_record(void **state)
{
    static const char *const encodings[] = {"float32", "float64"};
    static const char *const forms[] = {"f32", "f32-steps", "double"};
    static const char *const stages[] = {"after", "inside"};
    static const char *const ends[] = {"sum_bits: 0", "sum_bits: 16, sum_overflow: saturate",
                                       "sum_bits: 12, sum_overflow: wrap",
                                       "float_overflow: int-min", "float_rounding: add-one"};
    test_rng rng = test_seed("float records", 42);
    (void)state;
    for (int i = 0; i < ASSAY_ROUND_COUNT * 2 * 3 * 2 * 5; i++) {
        const char *mode = assay_rounding_name((enum assay_rounding)(i % ASSAY_ROUND_COUNT));
        int rest = i / ASSAY_ROUND_COUNT;
        char text[400];
        assay_scheme *s;
        assay_error err;
        snprintf(text, sizeof text,
                 "scheme: near\nrescale: {encoding: %s, scale: %s, zero_point: %s, round: [%s], "
                 "%s}\n",
                 encodings[rest % 2], forms[rest / 2 % 3], stages[rest / 6 % 2], mode,
                 ends[rest / 12]);
        if (assay_scheme_parse(text, text, strlen(text), &s, &err) != ASSAY_OK)
            continue; /* a combination that the reader refuses */
        random_rows(&rng, text, s, (assay_elem){ASSAY_KIND_INT, 8, rest % 2 == 0}, 60);
        assay_scheme_free(s);
    }
    printf("# %zu elements equal\n", compared);
    assert_true(compared > 15000000);
}

/* All 18-bit accumulators under scales with and without exact ties. */
static void small_domains(void **state)
{
    static const char *const names[] = {"xnnpack-qs8", "onednn-ref",         "onnx-ref", "gemmini",
                                        "glow-interp", "tflite-float-scale", "qonnx"};
    static const double scales[] = {0.5, 0.25, 0.1, 0.3, 0.0037, 0.00406430103, 0x1p-9, 3, 1.7};
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (size_t j = 0; j < sizeof scales / sizeof *scales; j++) {
            assay_scheme *s;
            assay_single single;
            assay_error err;
            char why[256];
            assert_ok(assay_scheme_open(names[k], &s, &err), &err);
            assert_ok(assay_single_start(&single, s, "conv", false, &err), &err);
            int64_t zero = (int64_t)j - 4, acc[ROW];
            double real = (double)(float)scales[j];
            assay_batch batch = {
                .type = {ASSAY_KIND_INT, 8, true}, .scale = &real, .zero_point = &zero};
            assert_true(assay_single_set(&single, &batch, 0, why, sizeof why));
            assert_non_null(single.r.near);
            for (int64_t first = -(1 << 17); first < 1 << 17; first += ROW) {
                for (int i = 0; i < ROW; i++)
                    acc[i] = first + i;
                check(names[k], &single.r, acc, ROW);
            }
            assay_scheme_free(s);
        }
}

/* What rows take for granted (rescale_near.c): a rule asks of a fraction on which side of one half
 * it is, whatever the sign and the floor, or else only whether it is 0. */
static void rules_change_at_halves_or_integers(void **state)
{
    int nearest = 0;
    (void)state;
    for (int m = 0; m < ASSAY_ROUND_COUNT; m++) {
        const enum assay_rounding mode = (enum assay_rounding)m;
        int halves = 0, integers = 0;
        for (int i = 0; i < 4; i++) {
            const bool min = assay_rounds_up(mode, i & 1, i & 2, 1);
            const bool below = assay_rounds_up(mode, i & 1, i & 2, (UINT64_C(1) << 63) - 1);
            const bool above = assay_rounds_up(mode, i & 1, i & 2, (UINT64_C(1) << 63) + 1);
            const bool max = assay_rounds_up(mode, i & 1, i & 2, UINT64_MAX);
            halves += !min && !below && above && max;
            integers += min == below && below == above && above == max;
        }
        if (halves != 4 && integers != 4)
            fail_msg("%s: at halves %d times, at integers %d times of 4", assay_rounding_name(mode),
                     halves, integers);
        nearest += halves == 4;
    }
    assert_in_range(nearest, 1, ASSAY_ROUND_COUNT - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_float_preset),
        cmocka_unit_test(every_float_record),
        cmocka_unit_test(small_domains),
        cmocka_unit_test(rules_change_at_halves_or_integers),
    };
    return cmocka_run_group_tests_name("rescale_near", tests, NULL, NULL);
}
