/* Histograms by channel, beside that of the whole value. */
#include <fnmatch.h>
#include <stdlib.h>

#include "graph/arena.h"
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

static assay_status allocate(assay_profile_entry *e, int n_channels, size_t stride,
                             assay_error *err)
{
    assay_status status = ASSAY_OK;
    e->channel = calloc((size_t)n_channels, sizeof *e->channel);
    if (!e->channel)
        return assay_out_of_memory(err);
    e->n_channels = n_channels; /* from here on they are freed with the profile */
    e->stride = stride;
    for (int i = 0; i < n_channels && !status; i++)
        status = assay_histogram_init(&e->channel[i], ASSAY_PROFILE_CHANNEL_BINS, err);
    return status;
}

/* Channels of a value of this type; none when it has no axis for them. */
static int64_t count_channels(const assay_type *t, int axis)
{
    return t->rank < 2 || assay_shape_count(t) < 1 ? 0 : t->dim[axis];
}

static assay_status check_limit(const assay_profile *p, const assay_graph *g, const int *axis,
                                const char *pattern, assay_error *err)
{
    int64_t total = 0;
    bool found = false;
    for (int v = 0; v < g->n_values; v++) {
        if (p->entry_of_value[v] < 0 || fnmatch(pattern, g->value[v].name, 0) != 0)
            continue;
        found = true;
        total += count_channels(&g->value[v].type, axis[v]);
    }
    if (!found)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "histograms by channel of '%.200s': no value has such a name", pattern);
    if (total > ASSAY_PROFILE_CHANNELS)
        return assay_fail(err, ASSAY_ERR_LIMIT,
                          "histograms of %lld channels are asked for, of %d KiB each; the limit is "
                          "%d channels, so name fewer values",
                          (long long)total,
                          (int)(ASSAY_PROFILE_CHANNEL_BINS * sizeof(uint64_t) / 1024),
                          ASSAY_PROFILE_CHANNELS);
    return ASSAY_OK;
}

assay_status assay_profile_by_channel(assay_profile *p, const assay_graph *g, const char *pattern,
                                      assay_error *err)
{
    int *axis = malloc(((size_t)g->n_values + 1) * sizeof *axis);
    if (!axis)
        return assay_out_of_memory(err);
    find_axes(g, axis);
    assay_status status = check_limit(p, g, axis, pattern, err);
    for (int v = 0; v < g->n_values && !status; v++) {
        const assay_type *t = &g->value[v].type;
        if (p->entry_of_value[v] < 0 || fnmatch(pattern, g->value[v].name, 0) != 0 ||
            count_channels(t, axis[v]) == 0)
            continue;
        size_t stride = 1;
        for (int d = axis[v] + 1; d < t->rank; d++)
            stride *= (size_t)t->dim[d];
        status = allocate(&p->entry[p->entry_of_value[v]], (int)t->dim[axis[v]], stride, err);
    }
    free(axis);
    return status;
}

assay_status assay_profile_channels_like(assay_profile *p, const assay_profile *like,
                                         assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int i = 0; i < p->n_entries && !status; i++)
        if (like->entry[i].n_channels > 0)
            status = allocate(&p->entry[i], like->entry[i].n_channels, like->entry[i].stride, err);
    return status;
}

static void observe_chunk(assay_histogram *h, assay_profile_chunk *c)
{
    const int merged = ASSAY_PROFILE_BINS / ASSAY_PROFILE_CHANNEL_BINS;
    if (!assay_profile_place(h, c)) {
        assay_profile_keep_finite(h, c);
        if (c->n == 0)
            return;
        assay_histogram_grow(h, assay_histogram_exponent(c->lo, c->hi));
        assay_profile_place(h, c);
    }
    for (size_t i = 0; i < c->n; i++)
        h->bin[c->bin[i] < ASSAY_PROFILE_BINS ? c->bin[i] / merged
                                              : ASSAY_PROFILE_CHANNEL_BINS / 2]++;
    assay_histogram_note(h, c->n, c->lo, c->hi);
}

/* Elements of one channel lie in runs of `stride`; they are gathered into chunks. */
static void observe_channel(assay_profile_entry *e, int channel, const float *x, size_t n)
{
    const size_t block = e->stride * (size_t)e->n_channels;
    float gathered[ASSAY_PROFILE_CHUNK];
    assay_profile_chunk c = {.n = 0};
    for (size_t at = (size_t)channel * e->stride; at < n; at += block)
        for (size_t i = at; i < at + e->stride; i++) {
            gathered[c.n++] = x[i];
            if (c.n < ASSAY_PROFILE_CHUNK && (i + 1 < at + e->stride || at + block < n))
                continue;
            c.x = gathered;
            observe_chunk(&e->channel[channel], &c);
            c.n = 0;
        }
}

void assay_profile_observe_channels(assay_profile_entry *e, const float *x, size_t n)
{
    for (int i = 0; i < e->n_channels; i++)
        observe_channel(e, i, x, n);
}
