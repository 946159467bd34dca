/* Common parts of the files of test_random_graph: a graph that is being drawn. */
#ifndef ASSAY_TEST_RANDOM_GRAPH_PARTS_H
#define ASSAY_TEST_RANDOM_GRAPH_PARTS_H

#include "test/support/random_graph.h"

typedef struct graph_drawing {
    assay_graph *g;
    test_rng *r;
    int n_names;
} graph_drawing;

/* ---- random_graph_values.c ---- */

/* A fresh name, often one that needs quotes or looks like a word of the grammar. */
void graph_fresh_name(graph_drawing *x, char *buf, size_t size);
float graph_random_float(test_rng *r);
float graph_random_scale(test_rng *r);
/* Parameters of any granularity that fits the type; arrays are the caller's to free. */
void graph_random_params(test_rng *r, assay_type *t);
void graph_free_params(assay_type *t);
int graph_add_drawn_constant(graph_drawing *x, const assay_type *t);
/* A constant of any kind, shape and parameters that no node uses. */
void graph_add_loose_constant(graph_drawing *x);
int graph_add_drawn_input(graph_drawing *x, assay_elem elem, int rank, const int64_t *dim);
int graph_add_drawn_variable(graph_drawing *x);

/* ---- random_graph_nodes.c: false, the value does not suit the op ---- */

/* Quantize, dequantize, rescale, relabel. */
bool graph_add_convert(graph_drawing *x, assay_op op, int from);
/* 4-bit codes with one scale, and a table of 16 others by them. */
bool graph_add_lookup(graph_drawing *x, int from);
/* A loop or a branch with bodies that give what they take. */
bool graph_add_flow(graph_drawing *x, assay_op op, int value);
/* Scales of value's blocks, and what needs them: patterns, floats again, or a product of the
 * patterns. */
bool graph_add_scaled(graph_drawing *x, assay_op op, int value);
/* What goes with in[0] where an op names places: those are the integers among the graph's inputs.
 * No constant is added for what would be refused: attempt after attempt they would be all there is.
 */
bool graph_add_places(graph_drawing *x, assay_op op, int in[8]);

#endif
