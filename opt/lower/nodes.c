/* Questions of passes, rules and their proofs about nodes and values, and edits that several of
 * them make; see nodes.h. */
#include "opt/lower/nodes.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "graph/core/arena.h"
#include "graph/core/type.h"
#include "opt/lower/pass.h"

uint32_t lower_traits(const assay_node *n)
{
    return assay_op_get(n->op)->traits;
}

bool lower_is_float(const assay_value *v)
{
    return v && v->type.elem.kind == ASSAY_KIND_F32;
}

bool lower_is_code(const assay_value *v)
{
    return v && assay_is_quantized(&v->type) && v->type.q.granularity == ASSAY_Q_TENSOR &&
           v->type.elem.bits <= ASSAY_WIDEST_TABLE;
}

bool lower_same_type(const assay_value *a, const assay_value *b)
{
    return assay_elem_equal(a->type.elem, b->type.elem) &&
           assay_qparams_equal(&a->type.q, &b->type.q);
}

bool lower_is_plain(const assay_node *n)
{
    return n->act_lo == -INFINITY && n->act_hi == INFINITY && !n->has_code_bounds;
}

bool lower_is_unary(const assay_graph *g, const assay_node *n)
{
    return lower_traits(n) & ASSAY_T_UNARY && n->n_out == 1 &&
           lower_is_code(assay_node_in(g, n, 0)) && lower_is_code(assay_node_out(g, n, 0));
}

bool lower_is_rescale(const assay_graph *g, const assay_node *n)
{
    return lower_is_unary(g, n) && lower_traits(n) & ASSAY_T_CONVERT;
}

bool lower_is_monotone(const assay_graph *g, const assay_node *n)
{
    return lower_is_unary(g, n) && lower_traits(n) & ASSAY_T_MONOTONE;
}

bool lower_is_binary(const assay_graph *g, const assay_node *n)
{
    return lower_traits(n) & ASSAY_T_BINARY && lower_is_code(assay_node_in(g, n, 0)) &&
           lower_is_code(assay_node_in(g, n, 1)) && lower_is_code(assay_node_out(g, n, 0));
}

bool lower_is_edge(const assay_graph *g, const assay_node *n, bool to_codes)
{
    const assay_value *x = assay_node_in(g, n, 0), *y = assay_node_out(g, n, 0);
    return lower_traits(n) & ASSAY_T_CONVERT && lower_is_float(to_codes ? x : y) &&
           lower_is_code(to_codes ? y : x);
}

bool lower_is_product(const assay_node *n)
{
    return lower_traits(n) & ASSAY_T_WEIGHTED || n->op == ASSAY_OP_MATMUL;
}

bool lower_only_moves(const assay_node *n)
{
    const uint32_t traits = lower_traits(n);
    return traits & ASSAY_T_MOVE || (traits & ASSAY_T_SELECTS && !(traits & ASSAY_T_MONOTONE)) ||
           (traits & ASSAY_T_INTERPOLATES && n->attr.resize.mode == ASSAY_RESIZE_NEAREST);
}

bool lower_interpolates(const assay_node *n)
{
    return lower_traits(n) & ASSAY_T_INTERPOLATES && n->attr.resize.mode == ASSAY_RESIZE_LINEAR;
}

int lower_data_inputs(const assay_graph *g, const assay_node *n, int *first)
{
    int end = 0;
    *first = 0;
    while (*first < n->n_in && !lower_is_code(assay_node_in(g, n, *first)))
        ++*first;
    for (end = *first; end < n->n_in && lower_is_code(assay_node_in(g, n, end));)
        end++;
    return end - *first;
}

bool lower_pad_fill(const assay_attr_pad *a, const assay_type *t, int64_t *code)
{
    const bool lowest = a->value == -INFINITY || a->value == -FLT_MAX;
    *code = a->has_code ? a->code : lowest ? assay_elem_min(t->elem) : t->q.zero_point[0];
    return a->mode == ASSAY_PAD_CONSTANT && (a->has_code || lowest || a->value == 0);
}

bool lower_is_output(const assay_graph *g, int value)
{
    for (int i = 0; i < g->n_outputs; i++)
        if (g->output[i] == value)
            return true;
    return false;
}

bool lower_same_bounds(const assay_node *a, const assay_node *b)
{
    return a->act_lo == b->act_lo && a->act_hi == b->act_hi &&
           a->has_code_bounds == b->has_code_bounds && a->code_lo == b->code_lo &&
           a->code_hi == b->code_hi;
}

/* ---- edits ---- */

assay_status lower_stand_for(assay_graph *g, int x, int lower)
{
    int producer = g->value[x].producer, y = g->node[lower].out[0];
    if (!lower_is_output(g, y) || producer < 0 || lower_is_output(g, x)) {
        assay_graph_replace_uses(g, y, x);
        return ASSAY_OK;
    }
    assay_graph_replace_uses(g, x, y);
    lower_rewrite_output(g, producer, y);
    g->node[lower].out[0] = x;
    g->value[x].producer = lower;
    return ASSAY_OK;
}

char *lower_derived_name(assay_graph *g, const char *base, const char *suffix)
{
    size_t length = strlen(base), more = strlen(suffix) + 1;
    char *name = assay_arena_alloc(g->arena, length + more);
    if (name) {
        memcpy(name, base, length);
        memcpy(name + length, suffix, more);
    }
    return name;
}

/* ---- layouts ---- */

void lower_layout_perms(int rank, int layout, assay_list *there, assay_list *back)
{
    const bool last = layout == ASSAY_LAYOUT_NHWC;
    there->n = back->n = rank;
    for (int i = 0; i < rank; i++) {
        int from = i == 0 ? 0 : last ? (i == rank - 1 ? 1 : i + 1) : (i == 1 ? rank - 1 : i - 1);
        there->v[i] = from;
        back->v[from] = i;
    }
}

assay_type lower_permuted_type(const assay_type *t, const assay_list *perm)
{
    assay_type to = *t;
    for (int i = 0; i < perm->n; i++) {
        to.dim[i] = t->dim[perm->v[i]];
        if (t->q.granularity == ASSAY_Q_AXIS && t->q.axis == perm->v[i])
            to.q.axis = i;
    }
    return to;
}

int *lower_layout_of(assay_node *n)
{
    switch (assay_op_get(n->op)->attrs) {
    case ASSAY_ATTRS_conv:
        return &n->attr.conv.layout;
    case ASSAY_ATTRS_pool:
        return &n->attr.pool.layout;
    case ASSAY_ATTRS_layout:
        return &n->attr.layout.layout;
    case ASSAY_ATTRS_lrn:
        return &n->attr.lrn.layout;
    case ASSAY_ATTRS_resize:
        return &n->attr.resize.layout;
    default:
        return NULL;
    }
}
