/* The rounding steps after the product; see engine.h. */
#include "interp/infer/same.h"

#include <stdlib.h>

enum { COMPARED = 20 }; /* comparing two lists costs as much as this many comparisons with a row */

/* The steps for one prefix: the candidates from `from` on in the list. */
typedef struct stepper {
    infer_engine *e;
    size_t from;
    infer_reach reach;
    int32_t last;                   /* the greatest shift of a row */
    int32_t end[ASSAY_ROUND_COUNT]; /* see find_ends */
} stepper;

/* Whether the steps but the last, whose mode is open, agree with the rows. What a value becomes
 * that is between two integers is open then, and an integer stays. */
static bool may_hold(infer_engine *e, const infer_candidate *c)
{
    const int last = c->rule.round.n - 1;
    infer_partial p;
    infer_partial_start(&p, c, false);
    p.rule[0].round.step[last].mode = ASSAY_ROUND_FLOOR;
    p.rule[p.n] = p.rule[0];
    p.rule[p.n++].round.step[last].mode = ASSAY_ROUND_CEIL;
    return infer_partial_holds(e, &p) && infer_partial_ends(e, &p);
}

/* R beyond the rows at hand may shift the operand left until the first step has all its bits; lists
 * that differ in the first step are then different functions. */
static bool tells_first(const infer_engine *e, const infer_rule *k)
{
    return e->firsts && k->left_shift == ASSAY_LEFT_PRODUCT && k->pre_shift != ASSAY_PRE_REST;
}

static int32_t first_bits(const infer_rule *k)
{
    return k->round.n > 1 ? k->round.step[0].bits : 0;
}

static bool is_spelling(const stepper *s, const infer_rule *a, const infer_rule *b)
{
    return (!tells_first(s->e, b) || first_bits(a) == first_bits(b)) &&
           infer_same_rounding(s->e, a, b, &s->reach);
}

/* Rows come first: they cost less than comparing lists, and most candidates contradict one. */
static void try_whole(stepper *s, const infer_candidate *c)
{
    infer_partial p;
    infer_partial_start(&p, c, false);
    if (!infer_partial_holds(s->e, &p))
        return;
    s->e->t->work += COMPARED * (s->e->list.n - s->from);
    for (size_t i = s->from; i < s->e->list.n; i++)
        if (is_spelling(s, &s->e->list.item[i].rule, &c->rule))
            return;
    if (infer_partial_ends(s->e, &p))
        infer_push(s->e, c);
}

/* The greatest shift of a row after its pre-shift. */
static int64_t shift_max(const infer_engine *e, const infer_rule *k)
{
    return e->shift_hi - (k->pre_shift == ASSAY_PRE_FIXED ? k->pre_shift_bits : 0);
}

/* Whether the last step leaves nothing to round, so that further steps would have no effect. */
static bool is_spent(const stepper *s, const infer_rule *k)
{
    infer_rule down = *k, up = *k;
    down.round.step[k->round.n - 1].mode = ASSAY_ROUND_FLOOR;
    up.round.step[k->round.n - 1].mode = ASSAY_ROUND_CEIL;
    return infer_same_rounding(s->e, &down, &up, &s->reach);
}

/* Whether the first two of three steps equal one step with the second's mode and the bits of both;
 * that list is tried anyway. */
static bool is_one(const stepper *of, const infer_rule *k)
{
    const int32_t bits = k->round.step[0].bits + k->round.step[1].bits;
    const assay_steps two = {.n = 2, .step = {k->round.step[0], {0, k->round.step[1].mode}}};
    const assay_steps one = {.n = 1, .step = {{0, k->round.step[1].mode}}};
    return k->left_shift == ASSAY_LEFT_PRODUCT && !tells_first(of->e, k) && bits <= 63 &&
           infer_same_within(k, &two, &one, &of->reach, 1, bits);
}

/* What the product becomes in steps of so many bits in all, of which a left shift has fixed
 * `first`, is one of two integers. Whether the last step makes the answers of one of the two. */
static bool ends_hold(const stepper *of, const infer_candidate *c, int32_t first, int32_t bits,
                      int32_t mode)
{
    infer_partial p;
    infer_partial_start(&p, c, false);
    p.rule[0].round = (assay_steps){.n = 3,
                                    .step = {{first, ASSAY_ROUND_FLOOR},
                                             {bits - first, ASSAY_ROUND_FLOOR},
                                             {.bits = 0, .mode = mode}}};
    p.rule[p.n] = p.rule[0];
    p.rule[p.n].round.step[0].mode = ASSAY_ROUND_CEIL;
    p.rule[p.n++].round.step[1].mode = ASSAY_ROUND_CEIL;
    return infer_partial_holds(of->e, &p) && infer_partial_ends(of->e, &p);
}

static int64_t last_shift(const infer_engine *e)
{
    int64_t last = 0;
    for (size_t i = 0; i < e->n; i++)
        if (e->placed[e->order[i]].shift > last)
            last = e->placed[e->order[i]].shift;
    return last;
}

/* The least bits behind which a last step of each mode may agree with the rows, however those are
 * rounded; 0 for any. More bits leave more open, as modes are monotonic. */
static void find_ends(stepper *of, const infer_candidate *c)
{
    const int32_t first = c->rule.round.n > 1 ? c->rule.round.step[0].bits : 0;
    const int32_t last = (int32_t)last_shift(of->e);
    of->last = last > first ? last : first;
    for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++) {
        int32_t lo = first, hi = of->last;
        while (lo < hi) {
            const int32_t bits = (lo + hi) / 2;
            if (ends_hold(of, c, first, bits, mode))
                hi = bits;
            else
                lo = bits + 1;
        }
        of->end[mode] = lo > first ? lo : 0;
    }
}

static bool may_end(const stepper *of, int32_t bits, int32_t mode)
{
    return bits >= of->end[mode];
}

static void try_last(stepper *of, infer_candidate *c, int at)
{
    assay_steps *s = &c->rule.round;
    int32_t bits = 0;
    for (int i = 0; i < at; i++)
        bits += s->step[i].bits;
    s->n = at + 1;
    s->step[at].bits = 0;
    for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++) {
        s->step[at].mode = mode;
        if (at == 0 || may_end(of, bits, mode))
            try_whole(of, c);
    }
}

static bool any_ends(const stepper *of, int32_t bits)
{
    for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++)
        if (may_end(of, bits, mode))
            return true;
    return false;
}

/* Tries step `at` with `bits` and another after it: rows that end between two integers decide the
 * next modes, the others decide this one. */
static void try_more(stepper *of, infer_candidate *c, int at, int32_t bits, int32_t used)
{
    infer_engine *e = of->e;
    assay_steps *s = &c->rule.round;
    const int64_t max = shift_max(e, &c->rule);
    if (at > 0 && !any_ends(of, used + bits))
        return;
    if (at == 0 && bits < of->last && !any_ends(of, of->last - 1))
        return;
    for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++) {
        s->n = at + 2;
        s->step[at].bits = bits;
        s->step[at].mode = mode;
        s->step[at + 1].bits = 0;
        s->step[at + 1].mode = ASSAY_ROUND_FLOOR;
        if (used + bits >= of->last && !may_end(of, used, mode)) /* it is the last of each row */
            continue;
        if ((at > 0 && is_one(of, &c->rule)) || !may_hold(e, c))
            continue;
        if (used + bits >= max) { /* nothing is left for a next step */
            try_whole(of, c);
            continue;
        }
        try_last(of, c, at + 1);
        if (at > 0 || is_spent(of, &c->rule))
            continue;
        for (int32_t next = 1; next < max - bits && next <= 63 && !infer_stop(e); next++)
            try_more(of, c, 1, next, bits);
    }
}

/* The fewest bits of a first step that may meet any that are not 0: with fewer, the list equals the
 * one without it, if only the rounding depends on it. */
static int32_t least_first(const infer_engine *e, const infer_rule *k)
{
    return 1 + (k->reduced_bits > 0 || tells_first(e, k) ? 0 : e->zeros);
}

/* Tries the step after a pre-shift by the rest, which has fixed its bits. */
static void try_rest(stepper *of, infer_candidate *c)
{
    for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++) {
        c->rule.round.step[0].mode = mode;
        try_whole(of, c);
    }
}

static void try_steps(stepper *of, infer_candidate *c)
{
    const infer_engine *e = of->e;
    assay_steps *s = &c->rule.round;
    const int64_t max = shift_max(e, &c->rule);
    if (c->rule.pre_shift == ASSAY_PRE_REST) {
        try_rest(of, c);
        return;
    }
    if (s->n == 2) { /* the left shift has fixed the first step's bits */
        find_ends(of, c);
        try_more(of, c, 0, s->step[0].bits, 0);
        return;
    }
    try_last(of, c, 0);
    if (c->rule.left_shift != ASSAY_LEFT_PRODUCT)
        return;
    find_ends(of, c);
    for (int32_t bits = least_first(e, &c->rule); bits < max && bits <= 63 && !infer_stop(of->e);
         bits++)
        try_more(of, c, 0, bits, 0);
}

/* Tries the shortest lists alone. */
static void try_short(stepper *of, infer_candidate *c)
{
    assay_steps *s = &c->rule.round;
    if (c->rule.pre_shift == ASSAY_PRE_REST)
        try_rest(of, c);
    else if (s->n < 2)
        try_last(of, c, 0);
    else
        for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++) {
            s->step[0].mode = mode;
            try_last(of, c, 1);
        }
}

/* Once the stage is cut, the prefixes that are left get short lists alone: one may be a member of
 * the class. */
void infer_find_steps(infer_engine *e)
{
    infer_list prefixes = e->list;
    size_t i = 0;
    bool cut = false;
    e->list = (infer_list){0};
    e->begun = e->t->work;
    for (; i < prefixes.n && e->list.n < INFER_MAX_CANDIDATES; i++) {
        infer_candidate c = prefixes.item[i];
        stepper of = {.e = e, .from = e->list.n, .reach = infer_reach_of(e, &c.rule)};
        infer_place(e, &c.rule);
        cut = cut || infer_stop(e);
        if (cut)
            try_short(&of, &c);
        else
            try_steps(&of, &c);
    }
    e->t->complete &= i == prefixes.n;
    free(prefixes.item);
}
