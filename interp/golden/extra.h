/* Tensors that only the second side of a comparison has: nothing was compared with it. */
#ifndef ASSAY_INTERP_GOLDEN_EXTRA_H
#define ASSAY_INTERP_GOLDEN_EXTRA_H

#include <stdio.h>

#include "interp/golden/dumps.h"

/* A new array of names: dumps, below their folder, that are of no tensor of the bundle `a` (nor,
 * with `masks`, of the mask of one). NULL when out of memory. */
json_t *golden_extra_dumps(const assay_dumps *d, const assay_bundle *a, bool masks);
/* The same for a bundle's tensors, whose names and samples `a` lacks. */
json_t *golden_extra_tensors(const assay_bundle *b, const assay_bundle *a);
/* A new array of what was not read of the others, each a name and the reason: "NAME: of this tensor
 * another file was read". Asked when all has been read. */
json_t *golden_extra_unread(const assay_dumps *d, const assay_bundle *a, bool masks);
/* A line each, where there are any, with the first names. NULL is none. */
void golden_extra_print(const json_t *names, const json_t *unread, FILE *f);

#endif
