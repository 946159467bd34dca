/* The tile with AVX2 and FMA: TILE_ROWS rows of two vectors of sums stay in registers. */
#include "interp/float/gemm_tile.h"

#include <immintrin.h>

#define WIDTH 8

/* `rows` is a constant where this is inlined, and the loops over it unroll. */
static inline __attribute__((always_inline)) void tile(const float *a, int64_t down, int64_t along,
                                                       const float *panel, int64_t depth,
                                                       const int rows, float *sums)
{
    __m256 left[TILE_ROWS], right[TILE_ROWS];
    for (int r = 0; r < rows; r++)
        left[r] = right[r] = _mm256_setzero_ps();
    for (int64_t k = 0; k < depth; k++, a += along, panel += TILE_COLUMNS) {
        const __m256 b0 = _mm256_loadu_ps(panel), b1 = _mm256_loadu_ps(panel + WIDTH);
        for (int r = 0; r < rows; r++) {
            const __m256 x = _mm256_broadcast_ss(a + r * down);
            left[r] = _mm256_fmadd_ps(x, b0, left[r]);
            right[r] = _mm256_fmadd_ps(x, b1, right[r]);
        }
    }
    for (int r = 0; r < rows; r++) {
        _mm256_storeu_ps(sums + r * TILE_COLUMNS, left[r]);
        _mm256_storeu_ps(sums + r * TILE_COLUMNS + WIDTH, right[r]);
    }
}

void float_gemm_tile_fma(const float *a, int64_t down, int64_t along, const float *panel,
                         int64_t depth, int rows, float *sums)
{
    switch (rows) {
    case 1:
        tile(a, down, along, panel, depth, 1, sums);
        return;
    case 2:
        tile(a, down, along, panel, depth, 2, sums);
        return;
    case 3:
        tile(a, down, along, panel, depth, 3, sums);
        return;
    case 4:
        tile(a, down, along, panel, depth, 4, sums);
        return;
    case 5:
        tile(a, down, along, panel, depth, 5, sums);
        return;
    default:
        tile(a, down, along, panel, depth, TILE_ROWS, sums);
    }
}
