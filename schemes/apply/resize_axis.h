/* Places on the input of the output indices of a resized axis. */
#ifndef ASSAY_SCHEMES_APPLY_RESIZE_AXIS_H
#define ASSAY_SCHEMES_APPLY_RESIZE_AXIS_H

#include "graph/core/graph.h"

/* The cells on both sides of a position, and how far it is from lo to hi in 2^-bits. */
typedef struct assay_linear_tap {
    int32_t lo, hi, fraction;
} assay_linear_tap;

/* The nearest input index of each of `out` output indices on an axis of `in` elements. */
void apply_nearest_indices(const assay_attr_resize *a, int axis, int64_t in, int64_t out,
                           int32_t *index);

/* The taps of each output index, with 1 to 15 fraction bits; axis -1 stands for an axis that is not
 * there (in = out = 1). */
void apply_linear_taps(const assay_attr_resize *a, int axis, int64_t in, int64_t out, unsigned bits,
                       assay_linear_tap *tap);

#endif
