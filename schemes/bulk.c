/* Rescales by the row; see bulk.h. */
#include "schemes/bulk.h"

#include <stdio.h>
#include <string.h>

#include "graph/type.h"
#include "schemes/derive/derive.h"

/* One rescale whose parameters change from row to row. */
typedef struct single {
    assay_record rec;
    assay_rescale r;
    int64_t multiplier, shift, pre, scale;
} single;

static assay_status start(single *o, const assay_scheme *s, const char *op, bool wide,
                          assay_error *err)
{
    memset(o, 0, sizeof *o);
    if (s->record == NULL)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "scheme %s: a plugin has no parameter record",
                          s->name);
    assay_effective_record(assay_data(s), op != NULL ? op : "conv", "", wide, &o->rec);
    o->r.rule = &o->rec.rescale;
    o->r.n = 1;
    return ASSAY_OK;
}

static bool encodes_float(const single *o)
{
    return o->rec.rescale.encoding == ASSAY_ENCODE_F32 ||
           o->rec.rescale.encoding == ASSAY_ENCODE_F64;
}

static double formed(const single *o, double scale)
{
    bool f32 =
        o->rec.rescale.scale == ASSAY_FORM_F32 || o->rec.rescale.scale == ASSAY_FORM_F32_STEPS;
    return f32 ? (double)(float)scale : scale;
}

static int64_t float_bits(const single *o, double scale)
{
    int64_t bits;
    memcpy(&bits, &scale, sizeof bits);
    return o->rec.rescale.encoding == ASSAY_ENCODE_F32 ? assay_bits_of((float)scale) : bits;
}

/* Row i's parameters in o->r; false with a reason when the target refuses the scale. */
static bool set_row(single *o, const assay_bulk *b, size_t i, char *why, size_t size)
{
    const assay_rule_rescale *k = &o->rec.rescale;
    assay_encoded e = {0, 0, 0};
    if (b->scale != NULL && !assay_encode(k, formed(o, b->scale[i]), &e, why, size))
        return false;
    if (encodes_float(o)) {
        if (b->scale == NULL) {
            snprintf(why, size, "a float encoding takes scales, not multipliers");
            return false;
        }
        o->scale = float_bits(o, formed(o, b->scale[i]));
        o->r.scale = &o->scale;
    } else {
        if (b->scale == NULL) {
            e.multiplier = b->multiplier[i];
            e.pre = k->encoding == ASSAY_ENCODE_GLOW && b->pre != NULL ? b->pre[i] : 0;
            e.shift = assay_shift_from_target(k, b->shift[i]) + e.pre;
        }
        if (!assay_place_encoded(k, &e, &o->multiplier, &o->shift, &o->pre)) {
            snprintf(why, size, "the pre-shift is out of reach");
            return false;
        }
        o->r.multiplier = &o->multiplier;
        o->r.shift = &o->shift;
        o->r.pre =
            k->pre_shift != ASSAY_PRE_NONE || k->encoding == ASSAY_ENCODE_GLOW ? &o->pre : NULL;
    }
    o->r.zero_point = b->zero_point != NULL ? b->zero_point[i] : 0;
    o->r.in_zero = b->in_zero != NULL ? b->in_zero[i] : 0;
    o->r.out_bits = b->type.bits;
    o->r.out_signed = b->type.is_signed;
    bool wraps = k->store == ASSAY_NARROW_WRAP;
    o->r.lo = b->lo != NULL ? b->lo[i] : wraps ? INT64_MIN : assay_elem_min(b->type);
    o->r.hi = b->hi != NULL ? b->hi[i] : wraps ? INT64_MAX : assay_elem_max(b->type);
    return true;
}

assay_status assay_scheme_bulk_apply(const assay_scheme *s, const assay_bulk *b, int64_t *out,
                                     uint8_t *error, assay_error *err)
{
    single o;
    char why[256] = "";
    assay_status status = start(&o, s, b->op, b->wide, err);
    if (status != ASSAY_OK)
        return status;
    if (b->scale == NULL && (b->multiplier == NULL || b->shift == NULL))
        return assay_fail(err, ASSAY_ERR_INPUT, "scales, or multipliers and shifts, are needed");
    if (o.rec.rescale.encoding == ASSAY_ENCODE_THRESHOLDS ||
        o.rec.rescale.scale == ASSAY_FORM_F32_STEPS)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "scheme %s: rows need one scale that is applied at once (its encoding is "
                          "thresholds, or its scales are applied in steps)",
                          s->name);
    for (size_t i = 0; i < b->n; i++) {
        bool ok = set_row(&o, b, i, why, sizeof why);
        if (ok && !assay_rescale_accepts(&o.r, b->acc[i], 0)) {
            snprintf(why, sizeof why, "the target refuses the accumulator %lld",
                     (long long)b->acc[i]);
            ok = false;
        }
        if (!ok && error == NULL)
            return assay_fail(err, ASSAY_ERR_SCHEME, "row %zu: %s", i, why);
        if (error != NULL)
            error[i] = !ok;
        assay_rescale_choose(&o.r);
        out[i] = ok ? assay_rescale_one(&o.r, b->acc[i], 0) : 0;
    }
    return ASSAY_OK;
}

assay_status assay_scheme_bulk_derive(const assay_scheme *s, const char *op, bool wide,
                                      const double *scale, size_t n, int64_t *multiplier,
                                      int64_t *shift, int64_t *pre, uint8_t *error,
                                      assay_error *err)
{
    single o;
    char why[256] = "";
    assay_status status = start(&o, s, op, wide, err);
    if (status != ASSAY_OK)
        return status;
    const assay_rule_rescale *k = &o.rec.rescale;
    for (size_t i = 0; i < n; i++) {
        assay_encoded e = {0, 0, 0};
        bool ok = assay_encode(k, formed(&o, scale[i]), &e, why, sizeof why);
        if (!ok && error == NULL)
            return assay_fail(err, ASSAY_ERR_SCHEME, "row %zu: %s", i, why);
        if (error != NULL)
            error[i] = !ok;
        bool floats = encodes_float(&o);
        multiplier[i] = !ok ? 0 : floats ? float_bits(&o, formed(&o, scale[i])) : e.multiplier;
        shift[i] = !ok || floats ? 0 : assay_shift_to_target(k, e.shift) - e.pre;
        if (pre != NULL)
            pre[i] = ok ? e.pre : 0;
    }
    return ASSAY_OK;
}
