/* The rules, and the edits that several of them make. Internal to opt/rewrite. */
#ifndef ASSAY_OPT_RULES_H
#define ASSAY_OPT_RULES_H

#include "opt/lower/nodes.h"
#include "opt/lower/pass.h"
#include "opt/rewrite/optimize.h"

/* The producer of input `slot` of m->lower, or NULL; noted in the match. */
const assay_node *rewrite_above(const assay_graph *g, assay_match *m, int slot);

/* Of uppers that are alike one will stay: the node that stands last, returned, which is given the
 * name of the last in the match's order. So a fragment, whose nodes stand in that order, and the
 * network agree. */
int rewrite_take_last(assay_graph *g, const assay_match *m);

/* ---- y is x: uses of y go to x; an output of the network keeps its name when x's producer can
 * yield it ---- */

/* Where it cannot, m->obstacle says so. Always true. */
bool rewrite_may_stand_for(const assay_graph *g, assay_match *m, int x);

/* ---- edits ---- */
/* n becomes a rescale of x that saturates at the image (NULL: at its type's ends). */
void rewrite_to_rescale(assay_node *n, int x, const assay_rule_image *image);
/* A value NAME + suffix, NAME that of `like`; the suffix once more where that is taken. */
assay_status rewrite_add_derived(assay_graph *g, int like, const char *suffix,
                                 const assay_type *type, int *id, assay_error *err);

/* ---- the rules, by file ---- */
#define ASSAY_DECLARE_RULE(name)                                                                   \
    bool rewrite_##name##_matches(const assay_graph *g, const int *uses, assay_match *m);          \
    assay_status rewrite_##name##_rewrite(assay_graph *g, const assay_match *m,                    \
                                          const assay_rule_image *image, assay_error *err)
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
ASSAY_DECLARE_RULE(sink_interpolation);
/* rules_graph.c */
ASSAY_DECLARE_RULE(common);
ASSAY_DECLARE_RULE(constant);
ASSAY_DECLARE_RULE(pad);
ASSAY_DECLARE_RULE(clip);
ASSAY_DECLARE_RULE(mean);
/* rules_move.c */
ASSAY_DECLARE_RULE(merge_moves);
ASSAY_DECLARE_RULE(sink_transpose);
ASSAY_DECLARE_RULE(transpose_move);
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
