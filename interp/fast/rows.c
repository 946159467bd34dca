/* Rows of bytes in C that compilers turn into vectors, built once for each instruction set, which
 * ROW_NAME appends to the name. */
#ifdef __AVX512BW__
#include <immintrin.h>
#endif
#include <string.h>

#include "interp/fast/isa.h"

#define JOIN2(a, b) a##_##b
#define JOIN(a, b)  JOIN2(a, b)

#ifdef __AVX512BW__
/* 16 sums, rounded half to even. */
static inline __m512i sixteen(const assay_linear *l, __m128i a, __m128i b)
{
    const __m512 x = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(a));
    const __m512 y = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(b));
    const __m512 v = _mm512_fmadd_ps(y, _mm512_set1_ps(l->slope[1]), _mm512_set1_ps(l->offset));
    return _mm512_cvtps_epi32(_mm512_fmadd_ps(x, _mm512_set1_ps(l->slope[0]), v));
}

/* Packs go by lanes of 16 bytes; `order` puts the groups of four right. Saturation keeps what lies
 * beyond every code beyond it. */
static void linear(const assay_linear *l, const uint8_t *restrict a, const uint8_t *restrict b,
                   size_t n, uint8_t *restrict y)
{
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    const __m512i zero = _mm512_set1_epi16((int16_t)l->zero);
    const __m512i lo = _mm512_set1_epi8((char)l->lo), hi = _mm512_set1_epi8((char)l->hi);
    const __m512i flip_a = _mm512_set1_epi8((char)l->flip[0]);
    const __m512i flip_b = _mm512_set1_epi8((char)l->flip[1]);
    for (size_t i = 0; i < n; i += 64) {
        const __mmask64 mask = n - i < 64 ? (UINT64_C(1) << (n - i)) - 1 : ~UINT64_C(0);
        const __m512i x = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, a + i), flip_a);
        const __m512i z = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, b + i), flip_b);
        const __m512i v0 = sixteen(l, _mm512_castsi512_si128(x), _mm512_castsi512_si128(z));
        const __m512i v1 =
            sixteen(l, _mm512_extracti32x4_epi32(x, 1), _mm512_extracti32x4_epi32(z, 1));
        const __m512i v2 =
            sixteen(l, _mm512_extracti32x4_epi32(x, 2), _mm512_extracti32x4_epi32(z, 2));
        const __m512i v3 =
            sixteen(l, _mm512_extracti32x4_epi32(x, 3), _mm512_extracti32x4_epi32(z, 3));
        const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(v0, v1), zero);
        const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(v2, v3), zero);
        __m512i codes;
        if (l->lo < 0)
            codes = _mm512_min_epi8(_mm512_max_epi8(_mm512_packs_epi16(low, high), lo), hi);
        else
            codes = _mm512_min_epu8(_mm512_max_epu8(_mm512_packus_epi16(low, high), lo), hi);
        _mm512_mask_storeu_epi8(y + i, mask, _mm512_permutexvar_epi32(order, codes));
    }
}
#else
/* |v| < 2^22: adding 1.5 * 2^23 rounds it to an integer, half to even, and leaves that in the low
 * bits. */
static void linear(const assay_linear *l, const uint8_t *restrict a, const uint8_t *restrict b,
                   size_t n, uint8_t *restrict y)
{
    const assay_linear k = *l;
    const float lo = (float)(k.lo - k.zero), hi = (float)(k.hi - k.zero);
    for (size_t i = 0; i < n; i++) {
        const float x = (float)(uint8_t)(a[i] ^ k.flip[0]);
        float v = (float)(uint8_t)(b[i] ^ k.flip[1]) * k.slope[1] + k.offset;
        uint32_t bits;
        v = x * k.slope[0] + v;
        v = v < lo ? lo : v;
        v = v > hi ? hi : v;
        v += 12582912.0f;
        memcpy(&bits, &v, sizeof bits);
        y[i] = (uint8_t)(bits + (uint32_t)k.zero);
    }
}
#endif

static void max(const uint8_t *restrict x, size_t n, uint8_t flip, uint8_t *restrict best)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t v = x[i] ^ flip;
        best[i] = best[i] > v ? best[i] : v;
    }
}

static void flip_bytes(const uint8_t *restrict x, size_t n, uint8_t flip, uint8_t *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] ^ flip;
}

static void add(const uint8_t *restrict x, size_t n, bool is_signed, int32_t *restrict sum)
{
    if (is_signed)
        for (size_t i = 0; i < n; i++)
            sum[i] += (int8_t)x[i];
    else
        for (size_t i = 0; i < n; i++)
            sum[i] += x[i];
}

static int64_t sum_of(const uint8_t *x, size_t n, bool is_signed)
{
    const uint8_t flip = is_signed ? 0x80 : 0;
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (uint8_t)(x[i] ^ flip);
    return sum - (int64_t)n * flip;
}

static void weave(const uint8_t *restrict x, size_t step, int planes, size_t n, uint8_t flip,
                  uint8_t *restrict y)
{
    if (planes == 3)
        for (size_t i = 0; i < n; i++) {
            y[3 * i] = x[i] ^ flip;
            y[3 * i + 1] = x[step + i] ^ flip;
            y[3 * i + 2] = x[2 * step + i] ^ flip;
        }
    else
        for (int c = 0; c < planes; c++)
            for (size_t i = 0; i < n; i++)
                y[i * (size_t)planes + (size_t)c] = x[(size_t)c * step + i] ^ flip;
}

const assay_rows JOIN(assay_rows, ROW_NAME) = {
    .linear = linear, .max = max, .flip = flip_bytes, .add = add, .sum = sum_of, .weave = weave};
