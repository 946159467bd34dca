/* The integers of I-BERT's polynomials, from the input's scale S (apply/ibert.h). */
#include <math.h>

#include "schemes/apply/ibert.h"
#include "schemes/derive/derive.h"

/* What is rescaled: a code q times minus I-BERT's erf, q * (-b^2 - 2c + ..) growing with q above 0,
 * q * (q - b)^2 below, the least of which is beside b / 3. */
static assay_interval products(const assay_derive *d)
{
    const assay_interval code = derive_codes(&d->spec->in[0]);
    const int32_t b = (int32_t)d->u->k[0], c = (int32_t)d->u->k[1];
    assay_interval y = {0, -(int64_t)apply_ibert_gelu((int32_t)code.hi, b, c)};
    for (int64_t q = b / 3 - 1; q <= b / 3; q++) {
        const int64_t v = -(int64_t)apply_ibert_gelu((int32_t)(q > code.lo ? q : code.lo), b, c);
        y.lo = v < y.lo ? v : y.lo;
    }
    return y;
}

/* The same in the register before its sign changes: q * 2c of q from -b on, q * (q - b)^2 below 0.
 */
static assay_status product_fits(const assay_derive *d, double b, double c)
{
    const assay_interval code = derive_codes(&d->spec->in[0]);
    const double hi = fmax((double)code.hi, 0), least = fmin(fmax((double)code.lo, b / 3), 0);
    assay_status s = derive_centred(d, 0);
    return s ? s
             : derive_fits(d, 2 * c * hi, least * (b - least) * (least - b), 32,
                           "a code times I-BERT's erf");
}

/* erf(x) ~ sign(x) * (-0.2888 * (min(|x|, 1.769) - 1.769)^2 + 1) of x / sqrt 2. */
assay_status derive_gelu_ibert(const assay_derive *d)
{
    assay_unit *u = d->u;
    const double s = (double)derive_scale_of(&d->spec->in[0]);
    const double b = -1.769 * M_SQRT2 / s, c = -2 / (0.2888 * s * s);
    const float step = (float)(0.2888 * s * s / 4);
    if (!(c > -0x1p31))
        return derive_fail(d, "input scale %g is too small for I-BERT's GELU", s);
    u->k[0] = (int64_t)b;
    u->k[1] = (int64_t)c;
    u->unary = apply_gelu_ibert;
    assay_status status = product_fits(d, b, c);
    if (!status)
        status = derive_list_constants(d, 2);
    if (!status)
        status = derive_output_rescale(d, (float)s, &step, 1, derive_scale_of(d->spec->out));
    return status ? status : derive_accepts(d, ASSAY_OUT, products(d), "a code times I-BERT's erf");
}

/* The sum is 127 whatever the output's parameters say; other ones would be other values. */
static assay_status check_shares(const assay_derive *d)
{
    const double unit = 1.0 / 127, found = (double)derive_scale_of(d->spec->out);
    if (fabs(found - unit) <= unit / 1000 && derive_zero_of(d->spec->out) == 0)
        return ASSAY_OK;
    return derive_fail(
        d, "i-bert's codes count 1/127 from 0; the output has scale %.9g, zero point %d", found,
        derive_zero_of(d->spec->out));
}

/* e^p ~ 0.3585 * (p + 1.353)^2 + 0.344 for -ln 2 < p <= 0. */
assay_status derive_softmax_ibert(const assay_derive *d)
{
    assay_unit *u = d->u;
    const double s = (double)derive_scale_of(&d->spec->in[0]) * d->spec->beta;
    const double b = floor(1.353 / s), c = floor(0.344 / (0.3585 * s * s));
    const double ln2 = floor(M_LN2 / s), row = d->spec->depth > 0 ? (double)d->spec->depth : 1;
    if (u->rec.rescale.encoding != ASSAY_ENCODE_F32)
        return derive_fail(d, "i-bert needs rescale.encoding: float32");
    if (!(ln2 >= 1) || !((b * b + c) * row < 0x1p31))
        return derive_fail(d, "beta * input scale %g is out of reach of I-BERT's exponential", s);
    u->k[0] = (int64_t)b;
    u->k[1] = (int64_t)c;
    u->k[2] = (int64_t)ln2;
    u->k[3] = (int64_t)(65536 / ln2);
    u->row = apply_softmax_ibert;
    assay_status status = derive_list_constants(d, 4);
    if (!status)
        status = check_shares(d);
    const int64_t greatest = u->k[0] * u->k[0] + u->k[1];
    const int64_t share = derive_bits_of(127 / (float)greatest);
    assay_rescale form = u->scale[ASSAY_OUT]; /* of a single element */
    form.scale = &share;
    return status ? status
                  : derive_accepts_form(d, ASSAY_OUT, &form, (assay_interval){0, greatest},
                                        "I-BERT's exponential");
}
