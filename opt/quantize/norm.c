/* Layer normalization's constants: gamma in symmetric codes of the scheme's width, beta in 32 bits
 * at the scale of the products, gamma's scale / 2^fraction, or a power of two above it. */
#include <math.h>

#include "opt/quantize/plan.h"

#define BETA_BITS 29 /* of 32: it leaves room for the sum that it is part of */

static assay_status magnitude_of(const assay_value *v, double *magnitude, assay_error *err)
{
    double min, max;
    assay_status status = quantize_constant_range(v, &min, &max, err);
    *magnitude = fmax(fabs(min), fabs(max));
    return status;
}

assay_status quantize_gamma_code(const assay_scheme *scheme, const assay_value *gamma, bool wide,
                                 assay_code *code, assay_error *err)
{
    assay_scheme_caps caps;
    unsigned bits, shift;
    double magnitude;
    assay_status status = magnitude_of(gamma, &magnitude, err);
    if (status)
        return status;
    assay_scheme_get_caps(scheme, &caps);
    assay_scheme_norm_codes(scheme, wide, &bits, &shift);
    assay_choice choice = {.elem = assay_int(bits, true),
                           .symmetry = ASSAY_SYMMETRIC,
                           .narrow = true,
                           .power_of_two = caps.power_of_two};
    code->elem = choice.elem;
    return calibrate_choose_qparams(&choice, -magnitude, magnitude, &code->scale, &code->zero_point,
                                    err);
}

assay_status quantize_beta_code(const assay_scheme *scheme, const assay_value *beta,
                                float gamma_scale, bool wide, assay_code *code, assay_error *err)
{
    unsigned bits, shift;
    double magnitude;
    assay_status status = magnitude_of(beta, &magnitude, err);
    if (status)
        return status;
    assay_scheme_norm_codes(scheme, wide, &bits, &shift);
    *code = (assay_code){.elem = assay_int(32, true), .scale = ldexpf(gamma_scale, -(int)shift)};
    while (magnitude / (double)code->scale > ldexp(1, BETA_BITS))
        code->scale *= 2;
    return ASSAY_OK;
}
