/* cast: the same value in another element kind: to integers toward zero, NaN to 0 and values beyond
 * the type to its ends; integers wrap in a narrower type; to bool, whether it is not zero. To
 * float16 and bfloat16: float32, rounded.
 *
 * Floats under a scheme that has ONNX Runtime's: as x86 converts, to an integer of 32 bits (of 64
 * for kinds that 32 bits with a sign do not hold) whose least one stands for what is beyond it and
 * NaN, and that wraps in a narrower type. */
#include <math.h>

#include "graph/core/narrow.h"

#include "interp/float/float.h"

static int64_t integer_of(float v, assay_elem to)
{
    double t = trunc((double)v);
    if (isnan(t))
        return 0;
    if (t <= (double)assay_elem_min(to))
        return assay_elem_min(to);
    return t >= (double)assay_elem_max(to) ? assay_elem_max(to) : (int64_t)t;
}

static int64_t machine_integer_of(float v, assay_elem to)
{
    const bool wide = to.bits > 32 || (to.bits == 32 && !to.is_signed);
    const float end = wide ? 0x1p63F : 0x1p31F;

    if (v >= -end && v < end)
        return (int64_t)v;
    return wide ? INT64_MIN : INT32_MIN;
}

assay_status float_cast(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0], *y = &call->out[0];
    int64_t n = assay_shape_count(x->type);
    int to = call->node->attr.cast.to;
    bool to_bool = y->type->elem.kind == ASSAY_KIND_BOOL;
    bool machine = call->vt && !call->in_turn;

    (void)err;
    for (int64_t i = 0; i < n; i++) {
        int64_t v = 0;
        float f = 0;
        if (float_holds_f32(x)) {
            f = ((const float *)x->data)[i];
            v = to_bool || float_holds_f32(y) ? f != 0
                : machine                     ? machine_integer_of(f, y->type->elem)
                                              : integer_of(f, y->type->elem);
        } else {
            float_load_integers(x, i, 1, 1, &v);
            f = (float)v;
        }
        if (to_bool)
            v = v != 0;
        if (y->type->elem.kind == ASSAY_KIND_INT)
            v = assay_elem_wrap(y->type->elem, v);
        if (float_holds_f32(y))
            ((float *)y->data)[i] = to == ASSAY_CAST_F16    ? assay_round_f16(f)
                                    : to == ASSAY_CAST_BF16 ? assay_round_bf16(f)
                                                            : f;
        else
            float_store_integers(y, i, 1, &v);
    }
    return ASSAY_OK;
}
