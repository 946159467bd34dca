/* A group's records: schemes, their neighbours, the nearest as changed. */
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/probe/find.h"

enum { MAX_STEPS = PROBE_CHANGES };

/* Fills agrees, in_float, nearest, record and given. */
static assay_status try_schemes(const blame_device *d, const probe_group *g,
                                const blame_schemes *schemes, probe_op_finding *f, assay_error *err)
{
    f->agrees = calloc((size_t)schemes->n + 1, sizeof *f->agrees);
    f->in_float = calloc((size_t)schemes->n + 1, sizeof *f->in_float);
    f->nearest = -1;
    f->given = -1;
    if (!f->agrees || !f->in_float)
        return assay_out_of_memory(err);
    for (int i = 0; i < schemes->n; i++) {
        assay_record r;
        probe_score score;
        f->in_float[i] = probe_computes_in_float(schemes->scheme[i], g->op, g->variant);
        if (f->in_float[i] || !probe_record_of(d, g, schemes->scheme[i], &r))
            continue;
        const assay_status status = probe_score_of(d, g, &r, f->given, &score, err);
        if (status)
            return status;
        f->agrees[i] = score.given == g->elements;
        if (score.given <= f->given)
            continue;
        f->nearest = i;
        f->given = score.given;
        f->record = r;
    }
    return f->nearest >= 0 ? ASSAY_OK
                           : assay_fail(err, ASSAY_ERR_INPUT, "no scheme computes '%s' in integers",
                                        assay_op_get(g->op)->name);
}

/* The record's neighbours by one field. */
static assay_status neighbours(const blame_device *d, const probe_group *g,
                               const blame_schemes *schemes, const assay_record *r,
                               blame_value **value, int *n, assay_error *err)
{
    blame_case c;
    blame_case_fill(&c, d->graph, &d->graph->node[g->node[0]], d->scheme,
                    (const void *[BLAME_IN]){NULL}, NULL);
    return blame_values_of(&c, r, schemes, value, n) ? ASSAY_OK : assay_out_of_memory(err);
}

static bool makes_sense(const assay_record *r)
{
    char why[256];
    return assay_record_check(r, why, sizeof why);
}

/* Accumulators of any width and overflow: two fields that show together. */
static int widths_of(const probe_group *g, const assay_record *now, assay_record *out, int max)
{
    enum { LEAST = 8, FULL = 32 };
    const unsigned traits = assay_op_get(g->op)->traits;
    int n = 0;
    if (!(traits & (ASSAY_T_WEIGHTED | ASSAY_T_SUMS)) && g->op != ASSAY_OP_MATMUL)
        return 0;
    for (int bits = LEAST; bits < FULL; bits++)
        for (int overflow = 0; overflow < 3 && n < max; overflow++) {
            static const int kinds[] = {ASSAY_OVERFLOW_WRAP, ASSAY_OVERFLOW_SATURATE_EACH,
                                        ASSAY_OVERFLOW_SATURATE_END};
            out[n] = *now;
            out[n].accumulator.bits = bits;
            out[n++].accumulator.overflow = kinds[overflow];
        }
    return n;
}

/* Takes the best of a record's neighbours, if it gives at least `min` elements. */
static assay_status step(const blame_device *d, const probe_group *g, const blame_schemes *schemes,
                         const assay_record *from, int64_t min, probe_op_finding *f, bool *better,
                         assay_error *err)
{
    enum { WIDTHS = 96 };
    assay_record best = *from, *width = calloc(WIDTHS, sizeof *width);
    blame_value *value = NULL;
    int n = 0;
    *better = false;
    assay_status status =
        width ? neighbours(d, g, schemes, from, &value, &n, err) : assay_out_of_memory(err);
    const int widths = !status ? widths_of(g, from, width, WIDTHS) : 0;
    for (int i = 0; i < n + widths && !status; i++) {
        assay_record r = i < n ? *from : width[i - n];
        probe_score score;
        if (i < n)
            assay_record_set(&r, value[i].field, value[i].value);
        if (!makes_sense(&r))
            continue;
        status = probe_score_of(d, g, &r, min, &score, err);
        if (status || score.given < min)
            continue;
        f->given = score.given;
        min = score.given + 1;
        best = r;
        *better = true;
    }
    if (*better)
        f->record = best;
    free(width);
    free(value);
    return status;
}

/* A scheme's neighbour that gives everything, of schemes that compute the op alike the first. */
static assay_status try_neighbours(const blame_device *d, const probe_group *g,
                                   const blame_schemes *schemes, probe_op_finding *f,
                                   assay_error *err)
{
    assay_record *seen = calloc((size_t)schemes->n + 1, sizeof *seen);
    const assay_field *field;
    assay_status status = seen ? ASSAY_OK : assay_out_of_memory(err);
    bool better = false;
    int n = 0;
    for (int i = 0; i < schemes->n && !status && !better; i++) {
        bool is_new = !f->in_float[i] && probe_record_of(d, g, schemes->scheme[i], &seen[n]);
        for (int k = 0; k < n && is_new; k++)
            is_new = probe_changes(g->op, &seen[k], &seen[n], &field, 1) > 0;
        if (!is_new)
            continue;
        status = step(d, g, schemes, &seen[n++], g->elements, f, &better, err);
        if (better)
            f->nearest = i;
    }
    free(seen);
    return status;
}

/* Changes the field that helps most, as long as one does. */
static assay_status climb(const blame_device *d, const probe_group *g, const blame_schemes *schemes,
                          probe_op_finding *f, assay_error *err)
{
    assay_status status = ASSAY_OK;
    bool better = true;
    for (int i = 0; i < MAX_STEPS && !status && better && f->given < g->elements; i++) {
        const assay_record from = f->record;
        status = step(d, g, schemes, &from, f->given + 1, f, &better, err);
    }
    return status;
}

assay_status probe_search(const blame_device *d, const probe_group *g, const blame_schemes *schemes,
                          probe_op_finding *f, assay_error *err)
{
    assay_record nearest;
    assay_status status = try_schemes(d, g, schemes, f, err);
    if (!status && !probe_is_full(f))
        status = try_neighbours(d, g, schemes, f, err);
    if (!status && !probe_is_full(f))
        status = climb(d, g, schemes, f, err);
    if (status)
        return status;
    probe_record_of(d, g, schemes->scheme[f->nearest], &nearest);
    f->n_changes = probe_changes(g->op, &nearest, &f->record, f->change, PROBE_CHANGES);
    return probe_is_full(f)
               ? probe_find_open(d, g, schemes, f, err)
               : probe_contradictions(d, g, &f->record, f->against, &f->n_against, err);
}
