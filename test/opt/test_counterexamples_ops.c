/* The computed counterexamples of schemes/SOURCES.md in operators (ADD, MUL, REQUANTIZE, average
 * pools), one by one: where targets that are taken to agree do not. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/scheme_unit.h"

/* ---- 9.3: ADD of s = .05 z = 3 and s = .03 z = -7 to s = .06 z = 5 ---- */

/* The note's column for MLAS on AVX2 is left out: ONNX Runtime 1.30 itself, which the preset
 * follows bit for bit, forms the constant part otherwise. */
#define ADDS 8
static const char *const adds[ADDS] = {
    "tflite",
    "tflite-single",
    "xnnpack-qs8",
    "qnnpack",
    "scheme: sse2\nextends: onnxruntime\nadd: {fused: no}\n",
    "scheme: mlas-scalar\nextends: onnxruntime\nadd: {kind: float-real, zero_point: inside}\n",
    "scheme: dq-add-q\nextends: onnxruntime\nadd: {kind: float-real, zero_point: after}\n",
    "glow-cpu",
};

static assay_unit *prepare_add(const assay_scheme *s, const float *scale, const int32_t *zero)
{
    assay_error err;
    assay_type in[2] = {code_type(8, true, &scale[0], &zero[0]),
                        code_type(8, true, &scale[1], &zero[1])};
    assay_type out = code_type(8, true, &scale[2], &zero[2]);
    assay_unit_spec spec = unit_spec("add", in, 2, &out);
    assay_unit *u;
    assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
    return u;
}

/* All 65,536 sums under scheme k. */
static int32_t *add_table(const char *scheme, const float *scale, const int32_t *zero)
{
    assay_scheme *s = unit_open(scheme);
    assay_unit *u = prepare_add(s, scale, zero);
    int32_t *table = malloc(65536 * sizeof *table);
    assert_non_null(table);
    for (int32_t i = 0; i < 65536; i++) {
        int32_t a = i / 256 - 128, b = i % 256 - 128;
        s->vt->binary(u, &a, &b, 1, &table[i]);
    }
    s->vt->release(u);
    assay_scheme_free(s);
    return table;
}

static void sums(void **state)
{
    (void)state;
    static const float scale[3] = {0.05f, 0.03f, 0.06f};
    static const int32_t zero[3] = {3, -7, 5};
    static const struct {
        int a, b, want[ADDS];
    } rows[] = {
        {-128, -54, {-128, -128, -128, -128, -128, -128, -128, -127}},
        {-126, -49, {-124, -124, -124, -124, -124, -124, -123, -124}},
        {-126, -15, {-107, -107, -107, -107, -107, -106, -107, -107}},
        {-96, -105, {-127, -127, -127, -127, -126, -127, -127, -127}},
        {-96, 23, {-63, -63, -63, -63, -62, -63, -63, -63}},
        {-63, 124, {16, 15, 15, 15, 15, 15, 15, 16}},
        {0, 1, {7, 6, 6, 6, 6, 6, 6, 6}},
        {10, 20, {24, 24, 24, 24, 24, 24, 24, 25}},
    };
    static const int differing[ADDS] = {0, 1352, 1286, 1225, 3459, 3321, 3260, 15889};
    int32_t *reference = add_table(adds[0], scale, zero);
    for (int k = 0; k < ADDS; k++) {
        int32_t *table = add_table(adds[k], scale, zero);
        int count = 0;
        for (int i = 0; i < 65536; i++)
            count += table[i] != reference[i];
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            int32_t got = table[(rows[i].a + 128) * 256 + rows[i].b + 128];
            if (got != rows[i].want[k])
                fail_msg("%d + %d under %.20s: %d, expected %d", rows[i].a, rows[i].b, adds[k], got,
                         rows[i].want[k]);
        }
        if (count != differing[k])
            fail_msg("%.20s differs from tflite in %d sums, expected %d", adds[k], count,
                     differing[k]);
        free(table);
    }
    free(reference);
}

/* ---- 9.4: MUL, REQUANTIZE, average pools ---- */

static void products(void **state)
{
    (void)state;
    const float scale[3] = {0.25f, 1, 1};
    const int32_t zero[3] = {0, 0, 5};
    static const int rows[][3] = {{6, 7, 6}, {2, 5, 6}, {-6, 3, 4}, {10, 7, 8}}; /* after, inside */
    static const char *const schemes[2] = {"xnnpack-qs8", "onnxruntime"};
    for (int k = 0; k < 2; k++) {
        assay_error err;
        assay_scheme *s = unit_open(schemes[k]);
        assay_type in[2] = {code_type(8, true, &scale[0], &zero[0]),
                            code_type(8, true, &scale[1], &zero[1])};
        assay_type out = code_type(8, true, &scale[2], &zero[2]);
        assay_unit_spec spec = unit_spec("mul", in, 2, &out);
        assay_unit *u;
        assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            int32_t a = rows[i][0], b = 1, y;
            s->vt->binary(u, &a, &b, 1, &y);
            assert_int_equal(y, rows[i][1 + k]);
        }
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

static void requantize(void **state)
{
    (void)state;
    const float scale[2] = {0.1f, 0.3f};
    const int32_t zero[2] = {0, -10};
    static const int rows[][3] = {{-128, -53, -52}, {-4, -12, -11}, {1, -9, -10}, {50, 7, 7}};
    static const char *const schemes[2] = {"tflite", "xnnpack-qs8"};
    for (int k = 0; k < 2; k++) {
        assay_error err;
        assay_scheme *s = unit_open(schemes[k]);
        assay_type in = code_type(8, true, &scale[0], &zero[0]);
        assay_type out = code_type(8, true, &scale[1], &zero[1]);
        assay_unit_spec spec = unit_spec("rescale", &in, 1, &out);
        assay_unit *u;
        assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            int32_t x = rows[i][0], y;
            s->vt->unary(u, &x, 1, &y);
            if (y != rows[i][1 + k])
                fail_msg("%s: %d gives %d, expected %d", schemes[k], x, y, rows[i][1 + k]);
        }
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

static int32_t average(const char *scheme, int64_t sum, int side, int32_t zero)
{
    const float one = 1;
    const int32_t cells = side * side;
    assay_error err;
    assay_scheme *s = unit_open(scheme);
    assay_type in = code_type(8, true, &one, &zero), out = in;
    assay_unit_spec spec = unit_spec("avg_pool", &in, 1, &out);
    assay_unit *u;
    int32_t y;
    spec.depth = cells;
    spec.window[0] = spec.window[1] = side;
    assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
    s->vt->pool(u, &sum, &cells, 1, &y);
    s->vt->release(u);
    assay_scheme_free(s);
    return y;
}

static void averages(void **state)
{
    (void)state;
    static const char *const schemes[5] = {"tflite", "tosa-single", "nvdla", "vitis-dpu",
                                           "max78000"};
    static const struct {
        int sum, side, want[5];
    } rows[] = {
        {2, 2, {1, 1, 1, 1, 0}},
        {-2, 2, {-1, -1, -1, 0, 0}},
        {6, 2, {2, 2, 2, 2, 1}},
        {-6, 2, {-2, -2, -2, -1, -1}},
        {41, 3, {5, 5, 5, 4, 4}},
        {-41, 3, {-5, -5, -5, -4, -4}},
        {1000, 3, {111, 111, 111, 109, 111}},
        {-6223, 7, {-127, -127, -127, -128, -127}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; k < 5; k++) {
            int32_t got = average(schemes[k], rows[i].sum, rows[i].side, 0);
            if (got != rows[i].want[k])
                fail_msg("%d over %dx%d under %s: %d, expected %d", rows[i].sum, rows[i].side,
                         rows[i].side, schemes[k], got, rows[i].want[k]);
        }
    /* codes 0, 0, 0, -2 with zero point -1: TFLite rounds relative to code 0, TOSA to the zero
     * point */
    assert_int_equal(average("tflite", -2, 2, -1), -1);
    assert_int_equal(average("tosa-single", -2, 2, -1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test(products),
        cmocka_unit_test(requantize),
        cmocka_unit_test(averages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
