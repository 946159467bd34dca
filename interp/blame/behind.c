/* Dumps of accumulators alone: what a node does behind its own shows only in the accumulators of
 * those that read it. */
#include <stdlib.h>
#include <string.h>

#include "interp/blame/faults.h"

/* What no accumulator of the node itself shows. */
static bool is_behind(const blame_finding *f)
{
    const char *class = f->story.class;
    return f->family->post || f->family->behind ||
           (blame_rank(class) >= blame_rank("rescale.channel") && strcmp(class, "bias.value") != 0);
}

/* The nodes that lead from `node` to the row's, of which nothing was dumped; -1: none do. */
static int path_to(const blame_report *r, int node, int row, int *after)
{
    const assay_graph *g = r->device.graph;
    bool *reached = calloc((size_t)g->n_nodes + 1, sizeof *reached);
    int n = 0;
    if (!reached)
        return -1;
    reached[node] = true;
    for (int i = node + 1; i <= row; i++) {
        if (i != row && r->row[i].elements > 0)
            continue;
        for (int k = 0; k < g->node[i].n_in; k++) {
            const assay_value *v = assay_node_in(g, &g->node[i], k);
            reached[i] = reached[i] || (v && v->producer >= 0 && reached[v->producer]);
        }
        if (reached[i])
            after[n++] = i;
    }
    n = reached[row] ? n : -1;
    free(reached);
    return n;
}

/* Full explanations of what the row shows by what `node` does behind its accumulators, the simplest
 * first; returns how many. */
static int explain_from(blame_report *r, int node, int row, blame_finding *found, int *after)
{
    blame_search s = {0};
    const int n_after = path_to(r, node, row, after);
    int n = 0, kept = 0;
    if (n_after < 0)
        return 0;
    if (!blame_search_open(&s, &r->device, &r->schemes, node, r->row[row].value, after, n_after,
                           r->rel, NULL))
        n = blame_search_run(&s, BLAME_THOROUGH, found, BLAME_FINDINGS);
    for (int i = 0; i < n && found[i].full; i++)
        if (is_behind(&found[i]))
            found[kept++] = found[i];
    blame_search_close(&s);
    return kept;
}

static void blame_node_before(blame_report *r, int node, int row, const blame_finding *found, int n)
{
    blame_search s;
    if (!blame_search_open(&s, &r->device, &r->schemes, row, r->row[row].value, NULL, 0, r->rel,
                           NULL)) {
        blame_fault *f = blame_add_fault(r, node, &s);
        if (f)
            blame_fill_fault(f, found, n);
        r->row[node].verdict = BLAME_OWN;
        r->row[row].verdict = BLAME_INHERITED;
    }
    blame_search_close(&s);
}

bool blame_behind(blame_report *r, int row)
{
    blame_finding *found = malloc(BLAME_FINDINGS * sizeof *found);
    blame_finding *best = malloc(BLAME_FINDINGS * sizeof *best);
    int *after = calloc((size_t)r->device.graph->n_nodes + 1, sizeof *after);
    int n_best = 0, at = -1;
    for (int i = row - 1; i >= 0 && found && best && after; i--) {
        const blame_row *p = &r->row[i];
        if (!p->on_sums || p->isolated > 0)
            continue;
        const int n = explain_from(r, i, row, found, after);
        if (n > 0 && (n_best == 0 || found[0].story.changed <= best[0].story.changed)) {
            memcpy(best, found, (size_t)n * sizeof *best);
            n_best = n;
            at = i;
        }
    }
    if (n_best > 0)
        blame_node_before(r, at, row, best, n_best);
    free(found);
    free(best);
    free(after);
    return n_best > 0;
}
