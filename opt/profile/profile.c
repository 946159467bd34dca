/* A profile; see profile.h. */
#include "opt/profile/profile.h"
#include "graph/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/arena.h"
#include "graph/core/digest.h"
#include "opt/profile/state.h"

/* ---- making and freeing ---- */

assay_status profile_blank(assay_profile **out, assay_error *err)
{
    assay_profile *p = calloc(1, sizeof *p);
    *out = NULL;
    if (!p)
        return assay_out_of_memory(err);
    p->model = strdup("");
    p->graph = strdup("");
    p->preprocessing = strdup("");
    p->dataset = strdup("");
    if (!p->model || !p->graph || !p->preprocessing || !p->dataset) {
        profile_free(p);
        return assay_out_of_memory(err);
    }
    *out = p;
    return ASSAY_OK;
}

void profile_free(assay_profile *p)
{
    if (!p)
        return;
    for (int i = 0; i < p->n_entries; i++) {
        free((char *)p->entry[i].name);
        profile_histogram_clear(&p->entry[i].seen);
        for (int k = 0; k < p->entry[i].n_channels; k++)
            profile_histogram_clear(&p->entry[i].channel[k]);
        free(p->entry[i].channel);
        free(p->entry[i].pending);
    }
    free(p->entry);
    free(p->fresh);
    free(p->entry_of_value);
    free(p->range);
    free(p->model);
    free(p->graph);
    free(p->preprocessing);
    free(p->dataset);
    free(p);
}

static assay_status set_text(char **field, const char *text, assay_error *err)
{
    char *copy = strdup(text);
    if (!copy)
        return assay_out_of_memory(err);
    free(*field);
    *field = copy;
    return ASSAY_OK;
}

assay_status profile_set_preprocessing(assay_profile *p, const char *text, assay_error *err)
{
    return set_text(&p->preprocessing, text, err);
}

assay_status profile_set_dataset(assay_profile *p, const char *name, assay_error *err)
{
    return set_text(&p->dataset, name, err);
}

assay_status profile_set_whole(assay_profile *p, assay_profile_range whole, assay_error *err)
{
    if (whole.first >= whole.end)
        return assay_fail(err, ASSAY_ERR_INPUT, "samples [%llu, %llu) are an empty range",
                          (unsigned long long)whole.first, (unsigned long long)whole.end);
    p->whole = whole;
    return ASSAY_OK;
}

assay_status profile_entry_init(assay_profile_entry *e, const char *name, assay_error *err)
{
    *e = (assay_profile_entry){.name = strdup(name), .step = -1};
    return e->name ? profile_histogram_init(&e->seen, err) : assay_out_of_memory(err);
}

bool profile_is_profiled(const assay_value *v)
{
    return !v->data && v->type.elem.kind == ASSAY_KIND_F32;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const assay_profile_entry *)a)->name, ((const assay_profile_entry *)b)->name);
}

void profile_sort(assay_profile *p)
{
    if (p->n_entries > 1)
        qsort(p->entry, (size_t)p->n_entries, sizeof *p->entry, by_name);
}

static int find_entry(const assay_profile *p, const char *name)
{
    assay_profile_entry key = {.name = name};
    const assay_profile_entry *e =
        p->n_entries > 0 ? bsearch(&key, p->entry, (size_t)p->n_entries, sizeof *p->entry, by_name)
                         : NULL;
    return e ? (int)(e - p->entry) : -1;
}

static void number_step(assay_profile *p, const assay_graph *g, int value, int *step)
{
    const int i = profile_is_profiled(&g->value[value]) ? find_entry(p, g->value[value].name) : -1;
    if (i >= 0 && p->entry[i].step < 0)
        p->entry[i].step = (*step)++;
}

/* Inputs and states come first, then what each node writes. */
static void number_steps(assay_profile *p, const assay_graph *g)
{
    int step = 0;
    for (int i = 0; i < g->n_inputs; i++)
        number_step(p, g, g->input[i], &step);
    for (int n = 0; n < g->n_nodes; n++)
        for (int k = 0; k < g->node[n].n_out; k++)
            number_step(p, g, g->node[n].out[k], &step);
    for (int v = 0; v < g->n_values; v++)
        number_step(p, g, v, &step);
}

/* One empty entry for each value of g that is profiled. */
static assay_status make_entries(assay_profile *p, const assay_graph *g, const uint64_t *lineage,
                                 assay_error *err)
{
    size_t n = (size_t)(g->n_values > 0 ? g->n_values : 1);
    p->entry = calloc(n, sizeof *p->entry);
    p->entry_of_value = malloc(n * sizeof *p->entry_of_value);
    p->fresh = calloc(n, sizeof *p->fresh);
    if (!p->entry || !p->entry_of_value || !p->fresh)
        return assay_out_of_memory(err);
    for (int v = 0; v < g->n_values; v++) {
        if (!profile_is_profiled(&g->value[v]))
            continue;
        assay_profile_entry *e = &p->entry[p->n_entries++];
        if (profile_entry_init(e, g->value[v].name, err))
            return ASSAY_ERR_MEMORY;
        e->lineage = lineage[v];
    }
    for (int i = 0; i < p->n_entries; i++) {
        p->fresh[i].lo = -INFINITY;
        p->fresh[i].hi = INFINITY;
    }
    profile_sort(p);
    number_steps(p, g);
    p->n_values = g->n_values;
    for (int v = 0; v < g->n_values; v++)
        p->entry_of_value[v] =
            profile_is_profiled(&g->value[v]) ? find_entry(p, g->value[v].name) : -1;
    return ASSAY_OK;
}

assay_status profile_new(const assay_graph *g, assay_profile **out, assay_error *err)
{
    char digest[33];
    assay_profile *p;
    assay_status status = profile_blank(&p, err);
    *out = NULL;
    if (status)
        return status;
    uint64_t *lineage = calloc((size_t)g->n_values + 1, sizeof *lineage);
    if (!lineage)
        status = assay_out_of_memory(err);
    if (!status)
        status = assay_value_lineage(g, ASSAY_LINEAGE, lineage, err);
    if (!status)
        status = assay_graph_digest(g, digest, err);
    if (!status)
        status = set_text(&p->graph, digest, err);
    if (!status)
        status = set_text(&p->model, g->model_digest, err);
    if (!status)
        status = make_entries(p, g, lineage, err);
    free(lineage);
    if (status)
        profile_free(p);
    else
        *out = p;
    return status;
}

/* ---- queries ---- */

int profile_count(const assay_profile *p)
{
    return p->n_entries;
}

const assay_profile_entry *profile_get(const assay_profile *p, int i)
{
    profile_flush(p);
    return &p->entry[i];
}

const assay_profile_entry *profile_find(const assay_profile *p, const char *name)
{
    int i = find_entry(p, name);
    profile_flush(p);
    return i < 0 ? NULL : &p->entry[i];
}

assay_profile_origin profile_get_origin(const assay_profile *p)
{
    return (assay_profile_origin){p->model, p->graph, p->preprocessing, p->dataset, p->whole};
}
