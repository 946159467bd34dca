/* Random valid graphs over every op of the table. */
#ifndef ASSAY_TEST_RANDOM_GRAPH_H
#define ASSAY_TEST_RANDOM_GRAPH_H

#include "graph/core/graph.h"
#include "test/support/support.h"

/* A verified graph in which every op occurs, in an order and with names, attributes, types, fused
 * activations and constants drawn from r. */
assay_graph *test_random_graph(test_rng *r);

#endif
