/* Conformance of whole operators: units of the presets against tables made by the targets' own
 * code (../shared/vectors), most of them exhaustive. Prints the tuples compared. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "npz.h"
#include "scheme_unit.h"

static size_t total;

typedef struct vectors {
    const char *file;
    struct npz *data;
    json_t *about;
} vectors;

/* False, with a line, when the file is not there. */
static bool open_vectors(const char *file, vectors *v)
{
    char relative[200], path[600];
    v->file = file;
    snprintf(relative, sizeof relative, "%s.npz", file);
    if (!npz_vectors_path(relative, 1, path, sizeof path)) {
        printf("# SKIP %s: no such vectors here\n", file);
        return false;
    }
    v->data = npz_open(path);
    memcpy(path + strlen(path) - 3, "json", 5);
    v->about = json_load_file(path, 0, NULL);
    assert_non_null(v->data);
    assert_non_null(v->about);
    return true;
}

static void close_vectors(vectors *v)
{
    npz_close(v->data);
    json_decref(v->about);
}

static double number(const json_t *o, const char *key, double otherwise)
{
    const json_t *j = json_object_get(o, key);
    return j != NULL ? json_number_value(j) : otherwise;
}

static const char *word(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));
    return s != NULL ? s : "";
}

/* One unit and what it is prepared from. */
typedef struct bench_unit {
    float scale[3]; /* first input, second input, output */
    int32_t zero[3];
    assay_type type[3];
    assay_unit_spec spec;
    assay_scheme *scheme;
    assay_unit *unit;
} bench_unit;

/* bits < 0: signed. */
static void describe(bench_unit *b, const char *op, int in_bits, int out_bits, const json_t *c)
{
    memset(b, 0, sizeof *b);
    double in = number(c, "in_scale", 1);
    b->scale[0] = (float)number(c, "a_scale", in);
    b->scale[1] = (float)number(c, "b_scale", in);
    b->scale[2] = (float)number(c, "out_scale", 1);
    b->zero[0] = (int32_t)number(c, "a_zp", number(c, "in_zp", 0));
    b->zero[1] = (int32_t)number(c, "b_zp", 0);
    b->zero[2] = (int32_t)number(c, "out_zp", 0);
    for (int i = 0; i < 3; i++) {
        int bits = i < 2 ? in_bits : out_bits;
        b->type[i] = code_type((unsigned)abs(bits), bits < 0, &b->scale[i], &b->zero[i]);
    }
    b->spec = unit_spec(op, b->type, 2, &b->type[2]);
    b->spec.alpha = number(c, "alpha", number(c, "negative_slope", 1));
    b->spec.beta = number(c, "beta", 1);
    const char *act = word(c, "activation");
    if (strncmp(act, "RELU", 4) == 0)
        b->spec.act_lo = strcmp(act, "RELU_N1_TO_1") == 0 ? -1 : 0;
    if (strcmp(act, "RELU6") == 0)
        b->spec.act_hi = 6;
    if (strcmp(act, "RELU_N1_TO_1") == 0)
        b->spec.act_hi = 1;
}

static void prepare(bench_unit *b, const char *scheme)
{
    assay_error err = {0};
    assert_ok(assay_scheme_open(scheme, &b->scheme, &err), &err);
    assert_ok(b->scheme->vt->prepare(b->scheme, &b->spec, &b->unit, &err), &err);
}

static void release(bench_unit *b)
{
    b->scheme->vt->release(b->unit);
    assay_scheme_free(b->scheme);
}

/* Compares and counts; *wrong is increased by mismatches. */
static void compare(const vectors *v, const char *what, const int32_t *got, const int64_t *expected,
                    size_t n, size_t *wrong)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != expected[i] && (*wrong)++ == 0)
            printf("# %s %s: element %zu is %d, expected %lld\n", v->file, what, i, got[i],
                   (long long)expected[i]);
    total += n;
}

static void verdict(const vectors *v, const char *what, const char *scheme, size_t n, size_t wrong)
{
    printf("# %-40s %-20s %-16s %8zu tuples, %zu mismatches\n", v->file, what, scheme, n, wrong);
    assert_int_equal(wrong, 0);
}

/* ---- two codes in, every pair ---- */

/* Runs op over all 256 x 256 pairs; out is [a][b]. no_zero: b at its zero point takes the code
 * beside it, as the vectors' harness did for DIV. */
static void run_pairs(bench_unit *b, bool no_zero, int32_t *out)
{
    int lo = b->type[0].elem.is_signed ? -128 : 0;
    for (int i = 0; i < 256; i++) {
        int32_t x[256], y[256];
        for (int j = 0; j < 256; j++) {
            x[j] = lo + i;
            y[j] = lo + j;
            if (no_zero && y[j] == b->zero[1])
                y[j] += y[j] == 127 ? -1 : 1;
        }
        b->scheme->vt->binary(b->unit, x, y, 256, out + 256 * i);
    }
}

/* `array` holds all combos, or, when it has a '%', one combo each. */
static void check_pairs(const vectors *v, const json_t *combos, const char *op, const char *array,
                        int bits, const char *scheme)
{
    int32_t *out = calloc(65536, sizeof *out);
    size_t wrong = 0, n = json_array_size(combos);
    for (size_t k = 0; k < n; k++) {
        bench_unit b;
        json_t *c = json_array_get(combos, k);
        char name[64];
        size_t count;
        bool each = strchr(array, '#') != NULL;
        snprintf(name, sizeof name, each ? "%.*s%zu" : "%.*s", (int)strcspn(array, "#"), array, k);
        const int64_t *expected = npz_i64(v->data, name, &count, NULL);
        describe(&b, op, bits, bits, c);
        if (strcmp(op, "div") == 0) /* run without the activation, the header says */
            b.spec.act_lo = -INFINITY;
        if (number(c, "a_output_scale", 0) > 0) {
            b.scale[0] = (float)number(c, "a_output_scale", 0);
            b.scale[1] = (float)number(c, "b_output_scale", 0);
        }
        prepare(&b, scheme);
        run_pairs(&b, strcmp(op, "div") == 0, out);
        compare(v, op, out, expected + (each ? 0 : 65536 * k), 65536, &wrong);
        release(&b);
    }
    verdict(v, op, scheme, 65536 * n, wrong);
    free(out);
}

static void pairs(void **state)
{
    (void)state;
    vectors v;
    static const char *const builds[][2] = {
        {"tflite-ops/binary_int8_exhaustive_double", "tflite"},
        {"tflite-ops/binary_int8_exhaustive_single", "tflite-single"}};
    for (int i = 0; i < 2; i++)
        if (open_vectors(builds[i][0], &v)) {
            const json_t *combos = json_object_get(v.about, "combos");
            check_pairs(&v, combos, "add", "add", -8, builds[i][1]);
            check_pairs(&v, combos, "sub", "sub", -8, builds[i][1]);
            check_pairs(&v, combos, "mul", "mul", -8, builds[i][1]);
            close_vectors(&v);
        }
    if (open_vectors("tflite-ops/binary2_int8_exhaustive", &v)) {
        const json_t *combos = json_object_get(v.about, "combos");
        check_pairs(&v, json_object_get(combos, "squared_difference"), "squared_difference",
                    "squared_difference", -8, "tflite");
        check_pairs(&v, json_object_get(combos, "div"), "div", "div", -8, "tflite");
        close_vectors(&v);
    }
    if (open_vectors("xnnpack/vadd_vmul_int8_exhaustive", &v)) {
        const json_t *combos = json_object_get(v.about, "combos");
        check_pairs(&v, combos, "add", "add_#", -8, "xnnpack-qs8");
        check_pairs(&v, combos, "mul", "mul_#", -8, "xnnpack-qs8");
        close_vectors(&v);
    }
    if (open_vectors("qnnpack/add_uint8_exhaustive", &v)) {
        check_pairs(&v, json_object_get(v.about, "combos"), "add", "add_#", 8, "qnnpack");
        close_vectors(&v);
    }
}

static void pairs16(void **state)
{
    (void)state;
    vectors v;
    if (!open_vectors("tflite-ops/binary_int16", &v))
        return;
    size_t i, n, wrong = 0;
    const json_t *c;
    const int64_t *a = npz_i64(v.data, "a", &n, NULL), *b = npz_i64(v.data, "b", &n, NULL);
    int32_t *x = calloc(3 * n, sizeof *x);
    for (i = 0; i < n; i++) {
        x[i] = (int32_t)a[i];
        x[n + i] = (int32_t)b[i];
    }
    json_array_foreach(json_object_get(v.about, "combos"), i, c)
    {
        bench_unit u;
        char op[4] = "";
        memcpy(op, word(c, "array"), 3);
        describe(&u, op, -16, -16, c);
        prepare(&u, "tflite-int16x8");
        u.scheme->vt->binary(u.unit, x, x + n, n, x + 2 * n);
        compare(&v, word(c, "array"), x + 2 * n, npz_i64(v.data, word(c, "array"), &n, NULL), n,
                &wrong);
        release(&u);
    }
    verdict(&v, "add, sub, mul", "tflite-int16x8", i * n, wrong);
    free(x);
    close_vectors(&v);
}

/* ---- one code in ---- */

static void run_unary(bench_unit *b, int64_t first, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)(first + (int64_t)i);
    b->scheme->vt->unary(b->unit, out, n, out);
}

static void check_codes(const vectors *v, const char *key, const char *op, int bits, int64_t flag,
                        const char *scheme)
{
    const json_t *combos = json_object_get(json_object_get(v->about, "combos"), key);
    size_t k, count, wrong = 0;
    const json_t *c;
    const int64_t *expected = npz_i64(v->data, key, &count, NULL);
    json_array_foreach(combos, k, c)
    {
        bench_unit b;
        int32_t out[256];
        bool relu6 = strcmp(key, "relu6") == 0;
        describe(&b, op, bits, bits, c);
        if (relu6) { /* TFLM clamps with the input's parameters and keeps the codes */
            b.scale[2] = b.scale[0];
            b.zero[2] = b.zero[0];
        }
        b.spec.flag = flag;
        if (relu6 || strcmp(op, "relu") == 0)
            b.spec.act_lo = 0;
        if (relu6)
            b.spec.act_hi = 6;
        prepare(&b, scheme);
        run_unary(&b, bits < 0 ? -128 : 0, 256, out);
        compare(v, key, out, expected + 256 * k, 256, &wrong);
        release(&b);
    }
    verdict(v, key, scheme, 256 * k, wrong);
}

static void codes(void **state)
{
    (void)state;
    vectors v;
    static const char *const builds[][2] = {{"tflite-ops/unary_int8_double", "tflite"},
                                            {"tflite-ops/unary_int8_single", "tflite-single"}};
    static const char *const keys[][2] = {{"hard_swish", "hard_swish"},
                                          {"leaky_relu", "leaky_relu"},
                                          {"elu", "elu"},
                                          {"relu", "relu"},
                                          {"relu6", "clip"},
                                          {"requantize", "rescale"}};
    for (int i = 0; i < 2; i++)
        if (open_vectors(builds[i][0], &v)) {
            for (int k = 0; k < 6; k++)
                check_codes(&v, keys[k][0], keys[k][1], -8, 0, builds[i][1]);
            close_vectors(&v);
        }
    if (open_vectors("tflite-ops/float_lut", &v)) {
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
        close_vectors(&v);
    }
}

/* Arrays named by the combos themselves. */
static void check_named(const vectors *v, const char *list, const char *prefix, const char *op,
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
        bench_unit b;
        char name[64];
        snprintf(name, sizeof name, "%s", word(c, "array"));
        if (name[0] == '\0')
            snprintf(name, sizeof name, "%s_%zu", prefix, k);
        if (strncmp(name, prefix, strlen(prefix)) != 0)
            continue;
        const int64_t *expected = npz_i64(v->data, name, &n, NULL);
        describe(&b, op, in_bits, out_bits, c);
        b.spec.flag = flag;
        if (strcmp(op, "sigmoid") == 0 || strcmp(op, "tanh") == 0)
            b.scale[2] = 1.0f / 32768.0f;
        prepare(&b, scheme);
        if (npz_has(v->data, "x")) {
            const int64_t *x = npz_i64(v->data, "x", &n, NULL);
            for (size_t i = 0; i < n; i++)
                out[i] = (int32_t)x[i];
            b.scheme->vt->unary(b.unit, out, n, out);
        } else {
            run_unary(&b, in_bits == -16 ? -32768 : -128, n, out);
        }
        compare(v, name, out, expected, n, &wrong);
        sum += n;
        release(&b);
    }
    verdict(v, prefix, scheme, sum, wrong);
    free(out);
}

static void named(void **state)
{
    (void)state;
    vectors v;
    if (open_vectors("xnnpack/vcvt_vlrelu_int8_exhaustive", &v)) {
        check_named(&v, "combos", "cvt", "rescale", -8, -8, 0, "xnnpack-qs8");
        close_vectors(&v);
    }
    if (open_vectors("tflite-ops/unary_int16", &v)) {
        check_named(&v, "combos", "leaky_relu", "leaky_relu", -16, -16, 0, "tflite-int16x8");
        check_named(&v, "combos", "quant16to8", "rescale", -16, -8, 0, "tflite-int16x8");
        check_named(&v, "combos", "quant16to16", "rescale", -16, -16, 0, "tflite-int16x8");
        close_vectors(&v);
    }
    if (open_vectors("tflite-ops/logistic_tanh_int16", &v)) {
        check_named(&v, "combos", "logistic", "sigmoid", -16, -16, 0, "tflite-int16x8");
        check_named(&v, "combos", "tanh", "tanh", -16, -16, 0, "tflite-int16x8");
        close_vectors(&v);
    }
}

/* XNNPACK's leaky relu, where its multipliers are valid. */
static void slopes(void **state)
{
    (void)state;
    vectors v;
    if (!open_vectors("xnnpack/vcvt_vlrelu_int8_exhaustive", &v))
        return;
    size_t k, n, wrong = 0, sum = 0;
    const json_t *c;
    json_array_foreach(json_object_get(v.about, "combos"), k, c)
    {
        bench_unit b;
        int32_t out[256];
        char name[32];
        if (!json_is_true(json_object_get(json_object_get(c, "lrelu"), "valid")))
            continue;
        snprintf(name, sizeof name, "lrelu_%zu", k);
        describe(&b, "leaky_relu", -8, -8, c);
        prepare(&b, "xnnpack-qs8");
        run_unary(&b, -128, 256, out);
        compare(&v, name, out, npz_i64(v.data, name, &n, NULL), 256, &wrong);
        sum += 256;
        release(&b);
    }
    verdict(&v, "leaky_relu", "xnnpack-qs8", sum, wrong);
    close_vectors(&v);
}

static void logistic8(void **state)
{
    (void)state;
    vectors v;
    for (int build = 0; build < 2; build++) {
        const char *scheme = build ? "tflite-single" : "tflite";
        if (!open_vectors(build ? "tflite-ops/logistic_tanh_int8_single"
                                : "tflite-ops/logistic_tanh_int8_double",
                          &v))
            return;
        size_t n, count, wrong = 0;
        const double *scale = npz_f64(v.data, "in_scale", &n, NULL);
        const int64_t *zero = npz_i64(v.data, "in_zp", &n, NULL);
        for (size_t k = 0; k < 2 * n; k++) {
            bench_unit b;
            int32_t out[256];
            bool tanh_op = k >= n;
            json_t *c =
                json_pack("{s:f,s:I}", "in_scale", scale[k % n], "in_zp", (json_int_t)zero[k % n]);
            describe(&b, tanh_op ? "tanh" : "sigmoid", -8, -8, c);
            b.scale[2] = tanh_op ? 1.0f / 128.0f : 1.0f / 256.0f;
            b.zero[2] = tanh_op ? 0 : -128;
            prepare(&b, scheme);
            run_unary(&b, -128, 256, out);
            compare(&v, b.spec.op, out,
                    npz_i64(v.data, tanh_op ? "tanh" : "logistic", &count, NULL) + 256 * (k % n),
                    256, &wrong);
            release(&b);
            json_decref(c);
        }
        verdict(&v, "sigmoid, tanh", scheme, 512 * n, wrong);
        close_vectors(&v);
    }
}

/* ---- rows ---- */

static void check_rows(const vectors *v, bench_unit *b, const char *in, const char *out_name,
                       size_t *sum, size_t *wrong)
{
    size_t n;
    struct npz_shape shape;
    const int64_t *x = npz_i64(v->data, in, &n, &shape);
    const int64_t *expected = npz_i64(v->data, out_name, &n, NULL);
    size_t width = shape.dim[shape.ndim - 1];
    int32_t *row = calloc(2 * width, sizeof *row);
    for (size_t r = 0; r < n / width; r++) {
        for (size_t i = 0; i < width; i++)
            row[i] = (int32_t)x[r * width + i];
        b->scheme->vt->row(b->unit, row, width, row + width);
        compare(v, out_name, row + width, expected + r * width, width, wrong);
    }
    *sum += n;
    free(row);
}

static void softmax(void **state)
{
    (void)state;
    vectors v;
    for (int build = 0; build < 2; build++) {
        if (!open_vectors(build ? "tflite-ops/softmax_single" : "tflite-ops/softmax_double", &v))
            return;
        size_t k, sum = 0, wrong = 0;
        const json_t *c;
        json_array_foreach(json_object_get(v.about, "cases"), k, c)
        {
            bool wide = strcmp(word(c, "kind"), "int16") == 0;
            for (int to16 = 0; to16 < (wide ? 1 : 2); to16++) {
                bench_unit b;
                char in[32], out[32];
                int index = (int)number(c, "index", 0);
                snprintf(in, sizeof in, wide ? "in16_%d" : "in8_%d", index);
                snprintf(out, sizeof out,
                         wide   ? "out16_%d"
                         : to16 ? "out8to16_%d"
                                : "out8_%d",
                         index);
                describe(&b, "softmax", wide ? -16 : -8, wide || to16 ? -16 : -8, c);
                b.scale[2] = wide ? 1.0f / 32768.0f : to16 ? 1.0f / 65536.0f : 1.0f / 256.0f;
                b.zero[2] = wide ? 0 : to16 ? -32768 : -128;
                prepare(&b, build ? "tflite-single" : "tflite");
                check_rows(&v, &b, in, out, &sum, &wrong);
                release(&b);
            }
        }
        verdict(&v, "softmax", build ? "tflite-single" : "tflite", sum, wrong);
        close_vectors(&v);
    }
}

static void other_rows(const char *file, const char *op, float scale, int32_t zero)
{
    vectors v;
    size_t k, sum = 0, wrong = 0;
    const json_t *c;
    if (!open_vectors(file, &v))
        return;
    json_array_foreach(json_object_get(v.about, "cases"), k, c)
    {
        bench_unit b;
        char in[32], out[32];
        snprintf(in, sizeof in, "in_%zu", k);
        snprintf(out, sizeof out, "out_%zu", k);
        describe(&b, op, -8, -8, c);
        b.scale[2] = scale;
        b.zero[2] = zero;
        prepare(&b, "tflite");
        check_rows(&v, &b, in, out, &sum, &wrong);
        release(&b);
    }
    verdict(&v, op, "tflite", sum, wrong);
    close_vectors(&v);
}

static void log_softmax(void **state)
{
    (void)state;
    other_rows("tflite-ops/log_softmax_int8", "log_softmax", 16.0f / 256.0f, 127);
}

static void l2_norm(void **state)
{
    (void)state;
    other_rows("tflite-ops/l2_normalization_int8", "l2_norm", 1.0f / 128.0f, 0);
}

/* ---- float edges ---- */

static void convert(void **state)
{
    (void)state;
    vectors v;
    if (!open_vectors("tflite-ops/quantize_dequantize", &v))
        return;
    size_t k, n, sum = 0, wrong = 0;
    const json_t *c;
    json_array_foreach(json_object_get(v.about, "combos"), k, c)
    {
        const char *name = word(c, "array");
        bool back = name[0] == 'd';
        bench_unit b;
        char x_name[32];
        snprintf(x_name, sizeof x_name, "x_%s", strrchr(name, '_') + 1);
        describe(&b, back ? "dequantize" : "quantize", -8, strstr(name, "int16") ? -16 : -8, c);
        b.scale[0] = b.scale[2] = (float)number(c, "scale", 1);
        b.zero[0] = b.zero[2] = (int32_t)number(c, "zp", 0);
        prepare(&b, "tflite");
        if (back) {
            const double *expected = npz_f64(v.data, name, &n, NULL);
            for (size_t i = 0; i < n; i++) {
                uint32_t bits, exact;
                float f = (float)expected[i];
                int32_t q = (int32_t)i - 128;
                b.scheme->vt->dequantize(b.unit, &q, 1, 0, &bits);
                memcpy(&exact, &f, sizeof exact);
                wrong += bits != exact;
            }
        } else {
            const double *x = npz_f64(v.data, x_name, &n, NULL);
            const int64_t *expected = npz_i64(v.data, name, &n, NULL);
            for (size_t i = 0; i < n; i++) {
                float f = (float)x[i];
                uint32_t bits;
                int32_t q;
                memcpy(&bits, &f, sizeof bits);
                b.scheme->vt->quantize(b.unit, &bits, 1, 0, &q);
                if (!isnan(f) && fabs((double)f / (double)b.scale[2]) < 2147483000.0)
                    wrong += q != expected[i];
            }
        }
        sum += n;
        total += n;
        release(&b);
    }
    verdict(&v, "quantize, dequantize", "tflite", sum, wrong);
    close_vectors(&v);
    printf("# %zu tuples compared in all\n", total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs),   cmocka_unit_test(pairs16),     cmocka_unit_test(codes),
        cmocka_unit_test(named),   cmocka_unit_test(slopes),      cmocka_unit_test(logistic8),
        cmocka_unit_test(softmax), cmocka_unit_test(log_softmax), cmocka_unit_test(l2_norm),
        cmocka_unit_test(convert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
