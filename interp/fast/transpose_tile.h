/* Matrices transposed in tiles: channels first to last, and back. Bytes by 16 x 16, elements of 2
 * and 4 bytes by 8 x 8 and 4 x 4. */
#ifndef ASSAY_INTERP_FAST_TRANSPOSE_TILE_H
#define ASSAY_INTERP_FAST_TRANSPOSE_TILE_H

#include <stdint.h>
#include <string.h>

typedef uint8_t assay_v16 __attribute__((vector_size(16)));

enum { ASSAY_TRANSPOSE_TILE = 16 };

/* 16 x 16 bytes: four perfect shuffles of the rows. */
static inline void fast_transpose_16x16(assay_v16 v[ASSAY_TRANSPOSE_TILE])
{
    for (int round = 0; round < 4; round++) {
        assay_v16 t[ASSAY_TRANSPOSE_TILE];
        for (int i = 0; i < ASSAY_TRANSPOSE_TILE / 2; i++) {
            t[2 * i] = __builtin_shufflevector(v[i], v[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
                                               21, 6, 22, 7, 23);
            t[2 * i + 1] = __builtin_shufflevector(v[i], v[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                                   28, 13, 29, 14, 30, 15, 31);
        }
        memcpy(v, t, sizeof t);
    }
}

/* The first row of tile i of n rows: the last tile is moved back to lie inside, and writes some
 * bytes again. */
static inline int64_t fast_transpose_tile_at(int64_t i, int64_t n)
{
    return i * ASSAY_TRANSPOSE_TILE + ASSAY_TRANSPOSE_TILE <= n ? i * ASSAY_TRANSPOSE_TILE
                                                                : n - ASSAY_TRANSPOSE_TILE;
}

/* 16 rows of 16 bytes, `step` bytes apart: v[k] is column k. */
static inline void fast_transpose_load(const uint8_t *from, int64_t step,
                                       assay_v16 v[ASSAY_TRANSPOSE_TILE])
{
    for (int i = 0; i < ASSAY_TRANSPOSE_TILE; i++)
        memcpy(&v[i], from + i * step, sizeof v[i]);
    fast_transpose_16x16(v);
}

/* Bytes [rows][columns] to [columns][rows]. */
void fast_transpose_bytes(const uint8_t *from, int64_t rows, int64_t columns, uint8_t *to,
                          int threads);
/* The same for elements of `size` bytes: 1, 2, 4 or 8. */
void fast_transpose_cells(const void *from, int64_t rows, int64_t columns, int size, void *to,
                          int threads);

#endif
