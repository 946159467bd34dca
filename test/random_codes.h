/* Random integer networks over every op that has a trait and an integer kernel. */
#ifndef ASSAY_TEST_RANDOM_CODES_H
#define ASSAY_TEST_RANDOM_CODES_H

#include "graph/graph.h"
#include "schemes/scheme.h"
#include "test/support.h"

/* A verified network of `nodes` nodes that the scheme computes; its last values are its outputs.
 * seen[op] counts what occurs, and what occurs least is drawn most. */
assay_graph *test_random_codes(test_rng *r, const assay_scheme *s, int nodes,
                               int seen[ASSAY_OP_COUNT]);
/* Whether such networks hold the op. */
bool test_random_codes_has(assay_op op);

#endif
