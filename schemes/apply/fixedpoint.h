/* The fixed-point function library of gemmlowp and TensorFlow Lite.
 *
 * F_k is an int32 with k integer bits and 31 - k fraction bits: real = raw / 2^(31-k). "One" in F_0
 * is INT32_MAX. A product F_a * F_b is SRDHM of the raw values, in F_(a+b). The 16-bit flavour is
 * the same with 15 in place of 31 and 16-bit products.
 *
 * Sources: gemmlowp fixedpoint/fixedpoint.h; TensorFlow Lite kernels/internal/common.h and
 * common.cc; all checked on vectors made by those headers (test/schemes/test_fixedpoint.c).
 * Abbreviations in the comments: RHU = half up, RHA = half away, at the bit that follows.
 */
#ifndef ASSAY_SCHEMES_APPLY_FIXEDPOINT_H
#define ASSAY_SCHEMES_APPLY_FIXEDPOINT_H

#include "schemes/apply/tell.h"
#include "schemes/round.h"

/* ---- primitives ---- */

/* The low 32 bits of x, and x saturated to them. */
static inline int32_t apply_wrap32(int64_t x)
{
    return (int32_t)(uint32_t)(uint64_t)x;
}
static inline int32_t apply_saturate32(int64_t x)
{
    return (int32_t)apply_clamp_to(x, INT32_MIN, INT32_MAX);
}

/* Leading zero bits; 32 (64) for zero. */
static inline unsigned apply_clz32(uint32_t x)
{
    return x ? (unsigned)__builtin_clz(x) : 32;
}
static inline unsigned apply_clz64(uint64_t x)
{
    return x ? (unsigned)__builtin_clzll(x) : 64;
}
/* Redundant sign bits: how far x may be shifted left without changing sign. 31 for 0 and -1. */
static inline unsigned apply_sign_bits32(int32_t x)
{
    return apply_clz32((uint32_t)(x < 0 ? ~x : x)) - 1;
}

/* SRDHM, saturating rounding doubling high multiply: RHU(a * b, 31), INT32_MIN^2 saturates. */
static inline int32_t apply_srdhm(int32_t a, int32_t b)
{
    return apply_saturate32(assay_round_shift((int64_t)a * b, 31, ASSAY_ROUND_HALF_UP));
}
/* The same on int16: RHU(a * b, 15). */
static inline int16_t apply_srdhm16(int16_t a, int16_t b)
{
    int64_t p = assay_round_shift((int64_t)a * b, 15, ASSAY_ROUND_HALF_UP);
    return (int16_t)apply_clamp_to(p, INT16_MIN, INT16_MAX);
}
/* RDBP, rounding divide by power of two: RHA(x, e), 0 <= e <= 31. */
static inline int32_t apply_rdbp(int32_t x, unsigned e)
{
    return (int32_t)assay_round_shift(x, e, ASSAY_ROUND_HALF_AWAY);
}
/* SATSHL: x * 2^e saturated to int32.  WSHL: its low 32 bits. Any e. */
static inline int32_t apply_satshl(int32_t x, unsigned e)
{
    return (int32_t)apply_shift_left_saturate(x, e, 32);
}
static inline int32_t apply_wshl(int32_t x, unsigned e)
{
    return e > 31 ? 0 : (int32_t)((uint32_t)x << e);
}
/* SRMBP, saturating rounding multiply by power of two: SATSHL for e > 0, RDBP for e < 0;
 * this is also the rescale of F_a to F_b, e = a - b. */
static inline int32_t apply_srmbp(int32_t x, int e)
{
    return e > 0 ? apply_satshl(x, (unsigned)e) : apply_rdbp(x, (unsigned)-e);
}
/* RHS, rounding half sum: (a + b) / 2, ties away from zero. */
static inline int32_t apply_rhs(int32_t a, int32_t b)
{
    return (int32_t)assay_round_shift((int64_t)a + b, 1, ASSAY_ROUND_HALF_AWAY);
}

/* ---- multiply by a quantized multiplier: about x * m * 2^(shift - 31) ----
 * A positive shift is to the left. m is int32, as a rule in [2^30, 2^31); -31 <= shift <= 30 unless
 * stated otherwise. */

/* TFLite default, double rounding: RDBP(SRDHM(WSHL(x, left), m), right). The left shift wraps. */
static inline int32_t apply_mbqm_double(int32_t x, int32_t m, int shift)
{
    unsigned left = shift > 0 ? (unsigned)shift : 0, right = shift > 0 ? 0 : (unsigned)-shift;
    return apply_rdbp(apply_srdhm(apply_wshl(x, left), m), right);
}
/* TFLITE_SINGLE_ROUNDING, ruy: RHU(x * m, 31 - shift), low 32 bits. */
static inline int32_t apply_mbqm_single(int32_t x, int32_t m, int shift)
{
    return apply_wrap32(
        assay_round_shift((int64_t)x * m, (unsigned)(31 - shift), ASSAY_ROUND_HALF_UP));
}
/* NEON sqrdmulh + srshl, two half-up roundings: RHU(SRDHM(WSHL(x, left), m), right). */
static inline int32_t apply_mbqm_half_up(int32_t x, int32_t m, int shift)
{
    unsigned left = shift > 0 ? (unsigned)shift : 0, right = shift > 0 ? 0 : (unsigned)-shift;
    return (int32_t)assay_round_shift(apply_srdhm(apply_wshl(x, left), m), right,
                                      ASSAY_ROUND_HALF_UP);
}
/* TFLite int16x8, 64-bit accumulator (|x| < 2^47): the multiplier is reduced to 16 bits, then one
 * rounding, RHU(x * m16, 15 - shift), -31 <= shift <= 7; low 32 bits. */
static inline int32_t apply_reduce_multiplier16(int32_t m)
{
    return m < 0x7fff0000 ? (int32_t)assay_round_shift(m, 16, ASSAY_ROUND_HALF_UP) : 0x7fff;
}
static inline int32_t apply_mbqm64(int64_t x, int32_t m, int shift)
{
    assay_int128 product = (assay_int128)x * apply_reduce_multiplier16(m);
    return apply_wrap32(
        (int64_t)assay_round_shift128(product, (unsigned)(15 - shift), ASSAY_ROUND_HALF_UP));
}

/* ---- functions on F_k ---- */

/* e^a for a in F_0, -1/4 <= a < 0; result F_0. */
int32_t apply_fixed_exp_quarter(int32_t a);
/* e^a for a <= 0 in F_k, 0 <= k <= 29; result F_0. */
int32_t apply_fixed_exp_negative(int32_t a, unsigned k);
/* 1 / (1 + a) and (1 - a) / (1 + a) for a >= 0 in F_0; result F_0. */
int32_t apply_fixed_one_over_one_plus(int32_t a);
int32_t apply_fixed_one_minus_over_one_plus(int32_t a);
/* 1 / (1 + e^-a), tanh(a) for a in F_k, 0 <= k <= 28; result F_0. */
int32_t apply_fixed_logistic(int32_t a, unsigned k);
int32_t apply_fixed_tanh(int32_t a, unsigned k);

/* The same on F_k of 16 bits, 0 <= k <= 12; result F_0 of 16 bits. */
int16_t apply_fixed16_exp_negative(int16_t a, unsigned k);
int16_t apply_fixed16_logistic(int16_t a, unsigned k);
int16_t apply_fixed16_tanh(int16_t a, unsigned k);

/* 1 / x for x > 0 with `integer_bits` integer bits (x / 2^(31 - integer_bits) as a real): the
 * result is returned * 2^-*bits_over_unit in F_0 (TFLite GetReciprocal). */
int32_t apply_fixed_reciprocal(int32_t x, int integer_bits, int *bits_over_unit);
/* 1 / sqrt(x) for an integer x >= 0 as a multiplier and a shift for apply_mbqm_*: positive
 * shift = left (TFLite GetInvSqrtQuantizedMultiplierExp with reverse_shift = -1). */
int32_t apply_fixed_inverse_sqrt(int32_t x, int *shift);
/* ln(x) for x >= 1 in F_in (raw >= 2^(31 - in)); result F_out (TFLite
 * log_x_for_x_greater_than_or_equal_to_1). 0 < in <= 30, 0 < out <= 29. */
int32_t apply_fixed_log(int32_t x, unsigned in_bits, unsigned out_bits);

/* ---- tables of int16 activations: fixedpoint_table.c ---- */

/* sigmoid(i / 24) * 65536 as TFLite and CMSIS-NN hold it. */
extern const uint16_t apply_sigmoid_table[256];

/* LOGISTIC and TANH of int16 (TFLite reference/integer_ops/logistic.h, tanh.h): x * m / 2^shift is
 * the argument in 3 integer bits times 3; 0 <= shift <= 31. Result Q0.15. */
int16_t apply_table_logistic16(int16_t x, int32_t m, unsigned shift, const assay_teller *t);
int16_t apply_table_tanh16(int16_t x, int32_t m, unsigned shift, const assay_teller *t);

/* Linear interpolation in a table of 513 int16 over the int16 range (TFLite LUTLookup):
 * i = 256 + (x >> 7), o = x & 127, lut[i] + ((lut[i + 1] - lut[i]) * o + 64 >> 7). */
int16_t apply_table_lookup16(int16_t x, const int16_t lut[513]);

#endif
