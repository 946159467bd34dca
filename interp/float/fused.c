/* Rows of floats by fused multiply-adds, in vectors where the machine has them; see fused.h. */
#include "interp/float/fused.h"

#include <math.h>

#include "schemes/derive/mlas.h"

#ifdef ASSAY_X86
#define FORWARD(call)                                                                              \
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {                         \
        call;                                                                                      \
        return;                                                                                    \
    }
#else
#define FORWARD(call)
#endif

void float_exp(const float *x, int64_t n, float *y)
{
    FORWARD(float_exp_fma(x, n, y))
    for (int64_t i = 0; i < n; i++)
        y[i] = derive_mlas_exp(x[i]);
}

void float_scale(const float *scale, const float *bias, int64_t n, float *y)
{
    FORWARD(float_scale_fma(scale, bias, n, y))
    for (int64_t i = 0; i < n; i++)
        y[i] = fmaf(y[i], scale[i], bias[i]);
}

void float_squares(const float *x, int64_t n, float mean, float lane[ASSAY_FUSED_LANES])
{
    FORWARD(float_squares_fma(x, n, mean, lane))
    for (int64_t i = 0; i < n; i++)
        lane[i % ASSAY_FUSED_LANES] = fmaf(x[i] - mean, x[i] - mean, lane[i % ASSAY_FUSED_LANES]);
}
