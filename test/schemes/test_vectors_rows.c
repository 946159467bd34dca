/* Rows (softmax, log softmax, L2 norm) and conversions of floats against what the targets' own code
 * gave. */
#include "test/support/op_vectors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static void check_rows(const op_vectors *v, op_unit *b, const char *in, const char *out_name,
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
        op_vectors_compare(v, out_name, row + width, expected + r * width, width, wrong);
    }
    *sum += n;
    free(row);
}

static void softmax(void **state)
{
    (void)state;
    op_vectors v;
    for (int build = 0; build < 2; build++) {
        if (!op_vectors_open(build ? "tflite-ops/softmax_single" : "tflite-ops/softmax_double", &v))
            return;
        size_t k, sum = 0, wrong = 0;
        const json_t *c;
        json_array_foreach(json_object_get(v.about, "cases"), k, c)
        {
            bool wide = strcmp(op_vectors_word(c, "kind"), "int16") == 0;
            for (int to16 = 0; to16 < (wide ? 1 : 2); to16++) {
                op_unit b;
                char in[32], out[32];
                int index = (int)op_vectors_number(c, "index", 0);
                snprintf(in, sizeof in, wide ? "in16_%d" : "in8_%d", index);
                snprintf(out, sizeof out,
                         wide   ? "out16_%d"
                         : to16 ? "out8to16_%d"
                                : "out8_%d",
                         index);
                op_unit_describe(&b, "softmax", wide ? -16 : -8, wide || to16 ? -16 : -8, c);
                b.scale[2] = wide ? 1.0f / 32768.0f : to16 ? 1.0f / 65536.0f : 1.0f / 256.0f;
                b.zero[2] = wide ? 0 : to16 ? -32768 : -128;
                op_unit_prepare(&b, build ? "tflite-single" : "tflite");
                check_rows(&v, &b, in, out, &sum, &wrong);
                op_unit_release(&b);
            }
        }
        op_vectors_verdict(&v, "softmax", build ? "tflite-single" : "tflite", sum, wrong);
        op_vectors_close(&v);
    }
}

static void other_rows(const char *file, const char *op, float scale, int32_t zero)
{
    op_vectors v;
    size_t k, sum = 0, wrong = 0;
    const json_t *c;
    if (!op_vectors_open(file, &v))
        return;
    json_array_foreach(json_object_get(v.about, "cases"), k, c)
    {
        op_unit b;
        char in[32], out[32];
        snprintf(in, sizeof in, "in_%zu", k);
        snprintf(out, sizeof out, "out_%zu", k);
        op_unit_describe(&b, op, -8, -8, c);
        b.scale[2] = scale;
        b.zero[2] = zero;
        op_unit_prepare(&b, "tflite");
        check_rows(&v, &b, in, out, &sum, &wrong);
        op_unit_release(&b);
    }
    op_vectors_verdict(&v, op, "tflite", sum, wrong);
    op_vectors_close(&v);
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
    op_vectors v;
    if (!op_vectors_open("tflite-ops/quantize_dequantize", &v))
        return;
    size_t k, n, sum = 0, wrong = 0;
    const json_t *c;
    json_array_foreach(json_object_get(v.about, "combos"), k, c)
    {
        const char *name = op_vectors_word(c, "array");
        bool back = name[0] == 'd';
        op_unit b;
        char x_name[32];
        snprintf(x_name, sizeof x_name, "x_%s", strrchr(name, '_') + 1);
        op_unit_describe(&b, back ? "dequantize" : "quantize", -8, strstr(name, "int16") ? -16 : -8,
                         c);
        b.scale[0] = b.scale[2] = (float)op_vectors_number(c, "scale", 1);
        b.zero[0] = b.zero[2] = (int32_t)op_vectors_number(c, "zp", 0);
        op_unit_prepare(&b, "tflite");
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
        op_unit_release(&b);
    }
    op_vectors_verdict(&v, "quantize, dequantize", "tflite", sum, wrong);
    op_vectors_close(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(softmax), cmocka_unit_test(log_softmax),
                                       cmocka_unit_test(l2_norm), cmocka_unit_test(convert)};
    return cmocka_run_group_tests_name("vectors_rows", tests, NULL, NULL);
}
