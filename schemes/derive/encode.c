/* A real scale becomes a multiplier and a shift, a shift alone, Glow's triplet, or float bits. */
#include <math.h>
#include <stdio.h>

#include "schemes/apply/round.h"
#include "schemes/derive/derive.h"

double assay_form_scale(const assay_rule_rescale *k, float in, float w, float out, bool per_tensor)
{
    double exact = (double)in * (double)w / (double)out;
    float product = in * w;
    float ratio = product / out;
    switch (k->scale) {
    case ASSAY_FORM_F32_PRODUCT:
        return (double)product / (double)out;
    case ASSAY_FORM_F32_PRODUCT_TENSOR:
        return per_tensor ? (double)product / (double)out : exact;
    case ASSAY_FORM_F32:
    case ASSAY_FORM_F32_STEPS:
        return (double)ratio;
    default:
        return exact;
    }
}

int64_t assay_shift_to_target(const assay_rule_rescale *k, int64_t shift)
{
    switch (k->shift_sign) {
    case ASSAY_SHIFT_LEFT_OF_BITS:
        return k->multiplier_bits - shift;
    case ASSAY_SHIFT_RIGHT_OF_BITS:
        return shift - k->multiplier_bits;
    case ASSAY_SHIFT_LEFT:
        return -shift;
    default:
        return shift;
    }
}

int64_t assay_shift_from_target(const assay_rule_rescale *k, int64_t shift)
{
    switch (k->shift_sign) {
    case ASSAY_SHIFT_LEFT_OF_BITS:
        return k->multiplier_bits - shift;
    case ASSAY_SHIFT_RIGHT_OF_BITS:
        return shift + k->multiplier_bits;
    case ASSAY_SHIFT_LEFT:
        return -shift;
    default:
        return shift;
    }
}

#define REFUSE(...)                                                                                \
    do {                                                                                           \
        snprintf(why, size, __VA_ARGS__);                                                          \
        return false;                                                                              \
    } while (0)

/* pytorch/glow lib/Quantization/Base/Base.cpp, quantizeScaleOffset32To8: a power of two alone is a
 * shift (or a small multiplier), else about 9 bits of multiplier with pre- and post-shift. */
static void encode_glow(float r, assay_encoded *e)
{
    int exponent;
    if (frexpf(r, &exponent) == 0.5f) { /* r = 2^(exponent - 1) */
        *e = exponent > 1 ? (assay_encoded){INT64_C(1) << (exponent - 1), 0, 0}
                          : (assay_encoded){1, 1 - exponent, 0};
        return;
    }
    int64_t post = 0, pre = 0;
    while (r < 0.5f || (r < 256 && post < 15)) {
        r *= 2;
        post++;
    }
    while (r < 255 && pre < post / 2) {
        r *= 2;
        pre++;
    }
    *e = (assay_encoded){(int64_t)roundf(r), pre + post, pre};
}

/* R = q * 2^exponent, 1/2 <= q < 1; the multiplier is q * 2^bits rounded. */
static bool encode_multiplier(const assay_rule_rescale *k, double real, assay_encoded *e, char *why,
                              size_t size)
{
    int exponent, bits = k->multiplier_bits;
    int64_t exact = (int64_t)ldexp(frexp(real, &exponent), 53);
    e->multiplier =
        assay_round_shift(exact, (unsigned)(53 - bits), (enum assay_rounding)k->multiplier_round);
    e->shift = bits - exponent;
    e->pre = 0;
    if (e->multiplier == INT64_C(1) << bits && k->multiplier_renormalise) {
        e->multiplier >>= 1;
        e->shift--;
    }
    if (e->shift < k->shift_min) {
        if (k->below_shift_min == ASSAY_RANGE_REFUSE)
            REFUSE("scale %.9g needs a right shift of %lld, below shift_min %d", real,
                   (long long)e->shift, k->shift_min);
        e->multiplier = k->below_shift_min == ASSAY_RANGE_ZERO ? 0 : (INT64_C(1) << bits) - 1;
        e->shift = k->below_shift_min == ASSAY_RANGE_ZERO ? bits : k->shift_min;
    }
    if (e->shift > k->shift_max) {
        if (k->beyond_shift_max == ASSAY_RANGE_REFUSE)
            REFUSE("scale %.9g needs a right shift of %lld, beyond shift_max %d", real,
                   (long long)e->shift, k->shift_max);
        int64_t lost = e->shift - k->shift_max;
        bool denormal = k->beyond_shift_max == ASSAY_RANGE_DENORMAL;
        enum assay_rounding mode = (enum assay_rounding)k->denormal_round;
        e->multiplier =
            denormal ? assay_round_shift(e->multiplier, (unsigned)(lost > bits ? bits : lost), mode)
                     : 0;
        e->shift = denormal ? k->shift_max : bits;
    }
    return true;
}

bool assay_encode(const assay_rule_rescale *k, double real, assay_encoded *e, char *why,
                  size_t size)
{
    if (!isfinite(real) || real < 0)
        REFUSE("scale %g is not a finite number of at least 0", real);
    if (real == 0) {
        *e = (assay_encoded){0, k->multiplier_bits, 0};
        return true;
    }
    int exponent;
    double fraction = frexp(real, &exponent);
    if (k->scale == ASSAY_FORM_POW2 && fraction != 0.5)
        REFUSE("scale %.9g is not a power of two", real);
    if (k->encoding == ASSAY_ENCODE_SHIFT) {
        *e = (assay_encoded){1, 1 - exponent, 0};
        if (e->shift < k->shift_min || e->shift > k->shift_max)
            REFUSE("scale %.9g needs a right shift of %lld, outside %d..%d", real,
                   (long long)e->shift, k->shift_min, k->shift_max);
        return true;
    }
    if (k->encoding == ASSAY_ENCODE_GLOW) {
        if ((float)real > 16777216.0f || exponent < -60)
            REFUSE("scale %.9g is outside [2^-61, 2^24]", real);
        encode_glow((float)real, e);
        return true;
    }
    if (k->encoding == ASSAY_ENCODE_F32 && (!isfinite((float)real) || (float)real == 0))
        REFUSE("scale %.9g is not a float32 above 0", real);
    if (k->encoding != ASSAY_ENCODE_MULTIPLIER) {
        *e = (assay_encoded){0, 0, 0}; /* float bits are taken from the scale itself */
        return true;
    }
    return encode_multiplier(k, real, e, why, size);
}
