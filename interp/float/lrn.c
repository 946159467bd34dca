/* lrn: y[c] = x[c] / (bias + alpha/size * sum of x[j]^2)^beta, j from c - floor((size-1)/2) to
 * c + ceil((size-1)/2) within the channels (ONNX LRN). */
#include <math.h>

#include "interp/float/float.h"
#include "interp/move/move.h"

/* One line of channels, `step` apart. */
static void lrn_line(const assay_attr_lrn *a, const float *x, int64_t n, int64_t step, float *y)
{
    int64_t before = (a->size - 1) / 2, after = a->size - 1 - before;
    for (int64_t c = 0; c < n; c++) {
        int64_t first = c > before ? c - before : 0, last = c + after < n ? c + after : n - 1;
        double sum = 0;
        for (int64_t j = first; j <= last; j++)
            sum += (double)x[j * step] * (double)x[j * step];
        double base = (double)a->bias + (double)a->alpha / (double)a->size * sum;
        y[c * step] = (float)((double)x[c * step] / pow(base, (double)a->beta));
    }
}

assay_status float_lrn(assay_call *call, assay_error *err)
{
    const assay_attr_lrn *a = &call->node->attr.lrn;
    const assay_type *t = call->in[0].type;
    int axis = a->layout == ASSAY_LAYOUT_NHWC ? t->rank - 1 : 1;
    int64_t outer = move_extent(t, 0, axis), n = t->dim[axis];
    int64_t inner = move_extent(t, axis + 1, t->rank);

    (void)err;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            int64_t at = o * n * inner + i;
            lrn_line(a, (const float *)call->in[0].data + at, n, inner,
                     (float *)call->out[0].data + at);
        }
    return ASSAY_OK;
}
