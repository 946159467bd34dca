/* transpose: axis d of y is axis perm[d] of x. */
#include "interp/move/move.h"

assay_status move_transpose(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0], *y = &call->out[0];
    const assay_list *perm = &call->node->attr.perm.perm;
    int64_t step[ASSAY_MAX_RANK];
    assay_strided w = {.rank = y->type->rank};

    (void)err;
    move_c_steps(x->type, step);
    for (int d = 0; d < w.rank; d++) {
        w.dim[d] = y->type->dim[d];
        w.step[d] = step[perm->v[d]];
    }
    move_copy_strided(y->data, x->data, assay_elem_size(x->type->elem), &w);
    return ASSAY_OK;
}
