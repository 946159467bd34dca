/* The tile in portable C, and which tile this machine runs. */
#include "interp/float/gemm_tile.h"

#include <math.h>

static void run(const float_tile *t)
{
    for (int r = 0; r < t->rows; r++) {
        const float *a = t->a + r * t->down;
        float *c = t->c + r * t->ldc, sum[TILE_STEP] = {0};
        for (int64_t k = 0; k < t->depth; k++, a += t->along)
            for (int j = 0; j < t->columns; j++)
                sum[j] = fmaf(*a, t->b[t->at[k] + j], sum[j]);
        for (int j = 0; j < t->columns; j++)
            c[j] = t->add ? sum[j] + c[j] : sum[j];
    }
}

const float_tiles float_tiles_portable = {1, TILE_STEP, run};

const float_tiles *float_tiles_choose(void)
{
#ifdef ASSAY_X86
    if (__builtin_cpu_supports("avx512f"))
        return &float_tiles_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &float_tiles_fma;
#endif
    return &float_tiles_portable;
}
