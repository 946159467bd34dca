/* The profile of a network whose channels are scaled by powers of two, from that of the network:
 * bins are powers of two wide, so it is the one that observing would give. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/arena.h"
#include "graph/core/digest.h"
#include "graph/memory.h"
#include "opt/profile/state.h"

bool profile_histogram_scales(const assay_histogram *h, int exponent)
{
    const float min = ldexpf(h->min, exponent), max = ldexpf(h->max, exponent);
    return h->finite == 0 ||
           (ldexpf(min, -exponent) == h->min && ldexpf(max, -exponent) == h->max &&
            profile_histogram_exponent(min, max) == h->exponent + exponent);
}

/* Adds `from` times 2^exponent. */
static void add_scaled(assay_histogram *into, const assay_histogram *from, int exponent)
{
    assay_histogram scaled = *from;
    if (from->finite > 0) {
        scaled.exponent += exponent;
        scaled.min = ldexpf(from->min, exponent);
        scaled.max = ldexpf(from->max, exponent);
    }
    profile_histogram_merge(into, &scaled);
}

/* One entry of the new profile; its channels are not kept. */
static assay_status copy_entry(const assay_profile *p, const assay_profile_entry *from,
                               const assay_profile_scaling *s, assay_profile_entry *to,
                               assay_error *err)
{
    const assay_profile_entry *seen = s ? profile_find(p, s->seen) : from;
    assay_status status = profile_entry_init(to, s ? s->scaled : from->name, err);
    if (status)
        return status;
    to->lineage = from->lineage;
    to->step = from->step;
    if (!s)
        profile_histogram_merge(&to->seen, &from->seen);
    for (int c = 0; s && c < seen->n_channels; c++)
        add_scaled(&to->seen, &seen->channel[c], -s->exponent[c]);
    return ASSAY_OK;
}

static const assay_profile_scaling *scaling_of(const assay_profile_scaling *s, int n,
                                               const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(s[i].name, name) == 0)
            return &s[i];
    return NULL;
}

static assay_status copy_entries(const assay_profile *p, const assay_profile_scaling *s, int n,
                                 assay_profile *to, assay_error *err)
{
    assay_status status = ASSAY_OK;
    to->entry = calloc((size_t)p->n_entries + 1, sizeof *to->entry);
    if (!to->entry)
        return assay_out_of_memory(err);
    for (int i = 0; i < p->n_entries && !status; i++)
        status = copy_entry(p, &p->entry[i], scaling_of(s, n, p->entry[i].name),
                            &to->entry[to->n_entries++], err);
    if (!status)
        profile_sort(to);
    return status;
}

/* The weights that values depend on are those of g. */
static assay_status bind(assay_profile *p, const assay_graph *g, assay_error *err)
{
    uint64_t *lineage = calloc((size_t)g->n_values + 1, sizeof *lineage);
    assay_status status =
        lineage ? assay_value_lineage(g, ASSAY_LINEAGE, lineage, err) : assay_out_of_memory(err);
    for (int i = 0; i < p->n_entries && !status; i++) {
        const int v = assay_graph_find_value(g, p->entry[i].name);
        if (v >= 0)
            p->entry[i].lineage = lineage[v];
    }
    free(lineage);
    return status;
}

assay_status profile_scaled(const assay_profile *p, const assay_graph *g,
                            const assay_profile_scaling *s, int n, assay_profile **out,
                            assay_error *err)
{
    assay_profile *made;
    assay_status status = profile_blank(&made, err);
    *out = NULL;
    if (status)
        return status;
    profile_flush(p);
    status = copy_entries(p, s, n, made, err);
    for (int i = 0; i < p->n_ranges && !status; i++)
        status = profile_add_range(made, p->range[i], err);
    if (!status)
        status = bind(made, g, err);
    made->whole = p->whole;
    if (status)
        profile_free(made);
    else
        *out = made;
    return status;
}
