/* where: y[k] = the indices, one an axis, of the k-th element of x in C order that is not 0 (-0 is,
 * NaN is not). */
#include <inttypes.h>

#include "interp/move/move.h"

static void store_row(const assay_type *x, int64_t element, int64_t *row)
{
    for (int d = x->rank - 1; d >= 0; d--) {
        row[d] = element % x->dim[d];
        element /= x->dim[d];
    }
}

assay_status move_where(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0];
    int64_t elements = assay_shape_count(x->type), want = call->node->attr.where.count, found = 0;
    int64_t *y = call->out[0].data;

    for (int64_t i = 0; i < elements; i++) {
        if (move_order_key(x, i) == 0)
            continue;
        if (found < want)
            store_row(x->type, i, y + found * x->type->rank);
        found++;
    }
    if (found == want)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "node '%s' (where): %" PRId64
                      " elements are set, but the network's shapes are "
                      "those of an input that sets %" PRId64,
                      call->node->name, found, want);
}
