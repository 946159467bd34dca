/* One accumulator at a time through presets: TFLite's worked values and the counterexamples of
 * schemes/SOURCES.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "graph/core/type.h"
#include "schemes/rescale/batch.h"
#include "test/support/scheme_unit.h"

/* conv with s_in = R, s_w = s_out = 1, so that every formation of the scale gives R. */
static int64_t requantize(const char *scheme, int64_t acc, float real, int32_t zero)
{
    const float one = 1;
    const int32_t none = 0;
    assay_error err;
    assay_scheme *s;
    assay_unit *u;
    if (assay_scheme_open(scheme, &s, &err) != ASSAY_OK)
        fail_msg("%s", err.text);
    assay_type in[2] = {code_type(8, true, &real, &none), code_type(8, true, &one, &none)};
    assay_type out = code_type(8, true, &one, &zero);
    assay_unit_spec spec = unit_spec("conv", in, 2, &out);
    if (s->vt->prepare(s, &spec, &u, &err) != ASSAY_OK)
        fail_msg("%s", err.text);
    int32_t y;
    s->vt->requantize(u, &acc, 1, 0, &y);
    s->vt->release(u);
    assay_scheme_free(s);
    return y;
}

typedef struct row {
    int64_t acc;
    float real;
    int32_t zero;
    int expected_double, expected_single, glow_cpu, glow_interp;
} row;

/* One scale, four targets: columns D, S, GlJ, GlI. */
static const row rows[] = {
    {1, 0.5f, 0, 1, 1, 1, 1},
    {-1, 0.5f, 0, 0, 0, 0, -1},
    {-2, 0.25f, 0, -1, 0, 0, -1},
    {1, 0.25f, 0, 1, 0, 0, 0},
    {1, 0.3f, 0, 1, 0, 0, 0},
    {-1, 0.3f, 0, -1, 0, 0, 0},
    {-6, 0.25f, 0, -2, -1, -1, -2},
    {10, 0.25f, 0, 3, 3, 3, 3},
    {-10, 0.25f, 0, -3, -2, -2, -3},
    {2, 0.25f, 1, 2, 2, 2, 2},
    {-2, 0.25f, 1, 0, 1, 1, 1},
    {-6, 0.25f, -3, -5, -4, -4, -5},
    {5, 0.1f, 0, 1, 1, 1, 1},
    {15, 0.3f, 0, 5, 5, 4, 5},
    {-15, 0.3f, 0, -5, -5, -4, -5},
    {135, 0.0037f, 0, 1, 0, 0, 0},
    {128, 0.0117f, 0, 2, 1, 1, 1},
    {5000, 0.0037f, 0, 19, 19, 19, 19},
    {5000, 0.0117f, 1, 60, 59, 59, 60},
    {6028, 0.00406430103f, 0, 25, 24, 24, 24},
    {-6028, 0.00406430103f, 0, -25, -24, -24, -24},
    {12345, 0.00406430103f, -5, 45, 45, 45, 45},
    {300, 0.5f, 0, 127, 127, 127, 127},
    {-1000, 0.5f, 0, -128, -128, -128, -128},
    {1073741824, 4, 0, 0, 0, 0, 127},
    {268435456, 4, 0, -128, 127, 127, 127},
};

static void counterexamples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        assert_int_equal(requantize("tflite", r->acc, r->real, r->zero), r->expected_double);
        assert_int_equal(requantize("tflite-single", r->acc, r->real, r->zero), r->expected_single);
        assert_int_equal(requantize("glow-interp", r->acc, r->real, r->zero), r->glow_interp);
        if (r->acc != 1073741824 && r->acc != 268435456) /* 32-bit overflow is undefined in Glow */
            assert_int_equal(requantize("glow-cpu", r->acc, r->real, r->zero), r->glow_cpu);
    }
}

/* Thresholds stand for every sum of 64 bits, and a rescale on its own gives what the unit gives or
 * refuses what it refuses. */
static void thresholds(void **state)
{
    (void)state;
    static const int64_t acc[] = {0,
                                  1,
                                  -1,
                                  1000,
                                  INT64_C(1) << 41,
                                  -(INT64_C(1) << 41),
                                  (INT64_C(1) << 62) + 1,
                                  -(INT64_C(1) << 62),
                                  INT64_MIN};
    static const char *const names[] = {"8 bits", "16 bits"};
    enum { N = sizeof acc / sizeof *acc };
    const float one = 1;
    const int32_t none = 0;
    assay_error err;
    assay_scheme *s = unit_scheme("rescale: {encoding: thresholds, round: [floor]}\n");
    for (unsigned wide = 0; wide < 2; wide++)
        for (int shift = 0; shift <= 60; shift += 5) {
            const float real = ldexpf(1, -shift);
            const assay_type in[2] = {code_type(8, true, &real, &none),
                                      code_type(8, true, &one, &none)};
            const assay_type out = code_type(8U << wide, true, &one, &none);
            const assay_unit_spec spec = unit_spec("conv", in, 2, &out);
            assay_unit *u = unit_prepare(s, &spec);
            for (size_t i = 0; i < N; i++) {
                const int64_t max = wide ? 32767 : 127, exact = acc[i] >> shift;
                const int64_t want = exact > max ? max : exact < -max - 1 ? -max - 1 : exact;
                const double scale = (double)real;
                const assay_batch b = {
                    .n = 1, .type = out.elem, .acc = &acc[i], .scale = &scale, .wide = wide};
                int32_t y;
                int64_t code;
                s->vt->requantize(u, &acc[i], 1, 0, &y);
                if (y != want)
                    fail_msg("%lld / 2^%d to %s: %d, expected %lld", (long long)acc[i], shift,
                             names[wide], y, (long long)want);
                assert_ok(assay_scheme_batch_apply(s, &b, &code, NULL, &err), &err);
                assert_int_equal(code, want);
            }
            s->vt->release(u);
        }
    const double scales[] = {1e-30, 1e30, 0, 1};
    static const char *const refused[] = {"row 0: scale 1e-30 is outside 2^-74 to 2^53",
                                          "row 0: scale 1e+30 is outside 2^-74 to 2^53",
                                          "row 0: scale 0 is outside 2^-74 to 2^53",
                                          "row 0: thresholds need an output of at most 16 bits"};
    for (size_t i = 0; i < 4; i++) {
        int64_t code;
        const assay_batch b = {
            .n = 1, .type = assay_int(i == 3 ? 17 : 8, true), .acc = acc, .scale = &scales[i]};
        assert_int_equal(assay_scheme_batch_apply(s, &b, &code, NULL, &err), ASSAY_ERR_SCHEME);
        assert_string_equal(err.text, refused[i]);
    }
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counterexamples),
                                       cmocka_unit_test(thresholds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
