/* One rescale on its own; see lone.h. */
#include "schemes/lone.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/core/type.h"

#define FLOAT_ONE 0x3f800000

assay_status assay_lone_start(assay_lone *o, const assay_scheme *s, const char *op, bool wide,
                              assay_error *err)
{
    memset(o, 0, sizeof *o);
    if (s->record == NULL)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "scheme %s: a plugin has no parameter record",
                          s->name);
    assay_effective_record(assay_data(s), op != NULL ? op : "conv", "", wide, &o->rec);
    o->rule = o->rec.rescale;
    if (o->rule.encoding == ASSAY_ENCODE_THRESHOLDS) {
        o->rule.encoding = ASSAY_ENCODE_MULTIPLIER;
        o->rule.left_shift = ASSAY_LEFT_PRODUCT;
        o->rule.sum_bits = 0;
    }
    o->r.rule = &o->rule;
    o->r.n = 1;
    return ASSAY_OK;
}

bool assay_lone_is_float(const assay_lone *o)
{
    return o->rec.rescale.encoding == ASSAY_ENCODE_F32 ||
           o->rec.rescale.encoding == ASSAY_ENCODE_F64;
}

double assay_lone_formed(const assay_lone *o, double scale)
{
    bool f32 =
        o->rec.rescale.scale == ASSAY_FORM_F32 || o->rec.rescale.scale == ASSAY_FORM_F32_STEPS;
    return f32 ? (double)(float)scale : scale;
}

static void set_float(assay_lone *o, double scale)
{
    if (o->rec.rescale.encoding == ASSAY_ENCODE_F32)
        o->scale = assay_bits_of((float)scale);
    else
        memcpy(&o->scale, &scale, sizeof o->scale);
    o->scale_w = o->scale_out = FLOAT_ONE;
    o->r.scale = &o->scale;
    o->r.scale_w = &o->scale_w;
    o->r.scale_out = &o->scale_out;
    assay_derive_near(&o->r, &scale, 1, &o->near);
}

/* Thresholds come from rounding the exact product once: R's own 53 bits are the multiplier. */
static void set_exact(assay_lone *o, double scale)
{
    int exponent;
    o->encoded.multiplier = (int64_t)ldexp(frexp(scale, &exponent), 53);
    o->encoded.shift = 53 - exponent;
    o->encoded.pre = 0;
}

static bool set_integers(assay_lone *o, const assay_bulk *b, size_t i, char *why, size_t size)
{
    const assay_rule_rescale *k = &o->rec.rescale;
    assay_encoded *e = &o->encoded;
    if (b->scale == NULL) {
        e->multiplier = b->multiplier[i];
        e->pre = k->encoding == ASSAY_ENCODE_GLOW && b->pre != NULL ? b->pre[i] : 0;
        e->shift = assay_shift_from_target(k, b->shift[i]) + e->pre;
        if (!assay_check_given(k, e, why, size))
            return false;
    }
    if (!assay_place_encoded(k, e, &o->multiplier, &o->shift, &o->pre)) {
        snprintf(why, size, "the pre-shift is out of reach");
        return false;
    }
    bool has_pre = k->pre_shift != ASSAY_PRE_NONE || k->encoding == ASSAY_ENCODE_GLOW;
    o->r.multiplier = &o->multiplier;
    o->r.shift = &o->shift;
    o->r.pre = has_pre ? &o->pre : NULL;
    return true;
}

bool assay_lone_set(assay_lone *o, const assay_bulk *b, size_t i, char *why, size_t size)
{
    const assay_rule_rescale *k = &o->rec.rescale;
    double scale = b->scale != NULL ? assay_lone_formed(o, b->scale[i]) : 0;
    if (b->scale != NULL && !assay_encode(k, scale, &o->encoded, why, size))
        return false;
    if (b->scale == NULL && (assay_lone_is_float(o) || k->encoding == ASSAY_ENCODE_THRESHOLDS)) {
        snprintf(why, size, "this encoding takes scales, not multipliers");
        return false;
    }
    if (k->encoding == ASSAY_ENCODE_THRESHOLDS)
        set_exact(o, scale);
    if (assay_lone_is_float(o))
        set_float(o, scale);
    else if (!set_integers(o, b, i, why, size))
        return false;
    o->r.zero_point = b->zero_point != NULL ? b->zero_point[i] : 0;
    o->r.in_zero = b->in_zero != NULL ? b->in_zero[i] : 0;
    o->r.out_bits = b->type.bits;
    o->r.out_signed = b->type.is_signed;
    bool wraps = k->store == ASSAY_NARROW_WRAP;
    o->r.lo = b->lo != NULL ? b->lo[i] : wraps ? INT64_MIN : assay_elem_min(b->type);
    o->r.hi = b->hi != NULL ? b->hi[i] : wraps ? INT64_MAX : assay_elem_max(b->type);
    assay_rescale_choose(&o->r);
    return true;
}

bool assay_lone_form(assay_lone *o, const assay_bulk *b, float in, float weight, float out,
                     bool per_tensor, char *why, size_t size)
{
    double real = assay_form_scale(&o->rec.rescale, in, weight, out, per_tensor);
    assay_bulk one = *b;
    one.scale = &real;
    if (!assay_lone_set(o, &one, 0, why, size))
        return false;
    if (o->rec.rescale.scale == ASSAY_FORM_F32_STEPS) {
        o->scale = assay_bits_of(in);
        o->scale_w = assay_bits_of(weight);
        o->scale_out = assay_bits_of(out);
        assay_derive_near_steps(&o->r, in, &weight, 1, out, &real, &o->near);
    }
    return true;
}
