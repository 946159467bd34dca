/* Evaluating one node of constants. */
#ifndef ASSAY_INTERP_EVALUATE_H
#define ASSAY_INTERP_EVALUATE_H

#include "graph/core/graph.h"
#include "opt/quantize/units.h"
#include "schemes/scheme.h"

/* Computes node n of g, whose inputs are all constants, into out[i], memory for every element of
 * output i. Values that carry codes can be moved but not computed with: ASSAY_ERR_UNSUPPORTED. It
 * is the assay_evaluate_fn of opt/lower/opt.h. */
assay_status run_evaluate_node(const assay_graph *g, const assay_node *n, void *const *out,
                               assay_error *err);
/* Runs a whole graph once: in[i] and out[i] are memory for input and output i in native storage. It
 * is the assay_run_fn of opt/rewrite/optimize.h. */
assay_status run_whole_graph(const assay_graph *g, const assay_scheme *s, const void *const *in,
                             void *const *out, assay_error *err);
/* quantize_for_units, and `folds` what is made of constants alone once and for all: patterns of
 * weights. *out is NULL after a failure. */
assay_status run_quantize_for_units(const assay_graph *g, const assay_scheme *s, bool folds,
                                    assay_graph **out, assay_quantize_report *report,
                                    assay_error *err);

#endif
