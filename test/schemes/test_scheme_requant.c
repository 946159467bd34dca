/* One accumulator at a time through presets: TFLite's worked values and the counterexamples of
 * schemes/SOURCES.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counterexamples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
