/* slice: y[i] = x[begin + i * step] on each axis, step not zero; reverse: step -1 from the end on
 * the axes of attr.axes. */
#include "interp/move/move.h"

assay_status move_slice(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0], *y = &call->out[0];
    const assay_attr_slice *a = &call->node->attr.slice;
    int64_t step[ASSAY_MAX_RANK];
    assay_strided w = {.rank = y->type->rank};

    (void)err;
    move_c_steps(x->type, step);
    for (int d = 0; d < w.rank; d++) {
        w.dim[d] = y->type->dim[d];
        w.step[d] = step[d] * a->step.v[d];
        w.offset += step[d] * a->begin.v[d];
    }
    move_copy_strided(y->data, x->data, assay_elem_size(x->type->elem), &w);
    return ASSAY_OK;
}

assay_status move_reverse(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0], *y = &call->out[0];
    const assay_list *axes = &call->node->attr.axes.axes;
    assay_strided w = {.rank = x->type->rank};

    (void)err;
    move_c_steps(x->type, w.step);
    for (int d = 0; d < w.rank; d++)
        w.dim[d] = x->type->dim[d];
    for (int i = 0; i < axes->n; i++) {
        int d = (int)axes->v[i];
        w.offset += w.step[d] * (w.dim[d] - 1);
        w.step[d] = -w.step[d];
    }
    move_copy_strided(y->data, x->data, assay_elem_size(x->type->elem), &w);
    return ASSAY_OK;
}
