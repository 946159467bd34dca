/* Common parts of passes; see pass.h. */
#include "opt/lower/pass.h"
#include "graph/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/node/spec.h"

int *lower_rewrite_uses(const assay_graph *g)
{
    int *uses = calloc((size_t)g->n_values + 1, sizeof *uses);
    if (!uses)
        return NULL;
    for (int i = 0; i < g->n_nodes; i++)
        for (int j = 0; j < g->node[i].n_in; j++)
            if (g->node[i].in[j] >= 0)
                uses[g->node[i].in[j]]++;
    for (int i = 0; i < g->n_outputs; i++)
        uses[g->output[i]]++;
    return uses;
}

bool *lower_rewrite_dead(const assay_graph *g, int extra)
{
    return calloc((size_t)g->n_nodes + (size_t)extra + 1, sizeof(bool));
}

void lower_rewrite_output(assay_graph *g, int node, int out)
{
    g->value[g->node[node].out[0]].producer = -1;
    g->node[node].out[0] = out;
    g->value[out].producer = node;
}

assay_status lower_rewrite_input(assay_graph *g, int node, int slot, int value, assay_error *err)
{
    assay_node *n = &g->node[node];
    if (slot >= n->n_in) {
        int *in = assay_arena_array(g->arena, (size_t)slot + 1, sizeof *in);
        if (!in)
            return assay_out_of_memory(err);
        memcpy(in, n->in, (size_t)n->n_in * sizeof *in);
        n->in = in;
        n->n_in = slot + 1;
    }
    n->in[slot] = value;
    return ASSAY_OK;
}

assay_status lower_rewrite_constant(assay_graph *g, const char *base, const char *suffix,
                                    const assay_type *type, const void *data, int *id,
                                    assay_error *err)
{
    size_t room = strlen(base) + strlen(suffix) + 2;
    char *name = assay_arena_alloc(g->arena, room);
    if (!name)
        return assay_out_of_memory(err);
    strcat(strcat(strcpy(name, base), ":"), suffix);
    return assay_graph_add_constant(g, name, type, data, id, err);
}

bool lower_needs_target(const assay_node *n)
{
    bool moves = assay_op_get(n->op)->traits & ASSAY_T_MOVE;
    return !moves && n->op != ASSAY_OP_LOOKUP && n->op != ASSAY_OP_SELECT &&
           n->op != ASSAY_OP_RELABEL && n->op != ASSAY_OP_READ && n->op != ASSAY_OP_ASSIGN &&
           n->op != ASSAY_OP_TOPK && n->op != ASSAY_OP_ARG_MAX && n->op != ASSAY_OP_ARG_MIN;
}

void lower_fit_attributes(const assay_scheme *s, const assay_graph *g, assay_node *n)
{
    if (n->op == ASSAY_OP_AVG_POOL && assay_scheme_counts_overhang(s))
        assay_pool_count_overhang(&g->value[n->in[0]].type, &n->attr.pool);
}

assay_status lower_target_computes(const assay_scheme *s, const assay_graph *g, const assay_node *n,
                                   bool *can, char *why, size_t size, assay_error *err)
{
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_unit *unit = NULL;
    assay_error own;
    err = err ? err : &own; /* whose text is the reason */
    assay_unit_spec_fill(g, n, in, &spec);
    snprintf(why, size, "the target does not support it");
    *can = assay_scheme_supports(s, &spec, why, size);
    if (!*can)
        return ASSAY_OK;
    assay_status status = s->vt->prepare(s, &spec, &unit, err);
    *can = !status;
    if (status == ASSAY_ERR_MEMORY)
        return status;
    if (status)
        snprintf(why, size, "%.*s", (int)strcspn(err->text, "\n"), err->text);
    else
        s->vt->release(unit);
    return ASSAY_OK;
}
