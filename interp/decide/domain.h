/* Nodes of a network whose arithmetic has few enough operands to try them all: every pair of codes
 * (add, mul, ...), every code (rescale, relu, tables, max pool), every sum of codes a window can
 * hold (average pool, mean), every row of a few codes (softmax). For comparing schemes node by
 * node.
 */
#ifndef ASSAY_INTERP_DECIDE_DOMAIN_H
#define ASSAY_INTERP_DECIDE_DOMAIN_H

#include "graph/core/graph.h"
#include "schemes/node/spec.h"

typedef struct decide_domain {
    const assay_node *node;
    const char *what; /* "pairs of codes", ... */
    size_t n;         /* operands */
    size_t width;     /* results of each: 1, or the row's length */
    char why[128];    /* why they cannot be tried; "" if there is no arithmetic to compare */
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    unsigned calls; /* enum assay_calls */
} decide_domain;

/* Whether node i of g is such a node; if not, out->why says why. */
bool decide_domain_of(const assay_graph *g, int i, decide_domain *out);
/* The node's codes under a scheme, out[d->n * d->width]; ASSAY_ERR_UNSUPPORTED where it works
 * otherwise. */
assay_status decide_domain_run(const decide_domain *d, const assay_scheme *s, int32_t *out,
                               assay_error *err);
/* Operand i in words: "codes -3 and 5". */
const char *decide_domain_point(const decide_domain *d, size_t i, char *text, size_t size);

#endif
