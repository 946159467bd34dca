/* The TFLite importer on small models made here: what it keeps, what it turns into what, what it
 * refuses; mutated files; and all models of ../shared/models. */
#include "test/tflite_build.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/tflite/tflite.h"
#include "interp/program.h"

enum {
    ADD = 0,
    CONV = 3,
    DEPTHWISE = 4,
    DEQUANTIZE = 6,
    FC = 9,
    MUL = 18,
    RESHAPE = 22,
    CUSTOM = 32,
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
    WHERE = 109,
    CALL_ONCE = 129,
    VAR_HANDLE = 142,
    READ_VARIABLE = 143,
    ASSIGN_VARIABLE = 144
};

/* Imports the model; *file must be freed after the graph. */
static assay_status import(const tb_model *m, unsigned char **file, assay_graph **g,
                           assay_error *err)
{
    size_t size;
    *file = tb_finish(m, &size);
    return assay_tflite_import_memory("model", *file, size, g, err);
}

static assay_graph *import_ok(const tb_model *m, unsigned char **file)
{
    assay_graph *g;
    assay_error err;
    assert_ok(import(m, file, &g, &err), &err);
    return g;
}

static void refuse(const tb_model *m, const char *part)
{
    unsigned char *file;
    assay_graph *g;
    assay_error err;
    assert_refused(import(m, &file, &g, &err), &err, part);
    assert_null(g);
    free(file);
}

static const assay_value *value(const assay_graph *g, const char *name)
{
    int id = assay_graph_find_value(g, name);
    if (id < 0)
        fail_msg("there is no value '%s'", name);
    return &g->value[id];
}

static const assay_node *producer(const assay_graph *g, const char *name)
{
    return &g->node[value(g, name)->producer];
}

/* ---- a convolution: i8, 5x5x2 -> SAME, stride 2, RELU6 ---- */

static const int8_t conv_weights[3 * 9 * 2] = {1, -2, 3};
static const int32_t conv_bias[3] = {10, 20, 30};

static tb_model conv_model(void)
{
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {3}};
    tb_op *op;
    tb_add(&m, "x", TFL_INT8, 1, 5, 5, 2, -1);
    tb_quant(&m, 0.5F, -3);
    tb_add(&m, "w", TFL_INT8, 3, 3, 3, 2, -1);
    tb_quant(&m, 0.25F, 0);
    tb_quant(&m, 0.125F, 0);
    tb_quant(&m, 0.5F, 0);
    tb_data(&m, conv_weights, sizeof conv_weights);
    tb_add(&m, "b", TFL_INT32, 3, -1);
    for (int i = 0; i < 3; ++i)
        tb_quant(&m, 0.125F, 0);
    m.tensor[2].axis = 3; /* the weights' axis in a depthwise convolution: seen in real files */
    tb_data(&m, conv_bias, sizeof conv_bias);
    tb_add(&m, "y", TFL_INT8, 1, 3, 3, 3, -1);
    tb_quant(&m, 1.0F, 4);
    op = tb_operator(&m, CONV, 0, 1, 2, -2);
    tb_outputs(op, 3, -2);
    tb_option_i32(op, CONV_STRIDE_W, 2);
    tb_option_i32(op, CONV_STRIDE_H, 2);
    tb_option_i8(op, CONV_ACTIVATION, ACTIVATION_RELU6);
    return m;
}

static void test_conv(void **state)
{
    tb_model m = conv_model();
    size_t size;
    unsigned char *file = tb_finish(&m, &size);
    assay_graph *g;
    assay_error err;
    const assay_node *n;

    (void)state;
    assert_ok(assay_tflite_import_memory("model", file, size, &g, &err), &err);
    n = producer(g, "y");
    assert_int_equal(n->op, ASSAY_OP_CONV);
    assert_int_equal(n->attr.conv.layout, ASSAY_LAYOUT_NHWC);
    assert_int_equal(n->attr.conv.group, 1);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(n->attr.conv.stride.v[i], 2);
        assert_int_equal(n->attr.conv.pad_begin.v[i], 1);
        assert_int_equal(n->attr.conv.pad_end.v[i], 1);
    }
    assert_true(n->act_lo == 0 && n->act_hi == 6);
    assert_int_equal(value(g, "w")->type.q.granularity, ASSAY_Q_AXIS);
    assert_int_equal(value(g, "w")->type.q.axis, 0);
    assert_true(value(g, "w")->type.q.scale[1] == 0.125F);
    assert_int_equal(value(g, "x")->type.q.zero_point[0], -3);
    assert_int_equal(value(g, "y")->source_index, 3);
    /* constants stay where they are in the file */
    assert_in_range((uintptr_t)value(g, "w")->data, (uintptr_t)file, (uintptr_t)file + size);
    assert_in_range((uintptr_t)value(g, "b")->data, (uintptr_t)file, (uintptr_t)file + size);
    assert_int_equal(((const int32_t *)value(g, "b")->data)[2], 30);
    assert_int_equal(strlen(g->model_digest), 32);
    assay_graph_free(g);
    free(file);
}

static void test_pads(void **state)
{
    /* extent, kernel, stride, dilation -> out, before, after (padding.h) */
    static const int cases[][7] = {{5, 3, 2, 1, 3, 1, 1}, {6, 3, 2, 1, 3, 0, 1},
                                   {7, 4, 1, 1, 7, 1, 2}, {8, 3, 1, 2, 8, 2, 2},
                                   {9, 1, 3, 1, 3, 0, 0}, {4, 10, 2, 1, 2, 4, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const int *c = cases[i];
        tb_model m = {.n_inputs = 2, .input = {0, 1}, .n_outputs = 1, .output = {2}};
        unsigned char *file;
        assay_graph *g;
        tb_op *op;
        const assay_node *n;
        tb_add(&m, "x", TFL_FLOAT32, 1, c[0], 1, 1, -1);
        tb_add(&m, "w", TFL_FLOAT32, 1, c[1], 1, 1, -1);
        tb_add(&m, "y", TFL_FLOAT32, 1, c[4], 1, 1, -1);
        op = tb_operator(&m, CONV, 0, 1, -2);
        tb_outputs(op, 2, -2);
        tb_option_i32(op, CONV_STRIDE_H, c[2]);
        tb_option_i32(op, CONV_STRIDE_W, 1);
        tb_option_i32(op, CONV_DILATION_H, c[3]);
        g = import_ok(&m, &file);
        n = producer(g, "y");
        assert_int_equal(n->attr.conv.pad_begin.v[0], c[5]);
        assert_int_equal(n->attr.conv.pad_end.v[0], c[6]);
        assay_graph_free(g);
        free(file);
    }
}

/* [1,1,2,4] weights on two channels, multiplier two. */
static void test_depthwise(void **state)
{
    static const int8_t w[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const int8_t turned[8] = {1, 5, 2, 6, 3, 7, 4, 8};
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {2}};
    unsigned char *file;
    assay_graph *g;
    tb_op *op;

    (void)state;
    tb_add(&m, "x", TFL_INT8, 1, 4, 4, 2, -1);
    tb_quant(&m, 0.5F, 0);
    tb_add(&m, "w", TFL_INT8, 1, 1, 2, 4, -1);
    for (int i = 0; i < 4; ++i)
        tb_quant(&m, 0.5F + (float)i, 0);
    m.tensor[1].axis = 3;
    tb_data(&m, w, sizeof w);
    tb_add(&m, "y", TFL_INT8, 1, 4, 3, 4, -1);
    tb_quant(&m, 0.5F, 0);
    op = tb_operator(&m, DEPTHWISE, 0, 1, -1, -2);
    tb_outputs(op, 2, -2);
    tb_option_i8(op, CONV_PADDING, PADDING_VALID);
    tb_option_i32(op, CONV_STRIDE_W, 1);
    tb_option_i32(op, CONV_STRIDE_H, 1);
    tb_option_i32(op, DEPTHWISE_MULTIPLIER, 2);
    g = import_ok(&m, &file);
    assert_int_equal(producer(g, "y")->attr.conv.group, 2);
    assert_int_equal(value(g, "w")->type.dim[0], 4);
    assert_int_equal(value(g, "w")->type.dim[2], 2);
    assert_int_equal(value(g, "w")->type.dim[3], 1);
    assert_int_equal(value(g, "w")->type.q.axis, 0);
    assert_true(value(g, "w")->type.q.scale[3] == 3.5F);
    assert_memory_equal(value(g, "w")->data, turned, sizeof turned);
    assay_graph_free(g);
    free(file);
}

static void test_fully_connected(void **state)
{
    tb_model m = {.n_inputs = 2, .input = {0, 1}, .n_outputs = 2, .output = {2, 3}};
    unsigned char *file;
    assay_graph *g;

    (void)state;
    tb_add(&m, "x", TFL_FLOAT32, 2, 3, 4, -1);
    tb_add(&m, "w", TFL_FLOAT32, 5, 12, -1);
    tb_add(&m, "flat", TFL_FLOAT32, 2, 5, -1);
    tb_add(&m, "kept", TFL_FLOAT32, 2, 3, 7, -1);
    tb_add(&m, "v", TFL_FLOAT32, 7, 4, -1);
    m.n_inputs = 3;
    m.input[2] = 4;
    tb_outputs(tb_operator(&m, FC, 0, 1, -1, -2), 2, -2);
    tb_outputs(tb_operator(&m, FC, 0, 4, -2), 3, -2);
    g = import_ok(&m, &file);
    assert_int_equal(g->n_nodes, 3);
    assert_int_equal(producer(g, "flat/rows")->op, ASSAY_OP_RESHAPE);
    assert_int_equal(producer(g, "flat")->op, ASSAY_OP_FC);
    assert_int_equal(producer(g, "kept")->op, ASSAY_OP_FC);
    assay_graph_free(g);
    free(file);
}

/* ---- names ---- */

static void test_names(void **state)
{
    tb_model m = {.n_inputs = 2,
                  .input = {0, 1},
                  .n_outputs = 1,
                  .output = {3},
                  .signature = {"left", "right"}};
    unsigned char *file;
    assay_graph *g;

    (void)state;
    tb_add(&m, "serving_left:0", TFL_FLOAT32, 2, -1);
    tb_add(&m, "serving_right:0", TFL_FLOAT32, 2, -1);
    tb_add(&m, "twice", TFL_FLOAT32, 2, -1);
    tb_add(&m, "twice", TFL_FLOAT32, 2, -1);
    tb_add(&m, "", TFL_FLOAT32, 2, -1);
    tb_outputs(tb_operator(&m, ADD, 0, 1, -2), 2, -2);
    tb_outputs(tb_operator(&m, ADD, 2, 1, -2), 4, -2);
    tb_outputs(tb_operator(&m, MUL, 2, 4, -2), 3, -2);
    g = import_ok(&m, &file);
    assert_string_equal(g->value[g->input[0]].name, "left");
    assert_string_equal(g->value[g->input[1]].name, "right");
    assert_int_equal(value(g, "twice")->source_index, 2);
    assert_int_equal(value(g, "twice#3")->source_index, 3);
    assert_int_equal(value(g, "#4")->source_index, 4);
    assay_graph_free(g);
    free(file);
}

/* ---- constants ---- */

static void test_int4(void **state)
{
    static const unsigned char packed[3] = {0x21, 0x8f, 0x07};
    static const int8_t codes[5] = {1, 2, -1, -8, 7};
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {2}};
    unsigned char *file;
    assay_graph *g;

    (void)state;
    tb_add(&m, "x", TFL_INT8, 1, 5, -1);
    tb_quant(&m, 1, 0);
    tb_add(&m, "w", TFL_INT4, 1, 5, -1);
    tb_quant(&m, 1, 0);
    tb_data(&m, packed, sizeof packed);
    tb_add(&m, "y", TFL_INT8, 1, 1, -1);
    tb_quant(&m, 1, 0);
    tb_outputs(tb_operator(&m, FC, 0, 1, -1, -2), 2, -2);
    g = import_ok(&m, &file);
    assert_int_equal(value(g, "w")->type.elem.bits, 4);
    assert_memory_equal(value(g, "w")->data, codes, sizeof codes);
    assay_graph_free(g);
    free(file);
}

static void test_float16(void **state)
{
    /* 1, -2, 65504, the least subnormal, a third, infinity */
    static const uint16_t half[6] = {0x3c00, 0xc000, 0x7bff, 0x0001, 0x3555, 0x7c00};
    const float wide[6] = {1, -2, 65504, 0x1p-24F, 0.333251953125F, INFINITY};
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {3}};
    unsigned char *file;
    assay_graph *g;

    (void)state;
    tb_add(&m, "x", TFL_FLOAT32, 6, -1);
    tb_add(&m, "half", TFL_FLOAT16, 6, -1);
    tb_data(&m, half, sizeof half);
    tb_add(&m, "wide", TFL_FLOAT32, 6, -1);
    tb_add(&m, "y", TFL_FLOAT32, 6, -1);
    tb_outputs(tb_operator(&m, DEQUANTIZE, 1, -2), 2, -2);
    tb_outputs(tb_operator(&m, ADD, 0, 2, -2), 3, -2);
    g = import_ok(&m, &file);
    assert_int_equal(g->n_nodes, 1);
    assert_memory_equal(value(g, "half")->data, wide, sizeof wide);
    assay_graph_free(g);
    free(file);
}

/* Rows [0,5,0,6] and [7,0,0,0], stored as 5, 6, 7. */
static void test_sparse(void **state)
{
    static const int8_t stored[3] = {5, 6, 7}, dense[8] = {0, 5, 0, 6, 7, 0, 0, 0};
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {2}};
    unsigned char *file;
    assay_graph *g;

    (void)state;
    tb_add(&m, "x", TFL_INT8, 1, 4, -1);
    tb_quant(&m, 1, 0);
    tb_add(&m, "w", TFL_INT8, 2, 4, -1);
    tb_quant(&m, 1, 0);
    tb_data(&m, stored, sizeof stored);
    m.tensor[1].sparse = 1;
    tb_add(&m, "y", TFL_INT8, 1, 2, -1);
    tb_quant(&m, 1, 0);
    tb_outputs(tb_operator(&m, FC, 0, 1, -1, -2), 2, -2);
    g = import_ok(&m, &file);
    assert_memory_equal(value(g, "w")->data, dense, sizeof dense);
    assay_graph_free(g);
    free(file);
    m.tensor[1].bytes = 2;
    refuse(&m, "the buffer has too few elements");
    m.tensor[1].bytes = 3;
    m.tensor[1].dim[1] = 3;
    m.tensor[0].dim[1] = 3;
    refuse(&m, "an element lies outside the tensor");
}

static void test_outside_buffer(void **state)
{
    tb_model m = conv_model();
    unsigned char *file;
    assay_graph *g;

    (void)state;
    m.tensor[1].outside = true;
    g = import_ok(&m, &file);
    assert_memory_equal(value(g, "w")->data, conv_weights, sizeof conv_weights);
    assay_graph_free(g);
    free(file);
    m.tensor[1].bytes -= 1;
    refuse(&m, "tensor 1 'w': its buffer is too small for its shape");
}

/* ---- what moves: run and compared with arrays written down ---- */

static void run_one(const tb_model *m, const float *x, const float *want, size_t n)
{
    unsigned char *file;
    assay_graph *g = import_ok(m, &file);
    assay_program *p;
    assay_run *r;
    assay_error err;
    const assay_value *in = &g->value[g->input[0]];

    assert_ok(assay_program_make(g, NULL, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    memcpy(assay_run_data(r, g->input[0]), x, assay_type_bytes(&in->type));
    assert_ok(assay_run_execute(r, NULL, false, NULL, &err), &err);
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
    g = import_ok(&m, &file);
    assert_int_equal(((const int64_t *)value(g, "shape")->data)[1], 2);
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
        g = import_ok(&m, &file);
        n = producer(g, "y");
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
    g = import_ok(&m, &file);
    assert_ok(assay_program_make(g, NULL, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    memcpy(assay_run_data(r, g->input[0]), x, sizeof x);
    assert_ok(assay_run_execute(r, NULL, false, NULL, &err), &err);
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
    g = import_ok(&m, &file);
    assert_int_equal(producer(g, "y")->op, ASSAY_OP_RELABEL);
    assert_int_equal(producer(g, "y/moved")->op, ASSAY_OP_RESHAPE);
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
    assay_graph *g = import_ok(m, &file);
    assay_program *p;
    assay_run *r;
    assay_error err;

    assert_true(value(g, "total")->is_variable);
    assert_ok(assay_program_make(g, NULL, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    for (int round = 0; round < 2; ++round) {
        for (int step = 1; step <= 3; ++step) {
            const float *y;
            memcpy(assay_run_data(r, g->input[0]), x, sizeof x);
            assert_ok(assay_run_execute(r, NULL, false, NULL, &err), &err);
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
        assert_int_equal(import(&m, &file, &g, &err), ASSAY_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.text, "CALL_ONCE: MUL in its subgraph"));
        free(file);
    }
    m = running_sum(NULL); /* the other subgraph is another entry point */
    m.next = &init;
    check_sums(&m, 0);
}

/* ---- refusals ---- */

static void test_unsupported(void **state)
{
    tb_model m = {.n_inputs = 2, .input = {0, 1}, .n_outputs = 1, .output = {6}};
    unsigned char *file;
    assay_graph *g;
    assay_error err;

    (void)state;
    tb_add(&m, "x", TFL_BOOL, 4, -1);
    tb_add(&m, "f", TFL_FLOAT32, 1, 4, -1);
    tb_add(&m, "w", TFL_INT8, 2, 4, -1); /* without a scale */
    tb_data(&m, conv_weights, 8);
    for (int i = 0; i < 3; ++i) {
        char name[8];
        snprintf(name, sizeof name, "t%d", i);
        tb_add(&m, name, TFL_INT64, 4, 1, -1);
    }
    tb_add(&m, "y", TFL_FLOAT32, 1, 2, -1);
    tb_outputs(tb_operator(&m, WHERE, 0, -2), 3, -2);
    tb_outputs(tb_operator(&m, CUSTOM, 3, -2), 4, -2);
    m.op[1].custom = "Mystery";
    tb_outputs(tb_operator(&m, WHERE, 0, -2), 5, -2);
    tb_outputs(tb_operator(&m, FC, 1, 2, -1, -2), 6, -2);
    assert_int_equal(import(&m, &file, &g, &err), ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "WHERE: the shape of its result depends on data (operators 0, 2)"));
    assert_non_null(strstr(err.text, "CUSTOM: 'Mystery' (operator 1)"));
    assert_non_null(strstr(err.text, "FULLY_CONNECTED: hybrid"));
    free(file);
}

static void test_malformed(void **state)
{
    tb_model m = conv_model(), good = m;

    (void)state;
    m.tensor[1].dim[3] = 3;
    refuse(&m, "operator 0 (CONV_2D, 'y'): 2 input channels");
    m = good;
    m.op[0].option[0].bits = -2;
    refuse(&m, "'stride'");
    m = good;
    m.tensor[3].dim[2] = 4;
    refuse(&m, "output 'y'");
    m = good;
    m.tensor[0].dim[1] = -5;
    refuse(&m, "tensor 0 'x'");
    m = good;
    m.tensor[0].dim[1] = m.tensor[0].dim[2] = m.tensor[0].dim[3] = INT32_MAX;
    refuse(&m, "tensor 0 'x'");
    m = good;
    m.tensor[1].n_scales = 2;
    refuse(&m, "tensor 1 'w': the number of scales");
    m = good;
    m.tensor[1].axis = 4;
    refuse(&m, "the quantized dimension does not exist");
    m = good;
    m.tensor[0].scale[0] = 0;
    refuse(&m, "tensor 0 'x': a scale is not finite and above 0");
    m.tensor[0].scale[0] = -1;
    refuse(&m, "tensor 0 'x': a scale is not finite and above 0");
    m = good;
    m.tensor[0].zero[0] = 200;
    refuse(&m, "zero point");
    m = good;
    m.tensor[0].zero[0] = INT64_MAX;
    refuse(&m, "a zero point does not fit 32 bits");
    m = good;
    m.tensor[3].n_scales = 0;
    {
        unsigned char *file;
        assay_graph *g;
        assay_scheme *scheme;
        assay_program *p;
        assay_error err;
        g = import_ok(&m, &file);
        assert_ok(assay_scheme_open("tflite", &scheme, &err), &err);
        assert_refused(assay_program_make(g, scheme, false, &p, &err), &err, "'y'");
        assay_scheme_free(scheme);
        assay_graph_free(g);
        free(file);
    }
    m = good;
    m.op[0].in[0] = 7;
    refuse(&m, "operator 0: there is no tensor 7");
    m = good;
    m.n_inputs = 0;
    refuse(&m, "nothing before it defines its input 0 'x'");
}

static void test_headers(void **state)
{
    tb_model m = conv_model();
    size_t size;
    unsigned char *file = tb_finish(&m, &size);
    assay_graph *g;
    assay_error err;

    (void)state;
    assert_refused(assay_tflite_import_memory("model", file, 7, &g, &err), &err, "TFL3");
    file[4] = 'X';
    assert_refused(assay_tflite_import_memory("model", file, size, &g, &err), &err, "TFL3");
    file[4] = 'T';
    file[0] = 0xf0;
    file[1] = 0xff;
    assert_refused(assay_tflite_import_memory("model", file, size, &g, &err), &err, "at byte 0 of");
    free(file);
    assert_refused(assay_tflite_import_file("/nonexistent.tflite", &g, &err), &err,
                   "/nonexistent.tflite");
    assert_refused(assay_tflite_import_file("/", &g, &err), &err, "not a regular file");
}

/* ---- mutated files: refused or imported, never a crash; the sanitizers watch ---- */

static void mutate(test_rng *rng, unsigned char *bytes, size_t *size)
{
    int flips = (int)test_between(rng, 1, 8);
    if (test_between(rng, 0, 4) == 0)
        *size = (size_t)test_between(rng, 0, (int64_t)*size);
    for (int i = 0; *size > 0 && i < flips; ++i) {
        size_t at = (size_t)test_between(rng, 0, (int64_t)*size - 1);
        switch (test_between(rng, 0, 3)) {
        case 0:
            bytes[at] ^= (unsigned char)(1 << test_between(rng, 0, 7));
            break;
        case 1:
            bytes[at] = (unsigned char)test_random(rng);
            break;
        case 2:
            bytes[at] = 0xff;
            break;
        default:
            memset(bytes + at, (int)test_between(rng, 0, 255), *size - at < 4 ? *size - at : 4);
        }
    }
}

static void test_mutations(void **state)
{
    test_rng rng = test_seed("tflite mutations", 20261121);
    tb_model m = conv_model();
    size_t size;
    unsigned char *file = tb_finish(&m, &size), *copy = malloc(size);
    int imported = 0;

    (void)state;
    assert_non_null(copy);
    for (int i = 0; i < 10000; ++i) {
        size_t n = size;
        assay_graph *g;
        assay_error err;
        memcpy(copy, file, size);
        mutate(&rng, copy, &n);
        if (assay_tflite_import_memory("mutant", copy, n, &g, &err) == ASSAY_OK) {
            ++imported;
            assay_graph_free(g);
        } else {
            assert_true(err.text[0] != 0);
        }
    }
    print_message("# %d of 10000 mutants imported\n", imported);
    assert_in_range(imported, 1, 9999);
    free(copy);
    free(file);
}

/* ---- real models ---- */

static void test_models(void **state)
{
    char folder[4000], path[4400];
    DIR *d;
    int count = 0;

    (void)state;
    if (!test_shared("models", folder, sizeof folder))
        skip();
    d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        assay_graph *g;
        assay_error err;
        if (!strstr(e->d_name, ".tflite"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        ++count;
        assert_ok(assay_tflite_import_file(path, &g, &err), &err);
        assay_graph_free(g);
    }
    closedir(d);
    print_message("# %d models\n", count);
    assert_true(count > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),           cmocka_unit_test(test_pads),
        cmocka_unit_test(test_depthwise),      cmocka_unit_test(test_fully_connected),
        cmocka_unit_test(test_names),          cmocka_unit_test(test_int4),
        cmocka_unit_test(test_float16),        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_outside_buffer), cmocka_unit_test(test_space_to_batch),
        cmocka_unit_test(test_strided_slice),  cmocka_unit_test(test_pack_unpack),
        cmocka_unit_test(test_constants),      cmocka_unit_test(test_transpose_conv),
        cmocka_unit_test(test_cast_of_codes),  cmocka_unit_test(test_relabel),
        cmocka_unit_test(test_variables),      cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_malformed),      cmocka_unit_test(test_headers),
        cmocka_unit_test(test_mutations),      cmocka_unit_test(test_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
