/* Rules brought to a normal form, and whether two of these are one function; see same.h. */
#include "interp/infer/same.h"

#include <string.h>

#include "interp/infer/modes.h"

static void reset_unread(const infer_engine *e, infer_rule *k)
{
    infer_rule plain;
    infer_plain_rule(&plain);
    if (k->reduced_bits == 0)
        k->reduced_overflow = plain.reduced_overflow;
    const bool lifts = k->pre_shift == ASSAY_PRE_REST && e->shift_hi <= k->round.step[0].bits;
    if (k->pre_shift == ASSAY_PRE_NONE || lifts) /* nothing is shifted right */
        k->pre_shift_round = plain.pre_shift_round;
    if (k->pre_shift == ASSAY_PRE_FIXED && k->pre_shift_bits == 1)
        k->pre_shift_round = infer_mode_of_halves(k->pre_shift_round);
    if (k->result_bits == 0)
        k->result_overflow = plain.result_overflow;
    if (k->sum_bits == 0)
        k->sum_overflow = plain.sum_overflow;
    for (int i = k->round.n; i < ASSAY_MAX_STEPS; i++)
        memset(&k->round.step[i], 0, sizeof k->round.step[i]);
}

infer_rule infer_normal(const infer_engine *e, const infer_rule *k)
{
    infer_rule normal = *k;
    for (bool again = true; again;) {
        const infer_reach r = infer_reach_of(e, &normal);
        reset_unread(e, &normal);
        again = infer_leave_out_before(e, &normal, &r) || infer_leave_out(e->t->o, &normal, &r);
    }
    return normal;
}

/* The least n for which every product lies within -2^n .. 2^n. */
static int bits_of_products(const infer_rule *k, const infer_reach *r)
{
    int bits = 0;
    while (bits < 120 &&
           (r->product.lo < -((assay_int128)1 << bits) || r->product.hi > (assay_int128)1 << bits))
        bits++;
    return k->product_bits > 0 && k->product_bits - 1 < bits ? k->product_bits - 1 : bits;
}

bool infer_same_within(const infer_rule *k, const assay_steps *a, const assay_steps *b,
                       const infer_reach *r, int64_t min, int64_t max)
{
    const int bits = bits_of_products(k, r);
    const bool wraps =
        k->product_bits > 0 && k->product_bits - 1 <= bits; /* products of exactly 2^bits */
    return infer_same_steps(a, b, bits, min, max) &&
           (wraps || r->product.hi < (assay_int128)1 << bits ||
            infer_same_product(a, b, (assay_int128)1 << bits, min, max));
}

bool infer_same_rounding(const infer_engine *e, const infer_rule *a, const infer_rule *b,
                         const infer_reach *r)
{
    const int32_t pre = a->pre_shift == ASSAY_PRE_FIXED ? a->pre_shift_bits : 0;
    const int32_t drop = a->reduced_bits > 0 ? a->multiplier_bits - a->reduced_bits + 1 : 0;
    int64_t min = e->shift_lo - pre - drop, max = e->shift_hi - pre;
    if (a->pre_shift == ASSAY_PRE_REST) {
        if (a->round.step[0].bits != b->round.step[0].bits)
            return false;
        min = max = a->round.step[0].bits;
    } else if (a->left_shift != ASSAY_LEFT_PRODUCT) { /* the first step always has its bits */
        const int32_t first = a->round.n > 1 ? a->round.step[0].bits : 0;
        if (first != (b->round.n > 1 ? b->round.step[0].bits : 0))
            return false;
        min = min < first ? first : min;
        max = max < first ? first : max;
    }
    return infer_same_within(a, &a->round, &b->round, r, min, max);
}

bool infer_is_same(const infer_engine *e, const infer_rule *a, const infer_rule *b)
{
    infer_rule other = *b;
    other.round = a->round;
    if (memcmp(a, &other, sizeof *a) != 0)
        return false;
    if (memcmp(&a->round, &b->round, sizeof a->round) == 0)
        return true;
    const infer_reach r = infer_reach_of(e, a);
    return infer_same_rounding(e, a, b, &r);
}
