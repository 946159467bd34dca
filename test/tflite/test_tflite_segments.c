/* The TFLite importer: operators that join elements, diagonals, buckets, convolutions of three
 * axes and sparse constants, beside results worked by hand. */
#include "test/support/tflite_build.h"

#include <stdlib.h>
#include <string.h>

#include "graph/tflite/tflite.h"

enum {
    FULLY_CONNECTED = 9,
    SPARSE_TO_DENSE = 68,
    MATRIX_DIAG = 113,
    MATRIX_SET_DIAG = 115,
    DENSIFY = 124,
    SEGMENT_SUM = 125,
    CONV_3D = 132,
    CONV_3D_TRANSPOSE = 141,
    BUCKETIZE = 147,
    UNSORTED_PROD = 153,
    UNSORTED_MAX = 154,
    UNSORTED_SUM = 155,
    ATAN2 = 156,
    UNSORTED_MIN = 157,
    RIGHT_SHIFT = 161,
    STABLEHLO_MULTIPLY = 165
};

/* One operator: tensors 0 to n - 1 are its inputs, tensor n its output; those with data are
 * constants. */
static tb_op *single(tb_model *m, int builtin, int n)
{
    tb_op *op = tb_operator(m, builtin, 0, n > 1 ? 1 : -2, n > 2 ? 2 : -2, n > 3 ? 3 : -2, -2);
    tb_outputs(op, n, -2);
    for (int i = 0; i < n; ++i)
        if (!m->tensor[i].has_data)
            m->input[m->n_inputs++] = i;
    m->n_outputs = 1;
    m->output[0] = n;
    return op;
}

/* Indices as rows, as a list and alone; values of one and of many. */
static void test_sparse_to_dense(void **state)
{
    static const int32_t rows[4] = {0, 1, 2, 0}, matrix[2] = {3, 2}, list[2] = {5}, one = 3;
    static const float values[2] = {4, 5}, rest = -1;
    static const float of_rows[6] = {-1, 4, -1, -1, 5, -1}, of_list[5] = {4, 5, -1, -1, -1},
                       of_one[5] = {-1, -1, -1, 4, -1};
    static const struct {
        int rank;
        const void *index;
        int n_shape;
        const int32_t *shape;
        const float *want;
    } row[] = {
        {2, rows, 2, matrix, of_rows}, {1, rows, 1, list, of_list}, {0, &one, 1, list, of_one}};

    (void)state;
    for (int k = 0; k < 3; ++k) {
        tb_model m = {0};
        tb_add(&m, "index", TFL_INT32, 2, 2, -1);
        m.tensor[0].rank = row[k].rank;
        tb_add(&m, "shape", TFL_INT32, row[k].n_shape, -1);
        tb_data(&m, row[k].shape, 4 * (size_t)row[k].n_shape);
        tb_add(&m, "values", TFL_FLOAT32, 2, -1);
        m.tensor[2].rank = row[k].rank > 0;
        tb_add(&m, "rest", TFL_FLOAT32, -1);
        tb_data(&m, &rest, 4);
        tb_add(&m, "y", TFL_FLOAT32, row[k].shape[0], row[k].n_shape > 1 ? row[k].shape[1] : -1,
               -1);
        single(&m, SPARSE_TO_DENSE, 4);
        tb_run(&m, (const void *[]){row[k].index, values}, row[k].want,
               sizeof(float) * (row[k].n_shape > 1 ? 6 : 5));
    }
}

/* x joined by ids, which are an input where they are not constant. */
static tb_model segments(int builtin, const int32_t ids[4], bool constant)
{
    static const int32_t three = 3;
    tb_model m = {0};
    int n = 2;

    tb_add(&m, "x", TFL_INT32, 4, 2, -1);
    tb_add(&m, "ids", TFL_INT32, 4, -1);
    if (constant)
        tb_data(&m, ids, 4 * sizeof *ids);
    if (builtin != SEGMENT_SUM) {
        n = tb_add(&m, "n", TFL_INT32, -1) + 1;
        tb_data(&m, &three, 4);
    }
    tb_add(&m, "y", TFL_INT32, 3, 2, -1);
    single(&m, builtin, n);
    return m;
}

/* A row of a negative number is of no segment. */
static void test_segments(void **state)
{
    static const int32_t sorted[4] = {0, 0, 1, 2}, mixed[4] = {2, 0, 2, 0},
                         none[4] = {2, -3, 2, -1};
    static const int32_t x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const struct {
        int builtin;
        const int32_t *ids;
        int32_t want[6];
    } row[] = {{SEGMENT_SUM, sorted, {4, 6, 5, 6, 7, 8}},
               {UNSORTED_SUM, mixed, {10, 12, 0, 0, 6, 8}},
               {UNSORTED_PROD, mixed, {21, 32, 1, 1, 5, 12}},
               {UNSORTED_MAX, mixed, {7, 8, INT32_MIN, INT32_MIN, 5, 6}},
               {UNSORTED_MIN, mixed, {3, 4, INT32_MAX, INT32_MAX, 1, 2}},
               {UNSORTED_SUM, none, {0, 0, 0, 0, 6, 8}},
               {UNSORTED_PROD, none, {1, 1, 1, 1, 5, 12}},
               {UNSORTED_MAX, none, {INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, 5, 6}},
               {UNSORTED_MIN, none, {INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, 1, 2}}};

    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof *row; ++k)
        for (int constant = row[k].builtin == SEGMENT_SUM; constant < 2; ++constant) {
            const tb_model m = segments(row[k].builtin, row[k].ids, constant);
            tb_run(&m, (const void *[]){x, row[k].ids}, row[k].want, sizeof row[k].want);
        }
}

static void test_segments_refused(void **state)
{
    static const int32_t odd[][4] = {
        {1, 1, 2, 2}, {0, 0, 2, 2}, {0, 1, 0, 1}, {-1, 0, 0, 1}, {0, 1, 2, INT32_MAX}};
    static const int32_t sorted[4] = {0, 0, 1, 2}, below = -1;
    static const int64_t wide[4] = {0, 1, 2, INT64_MAX};
    tb_model m;

    (void)state;
    for (size_t k = 0; k < sizeof odd / sizeof *odd; ++k) {
        m = segments(SEGMENT_SUM, odd[k], true);
        tb_refuse(&m, "expected 0, 1, ... in order");
    }
    m = segments(SEGMENT_SUM, sorted, true);
    m.tensor[1].is_variable = true;
    tb_refuse(&m, "depends on the contents of input 1");
    m.tensor[1].is_variable = false;
    m.tensor[1].type = TFL_INT64;
    m.tensor[1].data = wide;
    m.tensor[1].bytes = sizeof wide;
    tb_refuse(&m, "not int32");
    m = segments(UNSORTED_SUM, sorted, true);
    m.tensor[2].data = &below;
    tb_refuse(&m, "the number of segments is -1");
    m.tensor[0].type = m.tensor[3].type = TFL_UINT32;
    tb_refuse(&m, "on elements other than");
}

/* More rows than columns, fewer, and as many. */
static void test_diagonals(void **state)
{
    static const float x[6] = {1, 2, 3, 4, 5, 6}, d[2] = {7, 8};
    static const float tall[6] = {7, 2, 3, 8, 5, 6}, wide[6] = {7, 2, 3, 4, 8, 6},
                       square[4] = {7, 0, 0, 8};

    (void)state;
    for (int k = 0; k < 2; ++k) {
        tb_model m = {0};
        tb_add(&m, "x", TFL_FLOAT32, k ? 2 : 3, k ? 3 : 2, -1);
        tb_add(&m, "d", TFL_FLOAT32, 2, -1);
        tb_add(&m, "y", TFL_FLOAT32, k ? 2 : 3, k ? 3 : 2, -1);
        single(&m, MATRIX_SET_DIAG, 2);
        tb_run(&m, (const void *[]){x, d}, k ? wide : tall, sizeof tall);
    }
    tb_model m = {0};
    tb_add(&m, "d", TFL_FLOAT32, 2, -1);
    tb_add(&m, "y", TFL_FLOAT32, 2, 2, -1);
    single(&m, MATRIX_DIAG, 1);
    tb_run(&m, (const void *[]){d}, square, sizeof square);
}

/* A boundary belongs to the bucket above it. */
static void test_bucketize(void **state)
{
    static const float bounds[3] = {-1, 0, 2.5F}, x[5] = {-2, -1, 1, 2.5F, 9};
    static const int32_t want[5] = {0, 1, 2, 3, 3};
    int32_t words[3];
    tb_model m = {0};
    tb_op *op;

    (void)state;
    memcpy(words, bounds, sizeof words);
    tb_add(&m, "x", TFL_FLOAT32, 5, -1);
    tb_add(&m, "y", TFL_INT32, 5, -1);
    op = single(&m, BUCKETIZE, 1);
    op->list = words;
    op->n_list = 3;
    tb_run(&m, (const void *[]){x}, want, sizeof want);
    words[1] = words[0] + 1; /* a little below -1 */
    tb_refuse(&m, "boundary 1 is below");
}

static void test_pairs(void **state)
{
    static const int32_t a[4] = {-7, 7, -8, 100}, b[4] = {1, 1, 3, 40}, shifted[4] = {-4, 3, -1, 0},
                         products[4] = {-7, 7, -24, 4000};

    (void)state;
    for (int k = 0; k < 2; ++k) {
        tb_model m = {0};
        tb_add(&m, "a", TFL_INT32, 4, -1);
        tb_add(&m, "b", TFL_INT32, 4, -1);
        tb_add(&m, "y", TFL_INT32, 4, -1);
        single(&m, k ? STABLEHLO_MULTIPLY : RIGHT_SHIFT, 2);
        tb_run(&m, (const void *[]){a, b}, k ? products : shifted, sizeof shifted);
    }
    tb_model m = {0};
    tb_add(&m, "a", TFL_FLOAT32, 4, -1);
    tb_add(&m, "b", TFL_FLOAT32, 4, -1);
    tb_add(&m, "y", TFL_FLOAT32, 4, -1);
    single(&m, ATAN2, 2);
    tb_run(&m, (const void *[]){(float[4]){0, 0, -0.0F, 0}, (float[4]){1, 2, 3, 0}},
           (float[4]){0, 0, -0.0F, 0}, 16);
}

/* Weights count places of the window, so that a wrong axis or pad shows. */
static void test_conv_3d(void **state)
{
    enum { D = 2, H = 3, W = 4, I = 2, O = 2 };
    float x[D * H * W * I], w[2 * 2 * 2 * I * O], want[D * H * W * O];
    static const int32_t shape[5] = {1, D, H, W, O};

    (void)state;
    for (int i = 0; i < D * H * W * I; ++i)
        x[i] = (float)(i % 7 - 3);
    for (int i = 0; i < 16 * O; ++i)
        w[i] = (float)(i % 11 - 5);
    for (int transposed = 0; transposed < 2; ++transposed) {
        tb_model m = {0};
        int t = 0;
        tb_op *op;

        memset(want, 0, sizeof want);
        for (int i = 0; i < D * H * W; ++i)
            for (int k = 0; k < 8; ++k) {
                const int at[3] = {i / (H * W), i / W % H, i % W},
                          by[3] = {k / 4, k / 2 % 2, k % 2};
                const int d = at[0] + by[0], h = at[1] + by[1], v = at[2] + by[2];
                const int there = (d * H + h) * W + v;
                for (int io = 0; d < D && h < H && v < W && io < I * O; ++io)
                    if (transposed) /* weights [..,O,I]; a place gives to those behind it */
                        want[there * O + io / I] += x[i * I + io % I] * w[k * I * O + io];
                    else /* SAME of 2: the pad stands behind */
                        want[i * O + io % O] += x[there * I + io / O] * w[k * I * O + io];
            }
        if (transposed) {
            t = tb_add(&m, "shape", TFL_INT32, 5, -1) + 1;
            tb_data(&m, shape, sizeof shape);
            tb_add(&m, "w", TFL_FLOAT32, 2, 2, 2, O, I, -1);
            tb_data(&m, w, sizeof w);
        }
        tb_add(&m, "x", TFL_FLOAT32, 1, D, H, W, I, -1);
        if (!transposed) {
            tb_add(&m, "w", TFL_FLOAT32, 2, 2, 2, I, O, -1);
            tb_data(&m, w, sizeof w);
        }
        tb_add(&m, "y", TFL_FLOAT32, 1, D, H, W, O, -1);
        op = single(&m, transposed ? CONV_3D_TRANSPOSE : CONV_3D, 2 + t);
        for (int slot = 1; slot <= 3; ++slot)
            tb_option_i32(op, slot, 1);
        tb_run(&m, (const void *[]){x}, want, sizeof want);
    }
}

/* Weights that are stored without their zeros: the dense constant, and no node is left. */
static void test_densify(void **state)
{
    static const float stored[3] = {5, 6, -7}, dense[8] = {0, 5, 0, 6, -7, 0, 0, 0};
    static const float x[4] = {1, 2, 3, 4}, y[2] = {34, -7};
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {3}};
    unsigned char *file;
    assay_graph *g;

    (void)state;
    tb_add(&m, "x", TFL_FLOAT32, 1, 4, -1);
    tb_add(&m, "stored", TFL_FLOAT32, 2, 4, -1);
    tb_data(&m, stored, sizeof stored);
    m.tensor[1].sparse = 1;
    tb_add(&m, "w", TFL_FLOAT32, 2, 4, -1);
    tb_add(&m, "y", TFL_FLOAT32, 1, 2, -1);
    tb_outputs(tb_operator(&m, DENSIFY, 1, -2), 2, -2);
    tb_outputs(tb_operator(&m, FULLY_CONNECTED, 0, 2, -1, -2), 3, -2);
    tb_run(&m, (const void *[]){x}, y, sizeof y);
    g = tb_import_ok(&m, &file);
    assert_int_equal(g->n_nodes, 1);
    assert_memory_equal(tb_value(g, "stored")->data, dense, sizeof dense);
    assay_graph_free(g);
    free(file);
    m.tensor[2].dim[1] = 3;
    tb_refuse(&m, "operator 0 (DENSIFY, 'w')");
    m.tensor[2].dim[1] = 4;
    m.tensor[2].type = TFL_INT32;
    tb_refuse(&m, "another type than its input");
    m.tensor[2].type = TFL_FLOAT32;
    m.tensor[1].bytes = 8;
    tb_refuse(&m, "the buffer has too few elements");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sparse_to_dense),  cmocka_unit_test(test_segments),
        cmocka_unit_test(test_segments_refused), cmocka_unit_test(test_diagonals),
        cmocka_unit_test(test_bucketize),        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_conv_3d),          cmocka_unit_test(test_densify),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
