/* State and control flow for test_random_layers. */
#include "test/support/random_drawing.h"

#include <string.h>

int test_draw_state(test_drawing *d, assay_op op, int x, int in[TEST_MAX_IN])
{
    const assay_type t = d->g->value[x].type;
    in[0] = -1;
    in[1] = x;
    for (int v = 0; v < d->g->n_values; v++)
        if (d->g->value[v].is_variable &&
            (op == ASSAY_OP_READ || assay_type_equal(&t, &d->g->value[v].type)))
            in[0] = v;
    if (in[0] < 0 || test_upto(d, 3) == 0)
        in[0] = test_add_variable(d, &t);
    return op == ASSAY_OP_READ ? 1 : 2;
}

/* Adds the node: after n_in inputs those of the body from `first` on, and outputs of its types. */
static bool add_flow_node(test_drawing *d, assay_op op, const assay_attrs *a, int in[64], int n_in,
                          const assay_graph *like, int first)
{
    int out[64], id;
    assay_error err;
    for (int i = first; i < like->n_inputs; i++) {
        const assay_type *t = &like->value[like->input[i]].type;
        in[n_in] = -1;
        for (int v = 0; v < d->g->n_values && test_upto(d, 3); v++)
            if (d->g->value[v].producer >= 0 && assay_type_equal(t, &d->g->value[v].type))
                in[n_in] = v;
        if (in[n_in] < 0)
            in[n_in] = test_add_input(d, t);
        if (in[n_in++] < 0)
            return false;
    }
    for (int i = 0; i < like->n_outputs; i++)
        if ((out[i] = test_add_input(d, &like->value[like->output[i]].type)) < 0)
            return false;
    return assay_graph_add_node(d->g, op, NULL, in, n_in, out, like->n_outputs, a, &id, &err) ==
           ASSAY_OK;
}

/* Other codes in every constant that has parameters. */
static void redraw(test_drawing *d, assay_graph *g)
{
    for (int v = 0; v < g->n_values; v++) {
        const assay_value *c = &g->value[v];
        if (c->data && c->type.q.granularity != ASSAY_Q_NONE && c->type.elem.bits <= 16)
            test_random_data(d->r, TEST_DATA_ANY, &c->type, (void *)(uintptr_t)c->data);
    }
}

/* Two bodies that differ in their weights. */
static bool add_if(test_drawing *d)
{
    const assay_type one = {.elem = assay_bool(), .rank = (int)test_upto(d, 1), .dim = {1}};
    assay_graph *yes = test_draw_body(d, (int)test_between(d->r, 1, 3)), *no = NULL;
    assay_error err;
    assay_attrs a;
    int in[64], id;
    if (!yes || yes->n_inputs > 60 || yes->n_outputs > 60 ||
        assay_graph_clone(yes, &no, &err) != ASSAY_OK) {
        assay_graph_free(yes);
        return false;
    }
    redraw(d, no);
    assay_attrs_defaults(ASSAY_ATTRS_branch, &a);
    a.branch.on_true = d->g->n_subgraphs;
    a.branch.on_false = d->g->n_subgraphs + 1;
    in[0] = test_add_either(d, &one);
    if (assay_graph_add_subgraph(d->g, yes, &id, &err) != ASSAY_OK) {
        assay_graph_free(yes);
        assay_graph_free(no);
        return false;
    }
    if (assay_graph_add_subgraph(d->g, no, &id, &err) != ASSAY_OK) {
        assay_graph_free(no);
        return false;
    }
    return in[0] >= 0 && add_flow_node(d, ASSAY_OP_IF, &a, in, 1, yes, 0);
}

/* A body of a counter and a value: its counter, or NULL. */
static assay_graph *begin_body(test_drawing *inner, const assay_type *t, int in[2])
{
    const assay_type counter = {.elem = assay_int(32, true)};
    assay_error err;
    if (assay_graph_new("turn", &inner->g, &err) != ASSAY_OK)
        return NULL;
    in[0] = test_add_input(inner, &counter);
    in[1] = test_add_input(inner, t);
    if (in[0] >= 0 && in[1] >= 0 && assay_graph_set_inputs(inner->g, in, 2, &err) == ASSAY_OK)
        return inner->g;
    assay_graph_free(inner->g);
    return NULL;
}

/* out = op(a, constant of type t, all `code` when that is not negative). */
static int add_with_constant(test_drawing *d, assay_op op, int a, const assay_type *t,
                             const assay_type *y, int code)
{
    const int c = test_add_constant(d, t), out = test_add_input(d, y);
    int id;
    assay_error err;
    if (c < 0 || out < 0)
        return -1;
    if (code >= 0)
        assay_elem_set(t->elem, (void *)(uintptr_t)d->g->value[c].data, 0, code);
    return assay_graph_add_node(d->g, op, NULL, (int[]){a, c}, 2, &out, 1, NULL, &id, &err) ==
                   ASSAY_OK
               ? out
               : -1;
}

/* Up to five turns of v = op(v, constant) over codes that keep their type. */
static bool add_while(test_drawing *d)
{
    static const assay_op ops[] = {ASSAY_OP_ADD, ASSAY_OP_SUB, ASSAY_OP_MUL, ASSAY_OP_MAX,
                                   ASSAY_OP_FC};
    const assay_op op = ops[test_upto(d, 4)];
    const int x = test_draw_operand(d, TEST_CODES, 1, 4);
    const assay_type counter = {.elem = assay_int(32, true)}, truth = {.elem = assay_bool()};
    test_drawing inner = *d;
    assay_error err;
    assay_attrs a;
    int in[64], out[2];
    if (x < 0)
        return false;
    const assay_type t = d->g->value[x].type;
    const int64_t last = t.dim[t.rank - 1];
    assay_type with = t;
    if (op == ASSAY_OP_FC)
        with = (assay_type){.elem = assay_int(8, true), .rank = 2, .dim = {last, last}, .q = t.q};
    assay_graph *test = begin_body(&inner, &t, in), *body;
    if (!test)
        return false;
    out[0] =
        add_with_constant(&inner, ASSAY_OP_LESS, in[0], &counter, &truth, (int)test_upto(d, 5));
    bool good = out[0] >= 0 && assay_graph_set_outputs(test, out, 1, &err) == ASSAY_OK;
    int n_test;
    if (!good || assay_graph_add_subgraph(d->g, test, &n_test, &err) != ASSAY_OK) {
        assay_graph_free(test);
        return false;
    }
    if (!(body = begin_body(&inner, &t, in)))
        return false;
    out[0] = add_with_constant(&inner, ASSAY_OP_ADD, in[0], &counter, &counter, 1);
    out[1] = add_with_constant(&inner, op, in[1], &with, &t, -1);
    good = out[0] >= 0 && out[1] >= 0 && assay_graph_set_outputs(body, out, 2, &err) == ASSAY_OK;
    int n_body;
    if (!good || assay_graph_add_subgraph(d->g, body, &n_body, &err) != ASSAY_OK) {
        assay_graph_free(body);
        return false;
    }
    assay_attrs_defaults(ASSAY_ATTRS_loop, &a);
    a.loop.condition = n_test;
    a.loop.body = n_body;
    in[0] = test_add_constant(d, &counter);
    if (in[0] < 0)
        return false;
    *(int32_t *)(uintptr_t)d->g->value[in[0]].data = (int32_t)test_upto(d, 3);
    return add_flow_node(d, ASSAY_OP_WHILE, &a, in, 1, body, 1);
}

bool test_add_flow(test_drawing *d, assay_op op)
{
    return op == ASSAY_OP_IF ? add_if(d) : add_while(d);
}
