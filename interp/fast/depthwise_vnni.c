/* Depthwise convolution in AVX-512 VNNI: 64 channels of up to four neighbouring cells. */
#include "interp/fast/isa.h"
#include "schemes/apply/simd/narrow_avx512.h"

enum { LANES = 16 };

/* Four taps of 64 channels become 64 units: bytes of taps 0 and 1, 2 and 3 are interleaved, then
 * the pairs. Interleaving goes by lanes of 16 bytes: lane l of vector v holds channels 16 l + 4 v
 * and the next three. */
INLINE void load_units(const char *head, const int32_t *tap, const bool three, __m512i unit[4])
{
    const __m512i x0 = _mm512_loadu_si512(head + tap[0]), x1 = _mm512_loadu_si512(head + tap[1]);
    const __m512i x2 = _mm512_loadu_si512(head + tap[2]);
    const __m512i x3 = three ? _mm512_setzero_si512() : _mm512_loadu_si512(head + tap[3]);
    const __m512i p = _mm512_unpacklo_epi8(x0, x1), q = _mm512_unpackhi_epi8(x0, x1);
    const __m512i r = _mm512_unpacklo_epi8(x2, x3), s = _mm512_unpackhi_epi8(x2, x3);
    unit[0] = _mm512_unpacklo_epi16(p, r);
    unit[1] = _mm512_unpackhi_epi16(p, r);
    unit[2] = _mm512_unpacklo_epi16(q, s);
    unit[3] = _mm512_unpackhi_epi16(q, s);
}

/* Packs go by lanes of 16 bytes too: they bring the channels back in order. */
INLINE void narrow(const assay_columns *t, __m512i acc[ASSAY_CELLS][4], const int cells,
                   const enum narrow_way way)
{
    const narrow_all all = narrow_all_of(t->narrowing);
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++)
#pragma GCC unroll 4
        for (int i = 0; i < cells; i++)
            acc[i][j] = narrow_one(&all, &t->lanes[j], acc[i][j], way);
#pragma GCC unroll 4
    for (int i = 0; i < cells; i++)
        _mm512_mask_storeu_epi8(t->codes + i * t->codes_step, t->wanted[i == cells - 1],
                                narrow_pack(&all, acc[i][0], acc[i][1], acc[i][2], acc[i][3], way));
}

/* Accumulators in the order of channels: lanes of 16 bytes are transposed. */
INLINE void store(int32_t *to, const __m512i a[4])
{
    const __m512i p = _mm512_shuffle_i32x4(a[0], a[1], 0x44);
    const __m512i q = _mm512_shuffle_i32x4(a[0], a[1], 0xee);
    const __m512i r = _mm512_shuffle_i32x4(a[2], a[3], 0x44);
    const __m512i s = _mm512_shuffle_i32x4(a[2], a[3], 0xee);
    _mm512_storeu_si512(to, _mm512_shuffle_i32x4(p, r, 0x88));
    _mm512_storeu_si512(to + LANES, _mm512_shuffle_i32x4(p, r, 0xdd));
    _mm512_storeu_si512(to + 2 * LANES, _mm512_shuffle_i32x4(q, s, 0x88));
    _mm512_storeu_si512(to + 3 * LANES, _mm512_shuffle_i32x4(q, s, 0xdd));
}

/* Each column is loaded once and meets every window that it lies in. */
INLINE void columns(const assay_columns *t, const int cells, const bool three, const int width,
                    const int stride)
{
    const int last = (cells - 1) * stride + width;
    __m512i acc[ASSAY_CELLS][4];
#pragma GCC unroll 4
    for (int i = 0; i < cells; i++)
        for (int j = 0; j < 4; j++)
            acc[i][j] = _mm512_loadu_si512(t->start + j * LANES);
    for (int g = 0; g < t->n_groups; g++) {
        const __m512i *w = (const __m512i *)t->right + (int64_t)g * width * 4;
#pragma GCC unroll 9
        for (int k = 0; k < last; k++) {
            __m512i unit[4];
            load_units(t->left + k * t->column_step, t->tap + g * 4, three, unit);
#pragma GCC unroll 4
            for (int i = 0; i < cells; i++) {
                const int column = k - i * stride; /* of window i */
                if (column < 0 || column >= width)
                    continue;
                for (int j = 0; j < 4; j++)
                    acc[i][j] = _mm512_dpbusd_epi32(acc[i][j], unit[j], w[column * 4 + j]);
            }
        }
    }
    if (!t->narrowing) {
#pragma GCC unroll 4
        for (int i = 0; i < cells; i++)
            store(t->acc + i * ASSAY_DEPTHWISE, acc[i]);
        return;
    }
    switch (narrow_way(t->narrowing)) {
    case NARROW_FLOAT:
        narrow(t, acc, cells, NARROW_FLOAT);
        break;
    case NARROW_AWAY:
        narrow(t, acc, cells, NARROW_AWAY);
        break;
    default:
        narrow(t, acc, cells, NARROW_INTEGER);
    }
}

INLINE void some_columns(const assay_columns *t, int cells, const bool three, const int width,
                         const int stride)
{
    switch (cells) {
    case 1:
        columns(t, 1, three, width, stride);
        break;
    case 2:
        columns(t, 2, three, width, stride);
        break;
    case 3:
        columns(t, 3, three, width, stride);
        break;
    default:
        columns(t, ASSAY_CELLS, three, width, stride);
    }
}

/* Kernels of 3 x 3 have loops of their own. */
void fast_vnni_depthwise_columns(const assay_columns *t, int cells)
{
    if (t->three && t->width == 3 && t->stride == 1)
        some_columns(t, cells, true, 3, 1);
    else if (t->three && t->width == 3 && t->stride == 2)
        some_columns(t, cells, true, 3, 2);
    else if (t->three)
        some_columns(t, cells, true, t->width, t->stride);
    else
        some_columns(t, cells, false, t->width, t->stride);
}

void fast_vnni_depthwise_taps(const assay_taps *t)
{
    const __m256i *w = t->right;
    __m512i acc[4];
    for (int j = 0; j < 4; j++)
        acc[j] = _mm512_loadu_si512(t->start + j * LANES);
    for (int64_t k = 0; k < t->n_taps; k++, w += 4) {
        const __m256i *x = (const __m256i *)(t->left + t->tap[k]);
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++)
            acc[j] = _mm512_add_epi32(
                acc[j], _mm512_mullo_epi32(_mm512_cvtepi16_epi32(_mm256_loadu_si256(x + j)),
                                           _mm512_cvtepi16_epi32(_mm256_load_si256(w + j))));
    }
    for (int j = 0; j < 4; j++)
        _mm512_storeu_si512(t->acc + j * LANES, acc[j]);
}
