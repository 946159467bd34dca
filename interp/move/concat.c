/* concat: the inputs one after another along attr.axis; split: its inverse. */
#include <string.h>

#include "interp/move/move.h"

/* Copies between a whole tensor and one of its parts along the axis; `start` is the part's first
 * index there. */
static void copy_part(const assay_view *whole, const assay_view *part, int axis, int64_t start,
                      bool to_whole)
{
    size_t size = assay_elem_size(whole->type->elem);
    int64_t outer = move_extent(whole->type, 0, axis);
    size_t inner = (size_t)move_extent(whole->type, axis + 1, whole->type->rank) * size;
    size_t run = (size_t)part->type->dim[axis] * inner;
    size_t pitch = (size_t)whole->type->dim[axis] * inner;
    char *w = (char *)whole->data + (size_t)start * inner, *p = part->data;

    for (int64_t i = 0; run > 0 && i < outer; i++, w += pitch, p += run)
        memcpy(to_whole ? w : p, to_whole ? p : w, run);
}

assay_status move_concat(assay_call *call, assay_error *err)
{
    const assay_view *y = &call->out[0];
    int axis = (int)call->node->attr.axis.axis;
    int64_t start = 0;

    (void)err;
    for (int i = 0; i < call->node->n_in; i++) {
        copy_part(y, &call->in[i], axis, start, true);
        start += call->in[i].type->dim[axis];
    }
    return ASSAY_OK;
}

assay_status move_split(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0];
    int axis = (int)call->node->attr.split.axis;
    int64_t start = 0;

    (void)err;
    for (int i = 0; i < call->node->n_out; i++) {
        const assay_view *y = &call->out[i];
        if (y->data)
            copy_part(x, y, axis, start, false);
        start += y->type->dim[axis];
    }
    return ASSAY_OK;
}
