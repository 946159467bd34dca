/* Transcendental functions in fixed point: see fixedpoint.h. Constants are raw F_k values of the
 * real numbers named beside them, as the targets hold them. */
#include <assert.h>

#include "schemes/apply/fixedpoint.h"

/* gemmlowp's templates exist for 16-bit and 32-bit raw values; so do the functions below, which
 * take the width w = 16 or 32 as first argument and hold raw values of either in an int32. */

/* A 32-bit constant in width w. */
static int32_t constant(unsigned w, int32_t raw32)
{
    return w == 32 ? raw32 : (int32_t)apply_saturate(apply_rdbp(raw32, 16), 16);
}
static int32_t multiply(unsigned w, int32_t a, int32_t b)
{
    return (int32_t)apply_saturate(assay_round_shift((int64_t)a * b, w - 1, ASSAY_ROUND_HALF_UP),
                                   w);
}
static int32_t wrap(unsigned w, int64_t x)
{
    return (int32_t)apply_wrap(x, w);
}
/* F_a to F_b for e = a - b. */
static int32_t rescale(unsigned w, int32_t x, int e)
{
    return e > 0 ? (int32_t)apply_shift_left_saturate(x, (unsigned)e, w)
                 : apply_rdbp(x, (unsigned)-e);
}
static int32_t one(unsigned w)
{
    return (int32_t)apply_int_max(w);
}

/* ---- exponential ---- */

/* Around -1/8: e^a = e^(-1/8) * (1 + x + x^2/2 + x^3/6 + x^4/24), x = a + 1/8. */
static int32_t exp_quarter(unsigned w, int32_t a)
{
    assert(w >= 4 && w <= 32);
    assert(a < 0 && a >= -((int64_t)1 << (w - 3)));
    int32_t exp_eighth = constant(w, 1895147668); /* e^(-1/8) */
    int32_t third = constant(w, 715827883);       /* 1/3 */
    int32_t x = wrap(w, (int64_t)a + ((int64_t)1 << (w - 4)));
    int32_t x2 = multiply(w, x, x);
    int32_t x3 = multiply(w, x2, x);
    int32_t x4 = multiply(w, x2, x2);
    int32_t cubic = multiply(w, wrap(w, (int64_t)rescale(w, x4, -2) + x3), third);
    int32_t tail = rescale(w, wrap(w, (int64_t)cubic + x2), -1);
    return wrap(w, (int64_t)exp_eighth + multiply(w, exp_eighth, wrap(w, (int64_t)x + tail)));
}

/* a = (a mod 1/4) - 1/4 - sum of powers of two: a product of e^(-2^e), e = -2..4. */
static int32_t exp_negative(unsigned w, int32_t a, unsigned k)
{
    static const int32_t factors[] = {
        1672461947, /* e^(-1/4) */
        1302514674, /* e^(-1/2) */
        790015084,  /* e^-1 */
        290630308,  /* e^-2 */
        39332535,   /* e^-4 */
        720401,     /* e^-8 */
        242,        /* e^-16 */
    };
    assert(a <= 0 && k + 3 <= w); /* two bits of fraction or more */
    unsigned fraction = w - 1 - k;
    int32_t quarter = (int32_t)1 << (fraction - 2);
    int32_t reduced = (a & (quarter - 1)) - quarter; /* in [-1/4, 0) */
    int32_t result = exp_quarter(w, rescale(w, reduced, (int)k));
    int32_t rest = wrap(w, (int64_t)reduced - a);
    if (a == 0)
        return one(w);
    if (k > 5 && a < -((int64_t)1 << (fraction + 5))) /* below -32 */
        return 0;
    for (int e = -2; e <= 4 && e < (int)k; e++)
        if (rest >> ((int)fraction + e) & 1)
            result = multiply(w, result, constant(w, factors[e + 2]));
    return result;
}

/* ---- quotients ---- */

/* 2 / (1 + a) in F_2 for a in F_0: Newton-Raphson on h = (1 + a) / 2, from 48/17 - 32/17 h. */
static int32_t two_over_one_plus(unsigned w, int32_t a)
{
    assert(w == 16 || w == 32);
    int32_t start = constant(w, 1515870810), slope = constant(w, -1010580540);
    int32_t unit = (int32_t)1 << (w - 3); /* 1 in F_2 */
    int32_t h = apply_rhs(a, one(w));
    int32_t x = wrap(w, (int64_t)start + multiply(w, h, slope));
    for (int i = 0; i < 3; i++) {
        int32_t error = wrap(w, (int64_t)unit - multiply(w, h, x));
        x = wrap(w, (int64_t)x + rescale(w, multiply(w, x, error), 2));
    }
    return x;
}
static int32_t one_over_one_plus(unsigned w, int32_t a)
{
    return rescale(w, two_over_one_plus(w, a), 1); /* halving keeps the raw value, F_2 to F_1 */
}
/* (1 - a) / (1 + a) = 2 / (1 + a) - 1 */
static int32_t one_minus_over_one_plus(unsigned w, int32_t a)
{
    assert(w == 16 || w == 32);
    return rescale(w, wrap(w, (int64_t)two_over_one_plus(w, a) - ((int64_t)1 << (w - 3))), 2);
}

/* ---- sigmoid and hyperbolic tangent ---- */

static int32_t logistic(unsigned w, int32_t a, unsigned k)
{
    assert(w == 16 || w == 32);
    if (a == 0)
        return (int32_t)1 << (w - 2);
    int32_t minus = a > 0 ? -a : a;
    int32_t p = one_over_one_plus(w, exp_negative(w, minus, k));
    return a > 0 ? p : one(w) - p;
}
/* tanh(a) = (1 - e^-2a) / (1 + e^-2a); doubling reads F_k as F_(k+1). */
static int32_t hyperbolic_tangent(unsigned w, int32_t a, unsigned k)
{
    if (a == 0)
        return 0;
    int32_t minus = a > 0 ? -a : a;
    int32_t t = one_minus_over_one_plus(w, exp_negative(w, minus, k + 1));
    return a > 0 ? t : wrap(w, -(int64_t)t);
}

int32_t apply_fixed_exp_quarter(int32_t a)
{
    return exp_quarter(32, a);
}
int32_t apply_fixed_exp_negative(int32_t a, unsigned k)
{
    return exp_negative(32, a, k);
}
int32_t apply_fixed_one_over_one_plus(int32_t a)
{
    return one_over_one_plus(32, a);
}
int32_t apply_fixed_one_minus_over_one_plus(int32_t a)
{
    return one_minus_over_one_plus(32, a);
}
int32_t apply_fixed_logistic(int32_t a, unsigned k)
{
    return logistic(32, a, k);
}
int32_t apply_fixed_tanh(int32_t a, unsigned k)
{
    return hyperbolic_tangent(32, a, k);
}
int16_t apply_fixed16_exp_negative(int16_t a, unsigned k)
{
    return (int16_t)exp_negative(16, a, k);
}
int16_t apply_fixed16_logistic(int16_t a, unsigned k)
{
    return (int16_t)logistic(16, a, k);
}
int16_t apply_fixed16_tanh(int16_t a, unsigned k)
{
    return (int16_t)hyperbolic_tangent(16, a, k);
}

/* ---- reciprocal, inverse square root, logarithm: int32 only ---- */

int32_t apply_fixed_reciprocal(int32_t x, int integer_bits, int *bits_over_unit)
{
    assert(x > 0);
    unsigned zeros = apply_clz32((uint32_t)x);
    *bits_over_unit = integer_bits - (int)zeros;
    /* x = (1 + y) * 2^*bits_over_unit with 0 <= y < 1 */
    int32_t y = (int32_t)(((uint32_t)x << zeros) - UINT32_C(0x80000000));
    return one_over_one_plus(32, y);
}

/* x is brought into [2^27, 2^29) by an even shift; five Newton steps z = (3 z - f z^3) / 2 in F_3,
 * then sqrt(2) / 2 for the odd power of two. */
int32_t apply_fixed_inverse_sqrt(int32_t x, int *shift)
{
    enum { ONE_AND_HALF = (1 << 28) + (1 << 27), ROOT_HALF = 1518500250 };
    assert(x >= 0);
    *shift = 0;
    if (x <= 1)
        return INT32_MAX;
    int right = 11;
    for (; x >= 1 << 29; x /= 4)
        right++;
    int pairs = (int)(apply_clz32((uint32_t)x) - 1) / 2 - 1;
    right -= pairs;
    x <<= 2 * pairs;
    int32_t half_f = apply_rdbp(x >> 1, 1);
    int32_t z = 1 << 28;
    for (int i = 0; i < 5; i++) {
        int32_t z3 = apply_srmbp(apply_srdhm(apply_srdhm(z, z), z), 6);
        z = apply_srmbp(
            apply_wrap32((int64_t)apply_srdhm(ONE_AND_HALF, z) - apply_srdhm(half_f, z3)), 3);
    }
    z = apply_srdhm(z, ROOT_HALF);
    if (right < 0) {
        z = apply_wshl(z, (unsigned)-right);
        right = 0;
    }
    *shift = -right;
    return z;
}

/* ln(x) = ln 2 * z + ln(r) with r near sqrt(1/2): of two decompositions, by x and by x / sqrt(2),
 * the one with the smaller r is taken; ln(r) is a rational approximation around K = (1 + sqrt(1/2))
 * / 2. */
int32_t apply_fixed_log(int32_t x, unsigned in_bits, unsigned out_bits)
{
    enum { ROOT_HALF = 1518500250, LN2 = 1488522236, K = 1805811301 };
    assert(in_bits >= 1 && in_bits <= 30 && out_bits >= 1 && out_bits <= 29);
    int acc = (int)out_bits + 1; /* integer bits of the exponent z and of the final sum */
    int in = (int)in_bits;
    int32_t quarter = apply_rdbp(1 << 29, (unsigned)acc);

    int zeros_a = (int)apply_clz32((uint32_t)x);
    int32_t r_a = apply_srmbp(apply_srdhm(apply_srmbp(x, zeros_a - 1), ROOT_HALF), 1);
    int32_t z_a = apply_saturate32((int64_t)apply_srmbp(in - zeros_a, 31 - acc) + quarter);

    int zeros_b = (int)apply_clz32((uint32_t)apply_srdhm(x, ROOT_HALF)) - 1;
    int32_t r_b = apply_srmbp(x, zeros_b);
    int32_t z_b = apply_saturate32((int64_t)apply_srmbp(in - zeros_b, 31 - acc) - quarter);

    int32_t r = r_a < r_b ? r_a : r_b;
    int32_t z = z_a > z_b ? z_a : z_b;
    int32_t p = apply_rhs(r, K);
    int32_t q = apply_wrap32(2 * ((int64_t)r - K));
    int32_t q2 = apply_srdhm(q, q);
    int32_t num =
        apply_wrap32((int64_t)apply_srdhm(q, r) + apply_srdhm(apply_srdhm(q, q2), 117049297));
    int32_t inner = apply_wrap32((int64_t)1057819769 + q + apply_srdhm(127690142, q2));
    int32_t den = apply_wrap32((int64_t)apply_srdhm(p, inner) + apply_srdhm(638450708, q));
    int32_t log_r = apply_srdhm(apply_rdbp(num, (unsigned)acc), one_over_one_plus(32, den));
    return apply_srmbp(apply_wrap32((int64_t)apply_srdhm(z, LN2) + log_r), 1);
}
