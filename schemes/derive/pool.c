/* Average pool, mean, sum. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/core/type.h"
#include "schemes/derive/derive.h"

#define MAX_WINDOW 65536

/* An output rescale for one divisor. */
static assay_status for_count(const assay_derive *d, assay_rescale *r, int64_t count,
                              const char *suffix)
{
    float s_in = derive_scale_of(&d->spec->in[0]), s_out = derive_scale_of(d->spec->out);
    float n = (float)count, ratio = s_in / s_out;
    float product = s_out * n;
    double real = (double)s_in / (double)s_out / (double)count;
    if (derive_forms_f32(r->rule)) {
        float f = d->u->rec.pool.scale == ASSAY_POOL_RATIO_OVER_COUNT ? ratio / n : s_in / product;
        real = (double)f;
    }
    return derive_one(d, r, real, suffix);
}

/* TFLite reduce.h: the multiplier of s_in / s_out divided by the count, as many bits shifted in
 * first as fit. */
static assay_status divided(const assay_derive *d, assay_rescale *r, int64_t count,
                            const char *suffix)
{
    assert(count >= 1);
    double real = derive_form_scale(r->rule, derive_scale_of(&d->spec->in[0]), 1,
                                    derive_scale_of(d->spec->out), true);
    assay_encoded e;
    char why[256];
    if (!derive_encode(r->rule, real, &e, why, sizeof why))
        return derive_fail(d, "%s", why);
    int64_t left = r->rule->multiplier_bits - e.shift;
    int64_t shift = 63 - __builtin_clzll((uint64_t)count);
    shift = shift > 32 ? 32 : shift;
    shift = shift > 31 + left ? 31 + left : shift;
    shift = shift < 0 ? 0 : shift;
    e.multiplier = e.multiplier * (INT64_C(1) << shift) / count;
    e.shift += shift;
    return derive_encoded(d, r, &e, 1, suffix);
}

static assay_status by_count(const assay_derive *d, bool divides_multiplier)
{
    assay_unit *u = d->u;
    bool any = u->op == ASSAY_OP_AVG_POOL;
    size_t n = any ? (size_t)u->depth : 1;
    assay_rescale *list = derive_unit_alloc(u, n * sizeof *list);
    if (!list)
        return derive_memory(d);
    assay_status s = ASSAY_OK;
    for (size_t i = 0; i < n && !s; i++) {
        int64_t count = any ? (int64_t)i + 1 : u->depth;
        list[i] = u->scale[ASSAY_OUT];
        char suffix[32] = "";
        if (any)
            snprintf(suffix, sizeof suffix, "_over_%lld", (long long)count);
        s = divides_multiplier ? divided(d, &list[i], count, suffix)
                               : for_count(d, &list[i], count, suffix);
    }
    u->by_count = list;
    u->n_by_count = n;
    u->pool = apply_pool_rescale;
    return s;
}

/* AMD VART cpu-runner: fixed fractions for common square windows, else the best of N / 2^M. */
static void dpu_fraction(const int64_t window[2], int64_t area, int64_t *n, int64_t *m)
{
    assert(area >= 1);
    static const int64_t known[][3] = {{3, 7, 6}, {5, 10, 8}, {6, 7, 8}, {7, 21, 10}, {14, 21, 12}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (window[0] == known[i][0] && window[1] == known[i][0]) {
            *n = known[i][1];
            *m = known[i][2];
            return;
        }
    double least = INFINITY;
    int64_t limit = (int64_t)ceil(log2(128.0 * (double)area));
    for (int64_t bits = 0; bits < limit; bits++) {
        int64_t factor = (int64_t)round(ldexp(1, (int)bits) / (double)area);
        double error = fabs((double)factor / ldexp(1, (int)bits) - 1 / (double)area);
        if (error < least) {
            least = error;
            *n = factor;
            *m = bits;
        }
    }
}

/* Kinds that divide by the window's sides whatever it holds. */
static assay_status whole_windows(const assay_derive *d, const char *kind)
{
    if (!d->spec->uncounted)
        return ASSAY_OK;
    return derive_fail(d,
                       "pool.kind %s divides by the whole window; a window of the node reaches "
                       "cells that do not count",
                       kind);
}

static assay_status dpu(const assay_derive *d)
{
    assay_unit *u = d->u;
    int e_in, e_out;
    assay_status s = whole_windows(d, "dpu");
    if (s)
        return s;
    if (frexpf(derive_scale_of(&d->spec->in[0]), &e_in) != 0.5f ||
        frexpf(derive_scale_of(d->spec->out), &e_out) != 0.5f)
        return derive_fail(d, "needs power-of-two scales");
    int64_t *k = derive_unit_array(u, "constants", 3);
    if (!k)
        return derive_memory(d);
    dpu_fraction(u->sides, u->depth, &u->k[1], &u->k[2]);
    u->k[3] = e_out - e_in;
    for (int i = 0; i < 3; i++)
        k[i] = u->k[i + 1];
    u->pool = apply_pool_dpu;
    const assay_interval code = derive_with_zero(derive_codes(&d->spec->in[0]));
    const double share = ldexp((double)u->depth * (double)u->k[1], -(int)(u->k[2] + u->k[3]));
    return derive_accepts_end(d, derive_around((double)code.lo * share, (double)code.hi * share),
                              "an average");
}

/* Kinds that divide codes of the input's scale; other output parameters take one more rescale. */
static assay_status then_rescale(const assay_derive *d)
{
    const float one = 1;
    const assay_type *in = &d->spec->in[0], *out = d->spec->out;
    const assay_interval average = derive_with_zero(derive_codes(in)); /* padding is 0 */
    const char *what = "an average less its zero point";
    d->u->k[0] = derive_same_params(in, out);
    if (d->u->k[0])
        return derive_accepts_end(d, average, what);
    const assay_status s = derive_ratio(d, &d->u->scale[ASSAY_OUT], derive_scale_of(in), &one, 1,
                                        derive_scale_of(out), "");
    return s ? s : derive_accepts(d, ASSAY_OUT, average, what);
}

/* ONNX Runtime's QLinearAveragePool: codes as float32 by a table, then a float average pool. */
static assay_status float_sum(const assay_derive *d)
{
    assay_unit *u = d->u;
    const assay_elem e = d->spec->in[0].elem;
    float scale = derive_scale_of(&d->spec->in[0]);
    if (e.bits > 16)
        return derive_fail(d, "needs input codes of at most 16 bits");
    int64_t lo = assay_elem_min(e), hi = assay_elem_max(e);
    int64_t *table = derive_unit_array(u, "table", (size_t)(hi - lo + 1));
    int64_t *k = derive_unit_array(u, "scale_out_bits", 1);
    if (!table || !k)
        return derive_memory(d);
    for (int64_t q = lo; q <= hi; q++)
        table[q - lo] = derive_bits_of(scale * (float)(q - u->in_zero[0]));
    u->k[0] = k[0] = derive_bits_of(derive_scale_of(d->spec->out));
    u->table = table;
    u->table_min = lo;
    u->window = apply_window_float_sum;
    return ASSAY_OK;
}

static assay_status two_stage(const assay_derive *d)
{
    const int64_t *side = d->spec->window;
    assay_status s = whole_windows(d, "two-stage");
    if (s)
        return s;
    if (side[0] == 0 && side[1] == 0)
        return derive_fail(d, "two-stage pooling needs windows of one or two axes");
    if (side[0] < 1 || side[0] > 8 || side[1] < 1 || side[1] > 8)
        return derive_fail(d,
                           "two-stage pooling needs a window of 1 to 8 rows and columns; found "
                           "%lld x %lld, %lld cells",
                           (long long)side[0], (long long)side[1], (long long)d->spec->depth);
    d->u->pool = apply_pool_two_stage;
    return then_rescale(d);
}

assay_status derive_pool(const assay_derive *d)
{
    assay_unit *u = d->u;
    const float one = 1;
    float s_in = derive_scale_of(&d->spec->in[0]), s_out = derive_scale_of(d->spec->out);
    u->depth = d->spec->depth;
    if (u->op == ASSAY_OP_REDUCE_SUM) {
        u->pool = apply_sum;
        return derive_output_rescale(d, s_in, &one, 1, s_out);
    }
    if (u->op != ASSAY_OP_AVG_POOL && u->op != ASSAY_OP_GLOBAL_AVG_POOL &&
        u->op != ASSAY_OP_REDUCE_MEAN)
        return derive_unknown(d);
    if (u->depth < 1 || (u->op == ASSAY_OP_AVG_POOL && u->depth > MAX_WINDOW))
        return derive_fail(d, "a window of %lld cells; expected 1 to %d", (long long)u->depth,
                           MAX_WINDOW);
    memcpy(u->sides, d->spec->window, sizeof u->sides);
    assay_status s = derive_range(d);
    if (s)
        return s;
    switch ((enum assay_pool_kind)u->rec.pool.kind) {
    case ASSAY_POOL_DIVIDE:
        u->pool = apply_pool_divide;
        return then_rescale(d);
    case ASSAY_POOL_RECIPROCAL:
        u->pool = apply_pool_reciprocal;
        s = derive_fits_product(d, derive_with_zero(derive_codes(&d->spec->in[0])),
                                (assay_interval){1, 1}, (double)u->depth, 32,
                                "the sum of the window");
        return s ? s : then_rescale(d);
    case ASSAY_POOL_TWO_STAGE:
        return two_stage(d);
    case ASSAY_POOL_DPU:
        return dpu(d);
    case ASSAY_POOL_RESCALE_DIVIDE:
        if (u->op != ASSAY_OP_AVG_POOL || d->spec->flag != 0) /* padding counts */
            return by_count(d, false);
        if (u->rec.rescale.encoding == ASSAY_ENCODE_THRESHOLDS)
            return derive_fail(d,
                               "pool.kind rescale-divide divides what is rescaled, but thresholds "
                               "give no more than the output's codes (rescale.encoding)");
        u->pool = apply_pool_rescale_divide;
        return derive_ratio(d, &u->scale[ASSAY_OUT], s_in, &one, 1, s_out, "");
    case ASSAY_POOL_FLOAT_SUM:
        return u->op == ASSAY_OP_AVG_POOL ? float_sum(d) : by_count(d, false);
    case ASSAY_POOL_DIVIDED_MULTIPLIER:
        return by_count(d, true);
    case ASSAY_POOL_RESCALE:
        return by_count(d, false);
    }
    return derive_unknown(d);
}
