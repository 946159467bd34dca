/* Both sides opened, every node replayed and judged, each fault searched for its cause. */
#include "graph/memory.h"
#include "interp/blame/faults.h"
#include "interp/blame/screens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRED = 6, SCREENS = 12, ENOUGH = 512 };

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

/* ---- one node ---- */

/* Whether a partial cause explains so little more than the replay does that any would, by chance,
 * of so many that were tried: five times the spread of what it explains. Of few elements nothing
 * is said. */
static bool is_chance(const blame_search *s, const blame_finding *f)
{
    const double n = (double)s->n_seen, good = (double)f->explained;
    const double gain = good - (double)(s->n_seen - s->differing);
    return s->n_seen >= ENOUGH && gain * gain < 25 * good * (1 - good / n);
}

/* The same search once more. On failure `with` is closed. */
static assay_status open_again(const blame_search *s, blame_search *with)
{
    const assay_status status = blame_search_open(with, s->d, s->schemes, s->node, s->end, s->after,
                                                  s->n_after, s->rel, NULL);
    if (status)
        blame_search_close(with);
    else if (s->left_out)
        blame_search_leave_clean(with);
    return status;
}

/* Two causes together: the best partial ones taken as given, one after the other. They change fewer
 * numbers than there are elements that differ, or anything could be explained. */
static bool try_pairs(blaming *b, int row, blame_search *s, const blame_finding *partial, int n)
{
    blame_finding *found = malloc(BLAME_FINDINGS * sizeof *found);
    bool done = false;
    for (int i = 0; i < n && i < PAIRED && found && !done; i++) {
        blame_search with;
        if (!partial[i].family->edit || is_chance(s, &partial[i]) || open_again(s, &with))
            continue;
        if (blame_search_assume(&with, &partial[i])) {
            const int64_t left = with.differing;
            const int k = blame_search_run(&with, BLAME_THOROUGH, found, BLAME_FINDINGS);
            if (k > 0 && found[0].full &&
                partial[i].story.changed + found[0].story.changed < s->differing) {
                blame_finding first = partial[i];
                first.full = true;
                first.explained = s->n_seen;
                blame_fault *f = blame_add_fault(b->report, row, s);
                if (f)
                    blame_fill_fault(f, &first, 1);
                f = blame_add_fault(b->report, row, s);
                if (f) {
                    f->cause[0].family = first.family;
                    f->cause[f->n_causes++].i = first.i;
                    blame_fill_fault(f, found, k);
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

static blame_finding finding_of(const blame_screen *screen, int64_t explained)
{
    return (blame_finding){.story = screen->story,
                           .family = screen->family,
                           .i = screen->i,
                           .explained = explained,
                           .full = true};
}

/* Whether a cause of that class is found through another screen as well. */
static bool holds_behind(const blame_search *s, const blame_finding *first,
                         const blame_screen *screen)
{
    blame_search with;
    blame_finding *found = malloc(BLAME_FINDINGS * sizeof *found);
    bool good = found && screen->family && !open_again(s, &with);
    if (good) {
        blame_screen_through(&with, screen);
        good = with.differing > 0 &&
               blame_search_run(&with, BLAME_THOROUGH, found, BLAME_FINDINGS) > 0 &&
               found[0].full && strcmp(found[0].story.class, first->story.class) == 0 &&
               found[0].story.changed <= first->story.changed;
        blame_search_close(&with);
    }
    free(found);
    return good;
}

/* The cause that was found, and the screens: the first one, through which it was found, and those
 * of the others that hold as well. */
static void add_screened(blaming *b, int row, const blame_search *s, const blame_finding *found,
                         int n, const blame_screen *screen, int n_screens)
{
    blame_fault *f = blame_add_fault(b->report, row, s);
    blame_finding last[SCREENS];
    int held = 0;
    for (int i = 0; i < n_screens; i++)
        if (i == 0 || holds_behind(s, &found[0], &screen[i]))
            last[held++] = finding_of(&screen[i], s->n_seen);
    if (f)
        blame_fill_fault(f, found, n);
    if (f)
        f->explained = 1;
    f = blame_add_fault(b->report, row, s);
    if (!f)
        return;
    if (found[0].family->edit && screen->family) {
        f->cause[0].family = found[0].family;
        f->cause[f->n_causes++].i = found[0].i;
    }
    blame_fill_fault(f, last, held);
    if (!screen->family)
        f->n_causes = 0;
}

/* A cause behind another that is done to codes last. max: how many numbers the two may change. */
static bool try_screens(blaming *b, int row, const blame_search *s, int64_t max)
{
    blame_screen screen[SCREENS];
    blame_finding *found = malloc(BLAME_FINDINGS * sizeof *found);
    bool done = false;
    int k = 0;
    const int n = found ? blame_screens(s, screen, SCREENS) : 0;
    for (int i = 0; i < n && !done; i++) {
        blame_search with;
        if (!open_again(s, &with)) {
            blame_screen_through(&with, &screen[i]);
            k = with.differing > 0 ? blame_search_run(&with, BLAME_THOROUGH, found, BLAME_FINDINGS)
                                   : 0;
            done = k > 0 && found[0].full && found[0].story.changed + screen[i].story.changed < max;
        }
        if (done)
            add_screened(b, row, s, found, k, &screen[i], n - i);
        blame_search_close(&with);
    }
    free(found);
    return done;
}

static assay_status blame_node(blaming *b, int row, bool *settled, assay_error *err)
{
    blame_search s;
    blame_finding *found = malloc(BLAME_FINDINGS * sizeof *found);
    assay_status status =
        blame_search_open(&s, &b->report->device, &b->report->schemes, row,
                          b->report->row[row].value, NULL, 0, b->options->rel, err);
    if (!status && !found)
        status = assay_out_of_memory(err);
    if (!status) {
        int n = blame_search_run(&s, BLAME_THOROUGH, found, BLAME_FINDINGS);
        if (!(n > 0 && found[0].full) && blame_search_leave_clean(&s))
            n = blame_search_run(&s, BLAME_THOROUGH, found, BLAME_FINDINGS);
        const bool full = n > 0 && found[0].full;
        const int64_t changed = full ? found[0].story.changed : s.differing;
        bool single = false;
        const bool simple = full && changed <= BLAME_MANY;
        if (!simple && blame_doubt_unseen(b->report, row)) {
            *settled = true;
        } else if (!full && s.on_sums && blame_behind(b->report, row)) {
            single = false;
        } else if (simple || (!try_screens(b, row, &s, changed) &&
                              (full || !try_pairs(b, row, &s, found, n)))) {
            blame_fault *f = blame_add_fault(b->report, row, &s);
            if (f)
                blame_fill_fault(f, found, n);
            if (f && full)
                blame_say_apart(&s, found, n, f);
            single = full;
        }
        if (!*settled)
            status = blame_settle_unseen(&s, single ? &found[0] : NULL, settled, err);
    }
    blame_search_close(&s);
    free(found);
    return status;
}

/* ---- all of it ---- */

static int by_row(const void *x, const void *y)
{
    const blame_fault *a = x, *b = y;
    return a->row - b->row;
}

/* Where several read a value that was not dumped each of them leads to its cause: it is one, in
 * whichever words. */
static bool is_same(const blame_report *r, const blame_fault *a, const blame_fault *b)
{
    return a->row == b->row && strcmp(a->class, b->class) == 0 &&
           (r->row[a->row].elements == 0 || strcmp(a->detail, b->detail) == 0);
}

static void merge_faults(blame_report *r)
{
    int n = 0;
    for (int i = 0; i < r->n_faults; i++) {
        int k = 0;
        while (k < n && !is_same(r, &r->fault[k], &r->fault[i]))
            k++;
        if (k == n)
            r->fault[n++] = r->fault[i];
        else
            free(r->fault[i].scheme);
    }
    r->n_faults = n;
}

/* Whether row i is one whose cause is asked for: the node itself, or the end of its region. */
static bool is_asked(const blaming *b, int i)
{
    const blame_report *r = b->report;
    const int only = b->options->only ? blame_find_row(r, b->options->only) : i;
    return only == i || (only >= 0 && r->row[only].region == i);
}

/* What lies behind a tensor at fault that was observed in part. */
static assay_status judge_anew(blame_report *r, assay_error *err)
{
    const assay_status status = blame_device_replay(&r->device, NULL, NULL, err);
    return status ? status : blame_judge(r, r->rel, err);
}

static assay_status find_causes(blaming *b, assay_error *err)
{
    blame_report *r = b->report;
    bool all = false, settled = false;
    assay_status status = b->options->only ? ASSAY_OK : blame_whole(r, &all, err);
    for (int i = 0; i < r->device.graph->n_nodes && !status && !all; i++) {
        const blame_row *row = &r->row[i];
        if (!is_asked(b, i))
            continue;
        if (row->verdict == BLAME_OWN)
            status = blame_node(b, i, &settled, err);
        else if (row->verdict == BLAME_SUSPECT && row->region == i)
            status = blame_region(r, i, &settled, err);
        if (settled && !status)
            status = judge_anew(r, err);
        settled = false;
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
    if (!status)
        status = blame_device_open(golden, device, o->hex_bits, o->threads, &r->device, err);
    if (!status) {
        const int nodes = r->device.graph->n_nodes;
        b.of = nodes * (r->device.n_samples + 1);
        r->row = calloc((size_t)nodes + 1, sizeof *r->row);
        status = r->row ? ASSAY_OK : assay_out_of_memory(err);
    }
    if (!status && device)
        status = blame_device_replay(&r->device, step, &b, err);
    else if (!status)
        blame_device_trust(&r->device);
    if (!status)
        status = blame_judge(r, o->rel, err);
    for (int i = 0; !status && i < r->device.graph->n_nodes; i++)
        if (r->row[i].isolated == 0)
            status = blame_sums_note(&r->device, r->row[i].value, err);
    if (!status)
        status = find_causes(&b, err);
    if (status) {
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
    blame_drop_faults(r);
    free(r->row);
    blame_schemes_close(&r->schemes);
    blame_device_close(&r->device);
    free(r);
}
