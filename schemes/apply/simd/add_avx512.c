/* AVX-512 forms of additions of one-byte codes: the formulas of add.c and add_float.c, 16 at a
 * time. */
#include <assert.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/simd/avx512.h"

INLINE __m512i load_codes(const uint8_t *p, __mmask16 mask, const bool is_signed)
{
    const __m128i v = _mm_maskz_loadu_epi8(mask, p);
    return is_signed ? _mm512_cvtepi8_epi32(v) : _mm512_cvtepu8_epi32(v);
}

/* ---- TFLite: both operands shifted left and rescaled, then their sum ---- */

typedef struct operand {
    simd_eight e;
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
    const simd_eight e = load_eight(&u->scale[ASSAY_OUT], 0, 0xff, way);
    const simd_ending end = load_ending(&u->simd);
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

/* ---- the same where no rescale is above 1: 32 bits hold every step ---- */

/* Codes are at most 255 from their zero point, so operands stay below 2^28, their sum below 2^29,
 * and the half of a shift of at most 30 below 2^30. */
static bool stays_small(const assay_unit *u)
{
    bool small = u->k[0] <= 20;
    for (int i = ASSAY_FIRST; i <= ASSAY_OUT; i++) {
        const assay_rescale *r = &u->scale[i];
        small = small && r->n == 1 && r->multiplier[0] >= 0 && r->shift[0] >= 31 &&
                r->shift[0] <= 31 + 30;
    }
    for (int i = 0; i < 2; i++)
        small = small && u->in_zero[i] >= -128 && u->in_zero[i] <= 255;
    return small;
}

typedef struct small {
    __m512i m, half, minus;
    __m128i rest;
} small;

static small load_small(const assay_rescale *r)
{
    const int64_t rest = r->shift[0] - 31;
    assert(rest >= 0 && rest <= 30); /* stays_small */
    return (small){_mm512_set1_epi64(r->multiplier[0]),
                   _mm512_set1_epi32((int32_t)((INT64_C(1) << rest) >> 1)),
                   _mm512_set1_epi32(rest > 0 ? -1 : 0), _mm_cvtsi64_si128(rest)};
}

/* Half up by 31, of even and odd lanes apart; then half away by the rest. */
INLINE __m512i scale_small(const small *p, __m512i x)
{
    const __m512i half = _mm512_set1_epi64(1 << 30);
    const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(x, p->m), half);
    const __m512i odd = _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(x, 32), p->m), half);
    __m512i y =
        _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 31), _mm512_slli_epi64(odd, 1));
    y = _mm512_add_epi32(y, _mm512_and_si512(_mm512_srai_epi32(y, 31), p->minus));
    return _mm512_sra_epi32(_mm512_add_epi32(y, p->half), p->rest);
}

static void left_shift_small(const assay_unit *u, const uint8_t *a, bool a_signed, const uint8_t *b,
                             bool b_signed, size_t n, uint8_t *out)
{
    const small p = load_small(&u->scale[ASSAY_FIRST]), q = load_small(&u->scale[ASSAY_SECOND]);
    const small o = load_small(&u->scale[ASSAY_OUT]);
    const __m512i za = _mm512_set1_epi32((int32_t)u->in_zero[0]);
    const __m512i zb = _mm512_set1_epi32((int32_t)u->in_zero[1]);
    const __m128i bits = _mm_cvtsi64_si128(u->k[0]);
    const simd_ending end = load_ending(&u->simd);
    for (size_t i = 0; i < n; i += LANES) {
        const __mmask16 mask = first_lanes(n - i);
        __m512i x = _mm512_sub_epi32(load_codes(a + i, mask, a_signed), za);
        __m512i y = _mm512_sub_epi32(load_codes(b + i, mask, b_signed), zb);
        x = scale_small(&p, _mm512_sll_epi32(x, bits));
        y = scale_small(&q, _mm512_sll_epi32(y, bits));
        x = scale_small(&o, u->subtract ? _mm512_sub_epi32(x, y) : _mm512_add_epi32(x, y));
        store_codes(out + i, mask, finish(&end, x));
    }
}

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
        const __m512i v = _mm512_cvttps_epi32(round_floats(f, mode));
        store_codes(out + i, mask, _mm512_min_epi32(_mm512_max_epi32(v, lo), hi));
    }
}

static void float_scaled_half_even(const assay_unit *u, const uint8_t *a, bool a_signed,
                                   const uint8_t *b, bool b_signed, size_t n, uint8_t *out)
{
    float_scaled(u, a, a_signed, b, b_signed, n, out, ASSAY_ROUND_HALF_EVEN);
}

assay_pair_fn simd_add_avx512(const assay_unit *u)
{
    const enum assay_simd_add add = simd_add_choose(u);
    switch (add) {
    case ASSAY_SIMD_ADD_DOUBLE:
        return stays_small(u) ? left_shift_small : left_shift_double;
    case ASSAY_SIMD_ADD_HALF_UP:
        return left_shift_half_up;
    case ASSAY_SIMD_ADD_FLOAT:
        return float_scaled_half_even;
    default:
        return NULL;
    }
}
