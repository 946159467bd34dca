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
enum { STEP = 64 };

static inline __m512 sixteen(const uint8_t *x, __m128i flip)
{
    const __m128i u = _mm_xor_si128(_mm_loadu_si128((const __m128i *)x), flip);
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(u));
}

/* 64 sums, rounded half to even. Packs go by lanes of 16 bytes; `order` puts the groups of four
 * right. Saturation keeps what lies beyond every code beyond it. */
static inline void linear_step(const assay_linear *l, const uint8_t *a, const uint8_t *b,
                               uint8_t *y)
{
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    const __m512i zero = _mm512_set1_epi16((int16_t)l->zero);
    const __m512i lo = _mm512_set1_epi8((char)l->lo), hi = _mm512_set1_epi8((char)l->hi);
    const __m512 slope_a = _mm512_set1_ps(l->slope[0]), slope_b = _mm512_set1_ps(l->slope[1]);
    const __m128i flip_a = _mm_set1_epi8((char)l->flip[0]);
    const __m128i flip_b = _mm_set1_epi8((char)l->flip[1]);
    __m512i v[4], codes;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const __m512 part =
            _mm512_fmadd_ps(sixteen(b + 16 * i, flip_b), slope_b, _mm512_set1_ps(l->offset));
        v[i] = _mm512_cvtps_epi32(_mm512_fmadd_ps(sixteen(a + 16 * i, flip_a), slope_a, part));
    }
    const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(v[0], v[1]), zero);
    const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(v[2], v[3]), zero);
    if (l->lo < 0)
        codes = _mm512_min_epi8(_mm512_max_epi8(_mm512_packs_epi16(low, high), lo), hi);
    else
        codes = _mm512_min_epu8(_mm512_max_epu8(_mm512_packus_epi16(low, high), lo), hi);
    _mm512_storeu_si512(y, _mm512_permutexvar_epi32(order, codes));
}

static void add_linear(const assay_linear *linear, const uint8_t *restrict a,
                       const uint8_t *restrict b, size_t n, uint8_t *restrict y)
{
    const assay_linear l = *linear;
    const size_t whole = n / STEP * STEP, rest = n - whole;
    for (size_t i = 0; i < whole; i += STEP)
        linear_step(&l, a + i, b + i, y + i);
    if (rest == 0)
        return;
    uint8_t part[3][STEP] = {{0}};
    memcpy(part[0], a + whole, rest);
    memcpy(part[1], b + whole, rest);
    linear_step(&l, part[0], part[1], part[2]);
    memcpy(y + whole, part[2], rest);
}
#else
/* |v| < 2^22: adding 1.5 * 2^23 rounds it to an integer, half to even, and leaves that in the low
 * bits. */
static void add_linear(const assay_linear *l, const uint8_t *restrict a, const uint8_t *restrict b,
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

static void max_rows(const uint8_t *restrict x, size_t n, uint8_t flip, uint8_t *restrict best)
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

static void add_row(const uint8_t *restrict x, size_t n, bool is_signed, int32_t *restrict sum)
{
    if (is_signed)
        for (size_t i = 0; i < n; i++)
            sum[i] += (int8_t)x[i];
    else
        for (size_t i = 0; i < n; i++)
            sum[i] += x[i];
}

static int64_t sum_row(const uint8_t *x, size_t n, bool is_signed)
{
    const uint8_t flip = is_signed ? 0x80 : 0;
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (uint8_t)(x[i] ^ flip);
    return sum - (int64_t)n * flip;
}

static void weave_planes(const uint8_t *restrict x, size_t step, int planes, size_t n, uint8_t flip,
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

const assay_rows JOIN(fast_rows, ROW_NAME) = {.linear = add_linear,
                                              .max = max_rows,
                                              .flip = flip_bytes,
                                              .add = add_row,
                                              .sum = sum_row,
                                              .weave = weave_planes};
