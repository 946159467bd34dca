/* Editing: redirecting uses, dropping what is dead, sorting. */
#include <stdlib.h>
#include <string.h>

#include "graph/core/names.h"
#include "graph/memory.h"

void assay_graph_replace_uses(assay_graph *g, int from, int to)
{
    for (int i = 0; i < g->n_nodes; ++i)
        for (int k = 0; k < g->node[i].n_in; ++k)
            if (g->node[i].in[k] == from)
                g->node[i].in[k] = to;
    for (int i = 0; i < g->n_outputs; ++i)
        if (g->output[i] == from)
            g->output[i] = to;
}

enum { UNSEEN, OPEN, DONE };

/* Depth first from every living node in order of index, producers before consumers. A node whose
 * producers all stand before it keeps its place. Explicit stack: graphs may be long chains. */
static assay_status sort_nodes(const assay_graph *g, const bool *dead, int *order, int *n_order,
                               int *stack, int *next_in, uint8_t *state, assay_error *err)
{
    *n_order = 0;
    for (int root = 0; root < g->n_nodes; ++root) {
        int depth = 0;
        if (state[root] != UNSEEN || (dead && dead[root]))
            continue;
        stack[depth++] = root;
        state[root] = OPEN;
        while (depth) {
            int i = stack[depth - 1], producer = -1;
            const assay_node *n = &g->node[i];
            if (next_in[i] == n->n_in) {
                state[i] = DONE;
                order[(*n_order)++] = i;
                --depth;
                continue;
            }
            if (n->in[next_in[i]] != ASSAY_NO_VALUE)
                producer = g->value[n->in[next_in[i]]].producer;
            ++next_in[i];
            if (producer < 0 || state[producer] == DONE || (dead && dead[producer]))
                continue;
            if (state[producer] == OPEN)
                return assay_fail(err, ASSAY_ERR_INPUT, "node '%.200s' is part of a cycle",
                                  n->name);
            stack[depth++] = producer;
            state[producer] = OPEN;
        }
    }
    return ASSAY_OK;
}

static void mark(const int *ids, int n, uint8_t *used)
{
    for (int i = 0; i < n; ++i)
        if (ids[i] != ASSAY_NO_VALUE)
            used[ids[i]] = 1;
}

static void renumber(int *ids, int n, const int *map)
{
    for (int i = 0; i < n; ++i)
        if (ids[i] != ASSAY_NO_VALUE)
            ids[i] = map[ids[i]];
}

/* nodes: the living ones in their new order. */
static void apply(assay_graph *g, const assay_node *nodes, int n_nodes, uint8_t *used, int *map)
{
    int kept = 0;

    if (n_nodes)
        memcpy(g->node, nodes, (size_t)n_nodes * sizeof *nodes);
    g->n_nodes = n_nodes;
    for (int i = 0; i < n_nodes; ++i) {
        mark(g->node[i].in, g->node[i].n_in, used);
        mark(g->node[i].out, g->node[i].n_out, used);
    }
    mark(g->input, g->n_inputs, used);
    mark(g->output, g->n_outputs, used);
    for (int i = 0; i < g->n_values; ++i) {
        if (!used[i] && !g->value[i].is_variable)
            continue;
        map[i] = kept;
        g->value[kept] = g->value[i];
        g->value[kept++].producer = -1;
    }
    g->n_values = kept;
    for (int i = 0; i < n_nodes; ++i) {
        assay_node *n = &g->node[i];
        renumber(n->in, n->n_in, map);
        renumber(n->out, n->n_out, map);
        for (int k = 0; k < n->n_out; ++k)
            g->value[n->out[k]].producer = i;
    }
    renumber(g->input, g->n_inputs, map);
    renumber(g->output, g->n_outputs, map);
}

assay_status assay_graph_compact(assay_graph *g, const bool *dead_node, assay_error *err)
{
    size_t nn = (size_t)g->n_nodes + 1, nv = (size_t)g->n_values + 1;
    int *ints = calloc(3 * nn + nv, sizeof *ints);
    uint8_t *bytes = calloc(nn + nv, 1);
    assay_node *nodes = calloc(nn, sizeof *nodes);
    int n_order = 0;
    assay_status s = ASSAY_OK;

    if (!ints || !bytes || !nodes)
        s = assay_out_of_memory(err);
    if (!s)
        s = sort_nodes(g, dead_node, ints, &n_order, ints + nn, ints + 2 * nn, bytes, err);
    if (!s) {
        for (int i = 0; i < n_order; ++i)
            nodes[i] = g->node[ints[i]];
        apply(g, nodes, n_order, bytes + nn, ints + 3 * nn);
        s = assay_names_rebuild(g, err);
    }
    free(nodes);
    free(bytes);
    free(ints);
    return s;
}
