/* Rules in force: the list, what the user chose of it, what the target says. Internal to opt/. */
#ifndef ASSAY_OPT_POLICY_H
#define ASSAY_OPT_POLICY_H

#include "opt/rewrite/optimize.h"

typedef struct assay_policy {
    assay_rule *rule; /* owned */
    int64_t *bound;   /* by rule: codes by which the target lets it change results; owned */
    size_t n;
} assay_policy;

/* ASSAY_ERR_INPUT: a pass, or a rule that the scheme speaks of, that does not exist;
 * ASSAY_ERR_SCHEME: rules of a plugin with another ABI. Free whatever the status. */
assay_status rewrite_policy_make(const assay_optimize_options *options, const assay_scheme *s,
                                 assay_policy *p, assay_error *err);
void rewrite_policy_free(assay_policy *p);

#endif
