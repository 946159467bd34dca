/* Absorption: rescales merged into the node that makes their input, or into the one behind them. */
#include <math.h>

#include "opt/prove/rescale_bias.h"
#include "opt/rewrite/rules.h"

/* ---- up: the producer yields what the rescale (relu, clip) would make of it ---- */

/* The producer has one of the traits, and nobody else sees what it yields. */
static const assay_node *takes_over(const assay_graph *g, const int *uses, assay_match *m,
                                    uint32_t needed)
{
    const assay_node *n = &g->node[m->lower];
    const assay_node *p = lower_is_monotone(g, n) ? rewrite_above(g, m, 0) : NULL;
    bool takes = p && lower_traits(p) & needed && uses[p->out[0]] == 1 && !lower_is_monotone(g, p);
    return takes ? p : NULL;
}

bool rewrite_up_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *p =
        takes_over(g, uses, m, ASSAY_T_ABSORB_OUT | ASSAY_T_UNARY | ASSAY_T_SELECTS);
    return p && (lower_is_unary(g, p) || lower_is_binary(g, p));
}

bool rewrite_product_up_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *p = takes_over(g, uses, m, ASSAY_T_ABSORB_OUT);
    return p && lower_is_product(p);
}

bool rewrite_gains_up_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *p = takes_over(g, uses, m, ASSAY_T_ABSORB_OUT);
    return p && p->op == ASSAY_OP_LRN && lower_is_code(assay_node_in(g, p, 0));
}

bool rewrite_quantize_up_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *p = takes_over(g, uses, m, ASSAY_T_CONVERT);
    return p && lower_is_edge(g, p, true);
}

bool rewrite_average_up_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *p = takes_over(g, uses, m, ASSAY_T_SUMS);
    return p && lower_is_code(assay_node_in(g, p, 0));
}

assay_status rewrite_up_rewrite(assay_graph *g, const assay_match *m, const assay_rule_image *image,
                                assay_error *err)
{
    assay_node *p = &g->node[m->upper[0]], *n = &g->node[m->lower];
    int y = n->out[0];
    (void)err;
    n->out[0] = p->out[0];
    p->out[0] = y;
    g->value[y].producer = m->upper[0];
    g->value[n->out[0]].producer = m->lower;
    p->has_code_bounds = image != NULL;
    p->code_lo = p->code_hi = 0;
    if (image) {
        p->act_lo = -INFINITY;
        p->act_hi = INFINITY;
        p->code_lo = (int32_t)image->lo;
        p->code_hi = (int32_t)image->hi;
    }
    return ASSAY_OK;
}

/* ---- down: the node below reads the rescale's input ---- */

bool rewrite_down_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    bool one = (lower_is_unary(g, n) && !lower_is_monotone(g, n)) || lower_is_edge(g, n, false);
    (void)uses;
    for (int slot = 0; slot < (one ? 1 : lower_is_binary(g, n) ? 2 : 0); slot++) {
        const assay_node *p = rewrite_above(g, m, slot);
        if (p && lower_is_rescale(g, p))
            return true;
        m->n_upper = 0;
    }
    return false;
}

assay_status rewrite_down_rewrite(assay_graph *g, const assay_match *m,
                                  const assay_rule_image *image, assay_error *err)
{
    (void)image;
    (void)err;
    g->node[m->lower].in[m->slot[0]] = g->node[m->upper[0]].in[0];
    return ASSAY_OK;
}

bool rewrite_gains_down_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    const assay_node *p = n->op == ASSAY_OP_LRN ? rewrite_above(g, m, 0) : NULL;
    (void)uses;
    return p && lower_is_rescale(g, p) && lower_is_code(assay_node_out(g, n, 0));
}

/* ---- product-down: the same for conv, fc and matmul; the bias is brought to the new scale ---- */

bool rewrite_product_down_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    const int operands = n->op == ASSAY_OP_MATMUL ? 2 : 1;
    (void)uses;
    if (!(lower_traits(n) & ASSAY_T_ABSORB_IN) || !lower_is_product(n) ||
        !assay_is_quantized(&g->value[n->out[0]].type))
        return false;
    if (n->in[0] == n->in[1]) /* of a value and itself: no proof of two operands is one of it */
        return false;
    for (int slot = 0; slot < operands; slot++) {
        const assay_node *p = rewrite_above(g, m, slot);
        if (p && lower_is_rescale(g, p))
            return true;
        m->n_upper = 0;
    }
    return false;
}

assay_status rewrite_product_down_rewrite(assay_graph *g, const assay_match *m,
                                          const assay_rule_image *image, assay_error *err)
{
    assay_node *n = &g->node[m->lower];
    int x = g->node[m->upper[0]].in[0], bias = n->n_in > 2 ? n->in[2] : ASSAY_NO_VALUE;
    assay_status s = ASSAY_OK;
    (void)image;
    if (bias >= 0 && m->factor != 1)
        s = prove_rescale_bias(g, m->lower, m->upper[0], m->factor, &bias, err);
    n = &g->node[m->lower];
    if (!s)
        n->in[m->slot[0]] = x;
    if (!s && bias >= 0)
        n->in[2] = bias;
    return s;
}
