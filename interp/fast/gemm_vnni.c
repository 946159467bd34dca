/* AVX-512 VNNI: vpdpbusd adds four products of an unsigned and a signed byte to an int32, vpdpwssd
 * two of words; both without saturation. 14 x 32 accumulators in 28 registers, two more for the
 * packed weights, one for the unit of the left operand that a row broadcasts: 31 of 32. */
#include <immintrin.h>
#include <string.h>

#include "interp/fast/isa.h"

enum { ROWS = ASSAY_TILE_ROWS, LANES = 16 };

#define INLINE static inline __attribute__((always_inline))

INLINE __m512i dot(__m512i acc, __m512i x, __m512i w, const bool bytes)
{
    return bytes ? _mm512_dpbusd_epi32(acc, x, w) : _mm512_dpwssd_epi32(acc, x, w);
}

/* vectors: 1 or 2, of 16 columns each. */
INLINE void tile(const assay_tile *t, const int rows, const int vectors, const bool bytes)
{
    const __m512i *b = t->right;
    __m512i acc[ROWS][2];
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++)
            acc[i][j] = _mm512_loadu_si512(t->start + j * LANES);
    for (int64_t r = 0; r < t->n_runs; r++) {
        const char *a[ROWS];
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++)
            a[i] = t->left + t->run[r] + t->row[i];
        for (int64_t u = 0; u < t->run_units; u++, b += vectors) {
            const __m512i b0 = _mm512_load_si512(b), b1 = _mm512_load_si512(b + vectors - 1);
#pragma GCC unroll 14
            for (int i = 0; i < rows; i++) {
                int32_t unit;
                memcpy(&unit, a[i] + u * ASSAY_UNIT, sizeof unit);
                const __m512i x = _mm512_set1_epi32(unit);
                acc[i][0] = dot(acc[i][0], x, b0, bytes);
                if (vectors > 1)
                    acc[i][1] = dot(acc[i][1], x, b1, bytes);
            }
        }
    }
#pragma GCC unroll 14
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++)
            _mm512_storeu_si512(t->acc + i * ASSAY_TILE_COLUMNS + j * LANES, acc[i][j]);
}

#define HEIGHT(m)                                                                                  \
    case m:                                                                                        \
        tile(t, m, vectors, bytes);                                                                \
        break

INLINE void height(const assay_tile *t, int rows, const int vectors, const bool bytes)
{
    switch (rows) {
        HEIGHT(1);
        HEIGHT(2);
        HEIGHT(3);
        HEIGHT(4);
        HEIGHT(5);
        HEIGHT(6);
        HEIGHT(7);
        HEIGHT(8);
        HEIGHT(9);
        HEIGHT(10);
        HEIGHT(11);
        HEIGHT(12);
        HEIGHT(13);
    default:
        tile(t, ROWS, vectors, bytes);
    }
}

static void bytes(const assay_tile *t, int rows, int columns)
{
    if (columns > LANES)
        height(t, rows, 2, true);
    else
        height(t, rows, 1, true);
}

static void words(const assay_tile *t, int rows, int columns)
{
    if (columns > LANES)
        height(t, rows, 2, false);
    else
        height(t, rows, 1, false);
}

/* Four taps of 64 channels become 64 units, in four vectors: bytes of taps 0 and 1, 2 and 3 are
 * interleaved, then the pairs. Interleaving goes by lanes of 16 bytes; that the 4 x 4 groups of
 * four channels are transposed beforehand brings channels 16 v .. 16 v + 15 into vector v. */
INLINE void load_units(const char *head, const int32_t *tap, const bool three, __m512i unit[4])
{
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    const __m512i zero = _mm512_setzero_si512();
    const __m512i x0 = _mm512_permutexvar_epi32(order, _mm512_loadu_si512(head + tap[0]));
    const __m512i x1 = _mm512_permutexvar_epi32(order, _mm512_loadu_si512(head + tap[1]));
    const __m512i x2 = _mm512_permutexvar_epi32(order, _mm512_loadu_si512(head + tap[2]));
    const __m512i x3 =
        three ? zero : _mm512_permutexvar_epi32(order, _mm512_loadu_si512(head + tap[3]));
    const __m512i p = _mm512_unpacklo_epi8(x0, x1), q = _mm512_unpackhi_epi8(x0, x1);
    const __m512i r = _mm512_unpacklo_epi8(x2, x3), s = _mm512_unpackhi_epi8(x2, x3);
    unit[0] = _mm512_unpacklo_epi16(p, r);
    unit[1] = _mm512_unpackhi_epi16(p, r);
    unit[2] = _mm512_unpacklo_epi16(q, s);
    unit[3] = _mm512_unpackhi_epi16(q, s);
}

/* Each column is loaded once and meets every window that it lies in. */
INLINE void columns(const assay_columns *t, const int cells, const bool three)
{
    const int last = (cells - 1) * t->stride + t->width;
    __m512i acc[ASSAY_CELLS][4];
#pragma GCC unroll 4
    for (int i = 0; i < cells; i++)
        for (int j = 0; j < 4; j++)
            acc[i][j] = _mm512_loadu_si512(t->start + j * LANES);
    for (int g = 0; g < t->n_groups; g++) {
        const __m512i *w = (const __m512i *)t->right + (int64_t)g * t->width * 4;
        for (int k = 0; k < last; k++) {
            __m512i unit[4];
            load_units(t->left + k * t->column_step, t->tap + g * 4, three, unit);
#pragma GCC unroll 4
            for (int i = 0; i < cells; i++) {
                const int column = k - i * t->stride; /* of window i */
                if (column < 0 || column >= t->width)
                    continue;
                for (int j = 0; j < 4; j++)
                    acc[i][j] = _mm512_dpbusd_epi32(acc[i][j], unit[j], w[column * 4 + j]);
            }
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < cells; i++)
        for (int j = 0; j < 4; j++)
            _mm512_storeu_si512(t->acc + i * ASSAY_DEPTHWISE + j * LANES, acc[i][j]);
}

INLINE void some_columns(const assay_columns *t, int cells, const bool three)
{
    switch (cells) {
    case 1:
        columns(t, 1, three);
        break;
    case 2:
        columns(t, 2, three);
        break;
    case 3:
        columns(t, 3, three);
        break;
    default:
        columns(t, ASSAY_CELLS, three);
    }
}

static void byte_columns(const assay_columns *t, int cells)
{
    if (t->three)
        some_columns(t, cells, true);
    else
        some_columns(t, cells, false);
}

static void word_taps(const assay_taps *t)
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

const assay_isa_kernels assay_isa_vnni = {.isa = ASSAY_ISA_VNNI,
                                          .name = "vnni",
                                          .rows = ROWS,
                                          .columns = ASSAY_TILE_COLUMNS,
                                          .bytes = bytes,
                                          .words = words,
                                          .word_taps = word_taps,
                                          .byte_columns = byte_columns,
                                          .rows_of_bytes = &assay_rows_avx512};
