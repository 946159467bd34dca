/* Rows of numbers, along the axis that an op works on. */
#include "interp/float/float.h"
#include "interp/ref/ref.h"

const assay_teller *float_row_teller(const assay_call *call, const assay_axis_walk *w,
                                     int64_t first, assay_teller *room)
{
    const int64_t from = call->teller ? (int64_t)call->teller->at - first : -1;
    if (from < 0 || from >= w->extent * w->inner || from % w->inner != 0)
        return NULL;
    *room = *call->teller;
    room->at = (size_t)(from / w->inner);
    return room;
}

void float_rows(const assay_call *call, float_row_fn compute)
{
    const assay_axis_walk w = ref_row_walk(call->node, call->in[0].type);
    for (int64_t o = 0; o < w.outer; o++)
        for (int64_t i = 0; i < w.inner; i++) {
            const int64_t at = o * w.extent * w.inner + i;
            assay_teller room;
            compute(&(float_axis_row){.node = call->node,
                                      .x = (const float *)call->in[0].data + at,
                                      .y = (float *)call->out[0].data + at,
                                      .n = w.extent,
                                      .step = w.inner,
                                      .teller = float_row_teller(call, &w, at, &room)});
        }
}
