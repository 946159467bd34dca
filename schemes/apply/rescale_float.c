/* Rescale as targets with floating-point requantization do it, on IEEE bits:
 *
 *   float(acc) -> * scale  (or * s_in, * s_w, / s_out) -> [+ zero point] -> round -> [+ zero point]
 *
 * Every operation rounds to nearest even, as apply/softfloat.h computes it; rescale_near.c makes
 * rows of it, and asks here where the exact product is near a rounding boundary. The end of the
 * chain has short paths for |f| in [2^-14, 2^23), where a float32 is an integer over 2^1 .. 2^37:
 * the same roundings, of the same exact values, without packing in between. */
#include <assert.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/softfloat.h"

/* |f| = *significand / 2^*shift, when f is in the range of the short paths. */
static inline bool unpack(uint32_t f, int64_t *significand, unsigned *shift)
{
    *significand = (f & 0x7fffff) | 0x800000;
    *shift = 150 - (f >> 23 & 0xff);
    return *shift - 1 < 37; /* 1 <= shift <= 37 */
}

/* n / 2^*shift rounded to the 24 bits of a float32: as an integer over the new 2^*shift. */
static inline int64_t to_24_bits(int64_t n, unsigned *shift)
{
    uint64_t magnitude = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    int drop = 40 - __builtin_clzll(magnitude | 1);
    if (drop <= 0)
        return n;
    *shift -= (unsigned)drop;
    return assay_round_shift(n, (unsigned)drop, ASSAY_ROUND_HALF_EVEN);
}

/* An integer as the int32 that a conversion of the target gives. */
static inline int64_t to_int32(const assay_rule_rescale *k, int64_t v)
{
    return v == (int32_t)v                            ? v
           : k->float_overflow == ASSAY_FLOAT_INT_MIN ? INT32_MIN
                                                      : apply_saturate(v, 32);
}

/* round(f + z), |z| <= 2^16: the sum rounded to float32, then to an integer. */
static inline int64_t add_and_round(uint32_t f, int64_t z, enum assay_rounding mode)
{
    int64_t n;
    unsigned shift;
    if (f << 1 == 0)
        return z;
    if (!unpack(f, &n, &shift)) {
        f = apply_f32_add(f, apply_f32_from_i32((int32_t)z));
        return apply_f32_to_int(f, mode, INT32_MIN, INT32_MAX, 0);
    }
    assert(shift <= 37); /* z of 17 bits moved by it stays below 2^54 */
    n = to_24_bits((f >> 31 ? -n : n) + z * (INT64_C(1) << shift), &shift);
    return assay_round_shift(n, shift, mode);
}

/* Gemmini's ROUND_NEAR_EVEN: the neighbour is found by a float32 addition of one, which itself
 * rounds, so values just below an integer can go one too far (ucb-bar/libgemmini). */
static int64_t round_add_one(uint32_t f)
{
    int64_t n;
    unsigned shift;
    if (!unpack(f, &n, &shift)) /* integers, or nearer to 0 than 2^-14 */
        return apply_f32_to_int(f, ASSAY_ROUND_HALF_EVEN, INT64_MIN, INT64_MAX, 0);
    assert(shift <= 37);
    int64_t one = INT64_C(1) << shift, low = apply_shift_right(n, shift),
            rest = 2 * (n & (one - 1));
    int64_t v = low;
    if (rest > one || (rest == one && low % 2 != 0)) {
        n = to_24_bits(n + one, &shift);
        v = apply_shift_right(n, shift);
    }
    return f >> 31 ? -v : v;
}

int64_t apply_rescale_add_one(const assay_rule_rescale *k, uint32_t f)
{
    return to_int32(k, round_add_one(f));
}

static inline int64_t to_int(const assay_rule_rescale *k, uint32_t f, enum assay_rounding mode)
{
    if (k->float_rounding == ASSAY_FLOAT_ROUND_ADD_ONE)
        return apply_rescale_add_one(k, f);
    return to_int32(k, apply_f32_to_int(f, mode, INT64_MIN, INT64_MAX, 0));
}

static inline int64_t to_int64(const assay_rule_rescale *k, uint64_t f, enum assay_rounding mode)
{
    return to_int32(k, apply_f64_to_int(f, mode, INT64_MIN, INT64_MAX, 0));
}

/* A float32 to divide by, and 2^74 over its significand d, rounded up: n * inverse >> 74 is n / d
 * exactly for n < 2^50 (Granlund and Montgomery 1994, theorem 4.2 with l = 24). */
typedef struct divisor {
    uint32_t bits;
    uint64_t significand, inverse;
} divisor;

static divisor divisor_of(const assay_rescale *r)
{
    divisor d = {0, 1, 0};
    if (r->scale_w) {
        d.bits = (uint32_t)r->scale_out[0];
        d.significand = (d.bits & 0x7fffff) | 0x800000;
        d.inverse = (uint64_t)(((assay_uint128)1 << 74) / d.significand) + 1;
    }
    return d;
}

/* a / b for normal a, b and quotient: 26 or 27 bits of it and whether more follow, rounded to 24.
 */
static inline uint32_t divide(uint32_t a, const divisor *b)
{
    uint32_t ea = a >> 23 & 0xff, eb = b->bits >> 23 & 0xff, exponent = ea - eb + 126;
    if (ea - 1 >= 254 || eb - 1 >= 254 || exponent - 1 >= 252)
        return apply_f32_div(a, b->bits);
    uint64_t n = (uint64_t)((a & 0x7fffff) | 0x800000) << 26;
    uint64_t q = (uint64_t)((assay_uint128)n * b->inverse >> 74);
    unsigned carry = (unsigned)(q >> 26); /* a's significand is not below b's */
    int64_t sticky = (int64_t)(q * 2 + (q * b->significand != n));
    int64_t significand = assay_round_shift(sticky, 3 + carry, ASSAY_ROUND_HALF_EVEN);
    return ((a ^ b->bits) & 0x80000000) + ((exponent + carry - 1) << 23) + (uint32_t)significand;
}

/* The real result in float32, before the zero point. Scales apply in steps where they were derived
 * apart; a pool's scale is one. */
static inline uint32_t product(const assay_rescale *r, const divisor *d, int64_t x, size_t c)
{
    uint32_t f = apply_f32_mul(apply_f32_from_integer(x - r->in_zero), (uint32_t)r->scale[c]);
    if (r->scale_w)
        f = divide(apply_f32_mul(f, (uint32_t)r->scale_w[c]), d);
    return f;
}

static uint64_t product64(const assay_rescale *r, int64_t x, size_t c)
{
    return apply_f64_mul(apply_f64_from_i64(x - r->in_zero), (uint64_t)r->scale[c]);
}

int64_t apply_rescale_value_float(const assay_rescale *r, int64_t x, size_t c)
{
    assert(c < r->n && r->scale);
    const assay_rule_rescale *k = r->rule;
    enum assay_rounding mode = (enum assay_rounding)k->round.step[0].mode;
    if (k->encoding == ASSAY_ENCODE_F64)
        return to_int64(k, product64(r, x, c), mode);
    divisor d = divisor_of(r);
    return to_int(k, product(r, &d, x, c), mode);
}

/* x * scale (+ z) in float64 for a normal scale and results below 2^31: the product of 84 bits
 * rounded to 53, the sum rounded to 53, then to an integer. False when out of this range. */
static inline bool short_f64(uint64_t scale, int64_t x, int64_t z, bool inside,
                             enum assay_rounding mode, int64_t *v)
{
    int exponent = (int)(scale >> 52 & 0x7ff);
    int shift = 1075 - exponent; /* |scale| = significand / 2^shift */
    uint64_t significand = (scale & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    uint64_t magnitude = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    if (exponent == 0 || scale >> 63 || x != (int32_t)x || x == 0)
        return false;
    assay_uint128 p = (assay_uint128)significand * magnitude;
    int drop = 64 - __builtin_clzll((uint64_t)(p >> 52)) - 1; /* bits beyond 53 */
    int64_t n =
        (int64_t)assay_round_shift128((assay_int128)p, (unsigned)drop, ASSAY_ROUND_HALF_EVEN);
    shift -= drop;
    if (shift < 22 || shift > 62) /* |product| < 2^32 and a shift that fits */
        return false;
    n = x < 0 ? -n : n;
    if (!inside) {
        *v = assay_round_shift(n, (unsigned)shift, mode);
        return true;
    }
    assay_int128 sum = n + (assay_int128)z * ((assay_int128)1 << shift);
    assay_uint128 m = sum < 0 ? -(assay_uint128)sum : (assay_uint128)sum;
    uint64_t top = (uint64_t)(m >> 53);
    int more = top == 0 ? 0 : 64 - __builtin_clzll(top);
    *v = (int64_t)assay_round_shift128(
        assay_round_shift128(sum, (unsigned)more, ASSAY_ROUND_HALF_EVEN), (unsigned)(shift - more),
        mode);
    return true;
}

static int32_t element_f64(const assay_rescale *r, int64_t x, size_t c)
{
    const assay_rule_rescale *k = r->rule;
    const enum assay_rounding mode = (enum assay_rounding)k->round.step[0].mode;
    const bool inside = k->zero_point == ASSAY_STAGE_INSIDE;
    int64_t v;
    bool done = short_f64((uint64_t)r->scale[c], x - r->in_zero, r->zero_point, inside, mode, &v);
    if (!inside)
        return apply_rescale_finish(r, done ? to_int32(k, v) : apply_rescale_value_float(r, x, c));
    const uint64_t zero = apply_f64_from_i64(r->zero_point);
    return apply_rescale_store(
        r, done ? to_int32(k, v) : to_int64(k, apply_f64_add(product64(r, x, c), zero), mode));
}

static int32_t element_f32(const assay_rescale *r, int64_t x, size_t c)
{
    const assay_rule_rescale *k = r->rule;
    const enum assay_rounding mode = (enum assay_rounding)k->round.step[0].mode;
    const int64_t zero = r->zero_point;
    const bool plain =
        k->float_overflow == ASSAY_FLOAT_SATURATE && k->float_rounding == ASSAY_FLOAT_ROUND_EXACT;
    const divisor d = divisor_of(r);
    uint32_t f = product(r, &d, x, c);
    if (k->zero_point != ASSAY_STAGE_INSIDE)
        return apply_rescale_finish(r, to_int(k, f, mode));
    int64_t v = plain && zero == apply_saturate(zero, 17)
                    ? add_and_round(f, zero, mode)
                    : to_int(k, apply_f32_add(f, apply_f32_from_i64(zero)), mode);
    return apply_rescale_store(r, v);
}

int32_t apply_rescale_element_float(const assay_rescale *r, int64_t x, size_t c)
{
    return r->rule->encoding == ASSAY_ENCODE_F64 ? element_f64(r, x, c) : element_f32(r, x, c);
}
