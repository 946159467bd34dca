/* Types of a node without what its op needs: parameters, one scale, a finite number. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "test/support/scheme_unit.h"

/* Types without what an op needs. */
static void types(void **state)
{
    (void)state;
    const float two[2] = {1, 1}, bad[4] = {-1, 0, INFINITY, 1e-38F}, one = 1;
    const int32_t zeros[2] = {0, 0};
    char why[256];
    assay_error err = {0};
    assay_scheme *s;
    assert_ok(assay_scheme_open("tflite", &s, &err), &err);
    assay_type in[2] = {code_type(8, true, &one, zeros), code_type(8, true, &one, zeros)};
    assay_type out = code_type(8, true, &one, zeros);
    assay_unit_spec spec = unit_spec("add", in, 2, &out);
    assay_unit *blocks;
    const assay_type good = in[0];
    assert_true(assay_scheme_supports(s, &spec, why, sizeof why));

    in[0].q.granularity = ASSAY_Q_NONE;
    assert_false(assay_scheme_supports(s, &spec, why, sizeof why));
    assert_string_equal(why, "input 0 has no quantization parameters");
    in[0] = good;
    in[1].q.scale = NULL;
    assert_false(assay_scheme_supports(s, &spec, why, sizeof why));
    assert_string_equal(why, "input 1 has no quantization parameters");
    in[1] = good;
    in[1].q.granularity = ASSAY_Q_BLOCK;
    spec.op = "conv";
    assert_refused(s->vt->prepare(s, &spec, &blocks, &err), &err,
                   "no integer form of weights with a scale for each block of inputs");
    spec.op = "add";
    in[1] = good;
    out.q.count = 0;
    assert_false(assay_scheme_supports(s, &spec, why, sizeof why));
    assert_string_equal(why, "the output has no quantization parameters");
    out.q.count = 2;
    out.q.scale = two;
    assert_false(assay_scheme_supports(s, &spec, why, sizeof why));
    assert_string_equal(why, "the output has 2 scales; one is expected");
    out = good;
    const float wide_scale = 0x1p-15f; /* int16 softmax gives signed codes */
    assay_type wide[2] = {code_type(16, true, &one, zeros),
                          code_type(16, false, &wide_scale, zeros)};
    assay_scheme *lut;
    assay_unit *u;
    static const char text[] = "scheme: t\nsoftmax: {kind: lut-16}\n";
    assert_ok(assay_scheme_parse("t", text, strlen(text), &lut, &err), &err);
    assay_unit_spec row = unit_spec("softmax", &wide[0], 1, &wide[1]);
    assert_refused(lut->vt->prepare(lut, &row, &u, &err), &err,
                   "needs signed 16-bit codes in and out");
    assay_scheme_free(lut);
    for (int i = 0; i < 4; i++) {
        char expected[100];
        out.q.scale = &bad[i];
        assert_false(assay_scheme_supports(s, &spec, why, sizeof why));
        snprintf(expected, sizeof expected,
                 "the output has the scale %g; expected a finite, normal number above 0",
                 (double)bad[i]);
        assert_string_equal(why, expected);
    }
    const assay_type real = {.elem = {.kind = ASSAY_KIND_F32, .bits = 32}};
    spec = unit_spec("quantize", &real, 1, &out);
    assert_true(
        assay_scheme_supports(s, &spec, why, sizeof why)); /* a subnormal one: as floats say */
    out.q.scale = &bad[2];
    assert_false(assay_scheme_supports(s, &spec, why, sizeof why));
    assert_string_equal(why, "the output has the scale inf; expected a finite number above 0");
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
