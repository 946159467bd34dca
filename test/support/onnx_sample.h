/* Quantized models from text, run under the scheme onnxruntime, beside what ONNX Runtime gives. */
#ifndef ASSAY_TEST_ONNX_SAMPLE_H
#define ASSAY_TEST_ONNX_SAMPLE_H

#include <stdbool.h>

#include "schemes/scheme.h"

/* A scalar scale and a scalar zero point, as lines of a model's text. */
#define ONNX_SCALE(name, value)      "const " name " f32 - = " value "\n"
#define ONNX_ZERO(name, kind, value) "const " name " " kind " - = " value "\n"

typedef struct onnx_sample {
    const char *text;
    double in[24], want[24]; /* first input and first output */
    double second[4];        /* second input */
    bool grouped;            /* run after the grouping */
} onnx_sample;

void onnx_sample_check(const onnx_sample *c);

/* A preset. */
assay_scheme *onnx_sample_scheme(const char *name);

#endif
