/* Tensors that are others with their axes in another order: a device's layout. */
#ifndef ASSAY_INTERP_GOLDEN_PERMUTED_H
#define ASSAY_INTERP_GOLDEN_PERMUTED_H

#include "graph/core/type.h"

/* Whether all elements of b are a's with its axes permuted: axis i of b is a's axis perm[i].
 * Channels last of channels first, and the reverse, are tried before any other order. The shape of
 * b is that, axes of one element aside, or a's own (as where a file says none); of any other shape
 * the elements may be a's in their own order. */
bool golden_permuted_find(const assay_type *ta, const void *a, const assay_type *tb, const void *b,
                          int *perm);
/* "as channels last", "as channels first", "in another shape", or else "with axes 0,2,1", which
 * `room` is for. */
const char *golden_permuted_name(int rank, const int *perm, char *room, size_t size);
/* Whether it is one of the first two, which blame reads. */
bool golden_permuted_is_layout(int rank, const int *perm);

#endif
