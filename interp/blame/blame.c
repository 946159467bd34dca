/* Both sides opened, every node replayed and judged, each fault searched for its cause. */
#include "graph/memory.h"
#include "interp/blame/budget.h"
#include "interp/blame/faults.h"
#include "interp/blame/pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static assay_status blame_node(blaming *b, int row, bool *replay, assay_error *err)
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
        const bool simple = full && changed <= BLAME_MANY && !blame_is_solved(&found[0]);
        if (!simple && blame_doubt_unseen(b->report, row)) {
            *replay = true;
        } else if (!full && s.on_sums && blame_behind(b->report, row)) {
            single = false;
        } else if (simple || !blame_try_two(b->report, row, &s, changed, found, n)) {
            blame_fault *f = blame_add_fault(b->report, row, &s);
            if (f)
                blame_fill_fault(f, found, n);
            if (f && full)
                blame_say_apart(&s, found, n, f);
            single = full;
        }
        if (!*replay)
            status = blame_assume_unseen(&s, single ? &found[0] : NULL, replay, err);
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
    bool all = false, replay = false;
    assay_status status = b->options->only ? ASSAY_OK : blame_whole(r, &all, err);
    for (int i = 0; i < r->device.graph->n_nodes && !status && !all; i++) {
        const blame_row *row = &r->row[i];
        if (!is_asked(b, i))
            continue;
        if (row->verdict == BLAME_OWN)
            status = blame_node(b, i, &replay, err);
        else if (row->verdict == BLAME_SUSPECT && row->region == i)
            status = blame_region(r, i, &replay, err);
        if (replay && !status)
            status = judge_anew(r, err);
        replay = false;
        step(b);
    }
    merge_faults(r);
    if (r->n_faults > 1)
        qsort(r->fault, (size_t)r->n_faults, sizeof *r->fault, by_row);
    return status;
}

/* Whether nothing that a node gives was dumped, nor a number that differs. */
static bool is_blank(const blame_report *r)
{
    bool any = json_array_size(r->device.numbers) > 0;
    for (int i = 0; i < r->device.graph->n_nodes; i++)
        any = any || r->row[i].verdict != BLAME_NOT_DUMPED;
    return !any;
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
    r->work = (int64_t)(BLAME_SHARES * o->work * 1e9);
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
    if (!status && device && is_blank(r))
        status = assay_fail(err, ASSAY_ERR_INPUT,
                            "nothing was compared: %s holds dumps of the network's inputs only, "
                            "none of a node's output",
                            device);
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
