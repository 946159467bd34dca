/* Two causes in one node. */
#include "interp/blame/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "interp/blame/budget.h"
#include "interp/blame/likely.h"

enum { PAIRED = 6, ALIKE = 2, ENOUGH = 512, FEWEST = 3, BIASES = 5 };
enum { COST = 16, WORK = 30000000, FEW_SOLVED = 3 };

/* Whether a partial cause explains so little more than the replay does that any would, by chance,
 * of so many that were tried: five times the spread of what it explains. Of few elements nothing
 * is said, and what changes no element but for the better is none of chance. */
bool blame_is_chance(const blame_search *s, const blame_finding *f)
{
    const double n = (double)s->n_seen, good = (double)f->explained;
    const double gain = good - (double)(s->n_seen - s->differing);
    const bool only_mends = f->spoilt == 0 && gain >= FEWEST;
    return s->n_seen >= ENOUGH && !only_mends && gain * gain < 25 * good * (1 - good / n);
}

/* They may be what two other causes make of sums. */
bool blame_is_solved(const blame_finding *f)
{
    return strcmp(f->story.class, "bias.value") == 0 && f->story.changed > FEW_SOLVED;
}

/* Whether two causes change fewer numbers than `max`. */
static bool are_few(const blame_finding *a, const blame_finding *b, int64_t max)
{
    return a->story.changed + b->story.changed < max;
}

static blame_finding whole(const blame_search *s, const blame_finding *f)
{
    blame_finding all = *f;
    all.full = true;
    all.explained = s->n_seen;
    return all;
}

/* Reports two causes, the second, in its k words, behind the first. Returns the second's fault, or
 * NULL. */
static blame_fault *add_both(blame_report *r, int row, const blame_search *s,
                             const blame_finding *first, const blame_finding *second, int k)
{
    const blame_finding one = whole(s, first);
    blame_fault *f = blame_add_fault(r, row, s);
    if (f)
        blame_fill_fault(f, &one, 1);
    f = blame_add_fault(r, row, s);
    if (!f)
        return NULL;
    f->cause[0].family = first->family;
    f->cause[f->n_causes++].i = first->i;
    blame_fill_fault(f, second, k);
    return f;
}

/* The same of what was found, in its k words, before a change to codes. */
static void add_before(blame_report *r, int row, const blame_search *s, const blame_finding *found,
                       int k, const blame_finding *last)
{
    const blame_finding all = whole(s, last);
    blame_fault *f = blame_add_fault(r, row, s);
    if (f)
        blame_fill_fault(f, found, k);
    f = blame_add_fault(r, row, s);
    if (!f)
        return;
    if (found[0].family->edit) {
        f->cause[0].family = found[0].family;
        f->cause[f->n_causes++].i = found[0].i;
    }
    blame_fill_fault(f, &all, 1);
}

/* Two causes that explain everything: one that is taken as given, and what was found beside it. */
typedef struct pair {
    blame_finding given;
    blame_finding *found; /* n of them, simplest first; room for BLAME_FINDINGS */
    int n;                /* 0: there is no pair yet */
    int64_t left;         /* elements that still differ with what is given; -1: not known */
} pair;

/* The search for two causes of a row. */
typedef struct pairing {
    blame_report *r;
    int row;
    blame_search *s;
    int64_t max;          /* numbers that the two may change */
    bool second;          /* none of few numbers was found */
    bool over;            /* those that explain everything change more, or biases were solved for */
    blame_finding *found; /* room for BLAME_FINDINGS */
    pair best;            /* the one that changes the fewest numbers */
} pairing;

static int64_t changed_by(const pair *two)
{
    return (int64_t)two->given.story.changed + two->found[0].story.changed;
}

/* Keeps a pair that changes fewer numbers than the best so far, which leaves that as the most that
 * others may. Whether none can change fewer still. */
static bool keep_pair(pairing *p, const blame_finding *given, const blame_finding *found, int n,
                      int64_t left)
{
    p->best.given = *given;
    memcpy(p->best.found, found, (size_t)n * sizeof *found);
    p->best.n = n;
    p->best.left = left;
    p->max = changed_by(&p->best);
    return p->max <= 2;
}

/* Takes a cause as given and looks for another one beside it. */
static bool try_beside(pairing *p, const blame_finding *given)
{
    blame_search with;
    const blame_search *s = p->s;
    blame_finding *found = p->found;
    bool done = false;
    const bool hopeless = p->best.n > 0 && given->story.changed + 1 >= p->max;
    if (hopeless || blame_search_again(s, &with))
        return false;
    if (blame_search_assume(&with, given)) {
        const int64_t left = with.differing;
        const int k = blame_search_run(&with, BLAME_THOROUGH, found, BLAME_FINDINGS);
        const bool full = k > 0 && found[0].full;
        const bool good =
            full && are_few(given, &found[0], p->max) && (p->second || !blame_is_solved(&found[0]));
        p->over = p->over || (full && !good);
        done = good && keep_pair(p, given, found, k, left);
    }
    blame_search_close(&with);
    return done;
}

/* Whether an edit that was found in the channels where `changed` (the change alone) is not what the
 * device gives explains those together with the change. */
static bool holds_in_channels(const blame_search *s, const blame_finding *edit,
                              const blame_finding *change, const int32_t *changed)
{
    blame_search with;
    blame_story story;
    const int64_t all = s->n_samples * s->count;
    const blame_axis a = blame_axis_of(s->type, s->channel_axis);
    bool *bad = calloc((size_t)a.n + 1, sizeof *bad), good = false;
    int32_t *codes = malloc((size_t)all * sizeof *codes + 64);
    for (int64_t e = 0; e < all && bad; e++)
        if (s->seen[e] && !blame_same(s, e, changed[e]))
            bad[e / a.inner % a.n] = true;
    if (bad && codes && !blame_search_again(s, &with)) {
        for (int64_t e = 0; e < all; e++)
            with.seen[e] = with.seen[e] && bad[e / a.inner % a.n];
        good = blame_search_assume(&with, edit) &&
               blame_predict(&with, change->family, change->i, codes, &story);
        for (int64_t e = 0; e < all && good; e++)
            good = !with.seen[e] || blame_same(&with, e, codes[e]);
        blame_search_close(&with);
    }
    free(bad);
    free(codes);
    return good;
}

/* The first full edit; NULL: there is none. */
static const blame_finding *full_edit(const blame_finding *found, int n)
{
    int i = 0;
    while (i < n && !(found[i].full && found[i].family->edit))
        i++;
    return i < n ? &found[i] : NULL;
}

/* An edit that explains all that a change to codes leaves alone, and then that change. */
static bool try_elsewhere(pairing *p, const blame_finding *change)
{
    blame_search with;
    const blame_search *s = p->s;
    blame_finding *found = p->found;
    const blame_finding *edit = NULL;
    int32_t *codes = malloc((size_t)(s->n_samples * s->end_count) * sizeof *codes + 64);
    if (codes && s->n_after == 0 && !blame_search_again(s, &with)) {
        blame_story story;
        with.wants_edits = true;
        if (blame_predict(&with, change->family, change->i, codes, &story) &&
            blame_search_leave_out(&with, codes))
            edit = full_edit(found, blame_search_run(&with, BLAME_THOROUGH, found, BLAME_FINDINGS));
        blame_search_close(&with);
    }
    const bool good =
        edit && are_few(edit, change, p->max) && holds_in_channels(s, edit, change, codes);
    const blame_finding last = whole(s, change);
    free(codes);
    return good && keep_pair(p, edit, &last, 1, -1);
}

/* Where another bias in every channel explains all: the likeliest causes that make biases others,
 * each beside another cause that adds a number to a channel's sums. */
static bool try_biases(pairing *p)
{
    blame_search *s = p->s;
    const blame_family *bias = &blame_families[BLAME_FAMILY_bias];
    int32_t *codes = malloc((size_t)(s->n_samples * s->end_count) * sizeof *codes + 64);
    const int choices = codes ? bias->count(s) : 0;
    bool done = false;
    for (int i = 0; i < choices && i < BIASES && !done; i++) {
        blame_finding given = {.family = bias, .i = i};
        done = blame_predict(s, bias, i, codes, &given.story) && try_beside(p, &given);
    }
    free(codes);
    return done;
}

/* Whether enough of the better causes before i are of its family. */
static bool is_alike(const blame_finding *partial, int i)
{
    int alike = 0;
    for (int k = 0; k < i; k++)
        alike += !partial[k].full && partial[k].family == partial[i].family;
    return alike >= ALIKE;
}

/* How many partial causes are taken as given: behind the node others run for each hypothesis. */
static int tries_of(const blame_search *s)
{
    const assay_graph *g = s->d->graph;
    int64_t cost = assay_node_macs(g, s->n) + COST * s->count;
    for (int i = 0; i < s->n_after; i++)
        cost += assay_node_macs(g, &g->node[s->after[i]]) +
                COST * assay_shape_count(&g->value[g->node[s->after[i]].out[0]].type);
    const int64_t tries = WORK / (cost * s->n_samples + 1);
    return s->n_after == 0 || tries >= PAIRED ? PAIRED : (int)tries;
}

static bool try_partial(pairing *p, const blame_finding *partial, int n)
{
    const int tries = tries_of(p->s);
    bool done = false;
    for (int i = 0, tried = 0; i < n && tried < tries && !done; i++) {
        const bool more = !partial[i].full && !is_alike(partial, i);
        tried += more;
        if (more && !blame_is_chance(p->s, &partial[i]))
            done = partial[i].family->edit || p->s->n_after > 0 ? try_beside(p, &partial[i])
                                                                : try_elsewhere(p, &partial[i]);
    }
    return done;
}

/* Edits that leave the device's codes in other places, each beside another order. */
static bool try_reordered(pairing *p)
{
    blame_likely likely[BLAME_LIKELY];
    const int k = blame_reordered_edits(p->s, likely);
    bool done = false;
    for (int i = 0; i < k && !done; i++)
        done = try_beside(p, &likely[i].finding);
    return done;
}

/* Edits that explain little alone; two at once, which takes long, where there is no pair yet. */
static bool try_hidden(pairing *p)
{
    blame_likely likely[BLAME_LIKELY];
    blame_finding given;
    bool done = false;
    int k = blame_likely_edits(p->s, likely);
    for (int i = 0; i < k && !done; i++)
        done = try_beside(p, &likely[i].finding);
    k = done ? 0 : blame_distant_edits(p->s, likely);
    for (int i = 0; i < k && !done; i++)
        done = try_beside(p, &likely[i].finding);
    return done || (p->best.n == 0 && blame_crossed_edit(p->s, &given) && try_beside(p, &given));
}

static void report_pair(const pairing *p)
{
    const pair *two = &p->best;
    blame_fault *f = NULL;
    if (two->given.family->post)
        add_before(p->r, p->row, p->s, two->found, two->n, &two->given);
    else
        f = add_both(p->r, p->row, p->s, &two->given, two->found, two->n);
    if (f && two->left >= 0)
        f->differing = two->left;
}

static void try_pairs(pairing *p, int64_t max, const blame_finding *partial, int n)
{
    const bool full = n > 0 && partial[0].full;
    const bool biases = full && strcmp(partial[0].story.class, "bias.value") == 0;
    const bool done = (biases && try_biases(p)) || try_partial(p, partial, n) || try_hidden(p);
    p->second = true;
    if (!done && p->over && p->best.n == 0 && !full) {
        p->max = max; /* where there are none of few numbers */
        if (!try_partial(p, partial, n))
            try_hidden(p);
    }
}

/* One after the other until two are found: the cheapest first. */
static bool try_ways(pairing *p, int64_t max, const blame_finding *partial, int n)
{
    try_reordered(p);
    if (p->best.n == 0 && blame_try_screens(p->r, p->row, p->s, max))
        return true;
    if (p->best.n == 0)
        try_pairs(p, max, partial, n);
    if (p->best.n > 0)
        report_pair(p);
    return p->best.n > 0;
}

bool blame_try_two(blame_report *r, int row, blame_search *s, int64_t max,
                   const blame_finding *partial, int n)
{
    pairing p = {.r = r, .row = row, .s = s, .max = max < BLAME_MANY ? max : BLAME_MANY};
    const int64_t work = r->work / BLAME_SHARES;
    blame_budget budget = {.left = work};
    p.found = malloc(BLAME_FINDINGS * sizeof *p.found);
    p.best.found = malloc(BLAME_FINDINGS * sizeof *p.best.found);
    s->budget = &budget;
    const bool done = p.found && p.best.found && try_ways(&p, max, partial, n);
    s->budget = NULL;
    r->work -= work - budget.left;
    r->row[row].cut = budget.cut && !done;
    r->row[row].tried = budget.tried;
    free(p.found);
    free(p.best.found);
    return done;
}
