/* Broadcasting: an input is aligned at its last axis; an axis of extent 1 is walked with step 0. */
#include "interp/move/broadcast.h"

#include <string.h>

/* Joins axis d + 1 into axis d where every input walks both as one. */
static bool joins(const assay_broadcast *b, int d)
{
    for (int k = 0; k < b->n_in; k++)
        if (b->outer[k][d] != b->outer[k][d + 1] * b->dim[d + 1])
            return false;
    return true;
}

static void join_axes(assay_broadcast *b)
{
    int top = 0; /* axes 0..top are settled */
    for (int d = 1; d < b->rank; d++) {
        for (int k = 0; k < b->n_in; k++)
            b->outer[k][top + 1] = b->outer[k][d];
        b->dim[top + 1] = b->dim[d];
        if (!joins(b, top)) {
            top++;
            continue;
        }
        b->dim[top] *= b->dim[top + 1];
        for (int k = 0; k < b->n_in; k++)
            b->outer[k][top] = b->outer[k][top + 1];
    }
    b->rank = b->rank ? top + 1 : 0;
}

bool move_broadcast_begin(assay_broadcast *b, const assay_type *out, const assay_view *in, int n_in)
{
    memset(b, 0, sizeof *b);
    b->n_in = n_in;
    /* Axes of extent 1 in the output are left out. */
    for (int d = 0; d < out->rank; d++) {
        if (out->dim[d] == 0)
            return false;
        if (out->dim[d] == 1)
            continue;
        for (int k = 0; k < n_in; k++) {
            const assay_type *t = in[k].type;
            int from_end = out->rank - d, own = t->rank - from_end;
            int64_t step = 1;
            for (int e = own + 1; own >= 0 && e < t->rank; e++)
                step *= t->dim[e];
            b->outer[k][b->rank] = own < 0 || t->dim[own] == 1 ? 0 : step;
        }
        b->dim[b->rank++] = out->dim[d];
    }
    join_axes(b);
    b->columns = 1;
    if (b->rank > 0) {
        b->rank--;
        b->columns = b->dim[b->rank];
        for (int k = 0; k < n_in; k++)
            b->step[k] = b->outer[k][b->rank];
    }
    return true;
}

bool move_broadcast_next(assay_broadcast *b)
{
    b->at_out += b->columns;
    for (int d = b->rank - 1; d >= 0; d--) {
        for (int k = 0; k < b->n_in; k++)
            b->at[k] += b->outer[k][d];
        if (++b->index[d] < b->dim[d])
            return true;
        for (int k = 0; k < b->n_in; k++)
            b->at[k] -= b->outer[k][d] * b->dim[d];
        b->index[d] = 0;
    }
    return false;
}
