/* Element types by the names that models as text have. */
#include "test/support/support.h"

#include <string.h>

#include "graph/onnx/value/value.h"
#include "test/support/onnx_build.h"

int onnx_build_dtype(const char *name)
{
    static const char *const names[] = {[ONNX_FLOAT] = "f32",
                                        [ONNX_UINT8] = "u8",
                                        [ONNX_INT8] = "i8",
                                        [ONNX_UINT16] = "u16",
                                        [ONNX_INT16] = "i16",
                                        [ONNX_INT32] = "i32",
                                        [ONNX_INT64] = "i64",
                                        [ONNX_STRING] = "str",
                                        [ONNX_BOOL] = "bool",
                                        [ONNX_FLOAT16] = "f16",
                                        [ONNX_DOUBLE] = "f64",
                                        [ONNX_UINT32] = "u32",
                                        [ONNX_UINT64] = "u64",
                                        [ONNX_BFLOAT16] = "bf16",
                                        [ONNX_FLOAT8E4M3FN] = "f8e4m3fn",
                                        [ONNX_FLOAT8E4M3FNUZ] = "f8e4m3fnuz",
                                        [ONNX_FLOAT8E5M2] = "f8e5m2",
                                        [ONNX_FLOAT8E5M2FNUZ] = "f8e5m2fnuz",
                                        [ONNX_UINT4] = "u4",
                                        [ONNX_INT4] = "i4",
                                        [ONNX_FLOAT4E2M1] = "f4e2m1",
                                        [ONNX_FLOAT8E8M0] = "f8e8m0",
                                        [ONNX_UINT2] = "u2",
                                        [ONNX_INT2] = "i2"};
    for (int i = 1; i < (int)(sizeof names / sizeof *names); i++)
        if (names[i] && strcmp(names[i], name) == 0)
            return i;
    fail_msg("no element type '%s'", name);
    return 0;
}
