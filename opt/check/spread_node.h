/* Between the files that follow a change: spread.c goes from node to node, spread_node.c through
 * one. */
#ifndef ASSAY_OPT_CHECK_SPREAD_NODE_H
#define ASSAY_OPT_CHECK_SPREAD_NODE_H

#include "opt/check/terms.h"

/* The node as a graph of its own. Operands that are one term are one value; those that are computed
 * are inputs. */
assay_status check_spread_lift(const check_context *c, const check_work *w, check_term *out,
                               assay_graph **g);
/* A function of codes, by all of them; d: the change of each input of the lifted graph. */
assay_status check_spread_through_function(const check_context *c, const assay_graph *g,
                                           const int64_t *d, int64_t *change);
/* The first scale of a type; a change of sums after a rescale by the ratio, its roundings included.
 */
double check_spread_scale_of(const assay_type *t);
double check_spread_rescaled(double change, double ratio);
/* d, dw: changes of the codes of either operand, and of the bias. INFINITY: what becomes of sums
 * that differ is not known (derive/sums.h). */
double check_spread_through_product(const check_context *c, const check_work *w,
                                    const assay_graph *g, const int64_t d[3]);
double check_spread_through_sums(const check_context *c, const assay_graph *g, int64_t d);

#endif
