/* Tensors made of constants alone: of those of many elements, such as weights that a node
 * dequantizes, a bundle holds the digest, and the elements are computed when they are asked for. */
#include <stdlib.h>
#include <string.h>

#include "graph/core/op.h"
#include "graph/memory.h"
#include "interp/golden/bundle.h"
#include "interp/run/program.h"

struct assay_bundle_network {
    assay_graph *graph;
    assay_scheme *scheme;
    assay_program *program;
    assay_run *run;
    bool *of_constants; /* by value */
    int *index;         /* by value: its place in the order of execution */
};

/* ---- which they are ---- */

static bool is_made_of(const bool *of_constants, const assay_graph *g, const assay_node *n)
{
    int operands = 0;
    if (assay_op_get(n->op)->traits & (ASSAY_T_STATE | ASSAY_T_FLOW))
        return false;
    for (int k = 0; k < n->n_in; k++) {
        const int v = n->in[k];
        if (v >= 0 && !of_constants[v] && !g->value[v].data)
            return false;
        operands += v >= 0;
    }
    return operands > 0;
}

assay_status golden_bundle_of_constants(const assay_graph *g, bool **out, assay_error *err)
{
    bool *of_constants = *out = calloc((size_t)g->n_values + 1, sizeof **out);
    if (!of_constants)
        return assay_out_of_memory(err);
    for (int i = 0; i < g->n_nodes; i++) {
        const assay_node *n = &g->node[i];
        const bool made = is_made_of(of_constants, g, n);
        for (int k = 0; k < n->n_out; k++)
            if (n->out[k] >= 0)
                of_constants[n->out[k]] = made;
    }
    return ASSAY_OK;
}

bool golden_bundle_is_computed(const assay_type *t)
{
    return assay_shape_count(t) >= ASSAY_BUNDLE_COMPUTED;
}

bool golden_bundle_has_elements(const assay_bundle *b, int i)
{
    return b->tensor[i].file || b->tensor[i].of_constants;
}

/* ---- computing them ---- */

void golden_bundle_network_free(struct assay_bundle_network *n)
{
    if (!n)
        return;
    assay_run_free(n->run);
    assay_program_free(n->program);
    assay_scheme_free(n->scheme);
    assay_graph_free(n->graph);
    free(n->of_constants);
    free(n->index);
    free(n);
}

static assay_status load(const assay_bundle *b, struct assay_bundle_network *n, assay_error *err)
{
    bool unused;
    assay_status status = golden_bundle_network(b, &n->graph, &n->scheme, &unused, err);
    if (!status)
        status = assay_program_make(n->graph, n->scheme, false, &n->program, err);
    if (!status)
        status = assay_run_new(n->program, &n->run, err);
    if (!status)
        status = golden_bundle_of_constants(n->graph, &n->of_constants, err);
    if (!status && !(n->index = calloc((size_t)n->graph->n_values + 1, sizeof *n->index)))
        status = assay_out_of_memory(err);
    if (!status)
        golden_bundle_number(n->graph, n->index);
    return status;
}

/* The value of entry i, which must be what the entry says. */
static assay_status find_value(const assay_bundle *b, int i, const struct assay_bundle_network *n,
                               int *value, assay_error *err)
{
    const assay_bundle_tensor *t = &b->tensor[i];
    int v = 0;
    while (v < n->graph->n_values && n->index[v] != t->index)
        v++;
    *value = v;
    if (v < n->graph->n_values && n->of_constants[v] &&
        assay_shape_equal(&n->graph->value[v].type, &t->type) &&
        assay_elem_equal(n->graph->value[v].type.elem, t->type.elem))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "%s: the bundle's network has no tensor '%.200s' made of constants alone",
                      b->dir, t->name);
}

/* Which nodes a value is made by. */
static void mark_makers(const assay_graph *g, int value, bool *needed)
{
    needed[g->value[value].producer] = true;
    for (int i = g->value[value].producer; i >= 0; i--)
        for (int k = 0; needed[i] && k < g->node[i].n_in; k++)
            if (g->node[i].in[k] >= 0 && g->value[g->node[i].in[k]].producer >= 0)
                needed[g->value[g->node[i].in[k]].producer] = true;
}

static assay_status compute(struct assay_bundle_network *n, int value, void **data,
                            assay_error *err)
{
    const size_t bytes = assay_type_bytes(&n->graph->value[value].type);
    bool *needed = calloc((size_t)n->graph->n_nodes + 1, sizeof *needed);
    assay_status status = needed ? ASSAY_OK : assay_out_of_memory(err);
    if (!status) {
        mark_makers(n->graph, value, needed);
        status = run_execute_some(n->run, needed, n->graph->value[value].producer + 1, err);
    }
    if (!status && !(*data = malloc(bytes + 1)))
        status = assay_out_of_memory(err);
    if (!status)
        memcpy(*data, run_value(n->run, value), bytes);
    free(needed);
    return status;
}

assay_status golden_bundle_compute(const assay_bundle *b, int i, void **data, assay_error *err)
{
    struct assay_bundle_network **own = b->network;
    int value;
    *data = NULL;
    if (!*own) {
        struct assay_bundle_network *made = calloc(1, sizeof *made);
        assay_status status = made ? load(b, made, err) : assay_out_of_memory(err);
        if (status) {
            golden_bundle_network_free(made);
            return status;
        }
        *own = made;
    }
    assay_status status = find_value(b, i, *own, &value, err);
    return !status ? compute(*own, value, data, err) : status;
}
