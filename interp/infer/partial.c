/* Incomplete candidates compared with rows; see engine.h. */
#include "interp/infer/engine.h"
#include "schemes/apply/tail.h"

infer_placed infer_placed_by(const infer_rule *k, const infer_row *row)
{
    const assay_encoded e = {row->multiplier, row->shift, row->pre};
    infer_placed p;
    derive_place_encoded(k, &e, &p.multiplier, &p.shift, &p.pre);
    p.has_pre = k->pre_shift != ASSAY_PRE_NONE || k->encoding == ASSAY_ENCODE_GLOW;
    return p;
}

/* The rounded value, before it is narrowed; the rule has no result_bits. */
static assay_int128 value(const infer_rule *k, const infer_row *row, const infer_placed *p)
{
    const assay_rescale r = {.rule = k,
                             .n = 1,
                             .multiplier = &p->multiplier,
                             .shift = &p->shift,
                             .pre = p->has_pre ? &p->pre : NULL,
                             .zero_point = row->zp};
    return apply_rescale_value(&r, row->acc, 0);
}

assay_int128 infer_partial_value(const infer_rule *k, const infer_row *row)
{
    const infer_placed p = infer_placed_by(k, row);
    return value(k, row, &p);
}

enum match { NO, YES, OPEN };

/* What an end makes of a rounded value. */
static enum match code_of(const infer_engine *e, int tail, enum infer_form form, assay_int128 v,
                          int32_t zp, int64_t *code)
{
    const infer_tail *t = &e->tail[tail];
    if (form == INFER_WIDE && (v < -2 || v > 1))
        return OPEN;
    if (form == INFER_BIT_REFUSES && (v < -1 || v > 0)) {
        *code = INFER_REFUSED;
        return YES;
    }
    if (form != INFER_WIDE)
        v = apply_narrow128(v, 1,
                            form == INFER_BIT_WRAPS ? ASSAY_NARROW_WRAP : ASSAY_NARROW_SATURATE);
    const int64_t sum = (int64_t)v + (t->before ? 0 : zp) - INFER_MIN_TAIL;
    if (sum < 0 || sum >= INFER_TAIL_N)
        return OPEN;
    *code = t->code[sum];
    return YES;
}

bool infer_partial_answer(const infer_engine *e, const infer_candidate *c, const infer_row *row,
                          int64_t *code)
{
    const infer_placed p = infer_placed_by(&c->rule, row);
    return code_of(e, c->tail, c->form, value(&c->rule, row, &p), row->zp, code) == YES;
}

/* Whether one of the extremes gives the answer. */
static enum match explains(const infer_engine *e, const infer_partial *p, size_t at)
{
    const infer_row *row = &e->row[at];
    for (int i = 0; i < p->n; i++) {
        const assay_int128 v = value(&p->rule[i], row, &e->placed[at]);
        int64_t code;
        if (code_of(e, p->tail, p->form, v, row->zp, &code) == OPEN)
            return OPEN;
        if (code == row->answer)
            return YES;
        if (row->answer == INFER_REFUSED) /* perhaps because of its operand */
            return OPEN;
    }
    return NO;
}

/* Bits of the operand in the product, not counting the sign. */
static int operand_bits(const infer_rule *k, const infer_row *row, const infer_placed *at)
{
    const bool before = k->zero_point == ASSAY_STAGE_BEFORE;
    assay_int128 x = (assay_int128)row->acc - (before ? row->zp : 0);
    if (at->has_pre)
        x = apply_pre_shift(k, x, at->pre);
    const int64_t held = apply_saturate128(x, k->operand_bits > 0 ? (unsigned)k->operand_bits : 64);
    return held == x || k->operand_bits > 0 ? infer_bits_of(held < 0 ? ~held : held) : 64;
}

void infer_place(infer_engine *e, const infer_rule *k)
{
    for (size_t i = 0; i < e->n; i++) {
        const infer_row *row = &e->row[e->order[i]];
        infer_placed *at = &e->placed[e->order[i]];
        *at = infer_placed_by(k, row);
        at->operand_bits = operand_bits(k, row, at);
    }
}

/* Whether the open fields make no difference to this row. An operand that is shifted left and stays
 * within 32 bits has the same effect as a shifted product, as long as no narrow product wraps. */
static bool is_told(const infer_partial *p, const infer_placed *at)
{
    const int32_t product_bits = p->rule[0].product_bits;
    const int64_t left = p->first_max - at->shift;
    return !p->left_open || left <= 0 ||
           (at->operand_bits + left < 32 &&
            (product_bits == 0 ||
             infer_bits_of(at->multiplier) + at->operand_bits + left < product_bits));
}

bool infer_partial_holds(infer_engine *e, const infer_partial *p)
{
    size_t *order = e->order;
    for (size_t i = 0; i < e->n; i++) {
        const size_t at = order[i];
        if (!is_told(p, &e->placed[at]))
            continue;
        e->t->work++;
        if (explains(e, p, at) != NO)
            continue;
        order[i] = order[i / 2];
        order[i / 2] = order[0];
        order[0] = at;
        return false;
    }
    return true;
}

bool infer_keep_holds(const infer_engine *e, const infer_rule *k)
{
    for (size_t i = 0; i < e->n; i++) {
        const infer_row *row = &e->row[e->order[i]];
        bool explained = row->answer == INFER_REFUSED || infer_placed_by(k, row).multiplier != 0;
        for (int tail = 0; tail < e->n_tails && !explained; tail++) {
            int64_t code;
            explained =
                code_of(e, tail, INFER_WIDE, 0, row->zp, &code) == OPEN || code == row->answer;
        }
        if (!explained)
            return false;
    }
    return true;
}

static void set_steps(infer_rule *k, int32_t mode)
{
    for (int i = 0; i < k->round.n; i++)
        k->round.step[i].mode = mode;
}

void infer_partial_start(infer_partial *p, const infer_candidate *c, bool steps_open)
{
    *p = (infer_partial){.tail = c->tail, .form = c->form};
    p->rule[p->n++] = c->rule;
    if (!steps_open)
        return;
    set_steps(&p->rule[0], ASSAY_ROUND_FLOOR);
    p->rule[p->n] = c->rule;
    set_steps(&p->rule[p->n++], ASSAY_ROUND_CEIL);
}
