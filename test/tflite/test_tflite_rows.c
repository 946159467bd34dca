/* Rows and conversions under the presets tflite and tflite-single against what TensorFlow Lite
 * Micro's own kernels gave (shared/vectors/tflite-ops). */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#include "test/support/tflite_case.h"

/* ---- rows ---- */

static size_t softmax_case(tflite_file *f, const json_t *c)
{
    static const struct {
        const char *in, *out;
        float scale;
        int32_t zero;
    } kinds[3] = {{"in8", "out8", 1.0f / 256, -128},
                  {"in8", "out8to16", 1.0f / 65536, -32768},
                  {"in16", "out16", 1.0f / 32768, 0}};
    bool wide = strcmp(tflite_word(c, "kind"), "int16") == 0;
    size_t wrong = 0;
    for (int k = wide ? 2 : 0; k < (wide ? 3 : 2); k++) {
        char in[64], out[64];
        float scale = (float)tflite_number(c, "in_scale");
        int32_t zero = (int32_t)tflite_number(c, "in_zp");
        assay_attrs a;
        assay_attrs_defaults(ASSAY_ATTRS_softmax, &a);
        a.softmax.beta = (float)tflite_number(c, "beta");
        tflite_node n = tflite_begin(f);
        tflite_column(&n, tflite_array(in, kinds[k].in, c), &scale, &zero, 1);
        size_t differ = tflite_compare(&n, ASSAY_OP_SOFTMAX, &a, tflite_array(out, kinds[k].out, c),
                                       kinds[k].scale, kinds[k].zero, "");
        tflite_told(out, 0, differ);
        wrong += differ;
    }
    return wrong;
}

static size_t row_case(tflite_file *f, const json_t *c, assay_op op, float out_scale,
                       int32_t out_zero)
{
    char in[64], out[64];
    float scale = (float)tflite_number(c, "in_scale");
    int32_t zero = (int32_t)tflite_number(c, "in_zp");
    tflite_node n = tflite_begin(f);
    tflite_column(&n, tflite_array(in, "in", c), &scale, &zero, 1);
    return tflite_compare(&n, op, NULL, tflite_array(out, "out", c), out_scale, out_zero, "");
}

static size_t log_softmax_case(tflite_file *f, const json_t *c)
{
    return row_case(f, c, ASSAY_OP_LOG_SOFTMAX, 16.0f / 256, 127);
}

static size_t l2_norm_case(tflite_file *f, const json_t *c)
{
    return row_case(f, c, ASSAY_OP_L2_NORM, 1.0f / 128, 0);
}

static void test_rows(void **state)
{
    (void)state;
    tflite_run("softmax_double", "tflite", softmax_case);
    tflite_run("softmax_single", "tflite-single", softmax_case);
    tflite_run("log_softmax_int8", "tflite", log_softmax_case);
    tflite_run("l2_normalization_int8", "tflite", l2_norm_case);
}

/* ---- conversion ---- */

static int64_t bits_of(double x)
{
    float value = (float)x;
    int32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static size_t dequantize_case(tflite_file *f, const json_t *c, const char *name)
{
    size_t count;
    float scale = (float)tflite_number(c, "scale");
    int32_t zero = (int32_t)tflite_number(c, "zp");
    const double *real = npz_f64(f->data, name, &count, NULL);
    int64_t codes[256], bits[256];
    assay_type x = {.elem = assay_int(8, true),
                    .rank = 1,
                    .dim = {256},
                    .q = {ASSAY_Q_TENSOR, 0, 0, 1, &scale, &zero}};
    tflite_node n = tflite_begin(f);
    assert_true(real && count == 256);
    for (int i = 0; i < 256; i++) {
        codes[i] = i - 128;
        bits[i] = bits_of(real[i]);
    }
    tflite_values(&n, &x, codes);
    return tflite_expect(&n, ASSAY_OP_DEQUANTIZE, NULL, assay_f32(), 0, 0, "", bits, 256);
}

/* Where x / scale leaves int32 TFLite's cast is undefined: those few are left out. */
static size_t quantize_case(tflite_file *f, const json_t *c, const char *name)
{
    char source[16];
    size_t count, kept = 0;
    float scale = (float)tflite_number(c, "scale");
    int32_t zero = (int32_t)tflite_number(c, "zp");
    snprintf(source, sizeof source, "x_%c", name[strlen(name) - 1]);
    const double *real = npz_f64(f->data, source, &count, NULL);
    const int64_t *codes = tflite_codes(f, name);
    int64_t *bits = malloc(2 * count * sizeof *bits), *expected = bits + count;
    assert_true(real && bits);
    for (size_t i = 0; i < count; i++)
        if (real[i] / (double)scale > -2147483648.0 && real[i] / (double)scale < 2147483647.0) {
            bits[kept] = bits_of(real[i]);
            expected[kept++] = codes[i];
        }
    assert_true(kept + 8 > count);
    assay_type x = {.elem = assay_f32(), .rank = 1, .dim = {(int64_t)kept}};
    tflite_node n = tflite_begin(f);
    tflite_values(&n, &x, bits);
    size_t wrong = tflite_expect(&n, ASSAY_OP_QUANTIZE, NULL,
                                 assay_int(strncmp(name, "q_int8", 6) == 0 ? 8 : 16, true), scale,
                                 zero, "", expected, kept);
    free(bits);
    return wrong;
}

static void test_convert(void **state)
{
    tflite_file f = tflite_open("quantize_dequantize", "tflite");
    const json_t *combos = json_object_get(f.about, "combos");
    size_t failed = 0;
    (void)state;
    for (size_t i = 0; i < json_array_size(combos); i++) {
        const json_t *c = json_array_get(combos, i);
        const char *name = tflite_word(c, "array");
        failed += tflite_told(
            name, i, name[0] == 'd' ? dequantize_case(&f, c, name) : quantize_case(&f, c, name));
    }
    tflite_close(&f, json_array_size(combos), failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_convert)};
    return cmocka_run_group_tests_name("tflite_rows", tests, NULL, NULL);
}
