/* Admission of quantized networks, by the types of a target. */
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

/* The type of a value, as a caller sees it: `of` is the caller's. */
typedef const assay_type *assay_seen_type(const void *of, int value);

/* Codes of fewer than 8 bits among the operands. */
bool assay_node_has_narrow(const assay_node *n, assay_seen_type *type, const void *of);
/* Operands and result of two types, or signed operands beside unsigned weights (those of a product
 * may be signed beside unsigned ones); a bias has a type of its own. */
bool assay_node_is_mixed(const assay_node *n, assay_seen_type *type, const void *of);
/* Whether the scheme's claims are of a node of such bits and types: false where one of its lists of
 * unfused ops says that the target computes it in float, and where the target's kernel takes
 * operands and result of one type (exact_one_type_ops) but they have several, or takes other ratios
 * of scales (exact_ratios), or weights and biases that are constants (exact_constant_ops; of
 * quantize, scales that are). */
bool assay_scheme_claims_types(const assay_scheme *s, const assay_graph *g, const assay_node *n);

#endif
