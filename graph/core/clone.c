/* Copies of graphs, with their constants' elements or sharing these. */
#include <string.h>

#include "graph/core/graph.h"

static assay_status clone(const assay_graph *g, bool borrow, assay_graph **out, assay_error *err);

static assay_status copy_value(const assay_value *v, bool borrow, assay_graph *c, assay_error *err)
{
    int id;
    assay_status s = !v->data ? assay_graph_add_value(c, v->name, &v->type, &id, err)
                     : borrow ? assay_graph_borrow_constant(c, v->name, &v->type, v->data, &id, err)
                              : assay_graph_add_constant(c, v->name, &v->type, v->data, &id, err);
    if (!s) {
        c->value[id].source_index = v->source_index;
        c->value[id].is_variable = v->is_variable;
    }
    return s;
}

static assay_status copy_into(const assay_graph *g, bool borrow, assay_graph *c, assay_error *err)
{
    assay_status s = assay_graph_set_quantized_for(c, g->quantized_for, err);
    int id;

    memcpy(c->model_digest, g->model_digest, sizeof c->model_digest);
    for (int i = 0; !s && i < g->n_values; ++i)
        s = copy_value(&g->value[i], borrow, c, err);
    for (int i = 0; !s && i < g->n_nodes; ++i) {
        const assay_node *n = &g->node[i];
        s = assay_graph_add_node(c, n->op, n->name, n->in, n->n_in, n->out, n->n_out, &n->attr, &id,
                                 err);
        if (!s) {
            assay_node *m = &c->node[id];
            m->act_lo = n->act_lo;
            m->act_hi = n->act_hi;
            m->has_code_bounds = n->has_code_bounds;
            m->code_lo = n->code_lo;
            m->code_hi = n->code_hi;
        }
    }
    if (!s)
        s = assay_graph_set_inputs(c, g->input, g->n_inputs, err);
    if (!s)
        s = assay_graph_set_outputs(c, g->output, g->n_outputs, err);
    for (int i = 0; !s && i < g->n_subgraphs; ++i) {
        assay_graph *sub;
        s = clone(g->subgraph[i], borrow, &sub, err);
        if (!s && (s = assay_graph_add_subgraph(c, sub, NULL, err)))
            assay_graph_free(sub);
    }
    return s;
}

static assay_status clone(const assay_graph *g, bool borrow, assay_graph **out, assay_error *err)
{
    assay_graph *c;
    assay_status s = assay_graph_new(g->name, &c, err);
    *out = NULL;
    if (s)
        return s;
    s = copy_into(g, borrow, c, err);
    if (s)
        assay_graph_free(c);
    else
        *out = c;
    return s;
}

assay_status assay_graph_clone(const assay_graph *g, assay_graph **out, assay_error *err)
{
    return clone(g, false, out, err);
}

assay_status assay_graph_clone_borrowing(const assay_graph *g, assay_graph **out, assay_error *err)
{
    return clone(g, true, out, err);
}
