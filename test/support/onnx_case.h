/* ONNX's published node tests: a folder holds model.onnx and test_data_set_N/{input,output}_K.pb.
 *
 * The reader here is independent of the importer on purpose: it decodes the protobuf wire format
 * itself, so that a misreading of the format cannot cancel out. */
#ifndef ASSAY_TEST_ONNX_CASE_H
#define ASSAY_TEST_ONNX_CASE_H

#include "graph/core/type.h"

#define ONNX_CASE_MAX 16

/* A TensorProto that is of the element type its model declares. `type.elem.kind` is NONE for
 * element types that our graphs do not have. */
typedef struct onnx_case_tensor {
    bool present;
    int dtype, rank; /* as in the file */
    assay_type type; /* valid when rank <= ASSAY_MAX_RANK */
    void *data;      /* owned; native order and storage */
} onnx_case_tensor;

typedef struct onnx_case {
    char model[512];
    int n_in, n_out;
    char *in_name[ONNX_CASE_MAX], *out_name[ONNX_CASE_MAX];
    onnx_case_tensor in[ONNX_CASE_MAX], out[ONNX_CASE_MAX];
} onnx_case;

/* Reads data set `set` of the test in `folder`; false when there is no such set. What is not a
 * tensor (sequences, optionals) or contradicts the model (bfloat16 is stored as uint16) is left not
 * present. The caller frees with onnx_case_free. */
bool onnx_case_read(onnx_case *c, const char *folder, int set);
void onnx_case_free(onnx_case *c);

#endif
