/* What was proved, as JSON: opt/check/proof.c reads it back. Internal to opt/. */
#ifndef ASSAY_OPT_CERTIFICATE_H
#define ASSAY_OPT_CERTIFICATE_H

#include <jansson.h>

#include "opt/prove/prove.h"

#define ASSAY_CERTIFICATE_VERSION 3

/* A certificate without steps. NULL when memory is out. */
json_t *assay_certificate_new(const assay_graph *g, const assay_scheme *s);
/* The next body of a graph's control flow, without steps, in the certificate of that graph, which
 * owns it. NULL when memory is out. */
json_t *assay_certificate_body(json_t *certificate);
/* One application, in a network's certificate or a body's. spread: of a bounded one, by how many
 * codes it changes each of the network's n_outputs outputs at most. */
assay_status assay_certificate_add(json_t *certificate, const assay_rule *rule, const char *node,
                                   const assay_proof *proof, const int64_t *spread, int n_outputs,
                                   assay_error *err);
/* Seals it with the result, what the outputs differ by at most (below 0: nothing is known), and a
 * digest over everything, and appends its text. */
assay_status assay_certificate_print(json_t *certificate, const assay_graph *result,
                                     int64_t output_bound, assay_buf *out, assay_error *err);
/* XXH3-128 of a certificate without its own digest. */
assay_status assay_certificate_digest(const json_t *certificate, char hex[33], assay_error *err);
/* Digest of a network: structure, types, parameters, bounds, constants' bytes, bodies. */
assay_status assay_certificate_network(const assay_graph *g, char hex[33], assay_error *err);

#endif
