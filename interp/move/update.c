/* update_slice: y = x, but y[begin + i] = update[i]; begin is clamped so that the update lies
 * inside x (TFLite, kernels/dynamic_update_slice.cc). */
#include <string.h>

#include "interp/move/move.h"

assay_status move_update_slice(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0], *update = &call->in[1];
    const int rank = x->type->rank;
    const size_t size = assay_elem_size(x->type->elem);
    const int64_t n = assay_shape_count(update->type);
    int64_t step[ASSAY_MAX_RANK], index[ASSAY_MAX_RANK] = {0}, at = 0;

    (void)err;
    memcpy(call->out[0].data, x->data, (size_t)assay_shape_count(x->type) * size);
    move_c_steps(x->type, step);
    for (int d = 0; d < rank; d++) {
        const int64_t max = x->type->dim[d] - update->type->dim[d];
        int64_t begin = move_load_index(&call->in[2], d);
        begin = begin < 0 ? 0 : begin > max ? max : begin;
        at += begin * step[d];
    }
    for (int64_t i = 0; i < n; i++) {
        memcpy((char *)call->out[0].data + (size_t)at * size,
               (const char *)update->data + (size_t)i * size, size);
        for (int d = rank - 1; d >= 0; d--) {
            at += step[d];
            if (++index[d] < update->type->dim[d])
                break;
            at -= step[d] * index[d];
            index[d] = 0;
        }
    }
    return ASSAY_OK;
}
