/* Block scales, and elements divided by a scale; scale.h has the formulas. */
#include <assert.h>

#include "schemes/mac/scale.h"

#include "schemes/mac/functions.h"

uint32_t mac_to_f32(enum assay_mac_format f, uint32_t pattern)
{
    const assay_mac_rounding exact = {ASSAY_ROUND_HALF_EVEN, 23, false};
    const assay_mac_value v = mac_decode(f, pattern);
    return f == ASSAY_MAC_F32 ? pattern : (uint32_t)mac_encode(ASSAY_MAC_F32, &v, &exact);
}

uint32_t mac_from_f32(enum assay_mac_format f, uint32_t bits, bool saturate)
{
    const assay_mac_rounding how = {ASSAY_ROUND_HALF_EVEN, mac_layout_of(f)->fraction_bits,
                                    saturate};
    const assay_mac_value v = mac_decode(ASSAY_MAC_F32, bits);
    return f == ASSAY_MAC_F32 ? bits : (uint32_t)mac_encode(f, &v, &how);
}

uint32_t mac_format_greatest(enum assay_mac_format f)
{
    return mac_to_f32(f, mac_from_f32(f, UINT32_C(0x7f7fffff), true));
}

bool mac_format_reaches(enum assay_mac_format elements, enum assay_mac_format out)
{
    return mac_format_greatest(elements) >> 23 >= mac_format_greatest(out) >> 23;
}

/* The exponent of a normal number's leading bit. */
static int exponent_of(uint32_t magnitude)
{
    return (int)(magnitude >> 23) - 127;
}

/* Numbers below the least normal one count as 2^-127, the least scale. */
static int log2_of(uint32_t magnitude, enum assay_rounding mode)
{
    if (magnitude <= UINT32_C(0x400000)) /* 2^-127 */
        return -127;
    return (int)assay_round_shift(magnitude, 23, mode) - 127;
}

static uint32_t power_of_two(int s)
{
    return (uint32_t)(apply_clamp_to(s, -127, 127) + 127);
}

/* m with its fraction rounded to this many bits, ties away. */
static uint32_t rounded(uint32_t m, int fraction_bits)
{
    assert(fraction_bits >= 0 && fraction_bits <= 23);
    const unsigned drop = (unsigned)(23 - fraction_bits);
    return (uint32_t)assay_round_shift(m, drop, ASSAY_ROUND_HALF_AWAY) << drop;
}

/* The bits after the leading one: an integer's leading bit is not hidden, so its fraction includes
 * it. */
static int digits_behind_first(enum assay_mac_format f)
{
    const assay_mac_layout *l = mac_layout_of(f);
    return l->fraction_bits - (l->specials == ASSAY_MAC_INTEGER);
}

static uint32_t scale_e8m0(const assay_mac_scaling *s, uint32_t m)
{
    const uint32_t max = mac_format_greatest(s->elements), none = 0xff;
    const int emax = exponent_of(max);
    if (m >= ASSAY_F32_INF)
        return none;
    switch (s->rule) {
    case ASSAY_SCALE_CEIL:
        return power_of_two(log2_of(m, ASSAY_ROUND_CEIL) - emax);
    case ASSAY_SCALE_EVEN:
        m = rounded(m, digits_behind_first(s->elements));
        return m >= ASSAY_F32_INF ? none : power_of_two(log2_of(m, ASSAY_ROUND_FLOOR) - emax);
    case ASSAY_SCALE_ROUND_UP:
        return power_of_two(
            log2_of(apply_f32_mul(m, apply_f32_div(ASSAY_F32_ONE, max)), ASSAY_ROUND_CEIL));
    default:
        return power_of_two(log2_of(m, ASSAY_ROUND_FLOOR) - emax);
    }
}

static uint32_t least_normal(enum assay_mac_format f)
{
    return mac_to_f32(f, UINT32_C(1) << mac_layout_of(f)->fraction_bits);
}

static uint32_t scale_amax(const assay_mac_scaling *s, uint32_t m, uint32_t second)
{
    const uint32_t max = apply_f32_mul(mac_format_greatest(s->elements), s->reach);
    uint32_t t = apply_f32_div(m, max);
    if (second != ASSAY_F32_ONE)
        t = apply_f32_div(t, second);
    if (s->to == ASSAY_MAC_F32)
        return t == 0 ? ASSAY_F32_ONE : t;
    return mac_from_f32(s->to, apply_f32_clamp(t, least_normal(s->to), mac_format_greatest(s->to)),
                        true);
}

uint32_t mac_scale_of(const assay_mac_scaling *s, const int32_t *x, size_t n, uint32_t second,
                      const assay_teller *teller)
{
    uint32_t m = 0; /* magnitudes are ordered as their patterns are, with NaN above all */
    for (size_t i = 0; i < n; i++) {
        const uint32_t magnitude = (uint32_t)x[i] & 0x7fffffff;
        m = magnitude > m ? magnitude : m;
    }
    const uint32_t scale = s->to == ASSAY_MAC_E8M0 ? scale_e8m0(s, m) : scale_amax(s, m, second);
    if (!teller)
        return scale;
    apply_tell_f32(teller, "greatest magnitude", m);
    apply_tell_f32(teller, "greatest element of the format", mac_format_greatest(s->elements));
    if (second != ASSAY_F32_ONE)
        apply_tell_f32(teller, "scale of the scale", second);
    apply_tell_f32(teller, "scale", mac_to_f32(s->to, scale));
    return scale;
}

/* x * 2^-S, rounded once. */
static uint32_t encode_shifted(const assay_mac_scaling *s, uint32_t x, uint32_t scale)
{
    const assay_mac_rounding how = {ASSAY_ROUND_HALF_EVEN,
                                    mac_layout_of(s->elements)->fraction_bits, s->saturate};
    const assay_mac_value power = mac_decode(s->to, scale);
    assay_mac_value v = mac_decode(ASSAY_MAC_F32, x);
    v.exponent -= power.exponent;
    if (power.kind == ASSAY_MAC_NAN)
        v.kind = ASSAY_MAC_NAN;
    return (uint32_t)mac_encode(s->elements, &v, &how);
}

/* x as a power of two. 2^-127 is subnormal in binary32, and so are numbers between it and 2^-126.
 */
static uint32_t encode_power(const assay_mac_scaling *s, uint32_t x)
{
    static const enum assay_rounding modes[] = {
        [ASSAY_POWER_UP] = ASSAY_ROUND_CEIL, [ASSAY_POWER_DOWN] = ASSAY_ROUND_FLOOR};
    const uint32_t none = 0xff, least = UINT32_C(0x400000);
    const bool negative = x >> 31 && x << 1 != 0;
    if (negative || x > ASSAY_F32_INF)
        return x == UINT32_C(0x80000000) && s->saturate ? 0 : none;
    if (x == ASSAY_F32_INF)
        return s->saturate ? none - 1 : none;
    if (x < least)
        return s->saturate ? 0 : none;
    /* below 2^-126 the bit before the binary point is bit 22 */
    const uint32_t digits = x >> 23 ? x : x << 1;
    const uint32_t power = (uint32_t)assay_round_shift(
        digits, 23, s->round == ASSAY_POWER_NEAREST ? ASSAY_ROUND_HALF_UP : modes[s->round]);
    const uint32_t code = x >> 23 ? power : power - 1;
    return code < none ? code : s->saturate ? none - 1 : none;
}

/* x divided or multiplied by t; t = 1 leaves it as it is: a NaN keeps its sign, as in ONNX's Cast.
 */
static uint32_t taken(uint32_t x, uint32_t t, bool divide)
{
    return t == ASSAY_F32_ONE ? x : divide ? apply_f32_div(x, t) : apply_f32_mul(x, t);
}

/* x as an element, by t; traced as element `code`. */
static void tell_encoded(const assay_teller *teller, const assay_mac_scaling *s, uint32_t x,
                         uint32_t t, bool divide, uint32_t code)
{
    apply_tell_f32(teller, "number", x);
    apply_tell_f32(teller, divide ? "scale" : "1 / scale", t);
    apply_tell_f32(teller, divide ? "divided by it" : "times it", taken(x, t, divide));
    apply_tell_f32(teller, "rounded to the format", mac_to_f32(s->elements, code));
}

void mac_scale_encode(const assay_mac_scaling *s, const int32_t *x, size_t n, uint32_t scale,
                      uint32_t second, int32_t *out, const assay_teller *teller)
{
    const uint32_t f = mac_to_f32(s->to, scale);
    const bool divide = s->by == ASSAY_SCALE_BY_DIVIDE;
    const uint32_t t = divide ? apply_f32_mul(second, f)
                       : second == ASSAY_F32_ONE
                           ? apply_f32_div(ASSAY_F32_ONE, f)
                           : apply_f32_div(apply_f32_div(ASSAY_F32_ONE, second), f);
    for (size_t i = 0; i < n; i++) {
        const uint32_t v = (uint32_t)x[i];
        const uint32_t code = s->elements == ASSAY_MAC_E8M0 ? encode_power(s, taken(v, t, divide))
                              : s->to == ASSAY_MAC_E8M0
                                  ? encode_shifted(s, v, scale)
                                  : mac_from_f32(s->elements, taken(v, t, divide), s->saturate);
        out[i] = (int32_t)code;
        if (apply_tell_at(teller, i))
            tell_encoded(teller, s, v, t, divide, code);
    }
}

void mac_scale_decode(const assay_mac_scaling *s, const int32_t *x, size_t n, uint32_t scale,
                      uint32_t second, int32_t *out, const assay_teller *teller)
{
    const uint32_t t = apply_f32_mul(mac_to_f32(s->to, scale), second);
    for (size_t i = 0; i < n; i++) {
        const uint32_t element = mac_to_f32(s->elements, (uint32_t)x[i]);
        if (apply_tell_at(teller, i)) {
            apply_tell_f32(teller, "element", element);
            apply_tell_f32(teller, "scale", t);
            apply_tell_f32(teller, "times it", apply_f32_mul(element, t));
        }
        out[i] = (int32_t)apply_f32_mul(element, t);
    }
}
