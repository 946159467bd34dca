/* layer_norm: y = scale * (x - mean) / sqrt(variance + epsilon) + bias, mean and (population)
 * variance over the axes from attr.axis to the last (ONNX LayerNormalization). scale and bias
 * broadcast to those axes. */
#include <math.h>

#include "interp/float/float.h"
#include "interp/move/broadcast.h"
#include "interp/move/move.h"

static void normalize_row(const float *x, int64_t n, float epsilon, float *y)
{
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < n; i++)
        mean += (double)x[i];
    mean /= (double)n;
    for (int64_t i = 0; i < n; i++)
        variance += ((double)x[i] - mean) * ((double)x[i] - mean);
    double factor = 1 / sqrt(variance / (double)n + (double)epsilon);
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)(((double)x[i] - mean) * factor);
}

/* y op= v broadcast over y. */
static void apply(const assay_view *y, const assay_view *v, bool multiply)
{
    const float *from = v->data;
    float *to = y->data;
    assay_broadcast w;
    for (bool row = assay_broadcast_begin(&w, y->type, v, 1); row; row = assay_broadcast_next(&w))
        for (int64_t i = 0; i < w.columns; i++) {
            float f = from[w.at[0] + i * w.step[0]];
            to[w.at_out + i] = multiply ? to[w.at_out + i] * f : to[w.at_out + i] + f;
        }
}

assay_status assay_float_layer_norm(assay_call *call, assay_error *err)
{
    const assay_attr_norm *a = &call->node->attr.norm;
    const assay_type *t = call->in[0].type;
    int axis = (int)a->axis;
    int64_t rows = assay_extent(t, 0, axis), n = assay_extent(t, axis, t->rank);

    (void)err;
    for (int64_t r = 0; r < rows; r++)
        normalize_row((const float *)call->in[0].data + r * n, n, a->epsilon,
                      (float *)call->out[0].data + r * n);
    for (int i = 1; i < call->node->n_in; i++)
        if (call->in[i].data)
            apply(&call->out[0], &call->in[i], i == 1);
    return ASSAY_OK;
}
