/* What rules ask of nodes, and the edits that several of them make. Internal to opt/. */
#ifndef ASSAY_OPT_RULES_H
#define ASSAY_OPT_RULES_H

#include "opt/rewrite/optimize.h"
#include "opt/rewrite/rewrite.h"

#define ASSAY_WIDEST_TABLE 16 /* bits of a code whose whole domain is enumerated */

/* ---- predicates ---- */
uint32_t assay_traits(const assay_node *n);
bool assay_is_float(const assay_value *v);
/* A code of at most ASSAY_WIDEST_TABLE bits with one scale and zero point. */
bool assay_is_code(const assay_value *v);
/* Kind and parameters; extents aside. */
bool assay_same_type(const assay_value *a, const assay_value *b);
bool assay_is_plain(const assay_node *n);                       /* no fused activation, no bounds */
bool assay_is_unary(const assay_graph *g, const assay_node *n); /* a function of one code */
bool assay_is_rescale(const assay_graph *g, const assay_node *n); /* of codes to codes */
/* Rescale, relu, clip: what one rescale with saturation can stand for. */
bool assay_is_monotone(const assay_graph *g, const assay_node *n);
bool assay_is_binary(const assay_graph *g, const assay_node *n);
/* Between f32 and codes of one scale. */
bool assay_is_edge(const assay_graph *g, const assay_node *n, bool to_codes);
/* Conv, fc, matmul: what has an accumulator of products. */
bool assay_is_product(const assay_node *n);
/* Every output element is one of the input's, wherever it comes from: no order among codes matters.
 */
bool assay_only_moves(const assay_node *n);
/* Output elements are blends of neighbours, whose weights add up to one. */
bool assay_blends(const assay_node *n);
/* Inputs first .. first + count - 1 are those that carry codes; the others are indices,
 * conditions. */
int assay_data_inputs(const assay_graph *g, const assay_node *n, int *first);
/* The code that a pad of constants fills values of type t with; false when it has none. */
bool assay_pad_fill(const assay_attr_pad *a, const assay_type *t, int64_t *code);
bool assay_is_output(const assay_graph *g, int value);
/* Fused activation and bounds are the same. */
bool assay_same_bounds(const assay_node *a, const assay_node *b);
/* The producer of input `slot` of m->lower, or NULL; noted in the match. */
const assay_node *assay_above(const assay_graph *g, assay_match *m, int slot);

/* Of uppers that are alike one will stay: the node that stands last, returned, which is given the
 * name of the last in the match's order. So a fragment, whose nodes stand in that order, and the
 * network agree. */
int assay_take_last(assay_graph *g, const assay_match *m);

/* ---- y is x: uses of y go to x; an output of the network keeps its name when x's producer can
 * yield it ---- */

/* Where it cannot, m->obstacle says so. Always true. */
bool assay_may_stand_for(const assay_graph *g, assay_match *m, int x);
/* `lower` yields y so far, and is without use afterwards. */
assay_status assay_stand_for(assay_graph *g, int x, int lower);

/* ---- edits ---- */
/* n becomes a rescale of x that saturates at the image (NULL: at its type's ends). */
void assay_to_rescale(assay_node *n, int x, const assay_image *image);
/* BASE + suffix, in the graph's arena; NULL when memory is out. */
char *assay_derived_name(assay_graph *g, const char *base, const char *suffix);

/* A value NAME + suffix, NAME that of `like`; the suffix once more where that is taken. */
assay_status assay_add_derived(assay_graph *g, int like, const char *suffix, const assay_type *type,
                               int *id, assay_error *err);

/* ---- layouts ---- */
/* Permutations of the axes of a value into the layout and back; perm[i] is the source's axis. */
void assay_layout_perms(int rank, int layout, assay_list *there, assay_list *back);
/* The type behind a transpose; parameters are t's own. */
assay_type assay_permuted_type(const assay_type *t, const assay_list *perm);
/* Where an image op keeps its layout; NULL: it has none that rules change. */
int *assay_layout_of(assay_node *n);

/* ---- the rules, by file ---- */
#define ASSAY_DECLARE_RULE(name)                                                                   \
    bool assay_##name##_matches(const assay_graph *g, const int *uses, assay_match *m);            \
    assay_status assay_##name##_rewrite(assay_graph *g, const assay_match *m,                      \
                                        const assay_image *image, assay_error *err)
/* rules_rescale.c */
ASSAY_DECLARE_RULE(identity);
ASSAY_DECLARE_RULE(merge);
ASSAY_DECLARE_RULE(convert);
ASSAY_DECLARE_RULE(pair);
/* rules_absorb.c */
ASSAY_DECLARE_RULE(up);
ASSAY_DECLARE_RULE(product_up);
ASSAY_DECLARE_RULE(quantize_up);
ASSAY_DECLARE_RULE(average_up);
ASSAY_DECLARE_RULE(down);
ASSAY_DECLARE_RULE(product_down);
ASSAY_DECLARE_RULE(gains_up);
ASSAY_DECLARE_RULE(gains_down);
/* rules_sink.c */
ASSAY_DECLARE_RULE(sink_move);
ASSAY_DECLARE_RULE(sink_order);
ASSAY_DECLARE_RULE(sink_select);
ASSAY_DECLARE_RULE(sink_average);
ASSAY_DECLARE_RULE(sink_blend);
/* rules_graph.c */
ASSAY_DECLARE_RULE(common);
ASSAY_DECLARE_RULE(constant);
ASSAY_DECLARE_RULE(pad);
ASSAY_DECLARE_RULE(clip);
ASSAY_DECLARE_RULE(mean);
/* rules_move.c */
ASSAY_DECLARE_RULE(merge_moves);
ASSAY_DECLARE_RULE(sink_transpose);
ASSAY_DECLARE_RULE(turn_move);
ASSAY_DECLARE_RULE(constant_move);
/* rules_form.c */
ASSAY_DECLARE_RULE(fc_to_conv);
ASSAY_DECLARE_RULE(conv_to_fc);
ASSAY_DECLARE_RULE(matmul_to_fc);
ASSAY_DECLARE_RULE(fc_to_matmul);
ASSAY_DECLARE_RULE(sums_to_fc);
/* rules_layout.c */
ASSAY_DECLARE_RULE(to_nhwc);
ASSAY_DECLARE_RULE(to_nchw);
/* rules_table.c */
ASSAY_DECLARE_RULE(table);

#endif
