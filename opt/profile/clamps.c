/* Values that are counted together: one, and what a ReLU or a clip makes of it. */
#include <math.h>

#include "opt/profile/state.h"

/* What a node makes of its one input by min(max(x, *lo), *hi) alone. */
static bool is_clamp(const assay_node *n, float *lo, float *hi)
{
    *lo = n->op == ASSAY_OP_CLIP ? n->attr.clip.lo : 0;
    *hi = n->op == ASSAY_OP_CLIP ? n->attr.clip.hi : INFINITY;
    return (n->op == ASSAY_OP_RELU || n->op == ASSAY_OP_CLIP) && n->n_in == 1 && n->n_out == 1 &&
           n->act_lo == -INFINITY && n->act_hi == INFINITY && *lo <= *hi;
}

/* Inputs and what nodes compute are observed; states of the network are not. */
static bool is_observed(const assay_graph *g, int v)
{
    bool found = false;
    for (int i = 0; i < g->n_inputs; i++)
        found = found || g->input[i] == v;
    for (int i = 0; i < g->n_nodes && !found; i++)
        for (int k = 0; k < g->node[i].n_out; k++)
            found = found || g->node[i].out[k] == v;
    return found;
}

void profile_follow_clamps(assay_profile *p, const assay_graph *g)
{
    for (int i = 0; p->fresh && i < g->n_nodes; i++) {
        const assay_node *n = &g->node[i];
        float lo, hi;
        if (!is_clamp(n, &lo, &hi))
            continue;
        const int from = p->entry_of_value[n->in[0]], to = p->entry_of_value[n->out[0]];
        if (from < 0 || to < 0 || !is_observed(g, n->in[0]))
            continue;
        assay_profile_fresh *x = &p->fresh[from], *y = &p->fresh[to];
        if (x->clamped || x->is_clamped || y->clamped || y->is_clamped ||
            p->entry[from].n_channels != p->entry[to].n_channels ||
            p->entry[from].stride != p->entry[to].stride)
            continue;
        x->clamped = &p->entry[to];
        x->lo = lo;
        x->hi = hi;
        y->is_clamped = true;
    }
}
