/* Parts of units beyond their rescale: softmax's input scaling, the common exponent of an
 * add, NVDLA's average, QONNX's quantizers, TOSA's inexact rounding. */
#include "test/support/vectors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/scheme_unit.h"

static const int64_t *param(const assay_scheme *s, const assay_unit *u, const char *name)
{
    assay_unit_param list[32];
    size_t n = s->vt->params(u, list, 32);
    for (size_t i = 0; i < n && i < 32; i++)
        if (strcmp(list[i].name, name) == 0)
            return list[i].value;
    fail_msg("no parameter %s", name);
    return NULL;
}

/* TFLite PreprocessSoftmaxScaling and CalculateInputRadius. */
static void softmax_scaling(const char *file, const char *scheme)
{
    assay_scheme *s = unit_open(scheme);
    struct npz *z = vectors_open(file);
    size_t n;
    const double *beta = vectors_reals(z, "beta", &n), *scale = vectors_reals(z, "in_scale", &n);
    const int64_t *multiplier = vectors_ints(z, "multiplier", &n);
    const int64_t *left = vectors_ints(z, "left_shift", &n),
                  *least = vectors_ints(z, "diff_min", &n);
    const float out_scale = 1.0f / 256;
    const int32_t zero = 0, out_zero = -128;
    for (size_t i = 0; i < n; i++) {
        float in_scale = (float)scale[i];
        assay_type in = code_type(8, true, &in_scale, &zero);
        assay_type out = code_type(8, true, &out_scale, &out_zero);
        assay_unit_spec spec = unit_spec("softmax", &in, 1, &out);
        spec.beta = beta[i];
        assay_unit *u = unit_prepare(s, &spec);
        assert_int_equal(*param(s, u, "multiplier_in"), multiplier[i]);
        assert_int_equal(*param(s, u, "shift_in"), left[i]);
        assert_int_equal(*param(s, u, "constants"), least[i]);
        s->vt->release(u);
    }
    vectors_count(file, n);
    npz_close(z);
    assay_scheme_free(s);
}

static void softmax(void **state)
{
    (void)state;
    softmax_scaling("tflite/derive_softmax_double", "tflite");
    softmax_scaling("tflite/derive_softmax_single", "tflite-single");
}

static void add_parameters(void **state)
{
    (void)state;
    const char *file = "xnnpack/derive_add_int8";
    assay_scheme *s = unit_open("xnnpack-qs8");
    struct npz *z = vectors_open(file);
    size_t n;
    const double *a = vectors_reals(z, "a_scale", &n), *b = vectors_reals(z, "b_scale", &n);
    const double *o = vectors_reals(z, "out_scale", &n);
    const int64_t *ma = vectors_ints(z, "a_multiplier", &n);
    const int64_t *mb = vectors_ints(z, "b_multiplier", &n);
    const int64_t *shift = vectors_ints(z, "shift", &n);
    const int32_t zero = 0;
    for (size_t i = 0; i < n; i++) {
        float scale[3] = {(float)a[i], (float)b[i], (float)o[i]};
        assay_type in[2] = {code_type(8, true, &scale[0], &zero),
                            code_type(8, true, &scale[1], &zero)};
        assay_type out = code_type(8, true, &scale[2], &zero);
        assay_unit_spec spec = unit_spec("add", in, 2, &out);
        assay_unit *u = unit_prepare(s, &spec);
        const int64_t *k = param(s, u, "constants");
        assert_int_equal(k[0], ma[i]);
        assert_int_equal(k[1], mb[i]);
        assert_int_equal(k[2], shift[i]);
        s->vt->release(u);
    }
    vectors_count(file, n);
    npz_close(z);
    assay_scheme_free(s);
}

/* Square windows with the reciprocals that the driver writes (trunc(65536 / side)). */
static void nvdla_average(void **state)
{
    (void)state;
    const char *file = "nvdla/pdp_average";
    assay_scheme *s = unit_open("nvdla");
    struct npz *z = vectors_open(file);
    size_t n, tuples = 0;
    const int64_t *sum = vectors_ints(z, "sum", &n),
                  *want = vectors_ints(z, "result_int16_cast", &n);
    const int64_t *w = vectors_ints(z, "kernel_w", &n), *h = vectors_ints(z, "kernel_h", &n);
    const int64_t *rw = vectors_ints(z, "recip_w", &n), *rh = vectors_ints(z, "recip_h", &n);
    const float one = 1;
    const int32_t zero = 0;
    for (int32_t cells, rows = 1, columns = 1; rows <= 8;
         rows += columns == 8, columns = columns % 8 + 1) {
        assay_type in = code_type(16, true, &one, &zero), out = in;
        assay_unit_spec spec = unit_spec("avg_pool", &in, 1, &out);
        spec.depth = cells = rows * columns;
        spec.window[0] = rows;
        spec.window[1] = columns;
        assay_unit *u = unit_prepare(s, &spec);
        for (size_t i = 0; i < n; i++) {
            int32_t y;
            if (w[i] != columns || h[i] != rows || rw[i] != 65536 / columns ||
                rh[i] != 65536 / rows)
                continue;
            s->vt->pool(u, &sum[i], &cells, 1, &y);
            if (y != want[i])
                fail_msg("%lld over %dx%d: %d, the target %lld", (long long)sum[i], rows, columns,
                         y, (long long)want[i]);
            tuples++;
        }
        s->vt->release(u);
    }
    assert_true(tuples > 20);
    vectors_count(file, tuples);
    npz_close(z);
    assay_scheme_free(s);
}

/* One quantizer a row: scale, zero point, width, signedness, narrow range and rounding mode. */
static void qonnx_quant(void **state)
{
    (void)state;
    static const char *const modes[] = {"half-even", "ceil",      "floor",    "away",
                                        "trunc",     "half-away", "half-zero"};
    const char *file = "qonnx/int_quant";
    struct npz *z = vectors_open(file);
    size_t n, tuples = 0;
    const double *x = vectors_reals(z, "x", &n), *scale = vectors_reals(z, "scale", &n);
    const double *zp = vectors_reals(z, "zp", &n);
    const int64_t *bits = vectors_ints(z, "bitwidth", &n), *sign = vectors_ints(z, "signed", &n);
    const int64_t *narrow = vectors_ints(z, "narrow", &n),
                  *mode = vectors_ints(z, "rounding_mode", &n);
    const int64_t *want = vectors_ints(z, "q_recovered", &n);
    for (int m = 0; m < (int)(sizeof modes / sizeof *modes); m++) {
        char text[200];
        snprintf(text, sizeof text, "scheme: quant\nextends: qonnx\nconvert: {round: %s}\n",
                 modes[m]);
        assay_scheme *s = unit_open(text);
        for (size_t i = 0; i < n; i++) {
            float f = (float)scale[i], value = (float)x[i];
            int32_t zero = (int32_t)zp[i], y;
            uint32_t bits_of_x;
            if (mode[i] != m || bits[i] < 2) /* one signed bit is a sign, not a code */
                continue;
            memcpy(&bits_of_x, &value, sizeof value);
            assay_type in = {.elem = {ASSAY_KIND_F32, 32, true}, .rank = 1, .dim = {1}};
            assay_type out = code_type((unsigned)bits[i], sign[i] != 0, &f, &zero);
            assay_unit_spec spec = unit_spec("quantize", &in, 1, &out);
            assay_unit *u = unit_prepare(s, &spec);
            s->vt->quantize(u, &bits_of_x, 1, 0, &y);
            s->vt->release(u);
            int64_t lo = sign[i] ? -(INT64_C(1) << (bits[i] - 1)) + narrow[i] : 0;
            int64_t hi = (INT64_C(1) << (bits[i] - sign[i])) - 1 - (sign[i] ? 0 : narrow[i]);
            int64_t got = y < lo ? lo : y > hi ? hi : y; /* a narrow range is a clip behind it */
            if (got != want[i])
                fail_msg("row %zu: %.9g / %.9g + %d by %s: %lld, QONNX %lld", i, x[i], scale[i],
                         zero, modes[m], (long long)got, (long long)want[i]);
            tuples++;
        }
        assay_scheme_free(s);
    }
    vectors_count(file, tuples);
    npz_close(z);
}

/* INEXACT_ROUND leaves one code of freedom. */
static void tosa_inexact(void **state)
{
    (void)state;
    const char *file = "tosa/rescale_int32_int8_s32_inexact";
    assay_scheme *s = unit_open("tosa-single");
    struct npz *z = vectors_open(file);
    assay_error err;
    size_t n;
    const assay_batch b = {.type = {ASSAY_KIND_INT, 8, true},
                           .acc = vectors_ints(z, "value", &n),
                           .multiplier = vectors_ints(z, "multiplier", &n),
                           .shift = vectors_ints(z, "shift", &n),
                           .in_zero = vectors_ints(z, "in_zp", &n),
                           .zero_point = vectors_ints(z, "out_zp", &n)};
    const int64_t *want = vectors_ints(z, "result", &n);
    assay_batch rows = b;
    int64_t *out = calloc(n, sizeof *out);
    assert_non_null(out);
    rows.n = n;
    assert_ok(assay_scheme_batch_apply(s, &rows, out, NULL, &err), &err);
    for (size_t i = 0; i < n; i++)
        if (llabs(out[i] - want[i]) > 1)
            fail_msg("row %zu: %lld, the model %lld", i, (long long)out[i], (long long)want[i]);
    vectors_count(file, n);
    free(out);
    npz_close(z);
    assay_scheme_free(s);
}

size_t vectors_unit_tests(struct CMUnitTest *out)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax),       cmocka_unit_test(add_parameters),
        cmocka_unit_test(nvdla_average), cmocka_unit_test(qonnx_quant),
        cmocka_unit_test(tosa_inexact),
    };
    memcpy(out, tests, sizeof tests);
    return sizeof tests / sizeof *tests;
}
