/* A graph that is built anew in the other layout. Internal to graph/layout/. */
#ifndef ASSAY_GRAPH_LAYOUT_CHANGE_H
#define ASSAY_GRAPH_LAYOUT_CHANGE_H

#include "graph/core/graph.h"

enum assay_order { ASSAY_ORDER_OLD, ASSAY_ORDER_NEW };

typedef struct assay_layout_change {
    const assay_graph *from;
    assay_graph *to;
    enum assay_layout layout; /* the new one */
    const int *there, *back;  /* permutations from the old order to the new, and back */
    const char *suffix[2];    /* of a name in either order, where it is taken */
    int *at[2];               /* of from's values: their index in `to` in either order; -1: none */
    assay_error *err;
} assay_layout_change;

/* ---- values.c; perm[i] is the source's axis ---- */

/* Are the elements in the same order either way? Axes of more than one index do not overtake. */
bool layout_same_order(const assay_type *t, const int *perm);
/* Constant v, which is `t`, permuted. */
assay_status layout_constant(const assay_layout_change *c, int v, const assay_type *t,
                             const int *perm, const char *suffix, int *out);
/* A transpose (a reshape, where no element changes places) of value `x`, which is `t`, named after
 * v. */
assay_status layout_transpose(const assay_layout_change *c, int v, int x, const assay_type *t,
                              const int *perm, const char *suffix, int *out);
/* Value v in the given order. */
assay_status layout_value(const assay_layout_change *c, int v, enum assay_order order, int *out);
/* A node's result. What the network gives out keeps its name for the order that it has there. */
assay_status layout_result(const assay_layout_change *c, int v, enum assay_order order, int *out);

#endif
