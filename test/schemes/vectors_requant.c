/* Accumulators to codes: each file of rescales through the scheme, once from real scales and once
 * from the target's own multipliers and shifts. */
#include "test/support/vectors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct file {
    const char *path;
    const char *scheme; /* preset, or text */
    const char *op;     /* whose overrides apply; NULL: conv */
    const char *scale;  /* columns; multiplier "": all 1 */
    const char *multiplier, *shift, *pre;
    const char *acc, *in_zero; /* where they are not called acc (value, x) and in_zp (offset) */
    const char *result;
    unsigned bits;
    bool is_signed;
    bool wide;     /* the record for wide codes */
    bool stage;    /* result is what the rescale alone gives: no zero point, no bounds */
    bool relu;     /* column "relu": the lower bound is the zero point */
    bool narrower; /* the scheme takes fewer scales than the file has, and says so */
} file;

#define INT(b)  .bits = b, .is_signed = true
#define UINT(b) .bits = b, .is_signed = false
#define REAL    .scale = "scale"
#define FIXED   .multiplier = "multiplier", .shift = "shift"
#define RESULT  .result = "result"
#define RAW     INT(32), .result = "raw", .stage = true

/* Variants that are no preset of their own: one line apart from one. */
#define FLOAT_FC                                                                                   \
    "scheme: fc-float\nextends: tflite\nrescale: {encoding: float64, round: [half-away]}\nwide: "  \
    "{rescale: {reduced_bits: 0}}\n"
#define BY_POT "scheme: by-pot\nextends: gemmlowp\nrescale: {shift_sign: right-of-multiplier}\n"
#define QNNPACK_FP32                                                                               \
    "scheme: qnnpack-fp32\nextends: qnnpack\nrescale: {encoding: float32, round: [half-even]}\n"
#define QNNPACK_PRECISE "scheme: qnnpack-precise\nextends: qnnpack\nrescale: {round: [half-away]}\n"
#define GEMMLOWP_INT                                                                               \
    "scheme: gemmlowp-int\nextends: gemmlowp\nrescale: {product_bits: 32, round: [half-away], "    \
    "left_shift: product, shift_sign: right}\n"

/* Converters of NVDLA that end in 32 bits. */
#define NVDLA_32 "scheme: nvdla-32\nextends: nvdla\nrescale: {result_bits: 32}\n"
#define GEMMINI_SHIFT                                                                              \
    "scheme: gemmini-shift\nextends: gemmini\nrescale: {encoding: multiplier, float_rounding: "    \
    "exact, round: [half-even], left_shift: product, shift_sign: right}\n"

static const file files[] = {
    {"tflite/requant_double_int8", "tflite", REAL, FIXED, RESULT, INT(8)},
    {"tflite/requant_double_uint8", "tflite", REAL, FIXED, RESULT, UINT(8)},
    {"tflite/requant_double_int16", "tflite", REAL, FIXED, RESULT, INT(16)},
    {"tflite/requant_single_int8", "tflite-single", REAL, FIXED, RESULT, INT(8)},
    {"tflite/requant_single_uint8", "tflite-single", REAL, FIXED, RESULT, UINT(8)},
    {"tflite/requant_single_int16", "tflite-single", REAL, FIXED, RESULT, INT(16)},
    {"tflite/requant_double_int8", "tflite", REAL, FIXED, RAW},
    {"tflite/requant_single_int8", "tflite-single", REAL, FIXED, RAW},
    {"tflite/requant_double_int16x8_acc64", "tflite", REAL, FIXED, RESULT, INT(16), .wide = true},
    {"tflite/requant_single_int16x8_acc64", "tflite-single", REAL, FIXED, RESULT, INT(16),
     .wide = true},
    {"tflite/requant_double_int16x8_acc64", "tflite-int16x8", REAL, FIXED, RESULT, INT(16),
     .wide = true},
    {"tflite/requant_floatscale_int8", FLOAT_FC, REAL, RESULT, INT(8)},
    {"tflite/requant_floatscale_int16", FLOAT_FC, REAL, RESULT, INT(16)},
    {"tflite/requant_single_int8", "ruy", REAL, FIXED, RESULT, INT(8), .narrower = true},
    {"cmsis-nn/requant_double_s8", "cmsis-nn", REAL, FIXED, RESULT, INT(8)},
    {"cmsis-nn/requant_double_s8", "cmsis-nn", REAL, FIXED, RAW},
    {"cmsis-nn/requant_single_s8", "cmsis-nn-single", REAL, FIXED, RESULT, INT(8)},
    {"cmsis-nn/requant_s16_acc64", "cmsis-nn", REAL, FIXED, RESULT, INT(16), .wide = true},
    {"cmsis-nn/requant_s16_acc64", "cmsis-nn-single", REAL, FIXED, RESULT, INT(16), .wide = true},
    {"glow/requant_int8", "glow-cpu", REAL, .multiplier = "int_scale", .shift = "post",
     .pre = "pre", RESULT, INT(8)},
    {"gemmlowp/requant_byexp_u8", "gemmlowp", REAL, FIXED, RESULT, UINT(8)},
    {"gemmlowp/requant_byexp_s8", "gemmlowp", REAL, FIXED, RESULT, INT(8)},
    {"gemmlowp/requant_byexp_s16", "gemmlowp", REAL, FIXED, RESULT, INT(16)},
    {"gemmlowp/requant_bypot_u8", BY_POT, FIXED, RESULT, UINT(8)},
    {"gemmlowp/requant_legacy_int_u8", GEMMLOWP_INT, .multiplier = "mult_int", .shift = "shift",
     RESULT, UINT(8)},
    {"xnnpack/requant_fp32_int8", "xnnpack-qs8", REAL, RESULT, INT(8)},
    {"xnnpack/requant_fp32_int8", "litert-xnnpack", REAL, RESULT, INT(8)},
    {"xnnpack/requant_fp32_uint8", "xnnpack-qs8", REAL, RESULT, UINT(8)},
    {"xnnpack/requant_fp32_int8", "onnxruntime", REAL, RESULT, INT(8)},
    {"xnnpack/requant_fp32_uint8", "onnxruntime", REAL, RESULT, UINT(8)},
    {"xnnpack/requant_fp32_uint8", "pytorch-qnnpack", REAL, RESULT, UINT(8)},
    {"xnnpack/requant_rndnu_uint8", "xnnpack-qu8-arm", REAL, FIXED, RESULT, UINT(8)},
    {"xnnpack/requant_rndnu_int8", "xnnpack-qu8-arm", REAL, FIXED, RESULT, INT(8)},
    {"xnnpack/requant_rndnu16_uint8", "xnnpack-qu8-rndnu16", REAL, RESULT, UINT(8)},
    {"qnnpack/requant_uint8", "qnnpack", REAL, .multiplier = "q31_multiplier", .shift = "q31_shift",
     .result = "result_q31", UINT(8)},
    {"qnnpack/requant_uint8", QNNPACK_FP32, REAL, .result = "result_fp32", UINT(8)},
    {"qnnpack/requant_uint8", QNNPACK_PRECISE, REAL, .multiplier = "q31_multiplier",
     .shift = "q31_shift", .result = "result_precise", UINT(8)},
    {"qnnpack/requant_uint8", "gemmlowp", REAL, .result = "result_gemmlowp", UINT(8)},
    {"qnnpack/requant_avgpool_uint8", "qnnpack", "avg_pool", REAL, FIXED, RESULT, UINT(8)},
    {"qnnpack/requant_uint8", "qnnpack", "avg_pool", REAL, .result = "result_precise", UINT(8)},
    {"xnnpack/requant_fp32_int8", "xnnpack-qs8", REAL, .result = "result_fmagic", INT(8)},
    {"xnnpack/requant_fp32_int8", "litert-xnnpack", REAL, .result = "result_imagic", INT(8)},
    {"fbgemm/requant_uint8", "fbgemm", REAL, .result = "result_float", UINT(8), .relu = true},
    {"fbgemm/requant_uint8", "fbgemm-avx2", REAL, .result = "result_float_avx2", UINT(8)},
    {"fbgemm/requant_uint8", "fbgemm-fixed", REAL, FIXED, .result = "result_fixed", UINT(8),
     .relu = true},
    {"fbgemm/requant_int8", "fbgemm", REAL, .result = "result_float", INT(8)},
    {"fbgemm/requant_int8", "fbgemm-fixed", REAL, FIXED, .result = "result_fixed", INT(8)},
    {"tosa/apply_scale_32_double_round", "tosa-double", FIXED, RESULT, INT(32)},
    {"tosa/apply_scale_32_single_round", "tosa-single", FIXED, RESULT, INT(32)},
    {"tosa/apply_scale_16", "tosa-inexact-16", FIXED, RESULT, INT(32)},
#define RESCALE(name, scheme, ...)                                                                 \
    {                                                                                              \
        "tosa/rescale_" name, scheme, FIXED, RESULT, __VA_ARGS__                                   \
    }
    RESCALE("int16_int16_s32_double", "tosa-double", INT(16)),
    RESCALE("int16_int16_s32_single", "tosa-single", INT(16)),
    RESCALE("int16_int16_u_s32_single", "tosa-single", UINT(16)),
    RESCALE("int16_int8_s32_double", "tosa-double", INT(8)),
    RESCALE("int16_int8_s32_single", "tosa-single", INT(8)),
    RESCALE("int16_u_int16_s32_single", "tosa-single", INT(16)),
    RESCALE("int32_int16_s32_double", "tosa-double", INT(16)),
    RESCALE("int32_int16_s32_single", "tosa-single", INT(16)),
    RESCALE("int32_int32_s32_double", "tosa-double", INT(32)),
    RESCALE("int32_int32_s32_single", "tosa-single", INT(32)),
    RESCALE("int32_int8_s16_single", "tosa-inexact-16", INT(8)),
    RESCALE("int32_int8_s32_double", "tosa-double", INT(8)),
    RESCALE("int32_int8_s32_single", "tosa-single", INT(8)),
    RESCALE("int48_int16_s16_single", "tosa-inexact-16", INT(16)),
    RESCALE("int48_int8_s16_single", "tosa-inexact-16", INT(8)),
    RESCALE("int8_int16_s32_double", "tosa-double", INT(16)),
    RESCALE("int8_int16_s32_single", "tosa-single", INT(16)),
    RESCALE("int8_int32_s32_double", "tosa-double", INT(32)),
    RESCALE("int8_int32_s32_single", "tosa-single", INT(32)),
    RESCALE("int8_int8_s32_double", "tosa-double", INT(8)),
    RESCALE("int8_int8_s32_single", "tosa-single", INT(8)),
    RESCALE("int8_int8_u_s32_double", "tosa-double", UINT(8)),
    RESCALE("int8_u_int8_s32_single", "tosa-single", INT(8)),
    {"gemmini/mvin_scale_int8", "gemmini", REAL, RESULT, INT(8)},
    {"gemmini/requant_acc_scale_int8", "gemmini", REAL, RESULT, INT(8), .relu = true},
    {"nvdla/sdp_output_cvt_int8", "nvdla", .multiplier = "cvt_scale", .shift = "cvt_shift", RESULT,
     INT(8)},
    {"nvdla/sdp_output_cvt_int16", "nvdla", .multiplier = "cvt_scale", .shift = "cvt_shift", RESULT,
     INT(16)},
    {"nvdla/cdma_input_cvt", "nvdla", .multiplier = "scale", .shift = "shift",
     .result = "result_int8", INT(8)},
    {"nvdla/cdma_input_cvt", "nvdla", .multiplier = "scale", .shift = "shift",
     .result = "result_int16", INT(16)},
    {"nvdla/cdp_cvt_int16", "nvdla", .acc = "icvt_x", .in_zero = "icvt_offset",
     .multiplier = "icvt_scale", .shift = "icvt_shift", .result = "icvt_result", INT(17)},
    {"nvdla/cdp_cvt_int16", "nvdla", .acc = "ocvt_x", .in_zero = "ocvt_offset",
     .multiplier = "ocvt_scale", .shift = "ocvt_shift", .result = "ocvt_result", INT(16)},
    {"nvdla/int_shift_right", "nvdla", .multiplier = "", .shift = "shift", .result = "to17",
     INT(17)},
    {"nvdla/int_shift_right", NVDLA_32, .multiplier = "", .shift = "shift", .result = "to32",
     INT(32)},
    {"nvdla/sdp_y_input_cvt_int", NVDLA_32, .multiplier = "scale", .shift = "shift", RESULT,
     INT(32)},
    {"nvdla/sdp_x_pipeline_int", NVDLA_32, .multiplier = "mul_operand", .shift = "mul_shift",
     RESULT, INT(32)},
    {"gemmini/rounding_macros", GEMMINI_SHIFT, .multiplier = "", .shift = "shift",
     .result = "rounding_right_shift", INT(32)},
    {"vta/alu_shift_int8", "vta", .multiplier = "", .shift = "shr_imm", RESULT, INT(8)},
};

/* The columns of a file as a batch of rows. */
typedef struct rows {
    assay_batch b;
    struct npz *z;
    const int64_t *want, *ok, *refused; /* ok: rows inside the target's contract */
    const int64_t *relu;
    int64_t *made[5], *out;
    bool *left_out; /* rows that do something else than rescale */
    uint8_t *error;
} rows;

static const int64_t *optional(struct npz *z, const char *name)
{
    size_t n;
    return npz_has(z, name) ? vectors_ints(z, name, &n) : NULL;
}

static int64_t *room(rows *r, int k)
{
    r->made[k] = calloc(r->b.n + 1, sizeof *r->made[k]);
    assert_non_null(r->made[k]);
    return r->made[k];
}

static const int64_t *ones(rows *r)
{
    int64_t *one = room(r, 2);
    for (size_t i = 0; i < r->b.n; i++)
        one[i] = 1;
    return one;
}

/* What differs between targets in how they name things. */
static void adapt(rows *r, const file *f)
{
    const int64_t *offset = optional(r->z, "offset");
    if (offset != NULL && strncmp(f->path, "nvdla/", 6) == 0) /* subtracted before the multiply */
        r->b.in_zero = offset;
    const int64_t *added = offset;
    if (strncmp(f->path, "vta/", 4) == 0) {
        added = optional(r->z, "add_imm");
        r->b.lo = optional(r->z, "min_clip");
        r->b.hi = optional(r->z, "max_clip");
    }
    if (added != NULL && r->b.in_zero == NULL) { /* added before it */
        int64_t *negated = room(r, 0);
        for (size_t i = 0; i < r->b.n; i++)
            negated[i] = -added[i];
        r->b.in_zero = negated;
    }
    if (f->relu) {
        int64_t *lo = room(r, 1);
        for (size_t i = 0; i < r->b.n; i++) {
            int64_t zero = r->b.zero_point != NULL ? r->b.zero_point[i] : 0;
            lo[i] = r->relu[i] ? zero : f->is_signed ? -(INT64_C(1) << (f->bits - 1)) : 0;
        }
        r->b.lo = lo;
    }
}

/* NVDLA's SDP X: an adder, a multiplier and a rounding shift, each of which may be bypassed. Rows
 * that take a minimum or a maximum, or that multiply negative values alone, are left out. */
static void adapt_sdp_x(rows *r)
{
    size_t n;
    const int64_t *operand = vectors_ints(r->z, "alu_operand", &n);
    const int64_t *alu_shift = vectors_ints(r->z, "alu_shift", &n);
    const int64_t *no_alu = vectors_ints(r->z, "alu_bypass", &n);
    const int64_t *algorithm = vectors_ints(r->z, "alu_algo", &n);
    const int64_t *factor = vectors_ints(r->z, "mul_operand", &n);
    const int64_t *no_factor = vectors_ints(r->z, "mul_bypass", &n);
    const int64_t *prelu = vectors_ints(r->z, "mul_prelu", &n);
    int64_t *in_zero = room(r, 0), *lo = room(r, 1), *multiplier = room(r, 3);
    r->left_out = calloc(n, sizeof *r->left_out);
    assert_non_null(r->left_out);
    for (size_t i = 0; i < n; i++) {
        double added = no_alu[i] ? 0 : ldexp((double)operand[i], (int)alu_shift[i]);
        in_zero[i] = -(int64_t)fmax(fmin(added, 2147483647.0), -2147483648.0);
        lo[i] = r->relu[i] ? 0 : INT32_MIN;
        multiplier[i] = no_factor[i] ? 1 : factor[i];
        r->left_out[i] = prelu[i] || (!no_alu[i] && algorithm[i] != 2);
    }
    r->b.in_zero = in_zero;
    r->b.lo = lo;
    r->b.multiplier = multiplier;
}

static rows load(const file *f)
{
    rows r = {.z = vectors_open(f->path)};
    size_t n;
    r.want = vectors_ints(r.z, f->result, &r.b.n);
    const char *acc = f->acc != NULL          ? f->acc
                      : npz_has(r.z, "value") ? "value"
                      : npz_has(r.z, "x")     ? "x"
                                              : "acc";
    r.b.acc = vectors_ints(r.z, acc, &n);
    r.b.op = f->op;
    r.b.wide = f->wide;
    r.b.type = (assay_elem){ASSAY_KIND_INT, (uint8_t)f->bits, f->is_signed};
    r.ok = optional(r.z, "contract_ok");
    r.refused = optional(r.z, "error");
    r.relu = optional(r.z, "relu");
    if (!f->stage) {
        r.b.zero_point = optional(r.z, npz_has(r.z, "zp") ? "zp" : "out_zp");
        r.b.in_zero = optional(r.z, f->in_zero != NULL ? f->in_zero : "in_zp");
        r.b.lo = optional(r.z, "qmin");
        r.b.hi = optional(r.z, "qmax");
        adapt(&r, f);
        if (npz_has(r.z, "alu_operand"))
            adapt_sdp_x(&r);
    }
    r.out = calloc(r.b.n, sizeof *r.out);
    r.error = calloc(r.b.n, 1);
    assert_true(r.out != NULL && r.error != NULL);
    return r;
}

static void unload(rows *r)
{
    for (int k = 0; k < 5; k++)
        free(r->made[k]);
    free(r->left_out);
    free(r->out);
    free(r->error);
    npz_close(r->z);
}

/* Rows that a column of the file takes out: out of contract, or for another path of the target. */
static bool counts(const rows *r, const file *f, size_t i)
{
    if ((r->ok != NULL && r->ok[i] == 0) || (r->left_out != NULL && r->left_out[i]))
        return false;
    return f->relu || r->left_out != NULL || r->relu == NULL || r->relu[i] == 0;
}

static size_t check(const rows *r, const file *f, const char *how)
{
    size_t tuples = 0, wrong = 0;
    for (size_t i = 0; i < r->b.n; i++) {
        if (!counts(r, f, i) || (f->narrower && r->error[i]))
            continue;
        bool refuse = r->refused != NULL && r->refused[i] != 0;
        tuples++;
        if (r->error[i] == refuse && (refuse || r->out[i] == r->want[i]))
            continue;
        if (wrong++ < 5)
            print_message("# %s %s row %zu: acc %lld gives %lld%s, the target %lld%s\n", f->path,
                          how, i, (long long)r->b.acc[i], (long long)r->out[i],
                          r->error[i] ? " (refused)" : "", (long long)r->want[i],
                          refuse ? " (refused)" : "");
    }
    if (wrong > 0)
        fail_msg("%s under %.32s %s: %zu of %zu rows differ", f->path, f->scheme, how, wrong,
                 tuples);
    return tuples;
}

static void one_file(void **state)
{
    const file *f = *state;
    assay_error err;
    assay_scheme *s = unit_open(f->scheme);
    rows r = load(f);
    size_t n, tuples = 0;
    if (f->scale != NULL) {
        r.b.scale = vectors_reals(r.z, f->scale, &n);
        assert_ok(assay_scheme_batch_apply(s, &r.b, r.out, r.error, &err), &err);
        tuples += check(&r, f, "by scale");
        r.b.scale = NULL;
    }
    if (f->multiplier != NULL) {
        if (r.b.multiplier == NULL)
            r.b.multiplier =
                *f->multiplier != '\0' ? vectors_ints(r.z, f->multiplier, &n) : ones(&r);
        r.b.shift = vectors_ints(r.z, f->shift, &n);
        r.b.pre = f->pre != NULL ? vectors_ints(r.z, f->pre, &n) : NULL;
        assert_ok(assay_scheme_batch_apply(s, &r.b, r.out, r.error, &err), &err);
        tuples += check(&r, f, "by multiplier");
    }
    vectors_count(f->path, tuples);
    unload(&r);
    assay_scheme_free(s);
}

#define N_FILES (sizeof files / sizeof *files)

size_t vectors_requant_tests(struct CMUnitTest *out)
{
    static char names[N_FILES][96];
    for (size_t i = 0; i < N_FILES; i++) {
        const char *scheme = files[i].scheme;
        bool text = strncmp(scheme, "scheme:", 7) == 0;
        snprintf(names[i], sizeof names[i], "%s under %.*s%s", files[i].path,
                 (int)strcspn(text ? scheme + 8 : scheme, "\n"), text ? scheme + 8 : scheme,
                 files[i].stage ? ", before the zero point" : "");
        out[i] = (struct CMUnitTest){names[i], one_file, NULL, NULL, (void *)&files[i]};
    }
    return N_FILES;
}
