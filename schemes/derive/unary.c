/* rescale, relu, clip, leaky relu, abs, rsqrt. */
#include <math.h>

#include "schemes/apply/fixedpoint.h"
#include "schemes/derive/derive.h"

/* Codes from 0 on times `above`, those up to 0 times `below`; the factors themselves too. */
static assay_status sloped_fits(const assay_derive *d, double above, double below)
{
    const assay_interval code = derive_codes(&d->spec->in[0]);
    const double hi = fmax((double)code.hi, 1) * above, lo = fmin((double)code.lo, -1) * below;
    return derive_fits(d, fmin(lo, 0), fmax(hi, lo), 32,
                       "a code times its slope in 8 fraction bits");
}

/* The codes of apply_slope_fixed8, whose slope may be negative. */
static assay_interval sloped(const assay_derive *d)
{
    const assay_unit *u = d->u;
    const assay_interval code = derive_with_zero(derive_codes(&d->spec->in[0]));
    const double above = (double)code.hi * (double)u->k[0],
                 below = (double)code.lo * (double)u->k[1];
    return derive_around(fmin(below, 0) / 256, fmax(above, below) / 256);
}

/* Whether XNNPACK has a kernel for these slopes, or the rule does not ask. */
static bool has_fixed8(const assay_unit *u, float above, float below)
{
    const float min = fminf(fabsf(above), fabsf(below)), max = fmaxf(fabsf(above), fabsf(below));
    return u->rec.unary.leaky_relu == ASSAY_SLOPE_FIXED8 ||
           (u->rec.unary.leaky_relu == ASSAY_SLOPE_FIXED8_OR_RESCALE && min >= 1.0f / 256 &&
            max <= 128);
}

static assay_status slope(const assay_derive *d)
{
    assay_unit *u = d->u;
    float s_in = derive_scale_of(&d->spec->in[0]), s_out = derive_scale_of(d->spec->out);
    float alpha = (float)d->spec->alpha;
    if (u->rec.unary.leaky_relu == ASSAY_SLOPE_TABLE)
        return derive_table(d);
    const float ratio = s_in / s_out, negative = ratio * alpha;
    if (has_fixed8(u, ratio, negative)) {
        assay_status s = sloped_fits(d, 256 * (double)ratio, 256 * (double)negative);
        if (s)
            return s;
        u->k[0] = lrintf(256.0f * ratio);
        u->k[1] = lrintf(256.0f * negative);
        u->unary = apply_slope_fixed8;
        s = derive_list_constants(d, 2);
        if (!s)
            s = derive_range(d);
        return s ? s : derive_accepts_end(d, sloped(d), "a code times its slope");
    }
    u->k[0] = alpha < 0;
    u->unary = apply_slope;
    return derive_slope(d, fabsf(alpha));
}

static assay_status absolute(const assay_derive *d)
{
    const float one = 1;
    if (d->u->rec.unary.abs == ASSAY_ABS_TABLE)
        return derive_table(d);
    d->u->unary = apply_abs;
    return derive_output_rescale(d, derive_scale_of(&d->spec->in[0]), &one, 1,
                                 derive_scale_of(d->spec->out));
}

/* The inverse roots of codes, whose multiplier changes with every other bit of the code, then the
 * rescale of what they give. */
static assay_status accepts_roots(const assay_derive *d)
{
    const int64_t max = derive_codes(&d->spec->in[0]).hi;
    const assay_interval one = {1, 1}, root = {0, INT64_C(1) << ASSAY_RSQRT_BITS};
    assay_status s = derive_accepts(d, ASSAY_OUT, root, "a root");
    for (int64_t v = 1; v <= max && !s; v *= 2) {
        assay_rescale form = d->u->scale[ASSAY_OUT];
        int left;
        const int64_t multiplier = apply_fixed_inverse_sqrt((int32_t)v, &left);
        const int64_t shift = 31 - (left + ASSAY_RSQRT_BITS);
        form.multiplier = &multiplier;
        form.shift = &shift;
        s = derive_accepts_form(d, ASSAY_OUT, &form, one, "a root's operand");
    }
    return s;
}

/* TFLite elementwise.cc: 1 / (sqrtf(s_in) * s_out), less the 20 fraction bits of the first step. */
static assay_status inverse_sqrt(const assay_derive *d)
{
    if (d->u->rec.unary.rsqrt == ASSAY_RSQRT_TABLE)
        return derive_table(d);
    float root = sqrtf(derive_scale_of(&d->spec->in[0]));
    float product = root * derive_scale_of(d->spec->out);
    const assay_interval positive = {0, derive_codes(&d->spec->in[0]).hi};
    assay_status s = derive_holds(d, positive, 32, "a code less its zero point");
    if (!s)
        s = derive_range(d);
    d->u->unary = apply_rsqrt;
    if (!s)
        s = derive_one(d, &d->u->scale[ASSAY_OUT], ldexp(1 / (double)product, -ASSAY_RSQRT_BITS),
                       "");
    return !s ? accepts_roots(d) : s;
}

static assay_status bound_relu(const assay_derive *d, assay_status status)
{
    if (!status && d->u->op == ASSAY_OP_RELU)
        derive_relu(&d->u->scale[ASSAY_OUT], derive_zero_of(d->spec->out));
    return status;
}

assay_status derive_unary(const assay_derive *d)
{
    assay_unit *u = d->u;
    if (u->op == ASSAY_OP_ABS)
        return absolute(d);
    if (u->op == ASSAY_OP_RSQRT)
        return inverse_sqrt(d);
    const float one = 1;
    const assay_type *in = &d->spec->in[0], *out = d->spec->out;
    if (u->op == ASSAY_OP_LEAKY_RELU)
        return slope(d);
    if (!derive_keeps_value(u->op))
        return derive_unknown(d);
    bool clamp = u->op != ASSAY_OP_RESCALE && derive_same_params(in, out);
    if (!clamp && u->rec.unary.rescale == ASSAY_CHANGE_TABLE)
        return derive_table(d);
    u->unary = clamp ? apply_clamp : apply_rescale;
    if (clamp)
        return bound_relu(d, derive_range(d));
    /* thresholds count from the least code: that of a relu is known before them */
    assay_unit_spec spec = *d->spec;
    const assay_derive bounded = {u, &spec, d->scheme, d->err};
    if (u->op == ASSAY_OP_RELU && u->rec.rescale.encoding == ASSAY_ENCODE_THRESHOLDS)
        spec.act_lo = spec.act_lo > 0 ? spec.act_lo : 0;
    return bound_relu(
        d, derive_output_rescale(&bounded, derive_scale_of(in), &one, 1, derive_scale_of(out)));
}
