/* select: y = condition ? a : b, the three broadcast together. */
#include "interp/move/broadcast.h"
#include "interp/move/move.h"

#define SELECT_ROW(type)                                                                           \
    do {                                                                                           \
        const type *p = call->in[1].data, *q = call->in[2].data;                                   \
        type *y = call->out[0].data;                                                               \
        for (int64_t i = 0; i < b->columns; i++)                                                   \
            y[b->at_out + i] = condition[b->at[0] + i * b->step[0]]                                \
                                   ? p[b->at[1] + i * b->step[1]]                                  \
                                   : q[b->at[2] + i * b->step[2]];                                 \
    } while (0)

static void select_row(const assay_call *call, const assay_broadcast *b, size_t size)
{
    const uint8_t *condition = call->in[0].data;
    if (size == 1)
        SELECT_ROW(uint8_t);
    else if (size == 2)
        SELECT_ROW(uint16_t);
    else if (size == 4)
        SELECT_ROW(uint32_t);
    else
        SELECT_ROW(uint64_t);
}

assay_status move_select(assay_call *call, assay_error *err)
{
    const assay_type *t = call->out[0].type;
    assay_broadcast b;

    (void)err;
    for (bool row = move_broadcast_begin(&b, t, call->in, 3); row; row = move_broadcast_next(&b))
        select_row(call, &b, assay_elem_size(t->elem));
    return ASSAY_OK;
}
