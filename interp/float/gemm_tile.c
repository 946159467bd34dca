/* The tile in portable C, and which tile this machine runs. */
#include "interp/float/gemm_tile.h"

#include <math.h>

void float_gemm_tile_portable(const float *a, int64_t down, int64_t along, const float *panel,
                              int64_t depth, int rows, float *sums)
{
    for (int r = 0; r < rows; r++, sums += TILE_COLUMNS) {
        for (int j = 0; j < TILE_COLUMNS; j++)
            sums[j] = 0;
        for (int64_t k = 0; k < depth; k++)
            for (int j = 0; j < TILE_COLUMNS; j++)
                sums[j] = fmaf(a[r * down + k * along], panel[k * TILE_COLUMNS + j], sums[j]);
    }
}

float_gemm_tile float_gemm_tile_choose(void)
{
#ifdef ASSAY_X86
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return float_gemm_tile_fma;
#endif
    return float_gemm_tile_portable;
}
