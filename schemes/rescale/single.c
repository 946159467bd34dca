/* One rescale on its own; see single.h. */
#include "schemes/rescale/single.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/core/type.h"
#include "schemes/derive/derive.h"
#include "schemes/record/guess.h"

#define FLOAT_ONE 0x3f800000

/* Ops that rescale an accumulator of products. */
static bool is_weighted(assay_op op)
{
    return derive_class_of(op).derive == derive_weighted && op != ASSAY_OP_SVDF_FEATURE;
}

/* Ops that are one rescale, of what is called the accumulator here. */
static bool is_one_rescale(const assay_record *r, assay_op op)
{
    switch (op) {
    case ASSAY_OP_MUL:
    case ASSAY_OP_REDUCE_SUM:
        return true;
    case ASSAY_OP_RESCALE:
    case ASSAY_OP_RELU:
    case ASSAY_OP_CLIP:
    case ASSAY_OP_MAX_POOL:
    case ASSAY_OP_REDUCE_MAX:
    case ASSAY_OP_REDUCE_MIN:
        return r->unary.rescale == ASSAY_CHANGE_RESCALE;
    case ASSAY_OP_AVG_POOL: /* R with the divisor in it */
    case ASSAY_OP_GLOBAL_AVG_POOL:
    case ASSAY_OP_REDUCE_MEAN:
        return r->pool.kind == ASSAY_POOL_RESCALE;
    default:
        return is_weighted(op);
    }
}

static assay_status check_op(const assay_single *o, const assay_scheme *s, const char *name,
                             assay_error *err)
{
    if (o->op == ASSAY_OP_COUNT) {
        assay_guess g = ASSAY_GUESS(name);
        for (int op = 0; op < ASSAY_OP_COUNT; op++)
            assay_guess_consider(&g, assay_op_get((assay_op)op)->name);
        return assay_fail(err, ASSAY_ERR_INPUT, "no op \"%s\"; nearest: %s", name, g.best);
    }
    if (assay_data(s)->in_float[o->op])
        return assay_fail(err, ASSAY_ERR_INPUT, "scheme %s leaves %s in float (float_ops)", s->name,
                          name);
    if (!is_one_rescale(&o->rec, o->op))
        return assay_fail(
            err, ASSAY_ERR_INPUT,
            "%s is not a single rescale of an accumulator under scheme %s; comparing schemes "
            "over a network (`graph`) tries its nodes",
            name, s->name);
    return ASSAY_OK;
}

void assay_single_of_record(assay_single *o, const assay_record *rec, assay_op op)
{
    memset(o, 0, sizeof *o);
    o->op = op;
    o->rec = *rec;
    o->rule = o->rec.rescale;
    if (o->rule.encoding == ASSAY_ENCODE_THRESHOLDS) {
        o->rule.encoding = ASSAY_ENCODE_MULTIPLIER;
        o->rule.left_shift = ASSAY_LEFT_PRODUCT;
        o->rule.sum_bits = 0;
    }
    o->r.rule = &o->rule;
    o->r.n = 1;
    o->r.untold = derive_is_untold(&o->rec);
}

assay_status assay_single_start(assay_single *o, const assay_scheme *s, const char *op,
                                unsigned variant, assay_error *err)
{
    assay_record rec;
    memset(o, 0, sizeof *o);
    if (!s->record)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "scheme %s: a %s has no parameter record",
                          s->name, assay_scheme_sort(s));
    op = op ? op : "conv";
    assay_effective_record(assay_data(s), op, "", variant, &rec);
    assay_single_of_record(o, &rec, assay_op_find(op));
    return check_op(o, s, op, err);
}

static const int64_t *one_of(const int64_t *list, size_t i, int64_t *place)
{
    if (!list)
        return NULL;
    *place = list[i];
    return place;
}

void assay_single_of_unit(assay_single *o, const assay_unit *u, const assay_rescale *r,
                          size_t channel)
{
    const size_t c = r->n > 1 ? channel : 0;
    memset(o, 0, sizeof *o);
    o->rec = u->rec;
    o->rec.rescale = o->rule = *r->rule;
    o->op = u->op;
    o->r = *r;
    o->r.rule = &o->rule;
    o->r.n = 1;
    o->r.multiplier = one_of(r->multiplier, c, &o->multiplier);
    o->r.shift = one_of(r->shift, c, &o->shift);
    o->r.pre = one_of(r->pre, c, &o->pre);
    o->r.scale = one_of(r->scale, c, &o->scale);
    o->r.scale_w = one_of(r->scale_w, c, &o->scale_w);
    o->r.scale_out = one_of(r->scale_out, 0, &o->scale_out);
    o->r.near = one_of(r->near, c, &o->near);
    o->r.threshold = r->threshold ? r->threshold + c * r->n_thresholds : NULL;
}

bool assay_single_is_float(const assay_single *o)
{
    return o->rec.rescale.encoding == ASSAY_ENCODE_F32 ||
           o->rec.rescale.encoding == ASSAY_ENCODE_F64;
}

double assay_single_formed(const assay_single *o, double scale)
{
    return derive_forms_f32(&o->rec.rescale) ? (double)(float)scale : scale;
}

static void set_float(assay_single *o, double scale)
{
    if (o->rec.rescale.encoding == ASSAY_ENCODE_F32)
        o->scale = derive_bits_of((float)scale);
    else
        memcpy(&o->scale, &scale, sizeof o->scale);
    o->scale_w = o->scale_out = FLOAT_ONE;
    o->r.scale = &o->scale;
    o->r.scale_w = &o->scale_w;
    o->r.scale_out = &o->scale_out;
    derive_near(&o->r, &scale, 1, &o->near);
}

/* The encoded scale in its places. */
static void place(assay_single *o)
{
    const assay_rule_rescale *k = &o->rec.rescale;
    derive_place_encoded(k, &o->encoded, &o->multiplier, &o->shift, &o->pre);
    bool has_pre = k->pre_shift != ASSAY_PRE_NONE || k->encoding == ASSAY_ENCODE_GLOW;
    o->r.multiplier = &o->multiplier;
    o->r.shift = &o->shift;
    o->r.pre = has_pre ? &o->pre : NULL;
}

/* Bounds act within the type, whose range they never replace; where the low bits are stored there
 * is no such range, and they act on the value before. */
static bool set_bounds(assay_single *o, const assay_batch *b, size_t i, char *why, size_t size)
{
    const int64_t *lo = b->lo ? &b->lo[i] : NULL, *hi = b->hi ? &b->hi[i] : NULL;
    assay_rescale *r = &o->r;
    derive_end(r, b->type, lo, hi);
    if (r->clamp_lo > r->clamp_hi) {
        snprintf(why, size, "bounds %lld..%lld leave no code of the type", (long long)r->clamp_lo,
                 (long long)r->clamp_hi);
        return false;
    }
    if (o->op == ASSAY_OP_RELU)
        derive_relu(r, r->rule->zero_point == ASSAY_STAGE_BEFORE ? 0 : r->zero_point);
    return true;
}

/* All of row i but its scale. */
static bool set_rest(assay_single *o, const assay_batch *b, size_t i, char *why, size_t size)
{
    o->r.zero_point = b->zero_point ? b->zero_point[i] : 0;
    o->r.in_zero = b->in_zero ? b->in_zero[i] : 0;
    if (!set_bounds(o, b, i, why, size))
        return false;
    if (o->rec.rescale.encoding == ASSAY_ENCODE_THRESHOLDS && o->r.hi - o->r.lo > 65535) {
        snprintf(why, size, "thresholds need an output of at most 16 bits");
        return false;
    }
    apply_rescale_choose(&o->r);
    return true;
}

/* Row i with this scale. */
static bool set_scale(assay_single *o, const assay_batch *b, size_t i, double scale, char *why,
                      size_t size)
{
    if (!derive_encode(&o->rec.rescale, scale, &o->encoded, why, size))
        return false;
    if (assay_single_is_float(o))
        set_float(o, scale);
    else
        place(o);
    return set_rest(o, b, i, why, size);
}

bool assay_single_set(assay_single *o, const assay_batch *b, size_t i, char *why, size_t size)
{
    const assay_rule_rescale *k = &o->rec.rescale;
    assay_encoded *e = &o->encoded;
    if (b->scale)
        return set_scale(o, b, i, assay_single_formed(o, b->scale[i]), why, size);
    if (assay_single_is_float(o) || k->encoding == ASSAY_ENCODE_THRESHOLDS) {
        snprintf(why, size, "this encoding takes scales, not multipliers");
        return false;
    }
    e->multiplier = b->multiplier[i];
    e->pre = k->encoding == ASSAY_ENCODE_GLOW && b->pre ? b->pre[i] : 0;
    e->shift = derive_shift_from_target(k, b->shift[i]) + e->pre;
    if (!derive_check_precomputed(k, e, why, size))
        return false;
    place(o);
    return set_rest(o, b, i, why, size);
}

bool assay_single_form(assay_single *o, const assay_batch *b, size_t i, float in, float weight,
                       float out, char *why, size_t size)
{
    double real = derive_form_scale(&o->rec.rescale, in, weight, out, b->per_tensor);
    if (!set_scale(o, b, i, real, why, size))
        return false;
    if (o->rec.rescale.scale == ASSAY_FORM_F32_STEPS) {
        o->scale = derive_bits_of(in);
        o->scale_w = derive_bits_of(weight);
        o->scale_out = derive_bits_of(out);
        derive_near_steps(&o->r, in, &weight, 1, out, &real, &o->near);
    }
    return true;
}

bool assay_single_of_row(assay_single *o, const assay_batch *b, size_t i, char *why, size_t size)
{
    if (!b->in)
        return assay_single_set(o, b, i, why, size);
    return assay_single_form(o, b, i, (float)b->in[i], b->weight ? (float)b->weight[i] : 1,
                             b->out ? (float)b->out[i] : 1, why, size);
}

bool assay_single_apply_overflow(const assay_single *o, int64_t *acc)
{
    assay_unit u;
    bool trapped = false;
    if (!is_weighted(o->op))
        return true;
    memset(&u, 0, sizeof u);
    u.rec.accumulator = o->rec.accumulator;
    *acc = apply_overflow(&u, *acc, &trapped);
    return !trapped;
}

bool assay_single_holds(const assay_single *o, int64_t lo, int64_t hi)
{
    const unsigned bits = (unsigned)o->rec.accumulator.bits;
    return !is_weighted(o->op) || (lo >= apply_int_min(bits) && hi <= apply_int_max(bits));
}

bool assay_single_code(const assay_single *o, int64_t acc, bool is_sum, int64_t *code, char *why,
                       size_t size)
{
    int64_t held = acc;
    if (is_sum && !assay_single_apply_overflow(o, &held))
        snprintf(why, size, "the sum %lld leaves the accumulator's %d bits", (long long)acc,
                 o->rec.accumulator.bits);
    else if (!apply_rescale_accepts(&o->r, held, 0))
        snprintf(why, size, "the target refuses the accumulator %lld", (long long)held);
    else {
        *code = apply_rescale_one(&o->r, held, 0);
        return true;
    }
    return false;
}
