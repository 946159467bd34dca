/* Per-channel affine maps y = a[c] * x + b[c], recognised in a node. Internal to opt/. */
#ifndef ASSAY_OPT_AFFINE_H
#define ASSAY_OPT_AFFINE_H

#include "opt/lower/pass.h"

typedef struct assay_affine {
    int64_t channels;
    double *a, *b; /* malloc'd; free with lower_affine_free */
} assay_affine;

/* Recognises node n as an affine map of its input *x along dimension `axis` of its output: a
 * BatchNorm with constant parameters, or add, sub, mul, div with a constant that varies along that
 * axis only. *found is false, and nothing allocated, when it is not one. */
assay_status lower_affine_match(const assay_graph *g, const assay_node *n, int axis, int *x,
                                assay_affine *map, bool *found, assay_error *err);
void lower_affine_free(assay_affine *map);

/* Channel dimension of a tensor of this rank. */
static inline int lower_channel_axis(int layout, int rank)
{
    return layout == ASSAY_LAYOUT_NHWC ? rank - 1 : 1;
}

#endif
