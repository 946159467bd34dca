/* Rescales of a unit: parameters in arrays, zero point and range, the row chosen. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "schemes/derive/derive.h"

int64_t derive_code_of(const assay_record *rec, float x, const assay_type *t)
{
    const int64_t max = assay_elem_max(t->elem);
    return apply_code(&rec->convert, derive_bits_of(x),
                      derive_quantize_bits(rec, derive_scale_of(t)), derive_zero_of(t), INT32_MIN,
                      max > INT32_MAX ? max : INT32_MAX, NULL);
}

uint32_t derive_quantize_bits(const assay_record *rec, float scale)
{
    return derive_bits_of(rec->convert.division == ASSAY_QUANTIZE_RECIPROCAL ? 1.0f / scale
                                                                             : scale);
}

bool derive_end(assay_rescale *r, assay_elem e, const int64_t *lo, const int64_t *hi)
{
    const bool wraps = r->rule->store == ASSAY_STORE_WRAP;
    r->lo = assay_elem_min(e);
    r->hi = assay_elem_max(e);
    r->out_bits = e.bits;
    r->out_signed = e.is_signed;
    if (lo && *lo > r->lo)
        r->lo = *lo;
    if (hi && *hi < r->hi)
        r->hi = *hi;
    r->clamp_lo = !wraps ? r->lo : lo ? *lo : INT64_MIN;
    r->clamp_hi = !wraps ? r->hi : hi ? *hi : INT64_MAX;
    return r->lo <= r->hi;
}

void derive_end_of(assay_rescale *r, const assay_rescale *other)
{
    r->zero_point = other->zero_point;
    r->lo = other->lo;
    r->hi = other->hi;
    r->clamp_lo = other->clamp_lo;
    r->clamp_hi = other->clamp_hi;
    r->out_bits = other->out_bits;
    r->out_signed = other->out_signed;
}

/* The code of a bound of the fused activation. One that the network gives as a code stays that
 * code: on its way through a float and `convert` it would become another. */
static int64_t bound_of(const assay_derive *d, double bound, int64_t code)
{
    const assay_type *out = d->spec->out;
    if (d->spec->has_code_bounds &&
        bound == (double)derive_scale_of(out) * ((double)code - derive_zero_of(out)))
        return code;
    return derive_code_of(&d->u->rec, (float)bound, out);
}

/* The output's range and zero point; a device's own zero point takes the place of the type's, after
 * which the codes of the activation still go. */
static assay_status set_range(const assay_derive *d, int32_t device_zero)
{
    const assay_unit_spec *s = d->spec;
    assay_rescale *r = &d->u->scale[ASSAY_OUT];
    const int64_t min = assay_elem_min(s->out->elem), max = assay_elem_max(s->out->elem);
    int64_t lo = isinf(s->act_lo) ? min : bound_of(d, s->act_lo, s->code_lo);
    int64_t hi = isinf(s->act_hi) ? max : bound_of(d, s->act_hi, s->code_hi);
    lo = lo > min ? lo : min;
    hi = hi < max ? hi : max;
    r->zero_point = device_zero;
    if (!derive_end(r, s->out->elem, isinf(s->act_lo) ? NULL : &lo, isinf(s->act_hi) ? NULL : &hi))
        return derive_fail(d, "the fused activation [%g, %g] leaves no code of the output",
                           s->act_lo, s->act_hi);
    int64_t *zero = derive_unit_array(d->u, "zero_point", 1);
    int64_t *range = derive_unit_array(d->u, "range", 2);
    if (!zero || !range)
        return derive_memory(d);
    zero[0] = r->zero_point;
    range[0] = r->clamp_lo;
    range[1] = r->clamp_hi;
    return ASSAY_OK;
}

assay_status derive_range(const assay_derive *d)
{
    return set_range(d, derive_zero_of(d->spec->out));
}

void derive_intermediate(assay_rescale *r)
{
    r->zero_point = 0;
    derive_end(r, (assay_elem){ASSAY_KIND_INT, 32, true}, NULL, NULL);
}

/* "multiplier" + "_1", in the unit's memory. */
static const char *name_of(assay_unit *u, const char *base, const char *suffix)
{
    char *name = derive_unit_alloc(u, strlen(base) + strlen(suffix) + 1);
    if (name) {
        strcpy(name, base);
        strcat(name, suffix);
    }
    return name;
}

assay_status derive_encoded(const assay_derive *d, assay_rescale *r, const assay_encoded *e,
                            size_t n, const char *suffix)
{
    assay_unit *u = d->u;
    const assay_rule_rescale *k = r->rule;
    bool has_pre = k->pre_shift != ASSAY_PRE_NONE || k->encoding == ASSAY_ENCODE_GLOW;
    int64_t *m = derive_unit_array(u, NULL, n), *shift = derive_unit_array(u, NULL, n);
    int64_t *pre = has_pre ? derive_unit_array(u, name_of(u, "pre", suffix), n) : NULL;
    int64_t *m_out = derive_unit_array(u, name_of(u, "multiplier", suffix), n);
    int64_t *shift_out = derive_unit_array(u, name_of(u, "shift", suffix), n);
    if (!m || !shift || (has_pre && !pre) || !m_out || !shift_out)
        return derive_memory(d);
    for (size_t c = 0; c < n; c++) {
        int64_t before;
        derive_place_encoded(k, &e[c], &m[c], &shift[c], &before);
        if (has_pre)
            pre[c] = before;
        m_out[c] = e[c].multiplier;
        shift_out[c] = derive_shift_to_target(k, e[c].shift) - e[c].pre;
    }
    r->n = n;
    r->multiplier = m;
    r->shift = shift;
    r->pre = pre;
    apply_rescale_choose(r);
    return ASSAY_OK;
}

/* The channel of the greatest finite |R|. */
static size_t greatest_of(const double *real, size_t n)
{
    size_t max = 0;
    for (size_t c = 1; c < n; c++)
        if (isfinite(real[c]) && (!isfinite(real[max]) || fabs(real[c]) > fabs(real[max])))
            max = c;
    return max;
}

/* One of n channels' scales; a refusal names the channel where there are several. */
static assay_status encode_channel(const assay_derive *d, const assay_rule_rescale *k,
                                   const double *real, size_t n, size_t c, assay_encoded *e)
{
    char why[256];
    const size_t max = k->common_shift ? greatest_of(real, n) : c;
    if (derive_encode_beside(k, real[c], fabs(real[max]), e, why, sizeof why))
        return ASSAY_OK;
    return n > 1 ? derive_fail(d, "channel %zu: %s", c, why) : derive_fail(d, "%s", why);
}

static bool reaches(const assay_encoded *e, enum assay_rounding mode, int64_t x, int64_t code)
{
    return assay_round_shift128((assay_int128)x * e->multiplier, (unsigned)e->shift, mode) >= code;
}

/* The least x with round(x * m / 2^shift) >= code, of all of 64 bits: away from `guess`, twice as
 * far at each step, until the answer is another one; then by halves between the last two. */
static int64_t threshold_of(const assay_encoded *e, enum assay_rounding mode, int64_t code,
                            int64_t guess)
{
    const bool is = reaches(e, mode, guess, code);
    int64_t near, far = guess;
    assay_int128 step = is ? -1 : 1;
    do {
        near = far;
        far = apply_saturate128(guess + step, 64);
        step *= 2;
    } while (far != near && reaches(e, mode, far, code) == is);
    int64_t below = is ? far : near, above = is ? near : far;
    while (below < above) {
        const int64_t x = (int64_t)(((assay_int128)below + above) >> 1);
        if (reaches(e, mode, x, code))
            above = x;
        else
            below = x + 1;
    }
    return below;
}

/* Thresholds of a rule that rounds the exact product once: t[i] is the least x that gives a code
 * of at least lo + 1 + i. */
static assay_status derive_thresholds(const assay_derive *d, assay_rescale *r, const double *real,
                                      size_t n, const char *suffix)
{
    assay_unit *u = d->u;
    enum assay_rounding mode = (enum assay_rounding)r->rule->round.step[0].mode;
    if (r->hi - r->lo > 65535)
        return derive_fail(d, d->spec->out->elem.bits > 16
                                  ? "thresholds need an output of at most 16 bits"
                                  : "it rescales on the way to its output, but thresholds give no "
                                    "more than the output's codes (rescale.encoding)");
    size_t count = (size_t)(r->hi - r->lo);
    int64_t *t = derive_unit_array(u, name_of(u, "thresholds", suffix), n * count);
    if (!t)
        return derive_memory(d);
    for (size_t c = 0; c < n; c++) {
        assay_encoded e;
        const assay_status s = encode_channel(d, r->rule, real, n, c, &e);
        if (s)
            return s;
        int64_t *of = t + c * count; /* as far apart as the last two are */
        for (size_t i = 0; i < count; i++) {
            const assay_int128 gap = i > 1 ? (assay_int128)of[i - 1] - of[i - 2] : 0;
            of[i] = threshold_of(&e, mode, r->lo + 1 + (int64_t)i - r->zero_point,
                                 i > 0 ? apply_saturate128(of[i - 1] + gap, 64) : 0);
        }
    }
    r->n = n;
    r->threshold = t;
    r->n_thresholds = count;
    apply_rescale_choose(r);
    return ASSAY_OK;
}

static int64_t bits64(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

assay_status derive_real(const assay_derive *d, assay_rescale *r, const double *real, size_t n,
                         const char *suffix)
{
    const assay_rule_rescale *k = r->rule;
    bool is_float = k->encoding == ASSAY_ENCODE_F32 || k->encoding == ASSAY_ENCODE_F64;
    if (k->encoding == ASSAY_ENCODE_THRESHOLDS)
        return derive_thresholds(d, r, real, n, suffix);
    int64_t *bits =
        is_float ? derive_unit_array(d->u, name_of(d->u, "scale_bits", suffix), n) : NULL;
    assay_encoded *e = calloc(n, sizeof *e);
    assay_status s = !e || (is_float && !bits) ? derive_memory(d) : ASSAY_OK;
    for (size_t c = 0; c < n && !s; c++) {
        s = encode_channel(d, k, real, n, c, &e[c]);
        if (!s && is_float)
            bits[c] =
                k->encoding == ASSAY_ENCODE_F32 ? derive_bits_of((float)real[c]) : bits64(real[c]);
    }
    if (!s && !is_float)
        s = derive_encoded(d, r, e, n, suffix);
    free(e);
    int64_t *near = is_float ? derive_unit_array(d->u, NULL, n) : NULL;
    if (!s && is_float && !near)
        return derive_memory(d);
    if (!s && is_float) {
        r->n = n;
        r->scale = bits;
        derive_near(r, real, n, near);
        apply_rescale_choose(r);
    }
    return s;
}

assay_status derive_one(const assay_derive *d, assay_rescale *r, double real, const char *suffix)
{
    return derive_real(d, r, &real, 1, suffix);
}

const assay_precomputed *derive_precomputed(const assay_derive *d)
{
    const assay_scheme_data *data = assay_data(d->scheme);
    for (size_t i = 0; i < data->n_precomputed; i++)
        if (strcmp(data->precomputed[i].node, d->spec->node) == 0)
            return &data->precomputed[i];
    return NULL;
}

assay_status derive_precomputed_encoded(const assay_derive *d, const assay_precomputed *g, size_t n,
                                        const assay_rule_rescale *k, assay_encoded *e)
{
    char why[128];
    d->u->precomputed_used = true;
    if (k->encoding == ASSAY_ENCODE_F32 || k->encoding == ASSAY_ENCODE_F64 ||
        k->encoding == ASSAY_ENCODE_THRESHOLDS)
        return derive_fail(d, "given multipliers need an integer encoding");
    if (g->n != 1 && g->n != n)
        return derive_fail(d, "%zu given multipliers; expected 1 or %zu", g->n, n);
    for (size_t c = 0; c < g->n; c++) {
        e[c] = (assay_encoded){g->multiplier[c], derive_shift_from_target(k, g->shift[c]), 0};
        if (!derive_check_precomputed(k, &e[c], why, sizeof why))
            return derive_fail(d, "given for channel %zu: %s", c, why);
    }
    return ASSAY_OK;
}

static assay_status use_precomputed(const assay_derive *d, const assay_precomputed *g, size_t n)
{
    assay_rescale *r = &d->u->scale[ASSAY_OUT];
    assay_encoded *e = calloc(g->n, sizeof *e);
    if (!e)
        return derive_memory(d);
    assay_status s = g->has_diff_min ? derive_fail(d, "given.diff_min: only softmax has one")
                                     : derive_precomputed_encoded(d, g, n, r->rule, e);
    if (!s)
        s = derive_encoded(d, r, e, g->n, "");
    free(e);
    return s;
}

/* The three scales apart, for targets that apply them one after the other. */
static assay_status derive_steps(const assay_derive *d, assay_rescale *r, float in, const float *w,
                                 size_t n, float out, const char *suffix)
{
    int64_t *step_in = derive_unit_array(d->u, name_of(d->u, "scale_in_bits", suffix), n);
    int64_t *step_w = derive_unit_array(d->u, name_of(d->u, "scale_w_bits", suffix), n);
    int64_t *step_out = derive_unit_array(d->u, name_of(d->u, "scale_out_bits", suffix), 1);
    int64_t *near = derive_unit_array(d->u, NULL, n);
    double *real = calloc(n, sizeof *real);
    if (!step_in || !step_w || !step_out || !near || !real) {
        free(real);
        return derive_memory(d);
    }
    for (size_t c = 0; c < n; c++) {
        step_in[c] = derive_bits_of(in);
        step_w[c] = derive_bits_of(w[c]);
    }
    derive_near_steps(r, in, w, n, out, real, near);
    free(real);
    step_out[0] = derive_bits_of(out);
    r->scale = step_in;
    r->scale_w = step_w;
    r->scale_out = step_out;
    return ASSAY_OK;
}

assay_status derive_ratio(const assay_derive *d, assay_rescale *r, float in, const float *w,
                          size_t n, float out, const char *suffix)
{
    assert(n > 0 && r->rule);
    double *real = calloc(n, sizeof *real);
    if (!real)
        return derive_memory(d);
    for (size_t c = 0; c < n; c++)
        real[c] = derive_form_scale(r->rule, in, w[c], out, n == 1);
    assay_status s = derive_real(d, r, real, n, suffix);
    free(real);
    return !s && r->rule->scale == ASSAY_FORM_F32_STEPS ? derive_steps(d, r, in, w, n, out, suffix)
                                                        : s;
}

assay_status derive_output_rescale(const assay_derive *d, float in, const float *w, size_t n,
                                   float out)
{
    const assay_precomputed *precomputed = derive_precomputed(d);
    assay_status s = precomputed && precomputed->has_zero_point
                         ? set_range(d, precomputed->zero_point)
                         : derive_range(d);
    if (s)
        return s;
    return precomputed ? use_precomputed(d, precomputed, n)
                       : derive_ratio(d, &d->u->scale[ASSAY_OUT], in, w, n, out, "");
}

assay_status derive_slope(const assay_derive *d, float slope)
{
    const float one = 1;
    const float in = derive_scale_of(&d->spec->in[0]), out = derive_scale_of(d->spec->out);
    assay_rescale *r = &d->u->scale[ASSAY_FIRST];
    assay_status s = derive_output_rescale(d, in, &one, 1, out);
    if (s)
        return s;
    derive_end_of(r, &d->u->scale[ASSAY_OUT]);
    return derive_ratio(d, r, in, &slope, 1, out, "_negative");
}
