/* expand: y[i0, i1, ...] = x[j0, j1, ...], j = i where x's extent is more than 1, else 0; x is
 * aligned at its last axis (numpy broadcasting). */
#include "interp/move/move.h"

assay_status move_expand(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0], *y = &call->out[0];
    int64_t step[ASSAY_MAX_RANK];
    assay_strided w = {.rank = y->type->rank};

    (void)err;
    move_c_steps(x->type, step);
    for (int d = 0; d < w.rank; d++) {
        int own = d - (y->type->rank - x->type->rank);
        w.dim[d] = y->type->dim[d];
        w.step[d] = own < 0 || x->type->dim[own] == 1 ? 0 : step[own];
    }
    move_copy_strided(y->data, x->data, assay_elem_size(x->type->elem), &w);
    return ASSAY_OK;
}
