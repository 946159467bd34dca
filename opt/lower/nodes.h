/* Queries of passes, rules and their proofs about nodes and values, and edits shared by several
 * of them. Internal to opt/. */
#ifndef ASSAY_OPT_NODES_H
#define ASSAY_OPT_NODES_H

#include "graph/core/graph.h"

#define ASSAY_WIDEST_TABLE 16 /* bits of a code whose whole domain is enumerated */

/* ---- predicates ---- */
uint32_t lower_traits(const assay_node *n);
bool lower_is_float(const assay_value *v);
/* A code of at most ASSAY_WIDEST_TABLE bits with one scale and zero point. */
bool lower_is_code(const assay_value *v);
/* Kind and parameters; extents aside. */
bool lower_same_type(const assay_value *a, const assay_value *b);
bool lower_is_plain(const assay_node *n);                       /* no fused activation, no bounds */
bool lower_is_unary(const assay_graph *g, const assay_node *n); /* a function of one code */
bool lower_is_rescale(const assay_graph *g, const assay_node *n); /* of codes to codes */
/* Rescale, relu, clip: what one rescale with saturation can replace. */
bool lower_is_monotone(const assay_graph *g, const assay_node *n);
bool lower_is_binary(const assay_graph *g, const assay_node *n);
/* Between f32 and codes of one scale. */
bool lower_is_edge(const assay_graph *g, const assay_node *n, bool to_codes);
/* Conv, fc, matmul: what has an accumulator of products. */
bool lower_is_product(const assay_node *n);
/* Every output element is one of the input's, wherever it comes from: no order among codes matters.
 */
bool lower_only_moves(const assay_node *n);
/* Output elements are interpolated between neighbours, whose weights add up to one. */
bool lower_interpolates(const assay_node *n);
/* Inputs first .. first + count - 1 are those that carry codes; the others are indices,
 * conditions. */
int lower_data_inputs(const assay_graph *g, const assay_node *n, int *first);
/* The code that a pad of constants fills values of type t with; false when it has none. */
bool lower_pad_fill(const assay_attr_pad *a, const assay_type *t, int64_t *code);
bool lower_is_output(const assay_graph *g, int value);
/* Fused activation and bounds are the same. */
bool lower_same_bounds(const assay_node *a, const assay_node *b);

/* ---- edits ---- */
/* Uses of y, which `lower` yields so far, go to x; `lower` is unused afterwards. An output of
 * the network keeps its name when x's producer can yield it. */
assay_status lower_stand_for(assay_graph *g, int x, int lower);
/* BASE + suffix, in the graph's arena; NULL when out of memory. */
char *lower_derived_name(assay_graph *g, const char *base, const char *suffix);

/* ---- layouts ---- */
/* Permutations of the axes of a value into the layout and back; perm[i] is the source's axis. */
void lower_layout_perms(int rank, int layout, assay_list *there, assay_list *back);
/* The type after a transpose; parameters are t's own. */
assay_type lower_permuted_type(const assay_type *t, const assay_list *perm);
/* Where an image op keeps its layout; NULL: it has none that rules change. */
int *lower_layout_of(assay_node *n);

#endif
