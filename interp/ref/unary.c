/* Element-wise functions of one value.
 *
 *   y[i] = f(x[i])      activations, tables, rescale */
#include "interp/ref/ref.h"

assay_status assay_ref_unary(assay_call *call, assay_error *err)
{
    int32_t row[ASSAY_ROW], result[ASSAY_ROW];
    int64_t count = assay_shape_count(call->out[0].type);
    (void)err;

    for (int64_t i = 0; i < count; i += ASSAY_ROW) {
        size_t n = (size_t)(count - i < ASSAY_ROW ? count - i : ASSAY_ROW);
        assay_load_row(&call->in[0], i, 1, n, row);
        call->vt->unary(call->unit, row, n, result);
        assay_store_row(&call->out[0], i, 1, n, result);
    }
    return ASSAY_OK;
}
