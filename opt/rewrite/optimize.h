/* Rewrites of integer graphs that carry their proof.
 *
 * A rule is a pattern, a rewrite, and an obligation: what must be shown for the rewrite to change
 * no bit. The rewrite is tried on a fragment cut out of the network, the obligation is discharged
 * on the fragment before and after, and only then is the network touched. The rules run until none
 * applies; README.md states the measure that makes it end. */
#ifndef ASSAY_OPT_OPTIMIZE_H
#define ASSAY_OPT_OPTIMIZE_H

#include "graph/core/buf.h"
#include "opt/prove/rule.h"

/* The rules in the order in which they are tried; *n receives their number. */
const assay_rule *rewrite_rules(size_t *n);

enum assay_allow { ASSAY_ALLOW_EXACT, ASSAY_ALLOW_BOUNDED, ASSAY_ALLOW_ANY };

typedef struct assay_optimize_options {
    enum assay_allow allow;
    int64_t bound;          /* codes, for ASSAY_ALLOW_BOUNDED: of each application by itself; what
                               they come to at the outputs is reported */
    const char *passes;     /* names separated by commas, or NULL for all rules */
    const assay_rule *rule; /* NULL: rewrite_rules */
    size_t n_rules;
    assay_run_fn run;
    const struct assay_target *target; /* asked about the nodes of each rewrite; may be NULL */
    /* A line an application and a line a refusal; may be NULL. */
    void (*log)(void *user, const char *line);
    /* Matches tried of this sweep over rules and nodes; from 0 again in the next; may be NULL. */
    void (*step)(void *user, int64_t done, int64_t of);
    void *user;
} assay_optimize_options;

typedef struct assay_optimize_report {
    int applied, refused;
    int bounded, unproved; /* of those applied */
    /* When none was applied unproved: codes of the network's outputs differ from before by at most
     * this (of an output in float, the codes that it was dequantized from). */
    int64_t output_bound;
    assay_buf certificate; /* JSON text; free with assay_buf_free */
} assay_optimize_report;

/* Rewrites g to a fixed point by the rules that options and scheme leave in force. Values that
 * survive keep their names. A result of this function is verified. ASSAY_ERR_INPUT: a pass, or a
 * rule of the scheme's, of no such name. */
assay_status rewrite_optimize(assay_graph *g, const assay_scheme *s,
                              const assay_optimize_options *options, assay_optimize_report *report,
                              assay_error *err);

#endif
