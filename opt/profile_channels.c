/* Ranges by channel, beside those of the whole value. */
#include <math.h>
#include <stdlib.h>

#include "opt/profile_state.h"

/* Axis of the channels by value, or -1: what a node with a layout reads and writes has that
 * layout's; values computed from another of the same rank have its; of what remains, the last axis.
 */
static void find_axes(const assay_graph *g, int *axis)
{
    for (int v = 0; v < g->n_values; v++)
        axis[v] = -1;
    for (int i = 0; i < g->n_nodes; i++) {
        const assay_node *n = &g->node[i];
        if (!(assay_op_get(n->op)->traits & ASSAY_T_LAYOUT))
            continue;
        int rank = g->value[n->in[0]].type.rank;
        int at = n->attr.layout.layout == ASSAY_LAYOUT_NHWC || rank < 2 ? rank - 1 : 1;
        axis[n->in[0]] = at;
        for (int k = 0; k < n->n_out; k++)
            axis[n->out[k]] = at;
    }
    for (int i = 0; i < g->n_nodes; i++) {
        const assay_node *n = &g->node[i];
        int from = n->n_in > 0 ? n->in[0] : -1;
        for (int k = 0; k < n->n_out && from >= 0; k++)
            if (axis[n->out[k]] < 0 && g->value[n->out[k]].type.rank == g->value[from].type.rank)
                axis[n->out[k]] = axis[from];
    }
    for (int v = 0; v < g->n_values; v++)
        axis[v] = axis[v] < 0 ? g->value[v].type.rank - 1 : axis[v];
}

static assay_status add_channels(assay_profile_entry *e, const assay_type *t, int axis,
                                 assay_error *err)
{
    if (t->rank < 2 || t->dim[axis] < 1 || t->dim[axis] > ASSAY_PROFILE_CHANNELS)
        return ASSAY_OK;
    e->n_channels = (int)t->dim[axis];
    e->stride = 1;
    for (int d = axis + 1; d < t->rank; d++)
        e->stride *= (size_t)t->dim[d];
    e->channel = calloc((size_t)e->n_channels, sizeof *e->channel);
    return e->channel ? ASSAY_OK : assay_out_of_memory(err);
}

assay_status assay_profile_by_channel(assay_profile *p, const assay_graph *g, assay_error *err)
{
    assay_status status = ASSAY_OK;
    int *axis = malloc(((size_t)g->n_values + 1) * sizeof *axis);
    if (!axis)
        return assay_out_of_memory(err);
    find_axes(g, axis);
    for (int v = 0; v < g->n_values && !status; v++)
        if (p->entry_of_value[v] >= 0)
            status = add_channels(&p->entry[p->entry_of_value[v]], &g->value[v].type, axis[v], err);
    free(axis);
    return status;
}

bool assay_profile_has_channels(const assay_profile *p)
{
    for (int i = 0; i < p->n_entries; i++)
        if (p->entry[i].n_channels > 0)
            return true;
    return false;
}

static void count_one(assay_profile_channel *c, float x)
{
    if (isnan(x)) {
        c->nan++;
    } else if (isinf(x)) {
        c->inf++;
    } else {
        x += 0.0f; /* -0 counts as 0 */
        c->min = c->finite == 0 || x < c->min ? x : c->min;
        c->max = c->finite == 0 || x > c->max ? x : c->max;
        c->finite++;
    }
}

void assay_profile_observe_channels(assay_profile_entry *e, const float *x, size_t n)
{
    const assay_profile_rows *rows = assay_profile_rows_best();
    size_t block = e->stride * (size_t)e->n_channels;
    for (size_t at = 0; at + e->stride <= n; at += e->stride) {
        assay_profile_channel *c = &e->channel[at % block / e->stride];
        float lo, hi;
        if (e->stride < 16 || !rows->survey(x + at, e->stride, &lo, &hi)) {
            for (size_t i = 0; i < e->stride; i++)
                count_one(c, x[at + i]);
            continue;
        }
        count_one(c, lo);
        count_one(c, hi);
        c->finite += e->stride - 2;
    }
}

void assay_profile_merge_channels(assay_profile_entry *into, const assay_profile_entry *from)
{
    for (int k = 0; k < into->n_channels; k++) {
        assay_profile_channel *a = &into->channel[k];
        const assay_profile_channel *b = &from->channel[k];
        if (b->finite > 0) {
            a->min = a->finite == 0 || b->min < a->min ? b->min : a->min;
            a->max = a->finite == 0 || b->max > a->max ? b->max : a->max;
        }
        a->finite += b->finite;
        a->nan += b->nan;
        a->inf += b->inf;
    }
}
