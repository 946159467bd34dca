/* Narrowings of a rule that do nothing; see reach.h.
 *
 *   range     a register that holds all that reaches it
 *   ends      saturation to a register whose ends saturate again, to the same ends, behind the sum
 *   low bits  wrapping to b bits before a sum that wraps to as many or fewer
 *   refused   refusing what a narrower sum refuses as well
 */
#include "interp/infer/reach.h"

#include "graph/core/type.h"
#include "interp/infer/questions.h"
#include "schemes/apply/round.h"

static assay_int128 power(int bits)
{
    return (assay_int128)1 << (bits < 120 ? bits : 120);
}

static void widen(infer_span *s, assay_int128 lo, assay_int128 hi)
{
    s->lo = lo < s->lo ? lo : s->lo;
    s->hi = hi > s->hi ? hi : s->hi;
}

/* An end of a span, and what a rule makes of it: every stage keeps the order of operands. */
static assay_int128 multiplicand(const infer_rule *k, assay_int128 x, int64_t *shift, int64_t pre,
                                 bool has_pre, infer_reach *r)
{
    const int64_t first = k->round.n > 1 ? k->round.step[0].bits : 0;
    if (has_pre)
        x = apply_pre_shift(k, x, pre);
    widen(&r->operand, x, x);
    if (k->operand_bits > 0)
        x = apply_saturate128(x, (unsigned)k->operand_bits);
    if (k->left_shift != ASSAY_LEFT_PRODUCT && *shift < first) { /* what wraps goes to the ends */
        const assay_int128 far = apply_shift_left128(x, (unsigned)(first - *shift));
        widen(&r->lifted, far, far);
        x = apply_shift_left_saturate(apply_saturate128(x, 32), (unsigned)(first - *shift), 32);
        *shift = first;
    }
    return x;
}

static assay_int128 at_shift(assay_int128 p, int64_t shift, enum assay_rounding mode)
{
    if (shift < 0)
        return apply_shift_left128(p, shift < -127 ? 127 : (unsigned)-shift);
    return apply_round_shift128(p, shift > 127 ? 127 : (unsigned)shift, mode);
}

/* Operands x.lo..x.hi with this multiplier and shift. */
static void reach_with(const infer_rule *k, infer_span x, int64_t m, int64_t shift, infer_reach *r)
{
    const assay_encoded e = {m, shift, 0};
    const bool has_pre = k->pre_shift != ASSAY_PRE_NONE;
    int64_t multiplier, rest, pre;
    derive_place_encoded(k, &e, &multiplier, &rest, &pre);
    for (int i = 0; i < 2; i++) {
        int64_t left = rest;
        assay_int128 p = multiplicand(k, i ? x.hi : x.lo, &left, pre, has_pre, r);
        p *= multiplier;
        widen(&r->product, p, p);
        if (k->product_bits > 0 && p != apply_saturate128(p, (unsigned)k->product_bits)) {
            const assay_int128 most = power(k->product_bits - 1);
            widen(&r->value, at_shift(-most, left, ASSAY_ROUND_FLOOR),
                  at_shift(most - 1, left, ASSAY_ROUND_CEIL));
        } else {
            widen(&r->value, at_shift(p, left, ASSAY_ROUND_FLOOR),
                  at_shift(p, left, ASSAY_ROUND_CEIL));
        }
    }
}

static infer_span cut(infer_span x, int64_t bits)
{
    if (bits < 1)
        return (infer_span){0, 0};
    const assay_int128 most = power((int)(bits < 100 ? bits : 100) - 1);
    return (infer_span){x.lo < -most ? -most : x.lo, x.hi > most - 1 ? most - 1 : x.hi};
}

#define SHIFTS 160 /* behind so many more nothing is greater */

infer_reach infer_reach_of(const infer_engine *e, const infer_rule *k)
{
    const infer_task *t = e->t;
    const bool before = k->zero_point == ASSAY_STAGE_BEFORE;
    infer_reach r = {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}};
    infer_span all = {apply_int_min((unsigned)t->o->acc_bits), infer_acc_max(t)};
    if (before)
        all =
            (infer_span){all.lo - assay_elem_max(t->o->type), all.hi - assay_elem_min(t->o->type)};
    r.input = all;
    if (k->input_bits > 0)
        all = cut(all, k->input_bits);
    for (int32_t s = e->shift_lo; s <= e->shift_hi && s <= e->shift_lo + SHIFTS; s++)
        for (int i = 0; i < 2; i++) {
            const int64_t m = i ? e->multiplier_hi : e->multiplier_lo;
            const assay_encoded given = {m, s, 0};
            int64_t multiplier, rest, pre;
            derive_place_encoded(k, &given, &multiplier, &rest, &pre);
            reach_with(k, k->input_shift_range ? cut(all, rest + pre) : all, m, s, &r);
        }
    return r;
}

static bool holds(infer_span x, int32_t bits)
{
    return x.lo >= -power(bits - 1) && x.hi <= power(bits - 1) - 1;
}

typedef struct zeros {
    int64_t lo, hi; /* of what is added */
} zeros;

static zeros zeros_of(const infer_options *o, const infer_rule *k)
{
    if (k->zero_point == ASSAY_STAGE_BEFORE)
        return (zeros){0, 0};
    return (zeros){assay_elem_min(o->type), assay_elem_max(o->type)};
}

/* Ends: what saturates to `bits` and is then brought to a sum or a type that saturates. */
static bool ends_again(const infer_options *o, const infer_rule *k, zeros z)
{
    assay_int128 lo = assay_elem_min(o->type), hi = assay_elem_max(o->type);
    if (k->sum_bits == 0 && k->store != ASSAY_STORE_SATURATE)
        return false;
    if (k->sum_bits > 0 && k->sum_overflow != ASSAY_NARROW_SATURATE)
        return false;
    if (k->sum_bits > 0) {
        const assay_int128 most = power(k->sum_bits - 1);
        const bool stops = k->store == ASSAY_STORE_SATURATE;
        lo = stops && lo > -most ? lo : -most;
        hi = stops && hi < most - 1 ? hi : most - 1;
    }
    return power(k->result_bits - 1) - 1 + z.lo >= hi && -power(k->result_bits - 1) + z.hi <= lo;
}

static bool result_is_idle(const infer_options *o, const infer_rule *k, infer_span v)
{
    const zeros z = zeros_of(o, k);
    if (holds(v, k->result_bits))
        return true;
    if (k->result_overflow == ASSAY_NARROW_SATURATE)
        return ends_again(o, k, z);
    if (k->result_overflow == ASSAY_NARROW_WRAP)
        return k->sum_bits > 0 && k->sum_overflow == ASSAY_NARROW_WRAP &&
               k->sum_bits <= k->result_bits;
    return k->sum_bits > 0 && k->sum_overflow == ASSAY_NARROW_REFUSE &&
           power(k->result_bits - 1) + z.lo > power(k->sum_bits - 1) - 1 &&
           -power(k->result_bits - 1) - 1 + z.hi < -power(k->sum_bits - 1);
}

static infer_span narrowed(const infer_rule *k, infer_span v)
{
    return k->result_bits == 0 ? v : cut(v, k->result_bits);
}

bool infer_is_idle(const infer_options *o, const infer_rule *k, const infer_reach *r)
{
    const zeros z = zeros_of(o, k);
    const infer_span n = narrowed(k, r->value);
    if (k->result_bits > 0 && result_is_idle(o, k, r->value))
        return true;
    return k->sum_bits > 0 && k->zero_point == ASSAY_STAGE_AFTER &&
           holds((infer_span){n.lo + z.lo, n.hi + z.hi}, k->sum_bits);
}

bool infer_is_idle_before(const infer_engine *e, const infer_rule *k, const infer_reach *r)
{
    const int32_t drop = k->reduced_bits > 0 ? k->multiplier_bits - k->reduced_bits + 1 : 0;
    return (k->operand_bits > 0 && holds(r->operand, k->operand_bits)) ||
           (k->product_bits > 0 && holds(r->product, k->product_bits)) ||
           (k->left_shift != ASSAY_LEFT_PRODUCT && k->product_bits == 0 && holds(r->lifted, 32)) ||
           (k->input_bits > 0 && holds(r->input, k->input_bits)) ||
           (k->input_shift_range && e->shift_lo - drop > 0 && e->shift_lo - drop < 100 &&
            holds(r->input, e->shift_lo - drop));
}

bool infer_is_idle_open(const infer_engine *e, const infer_rule *k)
{
    infer_rule widest = *k;
    widest.input_shift_range = e->n_inputs > 0;
    for (int i = 0; i < e->n_inputs; i++) {
        const infer_inputs *in = &e->inputs[i];
        widest.input_shift_range &= in->by_shift;
        if (i == 0 || in->bits == 0 || (widest.input_bits > 0 && in->bits > widest.input_bits))
            widest.input_bits = in->bits;
    }
    const infer_reach r = infer_reach_of(e, &widest);
    widest.input_bits = widest.input_shift_range = 0;
    return infer_is_idle_before(e, &widest, &r);
}
