/* Values that stay channels last between nodes of a channels-first network: no transposition there.
 *
 * Convolutions read and write either way. Element-wise nodes and pools do too, if all their values
 * are alike. So every value starts as a candidate that only such nodes touch; what an alike node
 * has beside a value that is none is none either, until nothing changes. */
#include <stdlib.h>

#include "interp/fast/fast.h"

static bool is_alike(const assay_fast *f)
{
    return f && f->layouts == ASSAY_LAYOUTS_ALIKE;
}

static bool is_free(const assay_fast *f)
{
    return f && f->layouts != ASSAY_LAYOUTS_FIXED;
}

static void mark_candidates(const assay_graph *g, assay_fast *const *fast, bool *last)
{
    for (int v = 0; v < g->n_values; v++) {
        const assay_value *value = &g->value[v];
        last[v] = !value->data && !value->is_variable && value->producer >= 0 &&
                  value->type.rank > 2 && is_free(fast[value->producer]);
    }
    for (int i = 0; i < g->n_inputs; i++)
        last[g->input[i]] = false;
    for (int i = 0; i < g->n_outputs; i++)
        last[g->output[i]] = false;
    for (int n = 0; n < g->n_nodes; n++)
        for (int i = 0; i < g->node[n].n_in; i++)
            if (g->node[n].in[i] >= 0 && !is_free(fast[n]))
                last[g->node[n].in[i]] = false;
}

/* Makes an alike node's values alike; whether that changed any. */
static bool make_alike(const assay_node *n, bool *last)
{
    bool all = true, changed = false;
    for (int i = 0; i < n->n_in; i++)
        all = all && n->in[i] >= 0 && last[n->in[i]];
    for (int i = 0; i < n->n_out; i++)
        all = all && last[n->out[i]];
    for (int i = 0; i < n->n_in && !all; i++)
        if (n->in[i] >= 0 && last[n->in[i]]) {
            last[n->in[i]] = false;
            changed = true;
        }
    for (int i = 0; i < n->n_out && !all; i++)
        if (last[n->out[i]]) {
            last[n->out[i]] = false;
            changed = true;
        }
    return changed;
}

bool fast_arrange(const assay_graph *g, assay_fast *const *fast)
{
    bool *last = calloc((size_t)g->n_values + 1, sizeof *last), changed = true;
    if (!last)
        return false;
    mark_candidates(g, fast, last);
    while (changed) {
        changed = false;
        for (int n = 0; n < g->n_nodes; n++)
            if (is_alike(fast[n]))
                changed = make_alike(&g->node[n], last) || changed;
    }
    for (int n = 0; n < g->n_nodes; n++)
        if (is_free(fast[n]) && fast[n]->arrange)
            fast[n]->arrange(fast[n], last[g->node[n].in[0]], last[g->node[n].out[0]]);
    free(last);
    return true;
}
