/* layer_norm: y = scale * (x - mean) / sqrt(variance + epsilon) + bias, mean and (population)
 * variance over the axes from attr.axis to the last (ONNX LayerNormalization). scale and bias
 * broadcast to those axes.
 *
 * In the order of ONNX Runtime 1.30 (MLAS's layernorm_kernel_avx2.cpp): the mean rounded once, the
 * variance as below, times a reciprocal, scale and bias fused. Rows of less than 8 it computes
 * elsewhere (layer_norm_impl.cc): Welford's running mean and squares, a division, nothing fused. */
#include <math.h>

#include "interp/float/float.h"
#include "interp/float/fused.h"
#include "interp/move/broadcast.h"
#include "interp/move/move.h"

enum { LANES = ASSAY_FUSED_LANES };

/* The mean of the squares of x - mean: float32 in eight lanes, fused, which are then added by
 * halves; of what is left over squares by fours, added in order, and fused ones. */
static float variance_of(const float *x, int64_t n, float mean)
{
    float lane[LANES] = {0};
    int64_t i = n / LANES * LANES;
    float_squares(x, i, mean, lane);
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++)
            lane[k] += lane[k + half];
    for (int64_t fours = i + (n - i) / 4 * 4; i < fours; i++)
        lane[0] += (x[i] - mean) * (x[i] - mean);
    for (; i < n; i++)
        lane[0] = fmaf(x[i] - mean, x[i] - mean, lane[0]);
    return lane[0] / (float)n;
}

static void normalize_short(const float *x, int64_t n, float epsilon, float *y)
{
    float mean = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        float before = x[i] - mean;
        mean += before / (float)(i + 1);
        squares += before * (x[i] - mean);
    }
    float deviation = sqrtf(squares / (float)n + epsilon);
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) / deviation;
}

static void normalize_row(const float *x, int64_t n, float epsilon, float *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i];
    float mean = (float)(sum / (double)n);
    float factor = 1 / sqrtf(variance_of(x, n, mean) + epsilon);
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) * factor;
}

/* y op= v broadcast over y. */
static void apply(const assay_view *y, const assay_view *v, bool multiply)
{
    const float *from = v->data;
    float *to = y->data;
    assay_broadcast w;
    for (bool row = move_broadcast_begin(&w, y->type, v, 1); row; row = move_broadcast_next(&w))
        for (int64_t i = 0; i < w.columns; i++) {
            float f = from[w.at[0] + i * w.step[0]];
            to[w.at_out + i] = multiply ? to[w.at_out + i] * f : to[w.at_out + i] + f;
        }
}

/* Input i has a value for each element of a row. */
static bool is_row(const assay_call *call, int i, int64_t n)
{
    return i < call->node->n_in && call->in[i].data && assay_shape_count(call->in[i].type) == n;
}

static void scale_rows(const float *scale, const float *bias, int64_t rows, int64_t n, float *y)
{
    for (int64_t r = 0; r < rows; r++)
        float_scale(scale, bias, n, y + r * n);
}

assay_status float_layer_norm(assay_call *call, assay_error *err)
{
    const assay_attr_norm *a = &call->node->attr.norm;
    const assay_type *t = call->in[0].type;
    int axis = (int)a->axis;
    int64_t rows = move_extent(t, 0, axis), n = move_extent(t, axis, t->rank);

    (void)err;
    for (int64_t r = 0; r < rows; r++)
        (n < LANES ? normalize_short : normalize_row)((const float *)call->in[0].data + r * n, n,
                                                      a->epsilon,
                                                      (float *)call->out[0].data + r * n);
    if (n >= LANES && is_row(call, 1, n) && is_row(call, 2, n)) {
        scale_rows(call->in[1].data, call->in[2].data, rows, n, call->out[0].data);
        return ASSAY_OK;
    }
    for (int i = 1; i < call->node->n_in; i++)
        if (call->in[i].data)
            apply(&call->out[0], &call->in[i], i == 1);
    return ASSAY_OK;
}
