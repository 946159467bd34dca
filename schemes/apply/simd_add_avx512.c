/* AVX-512 forms of additions of one-byte codes: the formulas of add.c and add_float.c, 16 at a
 * time. */
#include "schemes/apply/apply.h"
#include "schemes/apply/simd_avx512.h"

INLINE __m512i load_codes(const uint8_t *p, __mmask16 mask, const bool is_signed)
{
    const __m128i v = _mm_maskz_loadu_epi8(mask, p);
    return is_signed ? _mm512_cvtepi8_epi32(v) : _mm512_cvtepu8_epi32(v);
}

/* ---- TFLite: both operands shifted left and rescaled, then their sum ---- */

typedef struct operand {
    eight e;
    __m512i zero;
    __m128i bits;
} operand;

INLINE operand load_operand(const assay_unit *u, int i, const enum assay_simd_way way)
{
    return (operand){load_eight(&u->scale[i], 0, 0xff, way),
                     _mm512_set1_epi32((int32_t)u->in_zero[i]), _mm_cvtsi64_si128(u->k[0])};
}

/* A sum of 32 bits that wraps needs the low 32 bits of each term only. */
INLINE __m512i low_bits(__m512i a, __m512i b)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(a)),
                              _mm512_cvtepi64_epi32(b), 1);
}

INLINE __m512i bring(const operand *o, __m512i code, const enum assay_simd_way way,
                     const enum assay_rounding mode)
{
    const __m512i x = _mm512_sll_epi32(_mm512_sub_epi32(code, o->zero), o->bits);
    return low_bits(scale_eight(&o->e, _mm512_castsi512_si256(x), way, mode),
                    scale_eight(&o->e, _mm512_extracti64x4_epi64(x, 1), way, mode));
}

INLINE void left_shift(const assay_unit *u, const uint8_t *a, bool a_signed, const uint8_t *b,
                       bool b_signed, size_t n, uint8_t *out, const enum assay_simd_way way,
                       const enum assay_rounding mode)
{
    const operand p = load_operand(u, ASSAY_FIRST, way), q = load_operand(u, ASSAY_SECOND, way);
    const eight e = load_eight(&u->scale[ASSAY_OUT], 0, 0xff, way);
    const ending end = load_ending(&u->simd);
    for (size_t i = 0; i < n; i += LANES) {
        const __mmask16 mask = first_lanes(n - i);
        const __m512i x = bring(&p, load_codes(a + i, mask, a_signed), way, mode);
        const __m512i y = bring(&q, load_codes(b + i, mask, b_signed), way, mode);
        const __m512i sum = u->subtract ? _mm512_sub_epi32(x, y) : _mm512_add_epi32(x, y);
        const __m512i low = scale_eight(&e, _mm512_castsi512_si256(sum), way, mode);
        const __m512i high = scale_eight(&e, _mm512_extracti64x4_epi64(sum, 1), way, mode);
        store_codes(out + i, mask, finish(&end, join(&end, low, high)));
    }
}

#define LEFT_SHIFT(name, way, mode)                                                                \
    static void name(const assay_unit *u, const uint8_t *a, bool a_signed, const uint8_t *b,       \
                     bool b_signed, size_t n, uint8_t *out)                                        \
    {                                                                                              \
        left_shift(u, a, a_signed, b, b_signed, n, out, way, mode);                                \
    }

LEFT_SHIFT(left_shift_double, ASSAY_SIMD_DOUBLE_LEFT, ASSAY_ROUND_HALF_UP)
LEFT_SHIFT(left_shift_half_up, ASSAY_SIMD_ONE_ROUNDING, ASSAY_ROUND_HALF_UP)

/* ---- MLAS: (F + a * r1) + b * r2 ---- */

INLINE __m512 real(int64_t bits)
{
    return _mm512_castsi512_ps(_mm512_set1_epi32((int32_t)bits));
}

INLINE void float_scaled(const assay_unit *u, const uint8_t *a, bool a_signed, const uint8_t *b,
                         bool b_signed, size_t n, uint8_t *out, const enum assay_rounding mode)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    const __m512 r1 = real(u->k[0]), r2 = real(u->k[1]), f0 = real(u->k[2]);
    const __m512i lo = _mm512_set1_epi32((int32_t)o->lo), hi = _mm512_set1_epi32((int32_t)o->hi);
    for (size_t i = 0; i < n; i += LANES) {
        const __mmask16 mask = first_lanes(n - i);
        const __m512 x = _mm512_cvtepi32_ps(load_codes(a + i, mask, a_signed));
        const __m512 y = _mm512_cvtepi32_ps(load_codes(b + i, mask, b_signed));
        __m512 f;
        if (!u->rec.add.fused)
            f = _mm512_add_ps(_mm512_add_ps(f0, _mm512_mul_ps(x, r1)), _mm512_mul_ps(y, r2));
        else if (u->k[3])
            f = _mm512_fmadd_ps(y, r2, _mm512_fmadd_ps(x, r1, f0));
        else
            f = _mm512_fmadd_ps(x, r1, _mm512_fmadd_ps(y, r2, f0));
        const __m512i v = _mm512_cvttps_epi32(round_float(f, mode));
        store_codes(out + i, mask, _mm512_min_epi32(_mm512_max_epi32(v, lo), hi));
    }
}

static void float_scaled_half_even(const assay_unit *u, const uint8_t *a, bool a_signed,
                                   const uint8_t *b, bool b_signed, size_t n, uint8_t *out)
{
    float_scaled(u, a, a_signed, b, b_signed, n, out, ASSAY_ROUND_HALF_EVEN);
}

assay_pair_fn assay_simd_add_avx512(const assay_unit *u)
{
    const enum assay_simd_add add = assay_simd_add_choose(u);
    switch (add) {
    case ASSAY_SIMD_ADD_DOUBLE:
        return left_shift_double;
    case ASSAY_SIMD_ADD_HALF_UP:
        return left_shift_half_up;
    case ASSAY_SIMD_ADD_FLOAT:
        return float_scaled_half_even;
    default:
        return NULL;
    }
}
