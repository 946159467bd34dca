/* DIV of two codes. A division by zero gives the greatest, the least, or (0/0) the zero code. */
#include "schemes/apply/apply.h"
#include "schemes/apply/fixedpoint.h"
#include "schemes/apply/softfloat.h"
#include "schemes/apply/tail.h"

static int32_t by_zero(const assay_rescale *o, int64_t x)
{
    return (int32_t)(x > 0 ? o->hi : x < 0 ? o->lo : apply_clamp_to(o->zero_point, o->lo, o->hi));
}

/* TFLite reference/div.h: the divisor's Newton reciprocal times the normalised dividend; the scale
 * s1 / (s2 * s_out) takes up both normalisations in its shift. */
static void reciprocal(const assay_unit *u, int64_t x, int64_t y, int32_t *quotient, int64_t *shift)
{
    int over_unit;
    int32_t sign = y < 0 ? -1 : 1, x32 = (int32_t)x * sign;
    int32_t inverse = apply_fixed_reciprocal((int32_t)y * sign, 31, &over_unit);
    unsigned headroom = apply_sign_bits32(x32);
    *quotient = apply_srdhm(apply_wshl(x32, headroom), inverse);
    *shift = u->scale[ASSAY_OUT].shift[0] + over_unit + (int64_t)headroom;
}

void apply_div_reciprocal(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                          int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    for (size_t i = 0; i < n; i++) {
        int64_t x = a[i] - u->in_zero[0], y = b[i] - u->in_zero[1];
        if (y == 0) {
            out[i] = by_zero(o, x);
            continue;
        }
        int32_t quotient;
        int64_t shift;
        reciprocal(u, x, y, &quotient, &shift);
        assay_rescale shifted = *o;
        shifted.shift = &shift;
        out[i] = apply_rescale_finish(o, apply_rescale_value(&shifted, quotient, 0));
    }
}

/* Glow interpreter: (s1 * x) / (s2 * s_out * y) + zero point, rounded once. k[0] s1, k[1] s2*s_out.
 */
void apply_div_float(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                     int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    enum assay_rounding mode = (enum assay_rounding)u->rec.rescale.round.step[0].mode;
    const int64_t max = apply_float_max(o);
    uint32_t zero = apply_f32_from_i64(o->zero_point);
    for (size_t i = 0; i < n; i++) {
        int64_t x = a[i] - u->in_zero[0], y = b[i] - u->in_zero[1];
        if (y == 0) {
            out[i] = by_zero(o, x);
            continue;
        }
        uint32_t f = apply_f32_div(apply_f32_mul(apply_f32_from_i64(x), (uint32_t)u->k[0]),
                                   apply_f32_mul(apply_f32_from_i64(y), (uint32_t)u->k[1]));
        out[i] = apply_rescale_store(
            o, apply_f32_to_int(apply_f32_add(f, zero), mode, INT32_MIN, max, 0));
    }
}

/* Glow CPU: the codes are divided as integers, toward zero, and the quotient is rescaled. */
void apply_div_truncate(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                        int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    for (size_t i = 0; i < n; i++) {
        int64_t x = a[i] - u->in_zero[0], y = b[i] - u->in_zero[1];
        out[i] = y == 0 ? by_zero(o, x)
                        : apply_rescale_one(o, assay_round_div(x, y, ASSAY_ROUND_TRUNC), 0);
    }
}

bool apply_div_accepts(const assay_unit *u, int32_t a, int32_t b)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    const int64_t x = a - u->in_zero[0], y = b - u->in_zero[1];
    int32_t quotient;
    int64_t shift;
    if (y == 0)
        return true;
    if (u->binary == apply_div_truncate)
        return apply_rescale_accepts(o, assay_round_div(x, y, ASSAY_ROUND_TRUNC), 0);
    reciprocal(u, x, y, &quotient, &shift);
    assay_rescale shifted = *o;
    shifted.shift = &shift;
    return apply_rescale_accepts(&shifted, quotient, 0);
}
