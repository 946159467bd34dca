/* AVX-512 VNNI: vpdpbusd adds four products of an unsigned and a signed byte to an int32, vpdpwssd
 * two of words; both without saturation. 14 x 32 accumulators in 28 registers, two more for the
 * packed weights, one for the unit of the left operand that a row broadcasts: 31 of 32. */
#include <assert.h>
#include <string.h>

#include "interp/fast/isa.h"
#include "schemes/apply/simd/narrow_avx512.h"

enum {
    ROWS = ASSAY_TILE_ROWS,
    LANES = 16,
    POINTERS = 10, /* rows whose addresses are in registers; gcc would put some in vectors */
};

INLINE __m512i dot(__m512i acc, __m512i x, __m512i w, const bool bytes)
{
    return bytes ? _mm512_dpbusd_epi32(acc, x, w) : _mm512_dpwssd_epi32(acc, x, w);
}

/* Columns of a row: all of them, or those that are wanted. */
INLINE void store_32(uint8_t *to, __m256i codes, __mmask32 wanted, bool whole)
{
    if (whole)
        _mm256_storeu_si256((__m256i *)to, codes);
    else
        _mm256_mask_storeu_epi8(to, wanted, codes);
}

INLINE void store_16(uint8_t *to, __m128i codes, __mmask32 wanted, bool whole)
{
    if (whole)
        _mm_storeu_si128((__m128i *)to, codes);
    else
        _mm_mask_storeu_epi8(to, (__mmask16)wanted, codes);
}

/* Two rows of 32 columns, or four of 16, are packed at once; the last rows may stand for rows that
 * are none. Packs leave groups of four columns of one row 16 bytes apart. */
INLINE void narrow(const assay_tile *t, __m512i acc[ROWS][2], const int rows, const int vectors,
                   const enum narrow_way way)
{
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    const narrow_all all = narrow_all_of(t->narrowing);
    const bool whole = t->wanted == vectors * LANES;
    assert(t->wanted >= 0 && t->wanted <= vectors * LANES);
    const __mmask32 wanted = (__mmask32)((UINT64_C(1) << t->wanted) - 1);
    const int64_t step = t->codes_step;
    const int last = rows - 1;
    uint8_t *to = t->codes;
#pragma GCC unroll 2
    for (int j = 0; j < vectors; j++)
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++)
            acc[i][j] = narrow_one(&all, &t->lanes[j], acc[i][j], way);
#pragma GCC unroll 14
    for (int i = 0; i < rows; i += 4 / vectors, to += step) {
        const int b = i + 1 < last ? i + 1 : last;
        const int c = i + 2 < last ? i + 2 : last, d = i + 3 < last ? i + 3 : last;
        const __m512i y = _mm512_permutexvar_epi32(
            order, vectors == 2
                       ? narrow_pack(&all, acc[i][0], acc[i][1], acc[b][0], acc[b][1], way)
                       : narrow_pack(&all, acc[i][0], acc[b][0], acc[c][0], acc[d][0], way));
        if (vectors == 2) {
            store_32(to, _mm512_castsi512_si256(y), wanted, whole);
            if (b > i)
                store_32(to += step, _mm512_extracti64x4_epi64(y, 1), wanted, whole);
            continue;
        }
        store_16(to, _mm512_castsi512_si128(y), wanted, whole);
        if (b > i)
            store_16(to += step, _mm512_extracti32x4_epi32(y, 1), wanted, whole);
        if (c > b)
            store_16(to += step, _mm512_extracti32x4_epi32(y, 2), wanted, whole);
        if (d > c)
            store_16(to += step, _mm512_extracti32x4_epi32(y, 3), wanted, whole);
    }
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
        const char *a[ROWS], *volatile stored[ROWS];
#pragma GCC unroll 14
        for (int i = 0; i < rows; i++)
            if (i < POINTERS)
                a[i] = t->left + t->run[r] + t->row[i];
            else
                stored[i] = t->left + t->run[r] + t->row[i];
        for (int64_t u = 0; u < t->run_units; u++, b += vectors) {
            const __m512i b0 = _mm512_load_si512(b), b1 = _mm512_load_si512(b + vectors - 1);
#pragma GCC unroll 14
            for (int i = 0; i < rows; i++) {
                int32_t unit;
                memcpy(&unit, (i < POINTERS ? a[i] : stored[i]) + u * ASSAY_UNIT, sizeof unit);
                const __m512i x = _mm512_set1_epi32(unit);
                acc[i][0] = dot(acc[i][0], x, b0, bytes);
                if (vectors > 1)
                    acc[i][1] = dot(acc[i][1], x, b1, bytes);
            }
        }
    }
    if (bytes && t->narrowing) {
        switch (narrow_way(t->narrowing)) {
        case NARROW_FLOAT:
            narrow(t, acc, rows, vectors, NARROW_FLOAT);
            return;
        case NARROW_AWAY:
            narrow(t, acc, rows, vectors, NARROW_AWAY);
            return;
        default:
            narrow(t, acc, rows, vectors, NARROW_INTEGER);
            return;
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

static void vnni_tile_bytes(const assay_tile *t, int rows, int columns)
{
    if (columns > LANES)
        height(t, rows, 2, true);
    else
        height(t, rows, 1, true);
}

static void vnni_tile_words(const assay_tile *t, int rows, int columns)
{
    if (columns > LANES)
        height(t, rows, 2, false);
    else
        height(t, rows, 1, false);
}

const assay_isa_kernels fast_isa_vnni = {.isa = ASSAY_ISA_VNNI,
                                         .name = "vnni",
                                         .rows = ROWS,
                                         .columns = ASSAY_TILE_COLUMNS,
                                         .bytes = vnni_tile_bytes,
                                         .words = vnni_tile_words,
                                         .word_taps = fast_vnni_depthwise_taps,
                                         .byte_columns = fast_vnni_depthwise_columns,
                                         .narrows = true,
                                         .rows_of_bytes = &fast_rows_avx512};
