/* scatter_reduce: y = x, then in C order of i
 *
 *   y[indices[i.., 0], ..., indices[i.., m-1], b..] = that (op) updates[i.., b..]
 *
 * with op add, mul, min or max; integers wrap. A negative index counts from the end. */
#include <math.h>
#include <string.h>

#include "graph/core/integers.h"
#include "interp/float/float.h"
#include "interp/move/move.h"

static float of_floats(int reduction, float x, float z)
{
    switch ((enum assay_reduction)reduction) {
    case ASSAY_REDUCTION_ADD:
        return x + z;
    case ASSAY_REDUCTION_MUL:
        return x * z;
    case ASSAY_REDUCTION_MIN:
        return x < z || isnan(x) ? x : z;
    default:
        return x > z || isnan(x) ? x : z;
    }
}

static int64_t of_integers(int reduction, int64_t x, int64_t z)
{
    static const assay_op op[] = {[ASSAY_REDUCTION_ADD] = ASSAY_OP_ADD,
                                  [ASSAY_REDUCTION_MUL] = ASSAY_OP_MUL,
                                  [ASSAY_REDUCTION_MIN] = ASSAY_OP_MIN,
                                  [ASSAY_REDUCTION_MAX] = ASSAY_OP_MAX};
    int64_t y = 0;
    assay_integers_binary(op[reduction], false, x, z, &y);
    return y;
}

static void reduce_run(const assay_call *call, int64_t at, int64_t from, int64_t run)
{
    const int reduction = call->node->attr.scatter.reduction;
    const assay_view *update = &call->in[2], *y = &call->out[0];
    for (int64_t i = 0; i < run; i++) {
        if (float_holds_f32(y)) {
            float *out = (float *)y->data + at + i;
            *out = of_floats(reduction, *out, ((const float *)update->data)[from + i]);
        } else {
            int64_t a, b;
            float_load_integers(y, at + i, 1, 1, &a);
            float_load_integers(update, from + i, 1, 1, &b);
            a = of_integers(reduction, a, b);
            float_store_integers(y, at + i, 1, &a);
        }
    }
}

assay_status float_scatter_reduce(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0];
    const assay_type *list = call->in[1].type;
    const int64_t rows = move_extent(list, 0, list->rank - 1);
    const int64_t run = move_extent(x->type, (int)list->dim[list->rank - 1], x->type->rank);

    memcpy(call->out[0].data, x->data,
           (size_t)assay_shape_count(x->type) * assay_elem_size(x->type->elem));
    for (int64_t i = 0; i < rows; i++) {
        int64_t at;
        assay_status s = move_place(call, x->type, i, run, &at, err);
        if (s)
            return s;
        reduce_run(call, at, i * run, run);
    }
    return ASSAY_OK;
}
