/* Nodes between dumps: what was not dumped on the way from what is known to a dump is computed
 * under whole schemes, and under what was found op by op, from end to end. */
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/probe/find.h"
#include "schemes/derive/derive.h"
#include "schemes/node/spec.h"

/* One sample under one way to compute. */
typedef struct pass {
    const blame_device *d;
    const probe_findings *found;
    int scheme; /* of found->schemes; PROBE_AS_FOUND */
    int sample;
    const bool *inside; /* by node: it leads to the end, and its output is not known */
    const void **value; /* by value: what this pass gives */
    assay_arena *arena;
} pass;

enum { PROBE_AS_FOUND = -1 };

/* ---- which nodes ---- */

static void find_inside(const blame_device *d, int end, int sample, bool *inside)
{
    memset(inside, 0, (size_t)d->graph->n_nodes * sizeof *inside);
    inside[end] = true;
    for (int i = end; i >= 0; i--)
        for (int k = 0; inside[i] && k < d->graph->node[i].n_in; k++) {
            const int value = d->graph->node[i].in[k];
            if (value != ASSAY_NO_VALUE && !probe_is_known(d, sample, value) &&
                d->graph->value[value].producer >= 0)
                inside[d->graph->value[value].producer] = true;
        }
}

/* What a pass can compute: no state, one output, and no floats, whose bits no scheme says. */
static bool can_pass(const blame_device *d, const bool *inside)
{
    for (int i = 0; i < d->graph->n_nodes; i++)
        if (inside[i] && (!blame_case_can(&d->graph->node[i]) ||
                          (!assay_node_is_quantized(d->graph, &d->graph->node[i]) &&
                           !(assay_op_get(d->graph->node[i].op)->traits & ASSAY_T_MOVE))))
            return false;
    return true;
}

/* ---- one node ---- */

static const void *input_of(const pass *p, int value)
{
    if (value == ASSAY_NO_VALUE)
        return NULL;
    const assay_value *v = &p->d->graph->value[value];
    return v->data           ? v->data
           : p->value[value] ? p->value[value]
                             : blame_at(p->d, p->sample, value)->believed;
}

static const assay_record *found_for(const pass *p, const blame_case *c, unsigned variant)
{
    for (int i = 0; i < p->found->n_ops; i++) {
        const probe_op_finding *o = &p->found->op[i];
        if (o->op == c->op && o->variant == variant && probe_is_full(o))
            return &o->record;
    }
    return NULL;
}

/* The record by which the pass computes a node, with the network's own types. */
static bool record_for(const pass *p, int node, blame_case *c)
{
    const probe_findings *found = p->found;
    const int base = p->scheme == PROBE_AS_FOUND ? probe_base(found) : p->scheme;
    const unsigned variant = probe_variant_of(p->d, node);
    const assay_record *op = p->scheme == PROBE_AS_FOUND ? found_for(p, c, variant) : NULL;
    assay_record own;
    if (!blame_case_record(c, &own))
        return false;
    c->scheme = found->schemes.scheme[base];
    if (op)
        c->record = *op;
    else if (probe_computes_in_float(c->scheme, c->op, variant) ||
             !blame_case_record(c, &c->record))
        return false;
    c->scheme = p->d->scheme;
    c->record.types = own.types;
    c->record.accepts = own.accepts;
    c->has_record = true;
    return true;
}

/* *given: the node was computed. */
static assay_status run_node(const pass *p, int node, bool *given, assay_error *err)
{
    const assay_graph *g = p->d->graph;
    const assay_node *n = &g->node[node];
    const void *in[BLAME_IN] = {NULL};
    void *out = assay_arena_alloc(p->arena, assay_type_bytes(&g->value[n->out[0]].type) + 64);
    blame_case c;
    for (int i = 0; i < n->n_in; i++)
        in[i] = input_of(p, n->in[i]);
    *given = true;
    if (!out)
        return assay_out_of_memory(err);
    blame_case_fill(&c, g, n, p->d->scheme, in, p->arena);
    if (assay_node_is_quantized(g, n) && !(assay_op_get(n->op)->traits & ASSAY_T_MOVE))
        *given = record_for(p, node, &c);
    const assay_status status = *given ? blame_case_run(&c, out, NULL, err) : ASSAY_OK;
    p->value[n->out[0]] = out;
    *given = *given && !status;
    return status == ASSAY_ERR_MEMORY ? status : ASSAY_OK;
}

/* ---- one end ---- */

static assay_status run_sample(pass *p, int end, int64_t *given, probe_told_elements *told,
                               assay_error *err)
{
    const assay_graph *g = p->d->graph;
    bool good = true;
    p->arena = assay_arena_new();
    p->value =
        p->arena ? assay_arena_array(p->arena, (size_t)g->n_values + 1, sizeof *p->value) : NULL;
    assay_status status = p->value ? ASSAY_OK : assay_out_of_memory(err);
    for (int i = 0; i <= end && !status && good; i++)
        if (p->inside[i])
            status = run_node(p, i, &good, err);
    if (!status)
        *given += probe_compare(p->d, p->sample, g->node[end].out[0],
                                good ? p->value[g->node[end].out[0]] : NULL, told);
    assay_arena_free(p->arena);
    return status;
}

/* How many of the end's elements a way to compute gives. */
static assay_status run_all(const blame_device *d, const probe_findings *found, int scheme, int end,
                            int64_t *given, probe_told_elements *told, assay_error *err)
{
    bool *inside = calloc((size_t)d->graph->n_nodes + 1, sizeof *inside);
    pass p = {.d = d, .found = found, .scheme = scheme, .inside = inside};
    assay_status status = inside ? ASSAY_OK : assay_out_of_memory(err);
    *given = 0;
    for (p.sample = 0; p.sample < d->n_samples && !status; p.sample++) {
        if (!probe_is_end(d, end, p.sample))
            continue;
        find_inside(d, end, p.sample, inside);
        status = run_sample(&p, end, given, told, err);
    }
    free(inside);
    return status;
}

static assay_status try_ways(const blame_device *d, const probe_findings *found, int end,
                             probe_stretch *s, assay_error *err)
{
    int best = PROBE_AS_FOUND;
    assay_status status = run_all(d, found, PROBE_AS_FOUND, end, &s->given, NULL, err);
    s->as_found = s->given == s->elements;
    for (int k = 0; k < found->schemes.n && !status; k++) {
        int64_t given;
        status = run_all(d, found, k, end, &given, NULL, err);
        s->agrees[k] = !status && given == s->elements;
        if (!status && given > s->given) {
            s->given = given;
            best = k;
        }
    }
    probe_told_elements told = {s->against, 0};
    int64_t given;
    if (!status && s->given < s->elements)
        status = run_all(d, found, best, end, &given, &told, err);
    s->n_against = told.n;
    return status;
}

/* ---- all ---- */

static assay_status judge(const blame_device *d, probe_findings *found, int end, const bool *inside,
                          assay_error *err)
{
    probe_stretch *more = realloc(found->stretch, (size_t)(found->n_stretches + 1) * sizeof *more);
    if (!more)
        return assay_out_of_memory(err);
    found->stretch = more;
    probe_stretch *s = &more[found->n_stretches++];
    *s = (probe_stretch){.agrees = calloc((size_t)found->schemes.n + 1, sizeof *s->agrees)};
    if (!s->agrees)
        return assay_out_of_memory(err);
    snprintf(s->end, sizeof s->end, "%.90s", d->graph->value[d->graph->node[end].out[0]].name);
    for (int i = 0; i < d->graph->n_nodes; i++)
        s->n_nodes += inside[i];
    for (int k = 0; k < d->n_samples; k++)
        if (probe_is_end(d, end, k))
            s->elements += probe_count_seen(d, k, d->graph->node[end].out[0]);
    return try_ways(d, found, end, s, err);
}

assay_status probe_find_stretches(const blame_device *d, probe_findings *found, assay_error *err)
{
    bool *inside = calloc((size_t)d->graph->n_nodes + 1, sizeof *inside);
    assay_status status = inside ? ASSAY_OK : assay_out_of_memory(err);
    for (int i = 0; i < d->graph->n_nodes && !status; i++) {
        int sample = 0;
        while (sample < d->n_samples && !probe_is_end(d, i, sample))
            sample++;
        if (sample == d->n_samples)
            continue;
        find_inside(d, i, sample, inside);
        if (can_pass(d, inside))
            status = judge(d, found, i, inside, err);
    }
    free(inside);
    return status;
}
