/* AVX2: exact 16-bit multiply-add (vpmaddwd: two products of words summed in int32; the byte form,
 * vpmaddubsw, saturates and is not used). 6 x 16 accumulators in 12 registers. */
#include <immintrin.h>
#include <string.h>

#include "interp/fast/isa.h"

enum { ROWS = 6 };

static inline __attribute__((always_inline)) void tile(const assay_tile *t, const int rows)
{
    const __m256i *b = t->right;
    __m256i acc[ROWS][2];
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) {
        acc[i][0] = _mm256_loadu_si256((const __m256i *)t->start);
        acc[i][1] = _mm256_loadu_si256((const __m256i *)t->start + 1);
    }
    for (int64_t r = 0; r < t->n_runs; r++) {
        const char *a = t->left + t->run[r];
        for (int64_t u = 0; u < t->run_units; u++, a += ASSAY_UNIT, b += 2) {
            const __m256i b0 = _mm256_load_si256(b), b1 = _mm256_load_si256(b + 1);
#pragma GCC unroll 6
            for (int i = 0; i < rows; i++) {
                int32_t pair;
                memcpy(&pair, a + t->row[i], sizeof pair);
                const __m256i x = _mm256_set1_epi32(pair);
                acc[i][0] = _mm256_add_epi32(acc[i][0], _mm256_madd_epi16(x, b0));
                acc[i][1] = _mm256_add_epi32(acc[i][1], _mm256_madd_epi16(x, b1));
            }
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) {
        __m256i *to = (__m256i *)(t->acc + i * ASSAY_TILE_COLUMNS);
        _mm256_storeu_si256(to, acc[i][0]);
        _mm256_storeu_si256(to + 1, acc[i][1]);
    }
}

static void avx2_tile_words(const assay_tile *t, int rows, int columns)
{
    (void)columns; /* always ASSAY_TILE_STEP */
    switch (rows) {
    case 1:
        tile(t, 1);
        break;
    case 2:
        tile(t, 2);
        break;
    case 3:
        tile(t, 3);
        break;
    case 4:
        tile(t, 4);
        break;
    case 5:
        tile(t, 5);
        break;
    default:
        tile(t, ROWS);
    }
}

/* 8 channels a vector: words are widened, their products int32. */
static void avx2_depthwise_taps(const assay_taps *t)
{
    const __m256i *w = t->right;
    __m256i acc[ASSAY_DEPTHWISE / 8];
#pragma GCC unroll 8
    for (int j = 0; j < ASSAY_DEPTHWISE / 8; j++)
        acc[j] = _mm256_loadu_si256((const __m256i *)t->start + j);
    for (int64_t k = 0; k < t->n_taps; k++, w += ASSAY_DEPTHWISE / 16) {
        const __m128i *x = (const __m128i *)(t->left + t->tap[k]), *v = (const __m128i *)w;
#pragma GCC unroll 8
        for (int j = 0; j < ASSAY_DEPTHWISE / 8; j++)
            acc[j] = _mm256_add_epi32(
                acc[j], _mm256_mullo_epi32(_mm256_cvtepi16_epi32(_mm_loadu_si128(x + j)),
                                           _mm256_cvtepi16_epi32(_mm_load_si128(v + j))));
    }
#pragma GCC unroll 8
    for (int j = 0; j < ASSAY_DEPTHWISE / 8; j++)
        _mm256_storeu_si256((__m256i *)t->acc + j, acc[j]);
}

const assay_isa_kernels fast_isa_avx2 = {.isa = ASSAY_ISA_AVX2,
                                         .name = "avx2",
                                         .rows = ROWS,
                                         .columns = ASSAY_TILE_STEP,
                                         .words = avx2_tile_words,
                                         .word_taps = avx2_depthwise_taps,
                                         .rows_of_bytes = &fast_rows_avx2};
