/* Conformance: rescales and derivations of every preset against vectors made by the targets' own
 * code (../shared/vectors, or the compact copy in test/vectors). Prints the tuples compared. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "npz.h"
#include "schemes/bulk.h"

static assay_scheme *open_scheme(const char *name)
{
    assay_error err = {0};
    assay_scheme *s = NULL;
    if (assay_scheme_open(name, &s, &err) != ASSAY_OK)
        fail_msg("%s", err.text);
    return s;
}

/* The file in ../shared, else its compact copy; NULL when neither is there. */
static struct npz *open_vectors(const char *file)
{
    struct npz *z = npz_vectors(file);
    if (z == NULL)
        printf("# SKIP %s: no such vectors here\n", file);
    return z;
}

static const int64_t *column(struct npz *z, const char *name, size_t n)
{
    size_t count = 0;
    if (name == NULL || !npz_has(z, name))
        return NULL;
    const int64_t *c = npz_i64(z, name, &count, NULL);
    assert_non_null(c);
    assert_int_equal(count, n);
    return c;
}

/* One file of rows: which columns hold what. NULL: there is no such column. */
typedef struct requant_file {
    const char *file, *scheme, *op;
    bool wide;
    unsigned bits;
    bool is_signed;
    const char *acc, *scale, *multiplier, *shift, *pre, *zero, *in_zero, *lo, *hi, *result;
    const char *error; /* rows with a value other than 0: the target refuses */
} requant_file;

#define RANGE .zero = "zp", .lo = "qmin", .hi = "qmax"
#define REAL  .acc = "acc", .scale = "scale"
#define GIVEN .acc = "acc", .multiplier = "multiplier", .shift = "shift"
#define INT8  .bits = 8, .is_signed = true
#define UINT8 .bits = 8
#define INT16 .bits = 16, .is_signed = true
#define INT32 .bits = 32, .is_signed = true
#define BOTH(f, s, ...)                                                                            \
    {.file = f, .scheme = s, REAL, RANGE, __VA_ARGS__},                                            \
    {                                                                                              \
        .file = f, .scheme = s, GIVEN, RANGE, __VA_ARGS__                                          \
    }
#define TOSA(name, s, ...)                                                                         \
    {                                                                                              \
        .file = "tosa/rescale_" name ".npz", .scheme = s, .acc = "value",                          \
        .multiplier = "multiplier", .shift = "shift", .zero = "out_zp", .in_zero = "in_zp",        \
        .result = "result", __VA_ARGS__                                                            \
    }

static const requant_file requant_files[] = {
    BOTH("tflite/requant_double_int8.npz", "tflite", INT8, .result = "result"),
    BOTH("tflite/requant_double_uint8.npz", "tflite", UINT8, .result = "result"),
    BOTH("tflite/requant_double_int16.npz", "tflite", INT16, .result = "result"),
    BOTH("tflite/requant_double_int16x8_acc64.npz", "tflite-int16x8", INT16, .wide = true,
         .result = "result"),
    BOTH("tflite/requant_single_int8.npz", "tflite-single", INT8, .result = "result"),
    BOTH("tflite/requant_single_uint8.npz", "tflite-single", UINT8, .result = "result"),
    BOTH("tflite/requant_single_int16.npz", "tflite-single", INT16, .result = "result"),
    BOTH("tflite/requant_single_int16x8_acc64.npz", "tflite-single", INT16, .wide = true,
         .result = "result"),
    BOTH("cmsis-nn/requant_double_s8.npz", "cmsis-nn", INT8, .result = "result"),
    BOTH("cmsis-nn/requant_single_s8.npz", "cmsis-nn-single", INT8, .result = "result"),
    {.file = "cmsis-nn/requant_s16_acc64.npz",
     .scheme = "cmsis-nn",
     REAL,
     .wide = true,
     INT16,
     .lo = "qmin",
     .hi = "qmax",
     .result = "result"},
    BOTH("gemmlowp/requant_byexp_s8.npz", "gemmlowp", INT8, .result = "result"),
    BOTH("gemmlowp/requant_byexp_u8.npz", "gemmlowp", UINT8, .result = "result"),
    BOTH("gemmlowp/requant_byexp_s16.npz", "gemmlowp", INT16, .result = "result"),
    {.file = "xnnpack/requant_fp32_int8.npz",
     .scheme = "xnnpack-qs8",
     REAL,
     RANGE,
     INT8,
     .result = "result"},
    {.file = "xnnpack/requant_fp32_int8.npz",
     .scheme = "litert-xnnpack",
     REAL,
     RANGE,
     INT8,
     .result = "result_imagic"},
    BOTH("xnnpack/requant_rndnu_uint8.npz", "xnnpack-qu8-arm", UINT8, .result = "result"),
    BOTH("xnnpack/requant_rndnu_int8.npz", "xnnpack-qu8-arm", INT8, .result = "result"),
    {.file = "xnnpack/requant_rndnu16_uint8.npz",
     .scheme = "xnnpack-qu8-rndnu16",
     REAL,
     RANGE,
     UINT8,
     .result = "result"},
    {.file = "qnnpack/requant_uint8.npz",
     .scheme = "qnnpack",
     REAL,
     RANGE,
     UINT8,
     .result = "result_q31"},
    {.file = "qnnpack/requant_uint8.npz",
     .scheme = "qnnpack",
     .acc = "acc",
     .multiplier = "q31_multiplier",
     .shift = "q31_shift",
     RANGE,
     UINT8,
     .result = "result_q31"},
    {.file = "qnnpack/requant_uint8.npz",
     .scheme = "pytorch-qnnpack",
     REAL,
     RANGE,
     UINT8,
     .result = "result_fp32"},
    {.file = "qnnpack/requant_uint8.npz",
     .scheme = "qnnpack",
     .op = "avg_pool",
     REAL,
     RANGE,
     UINT8,
     .result = "result_precise"},
    BOTH("qnnpack/requant_avgpool_uint8.npz", "qnnpack", UINT8, .op = "avg_pool",
         .result = "result"),
    {.file = "fbgemm/requant_int8.npz",
     .scheme = "fbgemm",
     REAL,
     .zero = "zp",
     INT8,
     .result = "result_float"},
    {.file = "fbgemm/requant_int8.npz",
     .scheme = "fbgemm-fixed",
     REAL,
     .zero = "zp",
     INT8,
     .result = "result_fixed"},
    {.file = "fbgemm/requant_int8.npz",
     .scheme = "fbgemm-fixed",
     GIVEN,
     .zero = "zp",
     INT8,
     .result = "result_fixed"},
    {.file = "fbgemm/requant_uint8.npz",
     .scheme = "fbgemm",
     REAL,
     .zero = "zp",
     UINT8,
     .result = "result_float"},
    {.file = "fbgemm/requant_uint8.npz",
     .scheme = "fbgemm-avx2",
     REAL,
     .zero = "zp",
     UINT8,
     .result = "result_float_avx2"},
    {.file = "fbgemm/requant_uint8.npz",
     .scheme = "fbgemm-fixed",
     REAL,
     .zero = "zp",
     UINT8,
     .result = "result_fixed"},
    {.file = "gemmini/requant_acc_scale_int8.npz",
     .scheme = "gemmini",
     REAL,
     INT8,
     .result = "result"},
    {.file = "gemmini/mvin_scale_int8.npz",
     .scheme = "gemmini",
     .acc = "x",
     .scale = "scale",
     INT8,
     .result = "result"},
    {.file = "glow/requant_int8.npz",
     .scheme = "glow-cpu",
     REAL,
     .zero = "zp",
     INT8,
     .result = "result"},
    {.file = "glow/requant_int8.npz",
     .scheme = "glow-cpu",
     .acc = "acc",
     .multiplier = "int_scale",
     .shift = "post",
     .pre = "pre",
     .zero = "zp",
     INT8,
     .result = "result"},
    {.file = "nvdla/sdp_output_cvt_int8.npz",
     .scheme = "nvdla",
     .acc = "acc",
     .multiplier = "cvt_scale",
     .shift = "cvt_shift",
     .in_zero = "offset",
     INT8,
     .result = "result"},
    {.file = "nvdla/sdp_output_cvt_int16.npz",
     .scheme = "nvdla",
     .acc = "acc",
     .multiplier = "cvt_scale",
     .shift = "cvt_shift",
     .in_zero = "offset",
     INT16,
     .result = "result"},
    {.file = "tosa/apply_scale_32_single_round.npz",
     .scheme = "tosa-single",
     .acc = "value",
     .multiplier = "multiplier",
     .shift = "shift",
     INT32,
     .result = "result",
     .error = "error"},
    {.file = "tosa/apply_scale_32_double_round.npz",
     .scheme = "tosa-double",
     .acc = "value",
     .multiplier = "multiplier",
     .shift = "shift",
     INT32,
     .result = "result",
     .error = "error"},
    {.file = "tosa/apply_scale_16.npz",
     .scheme = "tosa-inexact-16",
     .acc = "value",
     .multiplier = "multiplier",
     .shift = "shift",
     INT32,
     .result = "result",
     .error = "error"},
    TOSA("int16_int16_s32_double", "tosa-double", INT16),
    TOSA("int16_int16_s32_single", "tosa-single", INT16),
    TOSA("int16_int16_u_s32_single", "tosa-single", .bits = 16),
    TOSA("int16_int8_s32_double", "tosa-double", INT8),
    TOSA("int16_int8_s32_single", "tosa-single", INT8),
    TOSA("int16_u_int16_s32_single", "tosa-single", INT16),
    TOSA("int32_int16_s32_double", "tosa-double", INT16),
    TOSA("int32_int16_s32_single", "tosa-single", INT16),
    TOSA("int32_int32_s32_double", "tosa-double", INT32),
    TOSA("int32_int32_s32_single", "tosa-single", INT32),
    TOSA("int32_int8_s16_single", "tosa-inexact-16", INT8),
    TOSA("int32_int8_s32_double", "tosa-double", INT8),
    TOSA("int32_int8_s32_single", "tosa-single", INT8),
    TOSA("int48_int16_s16_single", "tosa-inexact-16", INT16),
    TOSA("int48_int8_s16_single", "tosa-inexact-16", INT8),
    TOSA("int8_int16_s32_double", "tosa-double", INT16),
    TOSA("int8_int16_s32_single", "tosa-single", INT16),
    TOSA("int8_int32_s32_double", "tosa-double", INT32),
    TOSA("int8_int32_s32_single", "tosa-single", INT32),
    TOSA("int8_int8_s32_double", "tosa-double", INT8),
    TOSA("int8_int8_s32_single", "tosa-single", INT8),
    TOSA("int8_int8_u_s32_double", "tosa-double", UINT8),
    TOSA("int8_u_int8_s32_single", "tosa-single", INT8),
};

static size_t total;

/* Rows that count: inside the target's contract, and with a scale when scales are used. */
static bool counts(const int64_t *contract, const double *scale, const int64_t *relu, size_t i)
{
    return (contract == NULL || contract[i]) && (scale == NULL || !isnan(scale[i])) &&
           (relu == NULL || !relu[i]);
}

static void requant_one(const requant_file *f)
{
    struct npz *z = open_vectors(f->file);
    if (z == NULL)
        return;
    assay_error err = {0};
    assay_scheme *s = open_scheme(f->scheme);
    size_t n = 0;
    assert_non_null(npz_i64(z, f->acc, &n, NULL));
    assay_bulk b = {.n = n, .op = f->op, .wide = f->wide};
    b.type = (assay_elem){ASSAY_KIND_INT, (uint8_t)f->bits, f->is_signed};
    b.acc = column(z, f->acc, n);
    b.scale = f->scale != NULL ? npz_f64(z, f->scale, &n, NULL) : NULL;
    b.multiplier = column(z, f->multiplier, n);
    b.shift = column(z, f->shift, n);
    b.pre = column(z, f->pre, n);
    b.zero_point = column(z, f->zero, n);
    b.in_zero = column(z, f->in_zero, n);
    b.lo = column(z, f->lo, n);
    b.hi = column(z, f->hi, n);
    const int64_t *expected = column(z, f->result, n), *refused = column(z, f->error, n);
    const int64_t *contract = column(z, "contract_ok", n), *relu = column(z, "relu", n);
    int64_t *out = calloc(n, sizeof *out);
    uint8_t *error = calloc(n, 1);
    if (assay_scheme_bulk_apply(s, &b, out, error, &err) != ASSAY_OK)
        fail_msg("%s: %s", f->file, err.text);
    size_t compared = 0, wrong = 0, first = 0;
    for (size_t i = 0; i < n; i++) {
        if (!counts(contract, b.scale, relu, i))
            continue;
        bool bad = refused != NULL && refused[i];
        compared++;
        if (error[i] != bad || (!bad && out[i] != expected[i]))
            first = wrong++ == 0 ? i : first;
    }
    printf("# %-44s %-20s %6zu tuples by %s, %zu mismatches\n", f->file, f->scheme, compared,
           b.scale != NULL ? "scale" : "multiplier", wrong);
    total += compared;
    if (wrong > 0)
        fail_msg("%s under %s: row %zu: acc %lld gives %lld%s, expected %lld", f->file, f->scheme,
                 first, (long long)b.acc[first], (long long)out[first],
                 error[first] ? " (refused)" : "", (long long)expected[first]);
    free(out);
    free(error);
    assay_scheme_free(s);
    npz_close(z);
}

static void requantization(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof requant_files / sizeof *requant_files; i++)
        requant_one(&requant_files[i]);
}

typedef struct derive_file {
    const char *file, *scheme, *op, *real, *multiplier, *shift, *pre, *valid, *error;
    bool wide;
} derive_file;

static const derive_file derive_files[] = {
    {.file = "tflite/derive_quantize_multiplier_double.npz",
     .scheme = "tflite",
     .real = "real",
     .multiplier = "multiplier",
     .shift = "shift"},
    {.file = "tflite/derive_quantize_multiplier_single.npz",
     .scheme = "tflite-single",
     .real = "real",
     .multiplier = "multiplier",
     .shift = "shift"},
    {.file = "xnnpack/derive_conv.npz",
     .scheme = "xnnpack-qu8-arm",
     .real = "scale_f32",
     .multiplier = "rndnu_multiplier",
     .shift = "rndnu_shift"},
    {.file = "fbgemm/derive_requantization_multiplier.npz",
     .scheme = "fbgemm-fixed",
     .real = "real_f32",
     .multiplier = "multiplier",
     .shift = "right_shift"},
    {.file = "glow/derive_scale_offset_32to8.npz",
     .scheme = "glow-cpu",
     .real = "real_f32",
     .multiplier = "int_scale",
     .shift = "post",
     .pre = "pre"},
    {.file = "nvdla/derive_scale_shift.npz",
     .scheme = "nvdla",
     .real = "real_f32",
     .multiplier = "scale",
     .shift = "shift",
     .error = "error"},
    {.file = "tosa/derive_multiplier_shift.npz",
     .scheme = "tosa-single",
     .real = "real",
     .multiplier = "multiplier32",
     .shift = "shift32",
     .valid = "valid32"},
    {.file = "tosa/derive_multiplier_shift.npz",
     .scheme = "tosa-inexact-16",
     .real = "real",
     .multiplier = "multiplier16",
     .shift = "shift16",
     .valid = "valid16"},
};

static void derive_one(const derive_file *f)
{
    struct npz *z = open_vectors(f->file);
    if (z == NULL)
        return;
    assay_error err = {0};
    assay_scheme *s = open_scheme(f->scheme);
    size_t n = 0;
    const double *real = npz_f64(z, f->real, &n, NULL);
    const int64_t *m = column(z, f->multiplier, n), *h = column(z, f->shift, n);
    const int64_t *p = column(z, f->pre, n), *valid = column(z, f->valid, n);
    const int64_t *refused = column(z, f->error, n);
    int64_t *out = calloc(3 * n, sizeof *out);
    uint8_t *error = calloc(n, 1);
    if (assay_scheme_bulk_derive(s, f->op, f->wide, real, n, out, out + n, out + 2 * n, error,
                                 &err) != ASSAY_OK)
        fail_msg("%s: %s", f->file, err.text);
    size_t compared = 0, wrong = 0, first = 0;
    for (size_t i = 0; i < n; i++) {
        if (valid != NULL && !valid[i])
            continue;
        bool bad = refused != NULL && refused[i];
        bool same = out[i] == m[i] && out[n + i] == h[i] && (p == NULL || out[2 * n + i] == p[i]);
        compared++;
        if (error[i] != bad || (!bad && !same))
            first = wrong++ == 0 ? i : first;
    }
    printf("# %-44s %-20s %6zu scales, %zu mismatches\n", f->file, f->scheme, compared, wrong);
    total += compared;
    if (wrong > 0)
        fail_msg("%s under %s: scale %a gives %lld, %lld%s, expected %lld, %lld", f->file,
                 f->scheme, real[first], (long long)out[first], (long long)out[n + first],
                 error[first] ? " (refused)" : "", (long long)m[first], (long long)h[first]);
    free(out);
    free(error);
    assay_scheme_free(s);
    npz_close(z);
}

static void derivation(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof derive_files / sizeof *derive_files; i++)
        derive_one(&derive_files[i]);
    printf("# %zu tuples compared in all\n", total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(requantization),
                                       cmocka_unit_test(derivation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
