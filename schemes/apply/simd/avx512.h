/* Common parts of the AVX-512 forms: rounding shifts of 64-bit products, rounding of floats, the
 * end of a rescale.
 *
 * Floats: vcvtdq2ps, vmulps, vdivps, vaddps, vfmadd and vrndscaleps are the IEEE operations that
 * apply/softfloat.h computes, each with one rounding to nearest even and with subnormals (the
 * machine's default modes, which nothing in Assay changes). Half away has no instruction: t =
 * trunc(f) and d = f - t are exact, and |d| >= 1/2 says that |t| grows by one. */
#ifndef ASSAY_SCHEMES_APPLY_SIMD_AVX512_H
#define ASSAY_SCHEMES_APPLY_SIMD_AVX512_H

#include <immintrin.h>

#include "schemes/apply/simd.h"
#include "schemes/apply/simd/round.h"
#include "schemes/apply/unit.h"

enum { LANES = 16 };

/* The first n lanes, at most all. */
INLINE __mmask16 first_lanes(size_t n)
{
    return (__mmask16)(n < LANES ? (1u << n) - 1 : 0xffffu);
}

/* ---- 64-bit products: eight lanes ---- */

typedef struct simd_eight {
    __m512i m, pre, left, first, rest;
    __m512i half_first, half_rest;   /* 2^(s-1), 0 where s is 0 */
    __m512i minus_first, minus_rest; /* -1, 0 where s is 0 */
    __m512i mask_first;              /* 2^s - 1 */
} simd_eight;

INLINE __m512i load_params(const int64_t *p, size_t n, size_t c, __mmask8 mask)
{
    return n > 1 ? _mm512_maskz_loadu_epi64(mask, p + c) : _mm512_set1_epi64(p[0]);
}

/* The terms of one rounding by `shift`. */
INLINE simd_eight set_one_rounding(__m512i shift)
{
    const __m512i one = _mm512_set1_epi64(1), zero = _mm512_setzero_si512();
    return (simd_eight){.first = shift,
                        .half_first = _mm512_srli_epi64(_mm512_sllv_epi64(one, shift), 1),
                        .minus_first = _mm512_sub_epi64(zero, _mm512_min_epi64(shift, one)),
                        .mask_first = _mm512_sub_epi64(_mm512_sllv_epi64(one, shift), one)};
}

INLINE simd_eight load_eight(const assay_rescale *r, size_t c, __mmask8 mask,
                             const enum assay_simd_way way)
{
    const __m512i one = _mm512_set1_epi64(1), zero = _mm512_setzero_si512();
    const __m512i shift = load_params(r->shift, r->n, c, mask), bits = _mm512_set1_epi64(31);
    simd_eight e = {.m = load_params(r->multiplier, r->n, c, mask), .first = shift};
    if (way == ASSAY_SIMD_GLOW)
        e.pre = load_params(r->pre, r->n, c, mask);
    if (way == ASSAY_SIMD_DOUBLE_LEFT) {
        e.left = _mm512_max_epi64(_mm512_sub_epi64(bits, shift), zero);
        e.first = bits;
    }
    if (way == ASSAY_SIMD_DOUBLE)
        e.first = _mm512_min_epi64(shift, bits);
    e.rest = _mm512_max_epi64(_mm512_sub_epi64(shift, bits), zero);
    e.half_first = _mm512_srli_epi64(_mm512_sllv_epi64(one, e.first), 1);
    e.half_rest = _mm512_srli_epi64(_mm512_sllv_epi64(one, e.rest), 1);
    e.minus_first = _mm512_sub_epi64(zero, _mm512_min_epi64(e.first, one));
    e.minus_rest = _mm512_sub_epi64(zero, _mm512_min_epi64(e.rest, one));
    e.mask_first = _mm512_sub_epi64(_mm512_sllv_epi64(one, e.first), one);
    return e;
}

ASSAY_ROUNDING_ADDEND(addend512, __m512i)

/* p / 2^s: p plus the addend of `mode`, shifted with the sign. half, minus and mask are 2^(s-1),
 * -1 and 2^s - 1, the first two 0 where s is 0. |p| and half are at most 2^62 and 2^61, so nothing
 * overflows. */
INLINE __m512i round_shift(__m512i p, __m512i s, __m512i half, __m512i minus, __m512i mask,
                           const enum assay_rounding mode)
{
    const __m512i negative = _mm512_srai_epi64(p, 63), q = _mm512_srav_epi64(p, s);
    const __m512i odd = _mm512_srai_epi64(_mm512_slli_epi64(q, 63), 63);
    return _mm512_srav_epi64(p + addend512(mode, half, mask, negative, odd, minus), s);
}

INLINE __m512i scale_eight(const simd_eight *e, __m256i acc, const enum assay_simd_way way,
                           const enum assay_rounding mode)
{
    __m512i x = _mm512_cvtepi32_epi64(acc);
    if (way == ASSAY_SIMD_GLOW)
        x = _mm512_srav_epi64(x, e->pre);
    if (way == ASSAY_SIMD_DOUBLE_LEFT) /* low 32 bits: vpmuldq reads no others */
        x = _mm512_sllv_epi64(x, e->left);
    x = _mm512_mul_epi32(x, e->m);
    if (way == ASSAY_SIMD_GLOW) /* the product's low 32 bits, with their sign */
        x = _mm512_srai_epi64(_mm512_slli_epi64(x, 32), 32);
    x = round_shift(x, e->first, e->half_first, e->minus_first, e->mask_first, mode);
    if (way == ASSAY_SIMD_DOUBLE || way == ASSAY_SIMD_DOUBLE_LEFT)
        x = round_shift(x, e->rest, e->half_rest, e->minus_rest, e->mask_first,
                        ASSAY_ROUND_HALF_AWAY);
    return x;
}

/* ---- the end that all share ---- */

typedef struct simd_ending {
    __m512i lo, hi, zero;
    bool truncate, wrap_sum;
} simd_ending;

INLINE simd_ending load_ending(const assay_simd *s)
{
    const int32_t zero = s->inside ? 0 : s->zero_point;
    const int32_t before = s->wrap_sum ? 0 : zero; /* clamp before or after adding it */
    return (simd_ending){_mm512_set1_epi32(s->lo - before), _mm512_set1_epi32(s->hi - before),
                         _mm512_set1_epi32(zero), s->truncate, s->wrap_sum};
}

INLINE void store_codes(uint8_t *out, __mmask16 mask, __m512i y)
{
    const __m128i bytes = _mm512_cvtepi32_epi8(y);
    if (mask == 0xffff)
        _mm_storeu_si128((__m128i *)out, bytes);
    else
        _mm_mask_storeu_epi8(out, mask, bytes);
}

INLINE __m512i finish(const simd_ending *e, __m512i y)
{
    if (e->wrap_sum)
        y = _mm512_add_epi32(y, e->zero);
    y = _mm512_min_epi32(_mm512_max_epi32(y, e->lo), e->hi);
    return e->wrap_sum ? y : _mm512_add_epi32(y, e->zero);
}

INLINE __m512i join(const simd_ending *e, __m512i low, __m512i high)
{
    return e->truncate ? _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(low)),
                                            _mm512_cvtepi64_epi32(high), 1)
                       : _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtsepi64_epi32(low)),
                                            _mm512_cvtsepi64_epi32(high), 1);
}

/* ---- floats ---- */

typedef uint32_t lanes32 __attribute__((vector_size(64)));
ASSAY_ROUNDING_ADDEND(addend_lanes, lanes32)

INLINE __m512i in_lanes(__mmask16 where, int32_t value)
{
    return _mm512_maskz_set1_epi32(where, value);
}

/* As round_float of simd/round.h: the floor, and which of four the fraction above it is. Where f is
 * beyond 2^31 or no number it has none, and comes back. */
INLINE __m512 round_by_steps(__m512 f, const enum assay_rounding mode)
{
    const __m512 floor = _mm512_roundscale_ps(f, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __m512 near = _mm512_roundscale_ps(f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 zero = _mm512_setzero_ps(), d = _mm512_sub_ps(f, near); /* exact */
    const __m512 half = _mm512_set1_ps(0.5f);
    const __mmask16 tie = _mm512_cmp_ps_mask(_mm512_abs_ps(d), half, _CMP_EQ_OQ);
    const __mmask16 under = _mm512_cmp_ps_mask(d, zero, _CMP_LT_OQ);
    const __mmask16 over = _mm512_cmp_ps_mask(d, zero, _CMP_GT_OQ);
    const lanes32 part = (lanes32)in_lanes((__mmask16)(over & ~tie), 1) |
                         (lanes32)in_lanes(tie, 2) |
                         (lanes32)in_lanes((__mmask16)(under & ~tie), 3);
    const lanes32 negative = (lanes32)in_lanes(_mm512_cmp_ps_mask(f, zero, _CMP_LT_OQ), -1);
    const __m512i q = _mm512_cvttps_epi32(floor);
    const lanes32 odd = (lanes32)_mm512_srai_epi32(_mm512_slli_epi32(q, 31), 31);
    const lanes32 two = (lanes32)_mm512_set1_epi32(2), three = (lanes32)_mm512_set1_epi32(3);
    const lanes32 all = (lanes32)_mm512_set1_epi32(-1);
    const lanes32 sum = part + addend_lanes(mode, two, three, negative, odd, all);
    const __mmask16 up = _mm512_cmpgt_epu32_mask((__m512i)sum, (__m512i)three);
    return _mm512_mask_add_ps(floor, up, floor, _mm512_set1_ps(1.0f));
}

INLINE __m512 round_floats(__m512 f, const enum assay_rounding mode)
{
    switch (ieee_of(mode)) {
    case IEEE_NEAREST:
        return _mm512_roundscale_ps(f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    case IEEE_DOWN:
        return _mm512_roundscale_ps(f, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    case IEEE_ZERO:
        return _mm512_roundscale_ps(f, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    case IEEE_UP:
        return _mm512_roundscale_ps(f, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    default:
        return round_by_steps(f, mode);
    }
}

#endif
