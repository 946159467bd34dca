/* Rows of floats by fused multiply-adds, in vectors if the machine has them: the same bits
 * everywhere. */
#ifndef ASSAY_INTERP_FLOAT_FUSED_H
#define ASSAY_INTERP_FLOAT_FUSED_H

#include <stdint.h>

enum { ASSAY_FUSED_LANES = 8 };

/* y[i] = derive_mlas_exp(x[i]) (schemes/derive/mlas.h). */
void float_exp(const float *x, int64_t n, float *y);
/* y[i] = fma(y[i], scale[i], bias[i]). */
void float_scale(const float *scale, const float *bias, int64_t n, float *y);
/* lane[i % 8] = fma(d, d, lane[i % 8]), d = x[i] - mean; n a multiple of 8. */
void float_squares(const float *x, int64_t n, float mean, float lane[ASSAY_FUSED_LANES]);

/* fused_fma.c: the same for machines with AVX2 and fused multiply-add. */
void float_exp_fma(const float *x, int64_t n, float *y);
void float_scale_fma(const float *scale, const float *bias, int64_t n, float *y);
void float_squares_fma(const float *x, int64_t n, float mean, float lane[ASSAY_FUSED_LANES]);

#endif
