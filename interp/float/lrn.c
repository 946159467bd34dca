/* lrn: y[c] = x[c] / (bias + alpha/size * sum of x[j]^2)^beta, j from c - floor((size-1)/2) to
 * c + ceil((size-1)/2) within the channels (ONNX LRN). */
#include <math.h>

#include "interp/float/float.h"

/* One line of channels, `step` apart. */
static void lrn_row(const assay_node *node, const float *x, int64_t n, int64_t step, float *y)
{
    const assay_attr_lrn *a = &node->attr.lrn;
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
    (void)err;
    float_rows(call, lrn_row);
    return ASSAY_OK;
}
