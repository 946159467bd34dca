/* A region between dumps that differs as a whole: which of its nodes explains it, and how. */
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/blame/faults.h"
#include "interp/blame/pairs.h"

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
    bool leave_clean;
} narrowing;

/* a: of the node before. A reshape does nothing in most devices: of equals it is not the one. */
static bool is_better(const blame_finding *a, const blame_finding *b, assay_op op)
{
    if (a->full != b->full)
        return a->full;
    if (a->full && op == ASSAY_OP_RESHAPE)
        return a->story.changed < b->story.changed;
    return a->full ? a->story.changed <= b->story.changed : a->explained > b->explained;
}

/* Every node of the region in turn, the last first; of equals the one upstream stays. */
static assay_status narrow_region(blame_report *r, int row, enum blame_effort effort, narrowing *w,
                                  int *after, assay_error *err)
{
    blame_search s;
    assay_status status = ASSAY_OK;
    for (int i = row; i >= 0 && !status; i--) {
        if (r->row[i].verdict != BLAME_SUSPECT || (i != row && r->row[i].elements > 0))
            continue;
        const int n_after = nodes_after(r, i, row, after);
        if (n_after < 0)
            continue;
        status = blame_search_open(&s, &r->device, &r->schemes, i, r->row[row].value, after,
                                   n_after, r->rel, err);
        if (!status && w->leave_clean && !blame_search_leave_clean(&s)) {
            blame_search_close(&s);
            return ASSAY_OK;
        }
        if (!status)
            blame_search_pull(&s);
        const int n = !status ? blame_search_run(&s, effort, w->found, BLAME_FINDINGS) : 0;
        if (n > 0 &&
            (w->n == 0 || is_better(&w->found[0], &w->best[0], r->device.graph->node[i].op))) {
            memcpy(w->best, w->found, (size_t)n * sizeof *w->best);
            w->n = n;
            w->at = i;
        }
        blame_search_close(&s);
    }
    return status;
}

/* What nothing explains is no fault of a node that only moves codes, where what it moved was made
 * in the region. */
static int maker_of(const blame_report *r, int row)
{
    const assay_graph *g = r->device.graph;
    while (assay_op_get(g->node[row].op)->traits & ASSAY_T_MOVE) {
        const assay_value *v = assay_node_in(g, &g->node[row], 0);
        if (v->data || v->producer < 0 || r->row[v->producer].verdict != BLAME_SUSPECT ||
            r->row[v->producer].elements > 0)
            break;
        row = v->producer;
    }
    return row;
}

/* Two causes of the node that explains most of the region. */
static bool try_two(blame_report *r, int row, const narrowing *w, int *after)
{
    blame_search s;
    const int n_after = w->n > 0 ? nodes_after(r, w->at, row, after) : -1;
    if (n_after < 0)
        return false;
    bool done = !blame_search_open(&s, &r->device, &r->schemes, w->at, r->row[row].value, after,
                                   n_after, r->rel, NULL);
    if (done) {
        blame_search_pull(&s);
        done = blame_try_two(r, w->at, &s, s.differing, w->best, w->n);
    }
    blame_search_close(&s);
    return done;
}

/* The node of the region that explains it with the fewest numbers changed. */
assay_status blame_region(blame_report *r, int row, bool *replay, assay_error *err)
{
    narrowing w = {malloc(BLAME_FINDINGS * sizeof *w.found),
                   malloc(BLAME_FINDINGS * sizeof *w.best), 0, row, false};
    int *after = calloc((size_t)r->device.graph->n_nodes + 1, sizeof *after);
    blame_search s;
    assay_status status = w.found && w.best && after ? ASSAY_OK : assay_out_of_memory(err);
    for (int e = 0; e < 4 && !status && (w.n == 0 || !w.best[0].full); e++) {
        w.leave_clean = e >= 2;
        status = narrow_region(r, row, e % 2 ? BLAME_THOROUGH : BLAME_QUICK, &w, after, err);
    }
    if (!status)
        status = blame_search_open(&s, &r->device, &r->schemes, row, r->row[row].value, NULL, 0,
                                   r->rel, err);
    if (!status) {
        const bool full = w.n > 0 && w.best[0].full;
        if (full && w.leave_clean)
            blame_search_leave_clean(&s);
        if (!(full && w.best[0].story.changed <= BLAME_MANY) && blame_doubt_unseen(r, row)) {
            *replay = true;
        } else if (full || ((!r->row[row].on_sums || !blame_behind(r, row)) &&
                            !try_two(r, row, &w, after))) {
            const bool lead = full || (w.n > 0 && !blame_is_chance(&s, &w.best[0]));
            const int at = lead ? w.at : maker_of(r, row);
            blame_fault *f = blame_add_fault(r, at, &s);
            r->row[at].cut = r->row[w.at].cut;
            r->row[at].tried = r->row[w.at].tried;
            if (f)
                blame_fill_fault(f, w.best, w.n);
            status = blame_assume_unseen(&s, NULL, replay, err);
        }
        blame_search_close(&s);
    }
    free(w.found);
    free(w.best);
    free(after);
    return status;
}
