/* Walking some axes of a tensor, row by row.
 *
 * A walk is a nest of loops over the chosen axes in C order; the innermost is the row, which the
 * caller walks. Axes that can be one loop are joined, so that rows are long.
 *
 *   do
 *       use w.row elements from w.at in steps of w.row_step;
 *   while (ref_walk_next(&w));
 *
 * A walk over no elements has one round with row 0. */
#ifndef ASSAY_INTERP_REF_WALK_H
#define ASSAY_INTERP_REF_WALK_H

#include "graph/core/graph.h"

typedef struct assay_walk {
    int64_t row, row_step, at;
    int rank; /* axes outside the row, innermost first */
    int64_t dim[ASSAY_MAX_RANK], step[ASSAY_MAX_RANK], index[ASSAY_MAX_RANK];
} assay_walk;

/* Over the axes of t for which chosen[axis] holds, the others standing at index 0. */
assay_walk ref_walk_axes(const assay_type *t, const bool chosen[ASSAY_MAX_RANK]);

/* On to the next row; false, and back at the first, after the last. */
bool ref_walk_next(assay_walk *w);

#endif
