/* Matrices transposed in tiles; see transpose_tile.h. */
#include "interp/fast/transpose_tile.h"

#include "interp/fast/fast.h"

typedef struct transposition {
    const uint8_t *from;
    uint8_t *to;
    int64_t rows, columns;
} transposition;

/* Tiles of 16 columns. */
static void transpose_columns(void *user, int64_t tile)
{
    const transposition *t = user;
    const int64_t down = (t->rows + ASSAY_TRANSPOSE_TILE - 1) / ASSAY_TRANSPOSE_TILE,
                  c = fast_transpose_tile_at(tile, t->columns);
    for (int64_t i = 0; i < down; i++) {
        const int64_t r = fast_transpose_tile_at(i, t->rows);
        assay_v16 v[ASSAY_TRANSPOSE_TILE];
        fast_transpose_load(t->from + r * t->columns + c, t->columns, v);
        for (int k = 0; k < ASSAY_TRANSPOSE_TILE; k++)
            memcpy(t->to + (c + k) * t->rows + r, &v[k], sizeof v[k]);
    }
}

void fast_transpose_bytes(const uint8_t *from, int64_t rows, int64_t columns, uint8_t *to,
                          int threads)
{
    transposition t = {from, to, rows, columns};
    if (rows >= ASSAY_TRANSPOSE_TILE && columns >= ASSAY_TRANSPOSE_TILE) {
        fast_each(fast_threads(threads, rows * columns / 8),
                  (columns + ASSAY_TRANSPOSE_TILE - 1) / ASSAY_TRANSPOSE_TILE, transpose_columns,
                  &t);
        return;
    }
    for (int64_t c = 0; c < columns; c++)
        for (int64_t r = 0; r < rows; r++)
            to[c * rows + r] = from[r * columns + c];
}

/* ---- elements of more than a byte ---- */

typedef uint16_t words __attribute__((vector_size(16)));
typedef uint32_t longs __attribute__((vector_size(16)));

static inline void transpose_words(words v[8])
{
    for (int round = 0; round < 3; round++) {
        words t[8];
        for (int i = 0; i < 4; i++) {
            t[2 * i] = __builtin_shufflevector(v[i], v[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
            t[2 * i + 1] = __builtin_shufflevector(v[i], v[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
        }
        memcpy(v, t, sizeof t);
    }
}

static inline void transpose_longs(longs v[4])
{
    for (int round = 0; round < 2; round++) {
        longs t[4];
        for (int i = 0; i < 2; i++) {
            t[2 * i] = __builtin_shufflevector(v[i], v[i + 2], 0, 4, 1, 5);
            t[2 * i + 1] = __builtin_shufflevector(v[i], v[i + 2], 2, 6, 3, 7);
        }
        memcpy(v, t, sizeof t);
    }
}

typedef struct cells {
    const char *from;
    char *to;
    int64_t rows, columns;
} cells;

/* Columns of the input by N at a time, as tiles of N rows; what is no whole tile one by one. */
#define BAND(name, T, V, N, transpose)                                                             \
    static void name(void *user, int64_t band)                                                     \
    {                                                                                              \
        const cells *t = user;                                                                     \
        const T *from = (const T *)t->from;                                                        \
        T *to = (T *)t->to;                                                                        \
        const int64_t first = band * N, rest = t->columns - first;                                 \
        const int64_t last = first + (rest < N ? rest : N),                                        \
                      whole = rest < N ? 0 : t->rows / N * N;                                      \
        for (int64_t r = 0; r < whole; r += N) {                                                   \
            V v[N];                                                                                \
            for (int i = 0; i < N; i++)                                                            \
                memcpy(&v[i], from + (r + i) * t->columns + first, sizeof v[i]);                   \
            transpose(v);                                                                          \
            for (int i = 0; i < N; i++)                                                            \
                memcpy(to + (first + i) * t->rows + r, &v[i], sizeof v[i]);                        \
        }                                                                                          \
        for (int64_t c = first; c < last; c++)                                                     \
            for (int64_t r = whole; r < t->rows; r++)                                              \
                to[c * t->rows + r] = from[r * t->columns + c];                                    \
    }

typedef struct pair_of_quads {
    uint64_t v[2];
} quads;

static inline void transpose_quads(quads v[2])
{
    const uint64_t x = v[0].v[1];
    v[0].v[1] = v[1].v[0];
    v[1].v[0] = x;
}

BAND(band_words, uint16_t, words, 8, transpose_words)
BAND(band_longs, uint32_t, longs, 4, transpose_longs)
BAND(band_quads, uint64_t, quads, 2, transpose_quads)

void fast_transpose_cells(const void *from, int64_t rows, int64_t columns, int size, void *to,
                          int threads)
{
    cells t = {from, to, rows, columns};
    if (size == 1) {
        fast_transpose_bytes(from, rows, columns, to, threads);
        return;
    }
    const int64_t wide = 16 / size; /* of a band */
    fast_each(fast_threads(threads, rows * columns / 4), (columns + wide - 1) / wide,
              size == 2   ? band_words
              : size == 4 ? band_longs
                          : band_quads,
              &t);
}
