/* Outputs whose parameters a record fixes. */
#include "graph/core/type.h"
#include "schemes/record/data.h"

bool assay_fixed_output(const assay_record *r, enum assay_op op, assay_elem out, float *scale,
                        int32_t *zero_point)
{
    float codes = out.bits > 8 ? 32768.0f : 256.0f;
    int32_t least = out.bits > 8 ? 0 : (int32_t)assay_elem_min(out);
    switch (op) {
    case ASSAY_OP_SIGMOID:
        if (r->unary.logistic != ASSAY_LOGISTIC_FIXED)
            return false;
        *scale = 1.0f / codes;
        *zero_point = least;
        return true;
    case ASSAY_OP_TANH:
        if (r->unary.logistic != ASSAY_LOGISTIC_FIXED)
            return false;
        *scale = out.bits > 8 ? 1.0f / 32768.0f : 1.0f / 128.0f;
        *zero_point = out.bits > 8 || out.is_signed ? 0 : 128;
        return true;
    case ASSAY_OP_SOFTMAX:
        if (r->softmax.kind == ASSAY_SOFTMAX_NONE)
            return false;
        *scale = r->softmax.kind == ASSAY_SOFTMAX_IBERT ? 1.0f / 127.0f : 1.0f / codes;
        *zero_point = r->softmax.kind == ASSAY_SOFTMAX_IBERT ? 0 : least;
        return true;
    case ASSAY_OP_LOG_SOFTMAX:
        if (!r->softmax.log_softmax)
            return false;
        *scale = 16.0f / 256.0f;
        *zero_point = (int32_t)assay_elem_max(out);
        return true;
    case ASSAY_OP_L2_NORM:
        if (r->softmax.l2_norm == ASSAY_NORM_NONE)
            return false;
        *scale = 1.0f / 128.0f;
        *zero_point = out.is_signed ? 0 : 128;
        return true;
    default:
        return false;
    }
}
