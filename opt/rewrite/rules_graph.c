/* Rewrites of the graph rather than of scales: common nodes, constants, padding, choices. */
#include "graph/memory.h"
#include "opt/rewrite/rules.h"

#include <math.h>
#include <string.h>

#define LARGEST_CONSTANT ((int64_t)1 << 16) /* elements of a constant that a proof writes out */

/* ---- common: the same node twice ---- */

static bool same_node(const assay_graph *g, const assay_node *a, const assay_node *b)
{
    return a->op == b->op && a->n_in == b->n_in && a->n_out == 1 && b->n_out == 1 &&
           memcmp(a->in, b->in, (size_t)a->n_in * sizeof *a->in) == 0 && lower_same_bounds(a, b) &&
           assay_attrs_equal(assay_op_get(a->op)->attrs, &a->attr, &b->attr) &&
           lower_same_type(&g->value[a->out[0]], &g->value[b->out[0]]) &&
           assay_shape_equal(&g->value[a->out[0]].type, &g->value[b->out[0]].type);
}

bool rewrite_common_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    (void)uses;
    if (lower_traits(n) & ASSAY_T_STATE || n->n_in < 1)
        return false;
    for (int i = 0; i < m->lower; i++)
        if (same_node(g, &g->node[i], n)) {
            m->upper[0] = i;
            m->slot[0] = -1; /* it stands beside the node */
            m->n_upper = 1;
            return rewrite_may_stand_for(g, m, g->node[i].out[0]);
        }
    return false;
}

assay_status rewrite_common_rewrite(assay_graph *g, const assay_match *m,
                                    const assay_rule_image *image, assay_error *err)
{
    (void)image;
    (void)err;
    return lower_stand_for(g, g->node[m->upper[0]].out[0], m->lower);
}

/* ---- constant: what depends on a constant only is computed once ---- */

bool rewrite_constant_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    bool moves = n->op == ASSAY_OP_TRANSPOSE || n->op == ASSAY_OP_RESHAPE;
    (void)uses;
    return (moves || lower_is_unary(g, n) || lower_is_edge(g, n, true) ||
            lower_is_edge(g, n, false)) &&
           n->n_out == 1 && lower_is_constant(g, n->in[0]) && !lower_is_output(g, n->out[0]) &&
           assay_shape_count(&g->value[n->in[0]].type) <= LARGEST_CONSTANT;
}

/* The same of constants of any size that only move, or change their parameters. */
bool rewrite_constant_move_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    (void)uses;
    return (n->op == ASSAY_OP_TRANSPOSE || n->op == ASSAY_OP_RESHAPE ||
            n->op == ASSAY_OP_RELABEL) &&
           lower_is_constant(g, n->in[0]) && !lower_is_output(g, n->out[0]);
}

/* m->data: the elements. */
assay_status rewrite_constant_rewrite(assay_graph *g, const assay_match *m,
                                      const assay_rule_image *image, assay_error *err)
{
    int y = g->node[m->lower].out[0], unused;
    size_t bytes = assay_type_bytes(&g->value[y].type);
    void *data = assay_arena_alloc(g->arena, bytes);
    char *name = lower_derived_name(g, g->value[y].name, ":computed");
    (void)image;
    if (!data || !name)
        return assay_out_of_memory(err);
    const assay_type type = g->value[y].type;
    assay_status s = assay_graph_add_value(g, name, &type, &unused, err);
    if (s)
        return s;
    memcpy(data, m->data, bytes);
    g->value[y].data = data;
    lower_rewrite_output(g, m->lower, unused);
    return ASSAY_OK;
}

/* ---- pad: padding in space goes into the convolution behind it ---- */

static bool pads_space_only(const assay_graph *g, const assay_node *pad, int layout)
{
    const assay_attr_pad *a = &pad->attr.pad;
    int rank = assay_node_out(g, pad, 0)->type.rank;
    int channel = layout == ASSAY_LAYOUT_NHWC ? rank - 1 : 1;
    if (pad->op != ASSAY_OP_PAD || a->mode != ASSAY_PAD_CONSTANT || a->begin.n != rank ||
        a->end.n != rank)
        return false;
    for (int i = 0; i < rank; i++)
        if (a->begin.v[i] < 0 || a->end.v[i] < 0 ||
            ((i == 0 || i == channel) && (a->begin.v[i] != 0 || a->end.v[i] != 0)))
            return false;
    return true;
}

bool rewrite_pad_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    (void)uses;
    if (n->op != ASSAY_OP_CONV || !lower_is_code(assay_node_in(g, n, 0)))
        return false;
    const assay_node *p = rewrite_above(g, m, 0);
    return p && pads_space_only(g, p, n->attr.conv.layout) &&
           n->attr.conv.pad_begin.n == n->attr.conv.pad_end.n;
}

assay_status rewrite_pad_rewrite(assay_graph *g, const assay_match *m,
                                 const assay_rule_image *image, assay_error *err)
{
    assay_node *n = &g->node[m->lower];
    const assay_node *p = &g->node[m->upper[0]];
    assay_attr_conv *a = &n->attr.conv;
    int first = a->layout == ASSAY_LAYOUT_NHWC ? 1 : 2;
    (void)image;
    (void)err;
    for (int i = 0; i < a->pad_begin.n; i++) {
        a->pad_begin.v[i] += p->attr.pad.begin.v[first + i];
        a->pad_end.v[i] += p->attr.pad.end.v[first + i];
    }
    n->in[0] = p->in[0];
    return ASSAY_OK;
}

/* ---- clip: the greater or the lesser of a code and one constant is a rescale with bounds ---- */

bool rewrite_clip_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    const uint32_t needed = ASSAY_T_SELECTS | ASSAY_T_MONOTONE;
    (void)uses;
    if ((lower_traits(n) & needed) != needed || !lower_is_binary(g, n))
        return false;
    for (int i = 0; i < 2; i++) /* the other operand is the constant */
        if (lower_is_constant(g, n->in[1 - i]) && !lower_is_constant(g, n->in[i]) &&
            assay_shape_count(&g->value[n->in[1 - i]].type) == 1 &&
            assay_shape_equal(&g->value[n->in[i]].type, &g->value[n->out[0]].type))
            return true;
    return false;
}

assay_status rewrite_clip_rewrite(assay_graph *g, const assay_match *m,
                                  const assay_rule_image *image, assay_error *err)
{
    assay_node *n = &g->node[m->lower];
    (void)err;
    rewrite_to_rescale(n, n->in[lower_is_constant(g, n->in[0]) ? 1 : 0], image);
    return ASSAY_OK;
}

/* ---- mean: over the axes of space, it is the pool of all cells ---- */

/* The layout in which the reduced axes are those of space, or -1. */
static int layout_of(const assay_attr_reduce *a, int rank)
{
    if (rank != 4 || !a->keepdims || a->axes.n != 2)
        return -1;
    int64_t low = a->axes.v[0] < a->axes.v[1] ? a->axes.v[0] : a->axes.v[1];
    int64_t high = a->axes.v[0] + a->axes.v[1] - low;
    return low == 2 && high == 3   ? ASSAY_LAYOUT_NCHW
           : low == 1 && high == 2 ? ASSAY_LAYOUT_NHWC
                                   : -1;
}

bool rewrite_mean_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    (void)uses;
    return n->op == ASSAY_OP_REDUCE_MEAN && lower_is_code(assay_node_in(g, n, 0)) &&
           lower_is_code(assay_node_out(g, n, 0)) &&
           layout_of(&n->attr.reduce, assay_node_in(g, n, 0)->type.rank) >= 0;
}

assay_status rewrite_mean_rewrite(assay_graph *g, const assay_match *m,
                                  const assay_rule_image *image, assay_error *err)
{
    assay_node *n = &g->node[m->lower];
    int layout = layout_of(&n->attr.reduce, 4);
    (void)image;
    (void)err;
    n->op = ASSAY_OP_GLOBAL_AVG_POOL;
    assay_attrs_defaults(assay_op_get(n->op)->attrs, &n->attr);
    n->attr.layout.layout = layout;
    return ASSAY_OK;
}
