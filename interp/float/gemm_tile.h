/* The inner loop of a matrix product: a tile of sums over one block of the depth, each fused and in
 * order. One function for machines with fused multiply-add, and one for all. */
#ifndef ASSAY_INTERP_FLOAT_GEMM_TILE_H
#define ASSAY_INTERP_FLOAT_GEMM_TILE_H

#include <stdint.h>

enum {
    TILE_ROWS = 6,
    TILE_COLUMNS = 16,
    TILE_DEPTH = 1024, /* the greatest block */
};

/* sums[r][j] = sum over k of a[r*down + k*along] * panel[k][j], s = fma(a, b, s) from 0. */
typedef void (*float_gemm_tile)(const float *a, int64_t down, int64_t along, const float *panel,
                                int64_t depth, int rows, float *sums);

/* Any machine (gemm_tile.c). */
void float_gemm_tile_portable(const float *a, int64_t down, int64_t along, const float *panel,
                              int64_t depth, int rows, float *sums);
/* AVX2 and FMA (gemm_fma.c). */
void float_gemm_tile_fma(const float *a, int64_t down, int64_t along, const float *panel,
                         int64_t depth, int rows, float *sums);

/* The best that this machine has; the same bits from each (gemm_tile.c). */
float_gemm_tile float_gemm_tile_choose(void);

#endif
