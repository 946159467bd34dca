/* The TFLite importer: what moves, what relabels and what keeps state, run and compared with arrays
 * written down. */
#include "test/support/tflite_build.h"

#include <stdlib.h>
#include <string.h>

#include "graph/tflite/tflite.h"
#include "interp/run/program.h"

/* builtin operators */
enum {
    ADD = 0,
    MUL = 18,
    RESHAPE = 22,
    BATCH_TO_SPACE = 37,
    SPACE_TO_BATCH = 38,
    STRIDED_SLICE = 45,
    CAST = 53,
    TRANSPOSE_CONV = 67,
    SHAPE = 77,
    PACK = 83,
    UNPACK = 88,
    ZEROS_LIKE = 93,
    FILL = 94,
    CALL_ONCE = 129,
    VAR_HANDLE = 142,
    READ_VARIABLE = 143,
    ASSIGN_VARIABLE = 144
};

static void run_one(const tb_model *m, const float *x, const float *want, size_t n)
{
    unsigned char *file;
    assay_graph *g = tb_import_ok(m, &file);
    assay_program *p;
    assay_run *r;
    assay_error err;
    const assay_value *in = &g->value[g->input[0]];

    assert_ok(assay_program_make(g, NULL, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    memcpy(assay_run_data(r, g->input[0]), x, assay_type_bytes(&in->type));
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    assert_int_equal(assay_shape_count(&g->value[g->output[0]].type), n);
    assert_memory_equal(assay_run_data(r, g->output[0]), want, n * sizeof *want);
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(g);
    free(file);
}

static void count_up(float *x, int n)
{
    for (int i = 0; i < n; ++i)
        x[i] = (float)(i + 1);
}

static void test_space_to_batch(void **state)
{
    static const int32_t block[2] = {2, 2}, pads[4] = {1, 1, 0, 0};
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {3}};
    tb_model back = m;
    static const float batches[8] = {0, 5, 0, 6, 1, 0, 2, 0};
    static const float x[8] = {1, 2, 5, 6};
    float y[8];

    (void)state;
    tb_add(&m, "x", TFL_FLOAT32, 1, 2, 2, 1, -1);
    tb_add(&m, "block", TFL_INT32, 2, -1);
    tb_data(&m, block, sizeof block);
    tb_add(&m, "pads", TFL_INT32, 2, 2, -1);
    tb_data(&m, pads, sizeof pads);
    tb_add(&m, "y", TFL_FLOAT32, 4, 2, 1, 1, -1);
    tb_outputs(tb_operator(&m, SPACE_TO_BATCH, 0, 1, 2, -2), 3, -2);
    run_one(&m, x, batches, 8);
    tb_add(&back, "y", TFL_FLOAT32, 4, 2, 1, 1, -1);
    tb_add(&back, "block", TFL_INT32, 2, -1);
    tb_data(&back, block, sizeof block);
    tb_add(&back, "crops", TFL_INT32, 2, 2, -1);
    tb_data(&back, pads, sizeof pads);
    tb_add(&back, "x", TFL_FLOAT32, 1, 2, 2, 1, -1);
    tb_outputs(tb_operator(&back, BATCH_TO_SPACE, 0, 1, 2, -2), 3, -2);
    memcpy(y, x, sizeof x);
    run_one(&back, batches, y, 4);
}

/* x[::-1, 1, ..., newaxis] and x[-1:, 0:3:2] of a 2x3x2 array. */
static void test_strided_slice(void **state)
{
    static const int32_t begin[4] = {0, 1, 0, 0}, end[4] = {0, 2, 0, 0}, step[4] = {-1, 1, 1, 1};
    static const int32_t begin2[2] = {-1, 0}, end2[2] = {100, 3}, step2[2] = {1, 2};
    static const float want[4] = {9, 10, 3, 4}, want2[4] = {7, 8, 11, 12};
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {4}}, n = m;
    float x[12];
    tb_op *op;

    (void)state;
    count_up(x, 12);
    tb_add(&m, "x", TFL_FLOAT32, 2, 3, 2, -1);
    tb_add(&m, "begin", TFL_INT32, 4, -1);
    tb_data(&m, begin, sizeof begin);
    tb_add(&m, "end", TFL_INT32, 4, -1);
    tb_data(&m, end, sizeof end);
    tb_add(&m, "step", TFL_INT32, 4, -1);
    tb_data(&m, step, sizeof step);
    tb_add(&m, "y", TFL_FLOAT32, 2, 2, 1, -1);
    op = tb_operator(&m, STRIDED_SLICE, 0, 1, 2, 3, -2);
    tb_outputs(op, 4, -2);
    tb_option_i32(op, STRIDED_BEGIN_MASK, 1);
    tb_option_i32(op, STRIDED_END_MASK, 1);
    tb_option_i32(op, STRIDED_SHRINK_MASK, 2);
    tb_option_i32(op, STRIDED_ELLIPSIS_MASK, 4);
    tb_option_i32(op, STRIDED_NEW_AXIS_MASK, 8);
    run_one(&m, x, want, 4);
    tb_add(&n, "x", TFL_FLOAT32, 2, 3, 2, -1);
    tb_add(&n, "begin", TFL_INT32, 2, -1);
    tb_data(&n, begin2, sizeof begin2);
    tb_add(&n, "end", TFL_INT32, 2, -1);
    tb_data(&n, end2, sizeof end2);
    tb_add(&n, "step", TFL_INT32, 2, -1);
    tb_data(&n, step2, sizeof step2);
    tb_add(&n, "y", TFL_FLOAT32, 1, 2, 2, -1);
    tb_outputs(tb_operator(&n, STRIDED_SLICE, 0, 1, 2, 3, -2), 4, -2);
    run_one(&n, x, want2, 4);
}

static void test_pack_unpack(void **state)
{
    static const float want[6] = {2, 1, 4, 3, 6, 5};
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {3}};
    float x[6];
    tb_op *op;

    (void)state;
    count_up(x, 6);
    tb_add(&m, "x", TFL_FLOAT32, 3, 2, -1);
    tb_add(&m, "a", TFL_FLOAT32, 3, -1);
    tb_add(&m, "b", TFL_FLOAT32, 3, -1);
    tb_add(&m, "y", TFL_FLOAT32, 3, 2, -1);
    op = tb_operator(&m, UNPACK, 0, -2);
    tb_outputs(op, 1, 2, -2);
    tb_option_i32(op, PACK_AXIS, -1);
    op = tb_operator(&m, PACK, 2, 1, -2);
    tb_outputs(op, 3, -2);
    tb_option_i32(op, PACK_AXIS, 1);
    run_one(&m, x, want, 6);
}

/* FILL by a computed value, ZEROS_LIKE, and a SHAPE that is known. */
static void test_constants(void **state)
{
    static const int32_t dims[2] = {2, 2};
    static const float want[4] = {7, 7, 7, 7}, x[1] = {7};
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {4}};
    unsigned char *file;
    assay_graph *g;
    int shape;

    (void)state;
    tb_add(&m, "x", TFL_FLOAT32, -1);
    tb_add(&m, "dims", TFL_INT32, 2, -1);
    tb_data(&m, dims, sizeof dims);
    tb_add(&m, "filled", TFL_FLOAT32, 2, 2, -1);
    tb_add(&m, "zeros", TFL_FLOAT32, 2, 2, -1);
    tb_add(&m, "y", TFL_FLOAT32, 2, 2, -1);
    tb_outputs(tb_operator(&m, FILL, 1, 0, -2), 2, -2);
    tb_outputs(tb_operator(&m, ZEROS_LIKE, 2, -2), 3, -2);
    tb_outputs(tb_operator(&m, ADD, 2, 3, -2), 4, -2);
    run_one(&m, x, want, 4);
    shape = tb_add(&m, "shape", TFL_INT64, 2, -1);
    tb_outputs(tb_operator(&m, SHAPE, 4, -2), shape, -2);
    m.output[0] = shape;
    g = tb_import_ok(&m, &file);
    assert_int_equal(tb_producer(g, "shape")->op, ASSAY_OP_RESHAPE);
    assert_int_equal(((const int64_t *)tb_value(g, "shape/known")->data)[1], 2);
    assay_graph_free(g);
    free(file);
}

/* From 3 rows by stride 2 and a kernel of 3: cut at the end, at both ends, and a row more that
 * holds the bias only. */
static void test_transpose_conv(void **state)
{
    /* rows, padding, pad_begin, pad_end, output_padding */
    static const int cases[][5] = {
        {6, PADDING_SAME, 0, 1, 0}, {5, PADDING_SAME, 1, 1, 0}, {8, PADDING_VALID, 0, 0, 1}};
    (void)state;
    for (int i = 0; i < 3; ++i) {
        const int *c = cases[i];
        tb_model m = {.n_inputs = 3, .input = {0, 1, 2}, .n_outputs = 1, .output = {3}};
        unsigned char *file;
        assay_graph *g;
        tb_op *op;
        const assay_node *n;
        tb_add(&m, "shape", TFL_INT32, 4, -1);
        tb_add(&m, "w", TFL_FLOAT32, 1, 3, 1, 1, -1);
        tb_add(&m, "x", TFL_FLOAT32, 1, 3, 1, 1, -1);
        tb_add(&m, "y", TFL_FLOAT32, 1, c[0], 1, 1, -1);
        op = tb_operator(&m, TRANSPOSE_CONV, 0, 1, 2, -2);
        tb_outputs(op, 3, -2);
        tb_option_i32(op, CONV_STRIDE_H, 2);
        tb_option_i32(op, CONV_STRIDE_W, 1);
        tb_option_i8(op, CONV_PADDING, (int8_t)c[1]);
        g = tb_import_ok(&m, &file);
        n = tb_producer(g, "y");
        assert_int_equal(n->attr.conv.pad_begin.v[0], c[2]);
        assert_int_equal(n->attr.conv.pad_end.v[0], c[3]);
        assert_int_equal(n->attr.conv.output_padding.v[0], c[4]);
        assay_graph_free(g);
        free(file);
    }
}

/* CAST takes codes by value: 5 at scale 0.5 is 5. */
static void test_cast_of_codes(void **state)
{
    static const int8_t x[3] = {5, -128, 0};
    static const float want[3] = {5, -128, 0};
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {1}};
    unsigned char *file;
    assay_graph *g;
    assay_program *p;
    assay_run *r;
    assay_error err;

    (void)state;
    tb_add(&m, "x", TFL_INT8, 3, -1);
    tb_quant(&m, 0.5F, -3);
    tb_add(&m, "y", TFL_FLOAT32, 3, -1);
    tb_outputs(tb_operator(&m, CAST, 0, -2), 1, -2);
    g = tb_import_ok(&m, &file);
    assert_ok(assay_program_make(g, NULL, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    memcpy(assay_run_data(r, g->input[0]), x, sizeof x);
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    assert_memory_equal(assay_run_data(r, g->output[0]), want, sizeof want);
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(g);
    free(file);
}

/* Codes that move into a tensor of other parameters keep their bits. */
static void test_relabel(void **state)
{
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {1}};
    unsigned char *file;
    assay_graph *g;

    (void)state;
    tb_add(&m, "x", TFL_INT8, 2, 3, -1);
    tb_quant(&m, 0.5F, -3);
    tb_add(&m, "y", TFL_INT8, 6, -1);
    tb_quant(&m, 0.25F, 1);
    tb_outputs(tb_operator(&m, RESHAPE, 0, -2), 1, -2);
    g = tb_import_ok(&m, &file);
    assert_int_equal(tb_producer(g, "y")->op, ASSAY_OP_RELABEL);
    assert_int_equal(tb_producer(g, "y/moved")->op, ASSAY_OP_RESHAPE);
    assay_graph_free(g);
    free(file);
}

/* ---- state ---- */

#define RESOURCE 13 /* tensor type */

/* total = total + x, where total starts as 5 by a CALL_ONCE, or as 0 without. */
static tb_model running_sum(const tb_model *init)
{
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {3}, .next = init};
    tb_op *op;
    tb_add(&m, "x", TFL_FLOAT32, 2, -1);
    tb_add(&m, "handle", RESOURCE, 1, -1);
    tb_add(&m, "before", TFL_FLOAT32, 2, -1);
    tb_add(&m, "after", TFL_FLOAT32, 2, -1);
    if (init) {
        op = tb_operator(&m, CALL_ONCE, -2);
        tb_option_i32(op, 0, 1);
    }
    op = tb_operator(&m, VAR_HANDLE, -2);
    tb_outputs(op, 1, -2);
    op->variable = "total";
    tb_outputs(tb_operator(&m, READ_VARIABLE, 1, -2), 2, -2);
    tb_outputs(tb_operator(&m, ADD, 2, 0, -2), 3, -2);
    tb_operator(&m, ASSIGN_VARIABLE, 1, 3, -2);
    return m;
}

static void check_sums(const tb_model *m, float start)
{
    static const float x[2] = {1, 10};
    unsigned char *file;
    assay_graph *g = tb_import_ok(m, &file);
    assay_program *p;
    assay_run *r;
    assay_error err;

    assert_true(tb_value(g, "total")->is_variable);
    assert_ok(assay_program_make(g, NULL, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    for (int round = 0; round < 2; ++round) {
        for (int step = 1; step <= 3; ++step) {
            const float *y;
            memcpy(assay_run_data(r, g->input[0]), x, sizeof x);
            assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
            y = assay_run_data(r, g->output[0]);
            assert_true(y[0] == start + (float)step && y[1] == start + 10 * (float)step);
        }
        assay_run_reset(r);
    }
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(g);
    free(file);
}

static void test_variables(void **state)
{
    static const float five[2] = {5, 5};
    tb_model init = {0}, m = running_sum(NULL);
    tb_op *op;

    (void)state;
    check_sums(&m, 0);
    tb_add(&init, "handle", RESOURCE, 1, -1);
    tb_add(&init, "five", TFL_FLOAT32, 2, -1);
    tb_data(&init, five, sizeof five);
    op = tb_operator(&init, VAR_HANDLE, -2);
    tb_outputs(op, 0, -2);
    op->variable = "total";
    tb_operator(&init, ASSIGN_VARIABLE, 0, 1, -2);
    m = running_sum(&init);
    check_sums(&m, 5);
    init.op[1].builtin = MUL;
    {
        unsigned char *file;
        assay_graph *g;
        assay_error err;
        assert_int_equal(tb_import(&m, &file, &g, &err), ASSAY_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.text, "CALL_ONCE: MUL in its subgraph"));
        free(file);
    }
    m = running_sum(NULL); /* the other subgraph is another entry point */
    m.next = &init;
    check_sums(&m, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_space_to_batch), cmocka_unit_test(test_strided_slice),
        cmocka_unit_test(test_pack_unpack),    cmocka_unit_test(test_constants),
        cmocka_unit_test(test_transpose_conv), cmocka_unit_test(test_cast_of_codes),
        cmocka_unit_test(test_relabel),        cmocka_unit_test(test_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
