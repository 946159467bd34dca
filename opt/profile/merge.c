/* Samples and merging. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/arena.h"
#include "graph/memory.h"
#include "opt/profile/state.h"

/* ---- samples ---- */

assay_status profile_add_range(assay_profile *p, assay_profile_range r, assay_error *err)
{
    int at = 0;
    while (at < p->n_ranges && p->range[at].end <= r.first)
        at++;
    if (at < p->n_ranges && p->range[at].first < r.end)
        return assay_fail(
            err, ASSAY_ERR_INPUT, "sample %llu is already in the profile: shards overlap",
            (unsigned long long)(p->range[at].first > r.first ? p->range[at].first : r.first));
    bool joins_left = at > 0 && p->range[at - 1].end == r.first;
    bool joins_right = at < p->n_ranges && p->range[at].first == r.end;
    if (joins_left && joins_right) {
        p->range[at - 1].end = p->range[at].end;
        p->n_ranges--;
        memmove(&p->range[at], &p->range[at + 1], (size_t)(p->n_ranges - at) * sizeof *p->range);
    } else if (joins_left) {
        p->range[at - 1].end = r.end;
    } else if (joins_right) {
        p->range[at].first = r.first;
    } else {
        if (p->n_ranges == p->max_ranges) {
            int max = p->max_ranges > 0 ? 2 * p->max_ranges : 8;
            assay_profile_range *grown = realloc(p->range, (size_t)max * sizeof *grown);
            if (!grown)
                return assay_out_of_memory(err);
            p->range = grown;
            p->max_ranges = max;
        }
        memmove(&p->range[at + 1], &p->range[at], (size_t)(p->n_ranges - at) * sizeof *p->range);
        p->range[at] = r;
        p->n_ranges++;
    }
    return ASSAY_OK;
}

assay_status profile_add_sample(assay_profile *p, uint64_t sample, assay_error *err)
{
    return profile_add_range(p, (assay_profile_range){sample, sample + 1}, err);
}

uint64_t profile_samples(const assay_profile *p)
{
    uint64_t n = 0;
    for (int i = 0; i < p->n_ranges; i++)
        n += p->range[i].end - p->range[i].first;
    return n;
}

assay_status profile_complete(const assay_profile *p, assay_error *err)
{
    assay_profile_range want = p->whole;
    if (want.end == 0 && p->n_ranges > 0)
        want.end = p->range[p->n_ranges - 1].end;
    uint64_t missing = want.first;
    for (int i = 0; i < p->n_ranges && p->range[i].first <= missing; i++)
        missing = p->range[i].end;
    if (want.end > 0 && missing >= want.end)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "profile is not complete: sample %llu of [%llu, %llu) is missing (a shard "
                      "was left out?)",
                      (unsigned long long)missing, (unsigned long long)want.first,
                      (unsigned long long)want.end);
}

/* ---- merging ---- */

/* Both texts on one line, however many they have. */
static assay_status demand_same(const char *what, const char *a, const char *b, assay_error *err)
{
    char line[2][120];
    if (strcmp(a, b) == 0)
        return ASSAY_OK;
    for (int k = 0; k < 2; k++) {
        snprintf(line[k], sizeof line[k], "%s", k == 0 ? a : b);
        for (char *c = line[k]; *c; c++)
            *c = *c == '\n' ? ' ' : *c;
    }
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "profiles cannot be merged: %s is '%s' in one and '%s' in the other", what,
                      line[0], line[1]);
}

static assay_status demand_mergeable(const assay_profile *a, const assay_profile *b,
                                     assay_error *err)
{
    assay_status status = demand_same("model", a->model, b->model, err);
    if (!status)
        status = demand_same("graph", a->graph, b->graph, err);
    if (!status)
        status = demand_same("preprocessing", a->preprocessing, b->preprocessing, err);
    if (!status)
        status = demand_same("dataset", a->dataset, b->dataset, err);
    if (status)
        return status;
    if (a->whole.first != b->whole.first || a->whole.end != b->whole.end)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "profiles cannot be merged: one is of samples [%llu, %llu), the other of "
                          "[%llu, %llu)",
                          (unsigned long long)a->whole.first, (unsigned long long)a->whole.end,
                          (unsigned long long)b->whole.first, (unsigned long long)b->whole.end);
    if (a->n_entries != b->n_entries)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "profiles cannot be merged: %d values in one and %d in the other",
                          a->n_entries, b->n_entries);
    for (int i = 0; i < a->n_entries; i++) {
        const assay_profile_entry *x = &a->entry[i], *y = &b->entry[i];
        if (strcmp(x->name, y->name) != 0 || x->lineage != y->lineage)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "profiles cannot be merged: value '%s' of one is not in the other",
                              x->name);
        if (x->n_channels != y->n_channels)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "profiles cannot be merged: value '%s' has %d channels in one and %d "
                              "in the other (`per_channel` for one shard only?)",
                              x->name, x->n_channels, y->n_channels);
        if (!profile_histogram_can_merge(&x->seen, &y->seen))
            return assay_fail(err, ASSAY_ERR_LIMIT,
                              "profiles cannot be merged: counts of value "
                              "'%s' exceed 64 bits",
                              x->name);
    }
    return ASSAY_OK;
}

/* All ranges of both, or an error; the caller frees *out. */
static assay_status join_ranges(const assay_profile *a, const assay_profile *b, assay_profile *out,
                                assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int i = 0; i < a->n_ranges && !status; i++)
        status = profile_add_range(out, a->range[i], err);
    for (int i = 0; i < b->n_ranges && !status; i++)
        status = profile_add_range(out, b->range[i], err);
    return status;
}

assay_status profile_merge(assay_profile *into, const assay_profile *from, assay_error *err)
{
    assay_profile joined = {0};
    assay_status status = demand_mergeable(into, from, err);
    if (!status)
        status = join_ranges(into, from, &joined, err);
    if (status) {
        free(joined.range);
        return status;
    }
    profile_flush(into);
    profile_flush(from);
    free(into->range);
    into->range = joined.range;
    into->n_ranges = joined.n_ranges;
    into->max_ranges = joined.max_ranges;
    for (int i = 0; i < into->n_entries; i++) {
        assay_profile_entry *e = &into->entry[i];
        if (e->step < 0) /* of a file that does not say, beside one that does */
            e->step = from->entry[i].step;
        profile_histogram_merge(&e->seen, &from->entry[i].seen);
        for (int k = 0; k < e->n_channels; k++)
            profile_histogram_merge(&e->channel[k], &from->entry[i].channel[k]);
    }
    return ASSAY_OK;
}
