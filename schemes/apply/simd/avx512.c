/* AVX-512 forms of the rescales that simd.h lists. 16 columns at a time: their parameters are
 * loaded once and serve all rows of the block. */
#include "schemes/apply/simd/avx512.h"

INLINE void integers(const assay_unit *u, const int32_t *acc, size_t rows, size_t columns,
                     size_t acc_step, size_t channel, uint8_t *out, size_t out_step,
                     const enum assay_simd_way way, const enum assay_rounding mode)
{
    const assay_rescale *r = &u->scale[ASSAY_OUT];
    const simd_ending end = load_ending(&u->simd);
    for (size_t j = 0; j < columns; j += LANES) {
        const __mmask16 mask = first_lanes(columns - j);
        const simd_eight low = load_eight(r, channel + j, (__mmask8)mask, way);
        const simd_eight high = load_eight(r, channel + j + 8, (__mmask8)(mask >> 8), way);
        for (size_t i = 0; i < rows; i++) {
            const __m512i x = _mm512_maskz_loadu_epi32(mask, acc + i * acc_step + j);
            const __m512i a = scale_eight(&low, _mm512_castsi512_si256(x), way, mode);
            const __m512i b = scale_eight(&high, _mm512_extracti64x4_epi64(x, 1), way, mode);
            store_codes(out + i * out_step + j, mask, finish(&end, join(&end, a, b)));
        }
    }
}

/* ---- floats: sixteen lanes ---- */

/* Float bits, held one in an int64. */
INLINE __m512 load_scales(const int64_t *p, size_t n, size_t c, __mmask16 mask)
{
    const __m256i low = _mm512_cvtepi64_epi32(load_params(p, n, c, (__mmask8)mask));
    const __m256i high = _mm512_cvtepi64_epi32(load_params(p, n, c + 8, (__mmask8)(mask >> 8)));
    return _mm512_castsi512_ps(_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
}

INLINE void floats(const assay_unit *u, const int32_t *acc, size_t rows, size_t columns,
                   size_t acc_step, size_t channel, uint8_t *out, size_t out_step,
                   const enum assay_rounding mode)
{
    const assay_rescale *r = &u->scale[ASSAY_OUT];
    const assay_simd s = u->simd;
    const __m512 f_zero = _mm512_set1_ps((float)s.zero_point), beyond = _mm512_set1_ps(0x1p31f);
    const simd_ending end = load_ending(&s);
    const __m512 scale_out = s.steps ? load_scales(r->scale_out, 1, 0, 0xffff) : f_zero;
    for (size_t j = 0; j < columns; j += LANES) {
        const __mmask16 mask = first_lanes(columns - j);
        const __m512 scale = load_scales(r->scale, r->n, channel + j, mask);
        const __m512 scale_w = s.steps ? load_scales(r->scale_w, r->n, channel + j, mask) : f_zero;
        for (size_t i = 0; i < rows; i++) {
            __m512 f = _mm512_cvtepi32_ps(_mm512_maskz_loadu_epi32(mask, acc + i * acc_step + j));
            f = _mm512_mul_ps(f, scale);
            if (s.steps)
                f = _mm512_div_ps(_mm512_mul_ps(f, scale_w), scale_out);
            if (s.inside)
                f = _mm512_add_ps(f, f_zero);
            f = round_floats(f, mode);
            __m512i y = _mm512_cvttps_epi32(f); /* integral; INT32_MIN where out of range */
            if (!s.indefinite)
                y = _mm512_mask_mov_epi32(y, _mm512_cmp_ps_mask(f, beyond, _CMP_GE_OQ),
                                          _mm512_set1_epi32(INT32_MAX));
            store_codes(out + i * out_step + j, mask, finish(&end, y));
        }
    }
}

/* ---- one function for each way and rounding ---- */

#define PARAMETERS                                                                                 \
    const assay_unit *u, const int32_t *acc, size_t rows, size_t columns, size_t acc_step,         \
        size_t channel, uint8_t *out, size_t out_step
#define ARGUMENTS u, acc, rows, columns, acc_step, channel, out, out_step

#define ONE(ID, name, ...)                                                                         \
    static void one_##name(PARAMETERS)                                                             \
    {                                                                                              \
        integers(ARGUMENTS, ASSAY_SIMD_ONE_ROUNDING, ASSAY_ROUND_##ID);                            \
    }
#define FLOAT(ID, name, ...)                                                                       \
    static void float_##name(PARAMETERS)                                                           \
    {                                                                                              \
        floats(ARGUMENTS, ASSAY_ROUND_##ID);                                                       \
    }

ASSAY_ROUNDINGS(ONE)
ASSAY_ROUNDINGS(FLOAT)

static void double_left(PARAMETERS)
{
    integers(ARGUMENTS, ASSAY_SIMD_DOUBLE_LEFT, ASSAY_ROUND_HALF_UP);
}
static void double_plain(PARAMETERS)
{
    integers(ARGUMENTS, ASSAY_SIMD_DOUBLE, ASSAY_ROUND_HALF_UP);
}
static void glow(PARAMETERS)
{
    integers(ARGUMENTS, ASSAY_SIMD_GLOW, ASSAY_ROUND_HALF_UP);
}

#define ONE_ENTRY(ID, name, ...)   one_##name,
#define FLOAT_ENTRY(ID, name, ...) float_##name,

assay_block_fn simd_avx512(const assay_simd *s)
{
    static const assay_block_fn one[ASSAY_ROUND_COUNT] = {ASSAY_ROUNDINGS(ONE_ENTRY)};
    static const assay_block_fn of_float[ASSAY_ROUND_COUNT] = {ASSAY_ROUNDINGS(FLOAT_ENTRY)};
    if (s->packed)
        return simd_packed_avx512(s);
    switch (s->way) {
    case ASSAY_SIMD_ONE_ROUNDING:
        return one[s->mode];
    case ASSAY_SIMD_DOUBLE_LEFT:
        return double_left;
    case ASSAY_SIMD_DOUBLE:
        return double_plain;
    case ASSAY_SIMD_GLOW:
        return glow;
    case ASSAY_SIMD_FLOAT:
        return of_float[s->mode];
    default:
        return NULL;
    }
}
