/* The ends of rules: zero point, sum and store; see engine.h. */
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "interp/infer/engine.h"

int32_t infer_small_zero(const infer_options *o, bool before)
{
    return before || o->type.is_signed ? 0 : 2;
}

static void set_end(infer_rule *k, const infer_end *e)
{
    k->zero_point = e->zero_point;
    k->sum_bits = e->sum_bits;
    k->sum_overflow = e->sum_overflow;
    k->store = e->store;
}

/* Sets up a model for rows with a multiplier and a shift, whatever the kind of the search. */
static void start(const infer_engine *e, const infer_rule *k, infer_model *m)
{
    infer_options plain = *e->t->o;
    plain.kind = INFER_MULTIPLIER;
    infer_model_start(m, k, &plain);
}

/* Whether the row's operand is 0, and so its rounded value. */
static bool is_zero_row(const infer_row *r, bool before)
{
    return r->acc == (before ? r->zp : 0);
}

static bool agrees(const infer_engine *e, const infer_end *end)
{
    infer_model m;
    infer_rule k;
    infer_plain_rule(&k);
    set_end(&k, end);
    start(e, &k, &m);
    for (size_t i = 0; i < e->n; i++) {
        const infer_row *row = &e->row[e->order[i]];
        if (is_zero_row(row, end->zero_point == ASSAY_STAGE_BEFORE) &&
            infer_answer(&m, row) != row->answer)
            return false;
    }
    return true;
}

static void small_codes(const infer_engine *e, const infer_end *end, infer_tail *t)
{
    infer_model m;
    infer_rule k;
    infer_plain_rule(&k);
    set_end(&k, end);
    start(e, &k, &m);
    memset(t, 0, sizeof *t);
    t->before = end->zero_point == ASSAY_STAGE_BEFORE;
    for (int i = 0; i < INFER_TAIL_N; i++) {
        const infer_row row = {.acc = INFER_MIN_TAIL + i, .multiplier = 1};
        t->code[i] = infer_answer(&m, &row);
    }
}

/* The number of the class to which an end belongs. */
static int class_of(infer_engine *e, const infer_end *end)
{
    infer_tail t;
    small_codes(e, end, &t);
    for (int i = 0; i < e->n_tails; i++)
        if (memcmp(&e->tail[i], &t, sizeof t) == 0)
            return i;
    e->tail[e->n_tails] = t;
    return e->n_tails++;
}

static void try_end(infer_engine *e, infer_end end)
{
    if (!agrees(e, &end))
        return;
    end.tail = class_of(e, &end);
    e->end[e->n_ends++] = end;
}

/* A saturating sum that holds every code has no effect if the type saturates too. */
static bool is_idle(const infer_engine *e, int32_t bits, int32_t how, int32_t store)
{
    const int32_t holds = (int32_t)e->t->o->type.bits + !e->t->o->type.is_signed;
    return how == ASSAY_NARROW_SATURATE && store == ASSAY_STORE_SATURATE && bits >= holds;
}

#define MAX_ENDS 200 /* 2 stores, 32 widths, 3 ways to narrow; and those without a sum */

assay_status infer_find_ends(infer_engine *e, assay_error *err)
{
    static const int32_t stores[] = {ASSAY_STORE_SATURATE, ASSAY_STORE_WRAP};
    static const int32_t ways[] = {ASSAY_NARROW_WRAP, ASSAY_NARROW_SATURATE, ASSAY_NARROW_REFUSE};
    e->end = malloc(MAX_ENDS * sizeof *e->end);
    e->tail = malloc(MAX_ENDS * sizeof *e->tail);
    if (!e->end || !e->tail)
        return assay_out_of_memory_for(err, "the ends of rules");
    for (int s = 0; s < 2; s++) {
        try_end(e, (infer_end){ASSAY_STAGE_BEFORE, 0, ASSAY_NARROW_WRAP, stores[s], 0});
        try_end(e, (infer_end){ASSAY_STAGE_AFTER, 0, ASSAY_NARROW_WRAP, stores[s], 0});
        for (int32_t bits = 1; bits <= 32; bits++)
            for (int w = 0; w < 3; w++)
                if (!is_idle(e, bits, ways[w], stores[s]))
                    try_end(e, (infer_end){ASSAY_STAGE_AFTER, bits, ways[w], stores[s], 0});
    }
    return ASSAY_OK;
}

/* ---- refusals of operands ---- */

static bool inputs_agree(const infer_engine *e, const infer_inputs *in)
{
    infer_rule k;
    infer_model m;
    infer_plain_rule(&k);
    k.input_bits = in->bits;
    k.input_shift_range = in->by_shift;
    start(e, &k, &m);
    for (size_t i = 0; i < e->n; i++) {
        const infer_row *row = &e->row[e->order[i]];
        if (row->multiplier == 0 && row->zp == 0 &&
            (infer_answer(&m, row) == INFER_REFUSED) != (row->answer == INFER_REFUSED))
            return false;
    }
    return true;
}

void infer_find_inputs(infer_engine *e)
{
    const infer_options *o = e->t->o;
    const int32_t wide = o->acc_bits > (int)o->type.bits ? o->acc_bits : (int32_t)o->type.bits;
    const int32_t max = wide + 1 < 62 ? wide + 1 : 62; /* one bit for the subtracted zero point */
    e->n_inputs = 0;
    for (int by_shift = 0; by_shift < 2; by_shift++)
        for (int32_t bits = 0; bits <= max; bits++) {
            const infer_inputs in = {bits, by_shift};
            if (inputs_agree(e, &in))
                e->inputs[e->n_inputs++] = in;
        }
}
