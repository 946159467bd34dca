/* Kind scale; see scale.h. */
#include "interp/infer/scale.h"

#include <math.h>

#include "interp/infer/check.h"
#include "interp/infer/drift.h"
#include "interp/infer/encoding.h"
#include "interp/infer/floats.h"
#include "interp/infer/limits.h"
#include "interp/infer/multiplier.h"
#include "interp/infer/places.h"
#include "interp/infer/prove.h"
#include "interp/infer/questions.h"

#define SMALL   1600 /* rows of each family */
#define ANY     1500
#define FEW     1000                /* rows for the first stage */
#define SOME    2500                /* for the second */
#define MAX_TRY 24                  /* encodings */
#define WORK    UINT64_C(600000000) /* of the searches behind them */

/* An encoding that says something of every R: until another is found. */
static void set_first_encoder(infer_task *t)
{
    infer_plain_rule(&t->encoder);
    t->encoder.multiplier_bits = 31;
    t->encoder.shift_max = 1100;
    t->live_lo = INFER_MIN_EXPONENT;
    t->live_hi = INFER_MAX_EXPONENT;
    t->multiplier_lo = 1;
    t->multiplier_hi = INT32_MAX;
    t->shift_lo = 0;
    t->shift_hi = 62;
}

/* ---- refusals of operands ---- */

/* Operands whose product with R is between -1 and 1: nothing behind it overflows. */
static void ask_operands(infer_task *t)
{
    const int bits = t->o->acc_bits;
    for (int i = 0; i < bits; i++)
        for (int64_t d = -1; d <= 1; d++)
            for (int sign = -1; sign <= 1; sign += 2) {
                const int64_t edge = i < 63 ? (INT64_C(1) << i) + d : INT64_MAX;
                infer_row row = {.acc = sign * (edge > infer_acc_max(t) ? infer_acc_max(t) : edge),
                                 .multiplier = 1};
                const int e = -i - 1 < t->live_lo ? t->live_lo : -i - 1;
                infer_set_scales(&t->random, &row, 1, e > t->live_hi ? t->live_hi : e);
                infer_encode_row(t, &row);
                infer_rows_add(&t->next, &row);
                infer_set_scales(&t->random, &row, 1, t->live_lo);
                infer_encode_row(t, &row);
                infer_rows_add(&t->next, &row);
                infer_set_scales(&t->random, &row, 0, 0);
                infer_encode_row(t, &row);
                infer_rows_add(&t->next, &row);
            }
}

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

static void find_inputs(infer_engine *e, bool floats)
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

/* ---- with an encoding ---- */

static assay_status take_all(infer_engine *e, assay_error *err)
{
    infer_encode_log(e->t);
    return infer_engine_take(e, e->t->log.row, e->t->log.n, err);
}

/* Rows for the first stages, which are told by values about 0: those, and a few others. */
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

/* What the rows' multipliers and shifts are. */
static void set_window(infer_engine *e)
{
    const infer_rule *k = &e->t->encoder;
    e->shift_lo = INT32_MAX;
    e->shift_hi = INT32_MIN;
    e->multiplier_lo = e->multiplier_hi = 0;
    uint64_t low = 0;
    for (size_t i = 0; i < e->n; i++) {
        const infer_row *row = &e->row[e->order[i]];
        low |= (uint64_t)row->multiplier;
        e->shift_lo = row->shift < e->shift_lo ? row->shift : e->shift_lo;
        e->shift_hi = row->shift > e->shift_hi ? row->shift : e->shift_hi;
        e->multiplier_lo = row->multiplier < e->multiplier_lo ? row->multiplier : e->multiplier_lo;
        e->multiplier_hi = row->multiplier > e->multiplier_hi ? row->multiplier : e->multiplier_hi;
    }
    e->zeros = low ? __builtin_ctzll(low) : 0;
    e->multiplier_bits = infer_bits_of(e->multiplier_hi);
    if (k->encoding == ASSAY_ENCODE_MULTIPLIER)
        e->multiplier_bits = k->multiplier_bits;
    if (k->encoding == ASSAY_ENCODE_SHIFT)
        e->multiplier_bits = 0;
    e->keep[0] = (infer_keep){k->multiplier_bits, k->reduced_bits, k->reduced_overflow};
    e->n_keep = 1;
}

static bool has_stage(const infer_engine *e, bool before)
{
    for (int i = 0; i < e->n_tails; i++)
        if (e->tail[i].before == before)
            return true;
    return false;
}

/* Rows that serve every encoding. */
static assay_status ask_chain(infer_engine *e, assay_error *err)
{
    infer_task *t = e->t;
    for (int before = 0; before < 2; before++) {
        if (!has_stage(e, before))
            continue;
        infer_ask_powers(t, before, t->next.n + SMALL);
        for (int i = 0; i < SMALL; i++) {
            const infer_row row = infer_small_row(t, before);
            infer_rows_add(&t->next, &row);
        }
    }
    for (int i = 0; i < ANY; i++) {
        const infer_row row = infer_any_row(t);
        infer_rows_add(&t->next, &row);
    }
    return infer_ask(t, err);
}

/* Rules with this encoding that agree with the rows it encodes. */
static assay_status find_with(infer_engine *e, const infer_rule *encoder, infer_rules *out,
                              assay_error *err)
{
    infer_task *t = e->t;
    t->encoder = *encoder;
    e->list.n = 0;
    assay_status s = take_all(e, err);
    if (s || e->n == 0)
        return s;
    set_window(e);
    if ((s = take_small(e, FEW, err)))
        return s;
    find_inputs(e, false);
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

/* The same, where R is out of range, too. */
static assay_status try_encoding(infer_engine *e, const infer_rule *encoder, infer_rules *out,
                                 assay_error *err)
{
    infer_task *t = e->t;
    assay_status s = find_with(e, encoder, out, err);
    if (!s && out->n > 0)
        s = infer_find_limits(t, out, err);
    if (!s && out->n > 0)
        s = infer_add_siblings(t, out, err);
    return !s && out->n > 0 ? infer_part_rules(t, out, err) : s;
}

/* One encoding after the other, the coarsest first, until rules are found with one. */
static assay_status try_encodings(infer_engine *e, bool bounded, infer_rules *out, assay_error *err)
{
    infer_encodings list = {0};
    assay_status s = infer_find_encodings(e->t, bounded, &list, err);
    e->t->complete &= !list.cut;
    for (size_t i = 0; i < list.n && out->n == 0 && !s; i++) {
        if (i >= MAX_TRY || infer_is_over(e->t)) {
            e->t->complete = false;
            break;
        }
        s = try_encoding(e, &list.item[i].rule, out, err);
    }
    /* reduced multipliers are not tried with limits among the rows' R: that of an encoding that is
     * left may agree */
    e->t->complete &= !bounded || list.n == 0 || out->n > 0;
    infer_encodings_free(&list);
    return s;
}

static assay_status find_rules(infer_engine *e, infer_rules *out, assay_error *err)
{
    if (e->n_ends == 0) /* operands of 0 contradict every record, whatever becomes of R */
        return ASSAY_OK;
    find_inputs(e, true);
    assay_status s = infer_find_floats(e, out, err);
    if (!s && out->n > 0)
        s = infer_part_rules(e->t, out, err);
    if (!s && out->n > 0)
        return infer_prove_floats(e->t, out, err);
    /* behind a spent budget much agrees, and it is a class whatever is found */
    e->t->work_max = e->t->work + (e->t->exhausted ? WORK / 16 : WORK);
    if (!s && out->n == 0)
        s = try_encodings(e, false, out, err);
    if (!s && out->n == 0)
        s = try_encodings(e, true, out, err);
    if (!s && out->n > 0) /* other encodings may agree, too */
        e->t->complete = false;
    return s;
}

assay_status infer_scale(infer_task *t, infer_rules *out, assay_error *err)
{
    infer_engine e;
    set_first_encoder(t);
    assay_status s = infer_engine_open(&e, t, err);
    if (!s)
        s = infer_find_taken(t, err);
    if (!s)
        s = infer_find_places(t, err);
    if (!s) {
        infer_ask_zeros(t);
        ask_operands(t);
        s = infer_ask(t, err);
    }
    if (!s)
        s = take_all(&e, err);
    if (!s)
        s = infer_find_ends(&e, err);
    if (!s)
        s = ask_chain(&e, err);
    infer_ask_drift(t);
    if (!s)
        s = infer_ask_limits(t, err);
    if (!s)
        s = find_rules(&e, out, err);
    if (!s)
        s = infer_rules_check(t, out, err);
    infer_engine_close(&e);
    return s;
}
