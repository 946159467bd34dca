/* One rule on a box; see passage.h. Every stage preserves the order of operands, and of multipliers
 * of one sign, except registers that wrap: after one that overflows any value is possible. */
#include "interp/infer/passage.h"

#include <string.h>

#include "graph/core/type.h"
#include "interp/infer/modes.h"
#include "interp/infer/same.h"
#include "schemes/round.h"

static bool same_span(infer_span a, infer_span b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

static infer_span whole(int32_t bits)
{
    return (infer_span){apply_int_min((unsigned)bits), apply_int_max((unsigned)bits)};
}

static infer_span saturated(infer_span s, int32_t bits)
{
    return (infer_span){apply_saturate128(s.lo, (unsigned)bits),
                        apply_saturate128(s.hi, (unsigned)bits)};
}

static infer_span times(infer_span x, infer_span m)
{
    const assay_int128 at[4] = {x.lo * m.lo, x.lo * m.hi, x.hi * m.lo, x.hi * m.hi};
    infer_span s = {at[0], at[0]};
    for (int i = 1; i < 4; i++) {
        s.lo = at[i] < s.lo ? at[i] : s.lo;
        s.hi = at[i] > s.hi ? at[i] : s.hi;
    }
    return s;
}

enum { FAR = 110 }; /* numbers beyond 2^FAR are clamped to it: no register holds any of them */

static assay_int128 shifted_one(assay_int128 x, int64_t left)
{
    const assay_int128 far = (assay_int128)1 << FAR, max = left < FAR ? far >> left : 0;
    return x > max ? far : x < -max ? -far : x * ((assay_int128)1 << (left < FAR ? left : 0));
}

static infer_span shifted(infer_span s, int64_t left)
{
    return (infer_span){shifted_one(s.lo, left), shifted_one(s.hi, left)};
}

static infer_span taken_by(const infer_rule *k, int64_t total)
{
    const assay_int128 any = (assay_int128)1 << 100;
    infer_span s = {-any, any};
    if (k->input_bits > 0)
        s = whole(k->input_bits);
    if (k->input_shift_range && total < 1)
        return (infer_span){0, 0};
    if (k->input_shift_range && total < 64) {
        const infer_span by_shift = whole((int32_t)total);
        s.lo = s.lo > by_shift.lo ? s.lo : by_shift.lo;
        s.hi = s.hi < by_shift.hi ? s.hi : by_shift.hi;
    }
    return s;
}

/* Brings a box through the multiplier, the pre-shift and the operand. */
static infer_span place(const infer_rule *k, const infer_box *box, infer_passage *p)
{
    const infer_row first = {.multiplier = (int64_t)box->m.lo, .shift = box->shift};
    const infer_row last = {.multiplier = (int64_t)box->m.hi, .shift = box->shift};
    const infer_placed a = infer_placed_by(k, &first), b = infer_placed_by(k, &last);
    p->placed = a.shift == b.shift && a.pre == b.pre;
    p->m = (infer_span){a.multiplier, b.multiplier};
    p->pre = a.has_pre ? a.pre : 0;
    p->shift = a.shift;
    p->taken = taken_by(k, a.shift + p->pre);
    p->operand = box->x;
    if (a.has_pre)
        p->operand = (infer_span){apply_pre_shift(k, box->x.lo, a.pre),
                                  apply_pre_shift(k, box->x.hi, a.pre)};
    return k->operand_bits > 0 ? saturated(p->operand, k->operand_bits) : p->operand;
}

void infer_pass(const infer_rule *k, const infer_box *box, infer_passage *p)
{
    const int64_t first = k->round.n > 1 ? k->round.step[0].bits : 0;
    infer_span x = place(k, box, p);
    if (!p->placed)
        return;
    p->plain = times(x, p->m);
    p->left = k->left_shift != ASSAY_LEFT_PRODUCT && p->shift < first ? first - p->shift : 0;
    p->lifted = shifted(x, p->left);
    if (p->left > 0) {
        const bool wraps = k->left_shift == ASSAY_LEFT_WRAP && !infer_holds(p->lifted, 32);
        x = wraps ? whole(32) : saturated(p->lifted, 32);
    }
    p->product = times(x, p->m);
    p->wrapped = p->product;
    if (k->product_bits > 0 && !infer_holds(p->product, k->product_bits))
        p->wrapped = whole(k->product_bits);
    const int64_t shift = p->shift + p->left;
    p->value = shift < 0 ? shifted(p->wrapped, -shift)
                         : (infer_span){infer_round_by(&k->round, p->wrapped.lo, shift),
                                        infer_round_by(&k->round, p->wrapped.hi, shift)};
}

/* ---- two rules ---- */

static bool is_idle(infer_span s, int32_t bits)
{
    return bits == 0 || infer_holds(s, bits);
}

static bool same_multiplier(const infer_rule *a, const infer_passage *p, const infer_rule *b,
                            const infer_passage *q)
{
    const bool kept = a->reduced_bits == b->reduced_bits &&
                      (a->reduced_bits == 0 || (a->multiplier_bits == b->multiplier_bits &&
                                                a->reduced_overflow == b->reduced_overflow));
    return same_span(p->m, q->m) && (kept || p->m.lo == p->m.hi);
}

/* Whether both lists round every product of a span to the same value at this shift. */
static bool same_rounding(const assay_steps *a, const assay_steps *b, infer_span p, int64_t shift)
{
    int bits = 0;
    if (shift <= 0 ||
        (a->n == b->n && memcmp(a->step, b->step, (size_t)a->n * sizeof *a->step) == 0))
        return true;
    while (bits < 120 && (p.lo < -((assay_int128)1 << bits) || p.hi > (assay_int128)1 << bits))
        bits++;
    const bool negative = p.lo >= 0 || infer_same_steps_of(a, b, bits, shift, shift, true);
    return negative && (p.hi <= 0 || infer_same_steps_of(a, b, bits, shift, shift, false)) &&
           (p.hi < (assay_int128)1 << bits ||
            infer_same_product(a, b, (assay_int128)1 << bits, shift, shift));
}

bool infer_same_place(const infer_rule *a, const infer_passage *p, const infer_rule *b,
                      const infer_passage *q)
{
    return same_multiplier(a, p, b, q) && p->shift == q->shift && p->pre == q->pre &&
           (p->pre <= 0 || a->pre_shift_round == b->pre_shift_round) &&
           (a->operand_bits == b->operand_bits ||
            (is_idle(p->operand, a->operand_bits) && is_idle(q->operand, b->operand_bits)));
}

bool infer_same_value(const infer_rule *a, const infer_passage *p, const infer_rule *b,
                      const infer_passage *q)
{
    if (p->value.lo == p->value.hi && same_span(p->value, q->value) &&
        infer_holds(p->value, FAR - 1))
        return true;
    if (!infer_same_place(a, p, b, q))
        return false;
    if (p->left == q->left && (p->left == 0 || a->left_shift == b->left_shift) &&
        (a->product_bits == b->product_bits ||
         (is_idle(p->product, a->product_bits) && is_idle(q->product, b->product_bits))))
        return same_rounding(&a->round, &b->round, p->wrapped, p->shift + p->left);
    /* a left shift without loss equals one of the product */
    return (p->left == 0 || infer_holds(p->lifted, 32)) &&
           (q->left == 0 || infer_holds(q->lifted, 32)) && is_idle(p->product, a->product_bits) &&
           is_idle(q->product, b->product_bits) &&
           same_rounding(&a->round, &b->round, p->plain, p->shift);
}

static bool moves_along(const assay_steps *s)
{
    bool periodic = true;
    for (int i = 0; i < s->n; i++)
        periodic &= infer_is_periodic_mode(s->step[i].mode);
    return periodic;
}

/* A register that wraps keeps the low bits: it adds a multiple of 2^bits, times the multiplier. */
bool infer_low_bits(const infer_rule *k, const infer_passage *p, bool same_left, int64_t *bits)
{
    const bool lifts = !same_left && p->left > 0 && !infer_holds(p->lifted, 32);
    const int64_t right = p->shift + p->left; /* the shift after the product */
    *bits = 64;
    if (!same_left && (p->shift > 0 || (lifts && k->left_shift != ASSAY_LEFT_WRAP)))
        return false;
    if (lifts && 32 - right < *bits)
        *bits = 32 - right;
    if (!is_idle(p->product, k->product_bits) && k->product_bits - right < *bits)
        *bits = k->product_bits - right;
    return !same_left || right <= 0 || (*bits > 0 && moves_along(&k->round));
}

bool infer_keeps_low(const infer_rule *k, int64_t bits)
{
    if (k->result_bits > 0)
        return k->result_overflow == ASSAY_NARROW_WRAP && k->result_bits <= bits;
    return k->zero_point == ASSAY_STAGE_AFTER && k->sum_bits > 0 &&
           k->sum_overflow == ASSAY_NARROW_WRAP && k->sum_bits <= bits;
}

/* ---- from the value to the code ---- */

bool infer_same_end(const infer_options *o, const infer_rule *a, const infer_rule *b, infer_span v)
{
    const infer_reach r = {.value = v};
    infer_rule x = *a, y = *b;
    while (infer_leave_out(o, &x, &r))
        ;
    while (infer_leave_out(o, &y, &r))
        ;
    return x.result_bits == y.result_bits && x.sum_bits == y.sum_bits && x.store == y.store &&
           (x.result_bits == 0 || x.result_overflow == y.result_overflow) &&
           (x.sum_bits == 0 || x.sum_overflow == y.sum_overflow);
}

enum narrowing { KEPT, LOST, REFUSED };

/* A span after a register; LOST: values may wrap or be refused. */
static enum narrowing narrow(infer_span *s, int32_t bits, int32_t how)
{
    if (is_idle(*s, bits))
        return KEPT;
    const infer_span all = whole(bits);
    if (how == ASSAY_NARROW_REFUSE)
        return s->lo > all.hi || s->hi < all.lo ? REFUSED : LOST;
    *s = saturated(*s, bits);
    return how == ASSAY_NARROW_WRAP ? LOST : KEPT;
}

bool infer_is_pinned(const infer_options *o, const infer_rule *k, infer_span v, int64_t *sum)
{
    const bool before = k->zero_point == ASSAY_STAGE_BEFORE;
    enum narrowing n = narrow(&v, k->result_bits, k->result_overflow);
    if (n == KEPT && !before) {
        v.lo += assay_elem_min(o->type);
        v.hi += assay_elem_max(o->type);
        n = narrow(&v, k->sum_bits, k->sum_overflow);
    }
    *sum = INFER_REFUSED;
    if (n != KEPT)
        return n == REFUSED;
    if (k->store == ASSAY_STORE_SATURATE) {
        const assay_int128 lo = assay_elem_min(o->type), hi = assay_elem_max(o->type);
        v.lo = v.lo < lo ? lo : v.lo > hi ? hi : v.lo;
        v.hi = v.hi < lo ? lo : v.hi > hi ? hi : v.hi;
    }
    if (v.lo != v.hi || v.lo < INT32_MIN || v.hi > INT32_MAX)
        return false;
    *sum = (int64_t)v.lo;
    return true;
}
