/* Whole schemes: one that explains every node that is at fault, of two nodes or more, is the cause
 * of all of them. Regions between dumps are run under it from end to end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/blame/families.h"
#include "interp/blame/faults.h"

/* A region under a scheme. */
typedef struct region {
    const blame_search *s; /* opened at its end, without nodes behind */
    const assay_scheme *scheme;
    bool *inside, *changed; /* by node: it leads to the end undumped; it computes otherwise */
    const void **value;     /* by value: what the region gives in the sample at hand */
    int sample;
    assay_arena *arena; /* of that sample */
} region;

/* ---- a region ---- */

static void find_inside(const blame_device *d, int row, bool *inside)
{
    memset(inside, 0, (size_t)d->graph->n_nodes * sizeof *inside);
    inside[row] = true;
    for (int i = row; i >= 0; i--)
        for (int k = 0; inside[i] && k < d->graph->node[i].n_in; k++) {
            const assay_value *v = assay_node_in(d->graph, &d->graph->node[i], k);
            if (v && !v->data && !v->is_variable && v->producer >= 0 &&
                !blame_is_dumped(d, d->graph->node[i].in[k]))
                inside[v->producer] = true;
        }
}

static const void *input_of(const region *g, int value)
{
    if (value == ASSAY_NO_VALUE)
        return NULL;
    const assay_value *v = &g->s->d->graph->value[value];
    return v->data           ? v->data
           : g->value[value] ? g->value[value]
                             : blame_at(g->s->d, g->sample, value)->believed;
}

/* Inputs and room for outputs of a node. */
static bool gather(const region *g, const assay_node *n, const void ***in, void ***out)
{
    *in = assay_arena_array(g->arena, (size_t)n->n_in + 1, sizeof **in);
    *out = assay_arena_array(g->arena, (size_t)n->n_out + 1, sizeof **out);
    for (int i = 0; i < n->n_in && *in; i++)
        (*in)[i] = input_of(g, n->in[i]);
    for (int j = 0; j < n->n_out && *out; j++) {
        const assay_type *t = &g->s->d->graph->value[n->out[j]].type;
        (*out)[j] = assay_arena_alloc(g->arena, assay_type_bytes(t) + 64);
        if (!(*out)[j])
            return false;
    }
    return *in && *out;
}

/* Nodes that are no case of their own (state, several outputs) are as they were replayed. */
static bool can_run(const assay_node *n)
{
    return !(assay_op_get(n->op)->traits & (ASSAY_T_STATE | ASSAY_T_FLOW));
}

static bool run_theirs(const region *g, int node)
{
    const blame_device *d = g->s->d;
    const assay_node *n = &d->graph->node[node];
    const void **in;
    void **out;
    blame_case c;
    assay_status status;
    if (!can_run(n))
        return true;
    if (!gather(g, n, &in, &out))
        return false;
    if (blame_case_can(n))
        blame_case_fill(&c, d->graph, n, d->scheme, in, g->arena);
    if (blame_case_can(n) && assay_node_is_quantized(d->graph, n) &&
        blame_case_record(&c, &c.record) && blame_scheme_apply(g->scheme, &c) > 0)
        status = blame_case_run(&c, out[0], NULL, NULL);
    else
        status = assay_replay_node(d->program, node, in, out, NULL, NULL);
    for (int j = 0; j < n->n_out; j++)
        g->value[n->out[j]] = out[j];
    return !status;
}

static bool is_end(const region *g, int k)
{
    const blame_search *s = g->s;
    int32_t *codes = assay_arena_array(g->arena, (size_t)s->end_count + 16, sizeof *codes);
    if (!codes || !g->value[s->end])
        return false;
    blame_load(s->end_type, g->value[s->end], codes);
    for (int64_t i = 0; i < s->end_count; i++)
        if (s->seen[k * s->end_count + i] && !blame_same(s, k * s->end_count + i, codes[i]))
            return false;
    return true;
}

/* Which nodes the scheme makes differ: run by the golden one from the same inputs. */
static void mark_changed(const region *g)
{
    const blame_device *d = g->s->d;
    for (int i = 0; i < d->graph->n_nodes; i++) {
        const assay_node *n = &d->graph->node[i];
        const void **in;
        void **out;
        if (!g->inside[i] || !can_run(n) || !gather(g, n, &in, &out) ||
            assay_replay_node(d->program, i, in, out, NULL, NULL))
            continue;
        for (int j = 0; j < n->n_out; j++)
            g->changed[i] =
                g->changed[i] || memcmp(out[j], g->value[n->out[j]],
                                        assay_type_bytes(&d->graph->value[n->out[j]].type)) != 0;
    }
}

static bool explains_sample(region *g, int k)
{
    const assay_graph *graph = g->s->d->graph;
    g->sample = g->s->sample[k];
    g->arena = assay_arena_new();
    g->value = g->arena ? assay_arena_array(g->arena, (size_t)graph->n_values + 1, sizeof *g->value)
                        : NULL;
    bool good = g->value != NULL;
    for (int i = 0; i < graph->n_nodes && good; i++)
        good = !g->inside[i] || run_theirs(g, i);
    good = good && is_end(g, k);
    if (good)
        mark_changed(g);
    assay_arena_free(g->arena);
    return good;
}

/* Whether the scheme gives all that was dumped of the region that ends in a row; marks the nodes
 * that it changes. */
static bool explains_region(const blame_report *r, int row, const assay_scheme *scheme,
                            bool *changed)
{
    blame_search s;
    region g = {.s = &s, .scheme = scheme, .changed = changed};
    g.inside = calloc((size_t)r->device.graph->n_nodes + 1, sizeof *g.inside);
    bool good = !blame_search_open(&s, &r->device, &r->schemes, row, r->row[row].value, NULL, 0,
                                   r->rel, NULL) &&
                g.inside;
    if (good)
        find_inside(&r->device, row, g.inside);
    for (int k = 0; k < s.n_samples && good; k++)
        good = explains_sample(&g, k);
    blame_search_close(&s);
    free(g.inside);
    return good;
}

/* ---- all that is at fault ---- */

static bool is_region(const blame_report *r, int i)
{
    return r->row[i].verdict == BLAME_SUSPECT && r->row[i].region == i;
}

static bool has_scheme(const blame_fault *f, const char *name)
{
    int i = 0;
    while (i < f->n_schemes && strcmp(f->scheme[i], name) != 0)
        i++;
    return i < f->n_schemes;
}

static bool explains_all(const blame_report *r, const char *name)
{
    for (int i = 0; i < r->n_faults; i++)
        if (!has_scheme(&r->fault[i], name))
            return false;
    return true;
}

/* Of schemes that were tried. */
static const assay_scheme *find_scheme(const blame_report *r, const char *name)
{
    int i = 0;
    while (strcmp(r->schemes.scheme[i]->name, name) != 0)
        i++;
    return r->schemes.scheme[i];
}

/* Schemes that explain a node which was dumped, as a fault of the report. */
static assay_status explain_own(blame_report *r, int row, assay_error *err)
{
    blame_search s;
    blame_finding *found = malloc(BLAME_FINDINGS * sizeof *found);
    assay_status status = blame_search_open(&s, &r->device, &r->schemes, row, r->row[row].value,
                                            NULL, 0, r->rel, err);
    if (!status && !found)
        status = assay_out_of_memory(err);
    if (!status) {
        const int n = blame_search_run(&s, BLAME_SCHEMES, found, BLAME_FINDINGS);
        blame_fault *f = blame_add_fault(r, row, &s);
        if (f)
            blame_fill_fault(f, found, n);
        status = f ? ASSAY_OK : assay_out_of_memory(err);
    }
    blame_search_close(&s);
    free(found);
    return status;
}

/* A fault of a node that was not dumped, seen at the end of its region. */
static assay_status add_in_region(blame_report *r, int node, int row, assay_error *err)
{
    blame_search s;
    assay_status status = blame_search_open(&s, &r->device, &r->schemes, row, r->row[row].value,
                                            NULL, 0, r->rel, err);
    if (!status) {
        blame_fault *f = blame_add_fault(r, node, &s);
        status = f ? ASSAY_OK : assay_out_of_memory(err);
        if (f) {
            f->explained = 1;
            snprintf(f->classes[f->n_classes++], BLAME_CLASS, "scheme");
        }
    }
    blame_search_close(&s);
    return status;
}

/* Every region under a scheme; in[node] becomes the end of the region in which it changes it, -1
 * elsewhere. False: some region is not explained. */
static bool explains_regions(const blame_report *r, const assay_scheme *scheme, int *in)
{
    const int n = r->device.graph->n_nodes;
    bool *changed = malloc((size_t)n + 1), good = changed != NULL;
    for (int i = 0; i < n; i++)
        in[i] = -1;
    for (int i = 0; i < n && good; i++) {
        if (!is_region(r, i))
            continue;
        memset(changed, 0, (size_t)n);
        good = explains_region(r, i, scheme, changed);
        for (int k = 0; k < n; k++)
            in[k] = changed[k] && in[k] < 0 ? i : in[k];
    }
    free(changed);
    return good;
}

static void put_scheme_first(blame_fault *f, const char *detail)
{
    int at = 0;
    while (at < f->n_classes - 1 && strcmp(f->classes[at], "scheme") != 0)
        at++;
    memmove(f->classes[1], f->classes[0], (size_t)at * BLAME_CLASS);
    snprintf(f->classes[0], BLAME_CLASS, "scheme");
    snprintf(f->class, sizeof f->class, "scheme");
    snprintf(f->detail, sizeof f->detail, "%s", detail);
}

static int nodes_at_fault(const blame_report *r, const int *in)
{
    int n = 0;
    for (int i = 0; i < r->device.graph->n_nodes; i++)
        n += r->row[i].verdict == BLAME_OWN || in[i] >= 0;
    return n;
}

/* Whether the scheme also gives what was dumped of the nodes that are not at fault. */
static bool agrees(const blame_report *r, const assay_scheme *scheme, bool *changed)
{
    for (int i = 0; i < r->device.graph->n_nodes; i++)
        if (r->row[i].elements > 0 && !r->row[i].on_sums && r->row[i].verdict != BLAME_OWN &&
            r->row[i].verdict != BLAME_SUSPECT && !explains_region(r, i, scheme, changed))
            return false;
    return true;
}

/* The schemes that explain every fault so far and every region, the first `agreed` of them the
 * other nodes as well. */
typedef struct choice {
    const assay_scheme **scheme;
    int n, agreed;
    int *in;       /* by node: the end of the region in which the first of them changes it, or -1 */
    bool *changed; /* room for a mark a node */
} choice;

static void choose(const blame_report *r, choice *c)
{
    const int tried = r->n_faults > 0 ? r->fault[0].n_schemes : r->schemes.n;
    for (int k = 0; k < tried; k++) {
        const assay_scheme *scheme =
            r->n_faults > 0 ? find_scheme(r, r->fault[0].scheme[k]) : r->schemes.scheme[k];
        if (!explains_all(r, scheme->name) || !explains_regions(r, scheme, c->in) ||
            nodes_at_fault(r, c->in) < 2)
            continue;
        int at = c->n++;
        if (agrees(r, scheme, c->changed)) {
            memmove(&c->scheme[c->agreed + 1], &c->scheme[c->agreed],
                    (size_t)(at - c->agreed) * sizeof(const assay_scheme *));
            at = c->agreed++;
        }
        c->scheme[at] = scheme;
    }
    if (c->n > 0)
        explains_regions(r, c->scheme[0], c->in);
}

static void say_choice(const choice *c, char *text, size_t size)
{
    size_t used = (size_t)snprintf(
        text, size, "what %s: ", c->n > 1 ? "these schemes compute" : "this scheme computes");
    for (int k = 0; k < c->n; k++) {
        const char *mark = k == 0                            ? ""
                           : k == c->agreed && c->agreed > 0 ? "; at these nodes alone also "
                                                             : ", ";
        if (used + strlen(mark) + strlen(c->scheme[k]->name) < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", mark, c->scheme[k]->name);
    }
}

static assay_status explain_owns(blame_report *r, bool *none, assay_error *err)
{
    assay_status status = ASSAY_OK;
    *none = false;
    for (int i = 0; i < r->device.graph->n_nodes && !status && !*none; i++) {
        if (r->row[i].verdict != BLAME_OWN)
            continue;
        status = explain_own(r, i, err);
        *none = !status && r->fault[r->n_faults - 1].n_schemes == 0;
    }
    return status;
}

static bool are_several(const blame_report *r)
{
    int own = 0, regions = 0;
    for (int i = 0; i < r->device.graph->n_nodes; i++) {
        own += r->row[i].verdict == BLAME_OWN;
        regions += is_region(r, i);
    }
    return own > 1 || regions > 0;
}

static assay_status report_choice(blame_report *r, const choice *c, assay_error *err)
{
    char detail[sizeof r->fault->detail];
    assay_status status = ASSAY_OK;
    for (int i = 0; i < r->device.graph->n_nodes && !status; i++)
        if (c->in[i] >= 0)
            status = add_in_region(r, i, c->in[i], err);
    say_choice(c, detail, sizeof detail);
    for (int i = 0; i < r->n_faults; i++)
        put_scheme_first(&r->fault[i], detail);
    return status;
}

assay_status blame_whole(blame_report *r, bool *all, assay_error *err)
{
    const size_t nodes = (size_t)r->device.graph->n_nodes + 1;
    bool none = true;
    *all = false;
    if (!are_several(r))
        return ASSAY_OK;
    choice c = {.scheme = calloc((size_t)r->schemes.n + 1, sizeof *c.scheme),
                .in = calloc(nodes, sizeof *c.in),
                .changed = calloc(nodes, sizeof *c.changed)};
    assay_status status =
        c.scheme && c.in && c.changed ? explain_owns(r, &none, err) : assay_out_of_memory(err);
    if (!status && !none)
        choose(r, &c);
    *all = c.n > 0;
    if (*all)
        status = report_choice(r, &c, err);
    else
        blame_drop_faults(r);
    free(c.scheme);
    free(c.in);
    free(c.changed);
    return status;
}
