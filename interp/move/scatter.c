/* scatter_nd: y = x, then y[indices[i.., 0], ..., indices[i.., m-1], b..] = updates[i.., b..] in C
 * order of i, so that the last of several for one place stays. A negative index counts from the
 * end; one outside the axis is an error. */
#include <string.h>

#include "interp/move/move.h"

assay_status move_scatter_nd(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0];
    const assay_type *list = call->in[1].type;
    const int64_t rows = move_extent(list, 0, list->rank - 1);
    const int64_t run = move_extent(x->type, (int)list->dim[list->rank - 1], x->type->rank);
    const size_t size = assay_elem_size(x->type->elem);
    const char *from = call->in[2].data;

    memcpy(call->out[0].data, x->data, (size_t)assay_shape_count(x->type) * size);
    for (int64_t i = 0; i < rows; i++, from += (size_t)run * size) {
        int64_t at;
        assay_status s = move_place(call, x->type, i, run, &at, err);
        if (s)
            return s;
        memcpy((char *)call->out[0].data + (size_t)at * size, from, (size_t)run * size);
    }
    return ASSAY_OK;
}
