/* Image ops from one layout to the other: the graph is built anew, node by node. A value may exist
 * in its old order, in the new one, or both; the second is made from the first when somebody needs
 * it.
 */
#include "graph/layout/layout.h"
#include "graph/memory.h"

#include <string.h>

#include "graph/layout/change.h"

/* perm[i] is the source's axis. */
static const int to_last[4] = {0, 2, 3, 1}, to_first[4] = {0, 3, 1, 2};

static const assay_type *type_of(const assay_layout_change *c, int v)
{
    return &c->from->value[v].type;
}

/* An operand of an element-wise op in the new order: of fewer dimensions it has leading ones. */
static assay_status operand(const assay_layout_change *c, int v, int *out)
{
    const assay_type *t = type_of(c, v);
    assay_type full = *t;

    if (t->rank == 4)
        return layout_value(c, v, ASSAY_ORDER_NEW, out);
    if (assay_shape_count(t) == 1)
        return layout_value(c, v, ASSAY_ORDER_OLD, out);
    full.rank = 4;
    for (int i = 0; i < 4; ++i)
        full.dim[i] = i < 4 - t->rank ? 1 : t->dim[i - (4 - t->rank)];
    if (full.q.granularity != ASSAY_Q_TENSOR)
        full.q.axis += 4 - t->rank;
    return layout_constant(c, v, &full, c->there, c->suffix[ASSAY_ORDER_NEW], out);
}

static bool is_elementwise(assay_op op)
{
    unsigned traits = assay_op_get(op)->traits;
    return traits & (ASSAY_T_UNARY | ASSAY_T_BINARY | ASSAY_T_COMPARE | ASSAY_T_CONVERT) ||
           op == ASSAY_OP_SELECT || op == ASSAY_OP_CAST || op == ASSAY_OP_LOGICAL_NOT;
}

/* Do all operands allow the new order, and is one there already? */
static bool flows(const assay_layout_change *c, const assay_node *n)
{
    bool any = false;

    if (type_of(c, n->out[0])->rank != 4)
        return false;
    for (int i = 0; i < n->n_in; ++i) {
        const assay_value *x = n->in[i] < 0 ? NULL : &c->from->value[n->in[i]];
        if (!x ||
            (x->type.rank != 4 && assay_shape_count(&x->type) != 1 && (!x->data || x->is_variable)))
            return false;
        any = any || (x->type.rank == 4 && c->at[ASSAY_ORDER_NEW][n->in[i]] >= 0 && !x->data);
    }
    return any;
}

/* Where an axis of the old order is in the new one. */
static int64_t moved_axis(const assay_layout_change *c, int64_t axis)
{
    return c->back[axis];
}

static void moved_list(const assay_layout_change *c, assay_list *list)
{
    const assay_list old = *list;
    for (int i = 0; i < 4 && old.n == 4; ++i)
        list->v[i] = old.v[c->there[i]];
}

/* Attributes for the new order, of an op that takes them; false: the op has to stay. */
static bool moved_attributes(const assay_layout_change *c, const assay_node *n, assay_attrs *a)
{
    switch (n->op) {
    case ASSAY_OP_CONCAT:
        a->axis.axis = moved_axis(c, a->axis.axis);
        return true;
    case ASSAY_OP_SPLIT:
        a->split.axis = moved_axis(c, a->split.axis);
        return true;
    case ASSAY_OP_SOFTMAX:
    case ASSAY_OP_LOG_SOFTMAX:
        a->softmax.axis = moved_axis(c, a->softmax.axis);
        return true;
    case ASSAY_OP_SLICE:
        moved_list(c, &a->slice.begin);
        moved_list(c, &a->slice.step);
        moved_list(c, &a->slice.size);
        return true;
    case ASSAY_OP_PAD:
        moved_list(c, &a->pad.begin);
        moved_list(c, &a->pad.end);
        return true;
    case ASSAY_OP_REDUCE_MEAN:
    case ASSAY_OP_REDUCE_SUM:
    case ASSAY_OP_REDUCE_MAX:
    case ASSAY_OP_REDUCE_MIN:
        for (int i = 0; i < a->reduce.axes.n; ++i)
            a->reduce.axes.v[i] = moved_axis(c, a->reduce.axes.v[i]);
        return a->reduce.keepdims;
    default:
        return is_elementwise(n->op);
    }
}

/* The layout of an image op; NULL: it has none. */
static int *layout_of(assay_op op, assay_attrs *a)
{
    switch (op) {
    case ASSAY_OP_CONV:
    case ASSAY_OP_CONV_TRANSPOSE:
        return &a->conv.layout;
    case ASSAY_OP_MAX_POOL:
    case ASSAY_OP_AVG_POOL:
        return &a->pool.layout;
    case ASSAY_OP_GLOBAL_AVG_POOL:
        return &a->layout.layout;
    case ASSAY_OP_LRN:
        return &a->lrn.layout;
    case ASSAY_OP_DEPTH_TO_SPACE:
    case ASSAY_OP_SPACE_TO_DEPTH:
        return &a->block.layout;
    case ASSAY_OP_RESIZE:
        return &a->resize.layout;
    default:
        return NULL;
    }
}

static bool takes_layout(const assay_layout_change *c, const assay_node *n)
{
    assay_attrs a = n->attr;
    const int *layout = layout_of(n->op, &a);

    return layout && *layout != (int)c->layout && type_of(c, n->in[0])->rank == 4 &&
           (n->op != ASSAY_OP_CONV_TRANSPOSE || a.conv.group == 1);
}

static void set_layout(const assay_layout_change *c, const assay_node *n, assay_attrs *a)
{
    *layout_of(n->op, a) = (int)c->layout;
    if (n->op != ASSAY_OP_RESIZE)
        return;
    moved_list(c, &a->resize.size);
    if (a->resize.scales.n == 4) {
        const assay_float_list old = a->resize.scales;
        for (int i = 0; i < 4; ++i)
            a->resize.scales.v[i] = old.v[c->there[i]];
    }
}

static assay_status add_node(const assay_layout_change *c, const assay_node *n, const int *in,
                             int n_in, const int *out, const assay_attrs *a)
{
    int id;
    assay_status s =
        assay_graph_add_node(c->to, n->op, n->name, in, n_in, out, n->n_out, a, &id, c->err);

    if (s)
        return s;
    c->to->node[id].act_lo = n->act_lo;
    c->to->node[id].act_hi = n->act_hi;
    c->to->node[id].has_code_bounds = n->has_code_bounds;
    c->to->node[id].code_lo = n->code_lo;
    c->to->node[id].code_hi = n->code_hi;
    return ASSAY_OK;
}

/* Filters with channels first are [O,I,h,w], or [I,O,h,w] of a transposed convolution; with
 * channels last [O,h,w,I]. */
static assay_status filters(const assay_layout_change *c, const assay_node *n, int *out)
{
    static const int transposed[2][4] = {{3, 0, 1, 2}, {1, 2, 3, 0}};
    const int *perm =
        n->op == ASSAY_OP_CONV ? c->there : transposed[c->layout == ASSAY_LAYOUT_NHWC];
    int v = n->in[1], x;
    assay_status s;

    if (c->from->value[v].data && !c->from->value[v].is_variable)
        return layout_constant(c, v, type_of(c, v), perm, c->suffix[ASSAY_ORDER_NEW], out);
    s = layout_value(c, v, ASSAY_ORDER_OLD, &x);
    return s ? s : layout_transpose(c, v, x, type_of(c, v), perm, c->suffix[ASSAY_ORDER_NEW], out);
}

static assay_status image_node(const assay_layout_change *c, const assay_node *n)
{
    assay_attrs a = n->attr;
    int in[3], out;
    assay_status s = layout_value(c, n->in[0], ASSAY_ORDER_NEW, &in[0]);

    set_layout(c, n, &a);
    if (!s && n->n_in > 1)
        s = filters(c, n, &in[1]);
    if (!s && n->n_in > 2)
        s = layout_value(c, n->in[2], ASSAY_ORDER_OLD, &in[2]);
    if (!s)
        s = layout_result(c, n->out[0], ASSAY_ORDER_NEW, &out);
    return s ? s : add_node(c, n, in, n->n_in, &out, &a);
}

#define FEW 16

static assay_status any_node(const assay_layout_change *c, const assay_node *n,
                             enum assay_order order, const assay_attrs *a)
{
    int few_in[FEW], few_out[FEW], *in = few_in, *out = few_out;
    assay_status s = ASSAY_OK;

    if (n->n_in > FEW)
        in = assay_arena_array(c->to->arena, (size_t)n->n_in, sizeof *in);
    if (n->n_out > FEW)
        out = assay_arena_array(c->to->arena, (size_t)n->n_out, sizeof *out);
    if (!in || !out)
        return assay_out_of_memory(c->err);
    for (int i = 0; !s && i < n->n_in; ++i)
        s = order == ASSAY_ORDER_NEW ? operand(c, n->in[i], &in[i])
                                     : layout_value(c, n->in[i], ASSAY_ORDER_OLD, &in[i]);
    for (int i = 0; !s && i < n->n_out; ++i)
        s = layout_result(c, n->out[i], order, &out[i]);
    return s ? s : add_node(c, n, in, n->n_in, out, a);
}

/* Reshapes and transposes read either order. */
static assay_status from_last(const assay_layout_change *c, const assay_node *n)
{
    assay_attrs a = n->attr;
    int out;
    assay_status s = layout_result(c, n->out[0], ASSAY_ORDER_OLD, &out);

    if (n->op == ASSAY_OP_TRANSPOSE)
        for (int i = 0; i < 4; ++i)
            a.perm.perm.v[i] = moved_axis(c, a.perm.perm.v[i]);
    return s ? s : add_node(c, n, &c->at[ASSAY_ORDER_NEW][n->in[0]], 1, &out, &a);
}

static assay_status change_node(const assay_layout_change *c, const assay_node *n)
{
    assay_attrs a = n->attr;
    bool has_last = n->n_in > 0 && n->in[0] >= 0 && c->at[ASSAY_ORDER_NEW][n->in[0]] >= 0;

    if (n->n_in > 0 && n->in[0] >= 0 && takes_layout(c, n))
        return image_node(c, n);
    if (has_last &&
        (n->op == ASSAY_OP_TRANSPOSE ||
         (n->op == ASSAY_OP_RESHAPE && layout_same_order(type_of(c, n->in[0]), c->there))))
        return from_last(c, n);
    if (flows(c, n) && moved_attributes(c, n, &a))
        return any_node(c, n, ASSAY_ORDER_NEW, &a);
    return any_node(c, n, ASSAY_ORDER_OLD, &n->attr);
}

/* ---- the graph ---- */

static assay_status change_graph(const assay_layout_change *c)
{
    const assay_graph *g = c->from;
    int *id = assay_arena_array(c->to->arena, (size_t)(g->n_inputs + g->n_outputs) + 1, sizeof *id);
    assay_status s = id ? ASSAY_OK : assay_out_of_memory(c->err);

    for (int i = 0; !s && i < g->n_inputs; ++i)
        if (!(s = layout_result(c, g->input[i], ASSAY_ORDER_OLD, &id[i])))
            c->to->value[id[i]].source_index = g->value[g->input[i]].source_index;
    if (!s)
        s = assay_graph_set_inputs(c->to, id, g->n_inputs, c->err);
    for (int i = 0; !s && i < g->n_nodes; ++i)
        s = change_node(c, &g->node[i]);
    for (int i = 0; !s && i < g->n_outputs; ++i)
        s = layout_value(c, g->output[i], ASSAY_ORDER_OLD, &id[i]);
    if (!s)
        s = assay_graph_set_outputs(c->to, id, g->n_outputs, c->err);
    return s ? s : assay_graph_verify(c->to, c->err);
}

assay_status layout_change(const assay_graph *g, enum assay_layout layout, assay_graph **out,
                           assay_error *err)
{
    bool last = layout == ASSAY_LAYOUT_NHWC;
    assay_layout_change c = {.from = g,
                             .layout = layout,
                             .there = last ? to_last : to_first,
                             .back = last ? to_first : to_last,
                             .suffix = {last ? "first" : "last", last ? "last" : "first"},
                             .err = err};
    bool needed = false;
    assay_status s;

    *out = NULL;
    for (int i = 0; i < g->n_nodes; ++i)
        needed = needed ||
                 (g->node[i].n_in > 0 && g->node[i].in[0] >= 0 && takes_layout(&c, &g->node[i]));
    if (!needed || g->n_subgraphs > 0)
        return ASSAY_OK;
    if ((s = assay_graph_new(g->name, &c.to, err)))
        return s;
    if ((s = assay_graph_set_quantized_for(c.to, g->quantized_for, err))) {
        assay_graph_free(c.to);
        return s;
    }
    for (int o = ASSAY_ORDER_OLD; o <= ASSAY_ORDER_NEW; ++o) {
        c.at[o] = assay_arena_array(c.to->arena, (size_t)g->n_values + 1, sizeof *c.at[o]);
        for (int v = 0; c.at[o] && v < g->n_values; ++v)
            c.at[o][v] = -1;
    }
    s = c.at[ASSAY_ORDER_OLD] && c.at[ASSAY_ORDER_NEW] ? change_graph(&c)
                                                       : assay_out_of_memory(err);
    if (s) {
        assay_graph_free(c.to);
        return s;
    }
    *out = c.to;
    return ASSAY_OK;
}
