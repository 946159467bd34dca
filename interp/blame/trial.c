/* Trying all hypotheses on a node: on a look first, then on everything; which explain it, simplest
 * first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/budget.h"

enum { MAX_PARTIAL = 24, FEW = 4 };

typedef struct trial {
    const blame_family *family;
    int i;
    int64_t score; /* elements of the look that are explained */
} trial;

typedef struct trials {
    blame_search *s;
    blame_look look, glance;
    int32_t *codes; /* of a look */
    int64_t base_score, look_seen;
    int64_t glance_score; /* of the replay */
    trial *list;          /* those that explain something */
    int n;
    blame_finding *found;
    int n_found, max;
    int32_t *whole; /* of everything */
} trials;

/* ---- channels apart ---- */

/* Families whose numbers belong to a channel: some channels may have them and others not. How
 * weights are laid out and whether they are signed is of all of them. */
static bool is_by_channel(const char *class)
{
    return strcmp(class, "weights.stale") == 0 || strcmp(class, "weights.zero_point") == 0 ||
           strncmp(class, "bias.", 5) == 0 || strcmp(class, "rescale.channel") == 0 ||
           strcmp(class, "rescale.multiplier") == 0 || strcmp(class, "rescale.shift") == 0;
}

/* A list of positions in words, and how many numbers it takes to say it. */
static int say_set(const bool *in, int64_t n, char *text, size_t size)
{
    int64_t first = -1, second = -1, last = -1, count = 0;
    for (int64_t i = 0; i < n; i++)
        if (in[i]) {
            second = count == 1 ? i : second;
            first = count == 0 ? i : first;
            last = i;
            count++;
        }
    const int64_t step = count > 1 ? second - first : 1;
    bool regular = true;
    for (int64_t i = first, k = 0; i <= last && i >= 0; i++)
        regular = regular && in[i] == (k++ % step == 0);
    if (count == 1)
        snprintf(text, size, "channel %lld", (long long)first);
    else if (regular && step == 1)
        snprintf(text, size, "channels %lld to %lld", (long long)first, (long long)last);
    else if (regular)
        snprintf(text, size, "channels %lld, %lld, ... %lld", (long long)first, (long long)second,
                 (long long)last);
    else
        snprintf(text, size, "%lld channels from %lld to %lld", (long long)count, (long long)first,
                 (long long)last);
    return count == 1 ? 1 : regular ? 2 : (int)count;
}

/* Whether channel c of the end rests on channel c of the node's output alone. */
static bool keeps_channels(const blame_search *s)
{
    for (int i = 0; i < s->n_after; i++) {
        const assay_graph *g = s->d->graph;
        const assay_node *n = &g->node[s->after[i]];
        const bool each =
            assay_op_get(n->op)->traits & (ASSAY_T_UNARY | ASSAY_T_BINARY | ASSAY_T_CONVERT);
        const bool pool = n->op == ASSAY_OP_MAX_POOL || n->op == ASSAY_OP_AVG_POOL ||
                          n->op == ASSAY_OP_GLOBAL_AVG_POOL;
        const assay_type *t = &g->value[n->out[0]].type;
        if (t->rank != s->type->rank || t->dim[s->channel_axis] != s->type->dim[s->channel_axis] ||
            (!each && !pool &&
             (n->op != ASSAY_OP_CONV || n->attr.conv.group != s->type->dim[s->channel_axis])))
            return false;
    }
    return true;
}

/* Whether each channel is either as replayed or as predicted; the story then names the latter. */
static bool explains_channels(const blame_search *s, const int32_t *codes, blame_story *story)
{
    if (s->channel_axis < 0 || !is_by_channel(story->class) || !keeps_channels(s))
        return false;
    const blame_axis a = blame_axis_of(s->end_type, s->channel_axis);
    bool *base_bad = calloc((size_t)a.n * 2 + 1, sizeof *base_bad), *bad = base_bad + a.n;
    if (!base_bad)
        return false;
    for (int64_t i = 0; i < s->n_samples * s->end_count; i++) {
        const int64_t c = i % s->end_count / a.inner % a.n;
        base_bad[c] = base_bad[c] || (s->seen[i] && !blame_same(s, i, s->end_base[i]));
        bad[c] = bad[c] || (s->seen[i] && !blame_same(s, i, codes[i]));
    }
    bool all = true;
    for (int64_t c = 0; c < a.n; c++)
        all = all && !(base_bad[c] && bad[c]);
    if (all) {
        char set[80], old[BLAME_DETAIL];
        story->changed += say_set(base_bad, a.n, set, sizeof set);
        snprintf(old, sizeof old, "%s", story->detail);
        snprintf(story->detail, sizeof story->detail, "%.150s, in %s", old, set);
    }
    free(base_bad);
    return all;
}

/* ---- the look ---- */

/* Score of what was predicted of the look; *changes: it predicts anything but the replay. */
static int64_t score(const trials *t, const blame_look *l, const int32_t *codes, bool *changes)
{
    const blame_search *s = t->s;
    int64_t good = 0;
    *changes = false;
    for (int64_t j = 0; j < l->n; j++) {
        const int64_t e = l->k * s->end_count + l->at[j];
        *changes = *changes || codes[j] != s->end_base[e];
        good += s->seen[e] && blame_same(s, e, codes[j]);
    }
    return good;
}

/* Whether some channel that the replay does not explain is explained; *all: each is. */
static bool mends_a_channel(const trials *t, const blame_look *l, const int32_t *codes,
                            const char *class, bool *all)
{
    const blame_search *s = t->s;
    const blame_axis a = blame_axis_of(s->type, s->channel_axis);
    bool found = false;
    *all = false;
    if (s->channel_axis < 0 || !is_by_channel(class))
        return false;
    int8_t *state = calloc((size_t)a.n + 1, 1); /* 1: the replay is wrong, 2: so is this */
    for (int64_t j = 0; j < l->n && state; j++) {
        const int64_t e = l->k * s->end_count + l->at[j], c = l->at[j] / a.inner % a.n;
        if (s->seen[e] && !blame_same(s, e, s->end_base[e]))
            state[c] |= 1;
        if (s->seen[e] && !blame_same(s, e, codes[j]))
            state[c] |= 2;
    }
    *all = true;
    for (int64_t c = 0; c < a.n && state; c++) {
        found = found || state[c] == 1;
        *all = *all && state[c] != 3;
    }
    free(state);
    return found;
}

static void keep(trials *t, const blame_family *f, int i, int64_t points)
{
    trial *more = realloc(t->list, (size_t)(t->n + 1) * sizeof *more);
    if (!more)
        return;
    t->list = more;
    t->list[t->n++] = (trial){f, i, points};
}

/* Whether it explains anything of a few cells, where more cost much. What cannot be cut to those is
 * looked at. */
static bool survives_glance(trials *t, const blame_family *f, int i, blame_story *story)
{
    bool changes, all;
    if (t->glance.n == 0 || !blame_predict_look(t->s, f, i, &t->glance, t->codes, story))
        return true;
    return score(t, &t->glance, t->codes, &changes) > t->glance_score ||
           mends_a_channel(t, &t->glance, t->codes, story->class, &all);
}

static void look(trials *t, const blame_family *f, int i)
{
    blame_story story = {.changed = 1};
    bool changes, all;
    if (!blame_afford(t->s))
        return;
    if (f->post || t->s->n_after > 0) {
        keep(t, f, i, t->look_seen);
        return;
    }
    if (!survives_glance(t, f, i, &story) ||
        !blame_predict_look(t->s, f, i, &t->look, t->codes, &story))
        return;
    const int64_t points = score(t, &t->look, t->codes, &changes);
    const bool mends = mends_a_channel(t, &t->look, t->codes, story.class, &all);
    if (changes && (points > t->base_score || mends))
        keep(t, f, i, mends && all ? t->look_seen : points);
}

/* ---- everything ---- */

/* Where a cause stands in the data path: what is done to the output's sign, at its end. */
static int rank_of(const blame_finding *f)
{
    const bool at_end = f->family->id == BLAME_FAMILY_flipped;
    return at_end ? 2 * blame_rank("stuck_bit") + 1 : 2 * blame_rank(f->story.class);
}

static int by_simplicity(const void *x, const void *y)
{
    const blame_finding *a = x, *b = y;
    const int ra = rank_of(a), rb = rank_of(b);
    if (a->full != b->full)
        return a->full ? -1 : 1;
    if (a->full && a->family->late != b->family->late)
        return a->family->late ? 1 : -1;
    if (a->full && (a->story.scheme[0] != 0) != (b->story.scheme[0] != 0))
        return a->story.scheme[0] ? 1 : -1;
    if (!a->full && a->explained != b->explained)
        return a->explained > b->explained ? -1 : 1;
    if (a->story.changed != b->story.changed)
        return a->story.changed - b->story.changed;
    return ra != rb ? ra - rb : a->i - b->i;
}

static void note(trials *t, const blame_finding *f)
{
    if (t->n_found == t->max) {
        qsort(t->found, (size_t)t->n_found, sizeof *t->found, by_simplicity);
        if (by_simplicity(f, &t->found[t->n_found - 1]) >= 0)
            return;
        t->n_found--;
    }
    t->found[t->n_found++] = *f;
}

static void judge(trials *t, const trial *c)
{
    const blame_search *s = t->s;
    blame_finding f = {.story = {.changed = 1}, .family = c->family, .i = c->i};
    int64_t changes = 0;
    if (!blame_afford(t->s) || !blame_predict(t->s, c->family, c->i, t->whole, &f.story))
        return;
    for (int64_t e = 0; e < s->n_samples * s->end_count; e++) {
        const bool equal = t->whole[e] == s->dev[e]; /* most are: that costs nothing */
        const bool good = s->seen[e] && (equal || blame_same(s, e, t->whole[e]));
        f.explained += good;
        f.spoilt += s->seen[e] && !good && blame_same(s, e, s->end_base[e]);
        changes += t->whole[e] != s->end_base[e];
    }
    f.full = f.explained == s->n_seen;
    if (!f.full && explains_channels(s, t->whole, &f.story)) {
        f.full = true;
        f.explained = s->n_seen;
    }
    if (f.full || (changes > 0 && f.explained > s->n_seen - s->differing))
        note(t, &f);
}

static int by_score(const void *x, const void *y)
{
    const trial *a = x, *b = y;
    return a->score != b->score ? (a->score > b->score ? -1 : 1)
                                : (a->family > b->family) - (a->family < b->family);
}

static void try_families(trials *t, bool late, bool schemes)
{
    for (int f = 0; f < BLAME_FAMILIES; f++) {
        const blame_family *family = &blame_families[f];
        if (t->s->on_sums && t->s->n_after == 0 && family->behind)
            continue;
        if (family->late != late || (t->s->explained && !family->post) ||
            (schemes && family->id != BLAME_FAMILY_scheme))
            continue;
        const int n = family->count(t->s);
        for (int i = 0; i < n; i++)
            look(t, family, family->sought ? t->s->sought[i] : i);
    }
}

/* Candidates that explain all of the look, then the best of the others. */
static void judge_all(trials *t)
{
    int partial = 0;
    if (t->n > 1)
        qsort(t->list, (size_t)t->n, sizeof *t->list, by_score);
    for (int c = 0; c < t->n; c++)
        if (t->list[c].score == t->look_seen || partial++ < MAX_PARTIAL)
            judge(t, &t->list[c]);
    if (t->n_found > 1)
        qsort(t->found, (size_t)t->n_found, sizeof *t->found, by_simplicity);
    t->n = 0;
}

/* What the replay explains of a look. */
static int64_t score_of_replay(const blame_search *s, const blame_look *l, int64_t *seen)
{
    int64_t good = 0;
    for (int64_t j = 0; j < l->n; j++) {
        const int64_t e = l->k * s->end_count + l->at[j];
        *seen += s->seen[e];
        good += s->seen[e] && blame_same(s, e, s->end_base[e]);
    }
    return good;
}

int blame_search_run(blame_search *s, enum blame_effort effort, blame_finding *out, int max)
{
    trials t = {.s = s, .found = out, .max = max};
    int64_t glance_seen = 0;
    const bool good =
        blame_look_open(s, &t.look) && (s->n_after > 0 || blame_glance_open(s, &t.look, &t.glance));
    t.codes = malloc((size_t)t.look.n * sizeof *t.codes + 64);
    t.whole = malloc((size_t)(s->n_samples * s->end_count) * sizeof *t.whole + 64);
    if (good && s->n_after == 0) {
        t.base_score = score_of_replay(s, &t.look, &t.look_seen);
        t.glance_score = score_of_replay(s, &t.glance, &glance_seen);
    }
    for (int late = 0; late <= (effort == BLAME_THOROUGH) && good && t.codes && t.whole; late++) {
        s->explained = t.n_found > 0 && t.found[0].full;
        if (s->explained && (s->differing > FEW || s->n_after > 0))
            break;
        try_families(&t, late, effort == BLAME_SCHEMES);
        judge_all(&t);
    }
    s->explained = false;
    blame_look_close(&t.look);
    blame_look_close(&t.glance);
    free(t.list);
    free(t.codes);
    free(t.whole);
    return t.n_found;
}
