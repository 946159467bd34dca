/* Predictions of a hypothesis: an edited node run, or codes changed; then the nodes behind it,
 * where the node's own output was not dumped. */
#include <stdlib.h>
#include <string.h>

#include "interp/blame/budget.h"

/* ---- edits ---- */

/* sums: NULL, or room for the case's. */
static bool run(blame_search *s, const blame_case *c, int32_t *codes, int64_t *sums)
{
    const bool on_sums = s->on_sums && s->n_after == 0;
    const int64_t n = assay_shape_count(&c->out);
    void *out = assay_arena_alloc(s->arena, assay_type_bytes(&c->out) + 64);
    if (on_sums && !sums)
        sums = assay_arena_array(s->arena, (size_t)n + 8, sizeof *sums);
    blame_spend_case(s, c);
    if (!out || (on_sums && !sums) || blame_case_run(c, out, sums, NULL))
        return false;
    if (on_sums)
        blame_load_sums(sums, n, codes);
    else
        blame_load(&c->out, out, codes);
    return true;
}

bool blame_search_outcome(blame_search *s, const blame_case *c, int32_t *codes)
{
    return run(s, c, codes, NULL);
}

bool blame_predict_sums(blame_search *s, const blame_family *f, int i, const blame_look *l,
                        int32_t *codes, int64_t *sums, blame_story *story)
{
    blame_case c;
    assay_arena_free(s->arena);
    return (s->arena = assay_arena_new()) && blame_search_case(s, l->k, &c) &&
           (!f || f->edit(s, i, &c, story)) && blame_look_fits(s, l, &c) &&
           (!l->part || blame_case_cut(&c, &l->box)) && assay_shape_count(&c.out) == l->n &&
           run(s, &c, codes, sums);
}

/* l: NULL, or what of the output is asked for; what was edited so that it cannot be cut is run
 * whole. */
static bool run_edit(blame_search *s, const blame_family *f, int i, int k, const blame_look *l,
                     int32_t *codes, blame_story *story)
{
    blame_case c;
    assay_window w;
    assay_arena_free(s->arena);
    if (!(s->arena = assay_arena_new()) || !blame_search_case(s, k, &c) ||
        !f->edit(s, i, &c, story))
        return false;
    if (l && l->part && blame_look_fits(s, l, &c))
        return blame_case_cut(&c, &l->box) && blame_search_outcome(s, &c, codes);
    if (blame_case_window(&c, &w) && !blame_case_narrow(&c, NULL, 0))
        return false;
    if (!l || !l->part)
        return blame_search_outcome(s, &c, codes);
    int32_t *whole = assay_arena_array(s->arena, (size_t)s->count + 16, sizeof *whole);
    if (!whole || assay_shape_count(&c.out) != s->count || !blame_search_outcome(s, &c, whole))
        return false;
    for (int64_t j = 0; j < l->n; j++)
        codes[j] = whole[l->at[j]];
    return true;
}

bool blame_predict_look(blame_search *s, const blame_family *f, int i, const blame_look *l,
                        int32_t *codes, blame_story *story)
{
    return run_edit(s, f, i, l->k, l, codes, story);
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
    blame_spend_node(s, node);
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

static size_t bytes_of_own(const blame_search *s)
{
    return (size_t)(s->n_samples * s->count) * sizeof *s->base;
}

/* What a hypothesis predicts of the node's own codes, all samples. */
static bool predict_own(blame_search *s, const blame_family *f, int i, int32_t *own,
                        blame_story *story)
{
    blame_story given;
    bool good = true;
    if (f->post) {
        memcpy(own, s->last ? s->bare : s->base, bytes_of_own(s));
        good = f->post(s, i, own, story);
        blame_spend_codes(s, s->n_samples * s->count);
    }
    for (int k = 0; k < s->n_samples && good && f->edit; k++)
        good = run_edit(s, f, i, k, NULL, own + k * s->count, story);
    if (good && s->last)
        s->last->post(s, s->last_i, own, &given);
    return good && memcmp(own, s->base, bytes_of_own(s)) != 0;
}

static bool finish_all(const blame_search *s, const int32_t *own, int32_t *end)
{
    bool good = true;
    for (int k = 0; k < s->n_samples && good; k++)
        good = blame_finish(s, k, own + k * s->count, end + k * s->end_count);
    return good;
}

bool blame_predict(blame_search *s, const blame_family *f, int i, int32_t *codes,
                   blame_story *story)
{
    if (s->n_after == 0) /* the node's codes are the end's */
        return predict_own(s, f, i, codes, story);
    int32_t *own = malloc(bytes_of_own(s) + 64);
    const bool good = own && predict_own(s, f, i, own, story) && finish_all(s, own, codes);
    free(own);
    return good;
}

static bool take_as_given(blame_search *s, const blame_finding *f)
{
    if (f->family->edit && s->n_prefix < BLAME_PREFIX) {
        s->prefix[s->n_prefix].family = f->family;
        s->prefix[s->n_prefix++].i = f->i;
        return true;
    }
    if (f->family->edit || s->n_after == 0 || s->last || !(s->bare = malloc(bytes_of_own(s) + 64)))
        return false;
    memcpy(s->bare, s->base, bytes_of_own(s));
    s->last = f->family;
    s->last_i = f->i;
    return true;
}

bool blame_search_assume(blame_search *s, const blame_finding *f)
{
    blame_story story;
    int32_t *own = malloc(bytes_of_own(s) + 64);
    const bool good = own && predict_own(s, f->family, f->i, own, &story) &&
                      finish_all(s, own, s->end_base) && take_as_given(s, f);
    if (good)
        memcpy(s->base, own, bytes_of_own(s));
    free(own);
    if (!good)
        return false;
    free(s->sums);
    s->sums = NULL;
    blame_search_forget_lanes(s);
    s->differing = 0;
    for (int64_t i = 0; i < s->n_samples * s->end_count; i++)
        s->differing += s->seen[i] && !blame_same(s, i, s->end_base[i]);
    return true;
}
