/* The search of a node's fault; see search.h. */
#include "interp/blame/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"

/* ---- codes ---- */

blame_axis blame_axis_of(const assay_type *t, int axis)
{
    blame_axis a = {1, axis >= 0 ? t->dim[axis] : 1, 1};
    for (int i = 0; i < t->rank; i++) {
        if (i < axis)
            a.outer *= t->dim[i];
        if (i > axis)
            a.inner *= t->dim[i];
    }
    return a;
}

bool blame_same(const blame_search *s, int64_t e, int32_t predicted)
{
    const int32_t device = s->dev[e];
    float a, b;
    if ((((uint32_t)device ^ (uint32_t)predicted) & ~s->unseen_bits) == 0)
        return true;
    if (s->end_type->elem.kind != ASSAY_KIND_F32 || s->on_sums)
        return false;
    memcpy(&a, &device, sizeof a);
    memcpy(&b, &predicted, sizeof b);
    const float *slack = blame_at(s->d, s->sample[e / s->end_count], s->end)->slack;
    return (isnan(a) && isnan(b)) ||
           (s->rel >= 0 && (fabs((double)a - (double)b) <= s->rel * fabs((double)b) ||
                            (slack && fabsf(a - b) <= slack[e % s->end_count])));
}

/* ---- cases ---- */

bool blame_search_case(blame_search *s, int k, blame_case *c)
{
    const void *in[BLAME_IN] = {NULL};
    blame_story story;
    if (!blame_case_can(s->n))
        return false;
    for (int i = 0; i < s->n->n_in; i++) {
        const assay_value *v = assay_node_in(s->d->graph, s->n, i);
        if (v && !v->data)
            in[i] = blame_at(s->d, s->sample[k], s->n->in[i])->believed;
    }
    blame_case_fill(c, s->d->graph, s->n, s->d->scheme, in, s->arena);
    c->record = s->record;
    for (int p = 0; p < s->n_prefix; p++)
        if (s->prefix[p].family->edit && !s->prefix[p].family->edit(s, s->prefix[p].i, c, &story))
            return false;
    return true;
}

const int64_t *blame_sums(blame_search *s)
{
    blame_case c;
    char *out;
    if (s->sums || !(assay_op_get(s->n->op)->traits & ASSAY_T_WEIGHTED) || s->n_after > 0)
        return s->sums;
    s->sums = malloc((size_t)(s->n_samples * s->count) * sizeof *s->sums + 64);
    out = malloc(assay_type_bytes(s->type) + 64);
    for (int k = 0; k < s->n_samples && s->sums && out; k++)
        if (!blame_search_case(s, k, &c) || blame_case_run(&c, out, s->sums + k * s->count, NULL)) {
            free(s->sums);
            s->sums = NULL;
        }
    free(out);
    return s->sums;
}

/* ---- opening ---- */

/* Where an op does not say, the first node of the network that does. */
static int axis_of_channels(const assay_graph *g, const assay_node *n, const assay_type *t)
{
    for (int i = 0; i < g->n_nodes && !(assay_op_get(n->op)->traits & ASSAY_T_LAYOUT); i++)
        if (assay_op_get(g->node[i].op)->traits & ASSAY_T_LAYOUT)
            n = &g->node[i];
    const bool says = assay_op_get(n->op)->traits & ASSAY_T_LAYOUT;
    return says && n->attr.layout.layout == ASSAY_LAYOUT_NCHW && t->rank > 2 ? 1 : t->rank - 1;
}

static assay_status allocate(blame_search *s, assay_error *err)
{
    const size_t all = (size_t)(s->n_samples * s->end_count) + 1;
    s->dev = malloc(all * sizeof *s->dev);
    s->gold = malloc(all * sizeof *s->gold);
    s->end_base = malloc(all * sizeof *s->end_base);
    s->seen = malloc(all);
    s->base = malloc(((size_t)(s->n_samples * s->count) + 1) * sizeof *s->base);
    return s->dev && s->gold && s->end_base && s->seen && s->base ? ASSAY_OK
                                                                  : assay_out_of_memory(err);
}

void blame_load_sums(const int64_t *sums, int64_t n, int32_t *codes)
{
    for (int64_t i = 0; i < n; i++)
        codes[i] = (int32_t)sums[i];
}

static void load_end(blame_search *s, const blame_tensor *end, int64_t at)
{
    if (s->on_sums) {
        blame_load_sums(end->sums, s->end_count, s->dev + at);
        blame_load_sums(end->golden_sums, s->end_count, s->gold + at);
        blame_load_sums(end->replayed_sums, s->end_count, s->end_base + at);
    } else {
        blame_load(s->end_type, end->device, s->dev + at);
        blame_load(s->end_type, end->golden, s->gold + at);
        blame_load(s->end_type, end->replayed, s->end_base + at);
    }
}

static void load_sample(blame_search *s, int k)
{
    const blame_tensor *end = blame_at(s->d, s->sample[k], s->end);
    const int64_t at = k * s->end_count;
    load_end(s, end, at);
    if (s->on_sums && s->n->out[0] == s->end)
        memcpy(s->base + k * s->count, s->end_base + at, (size_t)s->count * sizeof *s->base);
    else
        blame_load(s->type, blame_at(s->d, s->sample[k], s->n->out[0])->replayed,
                   s->base + k * s->count);
    for (int64_t i = at; i < at + s->end_count; i++) {
        s->seen[i] = !end->mask || end->mask[i - at];
        s->n_seen += s->seen[i];
        s->differing += s->seen[i] && !blame_same(s, i, s->end_base[i]);
    }
}

assay_status blame_search_open(blame_search *s, const blame_device *d, const blame_schemes *schemes,
                               int node, int end, const int *after, int n_after, double rel,
                               assay_error *err)
{
    blame_case c;
    *s = (blame_search){.d = d,
                        .schemes = schemes,
                        .node = node,
                        .n = &d->graph->node[node],
                        .end = end,
                        .after = after,
                        .n_after = n_after,
                        .asked_end = end,
                        .n_asked_after = n_after,
                        .rel = rel,
                        .arena = assay_arena_new()};
    s->type = &d->graph->value[s->n->out[0]].type;
    s->end_type = &d->graph->value[end].type;
    s->count = assay_shape_count(s->type);
    s->end_count = assay_shape_count(s->end_type);
    s->channel_axis = axis_of_channels(d->graph, s->n, s->type);
    const bool says = assay_op_get(s->n->op)->traits & ASSAY_T_LAYOUT;
    s->other_axis = says || s->channel_axis == s->type->rank - 1 ? -1 : s->type->rank - 1;
    s->sample = calloc((size_t)d->n_samples + 1, sizeof *s->sample);
    if (!s->arena || !s->sample)
        return assay_out_of_memory(err);
    s->on_sums = blame_is_on_sums(d, end, rel);
    for (int k = 0; k < d->n_samples; k++)
        if (s->on_sums ? (void *)blame_at(d, k, end)->sums : blame_at(d, k, end)->device)
            s->sample[s->n_samples++] = k;
    assay_status status = allocate(s, err);
    for (int k = 0; k < s->n_samples && !status; k++)
        load_sample(s, k);
    if (!status && blame_case_can(s->n) && assay_node_is_quantized(d->graph, s->n)) {
        blame_case_fill(&c, d->graph, s->n, d->scheme, (const void *[BLAME_IN]){NULL}, s->arena);
        s->has_record = blame_case_record(&c, &s->record);
        if (s->has_record && !blame_values_of(&c, &s->record, schemes, &s->value, &s->n_values))
            status = assay_out_of_memory(err);
    }
    return status;
}

void blame_search_forget_lanes(blame_search *s)
{
    s->lane[0].known = s->lane[1].known = false;
}

static void take_sample(blame_search *s, int to, int from)
{
    const size_t end = (size_t)s->end_count * sizeof *s->dev,
                 own = (size_t)s->count * sizeof *s->base;
    s->sample[to] = s->sample[from];
    memmove(s->dev + to * s->end_count, s->dev + from * s->end_count, end);
    memmove(s->gold + to * s->end_count, s->gold + from * s->end_count, end);
    memmove(s->end_base + to * s->end_count, s->end_base + from * s->end_count, end);
    memmove(s->seen + to * s->end_count, s->seen + from * s->end_count, (size_t)s->end_count);
    memmove(s->base + to * s->count, s->base + from * s->count, own);
}

bool blame_search_leave_clean(blame_search *s)
{
    int kept = 0;
    int64_t left_out = 0;
    if (s->differing == 0)
        return false;
    for (int k = 0; k < s->n_samples; k++) {
        int64_t seen = 0, bad = 0;
        for (int64_t e = k * s->end_count; e < (k + 1) * s->end_count; e++) {
            seen += s->seen[e];
            bad += s->seen[e] && !blame_same(s, e, s->end_base[e]);
        }
        if (bad == 0)
            left_out += seen;
        else
            take_sample(s, kept++, k);
    }
    const bool any = kept < s->n_samples;
    s->n_samples = kept;
    s->n_seen -= left_out;
    s->left_out += left_out;
    blame_search_forget_lanes(s);
    free(s->sums);
    s->sums = NULL;
    return any;
}

/* The cell of an image that element e, of all samples, is a channel of. */
static int64_t cell_of(blame_axis a, int64_t e)
{
    return e / a.inner / a.n * a.inner + e % a.inner;
}

/* Which cells of an image, all channels of each, a prediction changes anywhere; NULL: no memory. */
static uint8_t *cells_changed(const blame_search *s, blame_axis a, const int32_t *codes)
{
    uint8_t *in = calloc((size_t)(s->n_samples * s->end_count / a.n) + 1, 1);
    for (int64_t e = 0; e < s->n_samples * s->end_count && in; e++)
        if (codes[e] != s->end_base[e])
            in[cell_of(a, e)] = 1;
    return in;
}

bool blame_search_leave_out(blame_search *s, const int32_t *codes)
{
    const blame_axis a = blame_axis_of(s->end_type, s->channel_axis);
    uint8_t *in = cells_changed(s, a, codes);
    s->n_seen = s->differing = 0;
    blame_search_forget_lanes(s);
    for (int64_t e = 0; e < s->n_samples * s->end_count && in; e++) {
        s->seen[e] = s->seen[e] && !in[cell_of(a, e)];
        s->n_seen += s->seen[e];
        s->differing += s->seen[e] && !blame_same(s, e, s->end_base[e]);
    }
    free(in);
    return s->differing > 0;
}

void blame_search_close(blame_search *s)
{
    free(s->sample);
    free(s->dev);
    free(s->gold);
    free(s->end_base);
    free(s->seen);
    free(s->base);
    free(s->bare);
    free(s->sums);
    free(s->value);
    assay_arena_free(s->arena);
    *s = (blame_search){0};
}
