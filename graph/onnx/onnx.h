/* Import of ONNX models: opsets 7 to 26 of the standard domain, and older ones as far as their
 * operators have not changed in meaning since. 26 is the newest that is released (onnx 1.21) and
 * that ONNX Runtime 1.30 loads; onnx 1.22 registers a 27 ahead of its release.
 *
 * The importer normalises: auto_pad becomes explicit pads, shape arithmetic is evaluated, Identity
 * and Dropout disappear, Gemm with constant weights becomes fc, and the GELU, hard-swish and layer
 * normalization patterns that exporters write become one op. Values keep their ONNX names; nodes
 * without a name are called OPTYPE_INDEX. */
#ifndef ASSAY_GRAPH_ONNX_ONNX_H
#define ASSAY_GRAPH_ONNX_ONNX_H

#include "graph/core/sample.h"

#define ASSAY_ONNX_OPSET_MIN 1
#define ASSAY_ONNX_OPSET_MAX 26

/* The extent of a symbolic dimension ("batch", "seq_len", ...), in every input that names it. */
typedef struct assay_onnx_dim {
    const char *symbol;
    int64_t extent;
} assay_onnx_dim;

/* The shape of one input; replaces what the model says. */
typedef struct assay_onnx_shape {
    const char *input;
    int rank;
    int64_t dim[ASSAY_MAX_RANK];
} assay_onnx_shape;

/* An input that becomes a constant: shapes, axes, bounds that a model takes at run time. Either
 * `data` in native order and storage, C order, or numbers in the type and shape that the model
 * declares, where one extent that it leaves open is what they leave. */
typedef struct assay_onnx_fixed {
    const char *input;
    assay_type type;
    const void *data;
    const double *number; /* NULL: `type` and `data` say it */
    size_t n_numbers;
} assay_onnx_fixed;

/* Zero-initialise; everything is optional and borrowed for the call. */
typedef struct assay_onnx_options {
    int64_t batch; /* extent of an unknown first dimension; 0 means 1 */
    const assay_onnx_dim *dims;
    size_t n_dims;
    const assay_onnx_shape *shapes;
    size_t n_shapes;
    const assay_onnx_fixed *fixed;
    size_t n_fixed;
    assay_sample sample; /* where shapes depend on data: NonZero, a Reshape to what is computed */
} assay_onnx_options;

/* Reads a model file. `options` may be NULL. On success *out is a verified graph that the caller
 * frees with assay_graph_free and whose model_digest is the XXH3-128 of the file's bytes; on
 * failure *out is NULL. Tensors stored outside the file are read only from the file's own folder.
 * ASSAY_ERR_UNSUPPORTED lists everything unsupported in the model at once, nodes by name. */
assay_status onnx_import_file(const char *path, const assay_onnx_options *options,
                              assay_graph **out, assay_error *err);

/* The same from memory; `name` stands for the file in messages. External tensors are refused. */
assay_status onnx_import_memory(const char *name, const void *bytes, size_t length,
                                const assay_onnx_options *options, assay_graph **out,
                                assay_error *err);

#endif
