/* The inner loop of a matrix product: a tile of sums over one block of the depth, each fused and in
 * order. One form per instruction set, all with the same bits. */
#ifndef ASSAY_INTERP_FLOAT_GEMM_TILE_H
#define ASSAY_INTERP_FLOAT_GEMM_TILE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TILE_ROWS = 8,     /* the most of any instruction set */
    TILE_COLUMNS = 48, /* a multiple of TILE_STEP */
    TILE_STEP = 16,    /* b is readable up to a multiple of this many columns */
};

/* sum[r][j] = sum over k of a[r*down + k*along] * b[at[k] + j], s = fma(a, b, s) from 0;
 * c[r*ldc + j] = sum[r][j], or with `add` sum[r][j] + c[r*ldc + j]. No byte beyond `rows` rows of
 * `columns` columns of c is touched. */
typedef struct float_tile {
    const float *a, *b;
    const float *next; /* a of the tile that follows: worth fetching ahead */
    const int64_t *at;
    float *c;
    int64_t down, along, ldc, depth;
    int rows, columns;
    bool add;
} float_tile;

/* The largest tile of an instruction set, at most TILE_ROWS by TILE_COLUMNS, and the function that
 * computes it or a smaller one. */
typedef struct float_tiles {
    int rows, columns;
    void (*run)(const float_tile *t);
} float_tiles;

extern const float_tiles float_tiles_portable; /* any machine (gemm_tile.c) */
extern const float_tiles float_tiles_fma;      /* AVX2 and FMA (gemm_fma.c) */
extern const float_tiles float_tiles_avx512;   /* AVX-512 (gemm_avx512.c) */

/* The widest that this machine has (gemm_tile.c). */
const float_tiles *float_tiles_choose(void);

#endif
