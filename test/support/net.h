/* Small float networks for tests: built by a line a node, run on given inputs. */
#ifndef ASSAY_TEST_NET_H
#define ASSAY_TEST_NET_H

#include "graph/core/graph.h"
#include "test/support/support.h"

#define NET_SHAPE(...)                                                                             \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[])                         \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

assay_graph *net_new(void);
/* A graph input (appended to the graph's inputs). */
int net_input(assay_graph *g, const char *name, int rank, const int64_t *dim);
/* A constant of random floats in [lo, hi). */
int net_constant(assay_graph *g, test_rng *rng, const char *name, double lo, double hi, int rank,
                 const int64_t *dim);
/* A node with one output, named after it; attr may be NULL. Inputs end with -2. */
int net_node(assay_graph *g, assay_op op, const char *out, const assay_attrs *attr, ...);
void net_output(assay_graph *g, int value);

/* Runs a float graph in place: afterwards every value has data. x holds one array an input. */
void net_run(assay_graph *g, const float *const *x);
/* Random elements in [-1, 1) for input i of g; free it. */
float *net_random_input(test_rng *rng, const assay_graph *g, int i);
/* Data of a value by name in a graph that has run; fails the test when there is none. */
const float *net_data(const assay_graph *g, const char *name, int64_t *n);
/* Node that produces the value of this name, or NULL for inputs and constants. */
const assay_node *net_producer(const assay_graph *g, const char *name);
int net_count_op(const assay_graph *g, assay_op op);

#endif
