/* Admission of networks that came quantized, by what a target holds. */
#ifndef ASSAY_SCHEMES_ADMIT_H
#define ASSAY_SCHEMES_ADMIT_H

#include "graph/core/graph.h"
#include "schemes/scheme.h"

/* Whether the scheme's `types`, as they are in force at node n of g, admit the codes that the node
 * reads and writes: bits, signedness, zero points and scales of activations and weights, values of
 * weights and biases that are constant. Narrower codes fit into wider ones. Where they do not,
 * `why` (a buffer of `size` bytes) says which value and which parameter. Movements and float nodes
 * hold no claim and are admitted, and so is what a plugin runs. */
bool assay_scheme_admits(const assay_scheme *s, const assay_graph *g, const assay_node *n,
                         char *why, size_t size);
#define ASSAY_ADMIT_WHY 400 /* bytes that hold any reason */

/* ASSAY_OK when every node of the graph is admitted, bodies of control flow included; else
 * ASSAY_ERR_UNSUPPORTED and a line with the first node that is not, why, and how many there are. */
assay_status assay_scheme_admits_graph(const assay_scheme *s, const assay_graph *g,
                                       assay_error *err);

#endif
