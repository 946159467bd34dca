/* Small models from text, and what the importer makes of them. */
#ifndef ASSAY_TEST_ONNX_FORM_H
#define ASSAY_TEST_ONNX_FORM_H

#include <stdint.h>

#include "graph/onnx/onnx.h"

/* The text is onnx_build.h's; fails the test when the model is refused. */
assay_graph *onnx_form_import(int64_t opset, const char *text, const assay_onnx_options *options);

typedef struct onnx_form {
    int64_t opset;
    const char *text; /* output values are called y */
    const char *ops;  /* in order, "conv relu" */
    const char *shape;
} onnx_form;

/* "quantize add(float)": the graph's ops in order, those on no codes marked. */
void onnx_form_ops(const assay_graph *g, char *buf, size_t size);

void onnx_form_check(const onnx_form *f);

/* The import of the text fails with this status and one line that has `part` in it. */
void onnx_form_refused(int64_t opset, const char *text, assay_status status, const char *part);

#define CHECK_ALL(forms)                                                                           \
    for (size_t i_ = 0; i_ < sizeof(forms) / sizeof *(forms); i_++)                                \
    onnx_form_check(&(forms)[i_])

#endif
