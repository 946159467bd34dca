/* State of a network that hands it in and out: an output becomes an input of the next run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/state.h"
#include "graph/memory.h"

static int find(const assay_graph *g, const int *list, int n, const char *name)
{
    for (int i = 0; i < n; ++i)
        if (strcmp(g->value[list[i]].name, name) == 0)
            return list[i];
    return -1;
}

static char *joined(const char *name, const char *suffix)
{
    const size_t size = strlen(name) + strlen(suffix) + 1;
    char *text = malloc(size);
    if (text)
        snprintf(text, size, "%s%s", name, suffix);
    return text;
}

/* Inputs but for one. */
static void drop_input(assay_graph *g, int value)
{
    int kept = 0;
    for (int i = 0; i < g->n_inputs; ++i)
        if (g->input[i] != value)
            g->input[kept++] = g->input[i];
    g->n_inputs = kept;
}

/* past = read(variable), from where it was an input; assign(variable, present). */
static assay_status link(assay_graph *g, int past, int present, const char *variable,
                         const char *next, assay_error *err)
{
    int id, out;
    assay_status s = assay_graph_add_variable(g, variable, &g->value[past].type, NULL, &id, err);
    if (!s)
        s = assay_graph_add_value(g, next, &g->value[present].type, &out, err);
    if (s)
        return s;
    drop_input(g, past);
    s = assay_graph_add_node(g, ASSAY_OP_READ, NULL, &id, 1, &past, 1, NULL, NULL, err);
    if (!s)
        s = assay_graph_add_node(g, ASSAY_OP_ASSIGN, NULL, (int[]){id, present}, 2, &out, 1, NULL,
                                 NULL, err);
    return s ? s : assay_graph_compact(g, NULL, err);
}

assay_status assay_graph_link_state(assay_graph *g, const char *past, const char *present,
                                    assay_error *err)
{
    const int in = find(g, g->input, g->n_inputs, past);
    const int out = find(g, g->output, g->n_outputs, present);
    if (in < 0 || out < 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "the network has no %s '%.200s'",
                          in < 0 ? "input" : "output", in < 0 ? past : present);
    if (!assay_type_equal(&g->value[in].type, &g->value[out].type))
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "output '%.200s' differs in type or shape from input '%.200s': state "
                          "must keep its shape, so a cache that grows cannot be state",
                          present, past);
    char *variable = joined(past, "/state"), *next = joined(past, "/next");
    assay_status s =
        variable && next ? link(g, in, out, variable, next, err) : assay_out_of_memory(err);
    free(variable);
    free(next);
    return s;
}
