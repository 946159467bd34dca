/* A rescale, step by step; see trace.h. */
#include <assert.h>

#include "schemes/rescale/trace.h"

#include <string.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/softfloat.h"

enum { ZONE_LEFT, ZONE_PRODUCT, ZONE_RESULT, ZONE_SUM, ZONE_STORE, ZONE_FLOAT, ZONE_UNIT };

/* How often x went round a register of so many bits. */
static int64_t turns(assay_int128 x, unsigned bits)
{
    assert(bits >= 1 && bits <= 64);
    return apply_saturate128(apply_shift_right128(x + ((assay_int128)1 << (bits - 1)), bits), 64);
}

static assay_int128 narrowed(assay_int128 v, int32_t bits, int32_t how, int64_t *zone)
{
    if (bits == 0)
        return v;
    unsigned width = (unsigned)bits;
    if (how != ASSAY_NARROW_WRAP)
        return apply_saturate128(v, width);
    *zone = turns(v, width);
    return apply_wrap((int64_t)v, width);
}

/* t->sum as the output's type holds it. */
static void store(const assay_rescale *r, assay_trace *t)
{
    const bool wraps = r->rule->store == ASSAY_STORE_WRAP;
    const bool low = r->clamp_lo != INT64_MIN, high = r->clamp_hi != INT64_MAX; /* bounds */
    t->clamped = low && t->sum < r->clamp_lo    ? r->clamp_lo
                 : high && t->sum > r->clamp_hi ? r->clamp_hi
                                                : t->sum;
    t->code = (int64_t)t->clamped;
    if (wraps && r->out_signed) {
        t->code = apply_wrap(t->code, r->out_bits);
        t->zone[ZONE_STORE] = turns(t->clamped, r->out_bits);
    } else if (wraps) {
        t->code = apply_wrap_unsigned(t->code, r->out_bits);
        t->zone[ZONE_STORE] = apply_saturate128(apply_shift_right128(t->clamped, r->out_bits), 64);
    }
}

static void add_zero(const assay_rescale *r, assay_trace *t)
{
    const assay_rule_rescale *k = r->rule;
    const bool before = k->zero_point == ASSAY_STAGE_BEFORE; /* nothing is added */
    t->sum = narrowed(t->rounded + (before ? 0 : r->zero_point), before ? 0 : k->sum_bits,
                      k->sum_overflow, &t->zone[ZONE_SUM]);
    store(r, t);
}

static void integers(const assay_rescale *r, size_t c, assay_trace *t)
{
    const assay_rule_rescale *k = r->rule;
    const assay_steps *list = &k->round;
    int64_t shift = r->shift[c], first = list->n > 1 ? list->step[0].bits : 0;
    t->shifted = t->operand;
    if (r->pre)
        t->shifted = (int64_t)apply_pre_shift(k, t->operand, r->pre[c]);
    t->saturated =
        k->operand_bits > 0 ? apply_saturate(t->shifted, (unsigned)k->operand_bits) : t->shifted;
    t->lifted = t->saturated;
    if (k->left_shift != ASSAY_LEFT_PRODUCT && shift < first) {
        t->left = (unsigned)(first - shift);
        shift = first;
        if (k->left_shift == ASSAY_LEFT_WRAP) {
            t->lifted = apply_shift_left_wrap(t->saturated, t->left, 32);
            if (t->left < 32) /* beyond, nothing is left */
                t->zone[ZONE_LEFT] =
                    turns((assay_int128)t->saturated * ((assay_int128)1 << t->left), 32);
        } else {
            t->lifted = apply_shift_left_saturate(apply_saturate(t->saturated, 32), t->left, 32);
        }
    }
    t->exact = t->product = (assay_int128)t->lifted * r->multiplier[c];
    if (k->product_bits > 0) {
        t->product = apply_wrap((int64_t)t->exact, (unsigned)k->product_bits);
        t->zone[ZONE_PRODUCT] = turns(t->exact, (unsigned)k->product_bits);
    }
    assay_int128 v = t->product;
    if (shift < 0) {
        t->product_left = (unsigned)-shift;
        v = apply_shift_left128(v, t->product_left);
        shift = 0;
    }
    for (int i = 0; i < list->n; i++) {
        bool last = i == list->n - 1;
        int64_t bits = last || list->step[i].bits > shift ? shift : list->step[i].bits;
        t->round[i].bits = bits > 127 ? 127 : (unsigned)bits;
        t->round[i].mode = (enum assay_rounding)list->step[i].mode;
        t->round[i].before = v;
        t->round[i].after = v =
            assay_round_shift128(v, t->round[i].bits, (enum assay_rounding)list->step[i].mode);
        shift -= bits;
    }
    t->n_rounds = list->n;
    t->narrowed = narrowed(v, k->result_bits, k->result_overflow, &t->zone[ZONE_RESULT]);
    t->rounded = t->narrowed;
    add_zero(r, t);
}

/* The unit of a float value, or the side on which it is far beyond the codes (or integral, where
 * low bits are stored). */
static int64_t unit_of(const assay_rescale *r, uint32_t f)
{
    const bool wraps = r->rule->store == ASSAY_STORE_WRAP;
    const int64_t far = INT64_C(1) << 24;
    int64_t low = apply_f32_to_int(f, ASSAY_ROUND_TRUNC, INT64_MIN, INT64_MAX, 0);
    int64_t v = apply_clamp_to(low, wraps ? -far : r->lo - r->zero_point - 2,
                               wraps ? far : r->hi - r->zero_point + 2);
    return v * 2 + (f >> 31);
}

/* Of a value beyond int32: it saturates, or becomes INT32_MIN. */
static void convert(const assay_rescale *r, int64_t v, assay_trace *t)
{
    t->rounded = apply_saturate(v, 32);
    if (r->rule->float_overflow != ASSAY_FLOAT_INT_MIN)
        return;
    t->zone[ZONE_FLOAT] = (v > INT32_MAX) - (v < INT32_MIN);
    t->rounded = t->zone[ZONE_FLOAT] != 0 ? INT32_MIN : v;
}

static void end_float(const assay_rescale *r, assay_trace *t)
{
    if (r->rule->zero_point != ASSAY_STAGE_INSIDE) {
        add_zero(r, t);
        return;
    }
    t->sum = t->rounded;
    store(r, t);
}

static void floats32(const assay_rescale *r, size_t c, assay_trace *t)
{
    const assay_rule_rescale *k = r->rule;
    const uint32_t zero = apply_f32_from_i64(r->zero_point);
    uint32_t f = apply_f32_from_i64(t->operand);
    t->f_acc = f;
    t->f_first = t->f_second = t->f_product = f = apply_f32_mul(f, (uint32_t)r->scale[c]);
    if (k->scale == ASSAY_FORM_F32_STEPS && r->scale_w) { /* pools have one factor */
        t->f_second = f = apply_f32_mul(f, (uint32_t)r->scale_w[c]);
        t->f_product = f = apply_f32_div(f, (uint32_t)r->scale_out[0]);
    }
    bool inside = k->zero_point == ASSAY_STAGE_INSIDE;
    t->f_inside = f = inside ? apply_f32_add(f, zero) : f;
    convert(
        r, apply_f32_to_int(f, (enum assay_rounding)k->round.step[0].mode, INT64_MIN, INT64_MAX, 0),
        t);
    if (k->float_rounding == ASSAY_FLOAT_ROUND_ADD_ONE) {
        t->rounded = apply_rescale_add_one(k, f);
        t->zone[ZONE_UNIT] = unit_of(r, f);
    }
    end_float(r, t);
}

static void floats64(const assay_rescale *r, size_t c, assay_trace *t)
{
    const assay_rule_rescale *k = r->rule;
    enum assay_rounding mode = (enum assay_rounding)k->round.step[0].mode;
    t->f_acc = apply_f64_from_i64(t->operand);
    t->f_product = t->f_inside = apply_f64_mul(t->f_acc, (uint64_t)r->scale[c]);
    if (k->zero_point == ASSAY_STAGE_INSIDE)
        t->f_inside = apply_f64_add(t->f_product, apply_f64_from_i64(r->zero_point));
    convert(r, apply_f64_to_int(t->f_inside, mode, INT64_MIN, INT64_MAX, 0), t);
    end_float(r, t);
}

int64_t assay_trace_zero(const assay_rescale *r)
{
    return r->in_zero + (r->rule->zero_point == ASSAY_STAGE_BEFORE ? r->zero_point : 0);
}

void assay_trace_run(const assay_rescale *r, int64_t x, size_t channel, assay_trace *t)
{
    size_t c = r->n > 1 ? channel : 0;
    memset(t, 0, sizeof *t);
    t->accepted = apply_rescale_accepts(r, x, channel);
    t->operand = apply_saturate128((assay_int128)x - assay_trace_zero(r), 64);
    switch ((enum assay_encoding)r->rule->encoding) {
    case ASSAY_ENCODE_THRESHOLDS:
        t->rounded = apply_rescale_value(r, x, channel);
        t->sum = t->clamped = t->rounded + r->zero_point;
        t->code = (int64_t)t->clamped;
        return;
    case ASSAY_ENCODE_F32:
        floats32(r, c, t);
        return;
    case ASSAY_ENCODE_F64:
        floats64(r, c, t);
        return;
    case ASSAY_ENCODE_MULTIPLIER:
    case ASSAY_ENCODE_SHIFT:
    case ASSAY_ENCODE_GLOW:
        integers(r, c, t);
    }
}
