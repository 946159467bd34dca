/* Variables: a handle each, READ_VARIABLE, ASSIGN_VARIABLE; their first values. Control flow. */
#include <stdio.h>
#include <string.h>

#include "graph/memory.h"
#include "graph/tflite/export/emit.h"

enum { OPTION_SHARED_NAME = 1 };

bool tfl_starts_at_zero(const assay_value *v)
{
    const unsigned char *at = v->data;
    size_t bytes = assay_type_bytes(&v->type);
    int zero = assay_elem_size(v->type.elem) == 1 && v->type.q.granularity == ASSAY_Q_TENSOR
                   ? v->type.q.zero_point[0] & 0xff
                   : 0;

    for (size_t i = 0; at && i < bytes; ++i)
        if (at[i] != zero)
            return false;
    return true;
}

/* The variable's handle. */
static int handle(tfl_export *x, const assay_node *n)
{
    const assay_value *v = &x->g->value[n->in[0]];
    const assay_type scalar = {.elem = assay_int(32, true)};
    int t = x->tensor_of[n->in[0]];

    if (t >= 0)
        return t;
    t = x->tensor_of[n->in[0]] = tfl_extra(x, n, "handle", &scalar, NULL);
    if (t < 0)
        return t;
    x->tensor[t].raw = TFL_RESOURCE;
    tfl_add_operator(x, BUILTIN_VAR_HANDLE, NULL, 0, &t, 1);
    tfl_option(x, OPTION_SHARED_NAME, FLAT_OFFSET, 0);
    if (!x->status)
        x->op[x->n_ops - 1].text = v->name;
    return t;
}

/* "NAME:initial" is assigned to variable `v`. */
static assay_status add_initial(assay_graph *g, const assay_value *v, assay_error *err)
{
    size_t room = strlen(v->name) + 16;
    char *name = assay_arena_alloc(g->arena, room);
    int in[2], y;
    assay_status s;

    if (!name)
        return assay_out_of_memory(err);
    snprintf(name, room, "%s:initial", v->name);
    if ((s = assay_graph_add_variable(g, v->name, &v->type, NULL, &in[0], err)) ||
        (s = assay_graph_borrow_constant(g, name, &v->type, v->data, &in[1], err)))
        return s;
    snprintf(name, room, "%s:assigned", v->name);
    if ((s = assay_graph_add_value(g, name, &v->type, &y, err)))
        return s;
    return assay_graph_add_node(g, ASSAY_OP_ASSIGN, NULL, in, 2, &y, 1, NULL, NULL, err);
}

assay_status tfl_initial_graph(const tfl_export *part, int n_parts, assay_graph **out,
                               assay_error *err)
{
    assay_status s = assay_graph_new("initial", out, err);

    for (int k = 0; k < n_parts && !s; ++k)
        for (int i = 0; i < part[k].g->n_values && !s; ++i) {
            const assay_value *v = &part[k].g->value[i];
            if (v->is_variable && !tfl_starts_at_zero(v) &&
                assay_graph_find_value(*out, v->name) < 0)
                s = add_initial(*out, v, err);
        }
    if (s || (*out)->n_nodes == 0) {
        assay_graph_free(*out);
        *out = NULL;
    }
    return s;
}

/* Bodies are subgraphs of the model. */
static void flow(tfl_export *x, const assay_node *n)
{
    int *in = tfl_room(x, (size_t)n->n_in * sizeof *in + 1);
    int *out = tfl_room(x, (size_t)n->n_out * sizeof *out + 1);
    bool branch = n->op == ASSAY_OP_IF;
    int64_t first = branch ? n->attr.branch.on_true : n->attr.loop.condition;
    int64_t second = branch ? n->attr.branch.on_false : n->attr.loop.body;

    for (int i = 0; in && i < n->n_in; ++i)
        in[i] = tfl_add_tensor(x, n->in[i]);
    for (int i = 0; out && i < n->n_out; ++i)
        out[i] = tfl_add_tensor(x, n->out[i]);
    if (!in || !out)
        return;
    tfl_add_operator(x, branch ? BUILTIN_IF : BUILTIN_WHILE, in, n->n_in, out, n->n_out);
    tfl_option(x, 0, 4, x->body[first]);
    tfl_option(x, 1, 4, x->body[second]);
}

/* What was assigned is the result too: its users take the assigned value itself. */
bool tfl_export_state(tfl_export *x, const assay_node *n)
{
    int in[2], y;

    switch (n->op) {
    case ASSAY_OP_READ:
        in[0] = handle(x, n);
        y = tfl_add_tensor(x, n->out[0]);
        tfl_add_operator(x, BUILTIN_READ_VARIABLE, in, 1, &y, 1);
        return true;
    case ASSAY_OP_ASSIGN:
        in[0] = handle(x, n);
        in[1] = tfl_add_tensor(x, n->in[1]);
        tfl_add_operator(x, BUILTIN_ASSIGN_VARIABLE, in, 2, NULL, 0);
        x->tensor_of[n->out[0]] = in[1];
        return true;
    case ASSAY_OP_IF:
    case ASSAY_OP_WHILE:
        flow(x, n);
        return true;
    default:
        return false;
    }
}
