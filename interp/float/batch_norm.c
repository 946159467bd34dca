/* batch_norm: y = scale[c] * (x - mean[c]) / sqrt(variance[c] + epsilon) + bias[c], as ONNX Runtime
 * has it: y = x * factor + (bias[c] - mean[c] * factor), factor = 1 / sqrt(variance[c] + epsilon) *
 * scale[c]. */
#include <math.h>

#include "interp/float/float.h"

/* The element that is asked for, where it is one of the `inner` ones of a channel from `first` on.
 */
static void tell(const assay_call *call, int64_t first, int64_t inner, float factor, float offset)
{
    const int64_t at = call->teller ? (int64_t)call->teller->at : -1;
    if (at < first || at >= first + inner)
        return;
    const float x = ((const float *)call->in[0].data)[at];
    apply_tell_float(call->teller, "x", x);
    apply_tell_float(call->teller, "scale / root(variance + epsilon)", factor);
    apply_tell_float(call->teller, "bias - mean * that factor", offset);
    apply_tell_float(call->teller, "x * factor", x * factor);
    apply_tell_float(call->teller, "and what is added", x * factor + offset);
}

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
            tell(call, (o * channels + c) * inner, inner, factor, offset);
            for (int64_t i = 0; i < inner; i++, x++, y++)
                *y = *x * factor + offset;
        }
    return ASSAY_OK;
}
