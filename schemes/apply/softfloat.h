/* IEEE 754 binary32 and binary64 in integers.
 *
 * Several targets scale an integer accumulator by a float32 and round the product (ONNX Runtime,
 * FBGEMM, XNNPACK, Gemmini, oneDNN, ...). To give their bits on any machine, with any compiler
 * and any floating-point environment, those operations are done here on bit patterns: uint32_t is a
 * binary32, uint64_t is a binary64.
 *
 * Every operation rounds to nearest, ties to even, with full subnormals (no flush to zero). A
 * result that is not a number is the canonical quiet NaN 0x7fc00000 (0x7ff8000000000000): payloads
 * are not carried, no target relies on them. Source: IEEE 754-2008, sections 3.4, 4.3.1, 5.4, 6.
 *
 * The three steps of a float-offset requantize (int32 -> f32, f32 * f32, f32 -> integer) have short
 * paths in this header; all else is in softfloat.c, written for reading.
 */
#ifndef ASSAY_SCHEMES_APPLY_SOFTFLOAT_H
#define ASSAY_SCHEMES_APPLY_SOFTFLOAT_H

#include "schemes/round.h"

#define ASSAY_F32_NAN UINT32_C(0x7fc00000)
#define ASSAY_F32_INF UINT32_C(0x7f800000)
#define ASSAY_F64_NAN UINT64_C(0x7ff8000000000000)
#define ASSAY_F64_INF UINT64_C(0x7ff0000000000000)

static inline bool apply_f32_is_nan(uint32_t a)
{
    return (a & 0x7fffffff) > ASSAY_F32_INF;
}
static inline bool apply_f64_is_nan(uint64_t a)
{
    return (a & INT64_MAX) > ASSAY_F64_INF;
}

/* Conversions. From a wider type they round; int32 -> f64 and f32 -> f64 are exact. */
uint32_t apply_f32_from_i64(int64_t x);
uint64_t apply_f64_from_i64(int64_t x);
uint64_t apply_f64_from_f32(uint32_t a);
uint32_t apply_f32_from_f64(uint64_t a);

/* Arithmetic, one rounding each. fma is a * b + c with a single rounding. */
uint32_t apply_f32_add(uint32_t a, uint32_t b);
uint32_t apply_f32_sub(uint32_t a, uint32_t b);
uint32_t apply_f32_mul_full(uint32_t a, uint32_t b);
uint32_t apply_f32_div(uint32_t a, uint32_t b);
uint32_t apply_f32_fma(uint32_t a, uint32_t b, uint32_t c);
uint32_t apply_f32_sqrt(uint32_t a);
uint64_t apply_f64_add(uint64_t a, uint64_t b);
uint64_t apply_f64_sub(uint64_t a, uint64_t b);
uint64_t apply_f64_mul(uint64_t a, uint64_t b);
uint64_t apply_f64_div(uint64_t a, uint64_t b);
uint64_t apply_f64_fma(uint64_t a, uint64_t b, uint64_t c);

/* a < b and a <= b; false when either is NaN; -0 equals +0. */
bool apply_f32_lt(uint32_t a, uint32_t b);
bool apply_f32_le(uint32_t a, uint32_t b);
bool apply_f64_lt(uint64_t a, uint64_t b);
bool apply_f64_le(uint64_t a, uint64_t b);

/* min: b < a ? b : a.  max: a < b ? b : a (as C++ std::min, std::max: the first operand when equal
 * or unordered).  clamp: min(max(a, lo), hi); a NaN passes through. */
uint32_t apply_f32_min(uint32_t a, uint32_t b);
uint32_t apply_f32_max(uint32_t a, uint32_t b);
uint32_t apply_f32_clamp(uint32_t a, uint32_t lo, uint32_t hi);
uint64_t apply_f64_min(uint64_t a, uint64_t b);
uint64_t apply_f64_max(uint64_t a, uint64_t b);
uint64_t apply_f64_clamp(uint64_t a, uint64_t lo, uint64_t hi);

/* To an integral value in the same format (floorf, truncf, roundf = half-away, rintf = half-even).
 * The sign of a zero result is the sign of a; infinities stay, NaN becomes canonical. */
uint32_t apply_f32_round(uint32_t a, enum assay_rounding mode);
uint64_t apply_f64_round(uint64_t a, enum assay_rounding mode);

/* To an integer: rounded by `mode`, then saturated to [lo, hi]; `nan` for NaN. */
int64_t apply_f32_to_int_full(uint32_t a, enum assay_rounding mode, int64_t lo, int64_t hi,
                              int64_t nan);
int64_t apply_f64_to_int(uint64_t a, enum assay_rounding mode, int64_t lo, int64_t hi, int64_t nan);

/* (float)x: the 32-bit magnitude is normalised and its low 8 bits are rounded off. A carry out
 * of the significand runs into the exponent field, which is just what it should do. */
static inline uint32_t apply_f32_from_i32(int32_t x)
{
    if (x == 0)
        return 0;
    uint32_t sign = x < 0 ? 0x80000000 : 0;
    uint32_t magnitude = x < 0 ? 0 - (uint32_t)x : (uint32_t)x;
    unsigned zeros = (unsigned)__builtin_clz(magnitude);
    int64_t significand = assay_round_shift(magnitude << zeros, 8, ASSAY_ROUND_HALF_EVEN);
    return sign + ((157 - zeros) << 23) + (uint32_t)significand; /* 127 + 31 - 1: implicit bit */
}
/* The same for most integers, by the short path. */
static inline uint32_t apply_f32_from_integer(int64_t x)
{
    return x == (int32_t)x ? apply_f32_from_i32((int32_t)x) : apply_f32_from_i64(x);
}

/* (float)a * (float)b. Short path: both operands and the result normal; the product of two
 * significands of 24 bits has 47 or 48. */
static inline uint32_t apply_f32_mul(uint32_t a, uint32_t b)
{
    uint32_t ea = a >> 23 & 0xff, eb = b >> 23 & 0xff;
    uint32_t exponent = ea + eb - 128;
    if (ea - 1 >= 254 || eb - 1 >= 254 || exponent - 1 >= 252)
        return apply_f32_mul_full(a, b);
    uint64_t product = (uint64_t)(a << 8 | 0x80000000) * (b << 8 | 0x80000000);
    unsigned carry = (unsigned)(product >> 63);
    int64_t significand =
        assay_round_shift((int64_t)(product >> 16), 23 + carry, ASSAY_ROUND_HALF_EVEN);
    return ((a ^ b) & 0x80000000) + ((exponent + carry) << 23) + (uint32_t)significand;
}

/* Short path: shifts of 1 to 63 bits, that is 2^-40 <= |a| < 2^23. */
static inline int64_t apply_f32_to_int(uint32_t a, enum assay_rounding mode, int64_t lo, int64_t hi,
                                       int64_t nan)
{
    unsigned shift = 150 - (a >> 23 & 0xff);
    int64_t significand = (a & 0x7fffff) | 0x800000;
    if (shift - 1 >= 63)
        return apply_f32_to_int_full(a, mode, lo, hi, nan);
    return apply_clamp_to(assay_round_shift(a >> 31 ? -significand : significand, shift, mode), lo,
                          hi);
}

#endif
