/* R so small that every accumulator gives what 0 gives; see flat.h. */
#include "interp/infer/flat.h"

#include <assert.h>

#include "graph/core/type.h"
#include "interp/infer/modes.h"
#include "interp/infer/passage.h"
#include "interp/infer/questions.h"
#include "interp/infer/scales.h"

enum { FAR = 200 }; /* above the right shift of any R in the domain */

/* Whether every operand of one sign, times any of these multipliers, becomes 0. */
static bool is_zero(const infer_rule *k, const infer_box *box)
{
    infer_passage p;
    infer_pass(k, box, &p);
    return p.placed && p.value.lo == 0 && p.value.hi == 0;
}

static bool is_zero_by(const infer_rule *k, infer_span x, infer_span m, int32_t shift)
{
    const infer_box low = {{x.lo, -1}, m, shift}, high = {{0, x.hi}, m, shift};
    return is_zero(k, &low) && is_zero(k, &high);
}

/* Tries multipliers up to the greatest; where multipliers are reduced, those that overflow are
 * tried apart. */
static bool is_flat_at(const infer_rule *k, infer_span x, int64_t greatest, int32_t shift)
{
    assert(k->multiplier_bits >= 1 && k->multiplier_bits <= 32 &&
           k->multiplier_bits >= k->reduced_bits);
    const int drop = k->reduced_bits > 0 ? k->multiplier_bits - k->reduced_bits : 0;
    const int64_t last =
        (INT64_C(1) << k->multiplier_bits) - 1 - (drop > 0 ? INT64_C(1) << (drop - 1) : 0);
    for (int sign = 1; sign >= (k->negative_scale ? -1 : 1); sign -= 2) {
        const assay_int128 a = sign * (greatest < last ? greatest : last), b = sign * greatest;
        const infer_span low = {a < 0 ? a : 1,
                                a < 0 ? -1 : a}; /* a multiplier of 0 gives 0 anyway */
        const infer_span high = {b < 0 ? b : last + 1, b < 0 ? -last - 1 : b};
        if (!is_zero_by(k, x, low, shift) || (greatest > last && !is_zero_by(k, x, high, shift)))
            return false;
    }
    return true;
}

/* The greatest multiplier that still loses bits beyond shift_max. */
static int64_t greatest_lost(const infer_rule *k)
{
    assert(k->multiplier_bits >= 1 && k->multiplier_bits <= 32);
    const int64_t power = INT64_C(1) << k->multiplier_bits;
    const int32_t mode =
        k->beyond_shift_max == ASSAY_SMALL_DENORMAL ? k->denormal_round : k->multiplier_round;
    if (k->beyond_shift_max == ASSAY_SMALL_ZERO)
        return 0;
    if (k->beyond_shift_max == ASSAY_SMALL_GENERATOR)
        return power;
    if (infer_is_quotient(k))
        return infer_greatest(k) / 2;
    if (k->beyond_shift_max == ASSAY_SMALL_DENORMAL && !k->multiplier_renormalise)
        return power / 2;                                         /* half of 2^bits */
    const bool tie = k->beyond_shift_max == ASSAY_SMALL_DENORMAL; /* half of 2^bits - 1 */
    return power / 2 - !infer_mode_reaches(mode, tie, power == 2);
}

bool infer_is_flat(const infer_task *t, const infer_rule *k, int32_t shift)
{
    infer_span x = {-(assay_int128)infer_acc_max(t) - 1, infer_acc_max(t)};
    const bool limited = k->shift_max < 2 * FAR;
    const int64_t lost = limited ? greatest_lost(k) : 0;
    if (k->zero_point == ASSAY_STAGE_BEFORE) {
        x.lo -= assay_elem_max(t->o->type);
        x.hi -= assay_elem_min(t->o->type);
    }
    if (k->encoding != ASSAY_ENCODE_MULTIPLIER || k->input_shift_range || shift < -FAR ||
        (limited && k->beyond_shift_max == ASSAY_SMALL_REFUSE) ||
        (lost > 0 && !is_flat_at(k, x, lost, k->shift_max)))
        return false;
    for (int32_t s = shift + 1; s <= FAR && s <= k->shift_max; s++)
        if (!is_flat_at(k, x, infer_greatest(k), s))
            return false;
    return true;
}

bool infer_is_unlimited(const infer_task *t, const infer_rule *k)
{
    infer_rule without = *k;
    without.shift_max = 2 * FAR;
    return infer_is_flat(t, k, k->shift_max) && infer_is_flat(t, &without, k->shift_max);
}
