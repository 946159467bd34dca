/* Real scales as 64-bit integers, for the short path of float rows (apply/rescale_near.c). */
#include <math.h>

#include "schemes/derive/derive.h"

#define MAX_LEFT 24 /* |x| < 2^31 stays below 2^55 after the shift */

/* No product of accumulators below 2^32 with these comes near the ends of float32. */
static bool is_middling(float scale)
{
    return scale >= 0x1p-40f && scale <= 0x1p40f;
}

void derive_near_steps(assay_rescale *r, float in, const float *w, size_t n, float out,
                       double *real, int64_t *near)
{
    bool middling = is_middling(in) && is_middling(out);
    for (size_t c = 0; c < n; c++) {
        middling &= is_middling(w[c]);
        real[c] = (double)in * (double)w[c] / (double)out;
    }
    derive_near(r, real, n, near);
    if (!middling)
        r->near = NULL;
}

void derive_near(assay_rescale *r, const double *real, size_t n, int64_t *near)
{
    double max = 0, least = INFINITY;
    int exponent;
    for (size_t c = 0; c < n; c++) {
        max = fmax(max, real[c]);
        least = fmin(least, real[c]);
    }
    frexp(max, &exponent); /* max < 2^exponent */
    int left = exponent + 1 > 0 ? exponent + 1 : 0;
    r->near = NULL;
    if (!(least >= 0x1p-80) || left > MAX_LEFT)
        return;
    for (size_t c = 0; c < n; c++)
        near[c] = (int64_t)rint(ldexp(real[c], 64 - left));
    r->near = near;
    r->near_left = (unsigned)left;
}
