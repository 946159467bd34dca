/* Table of integer kernels by op; what only moves data is interp/move's. */
#include "interp/move/move.h"
#include "interp/ref/ref.h"

#define KERNEL(ID, name, calls_)                                                                   \
    [ASSAY_OP_##ID] = {.run = ref_##name, .needs_unit = true, .calls = ASSAY_CALLS_##calls_}
#define KERNEL_SCRATCH(ID, name, scratch_name, calls_)                                             \
    [ASSAY_OP_##ID] = {.run = ref_##name,                                                          \
                       .scratch = ref_##scratch_name##_scratch,                                    \
                       .needs_unit = true,                                                         \
                       .calls = ASSAY_CALLS_##calls_}

/* Element-wise ops without a line here are all unary.c or binary.c. */
static const assay_kernel kernels[ASSAY_OP_COUNT] = {
    KERNEL_SCRATCH(CONV, conv, conv, ACCUMULATE),
    KERNEL_SCRATCH(CONV_TRANSPOSE, conv, conv, ACCUMULATE),
    KERNEL_SCRATCH(FC, fc, fc, ACCUMULATE),
    KERNEL_SCRATCH(SVDF_FEATURE, fc, fc, ACCUMULATE),
    KERNEL_SCRATCH(SVDF_TIME, conv, conv, ACCUMULATE),
    KERNEL_SCRATCH(MATMUL, matmul, matmul, ACCUMULATE),

    [ASSAY_OP_LOOKUP] = {.run = ref_lookup},

    KERNEL_SCRATCH(SOFTMAX, row, row, ROW),
    KERNEL_SCRATCH(LOG_SOFTMAX, row, row, ROW),
    KERNEL_SCRATCH(L2_NORM, row, row, ROW),
    KERNEL_SCRATCH(LAYER_NORM, row, row, ROW),
    KERNEL_SCRATCH(LRN, row, row, ROW),

    KERNEL_SCRATCH(MAX_POOL, max_pool, pool, UNARY),
    KERNEL_SCRATCH(AVG_POOL, avg_pool, pool, POOL),
    KERNEL_SCRATCH(GLOBAL_AVG_POOL, avg_pool, pool, POOL),
    KERNEL(ADD_N, add_n, POOL),
    KERNEL(CUMSUM, cumsum, POOL),
    KERNEL(REDUCE_MEAN, reduce_sum, POOL),
    KERNEL(REDUCE_SUM, reduce_sum, POOL),
    KERNEL_SCRATCH(REDUCE_PROD, product, product, ROW),
    KERNEL(REDUCE_MAX, reduce_max, UNARY),
    KERNEL(REDUCE_MIN, reduce_max, UNARY),
    KERNEL_SCRATCH(RESIZE, resize, resize, UNARY), /* linear: interpolate */

    KERNEL(QUANTIZE, quantize, QUANTIZE),
    KERNEL(DEQUANTIZE, dequantize, DEQUANTIZE),
};

assay_kernel ref_kernel(assay_op op)
{
    if ((int)op < 0 || op >= ASSAY_OP_COUNT)
        return (assay_kernel){0};
    if (kernels[op].run)
        return kernels[op];
    const uint32_t traits = assay_op_get(op)->traits;
    if (traits & ASSAY_T_UNARY)
        return (assay_kernel){.run = ref_unary, .needs_unit = true, .calls = ASSAY_CALLS_UNARY};
    if (traits & ASSAY_T_BINARY && !(traits & ASSAY_T_FLOAT_ONLY))
        return (assay_kernel){.run = ref_binary, .needs_unit = true, .calls = ASSAY_CALLS_BINARY};
    return move_kernel(op);
}
