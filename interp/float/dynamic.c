/* dynamic_params: x -> scale, factor, zero: for every index of the axes before attr.axis what codes
 * of 8 signed bits need to hold the numbers that stand there; the other axes are 1.
 *
 *   symmetric   scale = m / 127, factor = 127 / m, zero = 0, m the greatest magnitude
 *   else        scale = (most - least) / 255 in binary64, rounded; factor = 1 / scale;
 *               zero = the integer nearest to -128 - least / scale or to 127 - most / scale, of the
 *               two the one whose terms are smaller; least <= 0 <= most
 *
 * and 1, 1, 0 where all numbers are 0. Binary32 where nothing else is said; a number is
 * round(x * factor + zero). Source: PortableSymmetricQuantizeFloats and
 * PortableAsymmetricQuantizeFloats,
 * tensorflow/lite/kernels/internal/reference/portable_tensor_utils.cc. */
#include <math.h>

#include "interp/float/float.h"

#define LEAST (-128.0)
#define MOST  127.0

typedef struct range {
    float least, most; /* 0 lies between them */
} range;

typedef struct params {
    float scale, factor, zero;
} params;

static range range_of(const float *x, int64_t n)
{
    range r = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        r.least = x[i] < r.least ? x[i] : r.least;
        r.most = x[i] > r.most ? x[i] : r.most;
    }
    return r;
}

static params symmetric(range r)
{
    const float most = fmaxf(-r.least, r.most);
    return (params){most / 127, 127 / most, 0};
}

static params asymmetric(range r)
{
    const double least = (double)r.least, most = (double)r.most;
    const double scale = (most - least) / (MOST - LEAST);
    const double low = least / scale, high = most / scale;
    const bool by_least = fabs(LEAST) + fabs(low) < fabs(MOST) + fabs(high);
    const double zero = by_least ? LEAST - low : MOST - high;
    const double code = zero <= LEAST ? LEAST : zero >= MOST ? MOST : round(zero);
    return (params){(float)scale, 1 / (float)scale, (float)code};
}

assay_status float_dynamic_params(assay_call *call, assay_error *err)
{
    const assay_attr_dynamic *a = &call->node->attr.dynamic;
    const int64_t rows = assay_shape_count(call->out[0].type);
    const int64_t n = rows ? assay_shape_count(call->in[0].type) / rows : 0;

    (void)err;
    for (int64_t i = 0; i < rows; i++) {
        const range r = range_of((const float *)call->in[0].data + i * n, n);
        const params p = r.least == r.most ? (params){1, 1, 0}
                         : a->symmetric    ? symmetric(r)
                                           : asymmetric(r);
        ((float *)call->out[0].data)[i] = p.scale;
        ((float *)call->out[1].data)[i] = p.factor;
        ((float *)call->out[2].data)[i] = p.zero;
    }
    return ASSAY_OK;
}
