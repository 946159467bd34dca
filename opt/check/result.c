/* Comparison of what a certificate's steps made of the model with the result. */
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "opt/check/terms.h"

static assay_status differs(const check_context *c, const char *what, const char *name)
{
    return assay_fail(c->err, ASSAY_ERR_INPUT,
                      "%s: the steps do not lead to the result: %s '%.200s'", c->file, what, name);
}

/* Value v of the result must be this term. */
static bool demand(check_term **wanted, int v, const check_term *t)
{
    t = check_term_now(t);
    if (wanted[v] && wanted[v] != t)
        return false;
    wanted[v] = (check_term *)(uintptr_t)t;
    return t != NULL;
}

static assay_status demand_roots(const check_context *c, const assay_graph *g, check_term **wanted)
{
    if (g->n_outputs != c->model->n_outputs || g->n_inputs != c->model->n_inputs)
        return differs(c, "inputs or outputs of", g->name);
    for (int i = 0; i < g->n_inputs; i++) { /* a body's are told by their order alone */
        const assay_value *is = &g->value[g->input[i]];
        const assay_value *was = &c->model->value[c->model->input[i]];
        if (strcmp(is->name, was->name) != 0 || !check_same_type(&is->type, &was->type) ||
            !assay_shape_equal(&is->type, &was->type))
            return differs(c, "input", is->name);
    }
    for (int i = 0; i < g->n_outputs; i++) {
        const assay_value *is = &g->value[g->output[i]];
        const assay_value *was = &c->model->value[c->model->output[i]];
        if (strcmp(is->name, was->name) != 0 || !assay_shape_equal(&is->type, &was->type) ||
            !demand(wanted, g->output[i], check_term_find(c->replay, was->name)))
            return differs(c, "output", is->name);
    }
    for (int i = 0; i < g->n_nodes; i++) /* what acts on state is there, used or not */
        for (int k = 0; check_traits(&g->node[i]) & ASSAY_T_STATE && k < g->node[i].n_out; k++)
            if (!demand(wanted, g->node[i].out[k],
                        check_term_find(c->replay, g->value[g->node[i].out[k]].name)))
                return differs(c, "node", g->node[i].name);
    return ASSAY_OK;
}

/* From the last node to the first, so that a node's outputs are demanded before it is looked at. */
static assay_status compare_nodes(const check_context *c, const assay_graph *g, check_term **wanted)
{
    for (int i = g->n_nodes - 1; i >= 0; i--) {
        const assay_node *n = &g->node[i];
        const check_work *w = NULL;
        for (int k = 0; k < n->n_out; k++) {
            const check_term *t = wanted[n->out[k]];
            if (!t)
                continue;
            if (!t->by || t->index != k || (w && t->by != w) || t->by->node.op != n->op ||
                !check_same_type(&t->type, &g->value[n->out[k]].type))
                return differs(c, "node", n->name);
            w = t->by;
        }
        if (!w) /* nobody needs it */
            continue;
        if (w->node.n_in != n->n_in || !check_same_bounds(&w->node, n) ||
            !check_same_attributes(n, &w->node, false))
            return differs(c, "node", n->name);
        for (int k = 0; k < n->n_in; k++)
            if ((n->in[k] < 0) != (!w->in[k]) ||
                (n->in[k] >= 0 && !demand(wanted, n->in[k], w->in[k])))
                return differs(c, "inputs of node", n->name);
    }
    return ASSAY_OK;
}

/* A variable holds at first what the model's of that name does. */
static bool same_beginning(const check_context *c, const assay_value *x)
{
    const int v = assay_graph_find_value(c->model, x->name);
    const assay_value *was = v < 0 ? NULL : &c->model->value[v];
    return was && was->is_variable && (was->data != NULL) == (x->data != NULL) &&
           assay_type_bytes(&was->type) == assay_type_bytes(&x->type) &&
           (!x->data || memcmp(was->data, x->data, assay_type_bytes(&x->type)) == 0);
}

static assay_status compare_leaves(const check_context *c, const assay_graph *g,
                                   check_term *const *wanted)
{
    for (int v = 0; v < g->n_values; v++) {
        const assay_value *x = &g->value[v];
        const check_term *t = wanted[v];
        if (x->producer >= 0 || !t)
            continue;
        const bool constant = x->data && !x->is_variable;
        if (x->is_variable && !same_beginning(c, x))
            return differs(c, "initial content of", x->name);
        if (t->by || !check_same_type(&t->type, &x->type) ||
            !assay_shape_equal(&t->type, &x->type) || constant != (t->data != NULL) ||
            (constant ? memcmp(t->data, x->data, assay_type_bytes(&x->type)) != 0
                      : strcmp(t->name, x->name) != 0))
            return differs(c, "value", x->name);
    }
    return ASSAY_OK;
}

/* The next node that acts on state, or NULL. */
static const assay_node *next_state(const assay_graph *g, int *i)
{
    while (*i < g->n_nodes)
        if (check_traits(&g->node[(*i)++]) & ASSAY_T_STATE)
            return &g->node[*i - 1];
    return NULL;
}

/* The nodes that act on state are the model's, in its order; there are as many bodies. */
static assay_status compare_state(const check_context *c, const assay_graph *g)
{
    for (int i = 0, k = 0;;) {
        const assay_node *is = next_state(g, &i), *was = next_state(c->model, &k);
        if (!is && !was)
            break;
        if (!is || !was || is->op != was->op || strcmp(is->name, was->name) != 0)
            return differs(c, "state assigned by", (is ? is : was)->name);
    }
    return g->n_subgraphs == c->model->n_subgraphs ? ASSAY_OK
                                                   : differs(c, "control flow of", g->name);
}

assay_status check_replay_result(const check_context *c, const assay_graph *g)
{
    check_term **wanted = calloc((size_t)g->n_values + 1, sizeof *wanted);
    assay_status s = wanted ? compare_state(c, g) : check_out_of_memory(c);
    if (!s)
        s = demand_roots(c, g, wanted);
    if (!s)
        s = compare_nodes(c, g, wanted);
    if (!s)
        s = compare_leaves(c, g, wanted);
    free(wanted);
    return s;
}
