/* Functions of two codes against tables of the targets' own code: every pair of 8 bits, and pairs
 * of 16 bits. */
#include "test/support/op_vectors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs op over all 256 x 256 pairs; out is [a][b]. no_zero: b at its zero point takes the code
 * beside it, as the vectors' harness did for DIV. */
static void run_pairs(op_unit *b, bool no_zero, int32_t *out)
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
static void check_pairs(const op_vectors *v, const json_t *combos, const char *op,
                        const char *array, int bits, const char *scheme)
{
    int32_t *out = calloc(65536, sizeof *out);
    size_t wrong = 0, n = json_array_size(combos);
    for (size_t k = 0; k < n; k++) {
        op_unit b;
        json_t *c = json_array_get(combos, k);
        char name[64];
        size_t count;
        bool each = strchr(array, '#') != NULL;
        snprintf(name, sizeof name, each ? "%.*s%zu" : "%.*s", (int)strcspn(array, "#"), array, k);
        const int64_t *expected = npz_i64(v->data, name, &count, NULL);
        op_unit_describe(&b, op, bits, bits, c);
        if (strcmp(op, "div") == 0) /* run without the activation, the header says */
            b.spec.act_lo = -INFINITY;
        if (op_vectors_number(c, "a_output_scale", 0) > 0) {
            b.scale[0] = (float)op_vectors_number(c, "a_output_scale", 0);
            b.scale[1] = (float)op_vectors_number(c, "b_output_scale", 0);
        }
        op_unit_prepare(&b, scheme);
        run_pairs(&b, strcmp(op, "div") == 0, out);
        op_vectors_compare(v, op, out, expected + (each ? 0 : 65536 * k), 65536, &wrong);
        op_unit_release(&b);
    }
    op_vectors_verdict(v, op, scheme, 65536 * n, wrong);
    free(out);
}

static void pairs(void **state)
{
    (void)state;
    op_vectors v;
    static const char *const builds[][2] = {
        {"tflite-ops/binary_int8_exhaustive_double", "tflite"},
        {"tflite-ops/binary_int8_exhaustive_single", "tflite-single"}};
    for (int i = 0; i < 2; i++)
        if (op_vectors_open(builds[i][0], &v)) {
            const json_t *combos = json_object_get(v.about, "combos");
            check_pairs(&v, combos, "add", "add", -8, builds[i][1]);
            check_pairs(&v, combos, "sub", "sub", -8, builds[i][1]);
            check_pairs(&v, combos, "mul", "mul", -8, builds[i][1]);
            op_vectors_close(&v);
        }
    if (op_vectors_open("tflite-ops/binary2_int8_exhaustive", &v)) {
        const json_t *combos = json_object_get(v.about, "combos");
        check_pairs(&v, json_object_get(combos, "squared_difference"), "squared_difference",
                    "squared_difference", -8, "tflite");
        check_pairs(&v, json_object_get(combos, "div"), "div", "div", -8, "tflite");
        op_vectors_close(&v);
    }
    if (op_vectors_open("xnnpack/vadd_vmul_int8_exhaustive", &v)) {
        const json_t *combos = json_object_get(v.about, "combos");
        check_pairs(&v, combos, "add", "add_#", -8, "xnnpack-qs8");
        check_pairs(&v, combos, "mul", "mul_#", -8, "xnnpack-qs8");
        op_vectors_close(&v);
    }
    if (op_vectors_open("qnnpack/add_uint8_exhaustive", &v)) {
        check_pairs(&v, json_object_get(v.about, "combos"), "add", "add_#", 8, "qnnpack");
        op_vectors_close(&v);
    }
}

static void pairs16(void **state)
{
    (void)state;
    op_vectors v;
    if (!op_vectors_open("tflite-ops/binary_int16", &v))
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
        op_unit u;
        char op[4] = "";
        memcpy(op, op_vectors_word(c, "array"), 3);
        op_unit_describe(&u, op, -16, -16, c);
        op_unit_prepare(&u, "tflite-int16x8");
        u.scheme->vt->binary(u.unit, x, x + n, n, x + 2 * n);
        op_vectors_compare(&v, op_vectors_word(c, "array"), x + 2 * n,
                           npz_i64(v.data, op_vectors_word(c, "array"), &n, NULL), n, &wrong);
        op_unit_release(&u);
    }
    op_vectors_verdict(&v, "add, sub, mul", "tflite-int16x8", i * n, wrong);
    free(x);
    op_vectors_close(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs), cmocka_unit_test(pairs16)};
    return cmocka_run_group_tests_name("vectors_pairs", tests, NULL, NULL);
}
