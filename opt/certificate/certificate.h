/* Shared by the writer of certificates (opt/rewrite/certify.c) and their checker (opt/check):
 * the version, and how what is digested. */
#ifndef ASSAY_OPT_CERTIFICATE_H
#define ASSAY_OPT_CERTIFICATE_H

#include <jansson.h>

#include "graph/core/graph.h"

#define ASSAY_CERTIFICATE_VERSION 3

/* XXH3-128 of a certificate without its own digest. */
assay_status certificate_digest(const json_t *certificate, char hex[33], assay_error *err);
/* Digest of a network: structure, types, parameters, bounds, constants' bytes, bodies. */
assay_status certificate_network(const assay_graph *g, char hex[33], assay_error *err);

#endif
