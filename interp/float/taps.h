/* Rows of depthwise convolutions, one form per instruction set, all with the same bits. */
#ifndef ASSAY_INTERP_FLOAT_TAPS_H
#define ASSAY_INTERP_FLOAT_TAPS_H

#include <stdint.h>

/* The loops, for one instruction set. */
typedef struct float_taps {
    /* y[i] = sum over t of weight[t] * x[at[t] + i], t in [0, taps): products are added in the
     * order in which assay_gemm adds those of one row (gemm.c), by fours, then two, then one. */
    void (*sum)(const float *x, const int64_t *at, const float *weight, int64_t taps, int64_t n,
                float *y);
    /* y[i] = x[i * stride], and no other element of y is written. */
    void (*copy)(const float *x, int64_t stride, int64_t n, float *y);
} float_taps;

extern const float_taps float_taps_portable, float_taps_avx2, float_taps_avx512;

/* The widest that this machine has (stage.c). */
const float_taps *float_taps_choose(void);

#endif
