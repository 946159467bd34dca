/* Import, and comparison with what is expected. */
#include "test/support/onnx_form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/onnx_build.h"
#include "test/support/support.h"

assay_graph *onnx_form_import(int64_t opset, const char *text, const assay_onnx_options *options)
{
    size_t length;
    void *bytes = onnx_build(opset, text, &length);
    assay_graph *g = NULL;
    assay_error err = {0};
    assay_status s = onnx_import_memory("test.onnx", bytes, length, options, &g, &err);

    if (s)
        print_error("%s\n", text);
    assert_ok(s, &err);
    free(bytes);
    return g;
}

/* Ops of a graph in order, "conv relu". */
static void ops_of(const assay_graph *g, char *buf, size_t size)
{
    size_t used = 0;

    buf[0] = '\0';
    for (int i = 0; i < g->n_nodes; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? " " : "",
                                 assay_op_get(g->node[i].op)->name);
}

void onnx_form_check(const onnx_form *f)
{
    assay_graph *g = onnx_form_import(f->opset, f->text, NULL);
    char ops[400], shape[80];

    ops_of(g, ops, sizeof ops);
    if (strcmp(ops, f->ops) != 0)
        print_error("%s\n", f->text);
    assert_string_equal(ops, f->ops);
    const assay_value *y = &g->value[g->output[0]];
    assert_string_equal(y->name, "y");
    assay_shape_print(&y->type, shape, sizeof shape);
    if (strcmp(shape, f->shape) != 0)
        print_error("%s\n", f->text);
    assert_string_equal(shape, f->shape);
    assay_graph_free(g);
}

void onnx_form_refused(int64_t opset, const char *text, assay_status status, const char *part)
{
    size_t length;
    void *bytes = onnx_build(opset, text, &length);
    assay_graph *g = NULL;
    assay_error err = {0};
    assay_status s = onnx_import_memory("test.onnx", bytes, length, NULL, &g, &err);

    if (s != status || !strstr(err.text, part))
        print_error("%s\nstatus %d: %s\n", text, (int)s, err.text);
    assert_null(g);
    assert_int_equal(s, status);
    assert_refused(s, &err, part);
    assert_null(strchr(err.text, '\n'));
    free(bytes);
}

void onnx_form_ops(const assay_graph *g, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = '\0';
    for (int i = 0; i < g->n_nodes; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s%s", i ? " " : "",
                                 assay_op_get(g->node[i].op)->name,
                                 assay_node_is_quantized(g, &g->node[i]) ? "" : "(float)");
}
