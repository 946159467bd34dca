/* Both sides opened, every node replayed and judged, each fault searched for its cause. */
#include "interp/blame/blame.h"
#include "graph/memory.h"
#include "interp/blame/screens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FINDINGS = 96, PAIRED = 6, SCREENS = 8, MANY = 8 };

typedef struct blaming {
    blame_report *report;
    const blame_options *options;
    int done, of;
} blaming;

static void step(void *user)
{
    blaming *b = user;
    b->done++;
    if (b->options->step)
        b->options->step(b->options->user, b->done, b->of);
}

/* ---- faults ---- */

static void say_element(const blame_search *s, char *text, size_t size)
{
    for (int64_t i = 0; i < s->n_samples * s->end_count; i++) {
        if (!s->seen[i] || blame_same(s, s->dev[i], s->end_base[i]))
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
        if (s->end_type->elem.kind == ASSAY_KIND_F32) {
            float v[3];
            memcpy(&v[0], &s->gold[i], 4);
            memcpy(&v[1], &s->end_base[i], 4);
            memcpy(&v[2], &s->dev[i], 4);
            snprintf(text + used, size - used, "] golden %.9g, replayed %.9g, device %.9g",
                     (double)v[0], (double)v[1], (double)v[2]);
        } else {
            snprintf(text + used, size - used, "] golden %d, replayed %d, device %d", s->gold[i],
                     s->end_base[i], s->dev[i]);
        }
        return;
    }
}

static blame_fault *add_fault(blame_report *r, int row, const blame_search *s)
{
    blame_fault *more = realloc(r->fault, (size_t)(r->n_faults + 1) * sizeof *more);
    if (!more)
        return NULL;
    r->fault = more;
    blame_fault *f = &r->fault[r->n_faults++];
    *f = (blame_fault){.row = row, .elements = s->n_seen, .differing = s->differing};
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

static void fill_fault(blame_fault *f, const blame_finding *found, int n)
{
    if (n == 0) {
        f->explained = 1.0 - (double)f->differing / (double)f->elements;
        snprintf(f->detail, sizeof f->detail, "no hypothesis explains any of it%s", f->common);
        return;
    }
    f->cause[f->n_causes].family = found[0].family;
    f->cause[f->n_causes++].i = found[0].i;
    f->explained = (double)found[0].explained / (double)f->elements;
    if (!found[0].full) {
        snprintf(f->detail, sizeof f->detail, "best of what was tried: %.24s, %.100s%.80s",
                 found[0].story.class, found[0].story.detail, f->common);
        return;
    }
    snprintf(f->class, sizeof f->class, "%s", found[0].story.class);
    snprintf(f->detail, sizeof f->detail, "%s", found[0].story.detail);
    for (int i = 0; i < n && found[i].full; i++) {
        name_class(f, &found[i]);
        if (found[i].story.scheme[0])
            name_scheme(f, &found[i]);
    }
}

/* ---- one node ---- */

/* Two causes together: the best partial ones taken as given, one after the other. They change fewer
 * numbers than there are elements that differ, or anything could be explained. */
static bool try_pairs(blaming *b, int row, blame_search *s, const blame_finding *partial, int n)
{
    blame_finding *found = malloc(FINDINGS * sizeof *found);
    bool done = false;
    for (int i = 0; i < n && i < PAIRED && found && !done; i++) {
        blame_search with;
        if (!partial[i].family->edit ||
            blame_search_open(&with, s->d, s->schemes, s->node, s->end, s->after, s->n_after,
                              s->rel, NULL) != ASSAY_OK)
            continue;
        if (blame_search_assume(&with, &partial[i])) {
            const int64_t left = with.differing;
            const int k = blame_search_run(&with, BLAME_THOROUGH, found, FINDINGS);
            if (k > 0 && found[0].full &&
                partial[i].story.changed + found[0].story.changed < s->differing) {
                blame_finding first = partial[i];
                first.full = true;
                first.explained = s->n_seen;
                blame_fault *f = add_fault(b->report, row, s);
                if (f)
                    fill_fault(f, &first, 1);
                f = add_fault(b->report, row, s);
                if (f) {
                    f->cause[0].family = first.family;
                    f->cause[f->n_causes++].i = first.i;
                    fill_fault(f, found, k);
                    f->differing = left;
                }
                done = true;
            }
        }
        blame_search_close(&with);
    }
    free(found);
    return done;
}

static void add_screened(blaming *b, int row, const blame_search *s, const blame_finding *found,
                         int n, const blame_screen *screen)
{
    blame_fault *f = add_fault(b->report, row, s);
    blame_finding last = {.story = screen->story,
                          .family = screen->family,
                          .i = screen->i,
                          .explained = s->n_seen,
                          .full = true};
    if (f)
        fill_fault(f, found, n);
    if (f)
        f->explained = 1;
    f = add_fault(b->report, row, s);
    if (!f)
        return;
    if (found[0].family->edit && screen->family) {
        f->cause[0].family = found[0].family;
        f->cause[f->n_causes++].i = found[0].i;
    }
    fill_fault(f, &last, 1);
    if (!screen->family)
        f->n_causes = 0;
}

/* A cause behind another that is done to codes last. most: how many numbers the two may change. */
static bool try_screens(blaming *b, int row, const blame_search *s, int64_t most)
{
    blame_screen screen[SCREENS];
    blame_finding *found = malloc(FINDINGS * sizeof *found);
    bool done = false;
    int k = 0;
    const int n = found ? blame_screens(s, screen, SCREENS) : 0;
    for (int i = 0; i < n && !done; i++) {
        blame_search with;
        if (blame_search_open(&with, s->d, s->schemes, s->node, s->end, NULL, 0, s->rel, NULL) ==
            ASSAY_OK) {
            blame_screen_through(&with, &screen[i]);
            k = with.differing > 0 ? blame_search_run(&with, BLAME_THOROUGH, found, FINDINGS) : 0;
            done =
                k > 0 && found[0].full && found[0].story.changed + screen[i].story.changed < most;
        }
        if (done)
            add_screened(b, row, s, found, k, &screen[i]);
        blame_search_close(&with);
    }
    free(found);
    return done;
}

static assay_status blame_node(blaming *b, int row, enum blame_effort effort, assay_error *err)
{
    blame_search s;
    blame_finding *found = malloc(FINDINGS * sizeof *found);
    assay_status status =
        blame_search_open(&s, &b->report->device, &b->report->schemes, row,
                          b->report->row[row].value, NULL, 0, b->options->rel, err);
    if (status == ASSAY_OK && !found)
        status = assay_out_of_memory(err);
    if (status == ASSAY_OK) {
        const int n = blame_search_run(&s, effort, found, FINDINGS);
        const bool full = n > 0 && found[0].full;
        const int64_t changed = full ? found[0].story.changed : s.differing;
        if (effort == BLAME_SCHEMES || (full && changed <= MANY) ||
            (!try_screens(b, row, &s, changed) && (full || !try_pairs(b, row, &s, found, n)))) {
            blame_fault *f = add_fault(b->report, row, &s);
            if (f)
                fill_fault(f, found, n);
        }
    }
    blame_search_close(&s);
    free(found);
    return status;
}

/* ---- a region ---- */

/* The region's nodes behind `node`, up to the row whose output was dumped. */
static int nodes_after(const blame_report *r, int node, int row, int *after)
{
    const assay_graph *g = r->device.graph;
    bool *reached = calloc((size_t)g->n_nodes + 1, sizeof *reached);
    int n = 0;
    if (!reached)
        return 0;
    reached[node] = true;
    for (int i = node + 1; i <= row; i++) {
        if (r->row[i].verdict != BLAME_SUSPECT || (i != row && r->row[i].elements > 0))
            continue;
        for (int k = 0; k < g->node[i].n_in; k++) {
            const assay_value *v = assay_node_in(g, &g->node[i], k);
            reached[i] = reached[i] || (v && v->producer >= 0 && reached[v->producer] &&
                                        r->row[v->producer].elements == 0);
        }
        if (reached[i])
            after[n++] = i;
    }
    if (node != row && !reached[row])
        n = -1;
    free(reached);
    return n;
}

typedef struct narrowing {
    blame_finding *found, *best;
    int n, at; /* of best; the node that it is of */
} narrowing;

static bool is_better(const blame_finding *a, const blame_finding *b)
{
    if (a->full != b->full)
        return a->full;
    return a->full ? a->story.changed <= b->story.changed : a->explained > b->explained;
}

/* Every node of the region in turn, the last first; of equals the one upstream stays. */
static assay_status narrow_region(blaming *b, int row, enum blame_effort effort, narrowing *w,
                                  int *after, assay_error *err)
{
    blame_report *r = b->report;
    blame_search s;
    assay_status status = ASSAY_OK;
    for (int i = row; i >= 0 && status == ASSAY_OK; i--) {
        if (r->row[i].verdict != BLAME_SUSPECT || (i != row && r->row[i].elements > 0))
            continue;
        const int n_after = nodes_after(r, i, row, after);
        if (n_after < 0)
            continue;
        status = blame_search_open(&s, &r->device, &b->report->schemes, i, r->row[row].value, after,
                                   n_after, b->options->rel, err);
        const int n = status == ASSAY_OK ? blame_search_run(&s, effort, w->found, FINDINGS) : 0;
        if (n > 0 && (w->n == 0 || is_better(&w->found[0], &w->best[0]))) {
            memcpy(w->best, w->found, (size_t)n * sizeof *w->best);
            w->n = n;
            w->at = i;
        }
        blame_search_close(&s);
    }
    return status;
}

/* The node of the region that explains it with the fewest numbers changed. */
static assay_status blame_region(blaming *b, int row, assay_error *err)
{
    blame_report *r = b->report;
    narrowing w = {malloc(FINDINGS * sizeof *w.found), malloc(FINDINGS * sizeof *w.best), 0, row};
    int *after = calloc((size_t)r->device.graph->n_nodes + 1, sizeof *after);
    blame_search s;
    assay_status status = w.found && w.best && after ? ASSAY_OK : assay_out_of_memory(err);
    for (int e = BLAME_QUICK; e <= BLAME_THOROUGH && status == ASSAY_OK; e++)
        if (w.n == 0 || !w.best[0].full)
            status = narrow_region(b, row, (enum blame_effort)e, &w, after, err);
    if (status == ASSAY_OK)
        status = blame_search_open(&s, &r->device, &b->report->schemes, row, r->row[row].value,
                                   NULL, 0, b->options->rel, err);
    if (status == ASSAY_OK) {
        blame_fault *f = add_fault(r, w.n > 0 && w.best[0].full ? w.at : row, &s);
        if (f)
            fill_fault(f, w.best, w.n);
        blame_search_close(&s);
    }
    free(w.found);
    free(w.best);
    free(after);
    return status;
}

/* ---- all of it ---- */

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

/* Schemes that explain every fault, of two nodes or more, are the cause of all of them. */
static void prefer_scheme(blame_report *r)
{
    char detail[BLAME_DETAIL] = "what these schemes compute: ";
    const size_t start = strlen(detail);
    size_t used = start;
    int nodes = 0;
    for (int i = 0; i < r->n_faults; i++)
        nodes += i == 0 || r->fault[i].row != r->fault[i - 1].row;
    for (int k = 0; nodes > 1 && k < r->fault[0].n_schemes; k++) {
        const char *name = r->fault[0].scheme[k];
        if (explains_all(r, name) && used + strlen(name) + 4 < sizeof detail)
            used += (size_t)snprintf(detail + used, sizeof detail - used, "%s%s",
                                     used > start ? ", " : "", name);
    }
    for (int i = 0; i < r->n_faults && used > start; i++)
        put_scheme_first(&r->fault[i], detail);
}

static int by_row(const void *x, const void *y)
{
    const blame_fault *a = x, *b = y;
    return a->row - b->row;
}

/* Where several read a value that was not dumped each of them leads to its cause: it is one. */
static void merge_faults(blame_report *r)
{
    int n = 0;
    for (int i = 0; i < r->n_faults; i++) {
        int k = 0;
        while (k < n && (r->fault[k].row != r->fault[i].row ||
                         strcmp(r->fault[k].class, r->fault[i].class) != 0 ||
                         strcmp(r->fault[k].detail, r->fault[i].detail) != 0))
            k++;
        if (k == n)
            r->fault[n++] = r->fault[i];
        else
            free(r->fault[i].scheme);
    }
    r->n_faults = n;
}

static void drop_faults(blame_report *r)
{
    for (int i = 0; i < r->n_faults; i++)
        free(r->fault[i].scheme);
    free(r->fault);
    r->fault = NULL;
    r->n_faults = 0;
}

/* Where several nodes are at fault, whole schemes first: true when one explains them all. */
static assay_status try_schemes(blaming *b, bool *all, assay_error *err)
{
    blame_report *r = b->report;
    assay_status status = ASSAY_OK;
    int own = 0, i;
    *all = false;
    for (i = 0; i < r->device.graph->n_nodes; i++) {
        own += r->row[i].verdict == BLAME_OWN;
        if (r->row[i].verdict == BLAME_SUSPECT)
            return ASSAY_OK;
    }
    for (i = 0; i < r->device.graph->n_nodes && own > 1 && status == ASSAY_OK; i++) {
        if (r->row[i].verdict != BLAME_OWN)
            continue;
        status = blame_node(b, i, BLAME_SCHEMES, err);
        if (status == ASSAY_OK && r->n_faults > 0 && r->fault[r->n_faults - 1].n_schemes == 0)
            break; /* this one is no scheme's */
    }
    if (own > 1 && i == r->device.graph->n_nodes && status == ASSAY_OK) {
        prefer_scheme(r);
        *all = r->n_faults > 0 && strcmp(r->fault[0].class, "scheme") == 0 &&
               explains_all(r, r->fault[0].scheme[0]);
        for (int k = 1; k < (r->n_faults ? r->fault[0].n_schemes : 0); k++)
            *all = *all || explains_all(r, r->fault[0].scheme[k]);
    }
    if (!*all)
        drop_faults(r);
    return status;
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

/* Whether row i is one whose cause is asked for: the node itself, or the end of its region. */
static bool is_asked(const blaming *b, int i)
{
    const blame_report *r = b->report;
    const int only = b->options->only ? blame_find_row(r, b->options->only) : i;
    return only == i || (only >= 0 && r->row[only].region == i);
}

static assay_status find_causes(blaming *b, assay_error *err)
{
    blame_report *r = b->report;
    bool all = false;
    assay_status status = b->options->only ? ASSAY_OK : try_schemes(b, &all, err);
    for (int i = 0; i < r->device.graph->n_nodes && status == ASSAY_OK && !all; i++) {
        const blame_row *row = &r->row[i];
        if (!is_asked(b, i))
            continue;
        if (row->verdict == BLAME_OWN)
            status = blame_node(b, i, BLAME_THOROUGH, err);
        else if (row->verdict == BLAME_SUSPECT && row->region == i)
            status = blame_region(b, i, err);
        step(b);
    }
    merge_faults(r);
    if (r->n_faults > 1)
        qsort(r->fault, (size_t)r->n_faults, sizeof *r->fault, by_row);
    return status;
}

assay_status blame_run(const char *golden, const char *device, const blame_options *o,
                       blame_report **out, assay_error *err)
{
    blame_report *r = calloc(1, sizeof *r);
    blaming b = {.report = r, .options = o};
    *out = NULL;
    if (!r)
        return assay_out_of_memory(err);
    r->rel = o->rel;
    r->golden = golden;
    r->path = device;
    assay_status status = blame_schemes_open(o->schemes, o->n_schemes, &r->schemes, err);
    if (status == ASSAY_OK)
        status = blame_device_open(golden, device, o->hex_bits, o->threads, &r->device, err);
    if (status == ASSAY_OK) {
        const int nodes = r->device.graph->n_nodes;
        b.of = nodes * (r->device.n_samples + 1);
        r->row = calloc((size_t)nodes + 1, sizeof *r->row);
        status = r->row ? ASSAY_OK : assay_out_of_memory(err);
    }
    if (status == ASSAY_OK && device)
        status = blame_device_replay(&r->device, step, &b, err);
    else if (status == ASSAY_OK)
        blame_device_trust(&r->device);
    if (status == ASSAY_OK) {
        blame_judge(r, o->rel);
        status = find_causes(&b, err);
    }
    if (status != ASSAY_OK) {
        blame_free(r);
        return status;
    }
    *out = r;
    return ASSAY_OK;
}

void blame_free(blame_report *r)
{
    if (!r)
        return;
    drop_faults(r);
    free(r->row);
    blame_schemes_close(&r->schemes);
    blame_device_close(&r->device);
    free(r);
}
