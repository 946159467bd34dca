/* Fragments: the nodes of a match, cut out of the network into a graph of their own. */
#ifndef ASSAY_OPT_FRAGMENT_H
#define ASSAY_OPT_FRAGMENT_H

#include "opt/prove/rule.h"

/* In the fragment the nodes are in order, uppers first; m->lower is the last.
 *   elements > 0   element-wise nodes over vectors of that many codes
 *   elements == 0  as they are; inputs from constants become inputs
 * All that the nodes read from outside are the fragment's inputs, its outputs are lower's. Of
 * constants, tables and (among vectors) single numbers stay what they are. */
assay_status prove_fragment_cut(const assay_graph *g, const assay_match *m, int64_t elements,
                                assay_graph **out, assay_error *err);
/* As they are, but constants stay constants. */
assay_status prove_fragment_keep(const assay_graph *g, const assay_match *m, assay_graph **out,
                                 assay_error *err);
/* Weighted nodes (conv, fc, ...) lose all extents that do not decide their arithmetic: one product
 * an accumulator, as many channels and groups as before; weights are zeros, a bias keeps its
 * numbers. Matrix products become one row by as many columns as
 * have parameters of their own. False when the node is of another form. */
bool prove_fragment_shrinks(const assay_graph *g, const assay_node *n);
assay_status prove_fragment_shrink(const assay_graph *g, const assay_match *m, assay_graph **out,
                                   assay_error *err);
/* The match in a fragment of it. */
assay_match prove_fragment_match(const assay_match *m);

#endif
