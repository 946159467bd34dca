/* Hypotheses over weights and biases: what another layer, tile or channel has in their place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/families.h"

bool blame_has_weights(const blame_search *s)
{
    const enum assay_kind kind = (enum assay_kind)blame_input_type(s, 1)->elem.kind;
    return blame_is_weighted(s->n) && blame_constant_of(s, 1) &&
           (kind == ASSAY_KIND_INT || kind == ASSAY_KIND_F32);
}

/* Zeros; the weights of channels some way off; another node's. */
static const int offsets[] = {1, -1, 2, -2, 4, -4, 8, -8, 16, -16, 32, -32, 64, -64};
enum { N_OFFSETS = sizeof offsets / sizeof *offsets };

/* The output channels of weights, as an axis. */
static int channel_axis(const blame_case *c)
{
    return c->op == ASSAY_OP_CONV_TRANSPOSE && c->attr.conv.layout == ASSAY_LAYOUT_NCHW ? 1 : 0;
}

/* A copy of the weights, to be changed: the case's from here on. */
static char *own_weights(blame_case *c)
{
    char *w = assay_arena_copy(c->arena, c->data[1], assay_type_bytes(&c->in[1]));
    c->data[1] = w ? w : c->data[1];
    return w;
}

/* The channel whose weights channel k has: one some way off, or as they are dealt. */
static int64_t source_of(blame_axis a, int way, int offset, int64_t k)
{
    return way >= 0 ? blame_dealt(way, a.n, k) : ((k + offset) % a.n + a.n) % a.n;
}

static bool exchange_channels(blame_case *c, blame_axis a, int way, int offset)
{
    const char *from = c->data[1];
    char *to = own_weights(c);
    const size_t row = (size_t)a.inner * assay_elem_size(c->in[1].elem);
    for (int64_t i = 0; i < a.outer * a.n && to; i++) {
        const int64_t k = i % a.n;
        memcpy(to + (size_t)i * row, from + (size_t)(i - k + source_of(a, way, offset, k)) * row,
               row);
    }
    return to != NULL;
}

/* The code of weights of nothing. */
static int32_t zero_of(const assay_type *t)
{
    return t->q.zero_point ? t->q.zero_point[0] : 0;
}

int blame_weights_stale_count(blame_search *s)
{
    return blame_has_weights(s) ? 2 + N_OFFSETS + BLAME_DEALT + s->d->graph->n_values : 0;
}

bool blame_weights_stale_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const assay_type *t = &c->in[1];
    const int64_t n = assay_shape_count(t);
    const blame_axis a = blame_axis_of(t, channel_axis(c));
    if (i == 1 + N_OFFSETS && !zero_of(t))
        return false; /* nothing is memory that was never written */
    const int way = i - 2 - N_OFFSETS;
    if (way >= BLAME_DEALT) { /* another node's, or the first part of them */
        const assay_value *v = &s->d->graph->value[way - BLAME_DEALT];
        if (!v->data || v->data == c->data[1] || !assay_elem_equal(v->type.elem, t->elem) ||
            assay_shape_count(&v->type) < n)
            return false;
        blame_tell(story, "weights.stale", 2, "the weights of '%.120s'", v->name);
        c->data[1] = v->data;
        return true;
    }
    if (way >= 0) {
        char text[48];
        if (blame_dealt(way, a.n, 0) < 0)
            return false;
        blame_tell(story, "weights.stale", 2, "weights of %s",
                   blame_say_dealt(way, text, sizeof text));
        return exchange_channels(c, a, way, 0);
    }
    if (i == 0 || i == 1 + N_OFFSETS) {
        char *w = own_weights(c);
        if (w)
            blame_fill(t, w, n, i == 0 ? zero_of(t) : 0);
        blame_tell(story, "weights.stale", 1,
                   i == 0 ? "weights are zero" : "weights are the code 0");
        return w != NULL;
    }
    const int offset = offsets[i - 1];
    if (offset >= a.n || -offset >= a.n)
        return false;
    blame_tell(story, "weights.stale", 1, "weights of the channel %d %s", abs(offset),
               offset > 0 ? "behind" : "before");
    return exchange_channels(c, a, -1, offset);
}

/* A run of inputs or taps whose weights are zero, those of the run before, or the code 0. */
enum { BLOCK_ZERO, BLOCK_BEFORE, BLOCK_CODE, BLOCK_KINDS };
static const int blocks[] = {1, 2, 4, 8, 16, 32, 64};
enum { N_BLOCKS = sizeof blocks / sizeof *blocks, RUNS = 16 };

int blame_weights_block_count(blame_search *s)
{
    return blame_has_weights(s) && blame_input_type(s, 1)->rank >= 2
               ? N_BLOCKS * RUNS * BLOCK_KINDS * 4
               : 0;
}

bool blame_weights_block_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const assay_type *t = &c->in[1];
    const int axis = i % 4, kind = i / 4 % BLOCK_KINDS, rest = i / 4 / BLOCK_KINDS;
    const int block = blocks[rest % N_BLOCKS], run = rest / N_BLOCKS;
    (void)s;
    if (axis >= t->rank || axis == channel_axis(c) || (kind == BLOCK_CODE && !zero_of(t)))
        return false;
    const blame_axis a = blame_axis_of(t, axis);
    const int64_t first = (int64_t)run * block;
    if (first >= a.n || block >= a.n || (kind == BLOCK_BEFORE && first < block))
        return false;
    const size_t width = assay_elem_size(t->elem), step = (size_t)(block * a.inner) * width;
    const int64_t n = first + block < a.n ? block : a.n - first;
    char *w = own_weights(c);
    for (int64_t o = 0; o < a.outer && w; o++) {
        char *at = w + (size_t)((o * a.n + first) * a.inner) * width;
        if (kind == BLOCK_BEFORE)
            memcpy(at, at - step, (size_t)(n * a.inner) * width);
        else
            blame_fill(t, at, n * a.inner, kind == BLOCK_CODE ? 0 : zero_of(t));
    }
    blame_tell(story, "weights.stale", 2, "weights %lld to %lld of axis %d are %s",
               (long long)first, (long long)first + block - 1, axis,
               kind == BLOCK_BEFORE ? "those before them"
               : kind == BLOCK_CODE ? "the code 0"
                                    : "zero");
    return w != NULL;
}

/* Where the node's own output was not dumped, no channel is seen to be as replayed: every run of
 * output channels without weights, as far as all of them take little. */
enum { RUN_SIZES = 6 };
static const int64_t MAX_WORK = INT64_C(8000000000);

int blame_weights_run_count(blame_search *s)
{
    if (s->n_after == 0 || !blame_has_weights(s))
        return 0;
    const assay_type *t = blame_input_type(s, 1);
    const int64_t n = t->dim[s->n->op == ASSAY_OP_CONV_TRANSPOSE ? 1 : 0];
    const int64_t work = assay_node_macs(s->d->graph, s->n) + s->count;
    const int64_t choices = n * RUN_SIZES * (zero_of(t) ? 2 : 1);
    return choices > MAX_WORK / (work + 1) ? 0 : (int)choices;
}

bool blame_weights_run_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const assay_type *t = &c->in[1];
    const blame_axis a = blame_axis_of(t, channel_axis(c));
    const int64_t size = INT64_C(1) << i % RUN_SIZES, first = i / RUN_SIZES % a.n;
    const bool code = i / RUN_SIZES >= a.n;
    (void)s;
    if (first + size > a.n)
        return false;
    char *w = own_weights(c);
    for (int64_t o = 0; o < a.outer && w; o++)
        blame_fill(t, w + (size_t)((o * a.n + first) * a.inner) * assay_elem_size(t->elem),
                   size * a.inner, code ? 0 : zero_of(t));
    blame_tell(story, "weights.stale", size > 1 ? 3 : 2, "weights of channels %lld to %lld are %s",
               (long long)first, (long long)(first + size - 1), code ? "the code 0" : "zero");
    return w != NULL;
}

/* Inputs or taps up to a place, or from it on, that have no weights; of many, places evenly apart.
 */
enum { MAX_PLACES = 64 };

int blame_weights_rest_count(blame_search *s)
{
    return blame_has_weights(s) && blame_input_type(s, 1)->rank >= 2 ? 2 * 4 * (MAX_PLACES - 1) : 0;
}

bool blame_weights_rest_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const assay_type *t = &c->in[1];
    const int axis = i % 4;
    const bool last = i / 4 % 2;
    (void)s;
    if (axis >= t->rank || axis == channel_axis(c))
        return false;
    const blame_axis a = blame_axis_of(t, axis);
    const int64_t places = a.n < MAX_PLACES ? a.n : MAX_PLACES;
    const int64_t place = (1 + i / 8) * a.n / places;
    if (place >= a.n)
        return false;
    const int64_t first = last ? place : 0, n = last ? a.n - place : place;
    char *w = own_weights(c);
    for (int64_t o = 0; o < a.outer && w; o++)
        blame_fill(t, w + (size_t)((o * a.n + first) * a.inner) * assay_elem_size(t->elem),
                   n * a.inner, zero_of(t));
    blame_tell(story, "weights.stale", 2, "weights %lld to %lld of axis %d are zero",
               (long long)first, (long long)(first + n - 1), axis);
    return w != NULL;
}

/* The first or the last sixteenths of the weights in memory, zero or the code 0. */
enum { PARTS = 16 };

int blame_weights_part_count(blame_search *s)
{
    return blame_has_weights(s) ? 2 * 2 * (PARTS - 1) : 0;
}

bool blame_weights_part_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const bool last = i % 2, code = i / 2 % 2;
    const int parts = 1 + i / 4;
    const assay_type *t = &c->in[1];
    const int64_t n = assay_shape_count(t), size = n * parts / PARTS;
    (void)s;
    if (n < PARTS || (code && !zero_of(t)))
        return false;
    char *w = own_weights(c);
    if (w)
        blame_fill(t, w + (last ? (size_t)(n - size) * assay_elem_size(t->elem) : 0), size,
                   code ? 0 : zero_of(t));
    blame_tell(story, "weights.stale", 2, "the %s %lld of %lld weights are %s",
               last ? "last" : "first", (long long)size, (long long)n,
               code ? "the code 0" : "zero");
    return w != NULL;
}

/* ---- bias ---- */

int blame_bias_count(blame_search *s)
{
    return blame_is_weighted(s->n) && blame_constant_of(s, 2) ? 3 + N_OFFSETS + BLAME_DEALT : 0;
}

/* Which channel's bias channel k of n has under choice i; below 0: none. */
static int64_t bias_of(int i, int64_t n, int64_t k)
{
    const int way = i - 3 - N_OFFSETS;
    return way >= 0 ? blame_dealt(way, n, k)
           : i == 0 ? -1
           : i == 1 ? 0
           : i == 2 ? n - 1 - k
                    : ((k + offsets[i - 3]) % n + n) % n;
}

/* Room for a bias for each channel, of however many bits; NULL: out of memory. */
static void *other_biases(blame_case *c, const void **old)
{
    *old = c->data[2];
    c->data[2] = assay_arena_alloc(c->arena, assay_type_bytes(&c->in[2]) + 64);
    return (void *)(uintptr_t)c->data[2];
}

static void take_bias(const blame_case *c, void *to, int64_t k, const void *from, int64_t of)
{
    const assay_elem e = c->in[2].elem;
    assay_elem_set(e, to, (size_t)k, of < 0 ? 0 : assay_elem_get(e, from, (size_t)of));
}

bool blame_bias_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int64_t n = assay_shape_count(&c->in[2]);
    const int way = i - 3 - N_OFFSETS, offset = i < 3 || way >= 0 ? 0 : offsets[i - 3];
    (void)s;
    if ((i >= 3 && (offset >= n || -offset >= n)) || (way >= 0 && blame_dealt(way, n, 0) < 0))
        return false;
    const void *old;
    void *bias = other_biases(c, &old);
    for (int64_t k = 0; k < n && bias; k++)
        take_bias(c, bias, k, old, bias_of(i, n, k));
    char text[48];
    if (way >= 0)
        blame_tell(story, "bias.channel", 2, "the bias of %s",
                   blame_say_dealt(way, text, sizeof text));
    else if (i == 0)
        blame_tell(story, "bias.missing", 1, "no bias is added");
    else if (i == 1)
        blame_tell(story, "bias.channel", 1, "the bias of channel 0");
    else if (i == 2)
        blame_tell(story, "bias.channel", 1, "biases in reverse order");
    else
        blame_tell(story, "bias.channel", 1, "the bias of the channel %d %s", abs(offset),
                   offset > 0 ? "behind" : "before");
    return bias != NULL;
}

/* One channel's numbers for all of them: of bias and of rescale. (Channel 0's are tried before.) */
enum { MAX_CHANNELS = 4096 };

int blame_one_channel_count(blame_search *s)
{
    const bool seen = s->n_after == 0 && blame_has_weights(s) && s->channel_axis >= 0;
    const int64_t n = seen ? s->type->dim[s->channel_axis] : 0;
    return n > 1 && n <= MAX_CHANNELS ? 2 * (int)n : 0;
}

bool blame_one_channel_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int64_t of = i / 2;
    int64_t n = 0;
    (void)s;
    if (i % 2) {
        float *scale = blame_weight_scales(c, &n);
        if (!scale || of >= n)
            return false;
        const float all = scale[of];
        for (int64_t k = 0; k < n; k++)
            scale[k] = all;
        blame_tell(story, "rescale.channel", 2, "the rescale of channel %lld", (long long)of);
        return true;
    }
    if (c->n_in < 3 || !c->constant[2] || of >= (n = assay_shape_count(&c->in[2])))
        return false;
    const void *old;
    void *bias = other_biases(c, &old);
    for (int64_t k = 0; k < n && bias; k++)
        take_bias(c, bias, k, old, of);
    blame_tell(story, "bias.channel", 2, "the bias of channel %lld", (long long)of);
    return bias != NULL;
}

/* Where the node's own output was not dumped, or bits of it are not seen, no channel's number is
 * solved for: every other channel's, of bias and of rescale. */
enum { MAX_APART = 128 };

int blame_any_channel_count(blame_search *s)
{
    return (s->n_after > 0 || s->unseen_bits || s->wants_edits) && blame_has_weights(s)
               ? 2 * MAX_APART
               : 0;
}

bool blame_any_channel_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int64_t apart = i / 2 + 1;
    int64_t n = 0;
    (void)s;
    if (i % 2) {
        float *scale = blame_weight_scales(c, &n);
        const float *old =
            scale ? assay_arena_copy(c->arena, scale, (size_t)n * sizeof *old) : NULL;
        for (int64_t k = 0; k < n && old; k++)
            scale[k] = old[(k + apart) % n];
        blame_tell(story, "rescale.channel", 1, "the rescale of the channel %lld behind",
                   (long long)apart);
        return old && apart < n;
    }
    if (c->n_in < 3 || !c->constant[2])
        return false;
    n = assay_shape_count(&c->in[2]);
    const void *old;
    void *bias = other_biases(c, &old);
    for (int64_t k = 0; k < n && bias; k++)
        take_bias(c, bias, k, old, (k + apart) % n);
    blame_tell(story, "bias.channel", 1, "the bias of the channel %lld behind", (long long)apart);
    return bias && apart < n;
}
