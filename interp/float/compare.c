/* equal, not_equal, less, less_equal, greater, greater_equal: y = a ? b, on numbers, broadcast;
 * logical_and, logical_or, logical_not on bool. y is bool, 0 or 1. */
#include <stdlib.h>

#include "graph/core/integers.h"
#include "interp/float/float.h"
#include "interp/move/broadcast.h"

#define BINARY(ID, integers, y)
#define COMPARISON(ID, kinds, y)                                                                   \
    case ASSAY_OP_##ID:                                                                            \
        return y;

static bool compare_floats(assay_op op, float x, float z)
{
    switch (op) {
#include "graph/core/binary.def"
    default:
        abort(); /* the registry gives no other op */
    }
}

static bool compare_at(const assay_call *call, int64_t i, int64_t j)
{
    const assay_view *a = &call->in[0], *b = &call->in[1];
    int64_t p, q;
    if (float_holds_f32(a))
        return compare_floats(call->node->op, ((const float *)a->data)[i],
                              ((const float *)b->data)[j]);
    float_load_integers(a, i, 1, 1, &p);
    float_load_integers(b, j, 1, 1, &q);
    if (!assay_integers_binary(call->node->op, false, p, q, &p))
        abort(); /* the registry gives no other op */
    return p != 0;
}

assay_status float_compare(assay_call *call, assay_error *err)
{
    uint8_t *y = call->out[0].data;
    assay_broadcast w;

    (void)err;
    for (bool row = move_broadcast_begin(&w, call->out[0].type, call->in, 2); row;
         row = move_broadcast_next(&w))
        for (int64_t i = 0; i < w.columns; i++)
            y[w.at_out + i] = compare_at(call, w.at[0] + i * w.step[0], w.at[1] + i * w.step[1]);
    return ASSAY_OK;
}

assay_status float_logical_not(assay_call *call, assay_error *err)
{
    const uint8_t *x = call->in[0].data;
    uint8_t *y = call->out[0].data;
    int64_t n = assay_shape_count(call->out[0].type);

    (void)err;
    for (int64_t i = 0; i < n; i++)
        y[i] = !x[i];
    return ASSAY_OK;
}
