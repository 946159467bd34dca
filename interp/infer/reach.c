/* Bounds on the registers of a rule, and fields without effect; see reach.h. */
#include "interp/infer/reach.h"

#include <assert.h>

#include "graph/core/type.h"
#include "interp/infer/questions.h"
#include "schemes/round.h"

static assay_int128 power(int bits)
{
    return (assay_int128)1 << (bits < 120 ? bits : 120);
}

static void widen(infer_span *s, assay_int128 lo, assay_int128 hi)
{
    s->lo = lo < s->lo ? lo : s->lo;
    s->hi = hi > s->hi ? hi : s->hi;
}

/* An end of a span after the stages before the product, which preserve the order of operands. */
static assay_int128 multiplicand(const infer_rule *k, assay_int128 x, int64_t *shift, int64_t pre,
                                 bool has_pre, bool *lifts, infer_reach *r)
{
    const int64_t first = k->round.n > 1 ? k->round.step[0].bits : 0;
    if (has_pre)
        x = apply_pre_shift(k, x, pre);
    widen(&r->operand, x, x);
    if (k->operand_bits > 0)
        x = apply_saturate128(x, (unsigned)k->operand_bits);
    if (k->left_shift != ASSAY_LEFT_PRODUCT &&
        *shift < first) { /* a value that wraps may become any, so it counts as both limits */
        const assay_int128 far = apply_shift_left128(x, (unsigned)(first - *shift));
        widen(&r->lifted, far, far);
        *lifts = true;
        x = apply_shift_left_saturate(apply_saturate128(x, 32), (unsigned)(first - *shift), 32);
        *shift = first;
    }
    return x;
}

static assay_int128 at_shift(assay_int128 p, int64_t shift, enum assay_rounding mode)
{
    if (shift < 0)
        return apply_shift_left128(p, shift < -127 ? 127 : (unsigned)-shift);
    return assay_round_shift128(p, shift > 127 ? 127 : (unsigned)shift, mode);
}

static void reach_value(const infer_rule *k, assay_int128 p, int64_t shift, infer_reach *r)
{
    assay_int128 lo = p, hi = p;
    if (k->product_bits > 0 && p != apply_saturate128(p, (unsigned)k->product_bits)) {
        lo = -power(k->product_bits - 1);
        hi = power(k->product_bits - 1) - 1;
    }
    widen(&r->value, at_shift(lo, shift, ASSAY_ROUND_FLOOR), at_shift(hi, shift, ASSAY_ROUND_CEIL));
}

/* Widens the bounds by the product of an operand (perhaps a wrapped one) and a multiplier. */
static void reach_product(const infer_rule *k, assay_int128 x, int64_t m, int64_t shift, bool lifts,
                          infer_reach *r)
{
    const assay_int128 p = x * m;
    widen(&r->product, p, p);
    if (lifts)
        widen(&r->raised, p, p);
    reach_value(k, p, shift, r);
}

/* Widens the bounds by operands x.lo..x.hi with this multiplier and shift. */
static void reach_with(const infer_rule *k, infer_span x, const infer_placed *at, infer_reach *r)
{
    for (int i = 0; i < 2; i++) {
        const assay_int128 before = i ? x.hi : x.lo;
        int64_t left = at->shift;
        bool lifts = false;
        const assay_int128 operand =
            multiplicand(k, before, &left, at->pre, at->has_pre, &lifts, r);
        reach_product(k, operand, at->multiplier, left, lifts, r);
        if (lifts && (r->lifted.lo < -power(31) || r->lifted.hi >= power(31))) {
            reach_product(k, -power(31), at->multiplier, left, lifts, r);
            reach_product(k, power(31) - 1, at->multiplier, left, lifts, r);
        }
    }
}

static infer_span cut(infer_span x, int64_t bits)
{
    if (bits < 1)
        return (infer_span){0, 0};
    const assay_int128 max = power((int)(bits < 100 ? bits : 100) - 1);
    return (infer_span){x.lo < -max ? -max : x.lo, x.hi > max - 1 ? max - 1 : x.hi};
}

static void reach_of(const infer_rule *k, infer_span all, int64_t m, int32_t shift, infer_reach *r)
{
    const infer_row row = {.multiplier = m, .shift = shift};
    const infer_placed at = infer_placed_by(k, &row);
    reach_with(k, k->input_shift_range ? cut(all, at.shift + at.pre) : all, &at, r);
}

/* Widens the bounds by a multiplier and, if it overflows when it is reduced, by the greatest one
 * that does not, whose shift differs. */
static void reach_of_both(const infer_rule *k, infer_span all, int64_t m, int32_t shift,
                          infer_reach *r)
{
    reach_of(k, all, m, shift, r);
    if (k->reduced_bits == 0)
        return;
    assert(k->multiplier_bits >= 1 && k->multiplier_bits <= 32 &&
           k->multiplier_bits >= k->reduced_bits);
    const int64_t drop = INT64_C(1) << (k->multiplier_bits - k->reduced_bits);
    const int64_t max = (INT64_C(1) << k->multiplier_bits) - drop;
    if (m > max || m < -max)
        reach_of(k, all, m < 0 ? -max : max, shift, r);
}

int32_t infer_next_shift(const infer_engine *e, int32_t s)
{
    enum { SHIFT_MIN = -80, SHIFT_MAX = 160 };
    int32_t next = s + 1;
    if (s >= e->shift_hi)
        return next;
    if (next < SHIFT_MIN)
        next = SHIFT_MIN;
    return next > SHIFT_MAX || next > e->shift_hi ? e->shift_hi : next;
}

infer_reach infer_reach_of(const infer_engine *e, const infer_rule *k)
{
    const infer_task *t = e->t;
    const bool before = k->zero_point == ASSAY_STAGE_BEFORE;
    infer_reach r = {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}};
    infer_span all = {apply_int_min((unsigned)t->o->acc_bits), infer_acc_max(t)};
    if (before)
        all =
            (infer_span){all.lo - assay_elem_max(t->o->type), all.hi - assay_elem_min(t->o->type)};
    r.input = all;
    if (k->input_bits > 0)
        all = cut(all, k->input_bits);
    for (int32_t s = e->shift_lo; s <= e->shift_hi; s = infer_next_shift(e, s)) {
        reach_of_both(k, all, e->multiplier_lo, s, &r);
        reach_of_both(k, all, e->multiplier_hi, s, &r);
    }
    return r;
}

typedef struct zeros {
    int64_t lo, hi; /* the least and greatest number that is added */
} zeros;

static zeros zeros_of(const infer_options *o, const infer_rule *k)
{
    if (k->zero_point == ASSAY_STAGE_BEFORE)
        return (zeros){0, 0};
    return (zeros){assay_elem_min(o->type), assay_elem_max(o->type)};
}

/* Whether what saturates to `bits` saturates again afterwards to the same limits, in the sum or in
 * the type. */
static bool ends_again(const infer_options *o, const infer_rule *k, zeros z)
{
    assay_int128 lo = assay_elem_min(o->type), hi = assay_elem_max(o->type);
    if (k->sum_bits == 0 && k->store != ASSAY_STORE_SATURATE)
        return false;
    if (k->sum_bits > 0 && k->sum_overflow != ASSAY_NARROW_SATURATE)
        return false;
    if (k->sum_bits > 0) {
        const assay_int128 max = power(k->sum_bits - 1);
        const bool stops = k->store == ASSAY_STORE_SATURATE;
        lo = stops && lo > -max ? lo : -max;
        hi = stops && hi < max - 1 ? hi : max - 1;
    }
    return power(k->result_bits - 1) - 1 + z.lo >= hi && -power(k->result_bits - 1) + z.hi <= lo;
}

static bool result_is_idle(const infer_options *o, const infer_rule *k, infer_span v)
{
    const zeros z = zeros_of(o, k);
    if (k->result_bits == 0)
        return false;
    if (infer_holds(v, k->result_bits))
        return true;
    if (k->result_overflow == ASSAY_NARROW_SATURATE)
        return ends_again(o, k, z);
    if (k->result_overflow == ASSAY_NARROW_WRAP) /* only the low bits matter */
        return k->sum_bits > 0 && k->sum_overflow == ASSAY_NARROW_WRAP &&
               k->sum_bits <= k->result_bits;
    return k->sum_bits > 0 && k->sum_overflow == ASSAY_NARROW_REFUSE &&
           power(k->result_bits - 1) + z.lo > power(k->sum_bits - 1) - 1 &&
           -power(k->result_bits - 1) - 1 + z.hi < -power(k->sum_bits - 1);
}

static infer_span narrowed(infer_span v, int32_t bits, int32_t how)
{
    if (bits == 0 || infer_holds(v, bits))
        return v;
    return how == ASSAY_NARROW_WRAP ? (infer_span){-power(bits - 1), power(bits - 1) - 1}
                                    : cut(v, bits);
}

static bool sum_is_idle(const infer_options *o, const infer_rule *k, infer_span sum)
{
    const int32_t holds_codes = (int32_t)o->type.bits + !o->type.is_signed;
    if (k->sum_bits == 0)
        return false;
    if (k->zero_point == ASSAY_STAGE_BEFORE || infer_holds(sum, k->sum_bits))
        return true;
    return k->sum_overflow == ASSAY_NARROW_SATURATE && k->store == ASSAY_STORE_SATURATE &&
           k->sum_bits >= holds_codes;
}

bool infer_leave_out(const infer_options *o, infer_rule *k, const infer_reach *r)
{
    const zeros z = zeros_of(o, k);
    const infer_span n = narrowed(r->value, k->result_bits, k->result_overflow);
    const infer_span sum = {n.lo + z.lo, n.hi + z.hi};
    const infer_span end = narrowed(sum, k->sum_bits, k->sum_overflow);
    if (result_is_idle(o, k, r->value)) {
        k->result_bits = 0;
        k->result_overflow = ASSAY_NARROW_SATURATE;
    } else if (sum_is_idle(o, k, sum)) {
        k->sum_bits = 0;
        k->sum_overflow = ASSAY_NARROW_WRAP;
    } else if (k->store == ASSAY_STORE_WRAP && end.lo >= assay_elem_min(o->type) &&
               end.hi <= assay_elem_max(o->type)) {
        k->store = ASSAY_STORE_SATURATE;
    } else {
        return false;
    }
    return true;
}

static bool left_is_idle(const infer_rule *k, const infer_reach *r)
{
    return k->left_shift != ASSAY_LEFT_PRODUCT && infer_holds(r->lifted, 32) &&
           (k->product_bits == 0 || infer_holds(r->raised, k->product_bits));
}

bool infer_leave_out_before(const infer_engine *e, infer_rule *k, const infer_reach *r)
{
    const int32_t drop = k->reduced_bits > 0 ? k->multiplier_bits - k->reduced_bits + 1 : 0;
    const int32_t min = e->shift_lo - drop;
    if (k->operand_bits > 0 && infer_holds(r->operand, k->operand_bits))
        k->operand_bits = 0;
    else if (k->product_bits > 0 && infer_holds(r->product, k->product_bits))
        k->product_bits = 0;
    else if (left_is_idle(k, r))
        k->left_shift = ASSAY_LEFT_PRODUCT;
    else if (k->input_bits > 0 && infer_holds(r->input, k->input_bits))
        k->input_bits = 0;
    else if (k->input_bits > 0 && k->input_shift_range && e->shift_hi <= k->input_bits)
        k->input_bits = 0; /* every shift refuses more than this width */
    else if (k->input_shift_range && min > 0 && min < 100 && infer_holds(r->input, min))
        k->input_shift_range = 0;
    else
        return false;
    return true;
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
    return infer_leave_out_before(e, &widest, &r);
}
