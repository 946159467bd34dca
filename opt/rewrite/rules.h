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

/* ---- the rules ---- */
#define RULE(name, obligation, bounds, late, matches, rewrite)                                     \
    bool rewrite_##matches##_matches(const assay_graph *g, const int *uses, assay_match *m);       \
    assay_status rewrite_##rewrite##_rewrite(assay_graph *g, const assay_match *m,                 \
                                             const assay_rule_image *image, assay_error *err);
#define PREFERRED(name, obligation, preference, rule)                                              \
    RULE(name, obligation, false, false, rule, rule)
#include "opt/rewrite/rules.def"

#endif
