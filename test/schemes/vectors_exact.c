/* Vectors of what has no rescale: Gemmini's polynomials; QONNX's Trunc, a shift with a rounding. */
#include "test/support/vectors.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/graph.h"
#include "graph/core/type.h"
#include "schemes/apply/apply.h"
#include "schemes/apply/fixedpoint.h"
#include "schemes/apply/ibert.h"
#include "schemes/rescale/single.h"
#include "test/support/scheme_unit.h"

/* ---- Gemmini: I-BERT's polynomials, with the parameters that a unit derives ---- */

static void ibert(void **state)
{
    static const float scales[] = {0.05f, 0.1f, 0.01f}; /* of the .json beside it */
    const char *file = "gemmini/iexp_igelu_int32";
    struct npz *z = vectors_open(file);
    assay_scheme *s = unit_open("gemmini");
    size_t n, total = 0;
    (void)state;
    for (int i = 0; i < 3; i++) {
        static const char *const ops[] = {"gelu", "softmax"};
        static const float steps[] = {1, 1.0f / 127}; /* i-bert's shares count 1/127 */
        const int32_t zero = 0;
        assay_type in = code_type(8, true, &scales[i], &zero);
        int64_t k[2][4];
        char name[32];
        for (int op = 0; op < (int)(sizeof ops / sizeof *ops); op++) {
            assay_type out = code_type(8, true, &steps[op], &zero);
            assay_unit_spec spec = unit_spec(ops[op], &in, 1, &out);
            assay_unit_param list[32];
            assay_unit *u;
            assay_error err;
            assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
            for (size_t p = s->vt->params(u, list, 32); p-- > 0;)
                if (strcmp(list[p].name, "constants") == 0)
                    memcpy(k[op], list[p].value, list[p].count * sizeof *k[op]);
            s->vt->release(u);
        }
        snprintf(name, sizeof name, "igelu_q_%d", i);
        const int64_t *q = vectors_ints(z, name, &n);
        snprintf(name, sizeof name, "igelu_out_%d", i);
        const int64_t *want = vectors_ints(z, name, &n);
        for (size_t j = 0; j < n; j++)
            assert_int_equal(apply_ibert_gelu((int32_t)q[j], (int32_t)k[0][0], (int32_t)k[0][1]),
                             want[j]);
        total += n;
        snprintf(name, sizeof name, "iexp_q_%d", i);
        q = vectors_ints(z, name, &n);
        snprintf(name, sizeof name, "iexp_out_%d", i);
        want = vectors_ints(z, name, &n);
        for (size_t j = 0; j < n; j++)
            assert_int_equal(apply_ibert_exp((int32_t)q[j], (int32_t)k[1][0], (int32_t)k[1][1],
                                             (int32_t)k[1][2], (int32_t)k[1][3]),
                             want[j]);
        total += n;
    }
    vectors_count(file, total);
    npz_close(z);
    assay_scheme_free(s);
}

/* ---- QONNX Trunc ---- */

/* A code x / scale + zp shifted right by log2(out scale / scale) under each rounding; the result is
 * the code minus the zero point at the new scale. */
static void qonnx_trunc(void **state)
{
    static const char *const modes[] = {"half-even", "ceil",      "floor",    "away",
                                        "trunc",     "half-away", "half-zero"};
    const char *file = "qonnx/trunc_v2";
    struct npz *z = vectors_open(file);
    size_t n, tuples = 0;
    (void)state;
    const double *x = vectors_reals(z, "x", &n), *scale = vectors_reals(z, "scale", &n);
    const double *zp = vectors_reals(z, "zp", &n), *out = vectors_reals(z, "out_scale", &n);
    const double *want = vectors_reals(z, "result", &n);
    const int64_t *bits = vectors_ints(z, "out_bits", &n), *sign = vectors_ints(z, "signed", &n);
    const int64_t *narrow = vectors_ints(z, "narrow", &n);
    const int64_t *mode = vectors_ints(z, "rounding_mode", &n);
    for (int m = 0; m < 7; m++) {
        char text[300], why[200];
        snprintf(text, sizeof text,
                 "scheme: trunc\ntypes: {power_of_two_scales: yes, activation_zero_point: none}\n"
                 "rescale: {scale: power-of-two, encoding: shift, left_shift: product, "
                 "round: [%s], sum_bits: 0}\n",
                 modes[m]);
        assay_scheme *s = unit_open(text);
        for (size_t i = 0; i < n; i++) {
            if (mode[i] != m)
                continue;
            assay_single single;
            assay_error err;
            double step = exp2(rint(log2(out[i] / scale[i]))), real = 1 / step;
            int64_t lo = sign[i] ? -(INT64_C(1) << (bits[i] - 1)) + narrow[i] : 0;
            int64_t hi = (INT64_C(1) << (bits[i] - sign[i])) - 1 - (sign[i] ? 0 : narrow[i]);
            const assay_batch b = {
                .type = {ASSAY_KIND_INT, 16, true}, .scale = &real, .lo = &lo, .hi = &hi};
            int64_t code = (int64_t)rint((double)((float)x[i] / (float)scale[i]) + zp[i]);
            assert_ok(assay_single_start(&single, s, NULL, false, &err), &err);
            assert_true(assay_single_set(&single, &b, 0, why, sizeof why));
            double got = (apply_rescale_one(&single.r, code, 0) - zp[i] / step) * out[i];
            if ((float)got != (float)want[i])
                fail_msg("row %zu: %.9g by %s: %.9g, QONNX %.9g", i, x[i], modes[m], got, want[i]);
            tuples++;
        }
        assay_scheme_free(s);
    }
    vectors_count(file, tuples);
    npz_close(z);
}

size_t vectors_exact_tests(struct CMUnitTest *out)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ibert),
        cmocka_unit_test(qonnx_trunc),
    };
    memcpy(out, tests, sizeof tests);
    return sizeof tests / sizeof *tests;
}
