/* Element-wise ops under the presets tflite and tflite-single against what
 * TensorFlow Lite Micro's own kernels gave (shared/vectors/tflite-ops), the 8-bit ones on every
 * input. */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#include "test/support/tflite_case.h"

static int64_t all8[256]; /* every int8, ascending */
static int64_t *all16;    /* every int16, ascending */

static int make_inputs(void **state)
{
    (void)state;
    all16 = malloc(65536 * sizeof *all16);
    if (!all16)
        return -1;
    for (int i = 0; i < 256; i++)
        all8[i] = i - 128;
    for (int i = 0; i < 65536; i++)
        all16[i] = i - 32768;
    return 0;
}

static int free_inputs(void **state)
{
    (void)state;
    free(all16);
    return 0;
}

/* A per-tensor type; its parameters are read from c at KEY_scale and KEY_zp into *scale, *zero. */
static assay_type type_at(const json_t *c, const char *key, unsigned bits, int rank,
                          const int64_t *dim, float *scale, int32_t *zero)
{
    char name[32];
    assay_type t = {.elem = assay_int(bits, true), .rank = rank};
    snprintf(name, sizeof name, "%s_scale", key);
    *scale = (float)tflite_number(c, name);
    snprintf(name, sizeof name, "%s_zp", key);
    *zero = (int32_t)tflite_number(c, name);
    for (int i = 0; i < rank; i++)
        t.dim[i] = dim[i];
    t.q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, scale, zero};
    return t;
}

/* ---- two inputs ---- */

/* All pairs of codes: a down, b across, by broadcasting. */
static size_t pairs(tflite_file *f, assay_op op, const json_t *c, const char *activation,
                    const int64_t *b_codes, const int64_t *expected)
{
    static const int64_t down[2] = {256, 1}, across[1] = {256};
    float scale[3];
    int32_t zero[3];
    tflite_node n = tflite_begin(f);
    assay_type a = type_at(c, "a", 8, 2, down, &scale[0], &zero[0]);
    assay_type b = type_at(c, "b", 8, 1, across, &scale[1], &zero[1]);
    assay_type y = type_at(c, "out", 8, 0, NULL, &scale[2], &zero[2]);
    tflite_values(&n, &a, all8);
    tflite_values(&n, &b, b_codes);
    return tflite_expect(&n, op, NULL, y.elem, scale[2], zero[2], activation, expected, 65536);
}

static void check_binary8(const char *name, const char *scheme)
{
    static const assay_op ops[3] = {ASSAY_OP_ADD, ASSAY_OP_SUB, ASSAY_OP_MUL};
    tflite_file f = tflite_open(name, scheme);
    const json_t *combos = json_object_get(f.about, "combos");
    size_t failed = 0, n = json_array_size(combos);
    for (int o = 0; o < 3; o++) {
        const int64_t *expected = tflite_codes(&f, assay_op_get(ops[o])->name);
        for (size_t i = 0; i < n; i++) {
            const json_t *c = json_array_get(combos, i);
            failed += tflite_told(
                assay_op_get(ops[o])->name, i,
                pairs(&f, ops[o], c, tflite_word(c, "activation"), all8, expected + i * 65536));
        }
    }
    tflite_close(&f, 3 * n, failed);
}

static void test_binary8(void **state)
{
    (void)state;
    check_binary8("binary_int8_exhaustive_double", "tflite");
    check_binary8("binary_int8_exhaustive_single", "tflite-single");
}

static void test_binary8_more(void **state)
{
    static const assay_op ops[2] = {ASSAY_OP_SQUARED_DIFFERENCE, ASSAY_OP_DIV};
    tflite_file f = tflite_open("binary2_int8_exhaustive", "tflite");
    size_t failed = 0, cases = 0;
    (void)state;
    for (int o = 0; o < 2; o++) {
        const char *name = assay_op_get(ops[o])->name;
        const json_t *combos = json_object_get(json_object_get(f.about, "combos"), name);
        const int64_t *expected = tflite_codes(&f, name);
        for (size_t i = 0; i < json_array_size(combos); i++, cases++) {
            const json_t *c = json_array_get(combos, i);
            int64_t b[256];
            memcpy(b, all8, sizeof b);
            int32_t zero = (int32_t)tflite_number(c, "b_zp");
            if (ops[o] == ASSAY_OP_DIV) /* a divisor of 0 was avoided so */
                b[zero + 128] += zero == 127 ? -1 : 1;
            failed += tflite_told(name, i, pairs(&f, ops[o], c, "", b, expected + i * 65536));
        }
    }
    tflite_close(&f, cases, failed);
}

/* Ops of arrays "NAME_k" whose parameters stand in a list of combos with the array's name. */
static assay_op op_of_array(const char *array)
{
    static const struct {
        const char *prefix;
        assay_op op;
    } table[] = {{"add", ASSAY_OP_ADD},
                 {"sub", ASSAY_OP_SUB},
                 {"mul", ASSAY_OP_MUL},
                 {"leaky_relu", ASSAY_OP_LEAKY_RELU},
                 {"quant", ASSAY_OP_RESCALE},
                 {"logistic", ASSAY_OP_SIGMOID},
                 {"tanh", ASSAY_OP_TANH},
                 {"requantize", ASSAY_OP_RESCALE},
                 {"hard_swish", ASSAY_OP_HARD_SWISH},
                 {"elu", ASSAY_OP_ELU},
                 {"relu6", ASSAY_OP_CLIP},
                 {"relu", ASSAY_OP_RELU}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strncmp(array, table[i].prefix, strlen(table[i].prefix)) == 0)
            return table[i].op;
    fail_msg("array '%s' names no op", array);
    return ASSAY_OP_COUNT;
}

static void test_binary16(void **state)
{
    tflite_file f = tflite_open("binary_int16", "tflite");
    const json_t *combos = json_object_get(f.about, "combos");
    size_t failed = 0;
    (void)state;
    for (size_t i = 0; i < json_array_size(combos); i++) {
        static const int64_t rows[1] = {60000};
        const json_t *c = json_array_get(combos, i);
        const char *name = tflite_word(c, "array");
        float scale[3];
        int32_t zero[3];
        tflite_node n = tflite_begin(&f);
        assay_type a = type_at(c, "a", 16, 1, rows, &scale[0], &zero[0]);
        assay_type b = type_at(c, "b", 16, 1, rows, &scale[1], &zero[1]);
        type_at(c, "out", 16, 0, NULL, &scale[2], &zero[2]);
        tflite_values(&n, &a, tflite_codes(&f, "a"));
        tflite_values(&n, &b, tflite_codes(&f, "b"));
        failed += tflite_told(name, i,
                              tflite_compare(&n, op_of_array(name), NULL, name, scale[2], zero[2],
                                             tflite_word(c, "activation")));
    }
    tflite_close(&f, json_array_size(combos), failed);
}

/* ---- one input ---- */

static assay_attrs unary_attrs(assay_op op, const json_t *c)
{
    assay_attrs a;
    assay_attrs_defaults(assay_op_get(op)->attrs, &a);
    if (op == ASSAY_OP_LEAKY_RELU)
        a.alpha.alpha = (float)tflite_number(c, "alpha");
    if (op == ASSAY_OP_ELU)
        a.alpha.alpha = 1;
    if (op == ASSAY_OP_CLIP) {
        a.clip.lo = 0;
        a.clip.hi = 6;
    }
    return a;
}

static void check_unary8(const char *name, const char *scheme)
{
    static const int64_t all[1] = {256};
    tflite_file f = tflite_open(name, scheme);
    json_t *by_op = json_object_get(f.about, "combos"), *combos;
    const char *op_name;
    size_t failed = 0, cases = 0;
    json_object_foreach(by_op, op_name, combos)
    {
        assay_op op = op_of_array(op_name);
        const int64_t *expected = tflite_codes(&f, op_name);
        for (size_t i = 0; i < json_array_size(combos); i++) {
            const json_t *c = json_array_get(combos, i);
            float scale[2];
            int32_t zero[2];
            tflite_node n = tflite_begin(&f);
            assay_type x = type_at(c, "in", 8, 1, all, &scale[0], &zero[0]);
            type_at(c, "out", 8, 0, NULL, &scale[1], &zero[1]);
            if (op == ASSAY_OP_CLIP) { /* RELU6 clamps codes as if the output had the input's */
                scale[1] = scale[0];
                zero[1] = zero[0];
            }
            assay_attrs a = unary_attrs(op, c);
            tflite_values(&n, &x, all8);
            failed += tflite_told(
                op_name, i,
                tflite_expect(&n, op, &a, x.elem, scale[1], zero[1], "", expected + i * 256, 256));
            cases++;
        }
    }
    tflite_close(&f, cases, failed);
}

static void test_unary8(void **state)
{
    (void)state;
    check_unary8("unary_int8_double", "tflite");
    check_unary8("unary_int8_single", "tflite-single");
}

static void test_unary16(void **state)
{
    tflite_file f = tflite_open("unary_int16", "tflite");
    const json_t *combos = json_object_get(f.about, "combos");
    size_t failed = 0;
    (void)state;
    for (size_t i = 0; i < json_array_size(combos); i++) {
        const json_t *c = json_array_get(combos, i);
        const char *name = tflite_word(c, "array");
        bool from8 = strncmp(name, "quant8", 6) == 0;
        size_t count;
        npz_i64(f.data, "x", &count, NULL);
        int64_t dim[1] = {from8 ? 256 : (int64_t)count};
        assay_op op = op_of_array(name);
        float scale[2];
        int32_t zero[2];
        tflite_node n = tflite_begin(&f);
        assay_type x = type_at(c, "in", from8 ? 8 : 16, 1, dim, &scale[0], &zero[0]);
        type_at(c, "out", 16, 0, NULL, &scale[1], &zero[1]);
        assay_attrs a = unary_attrs(op, c);
        tflite_values(&n, &x, from8 ? all8 : tflite_codes(&f, "x"));
        failed += tflite_told(name, i, tflite_compare(&n, op, &a, name, scale[1], zero[1], ""));
    }
    tflite_close(&f, json_array_size(combos), failed);
}

/* Outputs of LOGISTIC and TANH have fixed parameters. */
static void check_logistic8(const char *name, const char *scheme)
{
    static const assay_op ops[2] = {ASSAY_OP_SIGMOID, ASSAY_OP_TANH};
    static const char *const names[2] = {"logistic", "tanh"};
    tflite_file f = tflite_open(name, scheme);
    size_t n_scale, failed = 0;
    const double *scales = npz_f64(f.data, "in_scale", &n_scale, NULL);
    const int64_t *zeros = tflite_codes(&f, "in_zp");
    for (int o = 0; o < 2; o++) {
        const int64_t *expected = tflite_codes(&f, names[o]);
        for (size_t i = 0; i < n_scale; i++) {
            float scale = (float)scales[i];
            int32_t zero = (int32_t)zeros[i];
            tflite_node n = tflite_begin(&f);
            assay_type x = {.elem = assay_int(8, true),
                            .rank = 1,
                            .dim = {256},
                            .q = {ASSAY_Q_TENSOR, 0, 0, 1, &scale, &zero}};
            tflite_values(&n, &x, all8);
            failed +=
                tflite_told(names[o], i,
                            tflite_expect(&n, ops[o], NULL, x.elem, o ? 1.0f / 128 : 1.0f / 256,
                                          o ? 0 : -128, "", expected + i * 256, 256));
        }
    }
    tflite_close(&f, 2 * n_scale, failed);
}

static void test_logistic(void **state)
{
    (void)state;
    check_logistic8("logistic_tanh_int8_double", "tflite");
    check_logistic8("logistic_tanh_int8_single", "tflite-single");
    tflite_file f = tflite_open("logistic_tanh_int16", "tflite");
    const json_t *combos = json_object_get(f.about, "combos");
    size_t failed = 0;
    for (size_t i = 0; i < json_array_size(combos); i++) {
        static const int64_t all[1] = {65536};
        const json_t *c = json_array_get(combos, i);
        const char *name = tflite_word(c, "array");
        float scale;
        int32_t zero;
        tflite_node n = tflite_begin(&f);
        assay_type x = type_at(c, "in", 16, 1, all, &scale, &zero);
        tflite_values(&n, &x, all16);
        failed += tflite_told(
            name, i, tflite_compare(&n, op_of_array(name), NULL, name, 1.0f / 32768, 0, ""));
    }
    tflite_close(&f, json_array_size(combos), failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binary8),  cmocka_unit_test(test_binary8_more),
        cmocka_unit_test(test_binary16), cmocka_unit_test(test_unary8),
        cmocka_unit_test(test_unary16),  cmocka_unit_test(test_logistic),
    };
    return cmocka_run_group_tests_name("tflite_elements", tests, make_inputs, free_inputs);
}
