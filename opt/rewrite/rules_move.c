/* Movements: two become one, those that move nothing are removed, transposes sink towards each
 * other. */
#include "graph/memory.h"
#include "opt/rewrite/rules.h"

#include <string.h>

/* Both a transpose, or both a reshape. */
static bool compose(const assay_node *n, const assay_node *p)
{
    return n->op == p->op && (n->op == ASSAY_OP_TRANSPOSE || n->op == ASSAY_OP_RESHAPE);
}

/* n's elements are x's in the same order, so that a reshape can do it. */
static bool moves_ones_only(const assay_type *x, const assay_list *perm)
{
    int64_t last = -1;
    for (int i = 0; i < perm->n; i++)
        if (x->dim[perm->v[i]] != 1) {
            if (perm->v[i] < last)
                return false;
            last = perm->v[i];
        }
    return true;
}

static bool same_extents(const assay_graph *g, const assay_node *n)
{
    return assay_shape_equal(&assay_node_in(g, n, 0)->type, &assay_node_out(g, n, 0)->type);
}

/* ---- merge-moves ---- */

bool rewrite_merge_moves_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    (void)uses;
    if (!(lower_traits(n) & ASSAY_T_MOVE) || n->n_in != 1 || n->n_out != 1 ||
        lower_is_constant(g, n->in[0]))
        return false;
    if (n->op == ASSAY_OP_RESHAPE && same_extents(g, n))
        return rewrite_may_stand_for(g, m, n->in[0]);
    if (n->op == ASSAY_OP_TRANSPOSE &&
        moves_ones_only(&assay_node_in(g, n, 0)->type, &n->attr.perm.perm))
        return !same_extents(g, n) || rewrite_may_stand_for(g, m, n->in[0]);
    const assay_node *p = rewrite_above(g, m, 0);
    return p && compose(n, p) && !lower_is_constant(g, p->in[0]);
}

static void to_reshape(const assay_graph *g, assay_node *n)
{
    const assay_type *y = &g->value[n->out[0]].type;
    n->op = ASSAY_OP_RESHAPE;
    assay_attrs_defaults(assay_op_get(n->op)->attrs, &n->attr);
    n->attr.shape.shape.n = y->rank;
    for (int i = 0; i < y->rank; i++)
        n->attr.shape.shape.v[i] = y->dim[i];
}

assay_status rewrite_merge_moves_rewrite(assay_graph *g, const assay_match *m,
                                         const assay_rule_image *image, assay_error *err)
{
    assay_node *n = &g->node[m->lower];
    (void)image;
    (void)err;
    if (m->n_upper == 0 && same_extents(g, n))
        return lower_stand_for(g, n->in[0], m->lower);
    if (m->n_upper == 0) {
        to_reshape(g, n);
        return ASSAY_OK;
    }
    const assay_node *p = &g->node[m->upper[0]];
    if (n->op == ASSAY_OP_TRANSPOSE) {
        assay_list perm = n->attr.perm.perm;
        for (int i = 0; i < perm.n; i++)
            n->attr.perm.perm.v[i] = p->attr.perm.perm.v[perm.v[i]];
    }
    n->in[0] = p->in[0];
    return ASSAY_OK;
}

/* ---- sink-transpose: below what works element by element ---- */

bool rewrite_sink_transpose_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    bool one = lower_is_unary(g, n) || lower_is_edge(g, n, true) || lower_is_edge(g, n, false);
    if (lower_is_rescale(g, n) || !(one || lower_is_binary(g, n)))
        return false; /* a rescale sinks below the transpose: not back again */
    for (int i = 0; i < (one ? 1 : 2); i++) {
        const assay_node *p = rewrite_above(g, m, i);
        const assay_node *first = p ? &g->node[m->upper[0]] : NULL;
        if (!p || p->op != ASSAY_OP_TRANSPOSE ||
            uses[p->out[0]] != 1 + (!one && n->in[0] == n->in[1]) ||
            !assay_attrs_equal(ASSAY_ATTRS_perm, &p->attr, &first->attr))
            return false;
    }
    return one || assay_shape_equal(&assay_node_in(g, n, 0)->type, &assay_node_in(g, n, 1)->type);
}

/* ---- the same below what moves along axes: concat, pad, slice ---- */

bool rewrite_transpose_move_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    if (n->op != ASSAY_OP_CONCAT && n->op != ASSAY_OP_SLICE &&
        (n->op != ASSAY_OP_PAD || n->attr.pad.mode != ASSAY_PAD_CONSTANT))
        return false;
    for (int i = 0; i < n->n_in; i++) {
        const assay_node *p = rewrite_above(g, m, i);
        const assay_node *first = p ? &g->node[m->upper[0]] : NULL;
        if (!p || p->op != ASSAY_OP_TRANSPOSE || uses[p->out[0]] != 1 ||
            lower_is_constant(g, p->in[0]) ||
            !assay_attrs_equal(ASSAY_ATTRS_perm, &p->attr, &first->attr))
            return false;
    }
    return n->n_out == 1 && m->n_upper == n->n_in;
}

static void permute_list(assay_list *l, const assay_list *perm)
{
    const assay_list old = *l;
    for (int i = 0; i < perm->n && old.n == perm->n; i++)
        l->v[perm->v[i]] = old.v[i];
}

/* Attributes by axis, of a node that works in front of the transpose. */
static void permute_attributes(assay_node *n, const assay_list *perm)
{
    if (n->op == ASSAY_OP_CONCAT)
        n->attr.axis.axis = perm->v[n->attr.axis.axis];
    if (n->op == ASSAY_OP_PAD) {
        permute_list(&n->attr.pad.begin, perm);
        permute_list(&n->attr.pad.end, perm);
    }
    if (n->op == ASSAY_OP_SLICE) {
        permute_list(&n->attr.slice.begin, perm);
        permute_list(&n->attr.slice.step, perm);
        permute_list(&n->attr.slice.size, perm);
    }
}

/* The node takes the place of the last transpose, and a transpose the node's; NAME:sunk stands
 * between them. */
assay_status rewrite_sink_transpose_rewrite(assay_graph *g, const assay_match *m,
                                            const assay_rule_image *image, assay_error *err)
{
    const int last = rewrite_take_last(g, m);
    int between;
    (void)image;
    assay_node node = g->node[m->lower], transpose = g->node[last];
    const assay_value *y = &g->value[node.out[0]];
    const assay_list *perm = &transpose.attr.perm.perm;
    assay_type t = y->type;
    for (int i = 0; i < perm->n; i++)
        t.dim[perm->v[i]] = y->type.dim[i];
    char *name = lower_derived_name(g, y->name, ":sunk");
    if (!name)
        return assay_out_of_memory(err);
    assay_status s = assay_graph_add_value(g, name, &t, &between, err);
    if (s)
        return s;
    for (int i = 0; i < m->n_upper; i++)
        node.in[m->slot[i]] = g->node[m->upper[i]].in[0];
    permute_attributes(&node, perm);
    int result = node.out[0];
    g->value[transpose.out[0]].producer = -1;
    node.out[0] = between;
    transpose.in[0] = between;
    transpose.out[0] = result;
    g->node[last] = node;
    g->node[m->lower] = transpose;
    g->value[between].producer = last;
    g->value[result].producer = m->lower;
    return ASSAY_OK;
}
