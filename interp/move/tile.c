/* tile: y[i] = x[i mod n] on each axis. Each axis is walked as two: which repeat, then where. */
#include "interp/move/move.h"

assay_status move_tile(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0], *y = &call->out[0];
    int64_t step[ASSAY_MAX_RANK];
    assay_strided w = {.rank = 2 * x->type->rank};

    (void)err;
    move_c_steps(x->type, step);
    for (int d = 0; d < x->type->rank; d++) {
        int64_t n = x->type->dim[d];
        w.dim[2 * d] = n > 0 ? y->type->dim[d] / n : 0;
        w.dim[2 * d + 1] = n;
        w.step[2 * d + 1] = step[d];
    }
    move_copy_strided(y->data, x->data, assay_elem_size(x->type->elem), &w);
    return ASSAY_OK;
}
