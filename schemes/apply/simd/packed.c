/* AVX-512 forms of the rescales whose results stay well inside int32 (assay_simd.packed): 32
 * columns by two rows at a time, narrowed by saturating packs.
 *
 * Integers: of 16 accumulators the even and the odd ones are multiplied apart (vpmuldq reads the
 * low half of each 64-bit lane), and what is left of the products after the shift is merged back.
 */
#include "schemes/apply/simd/avx512.h"

enum { WIDE = 2 * LANES, ODD = 0xaaaa };

/* ---- the end: 2 x 32 results to bytes ---- */

typedef struct packing {
    __m512i zero, lo, hi, order;
    bool is_signed;
} packing;

INLINE packing load_packing(const assay_simd *s)
{
    return (packing){_mm512_set1_epi16((int16_t)(s->inside ? 0 : s->zero_point)),
                     _mm512_set1_epi8((char)s->lo), _mm512_set1_epi8((char)s->hi),
                     _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0),
                     s->lo < 0};
}

/* y[row][half]. Packs interleave their operands by lanes of 16 bytes; `order` puts that right. */
INLINE __m512i pack(const packing *k, __m512i y[2][2])
{
    const __m512i a = _mm512_adds_epi16(_mm512_packs_epi32(y[0][0], y[0][1]), k->zero);
    const __m512i b = _mm512_adds_epi16(_mm512_packs_epi32(y[1][0], y[1][1]), k->zero);
    const __m512i bytes = _mm512_permutexvar_epi32(
        k->order, k->is_signed ? _mm512_packs_epi16(a, b) : _mm512_packus_epi16(a, b));
    return k->is_signed ? _mm512_min_epi8(_mm512_max_epi8(bytes, k->lo), k->hi)
                        : _mm512_min_epu8(_mm512_max_epu8(bytes, k->lo), k->hi);
}

INLINE void store_wide(const packing *k, __m512i y[2][2], uint8_t *row0, uint8_t *row1, size_t n)
{
    const __m512i bytes = pack(k, y);
    const __m256i low = _mm512_castsi512_si256(bytes), high = _mm512_extracti64x4_epi64(bytes, 1);
    if (n >= WIDE) {
        _mm256_storeu_si256((__m256i *)row1, high);
        _mm256_storeu_si256((__m256i *)row0, low);
    } else {
        const __mmask32 mask = (1u << n) - 1;
        _mm256_mask_storeu_epi8(row1, mask, high);
        _mm256_mask_storeu_epi8(row0, mask, low);
    }
}

/* Four rows of at most 16 columns; the last of them first, so that row 0 may stand for rows that
 * are none. */
INLINE void store_narrow(const packing *k, __m512i y[2][2], uint8_t *const row[4], __mmask16 mask)
{
    const __m512i bytes = pack(k, y);
    _mm_mask_storeu_epi8(row[3], mask, _mm512_extracti32x4_epi32(bytes, 3));
    _mm_mask_storeu_epi8(row[2], mask, _mm512_extracti32x4_epi32(bytes, 2));
    _mm_mask_storeu_epi8(row[1], mask, _mm512_extracti32x4_epi32(bytes, 1));
    _mm_mask_storeu_epi8(row[0], mask, _mm512_castsi512_si128(bytes));
}

/* ---- 16 rescales ---- */

/* Parameters of 16 channels; 64-bit ones by even and odd lanes. */
typedef struct sixteen {
    __m512 scale, zero;
    __m512i m_even, m_odd;
    simd_eight even, odd;
    __m512i up_even, up_odd;     /* double: what is added to products */
    __m512i down_even, down_odd; /* and to negative ones */
    __m512i rest;                /* 32 bits: the shift of the sums' upper halves */
} sixteen;

INLINE __m512i pick(__m512i low, __m512i high, const bool is_odd)
{
    const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    return _mm512_permutex2var_epi64(
        low, is_odd ? _mm512_or_si512(even, _mm512_set1_epi64(1)) : even, high);
}

INLINE __m512i low_halves(__m512i low, __m512i high)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(low)),
                              _mm512_cvtepi64_epi32(high), 1);
}

INLINE void load_double(sixteen *p, const __m512i shift[2])
{
    const __m512i one = _mm512_set1_epi64(1), round = _mm512_set1_epi64(1 << 30);
    const __m512i less = _mm512_set1_epi64(INT64_C(1) << 31);
    const __m512i even = pick(shift[0], shift[1], false), odd = pick(shift[0], shift[1], true);
    p->up_even = _mm512_add_epi64(_mm512_srli_epi64(_mm512_sllv_epi64(one, even), 1), round);
    p->up_odd = _mm512_add_epi64(_mm512_srli_epi64(_mm512_sllv_epi64(one, odd), 1), round);
    p->down_even = _mm512_sub_epi64(p->up_even, less);
    p->down_odd = _mm512_sub_epi64(p->up_odd, less);
    p->rest = _mm512_sub_epi32(low_halves(shift[0], shift[1]), _mm512_set1_epi32(32));
}

INLINE sixteen load_sixteen(const assay_unit *u, size_t c, __mmask16 mask,
                            const enum assay_simd_way way)
{
    const assay_rescale *r = &u->scale[ASSAY_OUT];
    const __mmask8 first = (__mmask8)mask, second = (__mmask8)(mask >> 8);
    sixteen p = {.zero = _mm512_set1_ps((float)u->simd.zero_point)};
    if (way == ASSAY_SIMD_FLOAT) {
        p.scale = _mm512_castsi512_ps(low_halves(load_params(r->scale, r->n, c, first),
                                                 load_params(r->scale, r->n, c + 8, second)));
        return p;
    }
    const __m512i m[2] = {load_params(r->multiplier, r->n, c, first),
                          load_params(r->multiplier, r->n, c + 8, second)};
    const __m512i shift[2] = {load_params(r->shift, r->n, c, first),
                              load_params(r->shift, r->n, c + 8, second)};
    p.m_even = pick(m[0], m[1], false);
    p.m_odd = pick(m[0], m[1], true);
    if (way == ASSAY_SIMD_DOUBLE) {
        load_double(&p, shift);
    } else {
        p.even = set_one_rounding(pick(shift[0], shift[1], false));
        p.odd = set_one_rounding(pick(shift[0], shift[1], true));
    }
    return p;
}

/* where ? a : b, by bits. */
INLINE __m512i select_bits(__m512i where, __m512i a, __m512i b)
{
    return _mm512_ternarylogic_epi64(where, a, b, 0xca);
}

/* The upper halves of the lanes of `odd` where they are, those of `even` beside them. */
INLINE __m512i upper_halves(__m512i even, __m512i odd)
{
    return _mm512_castps_si512(_mm512_mask_movehdup_ps(_mm512_castsi512_ps(odd), (__mmask16)~ODD,
                                                       _mm512_castsi512_ps(even)));
}

/* The product p half up by 31 to q, then half away by r >= 1, is one shift: floors nest, and with
 * h = 2^(r-1)
 *   floor((q + h - [q < 0]) / 2^r) = floor((p + 2^30 + 2^31 (h - [q < 0])) / 2^(31+r)).
 * p < 0 may stand for q < 0: where they differ, -2^30 <= p < 0, the result is 0 by either. And
 * where codes below the zero point all become the least one (`above`), it may be left out: without
 * it a negative p gives at most 0 too. */
INLINE __m512i scale_double(const sixteen *p, __m512i x, const bool above)
{
    const __m512i even = _mm512_mul_epi32(x, p->m_even);
    const __m512i odd = _mm512_mul_epi32(_mm512_srli_epi64(x, 32), p->m_odd);
    __m512i up_even = p->up_even, up_odd = p->up_odd;
    if (!above) {
        up_even = select_bits(_mm512_srai_epi64(even, 63), p->down_even, up_even);
        up_odd = select_bits(_mm512_srai_epi64(odd, 63), p->down_odd, up_odd);
    }
    return _mm512_srav_epi32(
        upper_halves(_mm512_add_epi64(even, up_even), _mm512_add_epi64(odd, up_odd)), p->rest);
}

INLINE __m512i scale_once(const sixteen *p, __m512i x, const enum assay_rounding mode)
{
    const simd_eight *a = &p->even, *b = &p->odd;
    const __m512i even = round_shift(_mm512_mul_epi32(x, p->m_even), a->first, a->half_first,
                                     a->minus_first, a->mask_first, mode);
    const __m512i odd = round_shift(_mm512_mul_epi32(_mm512_srli_epi64(x, 32), p->m_odd), b->first,
                                    b->half_first, b->minus_first, b->mask_first, mode);
    return _mm512_mask_blend_epi32(ODD, even, _mm512_slli_epi64(odd, 32));
}

/* vcvtps2dq rounds half to even. */
INLINE __m512i scale_float(const sixteen *p, __m512i x, const bool inside,
                           const enum assay_rounding mode)
{
    __m512 f = _mm512_mul_ps(_mm512_cvtepi32_ps(x), p->scale);
    if (inside)
        f = _mm512_add_ps(f, p->zero);
    return mode == ASSAY_ROUND_HALF_EVEN ? _mm512_cvtps_epi32(f)
                                         : _mm512_cvttps_epi32(round_floats(f, mode));
}

/* variant: floats: inside; double roundings: above. */
INLINE __m512i scale(const sixteen *p, __m512i x, const enum assay_simd_way way, const bool variant,
                     const enum assay_rounding mode)
{
    return way == ASSAY_SIMD_DOUBLE  ? scale_double(p, x, variant)
           : way == ASSAY_SIMD_FLOAT ? scale_float(p, x, variant, mode)
                                     : scale_once(p, x, mode);
}

/* ---- blocks ---- */

#define PARAMETERS                                                                                 \
    const assay_unit *u, const int32_t *acc, size_t rows, size_t columns, size_t acc_step,         \
        size_t channel, uint8_t *out, size_t out_step
#define ARGUMENTS u, acc, rows, columns, acc_step, channel, out, out_step

/* Columns j .. j + n - 1, more than 16 of them, two rows at a time. */
INLINE void packed_wide(PARAMETERS, const packing *k, size_t j, size_t n,
                        const enum assay_simd_way way, const bool variant,
                        const enum assay_rounding mode)
{
    const __mmask16 mask[2] = {first_lanes(n), first_lanes(n - LANES)};
    const sixteen p[2] = {load_sixteen(u, channel + j, mask[0], way),
                          load_sixteen(u, channel + j + LANES, mask[1], way)};
    (void)columns;
    for (size_t i = 0; i < rows; i += 2) {
        const size_t row[2] = {i, i + 1 < rows ? i + 1 : i};
        __m512i y[2][2];
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++) {
                const int32_t *x = acc + row[a] * acc_step + j + (size_t)b * LANES;
                y[a][b] = scale(&p[b], _mm512_maskz_loadu_epi32(mask[b], x), way, variant, mode);
            }
        store_wide(k, y, out + row[0] * out_step + j, out + row[1] * out_step + j, n);
    }
}

/* At most 16 columns, four rows at a time. */
INLINE void packed_narrow(PARAMETERS, const packing *k, size_t j, size_t n,
                          const enum assay_simd_way way, const bool variant,
                          const enum assay_rounding mode)
{
    const __mmask16 mask = first_lanes(n);
    const sixteen p = load_sixteen(u, channel + j, mask, way);
    (void)columns;
    for (size_t i = 0; i < rows; i += 4) {
        uint8_t *to[4];
        __m512i y[2][2];
        for (size_t a = 0; a < 4; a++) {
            const size_t row = i + a < rows ? i + a : i;
            const int32_t *x = acc + row * acc_step + j;
            to[a] = out + row * out_step + j;
            y[a / 2][a % 2] = scale(&p, _mm512_maskz_loadu_epi32(mask, x), way, variant, mode);
        }
        store_narrow(k, y, to, mask);
    }
}

INLINE void packed(PARAMETERS, const enum assay_simd_way way, const bool variant,
                   const enum assay_rounding mode)
{
    const packing k = load_packing(&u->simd);
    for (size_t j = 0; j < columns; j += WIDE) {
        const size_t n = columns - j;
        if (n > LANES)
            packed_wide(ARGUMENTS, &k, j, n, way, variant, mode);
        else
            packed_narrow(ARGUMENTS, &k, j, n, way, variant, mode);
    }
}

#define ONE(ID, name, ...)                                                                         \
    static void one_##name(PARAMETERS)                                                             \
    {                                                                                              \
        packed(ARGUMENTS, ASSAY_SIMD_ONE_ROUNDING, false, ASSAY_ROUND_##ID);                       \
    }
#define FLOAT(ID, name, ...)                                                                       \
    static void float_##name(PARAMETERS)                                                           \
    {                                                                                              \
        packed(ARGUMENTS, ASSAY_SIMD_FLOAT, false, ASSAY_ROUND_##ID);                              \
    }                                                                                              \
    static void float_inside_##name(PARAMETERS)                                                    \
    {                                                                                              \
        packed(ARGUMENTS, ASSAY_SIMD_FLOAT, true, ASSAY_ROUND_##ID);                               \
    }

ASSAY_ROUNDINGS(ONE)
ASSAY_ROUNDINGS(FLOAT)

static void double_rounding(PARAMETERS)
{
    packed(ARGUMENTS, ASSAY_SIMD_DOUBLE, false, ASSAY_ROUND_HALF_UP);
}
static void double_above(PARAMETERS)
{
    packed(ARGUMENTS, ASSAY_SIMD_DOUBLE, true, ASSAY_ROUND_HALF_UP);
}

#define ONE_ENTRY(ID, name, ...)   one_##name,
#define FLOAT_ENTRY(ID, name, ...) {float_##name, float_inside_##name},

assay_block_fn simd_packed_avx512(const assay_simd *s)
{
    static const assay_block_fn one[ASSAY_ROUND_COUNT] = {ASSAY_ROUNDINGS(ONE_ENTRY)};
    static const assay_block_fn of_float[ASSAY_ROUND_COUNT][2] = {ASSAY_ROUNDINGS(FLOAT_ENTRY)};
    switch (s->way) {
    case ASSAY_SIMD_ONE_ROUNDING:
        return one[s->mode];
    case ASSAY_SIMD_FLOAT:
        return of_float[s->mode][s->inside];
    default:
        return s->lo >= s->zero_point ? double_above : double_rounding;
    }
}
