/* batch_norm: y = scale[c] * (x - mean[c]) / sqrt(variance[c] + epsilon) + bias[c], as ONNX Runtime
 * has it: y = x * factor + (bias[c] - mean[c] * factor), factor = 1 / sqrt(variance[c] + epsilon) *
 * scale[c]. */
#include <math.h>

#include "interp/float/float.h"

assay_status float_batch_norm(assay_call *call, assay_error *err)
{
    const assay_attr_batch_norm *a = &call->node->attr.batch_norm;
    const assay_type *t = call->in[0].type;
    const float *x = call->in[0].data, *scale = call->in[1].data, *bias = call->in[2].data;
    const float *mean = call->in[3].data, *variance = call->in[4].data;
    float *y = call->out[0].data;
    int axis = a->layout == ASSAY_LAYOUT_NHWC ? t->rank - 1 : 1;
    int64_t channels = axis < t->rank ? t->dim[axis] : 1, outer = 1, inner = 1;

    (void)err;
    for (int d = 0; d < t->rank; d++) {
        if (d < axis)
            outer *= t->dim[d];
        if (d > axis)
            inner *= t->dim[d];
    }
    for (int64_t o = 0; o < outer; o++)
        for (int64_t c = 0; c < channels; c++) {
            const float factor = 1 / sqrtf(variance[c] + a->epsilon) * scale[c];
            const float offset = bias[c] - mean[c] * factor;
            for (int64_t i = 0; i < inner; i++, x++, y++)
                *y = *x * factor + offset;
        }
    return ASSAY_OK;
}
