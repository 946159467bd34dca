/* softmax: y[i] = e^(beta*(x[i] - m)) / sum over j of e^(beta*(x[j] - m)), m = max x, along
 * attr.axis; log_softmax: y[i] = beta*(x[i] - m) - ln(the same sum). */
#include <math.h>

#include "interp/float/float.h"
#include "interp/move/move.h"

static void softmax_row(const float *x, float *y, int64_t n, int64_t step, float beta, bool is_log)
{
    float top = -INFINITY;
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        top = x[i * step] > top ? x[i * step] : top;
    for (int64_t i = 0; i < n; i++) {
        float scaled = beta * (x[i * step] - top);
        float e = expf(scaled);
        y[i * step] = is_log ? scaled : e;
        sum += (double)e;
    }
    double shift = log(sum);
    for (int64_t i = 0; i < n; i++)
        y[i * step] = (float)(is_log ? (double)y[i * step] - shift : (double)y[i * step] / sum);
}

assay_status assay_float_softmax(assay_call *call, assay_error *err)
{
    const assay_attr_softmax *a = &call->node->attr.softmax;
    const assay_type *t = call->in[0].type;
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    int axis = (int)a->axis;
    int64_t outer = assay_extent(t, 0, axis), n = t->dim[axis];
    int64_t inner = assay_extent(t, axis + 1, t->rank);

    (void)err;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            int64_t at = o * n * inner + i;
            softmax_row(x + at, y + at, n, inner, a->beta, call->node->op == ASSAY_OP_LOG_SOFTMAX);
        }
    return ASSAY_OK;
}
