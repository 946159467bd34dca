/* Shapes of dumps beside the golden tensors'; see layout.h. */
#include "interp/blame/layout.h"

#include <stdlib.h>
#include <string.h>

#include "interp/golden/permuted.h"

static bool is_permuted(const assay_type *golden, const assay_type *found, const int *perm)
{
    for (int i = 0; i < golden->rank; i++)
        if (found->dim[i] != golden->dim[perm[i]])
            return false;
    return true;
}

/* The shape with the batch dimension of 1 that a dump of one sample may lack. */
static assay_type with_batch(const assay_type *golden, const assay_type *found)
{
    assay_type t = *found;
    if (golden->rank < 4 || golden->dim[0] != 1 || found->rank != golden->rank - 1)
        return t;
    for (int i = t.rank++; i > 0; i--)
        t.dim[i] = t.dim[i - 1];
    t.dim[0] = 1;
    return t;
}

bool blame_layout_is(const assay_type *golden, const assay_type *found, bool last, int *perm)
{
    const int rank = golden->rank;
    const assay_type whole = with_batch(golden, found);
    return whole.rank == rank &&
           golden_permuted_axes(rank, last ? GOLDEN_LAST : GOLDEN_FIRST, perm) &&
           is_permuted(golden, &whole, perm);
}

int blame_layout_find(const assay_type *golden, const assay_type *found, int *perm)
{
    return blame_layout_is(golden, found, true, perm)    ? 1
           : blame_layout_is(golden, found, false, perm) ? 0
                                                         : -1;
}

bool blame_layout_same(const assay_type *a, const assay_type *b)
{
    int i = 0, j = 0, perm[ASSAY_MAX_RANK];
    const assay_type whole = with_batch(a, b);
    if (!assay_shape_equal(a, &whole) && blame_layout_find(a, b, perm) >= 0)
        return false; /* [1,16,1,16] as [1,1,16,16] */
    while (i < a->rank || j < b->rank) {
        if (i < a->rank && a->dim[i] == 1)
            i++;
        else if (j < b->rank && b->dim[j] == 1)
            j++;
        else if (i < a->rank && j < b->rank && a->dim[i] == b->dim[j])
            i++, j++;
        else
            return false;
    }
    return true;
}

void *blame_layout_transpose(const assay_type *golden, const assay_type *found, const int *perm,
                             const char *from)
{
    const size_t width = assay_elem_size(golden->elem);
    const int64_t n = assay_shape_count(golden);
    const assay_type whole = with_batch(golden, found);
    int64_t step[ASSAY_MAX_RANK], stride = 1;
    char *to = malloc((size_t)n * width + 64);
    for (int i = golden->rank - 1; i >= 0; i--) {
        step[i] = stride;
        stride *= golden->dim[i];
    }
    for (int64_t k = 0; k < n && to; k++) {
        int64_t rest = k, at = 0;
        for (int i = whole.rank - 1; i >= 0; i--) {
            at += rest % whole.dim[i] * step[perm[i]];
            rest /= whole.dim[i];
        }
        memcpy(to + (size_t)at * width, from + (size_t)k * width, width);
    }
    return to;
}
