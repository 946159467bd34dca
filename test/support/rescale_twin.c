/* A naive twin of one rescale; see rescale_twin.h. */
#include "test/support/rescale_twin.h"

#include <math.h>

#include "test/support/roundings.h"

typedef __int128 wide;

static wide pow2_ref(int n)
{
    wide p = 1;
    while (n-- > 0)
        p *= 2;
    return p;
}

/* n / 2^s, s at most 120, as the words say. */
static wide round_ref(wide n, int s, int mode)
{
    if (s > 120) { /* nearer to 0 than any rule minds */
        n = n > 0 ? 1 : n < 0 ? -1 : 0;
        s = 3;
    }
    wide d = pow2_ref(s), q = n / d, r = n % d; /* toward zero */
    if (r == 0)
        return q;
    int sign = n < 0 ? -1 : 1;
    wide twice = 2 * r * sign;
    const bool negative = sign < 0, odd_floor = (q % 2 != 0) != negative;
    const wide rest = negative ? 2 * d - twice : twice; /* above the floor, in halves of d */
    const enum test_part part = rest < d    ? TEST_BELOW_HALF
                                : rest == d ? TEST_HALF
                                            : TEST_ABOVE_HALF;
    const bool up = test_rounds_up((enum assay_rounding)mode, negative, odd_floor, part);
    return up == negative ? q : q + sign;
}

static wide saturate_ref(wide x, int bits)
{
    wide top = pow2_ref(bits - 1);
    return x < -top ? -top : x > top - 1 ? top - 1 : x;
}

static wide wrap_ref(wide x, int bits)
{
    wide turn = pow2_ref(bits), r = x % turn;
    r += r < 0 ? turn : 0;
    return r >= turn / 2 ? r - turn : r;
}

static wide round_float_ref(double x, int mode)
{
    double low = floor(x), rest = x - low;
    if (fabs(x) > 4.0e18)
        return x > 0 ? pow2_ref(62) : -pow2_ref(62);
    return round_ref((wide)low * 256 + (rest == 0     ? 0
                                        : rest < 0.5  ? 64
                                        : rest == 0.5 ? 128
                                                      : 192),
                     8, mode);
}

/* libgemmini's macro, in C floats. */
static wide add_one_ref(float x)
{
    if (fabsf(x) >= 0x1p60f)
        return x > 0 ? pow2_ref(60) : -pow2_ref(60);
    wide i = (wide)x;
    wide next = x < 0 ? (wide)(x - 1.0f) : (wide)(x + 1.0f);
    float rest = fabsf(x - (float)i);
    return rest < 0.5f ? i : rest > 0.5f ? next : i % 2 == 0 ? i : next;
}

/* A sum as the type holds it. */
static wide hold_ref(const rescale_twin *t, wide v)
{
    if (t->rec->rescale.store != ASSAY_STORE_WRAP)
        return v < t->lo ? t->lo : v > t->hi ? t->hi : v;
    v = wrap_ref(v, t->bits);
    return v + (!t->is_signed && v < 0 ? pow2_ref(t->bits) : 0);
}

static wide store_ref(const rescale_twin *t, wide v)
{
    const assay_rule_rescale *k = &t->rec->rescale;
    const bool adds = k->zero_point != ASSAY_STAGE_BEFORE;
    v += adds ? t->zero : 0;
    if (adds && k->sum_bits > 0)
        v = k->sum_overflow == ASSAY_NARROW_WRAP ? wrap_ref(v, k->sum_bits)
                                                 : saturate_ref(v, k->sum_bits);
    return hold_ref(t, v);
}

static wide float_ref(const rescale_twin *t, int64_t x)
{
    const assay_rule_rescale *k = &t->rec->rescale;
    int mode = k->round.step[0].mode;
    bool inside = k->zero_point == ASSAY_STAGE_INSIDE, single = k->encoding == ASSAY_ENCODE_F32;
    volatile float f = (float)x;
    f = f * t->f32;
    if (inside && single)
        f = f + (float)t->zero;
    volatile double d = (double)x * t->f64;
    if (inside)
        d = d + (double)t->zero;
    wide v = k->float_rounding == ASSAY_FLOAT_ROUND_ADD_ONE && single
                 ? add_one_ref(f)
                 : round_float_ref(single ? (double)f : d, mode);
    if (v != saturate_ref(v, 32))
        v = k->float_overflow == ASSAY_FLOAT_INT_MIN ? -pow2_ref(31) : saturate_ref(v, 32);
    return inside ? hold_ref(t, v) : store_ref(t, v);
}

static wide integer_ref(const rescale_twin *t, int64_t acc)
{
    const assay_rule_rescale *k = &t->rec->rescale;
    wide x = acc - (k->zero_point == ASSAY_STAGE_BEFORE ? t->zero : 0);
    int64_t shift = t->shift, first = k->round.n > 1 ? k->round.step[0].bits : 0;
    if (t->pre > 0)
        x = round_ref(x, (int)t->pre, k->pre_shift_round);
    else if (t->pre < 0)
        x = saturate_ref(saturate_ref(x, 32) * pow2_ref((int)-t->pre), 32);
    if (k->operand_bits > 0)
        x = saturate_ref(x, k->operand_bits);
    if (shift < first && k->left_shift != ASSAY_LEFT_PRODUCT) {
        int left = (int)(first - shift > 60 ? 60 : first - shift);
        x = k->left_shift == ASSAY_LEFT_WRAP
                ? wrap_ref(x * pow2_ref(left), 32)
                : saturate_ref(saturate_ref(x, 32) * pow2_ref(left), 32);
        shift = first;
    }
    wide v = x * t->multiplier;
    if (k->product_bits > 0)
        v = wrap_ref(v, k->product_bits);
    if (shift < 0) {
        v *= pow2_ref((int)-shift);
        shift = 0;
    }
    for (int i = 0; i < k->round.n; i++) {
        bool last = i == k->round.n - 1;
        int64_t bits = last || k->round.step[i].bits > shift ? shift : k->round.step[i].bits;
        v = round_ref(v, (int)bits, k->round.step[i].mode);
        shift -= bits;
    }
    if (k->result_bits > 0)
        v = k->result_overflow == ASSAY_NARROW_WRAP ? wrap_ref(v, k->result_bits)
                                                    : saturate_ref(v, k->result_bits);
    return store_ref(t, v);
}

/* The target's way of writing a shift, undone. */
static int64_t total_shift(const assay_rule_rescale *k, int64_t written)
{
    switch (k->shift_sign) {
    case ASSAY_SHIFT_LEFT_OF_BITS:
        return k->multiplier_bits - written;
    case ASSAY_SHIFT_RIGHT_OF_BITS:
        return k->multiplier_bits + written;
    case ASSAY_SHIFT_LEFT:
        return -written;
    default:
        return written;
    }
}

void twin_place(rescale_twin *t, int64_t written, int64_t glow_pre)
{
    const assay_rule_rescale *k = &t->rec->rescale;
    t->shift = total_shift(k, written);
    if (k->reduced_bits > 0) {
        int drop = k->multiplier_bits - k->reduced_bits;
        wide limit = pow2_ref(k->reduced_bits), m = round_ref(t->multiplier, drop, 0);
        t->shift -= drop;
        if (m >= limit && k->reduced_overflow == ASSAY_REDUCED_CAP) {
            m = limit - 1;
        } else if (m >= limit) {
            m = limit / 2;
            t->shift--;
        }
        t->multiplier = (int64_t)m;
    }
    t->pre = k->encoding == ASSAY_ENCODE_GLOW  ? glow_pre
             : k->pre_shift == ASSAY_PRE_FIXED ? k->pre_shift_bits
             : k->pre_shift == ASSAY_PRE_REST  ? t->shift - k->round.step[0].bits
                                               : 0;
    t->shift -= k->encoding == ASSAY_ENCODE_GLOW ? 0 : t->pre;
}

int64_t twin_code(const rescale_twin *t, int64_t acc)
{
    const bool floats = t->rec->rescale.encoding == ASSAY_ENCODE_F32 ||
                        t->rec->rescale.encoding == ASSAY_ENCODE_F64;
    return (int64_t)(floats ? float_ref(t, acc) : integer_ref(t, acc));
}
