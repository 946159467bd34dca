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

static void tell(const assay_teller *t, const float *x, float mean, float variance, float y)
{
    apply_tell_float(t, "x", x[t->at]);
    apply_tell_float(t, "mean of the row", mean);
    apply_tell_float(t, "variance", variance);
    apply_tell_float(t, "x - mean", x[t->at] - mean);
    apply_tell_float(t, "over root(variance + epsilon)", y);
}

static void normalize_short(const float *x, int64_t n, float epsilon, float *y,
                            const assay_teller *t)
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
    if (t)
        tell(t, x, mean, squares / (float)n, y[t->at]);
}

static void normalize_row(const float *x, int64_t n, float epsilon, float *y, const assay_teller *t)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i];
    float mean = (float)(sum / (double)n);
    float variance = variance_of(x, n, mean), factor = 1 / sqrtf(variance + epsilon);
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) * factor;
    if (t)
        tell(t, x, mean, variance, y[t->at]);
}

static float joined(float y, float f, bool multiply)
{
    return multiply ? y * f : y + f;
}

/* y op= v broadcast over y; told of element t->at. */
static void apply(const assay_view *y, const assay_view *v, bool multiply, const assay_teller *t)
{
    const float *from = v->data;
    float *to = y->data;
    assay_broadcast w;
    for (bool row = move_broadcast_begin(&w, y->type, v, 1); row; row = move_broadcast_next(&w))
        for (int64_t i = 0; i < w.columns; i++) {
            const float f = from[w.at[0] + i * w.step[0]];
            const assay_teller *here = apply_tell_at(t, (size_t)(w.at_out + i));
            to[w.at_out + i] = joined(to[w.at_out + i], f, multiply);
            apply_tell_float(here, multiply ? "scale" : "bias", f);
            apply_tell_float(here, multiply ? "times the scale" : "and the bias", to[w.at_out + i]);
        }
}

/* Input i has a value for each element of a row. */
static bool is_row(const assay_call *call, int i, int64_t n)
{
    return i < call->node->n_in && call->in[i].data && assay_shape_count(call->in[i].type) == n;
}

/* Rows of n elements with their own scale and bias, fused. */
static void scale_rows(const assay_call *call, int64_t rows, int64_t n)
{
    const float *scale = call->in[1].data, *bias = call->in[2].data;
    float *y = call->out[0].data;
    for (int64_t r = 0; r < rows; r++)
        float_scale(scale, bias, n, y + r * n);
    if (!call->teller)
        return;
    const size_t at = call->teller->at;
    apply_tell_float(call->teller, "scale", scale[at % (size_t)n]);
    apply_tell_float(call->teller, "bias", bias[at % (size_t)n]);
    apply_tell_float(call->teller, "times the scale and the bias, rounded once", y[at]);
}

/* The teller of row r, or NULL. */
static const assay_teller *teller_of(const assay_call *call, int64_t r, int64_t n,
                                     assay_teller *room)
{
    if (!call->teller || (int64_t)call->teller->at / n != r)
        return NULL;
    *room = *call->teller;
    room->at %= (size_t)n;
    return room;
}

assay_status float_layer_norm(assay_call *call, assay_error *err)
{
    const assay_attr_norm *a = &call->node->attr.norm;
    const assay_type *t = call->in[0].type;
    int axis = (int)a->axis;
    int64_t rows = move_extent(t, 0, axis), n = move_extent(t, axis, t->rank);
    assay_teller room;

    (void)err;
    for (int64_t r = 0; r < rows; r++)
        (n < LANES ? normalize_short : normalize_row)(
            (const float *)call->in[0].data + r * n, n, a->epsilon,
            (float *)call->out[0].data + r * n, teller_of(call, r, n, &room));
    if (n >= LANES && is_row(call, 1, n) && is_row(call, 2, n)) {
        scale_rows(call, rows, n);
        return ASSAY_OK;
    }
    for (int i = 1; i < call->node->n_in; i++)
        if (call->in[i].data)
            apply(&call->out[0], &call->in[i], i == 1, call->teller);
    return ASSAY_OK;
}
