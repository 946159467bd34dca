/* Random integer networks over every op that has a trait and an integer kernel. */
#ifndef ASSAY_TEST_RANDOM_CODES_H
#define ASSAY_TEST_RANDOM_CODES_H

#include "graph/core/graph.h"
#include "schemes/scheme.h"
#include "test/support/support.h"

/* A verified network of `nodes` nodes that the scheme computes; its last values are its outputs.
 * seen[op] counts what occurs, and what occurs least is drawn most. */
assay_graph *test_random_codes(test_rng *r, const assay_scheme *s, int nodes,
                               int seen[ASSAY_OP_COUNT]);
/* Attributes of a node of one of them on an input of type x (random_codes_attrs.c). */
void test_random_codes_attributes(test_rng *r, assay_op op, const assay_type *x, assay_attrs *a);
/* Whether such networks hold the op. */
bool test_random_codes_has(assay_op op);

#endif
