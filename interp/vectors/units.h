/* A dot product on which two matrix units differ, as small as possible. */
#ifndef ASSAY_INTERP_VECTORS_UNITS_H
#define ASSAY_INTERP_VECTORS_UNITS_H

#include "schemes/mac/mac.h"

/* One row of patterns, a number each. */
typedef struct vectors_dot {
    size_t k, blocks;
    uint64_t *a, *b, c, *scale_a, *scale_b;
    uint64_t d[2]; /* what each unit gives */
    size_t drawn;  /* rows that were tried */
} vectors_dot;

/* Why no row fits both, in words, or NULL. */
const char *vectors_units_unlike(const assay_mac *a, const assay_mac *b);

/* Draws rows, of no product and of few first, until the units differ, and makes that row smaller
 * while they do. *found false: no row of those drawn. Free the row with vectors_dot_free. */
assay_status vectors_units_apart(const assay_mac *a, const assay_mac *b, uint64_t seed,
                                 vectors_dot *out, bool *found, assay_error *err);
void vectors_dot_free(vectors_dot *d);

#endif
