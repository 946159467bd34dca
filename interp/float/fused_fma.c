/* fused.h in loops that compilers turn into vectors, for fused multiply-add: the same operations,
 * so the same bits. Of the exponential (schemes/derive/mlas.c) 2^m is multiplied in two halves: the
 * first product is exact, the second rounds once, as ldexpf does. */
#include "interp/float/fused.h"

#include <math.h>
#include <string.h>

/* 2^m, -126 <= m <= 127. */
static inline float power(int32_t m)
{
    const uint32_t bits = (uint32_t)(m + 127) << 23;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

void float_exp_fma(const float *restrict x, int64_t n, float *restrict y)
{
    const float rounder = 12582912.0F;
    for (int64_t i = 0; i < n; i++) {
        const float v = x[i];
        float r = v > -103.9720840454F ? v : -103.9720840454F;
        r = r < 88.7762626647950F ? r : 88.7762626647950F;
        const float m = fmaf(r, 1.44269504088896341F, rounder) - rounder;
        r = fmaf(m, -6.93145752e-1F, r);
        r = fmaf(m, -1.42860677e-6F, r);
        float p = 0x1.694000p-10F;
        p = fmaf(p, r, 0x1.125edcp-7F);
        p = fmaf(p, r, 0x1.555b5ap-5F);
        p = fmaf(p, r, 0x1.555450p-3F);
        p = fmaf(p, r, 0x1.fffff6p-2F);
        p = fmaf(p, r, 1);
        p = fmaf(p, r, 1);
        const int32_t whole = (int32_t)m, half = whole >> 1;
        p = p * power(half) * power(whole - half);
        y[i] = v != v ? v : p;
    }
}

void float_scale_fma(const float *restrict scale, const float *restrict bias, int64_t n,
                     float *restrict y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = fmaf(y[i], scale[i], bias[i]);
}

void float_squares_fma(const float *restrict x, int64_t n, float mean,
                       float lane[ASSAY_FUSED_LANES])
{
    float sum[ASSAY_FUSED_LANES];
    memcpy(sum, lane, sizeof sum);
    for (int64_t i = 0; i < n; i += ASSAY_FUSED_LANES)
        for (int k = 0; k < ASSAY_FUSED_LANES; k++)
            sum[k] = fmaf(x[i + k] - mean, x[i + k] - mean, sum[k]);
    memcpy(lane, sum, sizeof sum);
}
