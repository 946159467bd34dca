/* Layouts of dumps: their shapes beside the golden tensors'. */
#ifndef ASSAY_INTERP_BLAME_LAYOUT_H
#define ASSAY_INTERP_BLAME_LAYOUT_H

#include "graph/core/type.h"

/* perm[i]: the golden axis that the dump's axis i is. last: channels last of channels first; else
 * the reverse. Whether `found` is golden's shape so permuted. */
bool blame_layout_is(const assay_type *golden, const assay_type *found, bool last, int *perm);
/* 1 and 0: which of the two it is; -1: neither. */
int blame_layout_find(const assay_type *golden, const assay_type *found, int *perm);
/* Equal but for dimensions of 1, and not in another layout. */
bool blame_layout_same(const assay_type *a, const assay_type *b);
/* The dump's elements in the golden's order, of golden's element type; malloc'd, NULL: out of
 * memory. */
void *blame_layout_transpose(const assay_type *golden, const assay_type *found, const int *perm,
                             const char *from);
#endif
