/* A network and its canonical form, compared. */
#ifndef ASSAY_TEST_CANONICAL_CASE_H
#define ASSAY_TEST_CANONICAL_CASE_H

#include "graph/core/graph.h"
#include "test/support/support.h"

/* Canonicalizes a copy of g, runs both on one random input and compares all values that survive,
 * outputs among them. Returns the canonical graph before it ran. */
assay_graph *canonical_case(assay_graph *g, test_rng *rng);

#endif
