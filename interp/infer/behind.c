/* Rules that follow an encoding of R; see behind.h. */
#include "interp/infer/behind.h"

#include <math.h>
#include <stdlib.h>

#include "graph/memory.h"

#include "interp/infer/check.h"
#include "interp/infer/encoding.h"
#include "interp/infer/formed.h"
#include "interp/infer/limits.h"
#include "interp/infer/modes.h"
#include "interp/infer/multiplier.h"
#include "interp/infer/twins.h"

#define FEW     1000 /* rows for the first stage of the search */
#define SOME    2500 /* rows for the second stage */
#define TIED    2    /* encodings for which rows at ties are asked */
#define ROUNDS  6
#define MAX_TRY 200                 /* encodings tried at most */
#define WORK    UINT64_C(600000000) /* of all searches behind these encodings */

/* ---- refusals of operands ---- */

/* Whether the rule that was encoded refuses the row's operand. */
static bool is_refused(const infer_task *t, const infer_inputs *in, const infer_row *row)
{
    const assay_encoded e = {row->multiplier, row->shift, row->pre};
    int64_t multiplier, shift, pre;
    if (in->bits > 0 && row->acc != apply_saturate(row->acc, (unsigned)in->bits))
        return true;
    if (!in->by_shift || !row->live)
        return false;
    derive_place_encoded(&t->encoder, &e, &multiplier, &shift, &pre);
    shift += pre;
    return shift < 1 ? row->acc != 0
                     : shift < 64 && row->acc != apply_saturate(row->acc, (unsigned)shift);
}

static bool inputs_agree(const infer_task *t, const infer_inputs *in)
{
    for (size_t i = 0; i < t->log.n; i++) {
        const infer_row *row = &t->log.row[i];
        const bool refused = row->answer == INFER_REFUSED;
        const double value = (double)row->acc * infer_real(row);
        if (row->zp != 0 || (!row->live && infer_real(row) != 0))
            continue;
        if (infer_real(row) == 0 && (in->by_shift || refused)) /* R itself may be refused */
            continue;
        if (is_refused(t, in, row) ? !refused : refused && value > -0.75 && value <= 0)
            return false;
    }
    return true;
}

void infer_find_inputs_of(infer_engine *e, bool floats)
{
    const int32_t max = e->t->o->acc_bits < 62 ? e->t->o->acc_bits : 62;
    e->n_inputs = 0;
    for (int by_shift = 0; by_shift < (floats ? 1 : 2); by_shift++)
        for (int32_t bits = 0; bits <= max; bits++) {
            const infer_inputs in = {bits, by_shift};
            if (e->n_inputs < INFER_MAX_INPUTS && inputs_agree(e->t, &in))
                e->inputs[e->n_inputs++] = in;
        }
}

/* ---- the search behind one encoding ---- */

static assay_status take_all(infer_engine *e, assay_error *err)
{
    infer_encode_log(e->t);
    return infer_engine_take(e, e->t->log.row, e->t->log.n, err);
}

/* Rows for the first stages, which need rounded values near 0: these, and a few others. */
static assay_status take_small(infer_engine *e, size_t max, assay_error *err)
{
    size_t n = 0, small = 0, others = 0;
    infer_encode_log(e->t);
    const assay_status s = infer_engine_take(e, e->t->log.row, e->t->log.n, err);
    for (size_t i = 0; i < e->n && !s; i++) {
        const infer_row *row = &e->row[e->order[i]];
        const bool near = fabs((double)row->acc * infer_real(row)) < 4;
        if (near ? small++ < max : others++ < max / 4)
            e->order[n++] = e->order[i];
    }
    e->n = s ? 0 : n;
    return s;
}

/* Sets the window to the multipliers and shifts of the rows; for an encoding with multipliers, to
 * those of the domain. */
static void set_window(infer_engine *e)
{
    const infer_rule *k = &e->t->encoder;
    uint64_t low = 0;
    infer_set_domain(e, k);
    for (size_t i = 0; i < e->n; i++)
        low |= (uint64_t)e->row[e->order[i]].multiplier;
    e->zeros = low ? __builtin_ctzll(low) : 0;
    e->keep[0] = (infer_keep){k->multiplier_bits, k->reduced_bits, k->reduced_overflow};
    e->n_keep = 1;
}

/* Complete rules that agree with the rows of the core. */
static assay_status find_in_core(infer_engine *e, infer_rules *out, assay_error *err)
{
    assay_status s = take_small(e, FEW, err);
    if (s || e->n == 0)
        return s;
    infer_find_inputs_of(e, false);
    infer_find_prefixes(e);
    if ((s = take_small(e, SOME, err)))
        return s;
    infer_find_steps(e);
    if (e->list.n > 0)
        s = infer_part_candidates(e, err);
    if (!s && e->list.n > 0)
        s = take_all(e, err);
    return !s && e->list.n > 0 ? infer_finish(e, out, err) : s;
}

/* Appends the rules with this encoding that agree with the rows of its core. */
static assay_status find_with(infer_engine *e, const infer_rule *encoder, infer_rules *out,
                              assay_error *err)
{
    infer_task *t = e->t;
    const int core = infer_core_of(t);
    t->encoder = *encoder;
    e->list.n = 0;
    assay_status s = take_all(e, err);
    if (s || e->n == 0)
        return s;
    set_window(e);
    t->live_lo += core;
    t->core = true;
    s = find_in_core(e, out, err);
    t->core = false;
    t->live_lo -= core;
    return s;
}

/* The same, where rows outside the domain contradict all of those: there a left shift may begin. */
static assay_status find_with_firsts(infer_engine *e, const infer_rule *encoder, infer_rules *out,
                                     assay_error *err)
{
    e->firsts = true;
    assay_status s = find_with(e, encoder, out, err);
    e->firsts = false;
    return !s && out->n > 0 ? infer_find_limits(e->t, out, err) : s;
}

/* The same, then checked against all rows, whatever their R. */
static assay_status try_encoding(infer_engine *e, const infer_rule *k, bool *agrees,
                                 infer_rules *out, assay_error *err)
{
    infer_task *t = e->t;
    infer_rules found = {0};
    assay_status s = find_with(e, k, &found, err);
    const bool any = found.n > 0;
    *agrees |= any || k->shift_max < INFER_MAX_SHIFT;
    if (!s && any)
        s = infer_find_limits(t, &found, err);
    if (!s && any && found.n == 0)
        s = find_with_firsts(e, k, &found, err);
    if (!s && found.n > 0)
        s = infer_part_rules(t, &found, err);
    if (!s && found.n > 0 && t->complete) /* where a search was cut, all are listed */
        s = infer_keep_distinct(e, &found, err);
    for (size_t i = 0; i < found.n && !s; i++)
        s = infer_rules_keep(out, &found.rule[i]) ? ASSAY_OK : assay_out_of_memory(err);
    infer_rules_free(&found);
    return s;
}

/* Whether an encoding earlier in the list has the same core. */
static bool is_known(const infer_encodings *l, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (l->item[i].core == l->item[at].core)
            return true;
    return false;
}

/* The encodings that were tried, one per core. */
typedef struct tried {
    infer_rule rule[MAX_TRY];
    size_t n;
    bool any; /* some rule agrees with a core, or some encoding has limits inside the core: that
                 none agrees is then uncertain */
} tried;

/* Tries the encodings in turn, the coarsest first. */
static assay_status try_list(infer_engine *e, const infer_encodings *list, tried *all,
                             infer_rules *out, assay_error *err)
{
    infer_task *t = e->t;
    assay_status s = ASSAY_OK;
    t->complete &= !list->cut;
    for (size_t i = 0; i < list->n && !s; i++) {
        if (is_known(list, i))
            continue;
        /* where a list was cut the verdict is a class anyway: no need to go on */
        if (all->n >= MAX_TRY || infer_is_over(t) || (out->n > 0 && !t->complete)) {
            t->complete = false;
            break;
        }
        all->rule[all->n++] = list->item[i].rule;
        s = try_encoding(e, &list->item[i].rule, &all->any, out, err);
    }
    return s;
}

/* Asks rows at ties of the coarsest encodings, the likeliest ones. */
static assay_status ask_ties(infer_task *t, assay_error *err)
{
    infer_encodings list = {0};
    assay_status s = infer_find_encodings(t, false, &list, err);
    for (size_t i = 0; i < list.n && i < TIED && !t->powers; i++)
        infer_ask_ties(t, &list.item[i].rule);
    infer_encodings_free(&list);
    return s ? s : infer_ask(t, err);
}

/* Repeats until every core that no row contradicts was tried: each search asks more rows, which may
 * split a core in two. */
static assay_status try_encodings(infer_engine *e, tried *all, infer_rules *out, assay_error *err)
{
    infer_task *t = e->t;
    bool bounded = false;
    assay_status s = ASSAY_OK;
    for (int round = 0; round < ROUNDS; round++) {
        infer_encodings list = {.known = all->rule, .n_known = all->n};
        s = infer_find_encodings(t, false, &list, err);
        if (!s && bounded)
            s = infer_find_encodings(t, true, &list, err);
        const size_t n = list.n;
        if (!s)
            s = try_list(e, &list, all, out, err);
        infer_encodings_free(&list);
        if (s || (n == 0 && bounded) || (out->n > 0 && !t->complete))
            return s;
        bounded |= n == 0;
    }
    t->complete = false;
    return s;
}

/* Whether logarithms give the same exponents. They miss only R within 2^-47 of a power of two; no
 * quotient of two float32 is that near, and R rounded to the power is not missed unless it is
 * rounded to one side. (Without renormalisation, powers that they miss are refused.) */
static bool is_same_by_log(const infer_rule *k)
{
    return !k->exponent_by_log && (k->scale != ASSAY_FORM_DOUBLE || !k->multiplier_renormalise ||
                                   infer_is_nearest_mode(k->multiplier_round));
}

/* Whether the rules that were compared are all there are. R of 24 bits also have multipliers of 25
 * to 32 bits, whose limits of shifts are not tried; and few rows have a negative R. */
static bool is_told(const infer_task *t, const infer_rule *k)
{
    return k->encoding == ASSAY_ENCODE_MULTIPLIER && !t->powers && !t->exhausted &&
           !k->negative_scale && !infer_is_single(k) && is_same_by_log(k);
}

assay_status infer_find_behind(infer_engine *e, infer_rules *out, assay_error *err)
{
    infer_task *t = e->t;
    static _Thread_local tried all; /* too large for the stack */
    /* with the budget spent, many rules agree, and the verdict is a class whatever is found */
    t->work_max = t->work + (t->exhausted ? WORK / 16 : WORK);
    all.n = 0;
    all.any = false;
    assay_status s = ask_ties(t, err);
    if (!s)
        s = try_encodings(e, &all, out, err);
    if (!s && out->n > 0 && t->complete)
        s = infer_keep_distinct(e, out, err);
    if (!s && out->n > 0 && t->complete)
        s = infer_add_twins(t, out, err);
    if (!s && out->n > 1 && t->complete)
        s = infer_keep_distinct(e, out, err);
    if (!s && out->n > 1 && t->complete)
        s = infer_part_twins(t, out, err);
    if (!s && out->n > 0 && t->complete)
        s = infer_keep_distinct(e, out, err);
    t->complete &= out->n > 0 || !all.any;
    t->one &= out->n == 1 && t->complete && is_told(t, &out->rule[0]);
    return s;
}
