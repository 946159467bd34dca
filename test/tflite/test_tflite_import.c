/* The TFLite importer on small models made here: what it keeps and what it turns into what; and all
 * models of ../shared/models. */
#include "test/support/tflite_build.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/buf.h"
#include "graph/text/text.h"
#include "graph/tflite/export.h"
#include "graph/tflite/tflite.h"
#include "schemes/derive/derive.h"
#include "schemes/node/spec.h"

/* builtin operators */
enum { ADD = 0, CONV = 3, DEPTHWISE = 4, DEQUANTIZE = 6, FC = 9, MUL = 18 };

static void test_conv(void **state)
{
    tb_model m = tb_conv_model();
    size_t size;
    unsigned char *file = tb_finish(&m, &size);
    assay_graph *g;
    assay_error err;
    const assay_node *n;

    (void)state;
    assert_ok(tfl_import_memory("model", file, size, &g, &err), &err);
    n = tb_producer(g, "y");
    assert_int_equal(n->op, ASSAY_OP_CONV);
    assert_int_equal(n->attr.conv.layout, ASSAY_LAYOUT_NHWC);
    assert_int_equal(n->attr.conv.group, 1);
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(n->attr.conv.stride.v[i], 2);
        assert_int_equal(n->attr.conv.pad_begin.v[i], 1);
        assert_int_equal(n->attr.conv.pad_end.v[i], 1);
    }
    assert_true(n->act_lo == 0 && n->act_hi == 6);
    assert_int_equal(tb_value(g, "w")->type.q.granularity, ASSAY_Q_AXIS);
    assert_int_equal(tb_value(g, "w")->type.q.axis, 0);
    assert_true(tb_value(g, "w")->type.q.scale[1] == 0.125F);
    assert_int_equal(tb_value(g, "x")->type.q.zero_point[0], -3);
    assert_int_equal(tb_value(g, "y")->source_index, 3);
    /* constants stay where they are in the file */
    assert_in_range((uintptr_t)tb_value(g, "w")->data, (uintptr_t)file, (uintptr_t)file + size);
    assert_in_range((uintptr_t)tb_value(g, "b")->data, (uintptr_t)file, (uintptr_t)file + size);
    assert_int_equal(((const int32_t *)tb_value(g, "b")->data)[2], 30);
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
        g = tb_import_ok(&m, &file);
        n = tb_producer(g, "y");
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
    static const int8_t transposed[8] = {1, 5, 2, 6, 3, 7, 4, 8};
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
    g = tb_import_ok(&m, &file);
    assert_int_equal(tb_producer(g, "y")->attr.conv.group, 2);
    assert_int_equal(tb_value(g, "w")->type.dim[0], 4);
    assert_int_equal(tb_value(g, "w")->type.dim[2], 2);
    assert_int_equal(tb_value(g, "w")->type.dim[3], 1);
    assert_int_equal(tb_value(g, "w")->type.q.axis, 0);
    assert_true(tb_value(g, "w")->type.q.scale[3] == 3.5F);
    assert_memory_equal(tb_value(g, "w")->data, transposed, sizeof transposed);
    assay_graph_free(g);
    free(file);
}

/* An operator with one channel and one group, depthwise or not. */
static assay_graph *one_channel(int op, unsigned char **file)
{
    static const int8_t w[12] = {90, -120, 31, 14, -25, 6, 17, 118, -9, 77, 5, -61};
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {2}};
    tb_add(&m, "x", TFL_INT8, 1, 9, 9, 1, -1);
    tb_quant(&m, 0.11F, 3);
    if (op == DEPTHWISE)
        tb_add(&m, "w", TFL_INT8, 1, 3, 1, 4, -1);
    else
        tb_add(&m, "w", TFL_INT8, 4, 3, 1, 1, -1);
    tb_quant(&m, 0.013F, 0);
    tb_data(&m, w, sizeof w);
    tb_add(&m, "y", TFL_INT8, 1, 7, 9, 4, -1);
    tb_quant(&m, 0.17F, -4);
    tb_op *o = tb_operator(&m, op, 0, 1, -1, -2);
    tb_outputs(o, 2, -2);
    tb_option_i8(o, CONV_PADDING, PADDING_VALID);
    tb_option_i32(o, CONV_STRIDE_W, 1);
    tb_option_i32(o, CONV_STRIDE_H, 1);
    if (op == DEPTHWISE)
        tb_option_i32(o, DEPTHWISE_MULTIPLIER, 4);
    return tb_import_ok(&m, file);
}

/* Of the node's rescale, under a scheme that rounds depthwise ones once and others twice. */
static int rounds(const assay_graph *g)
{
    static const char text[] = "scheme: t\nextends: tflite\n"
                               "ops: {depthwise: {rescale: {round: [half-up]}}}\n";
    assay_scheme *s;
    assay_error err;
    assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_record r;
    assay_unit_spec_fill(g, tb_producer(g, "y"), in, &spec);
    assay_effective_record(assay_data(s), spec.op, spec.node, derive_variant_of(&spec), &r);
    assay_scheme_free(s);
    return r.rescale.round.n;
}

/* A scheme's arithmetic of depthwise ones is that of one channel's too: as imported, read back from
 * text, written as TFLite and read again. */
static void test_depthwise_of_one(void **state)
{
    (void)state;
    for (int op = CONV; op <= DEPTHWISE; op++) {
        const int want = op == DEPTHWISE ? 1 : 2;
        unsigned char *file, *out;
        size_t length;
        assay_buf text = {0};
        assay_error err;
        assay_graph *g = one_channel(op, &file), *again;
        assert_int_equal(rounds(g), want);
        assert_ok(text_graph_print(g, NULL, &text, &err), &err);
        assert_ok(text_graph_parse(text.text, text.length, "again", NULL, &again, &err), &err);
        assert_int_equal(rounds(again), want);
        assay_graph_free(again);
        assert_ok(tfl_export_graph(g, &out, &length, &err), &err);
        assert_ok(tfl_import_memory("again", out, length, &again, &err), &err);
        assert_int_equal(rounds(again), want);
        assay_graph_free(again);
        assay_graph_free(g);
        assay_buf_free(&text);
        free(out);
        free(file);
    }
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
    g = tb_import_ok(&m, &file);
    assert_int_equal(g->n_nodes, 3);
    assert_int_equal(tb_producer(g, "flat/rows")->op, ASSAY_OP_RESHAPE);
    assert_int_equal(tb_producer(g, "flat")->op, ASSAY_OP_FC);
    assert_int_equal(tb_producer(g, "kept")->op, ASSAY_OP_FC);
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
    g = tb_import_ok(&m, &file);
    assert_string_equal(g->value[g->input[0]].name, "left");
    assert_string_equal(g->value[g->input[1]].name, "right");
    assert_int_equal(tb_value(g, "twice")->source_index, 2);
    assert_int_equal(tb_value(g, "twice#3")->source_index, 3);
    assert_int_equal(tb_value(g, "#4")->source_index, 4);
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
    g = tb_import_ok(&m, &file);
    assert_int_equal(tb_value(g, "w")->type.elem.bits, 4);
    assert_memory_equal(tb_value(g, "w")->data, codes, sizeof codes);
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
    g = tb_import_ok(&m, &file);
    assert_int_equal(g->n_nodes, 1);
    assert_memory_equal(tb_value(g, "half")->data, wide, sizeof wide);
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
    g = tb_import_ok(&m, &file);
    assert_memory_equal(tb_value(g, "w")->data, dense, sizeof dense);
    assay_graph_free(g);
    free(file);
    m.tensor[1].bytes = 2;
    tb_refuse(&m, "the buffer has too few elements");
    m.tensor[1].bytes = 3;
    m.tensor[1].dim[1] = 3;
    m.tensor[0].dim[1] = 3;
    tb_refuse(&m, "an element lies outside the tensor");
}

static void test_outside_buffer(void **state)
{
    tb_model m = tb_conv_model();
    unsigned char *file;
    assay_graph *g;

    (void)state;
    m.tensor[1].outside = true;
    g = tb_import_ok(&m, &file);
    assert_memory_equal(tb_value(g, "w")->data, tb_conv_weights, sizeof tb_conv_weights);
    assay_graph_free(g);
    free(file);
    m.tensor[1].bytes -= 1;
    tb_refuse(&m, "tensor 1 'w': its buffer is too small for its shape");
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
        assert_ok(tfl_import_file(path, &g, &err), &err);
        assay_graph_free(g);
    }
    closedir(d);
    print_message("# %d models\n", count);
    assert_true(count > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),
        cmocka_unit_test(test_pads),
        cmocka_unit_test(test_depthwise),
        cmocka_unit_test(test_depthwise_of_one),
        cmocka_unit_test(test_fully_connected),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_int4),
        cmocka_unit_test(test_float16),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_outside_buffer),
        cmocka_unit_test(test_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
