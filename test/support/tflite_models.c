/* Import of TFLite models that a test puts together, and a look at what came of it. */
#include "test/support/tflite_build.h"

#include <stdlib.h>

#include "graph/tflite/tflite.h"

/* builtin operators */
enum { CONV = 3 };

assay_status tb_import(const tb_model *m, unsigned char **file, assay_graph **g, assay_error *err)
{
    size_t size;
    *file = tb_finish(m, &size);
    return tfl_import_memory("model", *file, size, g, err);
}

assay_graph *tb_import_ok(const tb_model *m, unsigned char **file)
{
    assay_graph *g;
    assay_error err;
    assert_ok(tb_import(m, file, &g, &err), &err);
    return g;
}

void tb_refuse(const tb_model *m, const char *part)
{
    unsigned char *file;
    assay_graph *g;
    assay_error err;
    assert_refused(tb_import(m, &file, &g, &err), &err, part);
    assert_null(g);
    free(file);
}

const assay_value *tb_value(const assay_graph *g, const char *name)
{
    int id = assay_graph_find_value(g, name);
    if (id < 0)
        fail_msg("there is no value '%s'", name);
    return &g->value[id];
}

const assay_node *tb_producer(const assay_graph *g, const char *name)
{
    return &g->node[tb_value(g, name)->producer];
}

const int8_t tb_conv_weights[3 * 9 * 2] = {1, -2, 3};
const int32_t tb_conv_bias[3] = {10, 20, 30};

tb_model tb_conv_model(void)
{
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {3}};
    tb_op *op;
    tb_add(&m, "x", TFL_INT8, 1, 5, 5, 2, -1);
    tb_quant(&m, 0.5F, -3);
    tb_add(&m, "w", TFL_INT8, 3, 3, 3, 2, -1);
    tb_quant(&m, 0.25F, 0);
    tb_quant(&m, 0.125F, 0);
    tb_quant(&m, 0.5F, 0);
    tb_data(&m, tb_conv_weights, sizeof tb_conv_weights);
    tb_add(&m, "b", TFL_INT32, 3, -1);
    for (int i = 0; i < 3; ++i)
        tb_quant(&m, 0.125F, 0);
    m.tensor[2].axis = 3; /* the weights' axis in a depthwise convolution: seen in real files */
    tb_data(&m, tb_conv_bias, sizeof tb_conv_bias);
    tb_add(&m, "y", TFL_INT8, 1, 3, 3, 3, -1);
    tb_quant(&m, 1.0F, 4);
    op = tb_operator(&m, CONV, 0, 1, 2, -2);
    tb_outputs(op, 3, -2);
    tb_option_i32(op, CONV_STRIDE_W, 2);
    tb_option_i32(op, CONV_STRIDE_H, 2);
    tb_option_i8(op, CONV_ACTIVATION, ACTIVATION_RELU6);
    return m;
}
