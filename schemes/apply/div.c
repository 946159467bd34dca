/* DIV of two codes. A division by zero gives the greatest, the least, or (0/0) the zero code. */
#include <assert.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/fixedpoint.h"
#include "schemes/apply/softfloat.h"
#include "schemes/apply/tail.h"

static int32_t by_zero(const assay_rescale *o, int64_t x)
{
    return (int32_t)(x > 0 ? o->hi : x < 0 ? o->lo : apply_clamp_to(o->zero_point, o->lo, o->hi));
}

/* Whether the second is 0. */
static bool tell_operands(const assay_teller *t, int64_t x, int64_t y)
{
    apply_tell(t, "first less zero point", x);
    apply_tell(t, "second less zero point", y);
    if (y == 0)
        apply_tell(t, "divided by zero, sign of the first", (x > 0) - (x < 0));
    return y == 0;
}

/* TFLite reference/div.h: the divisor's Newton reciprocal times the normalised dividend; the scale
 * s1 / (s2 * s_out) takes up both normalisations in its shift. */
static void reciprocal(const assay_unit *u, int64_t x, int64_t y, int32_t *quotient, int64_t *shift,
                       const assay_teller *t)
{
    int over_unit;
    const int64_t sign = y < 0 ? -1 : 1, dividend = x * sign, divisor = y * sign;
    assert(dividend == (int32_t)dividend && divisor > 0 && divisor <= INT32_MAX);
    const int32_t x32 = (int32_t)dividend;
    const int32_t inverse = apply_fixed_reciprocal((int32_t)divisor, 31, &over_unit);
    unsigned headroom = apply_sign_bits32(x32);
    *quotient = apply_srdhm(apply_wshl(x32, headroom), inverse);
    *shift = u->scale[ASSAY_OUT].shift[0] + over_unit + (int64_t)headroom;
    apply_tell_fixed(t, "reciprocal of the second", inverse, 31 + over_unit);
    apply_tell_fixed(t, "first, to the top of 32 bits", apply_wshl(x32, headroom), headroom);
    apply_tell_fixed(t, "their product, rounded", quotient[0], over_unit + (int64_t)headroom);
}

void apply_div_reciprocal(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                          int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_teller(u, i);
        int64_t x = a[i] - u->in_zero[0], y = b[i] - u->in_zero[1];
        if (tell_operands(t, x, y)) {
            out[i] = by_zero(o, x);
            continue;
        }
        int32_t quotient;
        int64_t shift;
        reciprocal(u, x, y, &quotient, &shift, t);
        assay_rescale shifted = *o;
        shifted.shift = &shift;
        apply_tell_rescale(t, &shifted, quotient);
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
        const assay_teller *t = apply_teller(u, i);
        int64_t x = a[i] - u->in_zero[0], y = b[i] - u->in_zero[1];
        if (tell_operands(t, x, y)) {
            out[i] = by_zero(o, x);
            continue;
        }
        const uint32_t p = apply_f32_mul(apply_f32_from_i64(x), (uint32_t)u->k[0]),
                       q = apply_f32_mul(apply_f32_from_i64(y), (uint32_t)u->k[1]),
                       f = apply_f32_div(p, q);
        apply_tell_f32(t, "first times scale", p);
        apply_tell_f32(t, "second times scales", q);
        apply_tell_f32(t, "quotient", f);
        const uint32_t sum = apply_f32_add(f, zero);
        const int64_t code = apply_f32_to_int(sum, mode, INT32_MIN, max, 0);
        apply_tell_f32(t, "plus zero point", sum);
        apply_tell_rounded(t, sum, code, mode);
        out[i] = apply_tell_store(t, o, code);
    }
}

/* Glow CPU: the codes are divided as integers, toward zero, and the quotient is rescaled. */
void apply_div_truncate(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                        int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_teller(u, i);
        int64_t x = a[i] - u->in_zero[0], y = b[i] - u->in_zero[1];
        out[i] =
            tell_operands(t, x, y)
                ? by_zero(o, x)
                : apply_rescale_one(o, apply_tell_div(t, "quotient", x, y, ASSAY_ROUND_TRUNC), 0);
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
    reciprocal(u, x, y, &quotient, &shift, NULL);
    assay_rescale shifted = *o;
    shifted.shift = &shift;
    return apply_rescale_accepts(&shifted, quotient, 0);
}
