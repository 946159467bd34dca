/* Tables: a chain of functions of one small code, at least one of them not a rescale, relu
 * or clip, becomes one lookup by the code itself. Floats between dequantize and quantize may lie on
 * the way. */
#include <assert.h>

#include "opt/rewrite/rules.h"

#define WIDEST_CODE 8 /* bits: a table of 256 entries */

static bool is_link(const assay_graph *g, const assay_node *n)
{
    return (lower_is_unary(g, n) || lower_is_edge(g, n, true) || lower_is_edge(g, n, false)) &&
           !lower_is_constant(g, n->in[0]);
}

bool rewrite_table_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    int chain[ASSAY_MATCH_UPPER], n_chain = 0, start = 0;
    const assay_node *n = &g->node[m->lower];
    bool proper = false;
    if (!is_link(g, n) || !lower_is_code(assay_node_out(g, n, 0)) ||
        assay_node_out(g, n, 0)->type.elem.bits > WIDEST_CODE)
        return false;
    for (const assay_node *at = n;
         ;) { /* upwards; the longest chain that begins with a small code */
        const assay_value *x = assay_node_in(g, at, 0);
        proper |= !(lower_traits(at) & (ASSAY_T_CONVERT | ASSAY_T_MONOTONE));
        if (lower_is_code(x) && x->type.elem.bits <= WIDEST_CODE && proper)
            start = n_chain;
        if (n_chain == ASSAY_MATCH_UPPER || x->producer < 0 || uses[at->in[0]] != 1 ||
            !is_link(g, &g->node[x->producer]))
            break;
        chain[n_chain++] = x->producer;
        at = &g->node[x->producer];
    }
    for (int i = 0; i < start; i++) {
        m->upper[i] = chain[start - 1 - i];
        m->slot[i] = 0;
    }
    m->n_upper = start;
    return start > 0;
}

/* m->data: the results for all codes of the input, from the least one on. */
assay_status rewrite_table_rewrite(assay_graph *g, const assay_match *m,
                                   const assay_rule_image *image, assay_error *err)
{
    int x = g->node[m->upper[0]].in[0], y = g->node[m->lower].out[0], table;
    const assay_value *out = &g->value[y];
    assert(g->value[x].type.elem.bits <= 32);
    assay_type t = {
        .elem = out->type.elem, .rank = 1, .dim = {(int64_t)1 << g->value[x].type.elem.bits}};
    (void)image;
    assay_status s = lower_rewrite_constant(g, out->name, "table", &t, m->data, &table, err);
    if (s)
        return s;
    assay_node *n = &g->node[m->lower];
    rewrite_to_rescale(n, x, NULL);
    n->op = ASSAY_OP_LOOKUP;
    return lower_rewrite_input(g, m->lower, 1, table, err);
}
