/* Sums of codes of one scale, each rescaled.
 *
 *   add_n    y[i] = f(sum over inputs of x[i], how many)
 *   cumsum   y[i] = f(sum of x[j], j <= i along attr.axis, how many)   exclusive: j < i;
 *            reverse: from the end
 *
 * Sums are of raw codes: the unit handles zero points. */
#include "interp/ref/ref.h"

assay_status ref_add_n(assay_call *call, assay_error *err)
{
    int64_t total = assay_shape_count(call->out[0].type), sum[ASSAY_ROW];
    int32_t row[ASSAY_ROW], count[ASSAY_ROW], y[ASSAY_ROW];
    (void)err;
    for (int64_t first = 0; first < total; first += ASSAY_ROW) {
        size_t n = (size_t)(total - first < ASSAY_ROW ? total - first : ASSAY_ROW);
        for (size_t i = 0; i < n; i++) {
            sum[i] = 0;
            count[i] = call->node->n_in;
        }
        for (int k = 0; k < call->node->n_in; k++) {
            ref_load_row(&call->in[k], first, 1, n, row);
            for (size_t i = 0; i < n; i++)
                sum[i] += row[i];
        }
        ref_finish_pool(call, first, 1, n, sum, count, y);
    }
    return ASSAY_OK;
}

/* extent elements from `first`, `step` apart (negative in reverse). */
static void running_sums(assay_call *call, int64_t first, int64_t step, int64_t extent,
                         bool exclusive)
{
    int64_t sum[ASSAY_ROW], so_far = 0;
    int32_t row[ASSAY_ROW], count[ASSAY_ROW], y[ASSAY_ROW];
    for (int64_t at = 0; at < extent; at += ASSAY_ROW) {
        size_t n = (size_t)(extent - at < ASSAY_ROW ? extent - at : ASSAY_ROW);
        ref_load_row(&call->in[0], first + at * step, step, n, row);
        for (size_t i = 0; i < n; i++) {
            sum[i] = exclusive ? so_far : so_far + row[i];
            count[i] = (int32_t)(at + (int64_t)i + !exclusive);
            so_far += row[i];
        }
        ref_finish_pool(call, first + at * step, step, n, sum, count, y);
    }
}

assay_status ref_cumsum(assay_call *call, assay_error *err)
{
    const assay_attr_cumsum *a = &call->node->attr.cumsum;
    assay_axis_walk w = ref_walk_axis(call->in[0].type, a->axis);
    int64_t step = a->reverse ? -w.inner : w.inner;
    (void)err;
    for (int64_t o = 0; o < w.outer; o++)
        for (int64_t i = 0; i < w.inner; i++) {
            int64_t first = (o * w.extent + (a->reverse ? w.extent - 1 : 0)) * w.inner + i;
            running_sums(call, first, step, w.extent, a->exclusive);
        }
    return ASSAY_OK;
}
