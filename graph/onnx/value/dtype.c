/* ONNX's element types: their names, their storage, which of ours they are. */
#include "graph/onnx/value/value.h"

/* Element types with their storage once read; wide types serve folding only, narrow floats are
 * widened as they are read, float64 is rounded to float32 when it enters the graph, and small
 * floats are patterns. */
static const struct {
    const char *name;
    uint8_t size;
    bool in_graph;
    assay_elem elem;
} dtype_table[] = {
    [ONNX_FLOAT] = {"float32", 4, true, {ASSAY_KIND_F32, 32, true}},
    [ONNX_UINT8] = {"uint8", 1, true, {ASSAY_KIND_INT, 8, false}},
    [ONNX_INT8] = {"int8", 1, true, {ASSAY_KIND_INT, 8, true}},
    [ONNX_UINT16] = {"uint16", 2, true, {ASSAY_KIND_INT, 16, false}},
    [ONNX_INT16] = {"int16", 2, true, {ASSAY_KIND_INT, 16, true}},
    [ONNX_INT32] = {"int32", 4, true, {ASSAY_KIND_INT, 32, true}},
    [ONNX_INT64] = {"int64", 8, true, {ASSAY_KIND_INT, 64, true}},
    [ONNX_STRING] = {"string", 0, false, {0}},
    [ONNX_BOOL] = {"bool", 1, true, {ASSAY_KIND_BOOL, 8, false}},
    [ONNX_FLOAT16] = {"float16", 2, true, {ASSAY_KIND_F32, 32, true}},
    [ONNX_DOUBLE] = {"float64", 8, true, {ASSAY_KIND_F32, 32, true}},
    [ONNX_UINT32] = {"uint32", 4, true, {ASSAY_KIND_INT, 32, false}},
    [ONNX_UINT64] = {"uint64", 8, false, {0}},
    [14] = {"complex64", 0, false, {0}},
    [15] = {"complex128", 0, false, {0}},
    [ONNX_BFLOAT16] = {"bfloat16", 2, true, {ASSAY_KIND_F32, 32, true}},
    [ONNX_FLOAT8E4M3FN] = {"float8e4m3fn", 1, true, {ASSAY_KIND_F8E4M3FN, 8, false}},
    [ONNX_FLOAT8E4M3FNUZ] = {"float8e4m3fnuz", 1, true, {ASSAY_KIND_F8E4M3FNUZ, 8, false}},
    [ONNX_FLOAT8E5M2] = {"float8e5m2", 1, true, {ASSAY_KIND_F8E5M2, 8, false}},
    [ONNX_FLOAT8E5M2FNUZ] = {"float8e5m2fnuz", 1, true, {ASSAY_KIND_F8E5M2FNUZ, 8, false}},
    [ONNX_UINT4] = {"uint4", 1, true, {ASSAY_KIND_INT, 4, false}}, /* a byte a code here */
    [ONNX_INT4] = {"int4", 1, true, {ASSAY_KIND_INT, 4, true}},
    [ONNX_FLOAT4E2M1] = {"float4e2m1", 1, true, {ASSAY_KIND_F4E2M1, 4, false}},
    [ONNX_FLOAT8E8M0] = {"float8e8m0", 1, true, {ASSAY_KIND_F8E8M0, 8, false}},
    [ONNX_UINT2] = {"uint2", 1, true, {ASSAY_KIND_INT, 2, false}},
    [ONNX_INT2] = {"int2", 1, true, {ASSAY_KIND_INT, 2, true}},
};
#define N_DTYPES ((int)(sizeof dtype_table / sizeof dtype_table[0]))

size_t onnx_dtype_size(int dtype)
{
    return dtype > 0 && dtype < N_DTYPES ? dtype_table[dtype].size : 0;
}

const char *onnx_dtype_name(int dtype)
{
    return dtype > 0 && dtype < N_DTYPES ? dtype_table[dtype].name : "of an unknown type";
}

bool onnx_dtype_elem(int dtype, assay_elem *elem)
{
    if (dtype <= 0 || dtype >= N_DTYPES || !dtype_table[dtype].in_graph)
        return false;
    *elem = dtype_table[dtype].elem;
    return true;
}

int onnx_elem_dtype(assay_elem elem)
{
    for (int i = 1; i < N_DTYPES; i++)
        if (dtype_table[i].in_graph && assay_elem_equal(dtype_table[i].elem, elem))
            return i;
    return ONNX_UNDEFINED;
}

bool onnx_is_float(int dtype)
{
    return dtype == ONNX_FLOAT || dtype == ONNX_DOUBLE || onnx_is_narrow(dtype);
}

bool onnx_is_small(int dtype)
{
    assay_elem elem;
    return onnx_dtype_elem(dtype, &elem) && assay_is_small_float(elem);
}

unsigned onnx_dtype_packed(int dtype)
{
    switch (dtype) {
    case ONNX_UINT4:
    case ONNX_INT4:
    case ONNX_FLOAT4E2M1:
        return 4;
    case ONNX_UINT2:
    case ONNX_INT2:
        return 2;
    default:
        return 0;
    }
}

bool onnx_is_narrow(int dtype)
{
    return dtype == ONNX_FLOAT16 || dtype == ONNX_BFLOAT16;
}
