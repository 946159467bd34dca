/* The rounding steps of the product. See engine.h. */
#include "interp/infer/engine.h"

#include <stdlib.h>

/* Two steps of one such mode are one step: what lies between two integers goes the same way at
 * every place. */
static bool is_closed(int32_t mode)
{
    return mode == ASSAY_ROUND_FLOOR || mode == ASSAY_ROUND_CEIL || mode == ASSAY_ROUND_TRUNC ||
           mode == ASSAY_ROUND_AWAY || mode == ASSAY_ROUND_ODD;
}

static bool holds(infer_engine *e, const infer_candidate *c, int64_t shift_most)
{
    infer_partial p;
    infer_partial_start(&p, c, false);
    p.shift_most = shift_most;
    return infer_partial_holds(e, &p);
}

static void try_whole(infer_engine *e, const infer_candidate *c)
{
    infer_partial p;
    infer_partial_start(&p, c, false);
    if (infer_partial_holds(e, &p) && infer_partial_ends(e, &p))
        infer_push(e, c);
}

/* The greatest shift of a row behind its pre-shift. */
static int64_t shift_most(const infer_engine *e, const infer_rule *k)
{
    return e->shift_hi - (k->pre_shift == ASSAY_PRE_FIXED ? k->pre_shift_bits : 0);
}

static void try_last(infer_engine *e, infer_candidate *c, int at)
{
    assay_steps *s = &c->rule.round;
    const bool merges = at > 1 || c->rule.left_shift == ASSAY_LEFT_PRODUCT;
    s->n = at + 1;
    s->step[at].bits = 0;
    for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++) {
        s->step[at].mode = mode;
        if (at > 0 && merges && is_closed(mode) && mode == s->step[at - 1].mode)
            continue;
        try_whole(e, c);
    }
}

/* Step `at` of `bits` and another behind it: rows that it ends decide its mode, those that have
 * more decide the next ones. */
static void try_more(infer_engine *e, infer_candidate *c, int at, int32_t bits, int64_t used)
{
    assay_steps *s = &c->rule.round;
    const int64_t most = shift_most(e, &c->rule);
    const bool merges = at > 1 || (at == 1 && c->rule.left_shift == ASSAY_LEFT_PRODUCT);
    for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++) {
        s->n = at + 2;
        s->step[at].bits = bits;
        s->step[at].mode = mode;
        s->step[at + 1].bits = 0;
        s->step[at + 1].mode = ASSAY_ROUND_FLOOR;
        if (merges && is_closed(mode) && mode == s->step[at - 1].mode)
            continue;
        if (!holds(e, c, used + bits))
            continue;
        if (used + bits >= most) { /* nothing is left for the next */
            try_whole(e, c);
            continue;
        }
        try_last(e, c, at + 1);
        for (int32_t next = 1; at == 0 && next < most - bits && next <= 63 && !infer_stop(e);
             next++)
            try_more(e, c, 1, next, bits);
    }
}

static void try_steps(infer_engine *e, infer_candidate *c)
{
    assay_steps *s = &c->rule.round;
    const int64_t most = shift_most(e, &c->rule);
    if (c->rule.pre_shift == ASSAY_PRE_REST) {
        for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++) {
            s->step[0].mode = mode;
            try_whole(e, c);
        }
        return;
    }
    if (s->n == 2) { /* the left shift has told the first step's bits */
        try_more(e, c, 0, s->step[0].bits, 0);
        return;
    }
    try_last(e, c, 0);
    for (int32_t bits = 1;
         c->rule.left_shift == ASSAY_LEFT_PRODUCT && bits < most && bits <= 63 && !infer_stop(e);
         bits++)
        try_more(e, c, 0, bits, 0);
}

void infer_find_steps(infer_engine *e)
{
    infer_list prefixes = e->list;
    e->list = (infer_list){0};
    e->work = 0;
    for (size_t i = 0; i < prefixes.n && !infer_stop(e); i++) {
        infer_candidate c = prefixes.item[i];
        infer_place(e, &c.rule);
        try_steps(e, &c);
    }
    free(prefixes.item);
}
