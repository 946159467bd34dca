/* Certificate of what was proved, as JSON: opt/check/proof.c reads it back. */
#ifndef ASSAY_OPT_CERTIFY_H
#define ASSAY_OPT_CERTIFY_H

#include <jansson.h>

#include "graph/core/buf.h"
#include "opt/prove/prove.h"

/* A certificate without steps. NULL when out of memory. */
json_t *rewrite_certificate_new(const assay_graph *g, const assay_scheme *s);
/* The next body of a graph's control flow, without steps, in the certificate of that graph, which
 * owns it. NULL when out of memory. */
json_t *rewrite_certificate_body(json_t *certificate);
/* One application, in a network's certificate or a body's. spread: of a bounded one, by how many
 * codes it changes each of the network's n_outputs outputs at most. */
assay_status rewrite_certificate_add(json_t *certificate, const assay_rule *rule, const char *node,
                                     const assay_proof *proof, const int64_t *spread, int n_outputs,
                                     assay_error *err);
/* Seals it with the result, what the outputs differ by at most (below 0: nothing is known), and a
 * digest over everything, and appends its text. */
assay_status rewrite_certificate_print(json_t *certificate, const assay_graph *result,
                                       int64_t output_bound, assay_buf *out, assay_error *err);

#endif
