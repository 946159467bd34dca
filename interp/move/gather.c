/* gather: y[a.., i.., b..] = x[a.., indices[i..], b..] along attr.axis; with batch_dims n the first
 * n of a.. are also the first axes of the indices: indices[a[0..n), i..]. gather_nd: y[i.., b..] =
 * x[indices[i.., 0], ..., indices[i.., m-1], b..]. A negative index counts from the end; one
 * outside the axis is an error. */
#include <inttypes.h>
#include <string.h>

#include "interp/move/move.h"

/* Index i of the list, made non-negative and checked against the axis's extent n. */
static assay_status index_in(const assay_call *call, int64_t i, int axis, int64_t n, int64_t *out,
                             assay_error *err)
{
    int64_t v = move_load_index(&call->in[1], i);
    *out = v < 0 ? v + n : v;
    if (*out >= 0 && *out < n)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "node '%s': index %" PRId64 " is outside axis %d of extent %" PRId64,
                      call->node->name, v, axis, n);
}

assay_status move_gather(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0];
    int axis = (int)call->node->attr.gather.axis, batch = (int)call->node->attr.gather.batch_dims;
    int64_t n = x->type->dim[axis];
    int64_t picks = move_extent(call->in[1].type, batch, call->in[1].type->rank);
    int64_t each = move_extent(x->type, batch, axis); /* slices that share a list of indices */
    size_t run =
        (size_t)move_extent(x->type, axis + 1, x->type->rank) * assay_elem_size(x->type->elem);
    int64_t outer = move_extent(x->type, 0, axis);
    char *to = call->out[0].data;

    for (int64_t o = 0; o < outer; o++) {
        const char *from = (const char *)x->data + (size_t)(o * n) * run;
        for (int64_t i = 0; i < picks; i++, to += run) {
            int64_t at;
            assay_status s = index_in(call, o / each * picks + i, axis, n, &at, err);
            if (s)
                return s;
            memcpy(to, from + (size_t)at * run, run);
        }
    }
    return ASSAY_OK;
}

assay_status move_place(const assay_call *call, const assay_type *x, int64_t i, int64_t run,
                        int64_t *at, assay_error *err)
{
    const assay_type *list = call->in[1].type;
    const int m = (int)list->dim[list->rank - 1];
    *at = 0;
    for (int d = 0; d < m; d++) {
        int64_t v;
        assay_status s = index_in(call, i * m + d, d, x->dim[d], &v, err);
        if (s)
            return s;
        *at = *at * x->dim[d] + v;
    }
    *at *= run;
    return ASSAY_OK;
}

assay_status move_gather_nd(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0];
    const assay_type *list = call->in[1].type;
    const int64_t picks = move_extent(list, 0, list->rank - 1);
    const int64_t run = move_extent(x->type, (int)list->dim[list->rank - 1], x->type->rank);
    const size_t size = assay_elem_size(x->type->elem);
    char *to = call->out[0].data;

    for (int64_t i = 0; i < picks; i++, to += (size_t)run * size) {
        int64_t at;
        assay_status s = move_place(call, x->type, i, run, &at, err);
        if (s)
            return s;
        memcpy(to, (const char *)x->data + (size_t)at * size, (size_t)run * size);
    }
    return ASSAY_OK;
}
