/* Functions of one code against tables of the targets' own code. */
#include "test/support/op_vectors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void run_unary(op_unit *b, int64_t first, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)(first + (int64_t)i);
    b->scheme->vt->unary(b->unit, out, n, out);
}

static void check_codes(const op_vectors *v, const char *key, const char *op, int bits,
                        int64_t flag, const char *scheme)
{
    const json_t *combos = json_object_get(json_object_get(v->about, "combos"), key);
    size_t k, count, wrong = 0;
    const json_t *c;
    const int64_t *expected = npz_i64(v->data, key, &count, NULL);
    json_array_foreach(combos, k, c)
    {
        op_unit b;
        int32_t out[256];
        bool relu6 = strcmp(key, "relu6") == 0;
        op_unit_describe(&b, op, bits, bits, c);
        if (relu6) { /* TFLM clamps with the input's parameters and keeps the codes */
            b.scale[2] = b.scale[0];
            b.zero[2] = b.zero[0];
        }
        b.spec.flag = flag;
        if (relu6 || strcmp(op, "relu") == 0)
            b.spec.act_lo = 0;
        if (relu6)
            b.spec.act_hi = 6;
        op_unit_prepare(&b, scheme);
        run_unary(&b, bits < 0 ? -128 : 0, 256, out);
        op_vectors_compare(v, key, out, expected + 256 * k, 256, &wrong);
        op_unit_release(&b);
    }
    op_vectors_verdict(v, key, scheme, 256 * k, wrong);
}

static void codes(void **state)
{
    (void)state;
    op_vectors v;
    static const char *const builds[][2] = {{"tflite-ops/unary_int8_double", "tflite"},
                                            {"tflite-ops/unary_int8_single", "tflite-single"}};
    static const char *const keys[][2] = {{"hard_swish", "hard_swish"},
                                          {"leaky_relu", "leaky_relu"},
                                          {"elu", "elu"},
                                          {"relu", "relu"},
                                          {"relu6", "clip"},
                                          {"requantize", "rescale"}};
    for (int i = 0; i < 2; i++)
        if (op_vectors_open(builds[i][0], &v)) {
            for (int k = 0; k < 6; k++)
                check_codes(&v, keys[k][0], keys[k][1], -8, 0, builds[i][1]);
            op_vectors_close(&v);
        }
    if (op_vectors_open("tflite-ops/float_lut", &v)) {
        check_codes(&v, "sigmoid_int8", "sigmoid", -8, 0, "litert-ref");
        check_codes(&v, "sigmoid_uint8", "sigmoid", 8, 0, "litert-ref");
        check_codes(&v, "tanh_int8", "tanh", -8, 0, "litert-ref");
        check_codes(&v, "tanh_uint8", "tanh", 8, 0, "litert-ref");
        check_codes(&v, "elu_int8", "elu", -8, 0, "litert-ref");
        check_codes(&v, "elu_uint8", "elu", 8, 0, "litert-ref");
        check_codes(&v, "gelu_int8", "gelu", -8, 0, "litert-ref");
        check_codes(&v, "gelu_uint8", "gelu", 8, 0, "litert-ref");
        check_codes(&v, "gelu_approx_int8", "gelu", -8, 1, "litert-ref");
        check_codes(&v, "gelu_approx_uint8", "gelu", 8, 1, "litert-ref");
        op_vectors_close(&v);
    }
}

/* Arrays named by the combos themselves. */
static void check_named(const op_vectors *v, const char *list, const char *prefix, const char *op,
                        int in_bits, int out_bits, int64_t flag, const char *scheme)
{
    size_t k, n = 0, wrong = 0, sum = 0;
    const json_t *c;
    int32_t *out = calloc(65536, sizeof *out);
    json_t *combos = json_object_get(v->about, list);
    if (json_is_object(combos))
        combos = json_object_get(combos, prefix);
    json_array_foreach(combos, k, c)
    {
        op_unit b;
        char name[64];
        snprintf(name, sizeof name, "%s", op_vectors_word(c, "array"));
        if (name[0] == '\0')
            snprintf(name, sizeof name, "%s_%zu", prefix, k);
        if (strncmp(name, prefix, strlen(prefix)) != 0)
            continue;
        const int64_t *expected = npz_i64(v->data, name, &n, NULL);
        op_unit_describe(&b, op, in_bits, out_bits, c);
        b.spec.flag = flag;
        if (strcmp(op, "sigmoid") == 0 || strcmp(op, "tanh") == 0)
            b.scale[2] = 1.0f / 32768.0f;
        op_unit_prepare(&b, scheme);
        if (npz_has(v->data, "x")) {
            const int64_t *x = npz_i64(v->data, "x", &n, NULL);
            for (size_t i = 0; i < n; i++)
                out[i] = (int32_t)x[i];
            b.scheme->vt->unary(b.unit, out, n, out);
        } else {
            run_unary(&b, in_bits == -16 ? -32768 : -128, n, out);
        }
        op_vectors_compare(v, name, out, expected, n, &wrong);
        sum += n;
        op_unit_release(&b);
    }
    op_vectors_verdict(v, prefix, scheme, sum, wrong);
    free(out);
}

static void named(void **state)
{
    (void)state;
    op_vectors v;
    if (op_vectors_open("xnnpack/vcvt_vlrelu_int8_exhaustive", &v)) {
        check_named(&v, "combos", "cvt", "rescale", -8, -8, 0, "xnnpack-qs8");
        op_vectors_close(&v);
    }
    if (op_vectors_open("tflite-ops/unary_int16", &v)) {
        check_named(&v, "combos", "leaky_relu", "leaky_relu", -16, -16, 0, "tflite-int16x8");
        check_named(&v, "combos", "quant16to8", "rescale", -16, -8, 0, "tflite-int16x8");
        check_named(&v, "combos", "quant16to16", "rescale", -16, -16, 0, "tflite-int16x8");
        op_vectors_close(&v);
    }
    if (op_vectors_open("tflite-ops/logistic_tanh_int16", &v)) {
        check_named(&v, "combos", "logistic", "sigmoid", -16, -16, 0, "tflite-int16x8");
        check_named(&v, "combos", "tanh", "tanh", -16, -16, 0, "tflite-int16x8");
        op_vectors_close(&v);
    }
}

/* XNNPACK's leaky relu, where its multipliers are valid. */
static void slopes(void **state)
{
    (void)state;
    op_vectors v;
    if (!op_vectors_open("xnnpack/vcvt_vlrelu_int8_exhaustive", &v))
        return;
    size_t k, n, wrong = 0, sum = 0;
    const json_t *c;
    json_array_foreach(json_object_get(v.about, "combos"), k, c)
    {
        op_unit b;
        int32_t out[256];
        char name[32];
        if (!json_is_true(json_object_get(json_object_get(c, "lrelu"), "valid")))
            continue;
        snprintf(name, sizeof name, "lrelu_%zu", k);
        op_unit_describe(&b, "leaky_relu", -8, -8, c);
        op_unit_prepare(&b, "xnnpack-qs8");
        run_unary(&b, -128, 256, out);
        op_vectors_compare(&v, name, out, npz_i64(v.data, name, &n, NULL), 256, &wrong);
        sum += 256;
        op_unit_release(&b);
    }
    op_vectors_verdict(&v, "leaky_relu", "xnnpack-qs8", sum, wrong);
    op_vectors_close(&v);
}

static void logistic8(void **state)
{
    (void)state;
    op_vectors v;
    for (int build = 0; build < 2; build++) {
        const char *scheme = build ? "tflite-single" : "tflite";
        if (!op_vectors_open(build ? "tflite-ops/logistic_tanh_int8_single"
                                   : "tflite-ops/logistic_tanh_int8_double",
                             &v))
            return;
        size_t n, count, wrong = 0;
        const double *scale = npz_f64(v.data, "in_scale", &n, NULL);
        const int64_t *zero = npz_i64(v.data, "in_zp", &n, NULL);
        for (size_t k = 0; k < 2 * n; k++) {
            op_unit b;
            int32_t out[256];
            bool tanh_op = k >= n;
            json_t *c =
                json_pack("{s:f,s:I}", "in_scale", scale[k % n], "in_zp", (json_int_t)zero[k % n]);
            op_unit_describe(&b, tanh_op ? "tanh" : "sigmoid", -8, -8, c);
            b.scale[2] = tanh_op ? 1.0f / 128.0f : 1.0f / 256.0f;
            b.zero[2] = tanh_op ? 0 : -128;
            op_unit_prepare(&b, scheme);
            run_unary(&b, -128, 256, out);
            op_vectors_compare(&v, b.spec.op, out,
                               npz_i64(v.data, tanh_op ? "tanh" : "logistic", &count, NULL) +
                                   256 * (k % n),
                               256, &wrong);
            op_unit_release(&b);
            json_decref(c);
        }
        op_vectors_verdict(&v, "sigmoid, tanh", scheme, 512 * n, wrong);
        op_vectors_close(&v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(codes), cmocka_unit_test(named),
                                       cmocka_unit_test(slopes), cmocka_unit_test(logistic8)};
    return cmocka_run_group_tests_name("vectors_codes", tests, NULL, NULL);
}
