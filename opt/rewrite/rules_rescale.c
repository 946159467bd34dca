/* Chains of conversions: identities, rescales of rescales, round trips through floats. */
#include "opt/rewrite/rules.h"

/* ---- identity: a function of a code that gives it back ---- */

bool rewrite_identity_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    (void)uses;
    return lower_is_unary(g, n) &&
           lower_same_type(assay_node_in(g, n, 0), assay_node_out(g, n, 0)) &&
           rewrite_may_stand_for(g, m, n->in[0]);
}

assay_status rewrite_identity_rewrite(assay_graph *g, const assay_match *m,
                                      const assay_rule_image *image, assay_error *err)
{
    (void)image;
    (void)err;
    return lower_stand_for(g, g->node[m->lower].in[0], m->lower);
}

/* ---- merge: two monotone functions of a code, one of them a rescale, into one rescale ---- */

bool rewrite_merge_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    const assay_node *p = lower_is_monotone(g, n) ? rewrite_above(g, m, 0) : NULL;
    (void)uses;
    return p && lower_is_monotone(g, p) && (lower_is_rescale(g, n) || lower_is_rescale(g, p));
}

assay_status rewrite_merge_rewrite(assay_graph *g, const assay_match *m,
                                   const assay_rule_image *image, assay_error *err)
{
    (void)err;
    rewrite_to_rescale(&g->node[m->lower], g->node[m->upper[0]].in[0], image);
    return ASSAY_OK;
}

/* ---- convert: dequantize and quantize again; nothing is left of it, or a rescale ---- */

static bool leaves_nothing(const assay_graph *g, const assay_node *n, int x)
{
    return lower_same_type(&g->value[x], &g->value[n->out[0]]) && lower_is_plain(n);
}

bool rewrite_convert_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    const assay_node *p = lower_is_edge(g, n, true) ? rewrite_above(g, m, 0) : NULL;
    (void)uses;
    if (!p || !lower_is_edge(g, p, false))
        return false;
    return !leaves_nothing(g, n, p->in[0]) || rewrite_may_stand_for(g, m, p->in[0]);
}

assay_status rewrite_convert_rewrite(assay_graph *g, const assay_match *m,
                                     const assay_rule_image *image, assay_error *err)
{
    assay_node *n = &g->node[m->lower];
    int x = g->node[m->upper[0]].in[0];
    (void)err;
    if (leaves_nothing(g, n, x))
        return lower_stand_for(g, x, m->lower);
    rewrite_to_rescale(n, x, image);
    return ASSAY_OK;
}

/* ---- pair: quantize and dequantize again. It rounds and saturates; that is its purpose ---- */

bool rewrite_pair_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    const assay_node *p = lower_is_edge(g, n, false) ? rewrite_above(g, m, 0) : NULL;
    (void)uses;
    return p && lower_is_edge(g, p, true) && rewrite_may_stand_for(g, m, p->in[0]);
}

assay_status rewrite_pair_rewrite(assay_graph *g, const assay_match *m,
                                  const assay_rule_image *image, assay_error *err)
{
    (void)image;
    (void)err;
    return lower_stand_for(g, g->node[m->upper[0]].in[0], m->lower);
}
