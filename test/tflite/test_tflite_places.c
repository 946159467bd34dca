/* The TFLite importer: operators that put or pick elements by places, run and compared with loops
 * written as TensorFlow's documentation describes them. */
#include "test/support/tflite_build.h"

#include <stdlib.h>
#include <string.h>

#include "graph/tflite/tflite.h"
#include "interp/run/program.h"

enum {
    MUL = 18,
    ONE_HOT = 85,
    RANGE = 96,
    REVERSE_SEQUENCE = 112,
    SCATTER_ND = 122,
    BITWISE_XOR = 160
};

/* Indices in front of, inside and behind the depth; the axis in front, between and behind. */
static void test_one_hot(void **state)
{
    static const int32_t index[6] = {0, 2, -1, 3, 1, 2}, depth = 3;
    static const float on = 2.5f, off = -1;

    (void)state;
    for (int axis = -1; axis <= 2; ++axis) {
        const int at = axis < 0 ? 2 : axis;
        const int dim[3] = {at == 0 ? 3 : 2, at == 0 ? 2 : at == 1 ? 3 : 3, at == 2 ? 3 : 3};
        tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {4}};
        float want[18];
        tb_op *op;

        for (int i = 0; i < 18; ++i) {
            const int c[3] = {i / (dim[1] * dim[2]), i / dim[2] % dim[1], i % dim[2]};
            const int row = c[at == 0], column = c[at == 2 ? 1 : 2];
            want[i] = index[3 * row + column] == c[at] ? on : off;
        }
        tb_add(&m, "index", TFL_INT32, 2, 3, -1);
        tb_add(&m, "depth", TFL_INT32, -1);
        tb_data(&m, &depth, sizeof depth);
        tb_add(&m, "on", TFL_FLOAT32, -1);
        tb_data(&m, &on, sizeof on);
        tb_add(&m, "off", TFL_FLOAT32, -1);
        tb_data(&m, &off, sizeof off);
        tb_add(&m, "y", TFL_FLOAT32, dim[0], dim[1], dim[2], -1);
        op = tb_operator(&m, ONE_HOT, 0, 1, 2, 3, -2);
        tb_outputs(op, 4, -2);
        tb_option_i32(op, 0, axis);
        tb_run(&m, (const void *[]){index}, want, sizeof want);
    }
}

/* Rows put twice add up, in float and in integers. */
static void test_scatter_nd(void **state)
{
    static const int32_t index[3] = {2, 0, 2}, shape[2] = {4, 2};
    static const float updates[6] = {1, 2, 3, 4, 0.5f, 8}, want[8] = {3, 4, 0, 0, 1.5f, 10, 0, 0};
    static const int32_t whole[6] = {1, 2, 3, 4, 5, 8}, sums[8] = {3, 4, 0, 0, 6, 10, 0, 0};

    (void)state;
    for (int k = 0; k < 2; ++k) {
        const int kind = k ? TFL_INT32 : TFL_FLOAT32;
        tb_model m = {.n_inputs = 2, .input = {0, 1}, .n_outputs = 1, .output = {3}};

        tb_add(&m, "index", TFL_INT32, 3, 1, -1);
        tb_add(&m, "updates", kind, 3, 2, -1);
        tb_add(&m, "shape", TFL_INT32, 2, -1);
        tb_data(&m, shape, sizeof shape);
        tb_add(&m, "y", kind, 4, 2, -1);
        tb_outputs(tb_operator(&m, SCATTER_ND, 0, 1, 2, -2), 3, -2);
        tb_run(&m, (const void *[]){index, k ? (const void *)whole : updates},
               k ? (const void *)sums : want, sizeof want);
    }
}

/* Lengths from none to all, steps along either axis. */
static void test_reverse_sequence(void **state)
{
    static const int32_t lengths[3] = {0, 3, 4};
    float x[24], want[24];

    (void)state;
    for (int i = 0; i < 24; ++i)
        x[i] = (float)(i + 1);
    for (int steps = 0; steps < 2; ++steps) {
        const int dim[2] = {steps ? 3 : 4, steps ? 4 : 3};
        tb_model m = {.n_inputs = 2, .input = {0, 1}, .n_outputs = 1, .output = {2}};
        tb_op *op;

        for (int i = 0; i < 24; ++i) {
            int at[2] = {i / 2 / dim[1], i / 2 % dim[1]};
            const int length = lengths[at[!steps]];
            at[steps] = at[steps] < length ? length - 1 - at[steps] : at[steps];
            want[i] = x[2 * (at[0] * dim[1] + at[1]) + i % 2];
        }
        tb_add(&m, "x", TFL_FLOAT32, dim[0], dim[1], 2, -1);
        tb_add(&m, "lengths", TFL_INT32, 3, -1);
        tb_add(&m, "y", TFL_FLOAT32, dim[0], dim[1], 2, -1);
        op = tb_operator(&m, REVERSE_SEQUENCE, 0, 1, -2);
        tb_outputs(op, 2, -2);
        tb_option_i32(op, 0, steps);
        tb_option_i32(op, 1, !steps);
        tb_run(&m, (const void *[]){x, lengths}, want, sizeof want);
    }
}

/* Upwards and downwards, and a rest that does not reach the limit; the file says another extent. */
static void test_range(void **state)
{
    static const struct {
        int32_t start, limit, delta;
        int n;
    } row[] = {{1, 10, 3, 3}, {5, -4, -2, 5}, {0, 4, 1, 4}};

    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof *row; ++k) {
        tb_model m = {.n_inputs = 1, .input = {3}, .n_outputs = 1, .output = {5}};
        int32_t factor = 3, want[5];

        for (int i = 0; i < row[k].n; ++i)
            want[i] = 3 * (row[k].start + i * row[k].delta);
        tb_add(&m, "start", TFL_INT32, -1);
        tb_data(&m, &row[k].start, 4);
        tb_add(&m, "limit", TFL_INT32, -1);
        tb_data(&m, &row[k].limit, 4);
        tb_add(&m, "delta", TFL_INT32, -1);
        tb_data(&m, &row[k].delta, 4);
        tb_add(&m, "factor", TFL_INT32, 1, -1);
        tb_add(&m, "numbers", TFL_INT32, 1, -1);
        tb_add(&m, "y", TFL_INT32, row[k].n, -1);
        tb_outputs(tb_operator(&m, RANGE, 0, 1, 2, -2), 4, -2);
        tb_outputs(tb_operator(&m, MUL, 4, 3, -2), 5, -2);
        tb_run(&m, (const void *[]){&factor}, want, (size_t)row[k].n * sizeof *want);
    }
}

/* Numbers that doubles do not tell apart, and steps whose multiples int64 does not hold. */
static void test_range_of_int64(void **state)
{
    static const int64_t start[2] = {INT64_C(1) << 60, INT64_MIN},
                         limit[2] = {(INT64_C(1) << 60) + 5, INT64_MAX},
                         delta[2] = {2, INT64_C(1) << 62}, zero = 0;
    static const int64_t want[2][4] = {
        {INT64_C(1) << 60, (INT64_C(1) << 60) + 2, (INT64_C(1) << 60) + 4},
        {INT64_MIN, -(INT64_C(1) << 62), 0, INT64_C(1) << 62}};

    (void)state;
    for (int k = 0; k < 2; ++k) {
        tb_model m = {.n_inputs = 1, .input = {3}, .n_outputs = 1, .output = {5}};

        tb_add(&m, "start", TFL_INT64, -1);
        tb_data(&m, &start[k], 8);
        tb_add(&m, "limit", TFL_INT64, -1);
        tb_data(&m, &limit[k], 8);
        tb_add(&m, "delta", TFL_INT64, -1);
        tb_data(&m, &delta[k], 8);
        tb_add(&m, "zero", TFL_INT64, 1, -1);
        tb_add(&m, "numbers", TFL_INT64, 1, -1);
        tb_add(&m, "y", TFL_INT64, 3 + k, -1);
        tb_outputs(tb_operator(&m, RANGE, 0, 1, 2, -2), 4, -2);
        tb_outputs(tb_operator(&m, BITWISE_XOR, 4, 3, -2), 5, -2);
        tb_run(&m, (const void *[]){&zero}, want[k], (size_t)(3 + k) * sizeof want[k][0]);
    }
}

static void test_bitwise_xor(void **state)
{
    static const int32_t a[3] = {5, -1, 7}, b[3] = {3, 6, 7}, want[3] = {6, -7, 0};
    tb_model m = {.n_inputs = 2, .input = {0, 1}, .n_outputs = 1, .output = {2}};

    (void)state;
    tb_add(&m, "a", TFL_INT32, 3, -1);
    tb_add(&m, "b", TFL_INT32, 3, -1);
    tb_add(&m, "y", TFL_INT32, 3, -1);
    tb_outputs(tb_operator(&m, BITWISE_XOR, 0, 1, -2), 2, -2);
    tb_run(&m, (const void *[]){a, b}, want, sizeof want);
}

/* What cannot be imported is said. */
static void test_refused(void **state)
{
    static const int32_t zero = 0, five = 5;
    tb_model m = {.n_inputs = 0, .n_outputs = 1, .output = {3}};
    unsigned char *file;
    assay_graph *g;
    assay_error err;

    (void)state;
    tb_add(&m, "start", TFL_INT32, -1);
    tb_data(&m, &zero, 4);
    tb_add(&m, "limit", TFL_INT32, -1);
    tb_data(&m, &five, 4);
    tb_add(&m, "delta", TFL_INT32, -1);
    tb_data(&m, &zero, 4);
    tb_add(&m, "y", TFL_INT32, 1, -1);
    tb_outputs(tb_operator(&m, RANGE, 0, 1, 2, -2), 3, -2);
    assert_int_equal(tb_import(&m, &file, &g, &err), ASSAY_ERR_INPUT);
    assert_non_null(strstr(err.text, "delta is 0"));
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_hot),          cmocka_unit_test(test_scatter_nd),
        cmocka_unit_test(test_reverse_sequence), cmocka_unit_test(test_range),
        cmocka_unit_test(test_range_of_int64),   cmocka_unit_test(test_bitwise_xor),
        cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
