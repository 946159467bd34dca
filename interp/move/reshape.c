/* reshape: y has x's elements in the same C order under another shape. read and relabel are the
 * same copy; assign copies twice: into the variable and into y. */
#include <string.h>

#include "interp/move/move.h"

assay_status move_reshape(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0], *y = &call->out[0];
    (void)err;
    memmove(y->data, x->data, (size_t)assay_shape_count(y->type) * assay_elem_size(y->type->elem));
    return ASSAY_OK;
}

assay_status move_assign(assay_call *call, assay_error *err)
{
    const assay_view *variable = &call->in[0], *x = &call->in[1], *y = &call->out[0];
    size_t bytes = (size_t)assay_shape_count(y->type) * assay_elem_size(y->type->elem);
    (void)err;
    memmove(variable->data, x->data, bytes);
    memmove(y->data, x->data, bytes);
    return ASSAY_OK;
}
