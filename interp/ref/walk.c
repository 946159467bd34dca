/* Walking some axes of a tensor, row by row; see walk.h. */
#include <assert.h>

#include "interp/ref/walk.h"

/* Adds an axis outside those already there; the first becomes the row. An axis that goes on where
 * the one inside it ends is the same loop. */
static void add_axis(assay_walk *w, int64_t extent, int64_t step)
{
    int64_t *inner = w->rank ? &w->dim[w->rank - 1] : &w->row;
    int64_t inner_step = w->rank ? w->step[w->rank - 1] : w->row_step;
    if (w->rank == 0 && w->row == 1) {
        w->row = extent;
        w->row_step = step;
    } else if (step == inner_step * *inner) {
        *inner *= extent;
    } else {
        assert(w->rank < ASSAY_MAX_RANK);
        w->dim[w->rank] = extent;
        w->step[w->rank] = step;
        w->rank++;
    }
}

assay_walk ref_walk_axes(const assay_type *t, const bool chosen[ASSAY_MAX_RANK])
{
    assay_walk w = {.row = 1};
    int64_t stride = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        if (chosen[i] && t->dim[i] == 0)
            return (assay_walk){.row = 0};
        if (chosen[i] && t->dim[i] > 1)
            add_axis(&w, t->dim[i], stride);
        stride *= t->dim[i];
    }
    return w;
}

bool ref_walk_next(assay_walk *w)
{
    for (int i = 0; i < w->rank; i++) {
        w->at += w->step[i];
        if (++w->index[i] < w->dim[i])
            return true;
        w->at -= w->step[i] * w->dim[i];
        w->index[i] = 0;
    }
    return false;
}
