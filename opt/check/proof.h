/* Checking a certificate: the only entry point of opt/check, which knows nothing of the optimizer.
 */
#ifndef ASSAY_OPT_CHECK_PROOF_H
#define ASSAY_OPT_CHECK_PROOF_H

#include "graph/core/graph.h"
#include "schemes/scheme.h"

typedef struct assay_proof_report {
    int steps;  /* in the certificate */
    int proved; /* of them exact */
    int given;  /* steps with an interval or a bound that rests on weights which were not given */
} assay_proof_report;

/* The networks that a certificate refers to, each NULL if not available. */
typedef struct assay_proof_networks {
    const assay_graph *model;  /* the optimized network: its weights decide intervals */
    const assay_graph *result; /* what came out */
    const assay_scheme
        *plugin; /* of a certificate under a plugin, whose arithmetic it cannot hold */
} assay_proof_networks;

/* Checks a certificate from its own text: scheme, fragments and claims, and with the networks also
 * that it is theirs. The evaluator is its own (the rest of this folder). networks may be NULL.
 * ASSAY_ERR_INPUT: edited, of another network, or a claim that does not hold.
 * ASSAY_ERR_UNSUPPORTED: not a certificate, or one of another version. */
assay_status check_proof(const char *json, size_t length, const char *file,
                         const assay_proof_networks *networks, assay_proof_report *report,
                         assay_error *err);

#endif
