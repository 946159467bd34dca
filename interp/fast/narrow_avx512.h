/* Accumulators to codes in the registers that they were added up in: what schemes/narrow.h says.
 *
 * Integers: of 16 accumulators the even and the odd ones are multiplied apart (vpmuldq reads the
 * low half of each 64-bit lane). A shift of 32 and more takes from the upper halves alone.
 *
 * DOUBLE is one shift: floors nest, and with h = 2^(r-1), r = shift - 31 >= 1, p the product and q
 * its first rounding,
 *   floor((q + h - [q < 0]) / 2^r) = floor((p + 2^30 + 2^31 (h - [q < 0])) / 2^(31+r)).
 * p < 0 may stand for q < 0: where they differ, -2^30 <= p < 0, the result is 0 by either. And
 * where codes below the zero point all become the least one (not `away`), it may be left out:
 * without it a negative p gives at most 0 too. */
#ifndef ASSAY_INTERP_FAST_NARROW_AVX512_H
#define ASSAY_INTERP_FAST_NARROW_AVX512_H

#include <immintrin.h>

#include "interp/fast/isa.h"

#define INLINE static inline __attribute__((always_inline))

/* Integers by `add` alone, integers `away`, floats. */
enum narrow_way { NARROW_ADD, NARROW_AWAY, NARROW_FLOAT };

INLINE enum narrow_way narrow_way(const assay_narrower *n)
{
    return n->by == ASSAY_NARROW_FLOAT ? NARROW_FLOAT : n->away ? NARROW_AWAY : NARROW_ADD;
}

/* p + add, less 2^31 where p is negative. */
INLINE __m512i add_half(__m512i p, const int64_t *add, const enum narrow_way way)
{
    const __m512i up = _mm512_load_si512(add);
    const __m512i down = _mm512_sub_epi64(up, _mm512_set1_epi64(INT64_C(1) << 31));
    const __m512i sign = _mm512_srai_epi64(p, 63);
    return _mm512_add_epi64(p, way == NARROW_AWAY ? _mm512_ternarylogic_epi64(sign, down, up, 0xca)
                                                  : up);
}

/* One vector after the other: else compilers begin with all of them, and registers run out. */
INLINE __m512i narrow_one(const assay_sixteen *k, __m512i x, const enum narrow_way way)
{
    __asm__ volatile("" : "+v"(x));
    if (way == NARROW_FLOAT) {
        x = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(x), _mm512_load_ps(k->scale)));
    } else {
        const __m512i even = _mm512_mul_epi32(x, _mm512_load_si512(k->factor[0]));
        const __m512i odd =
            _mm512_mul_epi32(_mm512_srli_epi64(x, 32), _mm512_load_si512(k->factor[1]));
        const __m512i upper = _mm512_castps_si512(
            _mm512_mask_movehdup_ps(_mm512_castsi512_ps(add_half(odd, k->add[1], way)), 0x5555,
                                    _mm512_castsi512_ps(add_half(even, k->add[0], way))));
        x = _mm512_srav_epi32(upper, _mm512_load_si512(k->shift));
    }
    __asm__ volatile("" : "+v"(x));
    return x;
}

/* What all lanes share; loaded once, for codes that are stored might be anything's bytes. */
typedef struct narrow_end {
    __m512i zero, lo, hi, flip;
} narrow_end;

INLINE narrow_end narrow_end_of(const assay_narrower *n)
{
    return (narrow_end){_mm512_set1_epi16(n->zero_point), _mm512_set1_epi8(n->lo),
                        _mm512_set1_epi8(n->hi), _mm512_set1_epi8(n->flip)};
}

/* Four vectors to 64 bytes: lanes of 16 bytes of a, b, c and d in turn. Packs saturate: what lies
 * beyond every code stays beyond it. */
INLINE __m512i narrow_pack(const narrow_end *n, __m512i a, __m512i b, __m512i c, __m512i d)
{
    const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(a, b), n->zero);
    const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(c, d), n->zero);
    const __m512i codes = _mm512_max_epi8(_mm512_packs_epi16(low, high), n->lo);
    return _mm512_xor_si512(_mm512_min_epi8(codes, n->hi), n->flip);
}

#endif
