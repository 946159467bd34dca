/* Nodes that schemes are compared on; see walk.h. */
#include "interp/decide/walk.h"

#include "graph/memory.h"

static assay_status visit(const assay_graph *g, int i, const decide_visitor *v, int *found,
                          assay_error *err)
{
    decide_layer l;
    decide_domain d;
    if (v->skips && v->skips(v->user, g, &g->node[i])) {
        ++*found;
        return ASSAY_OK;
    }
    const int is = decide_layer_of(g, i, &l);
    if (is < 0)
        return assay_out_of_memory(err);
    if (is > 0) {
        ++*found;
        const assay_status status = v->layer(v->user, g, &l, err);
        decide_layer_free(&l);
        return status;
    }
    if (decide_domain_of(g, i, &d)) {
        ++*found;
        return v->domain(v->user, g, &d, err);
    }
    return d.why[0] != '\0' ? v->neither(v->user, &d, err) : ASSAY_OK;
}

assay_status decide_walk(const assay_graph *g, const decide_visitor *v, int *found,
                         assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int i = 0; i < g->n_subgraphs && !status; i++)
        status = decide_walk(g->subgraph[i], v, found, err);
    for (int i = 0; i < g->n_nodes && !status; i++)
        status = visit(g, i, v, found, err);
    return status;
}
