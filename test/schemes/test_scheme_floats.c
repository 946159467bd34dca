/* Float rescales at the ends of float32 and float64, and the edges of the network, against the
 * machine's own floats: every operation of the rule, one after the other. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/core/type.h"
#include "schemes/rescale/single.h"
#include "test/support/scheme_unit.h"

/* NaN is the zero point or the least code; channels have their own scales and zero points. */
static void edges(void **state)
{
    (void)state;
    static const char *const records[] = {
        "", "convert: {nan: least}\n", "convert: {zero_point: inside}\n",
        "convert: {zero_point: inside, nan: least, division: reciprocal, dequantize: float32}\n"};
    static const float scale[3] = {0.5f, 0.25f, 0.1f};
    static const int32_t zero[3] = {0, -9, 33};
    const float values[3] = {-7.25f, 3.125f, 1.75f};
    const uint32_t nan = 0x7fc00000;
    for (int i = 0; i < 4; i++) {
        char text[200];
        assay_error err = {0};
        assay_scheme *s;
        assay_unit *u;
        assay_type codes = {.elem = assay_int(8, true), .rank = 1, .dim = {3}};
        assay_type floats = {.elem = assay_f32(), .rank = 1, .dim = {3}};
        codes.q = (assay_qparams){ASSAY_Q_AXIS, 0, 0, 3, scale, zero};
        snprintf(text, sizeof text, "scheme: t\n%s", records[i]);
        assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
        assay_unit_spec spec = unit_spec("quantize", &floats, 1, &codes);
        assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
        uint32_t bits[3];
        int32_t q[3];
        memcpy(bits, values, sizeof bits);
        for (size_t first = 0; first < 3; first++) {
            s->vt->quantize(u, bits + first, 3 - first, first, q);
            for (size_t c = first; c < 3; c++)
                assert_int_equal(q[c - first], (int32_t)roundf(values[c] / scale[c]) + zero[c]);
        }
        for (size_t c = 0; c < 3; c++) {
            s->vt->quantize(u, &nan, 1, c, q);
            assert_int_equal(q[0], i % 2 ? -128 : zero[c]);
        }
        s->vt->release(u);

        spec = unit_spec("dequantize", &codes, 1, &floats);
        assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
        const int32_t code[3] = {-128, 5, 127};
        s->vt->dequantize(u, code, 3, 0, bits);
        for (size_t c = 0; c < 3; c++) {
            const float real = (float)((double)scale[c] * (code[c] - zero[c]));
            assert_memory_equal(&bits[c], &real, sizeof real);
        }
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* x / scale is -8705.4996, in float32 a tie. */
static void wide_division(void **state)
{
    (void)state;
    static const struct {
        const char *record;
        float x;
        unsigned bits;
        int32_t zero, code;
    } list[] = {
        {"division: divide", -1.2619189F, 16, 0, -8706},
        {"division: divide-float64", -1.2619189F, 16, 0, -8705},
        {"division: divide-float64", -1.2619189F, 16, 3, -8702},
        {"division: divide-float64, zero_point: inside", -1.2619189F, 16, 3, -8702},
        {"division: divide-float64, zero_point: inside", NAN, 16, 3, 3},
        {"division: divide-float64", NAN, 16, 3, 3},
        {"division: divide-float64, nan: least", NAN, 16, 3, -32768},
        {"division: divide-float64", INFINITY, 16, 3, 32767},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[120];
        const float scale = 0.00014495652F;
        snprintf(text, sizeof text, "convert: {round: half-away, %s}\n", list[i].record);
        assay_scheme *s = unit_scheme(text);
        assay_type in = {.elem = assay_f32(), .rank = 1, .dim = {1}};
        assay_type out = code_type(list[i].bits, true, &scale, &list[i].zero);
        assay_unit_spec spec = unit_spec("quantize", &in, 1, &out);
        assay_unit *u = unit_prepare(s, &spec);
        uint32_t bits;
        int32_t q;
        memcpy(&bits, &list[i].x, sizeof bits);
        s->vt->quantize(u, &bits, 1, 0, &q);
        if (q != list[i].code)
            fail_msg("case %zu: %d", i, q);
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

static int64_t clamped(double v, int64_t lo, int64_t hi)
{
    return v < (double)lo ? lo : v > (double)hi ? hi : (int64_t)v;
}

static int64_t draw(test_rng *r)
{
    const int64_t x = (int32_t)test_random(r);
    return test_between(r, 0, 2) ? x >> test_between(r, 0, 31) : x;
}

/* acc * in * w / out in float32, each step rounded; the zero point inside or after. Scales whose
 * products and quotients are subnormal, overflow, or are powers of two apart. */
static void steps(void **state)
{
    (void)state;
    static const float scales[][3] = {
        {0.1f, 0.3f, 0.7f},        {1e-20f, 1e20f, 1},    {1, 1e-10f, 1.2e-38f},
        {1e-30f, 1e-8f, 1.2e-38f}, {1e30f, 1, 3e38f},     {1e10f, 1e25f, 1e35f},
        {0.5f, 0.25f, 2},          {1.2e-38f, 1, 2e-38f}, {1e-5f, 1e20f, 1e15f},
        {0x1p-20f, 0x1p30f, 1},    {0x1p-90f, 1, 1},      {1e-5f, 1e-5f, 1e32f},
    };
    test_rng rng = test_seed("steps", 9);
    for (size_t k = 0; k < 4 * sizeof scales / sizeof *scales; k++) {
        const float *f = scales[k / 4];
        const bool inside = k % 2, wide = k / 2 % 2;
        const int32_t zero = wide ? 100000 : -7, none = 0;
        char text[200];
        assay_error err = {0};
        assay_scheme *s;
        assay_unit *u;
        snprintf(text, sizeof text,
                 "scheme: t\nrescale: {encoding: float32, scale: f32-steps, round: [half-even], "
                 "zero_point: %s, sum_bits: 0}\n",
                 inside ? "inside" : "after");
        assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
        assay_type in[2] = {code_type(8, true, &f[0], &none), code_type(8, true, &f[1], &none)};
        assay_type out = code_type(wide ? 24 : 8, true, &f[2], &zero);
        const assay_unit_spec spec = unit_spec("conv", in, 2, &out);
        assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
        for (int i = 0; i < 3000; i++) {
            const int64_t acc = draw(&rng), top = wide ? 1 << 23 : 128;
            int32_t y;
            volatile float v = (float)acc;
            v = v * f[0];
            v = v * f[1];
            v = v / f[2];
            if (inside)
                v = v + (float)zero;
            double whole = (double)clamped(rint((double)v), INT32_MIN, INT32_MAX);
            if (isnan(v)) /* 0 / 0 never happens: the scales are above 0 */
                fail_msg("NaN");
            s->vt->requantize(u, &acc, 1, 0, &y);
            int64_t want = clamped(whole + (inside ? 0 : zero), -top, top - 1);
            if (y != want)
                fail_msg("%g %g %g, zero %d: acc %lld gives %d, expected %lld", (double)f[0],
                         (double)f[1], (double)f[2], zero, (long long)acc, y, (long long)want);
        }
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* acc * R in float64 for any R: subnormal, negative, far too large. */
static void doubles(void **state)
{
    (void)state;
    static const double scales[] = {0.1, -0.1, 1e-3, -7e-5, 5e-324, -1e-310, 1e300, -1e9, 0x1p-31};
    test_rng rng = test_seed("doubles", 10);
    for (size_t k = 0; k < 2 * sizeof scales / sizeof *scales; k++) {
        const bool inside = k % 2;
        const int64_t zero = 3;
        char text[200], why[256];
        assay_error err = {0};
        assay_scheme *s;
        assay_single o;
        const assay_batch b = {
            .n = 1, .type = assay_int(8, true), .scale = &scales[k / 2], .zero_point = &zero};
        snprintf(text, sizeof text,
                 "scheme: t\nrescale: {encoding: float64, round: [half-even], negative_scale: yes, "
                 "zero_point: %s, sum_bits: 0}\n",
                 inside ? "inside" : "after");
        assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
        assert_ok(assay_single_start(&o, s, NULL, false, &err), &err);
        assert_true(assay_single_set(&o, &b, 0, why, sizeof why));
        for (int i = 0; i < 3000; i++) {
            const int64_t acc = i % 3 ? draw(&rng) : draw(&rng) * 65537;
            volatile double v = (double)acc * scales[k / 2];
            if (inside)
                v = v + 3;
            double whole = (double)clamped(rint(v), INT32_MIN, INT32_MAX);
            int64_t want = clamped(whole + (inside ? 0 : 3), -128, 127);
            if (apply_rescale_one(&o.r, acc, 0) != want)
                fail_msg("%g: acc %lld gives %d, expected %lld", scales[k / 2], (long long)acc,
                         apply_rescale_one(&o.r, acc, 0), (long long)want);
        }
        assay_scheme_free(s);
    }
}

/* Under `store: wrap` sums keep their low bits; floats at the edge, and bounds of an activation
 * that lie beyond the type, saturate. */
static void wrapping_stores(void **state)
{
    static const char text[] = "scheme: t\ntypes: {activation_bits: 3}\n"
                               "rescale: {store: wrap, left_shift: product, round: [half-up]}\n";
    static const float scale = 0.5F, one = 1;
    static const int32_t zero = 0;
    const uint32_t bits[4] = {0xC2C80000, 0xBF800000, 0x40200000, 0x42C80000}; /* -100 -1 2.5 100 */
    const int64_t acc[3] = {-5, 2, 6};
    int32_t out[4];
    assay_scheme *s;
    assay_unit *u;
    assay_error err;
    (void)state;
    assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
    const assay_type real = {.elem = {ASSAY_KIND_F32, 32, true}, .rank = 1, .dim = {1}};
    const assay_type codes = code_type(3, true, &scale, &zero);
    assay_unit_spec spec = unit_spec("quantize", &real, 1, &codes);
    assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
    s->vt->quantize(u, bits, 4, 0, out);
    assert_memory_equal(out, ((int32_t[]){-4, -2, 3, 3}), sizeof out);
    s->vt->release(u);

    const assay_type in[2] = {code_type(3, true, &scale, &zero), code_type(3, true, &one, &zero)};
    spec = unit_spec("fc", in, 2, &codes);
    assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
    s->vt->requantize(u, acc, 3, 0, out);
    assert_memory_equal(out, ((int32_t[]){3, 2, -2}), 3 * sizeof *out);
    s->vt->release(u);
    spec.act_lo = -0.5;
    spec.act_hi = 40;
    assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
    s->vt->requantize(u, acc, 3, 0, out);
    assert_memory_equal(out, ((int32_t[]){-1, 2, 3}), 3 * sizeof *out);
    s->vt->release(u);
    assay_scheme_free(s);
}

/* A scale that is no ratio of three has one step where a target applies three (a fuzzer found it).
 */
static void single_step(void **state)
{
    static const char text[] = "scheme: t\nrescale: {scale: f32-steps, encoding: float32, "
                               "round: [half-even]}\n";
    static const float scale = 0.5F;
    static const int32_t zero = 0;
    const assay_type in[2] = {code_type(8, true, &scale, &zero), code_type(8, true, &scale, &zero)};
    const int32_t a[3] = {-128, 3, 100}, b[3] = {-1, 4, 27};
    int32_t out[3];
    assay_scheme *s;
    assay_unit *u;
    assay_error err;
    (void)state;
    assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
    const assay_unit_spec spec = unit_spec("add", in, 2, in);
    assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
    s->vt->binary(u, a, b, 3, out);
    assert_memory_equal(out, ((int32_t[]){-128, 7, 127}), sizeof out);
    s->vt->release(u);
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges),           cmocka_unit_test(wide_division),
        cmocka_unit_test(steps),           cmocka_unit_test(doubles),
        cmocka_unit_test(wrapping_stores), cmocka_unit_test(single_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
