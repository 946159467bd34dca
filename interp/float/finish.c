/* Bias and fused activation; see finish.h. */
#include "interp/float/finish.h"

#include <math.h>
#include <string.h>

float_finish float_finish_of(const assay_call *call)
{
    const assay_node *n = call->node;
    return (float_finish){n->n_in > 2 ? call->in[2].data : NULL, n->act_lo, n->act_hi};
}

/* NaN stays, and -0 where lo is 0. */
static inline float clamp(const float_finish *f, float v)
{
    const float x = v < f->lo ? f->lo : v;
    return x > f->hi ? f->hi : x;
}

static bool is_bounded(const float_finish *f)
{
    return f->lo != -INFINITY || f->hi != INFINITY;
}

void float_finish_plane(const float_finish *f, int64_t channel, const float *x, int64_t n, float *y)
{
    const float_finish bounds = *f; /* in registers: y may lie anywhere */
    const float bias = f->bias ? f->bias[channel] : 0;

    if (f->bias) {
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            y[i] = clamp(&bounds, x[i] + bias);
    } else if (is_bounded(f)) {
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            y[i] = clamp(&bounds, x[i]);
    } else if (x != y) {
        memcpy(y, x, (size_t)n * sizeof *y);
    }
}

void float_finish_pixels(const float_finish *f, int64_t channels, int64_t pixels, float *y)
{
    const float_finish bounds = *f;

    if (!f->bias) {
        float_finish_plane(f, 0, y, channels * pixels, y);
        return;
    }
    for (int64_t p = 0; p < pixels; p++, y += channels)
#pragma omp simd
        for (int64_t c = 0; c < channels; c++)
            y[c] = clamp(&bounds, y[c] + bounds.bias[c]);
}
