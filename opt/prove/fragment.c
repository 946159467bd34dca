/* Fragments; see fragment.h. */
#include "opt/prove/fragment.h"
#include "graph/memory.h"

#include <stdlib.h>
#include <string.h>

#include "opt/lower/pass.h"
#include "opt/prove/products.h"

/* Copies values and nodes on demand; `map` is by value of the network. */
typedef struct cutter {
    const assay_graph *from;
    assay_graph *to;
    int *map;
    int64_t elements;         /* > 0: element-wise values get one dimension of so many */
    bool keeps;               /* constants stay constants */
    const assay_node *shrunk; /* the weighted node whose operands lose their extents, or NULL */
    bool above;               /* the others stand above it, and have its input's extents */
} cutter;

static void set_shape(assay_type *t, int rank, const int64_t *dim)
{
    t->rank = rank;
    memcpy(t->dim, dim, (size_t)rank * sizeof *dim);
}

/* The extents of a matrix product's operand: one column for each of b's parameters. */
static void shrink_matrix(const assay_node *n, int slot, int64_t columns, assay_type *t)
{
    const int axis = slot == 1 && n->attr.matmul.transpose_b ? 0 : 1;
    t->rank = 2;
    t->dim[0] = t->dim[1] = 1;
    if (slot != 0)
        t->dim[axis] = columns;
    if (t->q.granularity == ASSAY_Q_AXIS)
        t->q.axis = axis;
}

/* Extents of a shrunk node's operand: channels where its parameters need them, else 1. */
static void shrink_shape(const cutter *c, int slot, assay_type *t)
{
    const assay_node *n = c->shrunk;
    const assay_type *w = &c->from->value[n->in[1]].type;
    const assay_attr_conv *a = &n->attr.conv;
    const int64_t channels = prove_product_channels(c->from, n);
    const bool conv = n->op != ASSAY_OP_FC, first = conv && a->layout == ASSAY_LAYOUT_NCHW;
    int64_t groups = conv ? a->group : 1, ones[ASSAY_MAX_RANK] = {1, 1, 1, 1, 1, 1};
    if (n->op == ASSAY_OP_MATMUL) {
        shrink_matrix(n, slot, channels, t);
        return;
    }
    int axis = first ? 1 : w->rank - 1;
    if (slot == 2) {
        t->rank = 1;
        t->dim[0] = channels;
        return;
    }
    set_shape(t, w->rank, ones);
    if (slot == 0) {
        t->dim[axis] = groups;
    } else if (slot == 1 && n->op == ASSAY_OP_CONV_TRANSPOSE && first) {
        t->dim[0] = groups;
        t->dim[1] = channels / groups;
    } else if (slot == 1) {
        t->dim[0] = channels;
    } else {
        t->dim[axis] = channels;
    }
}

static int slot_of(const cutter *c, int value)
{
    const assay_node *n = c->shrunk;
    for (int i = 0; n && i < n->n_in; i++)
        if (n->in[i] == value)
            return i;
    return n && c->above && value != n->out[0] ? 0 : -1;
}

/* A constant operand of an element-wise node: a table as it is, one number for all elements. */
static assay_status copy_constant(cutter *c, int value, bool is_table, assay_error *err)
{
    const assay_value *v = &c->from->value[value];
    assay_type t = v->type;
    if (is_table || c->keeps)
        return assay_graph_add_constant(c->to, v->name, &t, v->data, &c->map[value], err);
    set_shape(&t, 1, &c->elements);
    assay_status s = assay_graph_add_constant(c->to, v->name, &t, NULL, &c->map[value], err);
    size_t size = assay_elem_size(t.elem);
    char *data = s ? NULL : (char *)(uintptr_t)c->to->value[c->map[value]].data;
    for (int64_t i = 0; data && i < c->elements; i++)
        memcpy(data + (size_t)i * size, v->data, size);
    return s;
}

/* reader: the node whose input `at` the value is; NULL: the value is what a node yields. */
static assay_status copy_value(cutter *c, int value, const assay_node *reader, int at,
                               assay_error *err)
{
    if (value < 0 || c->map[value] >= 0)
        return ASSAY_OK;
    const assay_value *v = &c->from->value[value];
    bool constant = reader && lower_is_constant(c->from, value);
    bool is_table = constant && at > 0 && assay_op_get(reader->op)->traits & ASSAY_T_UNARY;
    if (constant && (c->keeps || is_table || (c->elements > 0 && assay_shape_count(&v->type) == 1)))
        return copy_constant(c, value, is_table, err);
    assay_type t = v->type;
    int slot = slot_of(c, value);
    if (c->elements > 0)
        set_shape(&t, 1, &c->elements);
    else if (c->shrunk)
        shrink_shape(c, slot, &t);
    if (slot > 0 &&
        reader) { /* weights, of which a proof looks at the network's; the bias as it is */
        const void *data = slot == 2 && lower_is_constant(c->from, value) ? v->data : NULL;
        return assay_graph_add_constant(c->to, v->name, &t, data, &c->map[value], err);
    }
    assay_status s = assay_graph_add_value(c->to, v->name, &t, &c->map[value], err);
    if (s || !reader)
        return s;
    int ids[ASSAY_MATCH_UPPER * 2 + 1], n = c->to->n_inputs;
    if (n >= ASSAY_MATCH_UPPER * 2)
        return assay_fail(err, ASSAY_ERR_LIMIT, "a fragment of more than %d inputs", n);
    for (int i = 0; i < n; i++)
        ids[i] = c->to->input[i];
    ids[n] = c->map[value];
    return assay_graph_set_inputs(c->to, ids, n + 1, err);
}

static void shrink_attributes(const cutter *c, const assay_node *n, assay_attrs *a)
{
    if (n != c->shrunk || assay_op_get(n->op)->attrs != ASSAY_ATTRS_conv)
        return;
    for (int i = 0; i < a->conv.kernel.n; i++) {
        a->conv.kernel.v[i] = a->conv.stride.v[i] = a->conv.dilation.v[i] = 1;
        a->conv.pad_begin.v[i] = a->conv.pad_end.v[i] = 0;
    }
    for (int i = 0; i < a->conv.output_padding.n; i++)
        a->conv.output_padding.v[i] = 0;
}

static assay_status copy_node(cutter *c, const assay_node *n, assay_error *err)
{
    int in[ASSAY_MATCH_UPPER], out[ASSAY_MATCH_UPPER], id;
    assay_attrs attr = n->attr;
    assay_status s = ASSAY_OK;
    if (n->n_in > ASSAY_MATCH_UPPER || n->n_out > ASSAY_MATCH_UPPER)
        return assay_fail(err, ASSAY_ERR_LIMIT, "node '%s': too many operands", n->name);
    for (int i = 0; i < n->n_in && !s; i++)
        s = copy_value(c, n->in[i], n, i, err);
    for (int i = 0; i < n->n_out && !s; i++)
        s = copy_value(c, n->out[i], NULL, 0, err);
    if (s)
        return s;
    for (int i = 0; i < n->n_in; i++)
        in[i] = n->in[i] < 0 ? ASSAY_NO_VALUE : c->map[n->in[i]];
    for (int i = 0; i < n->n_out; i++)
        out[i] = c->map[n->out[i]];
    shrink_attributes(c, n, &attr);
    s = assay_graph_add_node(c->to, n->op, n->name, in, n->n_in, out, n->n_out, &attr, &id, err);
    if (s)
        return s;
    assay_node *copy = &c->to->node[id];
    copy->act_lo = n->act_lo;
    copy->act_hi = n->act_hi;
    copy->has_code_bounds = n->has_code_bounds;
    copy->code_lo = n->code_lo;
    copy->code_hi = n->code_hi;
    return ASSAY_OK;
}

static assay_status cut(cutter *c, const assay_match *m, assay_graph **out, assay_error *err)
{
    *out = NULL;
    c->map = malloc(((size_t)c->from->n_values + 1) * sizeof *c->map);
    assay_status s = c->map ? assay_graph_new("fragment", &c->to, err) : assay_out_of_memory(err);
    for (int v = 0; v < c->from->n_values && !s; v++)
        c->map[v] = -1;
    for (int i = 0; i < m->n_upper && !s; i++)
        if (c->map[c->from->node[m->upper[i]].out[0]] < 0)
            s = copy_node(c, &c->from->node[m->upper[i]], err);
    const assay_node *lower = &c->from->node[m->lower];
    if (!s)
        s = copy_node(c, lower, err);
    int outputs[ASSAY_MATCH_UPPER];
    for (int i = 0; i < lower->n_out && !s; i++)
        outputs[i] = c->map[lower->out[i]];
    if (!s)
        s = assay_graph_set_outputs(c->to, outputs, lower->n_out, err);
    free(c->map);
    if (s) {
        assay_graph_free(c->to);
        return s;
    }
    *out = c->to;
    return ASSAY_OK;
}

assay_status prove_fragment_cut(const assay_graph *g, const assay_match *m, int64_t elements,
                                assay_graph **out, assay_error *err)
{
    cutter c = {.from = g, .elements = elements};
    return cut(&c, m, out, err);
}

assay_status prove_fragment_keep(const assay_graph *g, const assay_match *m, assay_graph **out,
                                 assay_error *err)
{
    cutter c = {.from = g, .keeps = true};
    return cut(&c, m, out, err);
}

bool prove_fragment_shrinks(const assay_graph *g, const assay_node *n)
{
    const assay_type *w = n->n_in > 1 && n->in[1] >= 0 ? &g->value[n->in[1]].type : NULL;
    const bool known = n->op == ASSAY_OP_MATMUL || n->op == ASSAY_OP_FC || n->op == ASSAY_OP_CONV ||
                       n->op == ASSAY_OP_CONV_TRANSPOSE;
    if (!w || !known || w->q.granularity == ASSAY_Q_BLOCK ||
        (n->op == ASSAY_OP_MATMUL && (w->rank < 2 || g->value[n->in[0]].type.rank < 2)))
        return false;
    return w->q.count <= 1 || (int64_t)w->q.count == prove_product_channels(g, n);
}

assay_status prove_fragment_shrink(const assay_graph *g, const assay_match *m, assay_graph **out,
                                   assay_error *err)
{
    const assay_node *lower = &g->node[m->lower];
    cutter c = {.from = g, .shrunk = lower, .above = true};
    for (int i = 0; i < m->n_upper; i++)
        if (prove_fragment_shrinks(g, &g->node[m->upper[i]])) {
            c.shrunk = &g->node[m->upper[i]];
            c.above = false;
        }
    return cut(&c, m, out, err);
}

assay_match prove_fragment_match(const assay_match *m)
{
    assay_match f = *m;
    int n = 0;
    for (int i = 0; i < m->n_upper; i++) { /* one upper may feed several slots */
        f.upper[i] = n;
        for (int j = 0; j < i; j++)
            if (m->upper[j] == m->upper[i])
                f.upper[i] = f.upper[j];
        n += f.upper[i] == n;
    }
    f.lower = n;
    f.obstacle = NULL;
    f.data = NULL;
    return f;
}
