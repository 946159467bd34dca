/* Histograms by channel, beside that of the whole value. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

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
        status = assay_histogram_init(&e->channel[i], err);
    e->pending = calloc(1, sizeof *e->pending + (size_t)n_channels * sizeof *e->pending->row);
    if (!e->pending)
        return assay_out_of_memory(err);
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
        return assay_fail(
            err, ASSAY_ERR_LIMIT,
            "histograms of %lld channels are asked for, of %d KiB each; the limit is "
            "%d channels, so name fewer values",
            (long long)total,
            (int)((ASSAY_HISTOGRAM_BINS * sizeof(uint64_t) + sizeof(assay_profile_row)) / 1024),
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

/* ---- observing: gathered channel by channel, and counted when there are enough ---- */

static void settle(assay_histogram *h, void *row)
{
    uint16_t *count = ((assay_profile_row *)row)->count;
    for (int i = 0; i < ASSAY_HISTOGRAM_BINS; i++)
        h->count[i] += count[i];
    for (int i = ASSAY_HISTOGRAM_BINS; i < ASSAY_PROFILE_ROW; i++)
        h->count[0] += count[i];
    memset(count, 0, ASSAY_PROFILE_ROW * sizeof *count);
}

static void settle_all(assay_profile_entry *e)
{
    for (int i = 0; i < e->n_channels; i++)
        settle(&e->channel[i], &e->pending->row[i]);
    e->pending->counted = 0;
}

/* Counts n elements of each channel, `pitch` apart: by two tables that stay in the first level of
 * the cache, and then in one stream into the channel's. */
static void count(assay_profile_entry *e, assay_profile_fresh *tables, const float *x, size_t n,
                  size_t pitch)
{
    const assay_profile_rows *rows = assay_profile_rows_best();
    assay_profile_chunk c;
    if (e->pending->counted + n > UINT16_MAX)
        settle_all(e);
    e->pending->counted += n;
    for (int i = 0; i < e->n_channels; i++) {
        assay_profile_row *row = &e->pending->row[i];
        c.x = x + (size_t)i * pitch;
        c.n = n;
        assay_profile_place(&e->channel[i], &c, settle, row);
        rows->count(c.at, c.n & ~(size_t)1, tables->count);
        if (c.n % 2 == 1)
            tables->count[0][c.at[c.n - 1]]++;
        rows->fold(tables->count, row->count);
    }
}

static void count_gathered(assay_profile_entry *e, assay_profile_fresh *tables)
{
    if (e->pending->gathered > 0)
        count(e, tables, e->pending->row[0].x, e->pending->gathered,
              sizeof *e->pending->row / sizeof *e->pending->row[0].x);
    e->pending->gathered = 0;
}

/* `pixels` rows of an element of each channel, a few channels at a time. */
static void gather_pixels(assay_profile_entry *e, const float *x, size_t pixels)
{
    enum { TOGETHER = 16 };
    const size_t channels = (size_t)e->n_channels;
    for (size_t first = 0; first < channels; first += TOGETHER) {
        const size_t end = first + TOGETHER < channels ? first + TOGETHER : channels;
        for (size_t p = 0; p < pixels; p++)
            for (size_t c = first; c < end; c++)
                e->pending->row[c].x[e->pending->gathered + p] = x[p * channels + c];
    }
}

/* A row of each channel, `stride` apart. */
static void gather_rows(assay_profile_entry *e, const float *x, size_t length)
{
    for (size_t c = 0; c < (size_t)e->n_channels; c++)
        memcpy(&e->pending->row[c].x[e->pending->gathered], x + c * e->stride, length * sizeof *x);
}

/* Rows of each channel are e->stride long. Of one element each, they are taken many at once. */
void assay_profile_observe_channels(assay_profile_entry *e, assay_profile_fresh *tables,
                                    const float *x, size_t n)
{
    const size_t channels = (size_t)e->n_channels, each = n / channels;
    e->pending->stale = true;
    for (size_t done = 0, took; done < each; done += took) {
        const size_t in_row = done % e->stride,
                     left = e->stride > 1 ? e->stride - in_row : each - done;
        const size_t room = ASSAY_PROFILE_CHUNK - e->pending->gathered;
        took = left < room ? left : room;
        const float *row = x + (done - in_row) * channels + in_row;
        if (took == ASSAY_PROFILE_CHUNK && e->stride > 1) {
            count(e, tables, row, took, e->stride);
            continue;
        }
        if (e->stride > 1)
            gather_rows(e, row, took);
        else
            gather_pixels(e, x + done * channels, took);
        e->pending->gathered += took;
        if (e->pending->gathered == ASSAY_PROFILE_CHUNK)
            count_gathered(e, tables);
    }
}

void assay_profile_settle_channels(assay_profile_entry *e, assay_profile_fresh *tables)
{
    if (!e->pending->stale)
        return;
    count_gathered(e, tables);
    settle_all(e);
    assay_histogram_reset(&e->seen);
    for (int i = 0; i < e->n_channels; i++)
        assay_histogram_merge(&e->seen, &e->channel[i]);
    e->pending->stale = false;
}
