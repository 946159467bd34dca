/* Histograms per channel, beside that of the whole value. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/arena.h"
#include "graph/memory.h"
#include "opt/profile/state.h"

void profile_channel_axes(const assay_graph *g, int *axis)
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
        status = profile_histogram_init(&e->channel[i], err);
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
                          "histograms per channel of '%.200s': no value has such a name", pattern);
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

assay_status profile_by_channel(assay_profile *p, const assay_graph *g, const char *pattern,
                                assay_error *err)
{
    int *axis = malloc(((size_t)g->n_values + 1) * sizeof *axis);
    if (!axis)
        return assay_out_of_memory(err);
    profile_channel_axes(g, axis);
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

assay_status profile_channels_like(assay_profile *p, const assay_profile *like, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int i = 0; i < p->n_entries && !status; i++)
        if (like->entry[i].n_channels > 0)
            status = allocate(&p->entry[i], like->entry[i].n_channels, like->entry[i].stride, err);
    return status;
}

/* ---- observing: gathered channel by channel, and counted when there are enough ---- */

static assay_profile_pair pair_of(const assay_profile_entry *e, const assay_profile_fresh *f, int c)
{
    return (assay_profile_pair){&e->channel[c], f->clamped ? &f->clamped->channel[c] : NULL, f->lo,
                                f->hi};
}

/* The table is fetched first: it has left the cache since it was last needed, and where the next
 * elements fall cannot be foreseen. */
static void count(const assay_profile_pair *p, assay_profile_counts *counts, const float *x,
                  size_t n)
{
    enum { LINE = 64 / sizeof *counts->table };
    uint16_t at[ASSAY_PROFILE_CHUNK];
    for (int i = 0; i < (p->y ? ASSAY_PROFILE_TABLE : ASSAY_PROFILE_ROW); i += LINE)
        __builtin_prefetch(&counts->table[i], 1);
    profile_add_full(p, counts, n);
    if (!profile_place(p, x, n, counts, at)) {
        profile_add(p, counts);
        if (!profile_place_anew(p, x, n, counts, at))
            return;
    }
    counts->max += (uint32_t)n;
    profile_rows_best()->count(at, n, counts->table);
}

static void count_all(const assay_profile_pair *p, assay_profile_counts *counts, const float *x,
                      size_t n)
{
    for (size_t at = 0; at < n; at += ASSAY_PROFILE_CHUNK)
        count(p, counts, x + at, n - at < ASSAY_PROFILE_CHUNK ? n - at : ASSAY_PROFILE_CHUNK);
}

/* n elements of a channel, one after the other. */
static void observe_row(const assay_profile_pair *p, assay_profile_row *row, const float *x,
                        size_t n)
{
    for (size_t took; n > 0; x += took, n -= took) {
        const size_t room = ASSAY_PROFILE_GATHERED - row->gathered;
        took = n < room ? n : room;
        memcpy(row->x + row->gathered, x, took * sizeof *x);
        row->gathered += took;
        if (row->gathered == ASSAY_PROFILE_GATHERED) {
            count_all(p, &row->counts, row->x, row->gathered);
            row->gathered = 0;
        }
    }
}

/* `pixels` rows of an element of each channel, a few channels at a time. */
static void observe_pixels(const assay_profile_entry *e, const assay_profile_fresh *f,
                           const float *x, size_t pixels)
{
    enum { TOGETHER = 16, PIXELS = 256 };
    float block[TOGETHER][PIXELS];
    const size_t channels = (size_t)e->n_channels;
    for (size_t at = 0; at < pixels; at += PIXELS) {
        const size_t n = pixels - at < PIXELS ? pixels - at : PIXELS;
        for (size_t first = 0; first < channels; first += TOGETHER) {
            const size_t end = first + TOGETHER < channels ? first + TOGETHER : channels;
            for (size_t p = 0; p < n; p++)
                for (size_t c = first; c < end; c++)
                    block[c - first][p] = x[(at + p) * channels + c];
            for (size_t c = first; c < end; c++) {
                const assay_profile_pair pair = pair_of(e, f, (int)c);
                observe_row(&pair, &e->pending->row[c], block[c - first], n);
            }
        }
    }
}

/* Rows of each channel are e->stride long. Of one element each, they are taken many at once. */
void profile_observe_channels(assay_profile_entry *e, const assay_profile_fresh *f, const float *x,
                              size_t n)
{
    const size_t channels = (size_t)e->n_channels;
    e->pending->stale = true;
    if (f->clamped)
        f->clamped->pending->stale = true;
    if (e->stride == 1)
        observe_pixels(e, f, x, n / channels);
    else
        for (size_t at = 0; at < n; at += e->stride) {
            const size_t c = at / e->stride % channels;
            const assay_profile_pair pair = pair_of(e, f, (int)c);
            observe_row(&pair, &e->pending->row[c], x + at, e->stride);
        }
}

void profile_flush_channels(assay_profile_entry *e, const assay_profile_fresh *f)
{
    if (!e->pending || !e->pending->stale || f->is_clamped)
        return;
    for (int i = 0; i < e->n_channels; i++) {
        const assay_profile_pair pair = pair_of(e, f, i);
        assay_profile_row *row = &e->pending->row[i];
        count_all(&pair, &row->counts, row->x, row->gathered);
        row->gathered = 0;
        profile_add(&pair, &row->counts);
    }
}

void profile_join_channels(assay_profile_entry *e)
{
    if (!e->pending || !e->pending->stale)
        return;
    profile_histogram_reset(&e->seen);
    for (int i = 0; i < e->n_channels; i++)
        profile_histogram_merge(&e->seen, &e->channel[i]);
    e->pending->stale = false;
}
