/* Real scales to the target's integers. */
#include "test/support/vectors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/calibrate/qparams.h"

typedef struct file {
    const char *path, *scheme;
    const char *real;
    const char *multiplier, *shift, *pre; /* columns; pre may be NULL */
    const char *valid;                    /* 0: not to be compared */
    const char *refused;                  /* nonzero: the target refuses, and so must we */
    int64_t beyond;       /* shifts beyond are outside the record (126 in all); 0: none is */
    int64_t shift_offset; /* what the column has more than we */
} file;

#define GEMMLOWP_POT                                                                               \
    "scheme: pot\nextends: gemmlowp\nrescale: {scale: f32, shift_max: 126, "                       \
    "shift_sign: right-of-multiplier}\n"
#define FBGEMM_16                                                                                  \
    "scheme: fbgemm-16\nextends: fbgemm-fixed\nrescale: {multiplier_bits: 15, shift_min: -16}\n"

static const file files[] = {
    {"tflite/derive_quantize_multiplier_double", "tflite", "real", "multiplier", "shift"},
    {"tflite/derive_quantize_multiplier_single", "tflite-single", "real", "multiplier", "shift"},
    {"tflite/derive_quantize_multiplier_double", "tflite", "real", "smaller_than_one_multiplier",
     "smaller_than_one_shift", .valid = "smaller_than_one_valid"},
    {"tflite/derive_quantize_multiplier_double", "tflite", "real", "greater_than_one_multiplier",
     "greater_than_one_shift", .valid = "greater_than_one_valid"},
    {"gemmlowp/derive_smaller_than_one", GEMMLOWP_POT, "real_f32", "multiplier", "right_shift",
     .beyond = 95},
    {"glow/derive_scale_offset_32to8", "glow-cpu", "real_f32", "int_scale", "post", "pre"},
    {"xnnpack/derive_conv", "xnnpack-qu8-arm", "scale_f32", "rndnu_multiplier", "rndnu_shift"},
    {"fbgemm/derive_requantization_multiplier", "fbgemm-fixed", "real_f32", "multiplier",
     "right_shift"},
    {"fbgemm/derive_requantization_multiplier", FBGEMM_16, "real_f32", "multiplier_prec16",
     "right_shift_prec16", .shift_offset = 16},
    {"tosa/derive_multiplier_shift", "tosa-single", "real", "multiplier32", "shift32",
     .valid = "valid32"},
    {"tosa/derive_multiplier_shift", "tosa-inexact-16", "real", "multiplier16", "shift16",
     .valid = "valid16"},
    {"nvdla/derive_scale_shift", "nvdla", "real_f32", "scale", "shift", .refused = "error"},
};

typedef struct result {
    int64_t *multiplier, *shift, *pre;
    uint8_t *error;
} result;

static void *zeros(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    assert_non_null(p);
    return p;
}

static void one_file(void **state)
{
    const file *f = *state;
    assay_error err;
    assay_scheme *s = unit_open(f->scheme);
    struct npz *z = vectors_open(f->path);
    size_t n, tuples = 0, wrong = 0;
    const double *real = vectors_reals(z, f->real, &n);
    const int64_t *multiplier = vectors_ints(z, f->multiplier, &n);
    const int64_t *shift = vectors_ints(z, f->shift, &n);
    const int64_t *pre = f->pre != NULL ? vectors_ints(z, f->pre, &n) : NULL;
    const int64_t *valid = f->valid != NULL ? vectors_ints(z, f->valid, &n) : NULL;
    const int64_t *refused = f->refused != NULL ? vectors_ints(z, f->refused, &n) : NULL;
    result r = {zeros(n, 8), zeros(n, 8), zeros(n, 8), zeros(n, 1)};
    assert_ok(assay_scheme_batch_derive(s, NULL, false, real, n, r.multiplier, r.shift, r.pre,
                                        r.error, &err),
              &err);
    for (size_t i = 0; i < n; i++) {
        if ((valid != NULL && !valid[i]) || (f->beyond > 0 && shift[i] > f->beyond))
            continue;
        bool refuse = refused != NULL && refused[i] != 0;
        bool same = refuse ||
                    (r.multiplier[i] == multiplier[i] && r.shift[i] + f->shift_offset == shift[i] &&
                     (pre == NULL || r.pre[i] == pre[i]));
        tuples++;
        if (r.error[i] == refuse && same)
            continue;
        if (wrong++ < 5)
            print_message(
                "# row %zu: %.17g gives (%lld, %lld, %lld)%s, the target (%lld, %lld)%s\n", i,
                real[i], (long long)r.multiplier[i], (long long)r.shift[i], (long long)r.pre[i],
                r.error[i] ? " refused" : "", (long long)multiplier[i], (long long)shift[i],
                refuse ? " refused" : "");
    }
    if (wrong > 0)
        fail_msg("%s: %zu of %zu rows differ", f->path, wrong, tuples);
    vectors_count(f->path, tuples);
    free(r.multiplier);
    free(r.shift);
    free(r.pre);
    free(r.error);
    npz_close(z);
    assay_scheme_free(s);
}

#define N_FILES (sizeof files / sizeof *files)

/* FBGEMM's choice of a scale and a zero point for a range, four ways a row. */
static void fbgemm_choose(void **state)
{
    static const struct {
        const char *name;
        bool is_signed;
        assay_symmetry symmetry;
        bool power_of_two;
    } ways[] = {{"u8", false, ASSAY_ASYMMETRIC, false},
                {"s8", true, ASSAY_ASYMMETRIC, false},
                {"s8_sparse", true, ASSAY_SYMMETRIC, false},
                {"u8_pow2", false, ASSAY_ASYMMETRIC, true}};
    const char *path = "fbgemm/choose_quantization_params";
    struct npz *z = vectors_open(path);
    size_t n;
    (void)state;
    const double *min = vectors_reals(z, "min", &n), *max = vectors_reals(z, "max", &n);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        char scale_name[32], zero_name[32];
        const assay_choice c = {.elem = {ASSAY_KIND_INT, 8, ways[k].is_signed},
                                .symmetry = ways[k].symmetry,
                                .power_of_two = ways[k].power_of_two,
                                .method = ASSAY_QPARAMS_FBGEMM};
        snprintf(scale_name, sizeof scale_name, "%s_scale", ways[k].name);
        snprintf(zero_name, sizeof zero_name, "%s_zp", ways[k].name);
        const double *scale = vectors_reals(z, scale_name, &n);
        const int64_t *zero = vectors_ints(z, zero_name, &n);
        for (size_t i = 0; i < n; i++) {
            assay_error err;
            float s;
            int32_t zp;
            assert_ok(calibrate_choose_qparams(&c, min[i], max[i], &s, &zp, &err), &err);
            if ((double)s != scale[i] || zp != zero[i])
                fail_msg("%s [%.9g, %.9g]: %.9g and %d, FBGEMM %.9g and %lld", ways[k].name, min[i],
                         max[i], (double)s, zp, scale[i], (long long)zero[i]);
        }
    }
    vectors_count(path, 4 * n);
    npz_close(z);
}

size_t vectors_derive_tests(struct CMUnitTest *out)
{
    static char names[N_FILES][96];
    for (size_t i = 0; i < N_FILES; i++) {
        snprintf(names[i], sizeof names[i], "%s, %s", files[i].path, files[i].multiplier);
        out[i] = (struct CMUnitTest){names[i], one_file, NULL, NULL, (void *)&files[i]};
    }
    out[N_FILES] = (struct CMUnitTest){"fbgemm_choose", fbgemm_choose, NULL, NULL, NULL};
    return N_FILES + 1;
}
