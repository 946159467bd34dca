/* The inner loops in plain C: words only. */
#include <string.h>

#include "interp/fast/isa.h"

enum { ROWS = 4 };

static void portable_tile_words(const assay_tile *t, int rows, int columns)
{
    const int16_t *b = t->right;
    (void)columns; /* always ASSAY_TILE_STEP */
    for (int i = 0; i < rows; i++)
        memcpy(t->acc + i * ASSAY_TILE_COLUMNS, t->start, ASSAY_TILE_STEP * sizeof *t->acc);
    for (int64_t r = 0; r < t->n_runs; r++)
        for (int64_t u = 0; u < t->run_units; u++, b += 2 * ASSAY_TILE_STEP)
            for (int i = 0; i < rows; i++) {
                int32_t *acc = t->acc + i * ASSAY_TILE_COLUMNS;
                int16_t x[2];
                memcpy(x, t->left + t->row[i] + t->run[r] + u * ASSAY_UNIT, sizeof x);
                for (int j = 0; j < ASSAY_TILE_STEP; j++) {
                    uint32_t pair = (uint32_t)(x[0] * b[2 * j]) + (uint32_t)(x[1] * b[2 * j + 1]);
                    acc[j] = (int32_t)((uint32_t)acc[j] + pair);
                }
            }
}

static void portable_depthwise_taps(const assay_taps *t)
{
    const int16_t *w = t->right;
    memcpy(t->acc, t->start, ASSAY_DEPTHWISE * sizeof *t->acc);
    for (int64_t k = 0; k < t->n_taps; k++, w += ASSAY_DEPTHWISE) {
        int16_t x[ASSAY_DEPTHWISE];
        memcpy(x, t->left + t->tap[k], sizeof x);
        for (int c = 0; c < ASSAY_DEPTHWISE; c++)
            t->acc[c] = (int32_t)((uint32_t)t->acc[c] + (uint32_t)(x[c] * w[c]));
    }
}

const assay_isa_kernels fast_isa_portable = {.isa = ASSAY_ISA_PORTABLE,
                                             .name = "portable",
                                             .rows = ROWS,
                                             .columns = ASSAY_TILE_STEP,
                                             .words = portable_tile_words,
                                             .word_taps = portable_depthwise_taps,
                                             .rows_of_bytes = &fast_rows_portable};
