/* Image ops in the layout that a target wants: a transpose in front, the op with its channels
 * elsewhere, a transpose behind. The transposes sink towards each other and cancel; those of
 * weights are constants. */
#include "opt/rewrite/rules.h"

#include <string.h>

static bool matches(const assay_graph *g, const assay_match *m, int layout)
{
    assay_node n = g->node[m->lower];
    const int *now = lower_traits(&n) & ASSAY_T_LAYOUT ? lower_layout_of(&n) : NULL;
    const assay_value *x = now ? assay_node_in(g, &n, 0) : NULL;
    if (!x || *now == layout || !lower_is_code(x) || n.n_out != 1 || x->type.rank < 3 ||
        assay_op_get(n.op)->attrs == ASSAY_ATTRS_none)
        return false;
    const bool weighted = lower_traits(&n) & ASSAY_T_WEIGHTED;
    return !weighted || (lower_is_product(&n) && n.op != ASSAY_OP_SVDF_TIME &&
                         (n.op != ASSAY_OP_CONV_TRANSPOSE || n.attr.conv.group == 1) &&
                         assay_node_in(g, &n, 1)->type.q.granularity != ASSAY_Q_BLOCK);
}

bool rewrite_to_nhwc_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    (void)uses;
    return matches(g, m, ASSAY_LAYOUT_NHWC);
}

bool rewrite_to_nchw_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    (void)uses;
    return matches(g, m, ASSAY_LAYOUT_NCHW);
}

static assay_status add_transpose(assay_graph *g, int like, int x, const assay_list *perm,
                                  const char *suffix, int *y, assay_error *err)
{
    assay_attrs a = {.perm = {.perm = *perm}};
    const assay_type t = lower_permuted_type(&g->value[x].type, perm);
    assay_status s = rewrite_add_derived(g, like, suffix, &t, y, err);
    return s ? s : assay_graph_add_node(g, ASSAY_OP_TRANSPOSE, NULL, &x, 1, y, 1, &a, NULL, err);
}

/* Weights as O,I,k... become O,k...,I; those of a transposed convolution, I,O,k..., too. */
static void weight_perm(const assay_node *n, int rank, int layout, const assay_list *there,
                        assay_list *perm)
{
    const bool last = layout == ASSAY_LAYOUT_NHWC;
    *perm = *there;
    if (n->op != ASSAY_OP_CONV_TRANSPOSE)
        return;
    for (int i = 0; i < rank; i++) {
        if (last)
            perm->v[i] = i == 0 ? 1 : i == rank - 1 ? 0 : i + 1;
        else
            perm->v[i] = i == 0 ? rank - 1 : i == 1 ? 0 : i - 1;
    }
}

static void permute_extents(assay_attr_resize *a, const assay_list *there)
{
    const assay_attr_resize old = *a;
    for (int i = 0; i < there->n && old.size.n == there->n; i++)
        a->size.v[i] = old.size.v[there->v[i]];
    for (int i = 0; i < there->n && old.scales.n == there->n; i++)
        a->scales.v[i] = old.scales.v[there->v[i]];
}

static assay_status rewrite(assay_graph *g, const assay_match *m, int layout, assay_error *err)
{
    const int rank = assay_node_in(g, &g->node[m->lower], 0)->type.rank;
    const bool last = layout == ASSAY_LAYOUT_NHWC;
    int x = g->node[m->lower].in[0], y = g->node[m->lower].out[0], inner, weights = -1;
    assay_list there, back, perm;
    lower_layout_perms(rank, layout, &there, &back);
    weight_perm(&g->node[m->lower], rank, layout, &there, &perm);
    assay_status s = add_transpose(g, y, x, &there, last ? ":nhwc:in" : ":nchw:in", &x, err);
    if (!s && lower_is_product(&g->node[m->lower]))
        s = add_transpose(g, y, g->node[m->lower].in[1], &perm,
                          last ? ":nhwc:weights" : ":nchw:weights", &weights, err);
    const assay_type t = lower_permuted_type(&g->value[y].type, &there);
    if (!s)
        s = rewrite_add_derived(g, y, last ? ":nhwc" : ":nchw", &t, &inner, err);
    if (s)
        return s;
    assay_node *n = &g->node[m->lower];
    *lower_layout_of(n) = layout;
    if (n->op == ASSAY_OP_RESIZE)
        permute_extents(&n->attr.resize, &there);
    n->in[0] = x;
    if (weights >= 0)
        n->in[1] = weights;
    lower_rewrite_output(g, m->lower, inner);
    const assay_attrs a = {.perm = {.perm = back}};
    s = assay_graph_add_node(g, ASSAY_OP_TRANSPOSE, NULL, &inner, 1, &y, 1, &a, NULL, err);
    return s ? s : assay_graph_compact(g, NULL, err);
}

assay_status rewrite_to_nhwc_rewrite(assay_graph *g, const assay_match *m,
                                     const assay_rule_image *image, assay_error *err)
{
    (void)image;
    return rewrite(g, m, ASSAY_LAYOUT_NHWC, err);
}

assay_status rewrite_to_nchw_rewrite(assay_graph *g, const assay_match *m,
                                     const assay_rule_image *image, assay_error *err)
{
    (void)image;
    return rewrite(g, m, ASSAY_LAYOUT_NCHW, err);
}
