/* Accumulators to codes in the registers that they were added up in: what schemes/narrow.h says.
 *
 * Integers: of 16 accumulators x the even and the odd ones are multiplied apart (vpmuldq reads the
 * low half of each 64-bit lane). They are doubled before, so that the upper half of a product is
 *   q = floor((2 x m + first) / 2^32) = floor((x m + first / 2) / 2^31),    first = 0 or 2^31,
 * HALF_UP's whole part and DOUBLE's first rounding. With r = shift - 31 >= 1 the code is
 *   floor((q + 2^(r-1)) / 2^r) = floor((floor(q / 2^(r-1)) + 1) / 2):
 * one shift of each lane by r - 1, and one bit more of words, where zero point and 1 are one
 * addition. Half away from 0 takes 1 from a negative q. x < 0 may stand for q < 0: where they
 * differ q is 0, and floor((0 - 1 + 2^(r-1)) / 2^r) is 0 too. And where codes below the zero point
 * all become the least one (not `away`), that may be left out: without it a negative q gives at
 * most 0 too. */
#ifndef ASSAY_SCHEMES_APPLY_SIMD_NARROW_AVX512_H
#define ASSAY_SCHEMES_APPLY_SIMD_NARROW_AVX512_H

#include <immintrin.h>

#include "schemes/apply/simd/narrow.h"

#define INLINE static inline __attribute__((always_inline))

/* Integers, integers `away`, floats. */
enum narrow_way { NARROW_INTEGER, NARROW_AWAY, NARROW_FLOAT };

INLINE enum narrow_way narrow_way(const assay_narrower *n)
{
    return n->by == ASSAY_NARROW_FLOAT ? NARROW_FLOAT : n->away ? NARROW_AWAY : NARROW_INTEGER;
}

/* What all lanes share; loaded once, for codes that are stored might be anything's bytes. */
typedef struct narrow_all {
    __m512i first, zero, lo, hi, flip;
    bool clamps;
} narrow_all;

INLINE narrow_all narrow_all_of(const assay_narrower *n)
{
    return (narrow_all){_mm512_set1_epi64(n->first), _mm512_set1_epi16(n->zero),
                        _mm512_set1_epi8(n->lo),     _mm512_set1_epi8(n->hi),
                        _mm512_set1_epi8(n->flip),   n->lo > INT8_MIN || n->hi < INT8_MAX};
}

/* One vector after the other: else compilers begin with all of them, and registers run out. */
INLINE __m512i narrow_one(const narrow_all *n, const assay_sixteen *k, __m512i x,
                          const enum narrow_way way)
{
    __asm__ volatile("" : "+v"(x));
    if (way == NARROW_FLOAT) {
        x = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(x), _mm512_load_ps(k->scale)));
    } else {
        const __m512i sign = _mm512_srai_epi32(x, 31), twice = _mm512_add_epi32(x, x);
        const __m512i even = _mm512_mul_epi32(twice, _mm512_load_si512(k->factor[0]));
        const __m512i odd =
            _mm512_mul_epi32(_mm512_srli_epi64(twice, 32), _mm512_load_si512(k->factor[1]));
        __m512i q = _mm512_castps_si512(
            _mm512_mask_movehdup_ps(_mm512_castsi512_ps(_mm512_add_epi64(odd, n->first)), 0x5555,
                                    _mm512_castsi512_ps(_mm512_add_epi64(even, n->first))));
        if (way == NARROW_AWAY)
            q = _mm512_add_epi32(q, sign);
        x = _mm512_srav_epi32(q, _mm512_load_si512(k->shift));
    }
    __asm__ volatile("" : "+v"(x));
    return x;
}

/* 32 words. Packs saturate: what lies beyond every code stays beyond it. */
INLINE __m512i narrow_words(const narrow_all *n, __m512i a, __m512i b, const enum narrow_way way)
{
    const __m512i y = _mm512_adds_epi16(_mm512_packs_epi32(a, b), n->zero);
    return way == NARROW_FLOAT ? y : _mm512_srai_epi16(y, 1);
}

/* Four vectors to 64 bytes: lanes of 16 bytes of a, b, c and d in turn. */
INLINE __m512i narrow_pack(const narrow_all *n, __m512i a, __m512i b, __m512i c, __m512i d,
                           const enum narrow_way way)
{
    const __m512i low = narrow_words(n, a, b, way), high = narrow_words(n, c, d, way);
    __m512i codes = _mm512_packs_epi16(low, high);
    if (n->clamps)
        codes = _mm512_min_epi8(_mm512_max_epi8(codes, n->lo), n->hi);
    return _mm512_xor_si512(codes, n->flip);
}

#endif
