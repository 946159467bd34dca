/* Element-wise functions of one value.
 *
 *   y[i] = f(x[i])                        activations, tables, rescale
 *   y[i] = table[x[i] - least code of x]   lookup: the network's own table */
#include "interp/ref/ref.h"

assay_status ref_unary(assay_call *call, assay_error *err)
{
    int32_t row[ASSAY_ROW], result[ASSAY_ROW];
    int64_t count = assay_shape_count(call->out[0].type);
    (void)err;

    for (int64_t i = 0; i < count; i += ASSAY_ROW) {
        size_t n = (size_t)(count - i < ASSAY_ROW ? count - i : ASSAY_ROW);
        ref_load_row(&call->in[0], i, 1, n, row);
        ref_finish_unary(call, i, 1, n, row, result);
    }
    return ASSAY_OK;
}

assay_status ref_lookup(assay_call *call, assay_error *err)
{
    int32_t row[ASSAY_ROW];
    const int64_t count = assay_shape_count(call->out[0].type);
    const int64_t least = assay_elem_min(call->in[0].type->elem);
    (void)err;

    for (int64_t i = 0; i < count; i += ASSAY_ROW) {
        size_t n = (size_t)(count - i < ASSAY_ROW ? count - i : ASSAY_ROW);
        ref_load_row(&call->in[0], i, 1, n, row);
        for (size_t k = 0; k < n; k++)
            ref_load_row(&call->in[1], row[k] - least, 1, 1, &row[k]);
        ref_store_row(&call->out[0], i, 1, n, row);
    }
    return ASSAY_OK;
}
