/* The nodes of a network that schemes are compared on, one after another. */
#ifndef ASSAY_INTERP_DECIDE_WALK_H
#define ASSAY_INTERP_DECIDE_WALK_H

#include "interp/decide/domain.h"
#include "interp/decide/layers.h"

/* What is done with a node: all its rescales (their reason not to be decided in l->why), all its
 * operands, or, where those are too many (d->why), neither. */
typedef struct decide_visitor {
    void *user;
    /* Is the node skipped? It then counts as found. NULL: none is. */
    bool (*skips)(void *user, const assay_graph *g, const assay_node *n);
    assay_status (*layer)(void *user, const assay_graph *g, const decide_layer *l,
                          assay_error *err);
    assay_status (*domain)(void *user, const assay_graph *g, const decide_domain *d,
                           assay_error *err);
    assay_status (*neither)(void *user, const decide_domain *d, assay_error *err);
} decide_visitor;

/* The nodes of a graph and of the bodies of its control flow; adds to *found those that have
 * arithmetic to compare by rescales or operands. */
assay_status decide_walk(const assay_graph *g, const decide_visitor *v, int *found,
                         assay_error *err);

#endif
