/* The static memory plan: liveness over the order of execution, then offsets.
 *
 * A value lives from the step that writes it to the last step that reads it, both included; graph
 * inputs from the start, graph outputs to the end, variables throughout. Places are given greatest
 * first, each at the lowest offset where it meets no value alive at the same time: on real networks
 * this is within a few percent of the lower bound (the greatest sum of values alive at a step).
 * Scratch, which one node at a time uses, stands behind all values. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/run/program.h"

#define ALIGNMENT 64

static size_t value_bytes(const assay_value *v)
{
    return (size_t)assay_shape_count(&v->type) * assay_elem_size(v->type.elem);
}

static size_t align(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void live_at(assay_plan *p, int value, int step)
{
    if (value == ASSAY_NO_VALUE)
        return;
    if (p->first[value] < 0 || step < p->first[value])
        p->first[value] = step;
    if (step > p->last[value])
        p->last[value] = step;
}

/* first and last of every value; -1 where it needs no place. Steps are node indices; n_nodes is the
 * end of the run. */
static void find_lives(const assay_graph *g, bool keep_all, assay_plan *p)
{
    for (int v = 0; v < g->n_values; v++)
        p->first[v] = p->last[v] = -1;
    for (int i = 0; i < g->n_inputs; i++)
        live_at(p, g->input[i], 0);
    for (int s = 0; s < g->n_nodes; s++) {
        for (int i = 0; i < g->node[s].n_in; i++)
            live_at(p, g->node[s].in[i], s);
        for (int i = 0; i < g->node[s].n_out; i++)
            live_at(p, g->node[s].out[i], s);
    }
    for (int i = 0; i < g->n_outputs; i++)
        live_at(p, g->output[i], g->n_nodes);
    for (int v = 0; v < g->n_values; v++) {
        if (g->value[v].data && !g->value[v].is_variable) {
            p->first[v] = p->last[v] = -1; /* constants stay in the graph */
        } else if (g->value[v].is_variable || (keep_all && p->first[v] >= 0)) {
            p->first[v] = 0;
            p->last[v] = g->n_nodes;
        }
    }
}

typedef struct place {
    int value;
    size_t bytes;
} place;

static int by_size(const void *a, const void *b)
{
    const place *p = a, *q = b;
    if (p->bytes != q->bytes)
        return p->bytes < q->bytes ? 1 : -1;
    return p->value - q->value;
}

static bool together(const assay_plan *p, int a, int b)
{
    return p->first[a] <= p->last[b] && p->first[b] <= p->last[a];
}

/* Gives order[0..n-1], greatest first, their offsets; `placed` has room for n, and is kept sorted
 * by offset. Returns the bytes taken. */
static size_t give_offsets(assay_plan *p, const place *order, int n, place *placed)
{
    size_t total = 0;
    for (int i = 0; i < n; i++) {
        size_t offset = 0, bytes = align(order[i].bytes);
        int at = i;
        for (int j = 0; j < i; j++) {
            size_t start = (size_t)p->offset[placed[j].value];
            if (!together(p, order[i].value, placed[j].value))
                continue;
            if (start >= offset + bytes)
                break;
            if (start + align(placed[j].bytes) > offset)
                offset = start + align(placed[j].bytes);
        }
        while (at > 0 && (size_t)p->offset[placed[at - 1].value] > offset) {
            placed[at] = placed[at - 1];
            at--;
        }
        placed[at] = order[i];
        p->offset[order[i].value] = (int64_t)offset;
        total = offset + bytes > total ? offset + bytes : total;
    }
    return total;
}

static size_t scratch_bytes(const assay_graph *g)
{
    size_t max = 0;
    for (int s = 0; s < g->n_nodes; s++) {
        assay_kernel k = run_kernel_under(g, &g->node[s], false);
        size_t bytes = k.run && k.scratch ? k.scratch(g, &g->node[s]) : 0;
        max = bytes > max ? bytes : max;
    }
    return max;
}

assay_status run_plan_make(const assay_graph *g, bool keep_all, assay_plan **out, assay_error *err)
{
    size_t values = (size_t)g->n_values + 1;
    assay_plan *p = calloc(1, sizeof *p);
    place *order = calloc(values, 2 * sizeof *order);
    int n = 0;
    *out = NULL;
    if (p) {
        p->offset = calloc(values, sizeof *p->offset);
        p->first = calloc(values, sizeof *p->first);
        p->last = calloc(values, sizeof *p->last);
    }
    if (!p || !order || !p->offset || !p->first || !p->last) {
        run_plan_free(p);
        free(order);
        return assay_out_of_memory_for(err, "the plan of %d values", g->n_values);
    }
    p->n_values = g->n_values;
    find_lives(g, keep_all, p);
    for (int v = 0; v < g->n_values; v++) {
        p->offset[v] = -1;
        if (p->first[v] >= 0)
            order[n++] = (place){v, value_bytes(&g->value[v])};
    }
    qsort(order, (size_t)n, sizeof *order, by_size);
    assert(n <= g->n_values);
    p->scratch_offset = give_offsets(p, order, n, order + values);
    p->scratch_bytes = scratch_bytes(g);
    p->arena_bytes = p->scratch_offset + align(p->scratch_bytes);
    free(order);
    *out = p;
    return ASSAY_OK;
}

void run_plan_set_scratch(assay_plan *p, size_t bytes)
{
    assert(p->scratch_offset % ALIGNMENT == 0);
    p->scratch_bytes = bytes;
    p->arena_bytes = p->scratch_offset + align(bytes);
}

void run_plan_free(assay_plan *p)
{
    if (!p)
        return;
    free(p->offset);
    free(p->first);
    free(p->last);
    free(p);
}

/* The lower bound: the greatest sum of values alive at a step. */
static size_t peak_bytes(const assay_graph *g, const assay_plan *p)
{
    size_t peak = 0;
    for (int s = 0; s <= g->n_nodes; s++) {
        size_t sum = 0;
        for (int v = 0; v < p->n_values; v++)
            if (p->first[v] >= 0 && p->first[v] <= s && s <= p->last[v])
                sum += align(value_bytes(&g->value[v]));
        peak = sum > peak ? sum : peak;
    }
    return peak;
}

void run_plan_print(FILE *f, const assay_graph *g, const assay_plan *p)
{
    size_t sum = 0;
    fprintf(f, "%12s %12s %6s %6s  value\n", "offset", "bytes", "first", "last");
    for (int v = 0; v < p->n_values; v++) {
        if (p->first[v] < 0)
            continue;
        sum += align(value_bytes(&g->value[v]));
        fprintf(f, "%12lld %12zu %6d %6d  %s\n", (long long)p->offset[v], value_bytes(&g->value[v]),
                p->first[v], p->last[v], g->value[v].name);
    }
    fprintf(f, "values %zu bytes, placed in %zu, at least %zu; scratch %zu; arena %zu\n", sum,
            p->scratch_offset, peak_bytes(g, p), p->scratch_bytes, p->arena_bytes);
}
