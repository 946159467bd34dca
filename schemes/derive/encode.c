/* Encodings of a real scale: multiplier and shift, shift alone, Glow's triplet, float bits. */
#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "schemes/derive/derive.h"
#include "schemes/round.h"

double derive_form_scale(const assay_rule_rescale *k, float in, float w, float out, bool per_tensor)
{
    const float product = in * w, ratio = product / out, reciprocal = 1 / out;
    const float times_reciprocal = product * reciprocal;
    if (k->scale == ASSAY_FORM_F32_PRODUCT ||
        (k->scale == ASSAY_FORM_F32_PRODUCT_TENSOR && per_tensor))
        return (double)product / (double)out;
    if (k->scale == ASSAY_FORM_F32_RECIPROCAL)
        return (double)times_reciprocal;
    return derive_forms_f32(k) ? (double)ratio : (double)in * (double)w / (double)out;
}

/* Conventions of shifts: to the left or right, counted from the multiplier's bits or from 0. */
static bool is_left(const assay_rule_rescale *k)
{
    return k->shift_sign == ASSAY_SHIFT_LEFT || k->shift_sign == ASSAY_SHIFT_LEFT_OF_BITS;
}

static int64_t shift_origin(const assay_rule_rescale *k)
{
    const bool of_bits =
        k->shift_sign == ASSAY_SHIFT_LEFT_OF_BITS || k->shift_sign == ASSAY_SHIFT_RIGHT_OF_BITS;
    return of_bits ? k->multiplier_bits : 0;
}

int64_t derive_shift_to_target(const assay_rule_rescale *k, int64_t shift)
{
    const int64_t right = shift - shift_origin(k);
    return is_left(k) ? -right : right;
}

int64_t derive_shift_from_target(const assay_rule_rescale *k, int64_t shift)
{
    return shift_origin(k) + (is_left(k) ? -shift : shift);
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
    assert(r > 0);
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

static void encode_zero(const assay_rule_rescale *k, assay_encoded *e)
{
    *e = (assay_encoded){0, derive_shift_from_target(k, k->zero_shift), 0};
}

/* arm/tosa reference_model verif/generator/tosa_arg_gen.py, bug for bug: shifts 0 and 1 become 2 by
 * dividing the multiplier too (the scale becomes 16 or 4 times less), and shift 63 becomes 62 by
 * doubling it, which passes its own assertion for a multiplier of 2^30 only. All other shifts
 * beyond 62 lose multiplier bits, as in MLIR. False: it asserts. */
static bool as_tosa_generator(assay_encoded *e, int bits)
{
    assert(bits >= 1 && bits <= 32);
    if (e->shift == 0 || e->shift == 1) {
        e->multiplier /= e->shift == 0 ? 4 : 2;
        e->shift = 2;
    } else if (e->shift == 63 && e->multiplier == INT64_C(1) << (bits - 1)) {
        e->multiplier *= 2;
        e->shift = 62;
    } else if (e->shift > 62) {
        int64_t lost = e->shift - 62 > 31 ? 31 : e->shift - 62;
        e->multiplier = assay_round_shift(e->multiplier, (unsigned)lost, ASSAY_ROUND_FLOOR);
        e->shift = 62;
    }
    return e->shift >= 0;
}

/* |R| * 2^shift rounded. 2^shift is at most what gives the multiplier all its bits. */
static int64_t multiplier_at(const assay_rule_rescale *k, double real, int64_t shift)
{
    int exponent;
    const int64_t exact = (int64_t)ldexp(frexp(real, &exponent), 53);
    const int64_t drop = 53 - exponent - shift;
    assert(drop >= 0); /* a multiplier has fewer bits than a double */
    return assay_round_shift(exact, drop > 127 ? 127 : (unsigned)drop,
                             (enum assay_rounding)k->multiplier_round);
}

/* R = q * 2^exponent, 1/2 <= q < 1; the multiplier is q * 2^bits rounded. */
static assay_encoded with_all_bits(const assay_rule_rescale *k, double real)
{
    int exponent;
    assert(k->multiplier_bits >= 1 && k->multiplier_bits <= 32);
    frexp(real, &exponent);
    if (k->exponent_by_log)
        exponent = (int)floor(log(real) / log(2)) + 1;
    const int64_t shift = k->multiplier_bits - exponent;
    assay_encoded e = {multiplier_at(k, real, shift), shift, 0};
    if (e.multiplier == INT64_C(1) << k->multiplier_bits && k->multiplier_renormalise) {
        e.multiplier >>= 1;
        e.shift--;
    }
    return e;
}

/* A shift below shift_min becomes it: what the multiplier's bits hold there is kept, which under
 * common_shift some channels' R may be. */
static void encode_large(const assay_rule_rescale *k, double real, assay_encoded *e)
{
    assert(k->multiplier_bits >= 1 && k->multiplier_bits <= 32);
    if (with_all_bits(k, real).shift >= k->shift_min)
        *e = (assay_encoded){multiplier_at(k, real, k->shift_min), k->shift_min, 0};
    else if (k->below_shift_min == ASSAY_LARGE_ZERO)
        encode_zero(k, e);
    else
        *e = (assay_encoded){(INT64_C(1) << k->multiplier_bits) - 1, k->shift_min, 0};
}

static void encode_small(const assay_rule_rescale *k, double real, assay_encoded *e)
{
    const int64_t lost = e->shift - k->shift_max;
    if (k->beyond_shift_max == ASSAY_SMALL_ZERO) {
        encode_zero(k, e);
        return;
    }
    e->shift = k->shift_max;
    if (k->beyond_shift_max == ASSAY_SMALL_DENORMAL)
        e->multiplier = assay_round_shift(e->multiplier, lost > 127 ? 127 : (unsigned)lost,
                                          (enum assay_rounding)k->denormal_round);
    else
        e->multiplier = multiplier_at(k, real, k->shift_max);
}

static bool encode_multiplier(const assay_rule_rescale *k, double real, double greatest,
                              assay_encoded *e, char *why, size_t size)
{
    const int bits = k->multiplier_bits;
    assert(bits >= 1 && bits <= 32);
    *e = with_all_bits(k, greatest);
    if (real != greatest)
        e->multiplier = multiplier_at(k, real, e->shift);
    if (k->exponent_by_log && e->multiplier >= INT64_C(1) << bits)
        REFUSE("scale %.9g gives a multiplier beyond %d bits", real, bits);
    if (e->shift < k->shift_min) {
        bool generator = k->below_shift_min == ASSAY_LARGE_GENERATOR;
        if (generator && as_tosa_generator(e, bits))
            return true;
        if (generator || k->below_shift_min == ASSAY_LARGE_REFUSE)
            REFUSE("scale %.9g needs a right shift of %lld, below shift_min %d", real,
                   (long long)e->shift, k->shift_min);
        encode_large(k, real, e);
    } else if (e->shift > k->shift_max) {
        if (k->beyond_shift_max == ASSAY_SMALL_GENERATOR)
            return as_tosa_generator(e, bits);
        if (k->beyond_shift_max == ASSAY_SMALL_REFUSE)
            REFUSE("scale %.9g needs a right shift of %lld, beyond shift_max %d", real,
                   (long long)e->shift, k->shift_max);
        encode_small(k, real, e);
    }
    return true;
}

bool derive_encode(const assay_rule_rescale *k, double real, assay_encoded *e, char *why,
                   size_t size)
{
    return derive_encode_beside(k, real, fabs(real), e, why, size);
}

bool derive_encode_beside(const assay_rule_rescale *k, double real, double greatest,
                          assay_encoded *e, char *why, size_t size)
{
    if (!isfinite(real))
        REFUSE("scale %g is not a finite number", real);
    if (real < 0 && !k->negative_scale)
        REFUSE("scale %.9g is negative", real);
    if (real == 0 && k->encoding != ASSAY_ENCODE_THRESHOLDS) {
        encode_zero(k, e);
        return true;
    }
    int exponent;
    double fraction = frexp(fabs(real), &exponent);
    if (k->scale == ASSAY_FORM_POW2 && fraction != 0.5)
        REFUSE("scale %.9g is not a power of two", real);
    if (k->encoding == ASSAY_ENCODE_SHIFT) {
        *e = (assay_encoded){real < 0 ? -1 : 1, 1 - exponent, 0};
        if (e->shift < k->shift_min || e->shift > k->shift_max)
            REFUSE("scale %.9g needs a right shift of %lld, outside %d..%d", real,
                   (long long)e->shift, k->shift_min, k->shift_max);
        return true;
    }
    if (k->encoding == ASSAY_ENCODE_THRESHOLDS) { /* of the exact product: R's own 53 bits */
        *e = (assay_encoded){(int64_t)ldexp(fraction, 53), 53 - exponent, 0};
        if (real == 0 || e->shift < 0 || e->shift > 126)
            REFUSE("scale %g is outside 2^-74 to 2^53", real);
        return true;
    }
    if (k->encoding == ASSAY_ENCODE_GLOW) {
        if (!((float)real < 2147483648.0f) || (float)real == 0)
            REFUSE("scale %.9g is not a float32 between 0 and 2^31", real);
        encode_glow((float)real, e);
        return true;
    }
    if (k->encoding == ASSAY_ENCODE_F32 && (!isfinite((float)real) || (float)real == 0))
        REFUSE("scale %.9g is not a float32 above 0", real);
    if (k->encoding != ASSAY_ENCODE_MULTIPLIER) {
        *e = (assay_encoded){0, 0, 0}; /* float bits are taken from the scale itself */
        return true;
    }
    if (!encode_multiplier(k, fabs(real), greatest, e, why, size))
        return false;
    e->multiplier = real < 0 ? -e->multiplier : e->multiplier;
    return true;
}

/* A multiplier with fewer bits (TFLite int16x8: 15; XNNPACK rndnu16: 15). */
static void reduce(const assay_rule_rescale *k, int64_t *m, int64_t *shift)
{
    if (k->reduced_bits == 0 || *m == 0)
        return;
    assert(k->reduced_bits < 63 && k->multiplier_bits >= k->reduced_bits);
    int64_t limit = INT64_C(1) << k->reduced_bits;
    unsigned drop = (unsigned)(k->multiplier_bits - k->reduced_bits);
    int64_t magnitude = assay_round_shift(*m < 0 ? -*m : *m, drop, ASSAY_ROUND_HALF_UP);
    *shift -= drop;
    if (magnitude >= limit && k->reduced_overflow == ASSAY_REDUCED_CAP) {
        magnitude = limit - 1;
    } else if (magnitude >= limit) {
        magnitude = limit / 2;
        (*shift)--;
    }
    *m = *m < 0 ? -magnitude : magnitude;
}

void derive_place_encoded(const assay_rule_rescale *k, const assay_encoded *e, int64_t *multiplier,
                          int64_t *shift, int64_t *pre)
{
    int64_t total = e->shift;
    *multiplier = e->multiplier;
    reduce(k, multiplier, &total);
    *pre = k->pre_shift == ASSAY_PRE_FIXED  ? k->pre_shift_bits
           : k->pre_shift == ASSAY_PRE_REST ? total - k->round.step[0].bits
                                            : e->pre;
    *shift = total - *pre;
}

bool derive_check_precomputed(const assay_rule_rescale *k, const assay_encoded *e, char *why,
                              size_t size)
{
    assert(k->multiplier_bits >= 1 && k->multiplier_bits <= 32);
    const int64_t max = k->encoding == ASSAY_ENCODE_SHIFT ? 1 : INT64_C(1) << k->multiplier_bits;
    const int64_t first = k->round.n > 1 ? k->round.step[0].bits : 0;
    const int64_t left = k->left_shift == ASSAY_LEFT_PRODUCT ? 0 : first - e->shift;
    if (k->encoding != ASSAY_ENCODE_GLOW && (e->multiplier > max || e->multiplier < -max)) {
        snprintf(why, size, "multiplier %lld; expected at most %d bits", (long long)e->multiplier,
                 k->encoding == ASSAY_ENCODE_SHIFT ? 1 : k->multiplier_bits);
        return false;
    }
    if (e->shift < k->shift_min || e->shift > k->shift_max) {
        snprintf(why, size, "a right shift of %lld; expected %d to %d", (long long)e->shift,
                 k->shift_min, k->shift_max);
        return false;
    }
    if (left > 31)
        snprintf(why, size, "a left shift of %lld; expected at most 31, its operand has 32 bits",
                 (long long)left);
    return left <= 31;
}
