/* Predictions of a hypothesis: an edited node run, or codes changed; then the nodes behind it,
 * where the node's own output was not dumped. */
#include <stdlib.h>
#include <string.h>

#include "interp/blame/search.h"

enum { QUICK_MACS = 2000000, QUICK_ELEMENTS = 100000, GLANCE_MACS = 100000 };

/* ---- what is looked at first ---- */

static int64_t differing_in(const blame_search *s, int64_t from, int64_t n, int64_t step)
{
    int64_t count = 0;
    for (int64_t i = from; i < from + n; i += step)
        count += s->seen[i] && !blame_same(s, i, s->end_base[i]);
    return count;
}

static int busiest_sample(const blame_search *s)
{
    int best = 0;
    int64_t max = -1;
    for (int k = 0; k < s->n_samples; k++) {
        const int64_t n = differing_in(s, k * s->end_count, s->end_count, 1);
        if (n > max) {
            max = n;
            best = k;
        }
    }
    return best;
}

/* The `n` rows with most elements that differ. */
static int64_t busiest_rows(const blame_search *s, int k, blame_axis a, int64_t n)
{
    int64_t best = 0, max = -1, sum = 0;
    int64_t *count = calloc((size_t)a.n + 1, sizeof *count);
    for (int64_t o = 0; o < a.outer && count; o++)
        for (int64_t r = 0; r < a.n; r++)
            count[r] += differing_in(s, k * s->end_count + (o * a.n + r) * a.inner, a.inner, 1);
    for (int64_t r = 0; r < a.n && count; r++) {
        sum += count[r] - (r >= n ? count[r - n] : 0);
        if (r >= n - 1 && sum > max) {
            max = sum;
            best = r - n + 1;
        }
    }
    free(count);
    return best;
}

blame_look blame_look_at(const blame_search *s)
{
    const int64_t macs = assay_node_macs(s->d->graph, s->n);
    blame_look l = {.k = busiest_sample(s), .n = s->count};
    blame_case c;
    assay_window w;
    if (s->n_after > 0 || !blame_case_can(s->n) || (macs < QUICK_MACS && s->count < QUICK_ELEMENTS))
        return l;
    blame_case_fill(&c, s->d->graph, s->n, NULL, (const void *[BLAME_IN]){NULL}, NULL);
    if (!blame_case_window(&c, &w))
        return l;
    l.axis = w.nhwc ? 1 : 2;
    const blame_axis a = blame_axis_of(s->type, l.axis);
    const int64_t max = macs / QUICK_MACS > s->count / QUICK_ELEMENTS ? macs / QUICK_MACS
                                                                      : s->count / QUICK_ELEMENTS;
    int64_t rows = a.n / (max + 1) + 1;
    rows = rows < 3 && a.n >= 3 ? 3 : rows;
    if (rows >= a.n)
        return l;
    l.n_axes = 1;
    l.rows[0].first = busiest_rows(s, l.k, a, rows);
    l.rows[0].end = l.rows[0].first + rows;
    l.n = a.outer * rows * a.inner;
    return l;
}

int64_t blame_look_element(const blame_search *s, const blame_look *l, int64_t j)
{
    if (l->n_axes == 0)
        return j;
    const blame_axis a = blame_axis_of(s->type, l->axis);
    const int64_t rows = l->rows[0].end - l->rows[0].first, first = l->rows[0].first;
    if (l->n_axes == 1)
        return j / (rows * a.inner) * a.n * a.inner + first * a.inner + j % (rows * a.inner);
    const blame_axis b = blame_axis_of(s->type, l->axis + 1);
    const int64_t columns = l->rows[1].end - l->rows[1].first;
    const int64_t cell = j / b.inner, c = cell % columns, r = cell / columns % rows;
    const int64_t outer = cell / columns / rows;
    return ((outer * a.n + first + r) * b.n + l->rows[1].first + c) * b.inner + j % b.inner;
}

/* The column of the look in which most elements differ. */
static int64_t busiest_column(const blame_search *s, const blame_look *l)
{
    const blame_axis b = blame_axis_of(s->type, l->axis + 1);
    int64_t best = 0, *count = calloc((size_t)b.n + 1, sizeof *count);
    for (int64_t j = 0; j < l->n && count; j++) {
        const int64_t at = blame_look_element(s, l, j);
        count[at / b.inner % b.n] += differing_in(s, l->k * s->end_count + at, 1, 1);
    }
    for (int64_t c = 0; c < b.n && count; c++)
        best = count[c] > count[best] ? c : best;
    free(count);
    return best;
}

blame_look blame_glance_at(const blame_search *s, const blame_look *l)
{
    blame_look g = *l;
    const int64_t macs = assay_node_macs(s->d->graph, s->n) / (s->count ? s->count : 1) * l->n;
    g.n = 0;
    if (l->n_axes == 0 || macs < 4 * (int64_t)GLANCE_MACS || l->axis + 1 >= s->type->rank)
        return g;
    const blame_axis b = blame_axis_of(s->type, l->axis + 1);
    const int64_t fit = b.n * GLANCE_MACS / macs + 1, n = fit < b.n ? fit : b.n;
    const int64_t busiest = busiest_column(s, l);
    g.n_axes = 2;
    g.rows[1].axis = 1;
    g.rows[1].first = busiest + n <= b.n ? busiest : b.n - n;
    g.rows[1].end = g.rows[1].first + n;
    g.n = l->n / (b.n * b.inner) * n * b.inner;
    return g;
}

/* ---- edits ---- */

bool blame_search_outcome(blame_search *s, const blame_case *c, int32_t *codes)
{
    const bool on_sums = s->on_sums && s->n_after == 0;
    const int64_t n = assay_shape_count(&c->out);
    void *out = assay_arena_alloc(s->arena, assay_type_bytes(&c->out) + 64);
    int64_t *sums = on_sums ? assay_arena_array(s->arena, (size_t)n + 8, sizeof *sums) : NULL;
    if (!out || (on_sums && !sums) || blame_case_run(c, out, sums, NULL))
        return false;
    if (on_sums)
        blame_load_sums(sums, n, codes);
    else
        blame_load(&c->out, out, codes);
    return true;
}

static bool run_edit(blame_search *s, const blame_family *f, int i, int k, const blame_rows *rows,
                     int n_axes, int32_t *codes, blame_story *story)
{
    blame_case c;
    assay_window w;
    assay_arena_free(s->arena);
    if (!(s->arena = assay_arena_new()) || !blame_search_case(s, k, &c) ||
        !f->edit(s, i, &c, story))
        return false;
    if (blame_case_window(&c, &w) && !blame_case_narrow(&c, rows, n_axes))
        return false;
    return blame_search_outcome(s, &c, codes);
}

bool blame_predict_look(blame_search *s, const blame_family *f, int i, const blame_look *l,
                        int32_t *codes, blame_story *story)
{
    return run_edit(s, f, i, l->k, l->rows, l->n_axes, codes, story);
}

/* ---- the nodes behind ---- */

typedef struct behind {
    const void **value; /* what they computed, by value */
    assay_arena *arena;
} behind;

static bool run_behind(const blame_search *s, int sample, int node, int64_t *sums, const behind *b)
{
    const assay_graph *g = s->d->graph;
    const assay_node *n = &g->node[node];
    const void **in = assay_arena_array(b->arena, (size_t)n->n_in + 1, sizeof *in);
    void **out = assay_arena_array(b->arena, (size_t)n->n_out + 1, sizeof *out);
    if (!in || !out)
        return false;
    for (int i = 0; i < n->n_in; i++) {
        const int v = n->in[i];
        in[i] = v == ASSAY_NO_VALUE ? NULL
                : b->value[v]       ? b->value[v]
                                    : blame_at(s->d, sample, v)->believed;
    }
    for (int j = 0; j < n->n_out; j++) {
        out[j] = assay_arena_alloc(b->arena, assay_type_bytes(&g->value[n->out[j]].type) + 64);
        if (!out[j])
            return false;
        b->value[n->out[j]] = out[j];
    }
    return !assay_replay_node(s->d->program, node, in, out, sums, NULL);
}

bool blame_finish(const blame_search *s, int k, const int32_t *codes, int32_t *end)
{
    const assay_graph *g = s->d->graph;
    behind b = {.arena = assay_arena_new()};
    bool good = b.arena != NULL;
    if (s->n_after == 0) {
        memcpy(end, codes, (size_t)s->count * sizeof *end);
        assay_arena_free(b.arena);
        return good;
    }
    if (good) {
        void *own = assay_arena_alloc(b.arena, assay_type_bytes(s->type) + 64);
        b.value = assay_arena_array(b.arena, (size_t)g->n_values + 1, sizeof *b.value);
        good = own && b.value;
        if (good) {
            blame_store(s->type, codes, own);
            b.value[s->n->out[0]] = own;
        }
    }
    int64_t *sums = good && s->on_sums
                        ? assay_arena_array(b.arena, (size_t)s->end_count + 8, sizeof *sums)
                        : NULL;
    for (int i = 0; i < s->n_after && good; i++)
        good = run_behind(s, s->sample[k], s->after[i], i == s->n_after - 1 ? sums : NULL, &b);
    good = good && b.value[s->end] && (sums || !s->on_sums);
    if (good && sums)
        blame_load_sums(sums, s->end_count, end);
    else if (good)
        blame_load(s->end_type, b.value[s->end], end);
    assay_arena_free(b.arena);
    return good;
}

bool blame_predict(blame_search *s, const blame_family *f, int i, int32_t *codes,
                   blame_story *story)
{
    int32_t *own = calloc((size_t)(s->n_samples * s->count) + 16, sizeof *own);
    bool good = own != NULL;
    if (good && f->post) {
        memcpy(own, s->base, (size_t)(s->n_samples * s->count) * sizeof *own);
        good = f->post(s, i, own, story);
    }
    for (int k = 0; k < s->n_samples && good && f->edit; k++)
        good = run_edit(s, f, i, k, NULL, 0, own + k * s->count, story);
    const size_t bytes = (size_t)(s->n_samples * s->count) * sizeof *own;
    good = good && memcmp(own, s->base, bytes) != 0;
    for (int k = 0; k < s->n_samples && good; k++)
        good = blame_finish(s, k, own + k * s->count, codes + k * s->end_count);
    free(own);
    return good;
}

bool blame_search_assume(blame_search *s, const blame_finding *f)
{
    blame_story story;
    if (!f->family->edit || s->n_prefix == BLAME_PREFIX || s->n_after > 0 ||
        !blame_predict(s, f->family, f->i, s->end_base, &story))
        return false;
    s->prefix[s->n_prefix].family = f->family;
    s->prefix[s->n_prefix++].i = f->i;
    memcpy(s->base, s->end_base, (size_t)(s->n_samples * s->count) * sizeof *s->base);
    free(s->sums);
    s->sums = NULL;
    s->lane.known = false;
    s->differing = 0;
    for (int64_t i = 0; i < s->n_samples * s->end_count; i++)
        s->differing += s->seen[i] && !blame_same(s, i, s->end_base[i]);
    return true;
}
