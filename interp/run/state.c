/* The state of a run: where each value is, and what it holds at the beginning. */
#include "interp/run/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/fast/fast.h"

/* Where a value is: in the arena, or in the graph when it is constant. */
static void *value_data(const assay_run *r, int value)
{
    const assay_program *p = r->program;
    if (value == ASSAY_NO_VALUE)
        return NULL;
    assert(value >= 0 && value < p->graph->n_values);
    if (p->plan->offset[value] >= 0)
        return r->arena + p->plan->offset[value];
    return (void *)(uintptr_t)p->graph->value[value].data; /* kernels only read it */
}

static const assay_type absent = {.elem = {.kind = ASSAY_KIND_NONE}};

static assay_view view_of(const assay_run *r, int value)
{
    return (assay_view){value_data(r, value),
                        value == ASSAY_NO_VALUE ? &absent : &r->program->graph->value[value].type};
}

static void make_views(assay_run *r)
{
    const assay_graph *g = r->program->graph;
    int at = 0;
    for (int i = 0; i < g->n_nodes; i++) {
        const assay_node *n = &g->node[i];
        r->first_view[i] = at;
        for (int j = 0; j < n->n_in; j++)
            r->view[at++] = view_of(r, n->in[j]);
        for (int j = 0; j < n->n_out; j++)
            r->view[at++] = view_of(r, n->out[j]);
    }
}

static assay_status make_bodies(assay_run *r, assay_error *err)
{
    const assay_program *p = r->program;
    assay_status status = ASSAY_OK;
    if (p->graph->n_subgraphs == 0)
        return ASSAY_OK;
    r->body = calloc((size_t)p->graph->n_subgraphs, sizeof *r->body);
    if (!r->body)
        return assay_out_of_memory_for(err, "%d subgraphs", p->graph->n_subgraphs);
    for (int i = 0; i < p->graph->n_subgraphs && !status; i++)
        status = assay_run_new(p->body[i], &r->body[i], err);
    return status;
}

assay_status assay_run_new(const assay_program *p, assay_run **out, assay_error *err)
{
    const assay_graph *g = p->graph;
    size_t views = 1, bytes = p->plan->arena_bytes ? p->plan->arena_bytes : 64;
    for (int i = 0; i < g->n_nodes; i++)
        views += (size_t)(g->node[i].n_in + g->node[i].n_out);
    assay_run *r = calloc(1, sizeof *r);
    *out = NULL;
    if (r) {
        r->program = p;
        r->arena = aligned_alloc(64, bytes);
        r->view = calloc(views, sizeof *r->view);
        r->first_view = calloc((size_t)g->n_nodes + 1, sizeof *r->first_view);
    }
    if (!r || !r->arena || !r->view || !r->first_view) {
        assay_run_free(r);
        return assay_out_of_memory_for(err, "an arena of %zu bytes", bytes);
    }
    assert(p->plan->arena_bytes % 64 == 0 && p->plan->n_values == g->n_values);
    memset(r->arena, 0, bytes);
    make_views(r);
    assay_status status = make_bodies(r, err);
    if (status) {
        assay_run_free(r);
        return status;
    }
    assay_run_reset(r);
    *out = r;
    return ASSAY_OK;
}

void assay_run_free(assay_run *r)
{
    if (!r)
        return;
    for (int i = 0; r->body && i < r->program->graph->n_subgraphs; i++)
        assay_run_free(r->body[i]);
    free(r->body);
    free(r->arena);
    free(r->view);
    free(r->first_view);
    free(r->accumulators);
    run_both_free(&r->both);
    free(r);
}

void assay_run_reset(assay_run *r)
{
    const assay_graph *g = r->program->graph;
    for (int i = 0; i < g->n_subgraphs; i++)
        assay_run_reset(r->body[i]);
    for (int v = 0; v < g->n_values; v++) {
        const assay_value *value = &g->value[v];
        size_t count = (size_t)assay_shape_count(&value->type);
        if (!value->is_variable)
            continue;
        if (value->data) {
            memcpy(value_data(r, v), value->data, count * assay_elem_size(value->type.elem));
        } else { /* the code of zero */
            assay_view view = view_of(r, v);
            int32_t zero = assay_is_quantized(&value->type) ? value->type.q.zero_point[0] : 0;
            for (size_t i = 0; i < count; i++)
                ref_store_row(&view, (int64_t)i, 1, 1, &zero);
        }
    }
}

void *run_value(assay_run *r, int value)
{
    return value >= 0 && value < r->program->graph->n_values ? value_data(r, value) : NULL;
}

static bool is_among(const int *list, int n, int value)
{
    int i = 0;
    while (i < n && list[i] != value)
        i++;
    return i < n;
}

void *assay_run_data(assay_run *r, int value)
{
    void *data = run_value(r, value);
    const assay_program *p = r->program;
    const assay_graph *g = p->graph;
    if (!data || p->keep_all || p->plan->offset[value] < 0 || g->value[value].is_variable ||
        is_among(g->input, g->n_inputs, value) || is_among(g->output, g->n_outputs, value))
        return data;
    return NULL; /* its place is another's by now */
}
