/* Rewriting as the library and the command do it. */
#ifndef ASSAY_INTERP_API_REWRITE_H
#define ASSAY_INTERP_API_REWRITE_H

#include "interp/assay_tools.h"
#include "interp/page/json.h"
#include "opt/rewrite/optimize.h"

/* "none", "bounded:N" or "any"; ASSAY_ERR_INPUT otherwise. */
assay_status assay_rewrite_allow(const char *text, assay_optimize_options *o, assay_error *err);

typedef struct assay_rewritten {
    assay_optimize_report report;
    int before, after; /* nodes, bodies of control flow included */
} assay_rewritten;
/* rewrite_optimize of what the scheme and the engines run (as_is: though its types do not admit
 * it): proofs are about what runs. The report's certificate is the caller's. */
assay_status assay_rewrite(assay_graph *g, const assay_scheme *s, bool as_is,
                           const assay_optimize_options *o, assay_rewritten *out, assay_error *err);
/* What was done, without the lines of the log: a new reference; NULL when out of memory. */
json_t *assay_rewritten_json(const assay_rewritten *w);

#endif
