/* Networks for benchmarks, with random weights (bench/layers.h). */
#ifndef ASSAY_BENCH_NETS_H
#define ASSAY_BENCH_NETS_H

#include "graph/core/graph.h"

/* What their tensors are. ONNX's habit: nchw, u8; TFLite's: nhwc, s8. Weights are s8 with a scale a
 * channel in both. */
typedef struct bench_form {
    int layout; /* ASSAY_LAYOUT_NCHW, ASSAY_LAYOUT_NHWC */
    bool is_signed;
    int64_t batch;
    bool is_float; /* floats in place of codes */
} bench_form;

/* ResNet-50 v1.5 (stride in the 3x3), 224 x 224, 4.1 GMAC. */
assay_status bench_resnet50(const bench_form *f, assay_graph **out, assay_error *err);
/* MobileNetV2 1.0, 224 x 224, 0.3 GMAC. */
assay_status bench_mobilenet2(const bench_form *f, assay_graph **out, assay_error *err);
/* DS-CNN of MLPerf Tiny keyword spotting, 49 x 10, 2.7 MMAC. */
assay_status bench_ds_cnn(const bench_form *f, assay_graph **out, assay_error *err);
/* The others of MLPerf Tiny: image classification (ResNet-8, 32 x 32), visual wake words
 * (MobileNetV1 0.25, 96 x 96), anomaly detection (an autoencoder of fc layers, 640 wide). */
assay_status bench_resnet8(const bench_form *f, assay_graph **out, assay_error *err);
assay_status bench_vww(const bench_form *f, assay_graph **out, assay_error *err);
assay_status bench_autoencoder(const bench_form *f, assay_graph **out, assay_error *err);
/* A small network of ResNet's parts, 35 x 35: a strided stem, max pool, two residual blocks. */
assay_status bench_residual(const bench_form *f, assay_graph **out, assay_error *err);
/* A matrix product of rows x depth by depth x outputs (fc). */
assay_status bench_matrix(const bench_form *f, int64_t rows, int64_t depth, int64_t outputs,
                          assay_graph **out, assay_error *err);

#endif
