/* FBGEMM's qparams method, which PyTorch's x86 observers use, step by step (facts from
 * pytorch/FBGEMM 71d6f8b, src/QuantUtils.cc ChooseQuantizationParams): float32 scale of a double
 * quotient, none below 6.1e-5, the zero point from the end that has the smaller error, half to
 * even. Symmetric ranges are its preserve_sparsity. */
#include <math.h>

#include "opt/calibrate/qparams.h"

#define SMALLEST 6.1e-5f

/* The power of two that its force_scale_power_of_two takes. */
static float power_of_two(float s)
{
    return (float)(s < 1 ? 1 / exp2(floor(log2(1 / (double)s))) : exp2(ceil(log2((double)s))));
}

/* A scale that is too small is raised, and the ends with it. */
static float raise(float s, float *min, float *max, double codes)
{
    float factor = SMALLEST / s;
    if (*min == 0)
        *max = SMALLEST * (float)codes;
    else if (*max == 0)
        *min = -SMALLEST * (float)codes;
    else {
        *min *= factor;
        *max *= factor;
    }
    return SMALLEST;
}

assay_status calibrate_choose_fbgemm(const assay_choice *c, double least, double greatest,
                                     float *scale, int32_t *zero_point, assay_error *err)
{
    int64_t lo, hi;
    float min = (float)least, max = (float)greatest;
    bool symmetric = c->symmetry != ASSAY_ASYMMETRIC && min < 0 && max > 0;
    if (c->nearest || c->symmetry == ASSAY_SYMMETRIC_UNSIGNED)
        return assay_fail(err, ASSAY_ERR_INPUT, "the fbgemm qparams method has no %s",
                          c->nearest ? "rounding to the nearest power of two"
                                     : "symmetric-unsigned range");
    calibrate_choice_codes(c, &lo, &hi);
    const double codes = (double)(hi - lo);
    if (symmetric) {
        int64_t below = -((hi - lo) / 2 + 1), above = (hi - lo) / 2;
        double s = fmax((double)fabsf(min / (float)below), (double)fabsf(max / (float)above));
        min = (float)(s * (double)below);
        max = (float)(s * (double)above);
    }
    min = fminf(min, 0);
    max = fmaxf(max, 0);
    float s = (float)(((double)max - (double)min) / codes);
    if (s == 0 || isinf(1 / s))
        s = 0.1f;
    if (c->power_of_two || c->symmetry == ASSAY_SYMMETRIC_POWER_OF_TWO)
        s = power_of_two(s);
    if (s < SMALLEST)
        s = raise(s, &min, &max, codes);
    double from_min = (double)min / (double)s, from_max = (double)max / (double)s;
    bool by_min = fabs((double)lo) + fabs(from_min) < fabs((double)hi) + fabs(from_max);
    double z = by_min ? (double)lo - from_min : (double)hi - from_max;
    if (symmetric)
        z = (double)(lo + hi) / 2;
    z = z < (double)lo ? (double)lo : z > (double)hi ? (double)hi : rint(z);
    *scale = s;
    *zero_point = (int32_t)z;
    return ASSAY_OK;
}
