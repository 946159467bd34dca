/* Glow's own qparams method, step by step as its chooseQuantizationParams does it (float32 ends,
 * double arithmetic; facts from pytorch/glow 05dd99b, lib/Quantization/Base/Base.cpp), flaws
 * included: parameters that must equal those of a Glow build. qparams.h says what ours does
 * otherwise. */
#include <float.h>
#include <math.h>

#include "opt/calibrate/qparams.h"

assay_status calibrate_choose_glow_range(const assay_choice *c, double min, double max,
                                         float *least, float *greatest, bool *symmetric,
                                         assay_error *err)
{
    int64_t lo, hi;
    *least = fminf((float)min, 0);
    *greatest = fmaxf((float)max, 0);
    *symmetric = c->power_of_two || c->symmetry == ASSAY_SYMMETRIC_POWER_OF_TWO ||
                 c->symmetry == ASSAY_SYMMETRIC ||
                 (c->symmetry == ASSAY_SYMMETRIC_UNSIGNED && *least < 0);
    calibrate_choice_codes(c, &lo, &hi);
    if (c->narrow || c->nearest || (*symmetric && !c->elem.is_signed))
        return assay_fail(err, ASSAY_ERR_INPUT, "the glow qparams method has no %s",
                          c->narrow    ? "narrow range"
                          : c->nearest ? "rounding to the nearest power of two"
                                       : "symmetric range for unsigned codes");
    if (*symmetric) { /* the end that fills its codes first stretches the other */
        double below = (double)*least / (double)lo, above = (double)*greatest / (double)hi;
        if (below > above)
            *greatest = (float)(below * (double)hi);
        else
            *least = (float)(above * (double)lo);
    }
    *least = fmaxf(*least, -FLT_MAX);
    *greatest = fminf(*greatest, FLT_MAX);
    return ASSAY_OK;
}

assay_status calibrate_choose_glow(const assay_choice *c, double min, double max, float *scale,
                                   int32_t *zero_point, assay_error *err)
{
    int64_t lo, hi;
    float least, greatest;
    bool symmetric;
    assay_status status =
        calibrate_choose_glow_range(c, min, max, &least, &greatest, &symmetric, err);
    if (status)
        return status;
    if (c->final) {
        least = (float)min;
        greatest = (float)max;
    }
    calibrate_choice_codes(c, &lo, &hi);
    double s = ((double)greatest - (double)least) / (double)(hi - lo);
    s = s == 0 ? 0.1 : s;
    double from_least = fabs((double)lo) + fabs((double)least / s);
    double from_greatest = fabs((double)hi) + fabs((double)greatest / s);
    double z = from_least < from_greatest ? (double)lo - (double)least / s
                                          : (double)hi - (double)greatest / s;
    if (fabsf(greatest + least) <= FLT_EPSILON)
        z = 0;
    z = z < (double)lo ? (double)lo : z > (double)hi ? (double)hi : round(z);
    *zero_point = (int32_t)z;
    *scale =
        (float)(c->power_of_two || c->symmetry == ASSAY_SYMMETRIC_POWER_OF_TWO ? exp2(ceil(log2(s)))
                                                                               : s);
    return ASSAY_OK;
}
