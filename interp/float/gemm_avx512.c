/* The tile with AVX-512: eight rows of three vectors of sums stay in registers. */
#include "interp/float/gemm_tile.h"

#include <assert.h>
#include <immintrin.h>

enum {
    WIDTH = 16,
    VECTORS = TILE_COLUMNS / WIDTH,
    LINE = 16, /* floats of a line of the cache */
};

/* `rows` and `vectors` are constants where this is inlined, and the loops over them unroll. */
static inline __attribute__((always_inline)) void tile(const float_tile *t, const int rows,
                                                       const int vectors)
{
    assert(t->columns > WIDTH * (vectors - 1) && t->columns <= WIDTH * vectors);
    const __mmask16 last = (__mmask16)(0xFFFFU >> (WIDTH * vectors - t->columns));
    const float *a = t->a, *next = t->next;
    __m512 sum[TILE_ROWS][VECTORS];

    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++)
            sum[r][v] = _mm512_setzero_ps();
    for (int64_t first = 0; first < t->depth; first += LINE, next += LINE) {
        const int64_t end = first + LINE < t->depth ? first + LINE : t->depth;
        for (int r = 0; r < rows; r++)
            _mm_prefetch(next + r * t->down, _MM_HINT_T0);
        for (int64_t k = first; k < end; k++, a += t->along) {
            const float *b = t->b + t->at[k];
            __m512 x[VECTORS];
            for (int v = 0; v < vectors; v++)
                x[v] = _mm512_loadu_ps(b + v * WIDTH);
            for (int r = 0; r < rows; r++) {
                const __m512 w = _mm512_set1_ps(a[r * t->down]);
                for (int v = 0; v < vectors; v++)
                    sum[r][v] = _mm512_fmadd_ps(w, x[v], sum[r][v]);
            }
        }
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++) {
            float *c = t->c + r * t->ldc + v * WIDTH;
            const __mmask16 mask = v == vectors - 1 ? last : (__mmask16)0xFFFF;
            if (t->add)
                sum[r][v] = _mm512_add_ps(sum[r][v], _mm512_maskz_loadu_ps(mask, c));
            _mm512_mask_storeu_ps(c, mask, sum[r][v]);
        }
}

static inline __attribute__((always_inline)) void of_rows(const float_tile *t, const int rows)
{
    if (t->columns > 2 * WIDTH)
        tile(t, rows, 3);
    else if (t->columns > WIDTH)
        tile(t, rows, 2);
    else
        tile(t, rows, 1);
}

static void run(const float_tile *t)
{
    switch (t->rows) {
    case 1:
        of_rows(t, 1);
        return;
    case 2:
        of_rows(t, 2);
        return;
    case 3:
        of_rows(t, 3);
        return;
    case 4:
        of_rows(t, 4);
        return;
    case 5:
        of_rows(t, 5);
        return;
    case 6:
        of_rows(t, 6);
        return;
    case 7:
        of_rows(t, 7);
        return;
    default:
        of_rows(t, TILE_ROWS);
    }
}

const float_tiles float_tiles_avx512 = {TILE_ROWS, TILE_COLUMNS, run};
