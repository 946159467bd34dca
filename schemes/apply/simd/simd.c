/* The choice of a rescale's vector form, and the proof obligations that stand before it.
 *
 * A vector form keeps 64-bit products, but narrows to 32 bits before the zero point and the final
 * clamp. That changes nothing when
 *   - narrowing saturates at 24 bits or more, or does not happen: what saturation moves lies beyond
 *     every code plus or minus the zero point, so the final clamp gives the same code;
 *   - narrowing wraps at 32 bits, which is what taking the low 32 bits does.
 * A sum that wraps at 32 bits brings values beyond them back among the codes, so there what has
 * gone before counts: low bits where nothing has, saturation at 32 bits where that has. Of a result
 * saturated at fewer bits it is exact, as a zero point is near 0. */
#include <assert.h>

#include "schemes/apply/simd.h"

#include "schemes/apply/apply.h"

/* Of a narrowing to `bits`: 0 has no effect before the clamp, 1 wraps at 32, -1 neither. */
static int narrowing(int32_t bits, int32_t how)
{
    if (bits == 0 || bits >= 64)
        return 0;
    if (how == ASSAY_NARROW_WRAP)
        return bits == 32 ? 1 : -1;
    return bits >= 24 ? 0 : -1;
}

/* How many bits hold every result, by saturation; 64: all that there are. */
static int32_t saturated_bits(const assay_rule_rescale *k)
{
    const bool saturates = k->result_bits > 0 && k->result_overflow != ASSAY_NARROW_WRAP;
    return saturates ? k->result_bits : 64;
}

/* The end: narrowing, zero point, clamp. */
static bool choose_end(const assay_rescale *r, assay_simd *s)
{
    const assay_rule_rescale *k = r->rule;
    const int result = narrowing(k->result_bits, k->result_overflow);
    const bool before = k->zero_point == ASSAY_STAGE_BEFORE; /* nothing is added */
    int sum = narrowing(before ? 0 : k->sum_bits, k->sum_overflow);
    const int32_t max_bits = saturated_bits(k);
    if (sum == 1 && max_bits < 32)
        sum = 0;
    if (sum == 1 && max_bits > 32 && max_bits < 64)
        return false;
    if (result < 0 || sum < 0 || !simd_is_near(r->zero_point) || (before && r->zero_point != 0))
        return false;
    s->zero_point = (int32_t)r->zero_point;
    s->truncate = result == 1 || (max_bits == 64 && sum == 1);
    s->wrap_sum = sum == 1;
    if (k->store == ASSAY_STORE_WRAP) { /* the byte is the low bits of the sum */
        bool plain = max_bits == 64 && (sum == 1 || before || k->sum_bits == 0) && r->out_bits == 8;
        s->lo = INT32_MIN;
        s->hi = INT32_MAX;
        s->truncate = s->wrap_sum = true;
        return plain && r->clamp_lo == INT64_MIN && r->clamp_hi == INT64_MAX;
    }
    s->lo = (int32_t)r->lo;
    s->hi = (int32_t)r->hi;
    return simd_is_near(r->lo) && simd_is_near(r->hi);
}

/* Multipliers of 32 bits, and shifts of a 64-bit product that leave room to add a half. */
static bool fits(const assay_rescale *r, int64_t least_shift)
{
    for (size_t c = 0; c < r->n; c++)
        if (r->multiplier[c] != (int32_t)r->multiplier[c] || r->shift[c] < least_shift ||
            r->shift[c] > 62 || (r->pre && (r->pre[c] < 0 || r->pre[c] > 61)))
            return false;
    return true;
}

static enum assay_simd_way integer_way(const assay_rescale *r, assay_simd *s)
{
    const assay_rule_rescale *k = r->rule;
    const assay_steps *list = &k->round;
    s->mode = (enum assay_rounding)list->step[0].mode;
    if (r->pre)
        return k->encoding == ASSAY_ENCODE_GLOW && k->product_bits == 32 && list->n == 1 &&
                       s->mode == ASSAY_ROUND_HALF_UP && k->result_bits == 0 && fits(r, 0)
                   ? ASSAY_SIMD_GLOW
                   : ASSAY_SIMD_NONE;
    if (k->product_bits > 0)
        return ASSAY_SIMD_NONE;
    if (list->n == 1)
        return fits(r, 0) ? ASSAY_SIMD_ONE_ROUNDING : ASSAY_SIMD_NONE;
    if (list->n != 2 || list->step[0].bits != 31 || s->mode != ASSAY_ROUND_HALF_UP ||
        list->step[1].mode != ASSAY_ROUND_HALF_AWAY)
        return ASSAY_SIMD_NONE;
    if (k->left_shift == ASSAY_LEFT_WRAP)
        return k->result_bits == 0 && fits(r, -61) ? ASSAY_SIMD_DOUBLE_LEFT : ASSAY_SIMD_NONE;
    return k->left_shift == ASSAY_LEFT_PRODUCT && fits(r, 0) ? ASSAY_SIMD_DOUBLE : ASSAY_SIMD_NONE;
}

/* Positive finite scales: then a product is finite or infinite and never NaN. */
static bool are_scales(const int64_t *bits, size_t n)
{
    for (size_t c = 0; c < n; c++)
        if (bits[c] <= 0 || bits[c] >= 0x7f800000)
            return false;
    return true;
}

static bool choose_float(const assay_rescale *r, assay_simd *s)
{
    const assay_rule_rescale *k = r->rule;
    s->way = ASSAY_SIMD_FLOAT;
    s->mode = (enum assay_rounding)k->round.step[0].mode;
    s->steps = k->scale == ASSAY_FORM_F32_STEPS && r->scale_w;
    s->inside = k->zero_point == ASSAY_STAGE_INSIDE;
    s->indefinite = k->float_overflow == ASSAY_FLOAT_INT_MIN;
    return k->float_rounding == ASSAY_FLOAT_ROUND_EXACT && k->store != ASSAY_STORE_WRAP &&
           are_scales(r->scale, r->n) &&
           (!s->steps || (are_scales(r->scale_w, r->n) && are_scales(r->scale_out, 1)));
}

/* Codes of a byte, and a zero point that 16 bits hold with room for a code. */
static bool is_byte_end(const assay_simd *s)
{
    return (s->lo >= INT8_MIN && s->hi <= INT8_MAX) || (s->lo >= 0 && s->hi <= UINT8_MAX)
               ? s->zero_point > -(1 << 14) && s->zero_point < 1 << 14
               : false;
}

/* Multiplier and shift are at most 127/128, so no result passes 127/128 * 2^31. */
static bool shrinks(int64_t multiplier, int64_t shift)
{
    assert(shift >= 0);
    return multiplier >= 0 && (shift > 55 || multiplier <= (INT64_C(127) << shift) / 128);
}

static bool is_packed(const assay_rescale *r, const assay_simd *s)
{
    bool packed = is_byte_end(s);
    for (size_t c = 0; c < r->n && packed; c++)
        switch (s->way) {
        case ASSAY_SIMD_FLOAT: /* 127/128 */
            packed = !s->steps && r->scale[c] <= 0x3f7e0000;
            break;
        case ASSAY_SIMD_ONE_ROUNDING:
            packed = r->shift[c] <= 55 && shrinks(r->multiplier[c], r->shift[c]);
            break;
        case ASSAY_SIMD_DOUBLE:
        case ASSAY_SIMD_DOUBLE_LEFT: /* a channel without weights is 0 by any shift */
            packed = r->multiplier[c] == 0 ||
                     (r->shift[c] > 31 && shrinks(r->multiplier[c], r->shift[c]));
            break;
        default:
            packed = false;
        }
    return packed;
}

assay_simd simd_choose(const assay_rescale *r)
{
    const assay_rule_rescale *k = r->rule;
    assay_simd s = {.way = ASSAY_SIMD_NONE}, none = s;
    if (r->untold || !r->row || r->row == apply_rescale_row_sums ||
        k->encoding == ASSAY_ENCODE_THRESHOLDS || k->encoding == ASSAY_ENCODE_F64 ||
        r->in_zero != 0 || !choose_end(r, &s))
        return none;
    if (k->encoding == ASSAY_ENCODE_F32 && !choose_float(r, &s))
        return none;
    if (k->encoding != ASSAY_ENCODE_F32 && k->operand_bits == 0)
        s.way = integer_way(r, &s);
    s.packed = is_packed(r, &s);
    return s;
}

/* Floats so small that codes times them, and their sum, stay inside int32. */
static bool is_small(int64_t bits)
{
    return (bits & 0x7fffffff) < 0x49800000; /* 2^20 */
}

enum assay_simd_add simd_add_choose(const assay_unit *u)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    if (u->untold)
        return ASSAY_SIMD_ADD_NONE;
    if (u->binary == apply_add_float_scaled)
        return u->rec.add.round == ASSAY_ROUND_HALF_EVEN && simd_is_near(o->lo) &&
                       simd_is_near(o->hi) && o->rule->store != ASSAY_STORE_WRAP &&
                       is_small(u->k[0]) && is_small(u->k[1]) && is_small(u->k[2])
                   ? ASSAY_SIMD_ADD_FLOAT
                   : ASSAY_SIMD_ADD_NONE;
    if (u->binary != apply_add_left_shift || u->k[0] < 0 || u->k[0] > 31)
        return ASSAY_SIMD_ADD_NONE;
    /* The operands' rescales go by the output's rule and must fit it too, without saturation. */
    const enum assay_simd_way way = u->simd.way;
    if (way != ASSAY_SIMD_DOUBLE_LEFT && way != ASSAY_SIMD_ONE_ROUNDING)
        return ASSAY_SIMD_ADD_NONE;
    for (int i = ASSAY_FIRST; i <= ASSAY_SECOND; i++) {
        const assay_rescale *r = &u->scale[i];
        assay_simd s = {0};
        if (r->in_zero != 0 || integer_way(r, &s) != way || r->rule->result_bits != 0)
            return ASSAY_SIMD_ADD_NONE;
    }
    if (way == ASSAY_SIMD_DOUBLE_LEFT)
        return ASSAY_SIMD_ADD_DOUBLE;
    return u->simd.mode == ASSAY_ROUND_HALF_UP ? ASSAY_SIMD_ADD_HALF_UP : ASSAY_SIMD_ADD_NONE;
}

assay_block_fn simd_block(const assay_unit *u, enum assay_isa isa)
{
    switch (isa) {
#ifdef ASSAY_X86
    case ASSAY_ISA_VNNI:
        return simd_avx512(&u->simd);
    case ASSAY_ISA_AVX2:
        return simd_plain_avx2(&u->simd);
#endif
    default:
        return simd_plain_portable(&u->simd);
    }
}
