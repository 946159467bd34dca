/* The tile with AVX2 and FMA: six rows of two vectors of sums stay in registers. */
#include "interp/float/gemm_tile.h"

#include <immintrin.h>

enum { WIDTH = 8, ROWS = 6 };

/* A row of c, whole or as far as the tile goes. */
static inline void store(const float_tile *t, int row, __m256 left, __m256 right)
{
    float *c = t->c + row * t->ldc, sum[2 * WIDTH];

    if (t->columns == 2 * WIDTH) {
        if (t->add) {
            left = _mm256_add_ps(left, _mm256_loadu_ps(c));
            right = _mm256_add_ps(right, _mm256_loadu_ps(c + WIDTH));
        }
        _mm256_storeu_ps(c, left);
        _mm256_storeu_ps(c + WIDTH, right);
        return;
    }
    _mm256_storeu_ps(sum, left);
    _mm256_storeu_ps(sum + WIDTH, right);
    for (int j = 0; j < t->columns; j++)
        c[j] = t->add ? sum[j] + c[j] : sum[j];
}

/* `rows` is a constant where this is inlined, and the loops over it unroll. */
static inline __attribute__((always_inline)) void tile(const float_tile *t, const int rows)
{
    const float *a = t->a;
    __m256 left[ROWS], right[ROWS];

    for (int r = 0; r < rows; r++)
        left[r] = right[r] = _mm256_setzero_ps();
    for (int64_t k = 0; k < t->depth; k++, a += t->along) {
        const float *b = t->b + t->at[k];
        const __m256 b0 = _mm256_loadu_ps(b), b1 = _mm256_loadu_ps(b + WIDTH);
        for (int r = 0; r < rows; r++) {
            const __m256 x = _mm256_broadcast_ss(a + r * t->down);
            left[r] = _mm256_fmadd_ps(x, b0, left[r]);
            right[r] = _mm256_fmadd_ps(x, b1, right[r]);
        }
    }
    for (int r = 0; r < rows; r++)
        store(t, r, left[r], right[r]);
}

static void run(const float_tile *t)
{
    switch (t->rows) {
    case 1:
        tile(t, 1);
        return;
    case 2:
        tile(t, 2);
        return;
    case 3:
        tile(t, 3);
        return;
    case 4:
        tile(t, 4);
        return;
    case 5:
        tile(t, 5);
        return;
    default:
        tile(t, ROWS);
    }
}

const float_tiles float_tiles_fma = {ROWS, 2 * WIDTH, run};
