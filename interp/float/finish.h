/* Bias and fused activation: y = min(max(x + bias, lo), hi), one pass. Of convolutions over what is
 * still in the cache, after the products; for other ops without a bias. */
#ifndef ASSAY_INTERP_FLOAT_FINISH_H
#define ASSAY_INTERP_FLOAT_FINISH_H

#include "interp/kernel/kernel.h"

typedef struct float_finish {
    const float *bias; /* one per output channel; NULL: none */
    float lo, hi;      /* of the activation; infinite: none */
} float_finish;

/* Of a convolution, whose third operand is the bias. */
float_finish float_finish_of(const assay_call *call);

/* n elements of one channel; x may be y. */
void float_finish_plane(const float_finish *f, int64_t channel, const float *x, int64_t n,
                        float *y);

/* `pixels` rows of `channels` channels, channels last, in place. */
void float_finish_pixels(const float_finish *f, int64_t channels, int64_t pixels, float *y);

#endif
