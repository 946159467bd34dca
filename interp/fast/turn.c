#include "interp/fast/turn.h"

#include "interp/fast/fast.h"

typedef struct turning {
    const uint8_t *from;
    uint8_t *to;
    int64_t rows, columns;
} turning;

/* Tiles of 16 columns. */
static void turn_columns(void *user, int64_t tile)
{
    const turning *t = user;
    const int64_t down = (t->rows + ASSAY_TURN - 1) / ASSAY_TURN,
                  c = assay_turn_at(tile, t->columns);
    for (int64_t i = 0; i < down; i++) {
        const int64_t r = assay_turn_at(i, t->rows);
        assay_v16 v[ASSAY_TURN];
        assay_turn_load(t->from + r * t->columns + c, t->columns, v);
        for (int k = 0; k < ASSAY_TURN; k++)
            memcpy(t->to + (c + k) * t->rows + r, &v[k], sizeof v[k]);
    }
}

void assay_transpose_bytes(const uint8_t *from, int64_t rows, int64_t columns, uint8_t *to,
                           int threads)
{
    turning t = {from, to, rows, columns};
    if (rows >= ASSAY_TURN && columns >= ASSAY_TURN) {
        assay_fast_each(assay_fast_threads(threads, rows * columns / 8),
                        (columns + ASSAY_TURN - 1) / ASSAY_TURN, turn_columns, &t);
        return;
    }
    for (int64_t c = 0; c < columns; c++)
        for (int64_t r = 0; r < rows; r++)
            to[c * rows + r] = from[r * columns + c];
}
