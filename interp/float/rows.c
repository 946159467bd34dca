/* Rows of numbers, loaded and stored by element type. */
#include "interp/float/float.h"
#include "interp/ref/ref.h"

void float_rows(const assay_call *call, float_row_fn row)
{
    const assay_axis_walk w = ref_row_walk(call->node, call->in[0].type);
    for (int64_t o = 0; o < w.outer; o++)
        for (int64_t i = 0; i < w.inner; i++) {
            const int64_t at = o * w.extent * w.inner + i;
            row(call->node, (const float *)call->in[0].data + at, w.extent, w.inner,
                (float *)call->out[0].data + at);
        }
}
