/* Tensors as pictures: stacks of planes. */
#ifndef ASSAY_INTERP_PLANES_H
#define ASSAY_INTERP_PLANES_H

#include "graph/core/type.h"

/* A tensor as n planes of height lines of width elements: element (p, y, x) stands at p * plane +
 * y * line + x * step. */
typedef struct page_planes {
    int64_t n, height, width, plane, line, step;
} page_planes;

/* Of rank 4 with channels last one plane per channel, the batch's below each other; else the last
 * two dimensions are a plane; a matrix is one. */
page_planes page_planes_of(const assay_type *t, bool channels_last);
static inline int64_t page_planes_at(const page_planes *p, int64_t plane, int64_t y, int64_t x)
{
    return plane * p->plane + y * p->line + x * p->step;
}

#endif
