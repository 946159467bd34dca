/* Faults of a report: made, filled with what was found, dropped. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/faults.h"

static void say_element(const blame_search *s, char *text, size_t size)
{
    for (int64_t i = 0; i < s->n_samples * s->end_count; i++) {
        if (!s->seen[i] || blame_same(s, i, s->end_base[i]))
            continue;
        int64_t at[ASSAY_MAX_RANK], rest = i % s->end_count;
        size_t used = 0;
        for (int k = s->end_type->rank - 1; k >= 0; k--) {
            at[k] = rest % s->end_type->dim[k];
            rest /= s->end_type->dim[k];
        }
        for (int k = 0; k < s->end_type->rank && used < size; k++)
            used += (size_t)snprintf(text + used, size - used, "%s%lld", k ? "," : "[",
                                     (long long)at[k]);
        if (used >= size)
            return;
        if (s->end_type->elem.kind == ASSAY_KIND_F32 && !s->on_sums) {
            float v[3];
            memcpy(&v[0], &s->gold[i], 4);
            memcpy(&v[1], &s->end_base[i], 4);
            memcpy(&v[2], &s->dev[i], 4);
            snprintf(text + used, size - used, "] golden %.9g, replayed %.9g, device %.9g",
                     (double)v[0], (double)v[1], (double)v[2]);
        } else {
            snprintf(text + used, size - used, "] %sgolden %d, replayed %d, device %d",
                     s->on_sums ? "accumulator: " : "", s->gold[i], s->end_base[i], s->dev[i]);
        }
        return;
    }
}

blame_fault *blame_add_fault(blame_report *r, int row, const blame_search *s)
{
    blame_fault *more = realloc(r->fault, (size_t)(r->n_faults + 1) * sizeof *more);
    if (!more)
        return NULL;
    r->fault = more;
    blame_fault *f = &r->fault[r->n_faults++];
    *f = (blame_fault){.row = row,
                       .elements = s->n_seen + s->left_out,
                       .differing = s->differing,
                       .left_out = s->left_out};
    if (s->left_out && s->n_samples == 1)
        snprintf(f->where, sizeof f->where, ", in sample %d alone", s->sample[0]);
    else if (s->left_out)
        snprintf(f->where, sizeof f->where, ", in %d samples from %d to %d", s->n_samples,
                 s->sample[0], s->sample[s->n_samples - 1]);
    snprintf(f->class, sizeof f->class, "unexplained");
    say_element(s, f->sample, sizeof f->sample);
    blame_say_common(s, f->common, sizeof f->common);
    return f;
}

static void name_class(blame_fault *f, const blame_finding *found)
{
    for (int i = 0; i < f->n_classes; i++)
        if (strcmp(f->classes[i], found->story.class) == 0)
            return;
    if (f->n_classes < BLAME_CLASSES)
        snprintf(f->classes[f->n_classes++], BLAME_CLASS, "%s", found->story.class);
}

static void name_scheme(blame_fault *f, const blame_finding *found)
{
    char(*more)[64] = realloc(f->scheme, (size_t)(f->n_schemes + 1) * sizeof *more);
    if (!more)
        return;
    f->scheme = more;
    snprintf(f->scheme[f->n_schemes++], sizeof *more, "%s", found->story.scheme);
}

void blame_fill_fault(blame_fault *f, const blame_finding *found, int n)
{
    if (n == 0) {
        f->explained = 1.0 - (double)f->differing / (double)f->elements;
        snprintf(f->detail, sizeof f->detail, "no hypothesis explains any of it%s", f->common);
        return;
    }
    f->cause[f->n_causes].family = found[0].family;
    f->cause[f->n_causes++].i = found[0].i;
    const double explained = (double)(found[0].explained + f->left_out);
    f->explained = explained / (double)f->elements;
    if (!found[0].full) {
        const double before = (double)(f->elements - f->differing);
        snprintf(f->detail, sizeof f->detail,
                 "best of what was tried: %s, %s (%.0f %% of those that differ)%s",
                 found[0].story.class, found[0].story.detail,
                 100.0 * fmax(0, explained - before) / (double)f->differing, f->common);
        return;
    }
    snprintf(f->class, sizeof f->class, "%s", found[0].story.class);
    snprintf(f->detail, sizeof f->detail, "%s%s", found[0].story.detail, f->where);
    for (int i = 0; i < n && found[i].full; i++) {
        name_class(f, &found[i]);
        if (found[i].story.scheme[0])
            name_scheme(f, &found[i]);
    }
}

void blame_drop_faults(blame_report *r)
{
    for (int i = 0; i < r->n_faults; i++)
        free(r->fault[i].scheme);
    free(r->fault);
    r->fault = NULL;
    r->n_faults = 0;
}

static int find_row(const blame_report *r, const char *name, size_t length)
{
    const assay_graph *g = r->device.graph;
    for (int output = 0; output < 2; output++)
        for (int i = 0; i < g->n_nodes; i++) {
            const char *s = output ? g->value[g->node[i].out[0]].name : g->node[i].name;
            if (strlen(s) == length && memcmp(s, name, length) == 0)
                return i;
        }
    return -1;
}

int blame_find_row(const blame_report *r, const char *name)
{
    const char *bracket = strrchr(name, '[');
    const int row = find_row(r, name, strlen(name));
    return row < 0 && bracket ? find_row(r, name, (size_t)(bracket - name)) : row;
}
