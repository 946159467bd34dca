/* Layered drawings of acyclic graphs. */
#ifndef ASSAY_INTERP_REPORT_LAYOUT_H
#define ASSAY_INTERP_REPORT_LAYOUT_H

#include "graph/base.h"

typedef struct report_edge {
    int from, to;
} report_edge;

/* Vertices 0 .. n_real - 1 are the caller's; after them come the bends of edges that span several
 * layers, which all edges from one vertex share. Every edge leads from a layer to the next. */
typedef struct report_layout {
    int n_real, n, n_layers;
    int *layer; /* by vertex, from the top */
    double *x;  /* by vertex: of its middle; the leftmost box begins at 0 */
    double width;
    int n_edges;
    report_edge *edge;
    int span, omitted; /* so many edges that lead over more than `span` layers were left out, where
                          they would have too many bends */
} report_layout;

#define REPORT_BOX  176.0 /* width of a vertex */
#define REPORT_BEND 18.0  /* of a bend */

/* Lays n vertices out; edges go from a lesser vertex to a greater one (others are left out).
 * ASSAY_ERR_MEMORY. report_layout_free either way. */
assay_status report_layout_make(int n, const report_edge *edge, int n_edges, report_layout *out,
                                assay_error *err);
void report_layout_free(report_layout *l);

#endif
