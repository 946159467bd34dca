/* Rules with encodings of R, compared; see formed.h. */
#include "interp/infer/formed.h"

#include <string.h>

#include "interp/infer/flat.h"
#include "interp/infer/places.h"
#include "interp/infer/same.h"
#include "interp/infer/scales.h"

/* ---- multipliers and shifts ---- */

/* The right shifts of the greatest and the least R whose multipliers have all their bits. */
static int32_t least_shift(const infer_task *t, const infer_rule *k)
{
    return k->multiplier_bits - 1 -
           (t->live_hi + 1); /* R may also round up to the next power of two */
}

static int32_t greatest_shift(const infer_task *t, const infer_rule *k)
{
    return k->multiplier_bits - 1 - (t->live_lo - INFER_BELOW);
}

static void take_rows(infer_engine *e)
{
    e->shift_lo = INT32_MAX;
    e->shift_hi = INT32_MIN;
    e->multiplier_lo = e->multiplier_hi = 0;
    for (size_t i = 0; i < e->n; i++) {
        const infer_row *row = &e->row[e->order[i]];
        e->shift_lo = row->shift < e->shift_lo ? row->shift : e->shift_lo;
        e->shift_hi = row->shift > e->shift_hi ? row->shift : e->shift_hi;
        e->multiplier_lo = row->multiplier < e->multiplier_lo ? row->multiplier : e->multiplier_lo;
        e->multiplier_hi = row->multiplier > e->multiplier_hi ? row->multiplier : e->multiplier_hi;
    }
}

void infer_set_domain(infer_engine *e, const infer_rule *k)
{
    const int64_t max = infer_greatest(k);
    if (k->encoding != ASSAY_ENCODE_MULTIPLIER || e->t->powers) {
        take_rows(e);
        e->multiplier_bits =
            k->encoding == ASSAY_ENCODE_SHIFT ? 0 : infer_bits_of(e->multiplier_hi);
        return;
    }
    e->multiplier_bits = k->multiplier_bits;
    e->multiplier_lo = k->negative_scale ? -max : 0;
    e->multiplier_hi = max;
    e->shift_lo = least_shift(e->t, k);
    e->shift_hi = greatest_shift(e->t, k);
    if (k->shift_min > e->shift_lo)
        e->shift_lo = k->shift_min;
    if (k->shift_max < e->shift_hi)
        e->shift_hi = k->shift_max;
}

/* ---- limits ---- */

/* Drops a limit that no R of the domain exceeds, or beyond which every value is 0 anyway (unless R
 * is refused there). */
static void forget_limits(const infer_task *t, infer_rule *k)
{
    const bool beyond = k->shift_max < greatest_shift(t, k);
    if (!beyond || infer_is_unlimited(t, k)) {
        k->shift_max = INFER_MAX_SHIFT;
        k->beyond_shift_max = ASSAY_SMALL_REFUSE;
    }
    if (k->beyond_shift_max != ASSAY_SMALL_DENORMAL)
        k->denormal_round = ASSAY_ROUND_TRUNC;
    if (k->shift_min <= least_shift(t, k)) {
        k->shift_min = -INFER_MAX_SHIFT;
        k->below_shift_min = ASSAY_LARGE_REFUSE;
    }
    k->zero_shift = 0;
}

/* ---- encodings ---- */

/* Whether a multiplier of 2^bits gives the same as half of it with a shift one less: true where the
 * product alone decides. */
static bool renormalise_is_idle(const infer_task *t, const infer_rule *k, const infer_engine *e)
{
    const infer_reach r = infer_reach_of(e, k);
    return k->round.n == 1 && k->pre_shift != ASSAY_PRE_REST && k->reduced_bits == 0 &&
           !k->exponent_by_log && k->shift_max == INFER_MAX_SHIFT &&
           k->shift_min == -INFER_MAX_SHIFT && t->live_hi < 30 &&
           k->left_shift == ASSAY_LEFT_PRODUCT &&
           (k->product_bits == 0 || infer_holds(r.product, k->product_bits));
}

/* Whether R has 24 bits, which a multiplier of as many holds exactly. */
static bool is_exact(const infer_rule *k)
{
    return infer_is_single(k) && k->multiplier_bits >= 24;
}

/* Bits cut off first and then rounded half up are rounded half up as a whole. */
static void forget_reduced(infer_rule *k)
{
    if (k->reduced_bits == 0 || k->multiplier_round != ASSAY_ROUND_TRUNC ||
        k->reduced_overflow != ASSAY_REDUCED_RENORMALISE || k->shift_max != INFER_MAX_SHIFT ||
        k->shift_min != -INFER_MAX_SHIFT)
        return;
    k->multiplier_bits = k->reduced_bits;
    k->multiplier_round = ASSAY_ROUND_HALF_AWAY;
    k->multiplier_renormalise = 1;
    k->reduced_bits = 0;
    k->reduced_overflow = ASSAY_REDUCED_CAP;
}

/* Sets fields without effect to one common value. */
static void forget_encoding(const infer_engine *e, infer_rule *k)
{
    forget_reduced(k);
    if (is_exact(k) && k->beyond_shift_max != ASSAY_SMALL_UNNORMAL)
        k->multiplier_round = ASSAY_ROUND_HALF_AWAY;
    if ((is_exact(k) && !k->exponent_by_log) || renormalise_is_idle(e->t, k, e) ||
        (infer_is_quotient(k) && !k->exponent_by_log))
        k->multiplier_renormalise = 1;
}

static infer_rule normal_of(infer_engine *e, const infer_rule *k)
{
    infer_rule normal;
    infer_set_domain(e, k);
    normal = infer_normal(e, k);
    forget_limits(e->t, &normal);
    infer_set_domain(e, &normal);
    normal = infer_normal(e, &normal);
    forget_encoding(e, &normal);
    return normal;
}

static bool same_encoding(const infer_rule *a, const infer_rule *b)
{
    infer_rule other = *b;
    infer_take_encoding(&other, a);
    return memcmp(&other, b, sizeof other) == 0;
}

/* ---- what follows the encoding ---- */

static enum infer_told tell_window(infer_engine *e, const infer_rule *a, const infer_rule *b,
                                   int64_t lo, int64_t hi, infer_row *row)
{
    e->multiplier_lo = lo;
    e->multiplier_hi = hi;
    return lo > hi || infer_is_same(e, a, b) ? INFER_ALIKE : infer_tell(e, a, b, row);
}

/* Compares at multipliers that have all their bits, and at 0. */
static enum infer_told tell_multipliers(infer_engine *e, const infer_rule *a, const infer_rule *b,
                                        infer_row *row)
{
    const int64_t max = infer_greatest(a), half = (max + 1) / 2;
    enum infer_told told = tell_window(e, a, b, half > 1 ? half : 1, max, row);
    if (told == INFER_ALIKE && a->negative_scale)
        told = tell_window(e, a, b, -max, half > 1 ? -half : -1, row);
    if (told == INFER_ALIKE) {
        e->shift_lo =
            e->shift_hi; /* with a multiplier of 0, the shift matters for refusals alone */
        told = tell_window(e, a, b, 0, 0, row);
    }
    return told;
}

/* Compares at multipliers that lost bits. */
static enum infer_told tell_lost(infer_engine *e, const infer_rule *a, const infer_rule *b,
                                 int32_t shift, infer_row *row)
{
    const int64_t max = infer_greatest(a);
    e->shift_lo = e->shift_hi = shift;
    return tell_window(e, a, b, a->negative_scale ? -max : 0, max, row);
}

/* Whether shifts so far left can be given in rows of kind multiplier; a rule may refuse a given
 * shift and yet accept it when it is derived. */
static bool is_given(const infer_engine *e, const infer_rule *k)
{
    const int32_t first = k->round.n > 1 ? k->round.step[0].bits : 0;
    return k->left_shift == ASSAY_LEFT_PRODUCT || first - e->shift_lo <= 31;
}

/* Two limits count as one where every value beyond the lesser of them is 0 under both rules. */
static void share_limit(const infer_task *t, infer_rule *a, infer_rule *b)
{
    const int32_t shift = a->shift_max < b->shift_max ? a->shift_max : b->shift_max;
    if (!infer_is_flat(t, a, shift) || !infer_is_flat(t, b, shift))
        return;
    a->shift_max = b->shift_max = shift;
    a->beyond_shift_max = b->beyond_shift_max = ASSAY_SMALL_ZERO;
    a->denormal_round = b->denormal_round = ASSAY_ROUND_TRUNC;
}

enum infer_told infer_tell_formed(infer_engine *e, const infer_rule *a, const infer_rule *b,
                                  infer_row *row)
{
    if (a->input_shift_range ||
        b->input_shift_range) /* here even the shift of a multiplier 0 counts */
        return memcmp(a, b, sizeof *a) == 0 ? INFER_ALIKE : INFER_UNTOLD;
    infer_rule x = normal_of(e, a), y = normal_of(e, b);
    if (memcmp(&x, &y, sizeof x) == 0)
        return INFER_ALIKE;
    share_limit(e->t, &x, &y);
    if (x.encoding != ASSAY_ENCODE_MULTIPLIER || e->t->powers || !same_encoding(&x, &y))
        return INFER_UNTOLD;
    const infer_rule limits = x;
    infer_set_domain(e, &limits);
    if (!is_given(e, &x) || !is_given(e, &y))
        return INFER_UNTOLD;
    x.shift_min = y.shift_min = -INFER_MAX_SHIFT;
    x.shift_max = y.shift_max = INFER_MAX_SHIFT;
    enum infer_told told = tell_multipliers(e, &x, &y, row);
    if (told == INFER_ALIKE && limits.shift_max < INFER_MAX_SHIFT &&
        limits.beyond_shift_max != ASSAY_SMALL_ZERO &&
        limits.beyond_shift_max != ASSAY_SMALL_REFUSE)
        told = tell_lost(e, &x, &y, limits.shift_max, row);
    if (told == INFER_ALIKE && limits.shift_min > -INFER_MAX_SHIFT &&
        limits.below_shift_min == ASSAY_LARGE_GENERATOR)
        told = tell_lost(e, &x, &y, limits.shift_min, row);
    return told;
}
