/* The computed counterexamples of schemes/SOURCES.md in single rescales, one by one: where targets
 * that are taken to agree do not. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/rescale/batch.h"
#include "test/support/scheme_unit.h"

/* ---- 9.1: one accumulator, one scale ---- */

#define X 999 /* the target cannot express the case */

/* Columns: D, S, 2HU, Q15R, F, RN16, P, Z64, Z32, GlJ, GlI, Gem, NV, DPU, VTA. */
static const struct column {
    const char *name, *scheme;
    bool wide, middle, no_zero, pow2; /* middle: uint8 around 128 */
} columns[15] = {
    {"D", "tflite"},
    {"S", "tflite-single"},
    {"2HU", "scheme: neon\nextends: tflite\nrescale: {round: [31 half-up, half-up]}\n"},
    {"Q15R", "tflite", .wide = true},
    {"F", "xnnpack-qs8"},
    {"RN16", "xnnpack-qu8-rndnu16", .middle = true},
    {"P", "scheme: precise\nextends: qnnpack\nrescale: {multiplier_bits: 24, shift_min: 16, "
          "shift_max: 56, round: [half-away]}\n"},
    {"Z64", "onnx-ref"},
    {"Z32", "onednn-ref"},
    {"GlJ", "glow-cpu"},
    {"GlI", "glow-interp"},
    {"Gem", "gemmini", .no_zero = true},
    {"NV", "nvdla", .no_zero = true},
    {"DPU", "vitis-dpu", .no_zero = true, .pow2 = true},
    {"VTA", "vta", .no_zero = true, .pow2 = true},
};

static const struct single {
    int64_t acc;
    float real;
    int zero, want[15];
} singles[] = {
    {1, 0.5f, 0, {1, 1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1, 0}},         /* tie +.5 */
    {-1, 0.5f, 0, {0, 0, 0, 0, 0, 0, -1, 0, 0, 0, -1, 0, -1, 0, -1}},    /* tie -.5, D shift 0 */
    {-2, 0.25f, 0, {-1, 0, 0, 0, 0, 0, -1, 0, 0, 0, -1, 0, -1, 0, -1}},  /* tie -.5, D shift -1 */
    {1, 0.25f, 0, {1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}},        /* .25: double rounding */
    {-1, 0.25f, 0, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1}},      /* -.25 */
    {1, 0.300000012f, 0, {1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, X, X}}, /* .3: double rounding */
    {-1, 0.300000012f, 0, {-1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, X, X}},         /* -.3 */
    {-6, 0.25f, 0, {-2, -1, -1, -1, -2, -1, -2, -2, -2, -1, -2, -2, -2, -1, -2}},  /* -1.5 */
    {10, 0.25f, 0, {3, 3, 3, 3, 2, 3, 3, 2, 2, 3, 3, 2, 3, 3, 2}},                 /* 2.5 */
    {-10, 0.25f, 0, {-3, -2, -2, -2, -2, -2, -3, -2, -2, -2, -3, -2, -3, -2, -3}}, /* -2.5 */
    {14, 0.25f, 0, {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3}},                 /* 3.5 */
    {2, 0.25f, 1, {2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, X, X, X, X}},                  /* .5, zp odd */
    {6, 0.25f, 1, {3, 3, 3, 3, 3, 3, 3, 2, 2, 3, 3, X, X, X, X}},                  /* 1.5, zp odd */
    {-2, 0.25f, 1, {0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, X, X, X, X}},                 /* -.5, zp odd */
    {-6, 0.25f, -3, {-5, -4, -4, -4, -5, -4, -5, -4, -4, -4, -5, X, X, X, X}}, /* -1.5, zp odd */
    {5,
     0.100000001f,
     0,
     {1, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 0, X, X}}, /* f32 product makes a tie */
    {15,
     0.300000012f,
     0,
     {5, 5, 5, 5, 4, 5, 5, 5, 4, 4, 5, 4, 4, X, X}}, /* f32 product makes a tie */
    {-15, 0.300000012f, 0, {-5, -5, -4, -5, -4, -4, -5, -5, -4, -4, -5, -4, -4, X, X}}, /*  */
    {135, 0.0037f, 0, {1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, X, X}},                   /* .4995 */
    {128, 0.0116999997f, 0, {2, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, X, X}},             /* 1.4976 */
    {5000,
     0.0037f,
     0,
     {19, 19, 19, 19, 18, 19, 19, 19, 18, 19, 19, 18, 18, X, X}}, /* 18.50000001 */
    {5000,
     0.0116999997f,
     1,
     {60, 59, 60, 60, 59, 59, 59, 59, 60, 59, 60, X, X, X, X}}, /* 58.4999998 */
    {6028,
     0.00406430103f,
     0,
     {25, 24, 25, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, X, X}}, /* 24.4996 */
    {-6028,
     0.00406430103f,
     0,
     {-25, -24, -24, -24, -24, -24, -24, -24, -24, -24, -24, -24, -24, X, X}}, /* -24.4996 */
    {12345,
     0.00406430103f,
     -5,
     {45, 45, 45, 45, 45, 45, 45, 45, 45, 45, 45, X, X, X, X}}, /* 50.17 */
    {33816577,
     1.90734863e-06f,
     0,
     {65, 65, 65, 65, 64, 65, 65, 65, 64, 65, 65, 64, 65, 65, 64}}, /* 64.5+eps, acc>2^24 */
    {-33816577,
     1.90734863e-06f,
     0,
     {-65, -65, -64, -65, -64, -64, -65, -65, -64, -65, -65, -64, -65, -65, -65}}, /* -64.5-eps */
    {26000,
     0.0037f,
     0,
     {96, 96, 96, 96, 96, 97, 96, 96, 96, 96, 96, 96, 96, X, X}}, /* 96.2, coarse multipliers */
    {1090,
     0.100000001f,
     0,
     {109, 109, 109, 109, 109, 109, 109, 109, 109, 109, 109, 109, 109, X, X}}, /* 109.0 */
    {300,
     0.5f,
     0,
     {127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, -106}}, /* saturation */
    {-1000,
     0.5f,
     0,
     {-128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128, -128,
      12}}, /* saturation / wrap */
    {1073741824,
     4.0f,
     0,
     {0, 0, 0, 0, 127, 127, 127, 127, 127, 0, 127, 127, 127, 127, X}}, /* left-shift overflow */
    {268435456,
     4.0f,
     0,
     {-128, 127, -128, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127,
      X}}, /* left-shift overflow */
};

static int64_t code_of(const struct column *c, const struct single *row)
{
    assay_error err;
    assay_scheme *s = unit_open(c->scheme);
    const double scale = (double)row->real;
    const int64_t zero = row->zero + (c->middle ? 128 : 0);
    const assay_batch b = {.n = 1,
                           .wide = c->wide,
                           .type = {ASSAY_KIND_INT, 8, !c->middle},
                           .acc = &row->acc,
                           .scale = &scale,
                           .zero_point = &zero};
    int64_t out;
    assert_ok(assay_scheme_batch_apply(s, &b, &out, NULL, &err), &err);
    assay_scheme_free(s);
    return out - (c->middle ? 128 : 0);
}

static void one_scale(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++)
        for (size_t k = 0; k < 15; k++) {
            int want = singles[i].want[k];
            if (want != X && code_of(&columns[k], &singles[i]) != want)
                fail_msg("acc %lld, R %.9g, zero point %d: %s gives %lld, expected %d",
                         (long long)singles[i].acc, (double)singles[i].real, singles[i].zero,
                         columns[k].name, (long long)code_of(&columns[k], &singles[i]), want);
        }
}

/* ---- 9.2: R of three scales ---- */

static int32_t of_three(const char *scheme, const char *op, const float scale[3], int64_t acc)
{
    const int32_t zero = 0;
    assay_error err;
    assay_scheme *s = unit_open(scheme);
    assay_type in[2] = {code_type(8, true, &scale[0], &zero), code_type(8, true, &scale[1], &zero)};
    assay_type out = code_type(8, true, &scale[2], &zero);
    assay_unit_spec spec = unit_spec(op, in, 2, &out);
    assay_unit *u;
    int32_t code;
    assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
    s->vt->requantize(u, &acc, 1, 0, &code);
    s->vt->release(u);
    assay_scheme_free(s);
    return code;
}

static void three_scales(void **state)
{
    (void)state;
    static const struct {
        const char *scheme, *op;
    } how[] = {{"tflite", "conv"},      {"tflite-single", "conv"}, {"tflite", "fc"},
               {"tflite-single", "fc"}, {"qnnpack", "conv"},       {"xnnpack-qu8-arm", "conv"},
               {"xnnpack-qs8", "conv"}, {"onnx-ref", "conv"},      {"onednn-ref", "conv"}};
    static const struct {
        float scale[3];
        int64_t acc;
        int want[9];
    } rows[] = {
        {{0.462199986f, 0.0961999968f, 0.978200018f}, 11, {1, 0, 1, 1, 1, 1, 0, 1, 0}},
        {{0.172499999f, 0.0562499985f, 0.023f}, 32, {14, 13, 14, 13, 14, 14, 14, 14, 14}},
        {{0.54400003f, 0.00749999983f, 0.0192000009f}, 40, {9, 8, 9, 9, 9, 9, 8, 9, 8}},
        {{0.287900001f, 0.0319299996f, 0.26789999f}, 102, {4, 4, 4, 3, 4, 3, 3, 3, 4}},
        {{0.409000009f, 0.0872799978f, 0.0895000026f},
         262,
         {105, 104, 105, 104, 105, 105, 104, 105, 105}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < 9; k++) {
            int32_t got = of_three(how[k].scheme, how[k].op, rows[i].scale, rows[i].acc);
            if (got != rows[i].want[k])
                fail_msg("acc %lld: %s (%s) gives %d, expected %d", (long long)rows[i].acc,
                         how[k].scheme, how[k].op, got, rows[i].want[k]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_scale),
        cmocka_unit_test(three_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
