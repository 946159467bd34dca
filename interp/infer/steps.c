/* The rounding steps after the product; see engine.h. */
#include "interp/infer/same.h"

#include <stdlib.h>

enum { COMPARED = 20 }; /* comparing two lists costs as much as this many comparisons with a row */

/* The steps for one prefix: the candidates from `from` on in the list. */
typedef struct stepper {
    infer_engine *e;
    size_t from;
    infer_reach reach;
} stepper;

static bool holds(infer_engine *e, const infer_candidate *c, int64_t shift_max)
{
    infer_partial p;
    infer_partial_start(&p, c, false);
    p.shift_max = shift_max;
    return infer_partial_holds(e, &p);
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

static void try_last(stepper *of, infer_candidate *c, int at)
{
    assay_steps *s = &c->rule.round;
    s->n = at + 1;
    s->step[at].bits = 0;
    for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++) {
        s->step[at].mode = mode;
        try_whole(of, c);
    }
}

/* Tries step `at` with `bits` and another after it: rows that end within it decide its mode, rows
 * that go further decide the next ones. */
static void try_more(stepper *of, infer_candidate *c, int at, int32_t bits, int64_t used)
{
    infer_engine *e = of->e;
    assay_steps *s = &c->rule.round;
    const int64_t max = shift_max(e, &c->rule);
    for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++) {
        s->n = at + 2;
        s->step[at].bits = bits;
        s->step[at].mode = mode;
        s->step[at + 1].bits = 0;
        s->step[at + 1].mode = ASSAY_ROUND_FLOOR;
        if ((at > 0 && is_one(of, &c->rule)) || !holds(e, c, used + bits))
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

static void try_steps(stepper *of, infer_candidate *c)
{
    const infer_engine *e = of->e;
    assay_steps *s = &c->rule.round;
    const int64_t max = shift_max(e, &c->rule);
    if (c->rule.pre_shift == ASSAY_PRE_REST) {
        for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++) {
            s->step[0].mode = mode;
            try_whole(of, c);
        }
        return;
    }
    if (s->n == 2) { /* the left shift has fixed the first step's bits */
        try_more(of, c, 0, s->step[0].bits, 0);
        return;
    }
    try_last(of, c, 0);
    for (int32_t bits = least_first(e, &c->rule);
         c->rule.left_shift == ASSAY_LEFT_PRODUCT && bits < max && bits <= 63 && !infer_stop(of->e);
         bits++)
        try_more(of, c, 0, bits, 0);
}

void infer_find_steps(infer_engine *e)
{
    infer_list prefixes = e->list;
    e->list = (infer_list){0};
    e->begun = e->t->work;
    for (size_t i = 0; i < prefixes.n && !infer_stop(e); i++) {
        infer_candidate c = prefixes.item[i];
        stepper of = {e, e->list.n, infer_reach_of(e, &c.rule)};
        infer_place(e, &c.rule);
        try_steps(&of, &c);
    }
    free(prefixes.item);
}
