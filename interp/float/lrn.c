/* lrn: y[c] = x[c] / (bias + alpha/size * sum of x[j]^2)^beta, j from c - floor((size-1)/2) to
 * c + ceil((size-1)/2) within the channels (ONNX LRN). */
#include <math.h>

#include "interp/float/float.h"

/* One line of channels. */
static void lrn_row(const float_axis_row *r)
{
    const assay_attr_lrn *a = &r->node->attr.lrn;
    const float *x = r->x;
    int64_t before = (a->size - 1) / 2, after = a->size - 1 - before;
    for (int64_t c = 0; c < r->n; c++) {
        int64_t first = c > before ? c - before : 0, last = c + after < r->n ? c + after : r->n - 1;
        const assay_teller *t = apply_tell_at(r->teller, (size_t)c);
        double sum = 0;
        for (int64_t j = first; j <= last; j++)
            sum += (double)x[j * r->step] * (double)x[j * r->step];
        double base = (double)a->bias + (double)a->alpha / (double)a->size * sum;
        double power = pow(base, (double)a->beta);
        apply_tell_float(t, "x", x[c * r->step]);
        apply_tell(t, "first channel", first);
        apply_tell(t, "last channel", last);
        apply_tell_double(t, "sum of squares", sum);
        apply_tell_double(t, "bias + alpha / size * sum", base);
        apply_tell_double(t, "to the power of beta", power);
        r->y[c * r->step] = (float)((double)x[c * r->step] / power);
        apply_tell_float(t, "x / power", r->y[c * r->step]);
    }
}

assay_status float_lrn(assay_call *call, assay_error *err)
{
    (void)err;
    float_rows(call, lrn_row);
    return ASSAY_OK;
}
