/* Walking several inputs under numpy's broadcasting, row by row.
 *
 *     assay_broadcast b;
 *     for (bool row = move_broadcast_begin(&b, out, in, 2); row; row = move_broadcast_next(&b))
 *         for (int64_t i = 0; i < b.columns; i++)
 *             out[b.at_out + i] = f(x[b.at[0] + i * b.step[0]], y[b.at[1] + i * b.step[1]]);
 *
 * Axes that every input walks contiguously are joined, so a row is as long as it can be. */
#ifndef ASSAY_INTERP_MOVE_BROADCAST_H
#define ASSAY_INTERP_MOVE_BROADCAST_H

#include "interp/kernel/kernel.h"

#define ASSAY_BROADCAST_IN 3

typedef struct assay_broadcast {
    int64_t columns;                  /* elements in a row */
    int64_t step[ASSAY_BROADCAST_IN]; /* of each input along a row: 0 or 1 */
    int64_t at[ASSAY_BROADCAST_IN];   /* of each input: element where the row begins */
    int64_t at_out;                   /* of the output likewise */

    int n_in, rank; /* the axes outside a row */
    int64_t dim[ASSAY_MAX_RANK], index[ASSAY_MAX_RANK];
    int64_t outer[ASSAY_BROADCAST_IN][ASSAY_MAX_RANK];
} assay_broadcast;

/* Places the walk at the first row; false when the output is empty. Shapes are as the verifier
 * leaves them: each input broadcasts to `out`. */
bool move_broadcast_begin(assay_broadcast *b, const assay_type *out, const assay_view *in,
                          int n_in);
/* To the next row; false after the last. */
bool move_broadcast_next(assay_broadcast *b);

#endif
