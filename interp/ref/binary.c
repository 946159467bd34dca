/* Element-wise operations of two values, with numpy broadcasting.
 *
 *   y[i] = op(a[i], b[i])      add, sub, mul, div, min, max, squared_difference, prelu (b the
 * slope), and the comparisons, which yield 0 or 1 */
#include "interp/move/broadcast.h"
#include "interp/ref/ref.h"

assay_status ref_binary(assay_call *call, assay_error *err)
{
    const assay_view *x = call->in, *y = &call->out[0];
    int32_t row_a[ASSAY_ROW], row_b[ASSAY_ROW], row_y[ASSAY_ROW];
    assay_broadcast b;
    (void)err;

    for (bool row = move_broadcast_begin(&b, y->type, x, 2); row; row = move_broadcast_next(&b))
        for (int64_t i = 0; i < b.columns; i += ASSAY_ROW) {
            size_t n = (size_t)(b.columns - i < ASSAY_ROW ? b.columns - i : ASSAY_ROW);
            ref_load_row(&x[0], b.at[0] + i * b.step[0], b.step[0], n, row_a);
            ref_load_row(&x[1], b.at[1] + i * b.step[1], b.step[1], n, row_b);
            ref_finish_binary(call, b.at_out + i, n, row_a, row_b, row_y);
        }
    return ASSAY_OK;
}
