/* Between float and codes. Floats are seen as their IEEE bits only: the conversion is the unit's.
 *
 *   quantize     q[i] = quantize(x[i])          dequantize   x[i] = dequantize(q[i])
 *
 * With parameters along an axis, a row runs along that axis, so that its elements are channels. */
#include "interp/ref/ref.h"

/* Rows of `type`: along the parameters' axis, or one row of everything. */
static assay_axis_walk rows_of(const assay_type *type)
{
    if (type->q.granularity == ASSAY_Q_AXIS)
        return assay_walk_axis(type, type->q.axis);
    return (assay_axis_walk){1, assay_shape_count(type), 1};
}

assay_status assay_ref_quantize(assay_call *call, assay_error *err)
{
    const uint32_t *x = call->in[0].data;
    const assay_axis_walk w = rows_of(call->out[0].type);
    uint32_t bits[ASSAY_ROW];
    int32_t q[ASSAY_ROW];
    (void)err;

    for (int64_t o = 0; o < w.outer; o++)
        for (int64_t i = 0; i < w.inner; i++)
            for (int64_t c = 0; c < w.extent; c += ASSAY_ROW) {
                size_t n = (size_t)(w.extent - c < ASSAY_ROW ? w.extent - c : ASSAY_ROW);
                int64_t first = (o * w.extent + c) * w.inner + i;
                for (size_t j = 0; j < n; j++)
                    bits[j] = x[first + (int64_t)j * w.inner];
                call->vt->quantize(call->unit, bits, n, (size_t)c, q);
                assay_store_row(&call->out[0], first, w.inner, n, q);
            }
    return ASSAY_OK;
}

assay_status assay_ref_dequantize(assay_call *call, assay_error *err)
{
    uint32_t *x = call->out[0].data;
    const assay_axis_walk w = rows_of(call->in[0].type);
    uint32_t bits[ASSAY_ROW];
    int32_t q[ASSAY_ROW];
    (void)err;

    for (int64_t o = 0; o < w.outer; o++)
        for (int64_t i = 0; i < w.inner; i++)
            for (int64_t c = 0; c < w.extent; c += ASSAY_ROW) {
                size_t n = (size_t)(w.extent - c < ASSAY_ROW ? w.extent - c : ASSAY_ROW);
                int64_t first = (o * w.extent + c) * w.inner + i;
                assay_load_row(&call->in[0], first, w.inner, n, q);
                call->vt->dequantize(call->unit, q, n, (size_t)c, bits);
                for (size_t j = 0; j < n; j++)
                    x[first + (int64_t)j * w.inner] = bits[j];
            }
    return ASSAY_OK;
}
