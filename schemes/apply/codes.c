/* Element-wise functions that have a form of codes.h, and the bounds that its widths rest on. */
#include <assert.h>

#include "schemes/apply/codes.h"

#include "schemes/apply/apply.h"

#define WIDE (INT64_C(1) << 31)
#define ROOM (INT64_C(1) << 30) /* what a step gives stays below it: zero points may be added */
#define NEAR (INT64_C(1) << 17) /* codes and zero points stay below it */

/* What is added before a shift by s so that the shift rounds by `mode`; false where that is not a
 * constant for each sign. */
static bool addends(enum assay_rounding mode, unsigned s, int64_t add[2])
{
    assert(s <= 62);
    const uint64_t ones = (UINT64_C(1) << s) - 1, half = (ones + 1) / 2;
    const uint64_t some = 0 - (uint64_t)(s > 0);
    for (int i = 0; i < 2; i++) {
        const uint64_t negative = 0 - (uint64_t)i;
        const uint64_t even = assay_rounding_addend(mode, half, ones, negative, 0, some);
        if (even != assay_rounding_addend(mode, half, ones, negative, UINT64_MAX, some))
            return false;
        add[i] = (int64_t)even;
    }
    return true;
}

/* x * 2^left * m / 2^shift by one rounding. *reach becomes what the result may reach. */
static bool one_rounding(int64_t m, int64_t left, int64_t shift, enum assay_rounding mode,
                         int64_t *reach, assay_step *out)
{
    if (m < 0 || m >= WIDE || left < 0 || left > 31 || shift < 0 || shift > 62 ||
        *reach >= WIDE >> left)
        return false;
    *reach = ((*reach << left) * m >> shift) + 1;
    *out = (assay_step){.m = m,
                        .left = (unsigned)left,
                        .high = (unsigned)(shift < 32 ? shift : 32),
                        .low = (unsigned)(shift < 32 ? 0 : shift - 32)};
    return *reach < ROOM && addends(mode, (unsigned)shift, out->add);
}

/* By two: `first` bits, then the rest of `shift`, one bit or more, half away. */
static bool two_roundings(int64_t m, int64_t left, int64_t first, int64_t shift,
                          enum assay_rounding mode, int64_t *reach, assay_step *out)
{
    if (!one_rounding(m, left, first, mode, reach, out) || shift - first > 30)
        return false;
    assert(shift >= first);
    out->low = (unsigned)(shift - first);
    out->half = (int32_t)((INT64_C(1) << out->low) / 2);
    out->away = -1;
    *reach = (*reach >> out->low) + 1;
    return true;
}

/* r's rescale before its zero point; *reach as above. */
static bool step_of(const assay_rescale *r, int64_t left, int64_t *reach, assay_step *out)
{
    const assay_rule_rescale *k = r->rule;
    const assay_steps *list = &k->round;
    const enum assay_rounding mode = (enum assay_rounding)list->step[0].mode;
    if (!r->row || r->row == apply_rescale_row_sums || r->n != 1 || r->in_zero != 0 || r->pre ||
        k->operand_bits > 0 || k->product_bits > 0 ||
        (k->encoding != ASSAY_ENCODE_MULTIPLIER && k->encoding != ASSAY_ENCODE_SHIFT) ||
        (k->result_bits > 0 && k->result_bits < 32))
        return false;
    const int64_t m = r->multiplier[0], first = list->n > 1 ? list->step[0].bits : 0;
    int64_t shift = r->shift[0];
    if (list->n > 2 ||
        (list->n == 2 && (first > 31 || list->step[1].mode != ASSAY_ROUND_HALF_AWAY)))
        return false;
    if (shift < first && (shift < 0 || k->left_shift != ASSAY_LEFT_PRODUCT)) {
        const int64_t least = k->left_shift == ASSAY_LEFT_PRODUCT ? 0 : first;
        if (shift < least - 31)
            return false;
        left += least - shift;
        shift = least;
    }
    if (list->n == 1 || shift <= first) /* the second rounding has nothing left */
        return one_rounding(m, left, shift, mode, reach, out);
    return two_roundings(m, left, first, shift, mode, reach, out);
}

static bool stores_low_bits(const assay_rescale *r)
{
    return r->rule->store == ASSAY_STORE_WRAP;
}

/* The end of r, of values below ROOM. */
static bool end_of(const assay_rescale *r, assay_end *out)
{
    const assay_rule_rescale *k = r->rule;
    const int64_t z = r->zero_point;
    if (z <= -NEAR || z >= NEAR || (k->zero_point == ASSAY_STAGE_BEFORE && z != 0) ||
        (k->sum_bits > 0 && k->sum_bits < (k->sum_overflow == ASSAY_NARROW_WRAP ? 32 : 24)))
        return false;
    *out = (assay_end){.lo = INT32_MIN, .hi = INT32_MAX, .zero = (int32_t)z};
    if (stores_low_bits(r)) {
        if (!r->out_signed || r->out_bits < 1 || r->out_bits > 32)
            return false;
        out->wrap = 32 - r->out_bits;
        return r->clamp_lo == INT64_MIN && r->clamp_hi == INT64_MAX;
    }
    if (r->lo <= -NEAR || r->hi >= NEAR || r->lo > r->hi)
        return false;
    out->lo = (int32_t)(r->lo - z);
    out->hi = (int32_t)(r->hi - z);
    return true;
}

/* What wraps to 32 bits may be anything. */
static int64_t wrapped(int64_t reach)
{
    return reach < WIDE ? reach : WIDE - 1;
}

/* ---- the kinds ---- */

/* x * m, its low 32 bits; 0 <= m < 2^31. */
static assay_step times(int64_t m)
{
    return (assay_step){.m = m};
}

static bool sum_of(const assay_unit *u, int64_t reach, assay_codes *c)
{
    int64_t ra = reach, rb = reach, sum;
    c->kind = ASSAY_CODES_SUM;
    if (u->binary == apply_add_left_shift) {
        if (!step_of(&u->scale[ASSAY_FIRST], u->k[0], &ra, &c->a) ||
            !step_of(&u->scale[ASSAY_SECOND], u->k[0], &rb, &c->b))
            return false;
        sum = ra + rb;
        return step_of(&u->scale[ASSAY_OUT], 0, &sum, &c->out);
    }
    if (u->binary == apply_add_common_exponent) {
        if (u->k[0] < 0 || u->k[0] >= WIDE || u->k[1] < 0 || u->k[1] >= WIDE)
            return false;
        c->a = times(u->k[0]);
        c->b = times(u->k[1]);
        sum = wrapped(reach * (u->k[0] + u->k[1]));
        return one_rounding(1, 0, u->k[2], (enum assay_rounding)u->rec.add.round, &sum, &c->out);
    }
    if (u->binary == apply_add_separate) {
        if (!step_of(&u->scale[ASSAY_FIRST], 0, &ra, &c->a) ||
            !step_of(&u->scale[ASSAY_SECOND], 0, &rb, &c->b))
            return false;
        c->out = times(1);
        return ra + rb < ROOM;
    }
    if (u->binary == apply_add_plain) {
        c->a = c->b = c->out = times(1);
        return true;
    }
    const enum assay_rounding align = (enum assay_rounding)u->rec.add.align_round;
    if (u->k[2] > 31 || !one_rounding(1, u->k[2], u->k[0], align, &ra, &c->a) ||
        !one_rounding(1, u->k[2], u->k[1], align, &rb, &c->b))
        return false;
    sum = ra + rb;
    return one_rounding(1, u->k[3] < 0 ? -u->k[3] : 0, u->k[3] < 0 ? 0 : u->k[3],
                        (enum assay_rounding)u->rec.add.round, &sum, &c->out);
}

static bool square_of(const assay_unit *u, int64_t reach, assay_codes *c)
{
    int64_t ra = reach, rb = reach;
    c->kind = ASSAY_CODES_SQUARE;
    if (!step_of(&u->scale[ASSAY_FIRST], u->k[0], &ra, &c->a) ||
        !step_of(&u->scale[ASSAY_SECOND], u->k[0], &rb, &c->b))
        return false;
    int64_t square = wrapped((ra + rb) * (ra + rb));
    return step_of(&u->scale[ASSAY_OUT], 0, &square, &c->out);
}

static bool extreme_of(const assay_unit *u, int64_t reach, assay_codes *c)
{
    assay_step *step[2] = {&c->a, &c->b};
    c->kind = ASSAY_CODES_EXTREME;
    c->greatest = u->op == ASSAY_OP_MAX;
    for (int i = 0; i < 2; i++) {
        int64_t r = reach;
        assay_end unused;
        if (u->k[i])
            *step[i] = times(1);
        else if (!step_of(&u->scale[i], 0, &r, step[i]) || !end_of(&u->scale[i], &unused) ||
                 unused.wrap > 0)
            return false;
    }
    return true;
}

static bool order_of(const assay_unit *u, int64_t reach, assay_codes *c)
{
    int64_t ra = reach, rb = reach;
    const int64_t up[2] = {u->k[2] > 0 ? u->k[2] : 0, u->k[2] < 0 ? -u->k[2] : 0};
    for (int i = 0; i < 3; i++)
        c->holds[i] = (int32_t)u->k[3 + i];
    if (u->rec.binary.compare == ASSAY_COMPARE_RESCALE) {
        c->kind = ASSAY_CODES_ORDER_STEPS;
        return step_of(&u->scale[ASSAY_FIRST], 8, &ra, &c->a) &&
               step_of(&u->scale[ASSAY_SECOND], 8, &rb, &c->b);
    }
    c->kind = ASSAY_CODES_ORDER;
    for (int i = 0; i < 2; i++) { /* a factor of 24 bits, moved up, times 17 bits */
        if (up[i] > 21 || u->k[i] < 0 || u->k[i] > 1 << 24)
            return false;
        c->factor[i] = u->k[i] << up[i];
    }
    return true;
}

static bool integer_form(const assay_unit *u, int64_t reach, assay_codes *c)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT], *first = &u->scale[ASSAY_FIRST];
    int64_t once = reach, twice = reach * reach;
    if (u->binary == apply_compare)
        return order_of(u, reach, c);
    if (!end_of(o, &c->end))
        return false;
    if (u->binary == apply_minmax)
        return extreme_of(u, reach, c) && c->end.wrap == 0;
    if (u->binary == apply_squared_difference)
        return square_of(u, reach, c);
    if (u->binary == apply_mul) {
        c->kind = ASSAY_CODES_PRODUCT;
        return step_of(o, 0, &twice, &c->out);
    }
    if (u->binary == apply_prelu) {
        c->kind = ASSAY_CODES_PRELU;
        return c->end.wrap == 0 && step_of(o, 0, &once, &c->out) &&
               step_of(first, 0, &twice, &c->a);
    }
    if (u->unary == apply_rescale || u->unary == apply_abs) {
        c->kind = u->unary == apply_abs ? ASSAY_CODES_MAGNITUDE : ASSAY_CODES_CHANGE;
        return step_of(o, 0, &once, &c->out);
    }
    if (u->unary == apply_slope) {
        c->kind = ASSAY_CODES_SLOPE;
        twice = reach;
        return !u->k[0] && c->end.wrap == 0 && step_of(o, 0, &once, &c->out) &&
               step_of(first, 0, &twice, &c->a);
    }
    if (u->unary == apply_clamp) { /* of the code itself */
        c->kind = ASSAY_CODES_CLAMP;
        c->end = (assay_end){.lo = (int32_t)o->lo, .hi = (int32_t)o->hi};
        c->zero[0] = 0;
        return !stores_low_bits(o) && o->lo > -NEAR && o->hi < NEAR;
    }
    const bool adds = u->binary == apply_add_left_shift || u->binary == apply_add_common_exponent ||
                      u->binary == apply_add_separate || u->binary == apply_add_plain ||
                      u->binary == apply_add_align;
    return adds && sum_of(u, reach, c);
}

/* ---- floats ---- */

/* A float32 whose magnitude is below 2^e. */
static bool is_below(int64_t bits, int e)
{
    return (bits & 0x7fffffff) < (int64_t)(127 + e) << 23;
}

/* Finite, positive and far from subnormals: products and quotients are neither infinite nor NaN. */
static bool is_plain(int64_t bits)
{
    return bits > (int64_t)(127 - 40) << 23 && bits < (int64_t)(127 + 20) << 23;
}

/* MLAS: no sum reaches 2^31, so none is what a conversion out of range gives. */
static bool scaled_of(const assay_unit *u, assay_codes *c)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    c->kind = u->rec.add.fused ? ASSAY_CODES_FLOAT_FUSED : ASSAY_CODES_FLOAT_SCALED;
    c->exchanged = u->k[3] != 0;
    c->zero[0] = c->zero[1] = 0; /* of codes themselves */
    c->end = (assay_end){.lo = (int32_t)o->lo, .hi = (int32_t)o->hi};
    return is_below(u->k[0], 12) && is_below(u->k[1], 12) && is_below(u->k[2], 29);
}

/* floor(log2 s) of a plain float32. */
static int exponent_of(int64_t bits)
{
    return (int)(bits >> 23) - 127;
}

/* The last rescale by floats, of integers up to `reach`, whose results stay below 2^30: neither of
 * the ways to leave int32 is met. */
static bool float_rescale(const assay_unit *u, int64_t reach, enum assay_codes_kind kind,
                          assay_codes *c)
{
    const assay_rescale *r = &u->scale[ASSAY_OUT];
    const assay_rule_rescale *k = r->rule;
    int max = 0; /* results are below 2^max */
    while (reach >> max > 0)
        max++;
    if (k->encoding != ASSAY_ENCODE_F32 || k->float_rounding != ASSAY_FLOAT_ROUND_EXACT ||
        r->n != 1 || r->in_zero != 0 || reach >= WIDE || !is_plain(r->scale[0]))
        return false;
    c->mode = (enum assay_rounding)k->round.step[0].mode;
    max += exponent_of(r->scale[0]) + 1;
    c->kind = kind;
    c->steps = r->scale_w != NULL;
    c->inside = k->zero_point == ASSAY_STAGE_INSIDE;
    c->real[0] = (uint32_t)r->scale[0];
    if (c->steps) {
        c->real[1] = (uint32_t)r->scale_w[0];
        c->real[2] = (uint32_t)r->scale_out[0];
        if (!is_plain(r->scale_w[0]) || !is_plain(r->scale_out[0]))
            return false;
        max += exponent_of(r->scale_w[0]) + 1 - exponent_of(r->scale_out[0]);
    }
    return max <= 30;
}

static bool float_form(const assay_unit *u, int64_t reach, assay_codes *c)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    for (int i = 0; i < 3; i++)
        c->real[i] = (uint32_t)u->k[i];
    c->mode = (enum assay_rounding)u->rec.add.round;
    if (u->binary == apply_add_float_scaled)
        return !stores_low_bits(o) && o->lo > -NEAR && o->hi < NEAR && scaled_of(u, c);
    if (!end_of(o, &c->end) || c->end.wrap > 0)
        return false;
    if (u->binary == apply_mul)
        return float_rescale(u, reach * reach, ASSAY_CODES_FLOAT_PRODUCT, c);
    if (u->unary == apply_rescale)
        return float_rescale(u, reach, ASSAY_CODES_FLOAT_CHANGE, c);
    c->inside = u->rec.add.zero_point == ASSAY_ZERO_INSIDE;
    c->kind = u->binary == apply_add_float_real ? ASSAY_CODES_FLOAT_REAL : ASSAY_CODES_FLOAT_RATIO;
    return (u->binary == apply_add_float_real || u->binary == apply_add_float_ratio) &&
           is_plain(u->k[0]) && is_plain(u->k[1]) &&
           (c->kind == ASSAY_CODES_FLOAT_RATIO || is_plain(u->k[2]));
}

bool apply_codes_of(const assay_unit *u, int64_t reach, assay_codes *c)
{
    assert(reach >= 0);
    *c = (assay_codes){.zero = {(int32_t)u->in_zero[0], (int32_t)u->in_zero[1]},
                       .minus = u->subtract ? -1 : 0};
    if (u->untold || reach >= NEAR)
        return false;
    return integer_form(u, reach, c) || float_form(u, reach, c);
}
