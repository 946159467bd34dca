/* Layer normalization: what apply/layer_norm.c needs, from real scales and epsilon. */
#include <assert.h>
#include <math.h>

#include "graph/core/type.h"
#include "schemes/apply/fixedpoint.h"
#include "schemes/derive/derive.h"

#define MAX_ELEMENTS    (1 << 20) /* so that sums and products stay below 2^63 */
#define NEWTON_FRACTION 12        /* so that its int32 steps hold 16-bit codes */

static bool present(const assay_derive *d, int input)
{
    return d->spec->n_in > input && d->spec->in[input].elem.kind != ASSAY_KIND_NONE;
}

/* Gamma and beta: integers with one scale, one value or one an element of the row. */
static assay_status check_operand(const assay_derive *d, int input, const char *what)
{
    const assay_type *t = &d->spec->in[input];
    if (!present(d, input))
        return ASSAY_OK;
    int64_t count = assay_shape_count(t);
    if (!assay_is_quantized(t) || t->q.count != 1 || !(t->q.scale[0] > 0) ||
        !isfinite(t->q.scale[0]))
        return derive_fail(d, "%s is not codes with one scale above 0", what);
    if (t->elem.bits > 32)
        return derive_fail(d, "%s has %u bits; expected at most 32", what, t->elem.bits);
    if (count != 1 && count != d->spec->depth)
        return derive_fail(d, "%s has %lld elements; expected 1 or %lld", what, (long long)count,
                           (long long)d->spec->depth);
    return ASSAY_OK;
}

/* Beta's codes become multiples of gamma's scale / 2^fraction, unless they are that already. */
static assay_status derive_beta(const assay_derive *d, float gamma_scale, int fraction)
{
    assay_unit *u = d->u;
    const float one = 1, to = ldexpf(gamma_scale, -fraction);
    u->k[4] = present(d, 2);
    if (!u->k[4])
        return ASSAY_OK;
    u->k[5] = derive_zero_of(&d->spec->in[2]);
    u->k[6] = derive_scale_of(&d->spec->in[2]) != to;
    if (!u->k[6])
        return ASSAY_OK;
    derive_intermediate(&u->scale[ASSAY_SECOND]);
    const assay_status s = derive_ratio(d, &u->scale[ASSAY_SECOND],
                                        derive_scale_of(&d->spec->in[2]), &one, 1, to, "_beta");
    return s || u->asks_row ? s
                            : derive_accepts(d, ASSAY_SECOND, derive_codes(&d->spec->in[2]),
                                             "a code of beta less its zero point");
}

/* Newton's rescale of x - mean for each of its shifts; *z: what it can make. */
static assay_status accepts_newton(const assay_derive *d, assay_interval *z)
{
    const assay_unit *u = d->u;
    const assay_interval code = derive_codes(&d->spec->in[0]);
    const assay_interval x = derive_shifted(derive_minus(code, code), (int)u->k[1]);
    assay_status s = ASSAY_OK;
    *z = (assay_interval){0, 0};
    for (int64_t v = 1; v <= INT32_MAX && !s; v *= 2) {
        int left;
        const int64_t multiplier = apply_fixed_inverse_sqrt((int32_t)v, &left), shift = 31 - left;
        const assay_rescale form = apply_layer_norm_form(u, &multiplier, &shift);
        const assay_interval y = apply_rescale_reach(&form, x);
        s = derive_accepts_form(d, ASSAY_OUT, &form, x, "a code less the mean");
        z->lo = y.lo < z->lo ? y.lo : z->lo;
        z->hi = y.hi > z->hi ? y.hi : z->hi;
    }
    z->lo = z->lo > INT32_MIN ? z->lo : INT32_MIN;
    z->hi = z->hi < INT32_MAX ? z->hi : INT32_MAX;
    return s;
}

/* Of n codes |x - mean| is at most sqrt(n - 1) deviations. n^2 times a variance is no less than n -
 * 1 unless it is 0, so that the root, cut to 8 bits of fraction, is short by no more than its
 * share. */
static assay_interval normalized_by_root(const assay_derive *d)
{
    const double n = (double)d->spec->depth, max = sqrt(n - 1), root = ldexp(max, 8);
    const double z = n > 1 ? ceil(ldexp(max, (int)d->u->k[1]) * root / (root - 1) + 0.5) : 0;
    return derive_around(-z, z);
}

/* Of what is normalized, times gamma, plus beta. */
static assay_status accepts_rows(const assay_derive *d, bool newton)
{
    const assay_unit *u = d->u;
    const int shift = (int)u->k[2];
    assert(shift >= 0 && shift <= 16); /* softmax.layer_norm_shift */
    const int64_t one = INT64_C(1) << shift;
    assay_interval z = normalized_by_root(d), beta = {0, 0}, sum;
    if (!apply_rescale_can_refuse(&u->rec.rescale))
        return ASSAY_OK;
    assay_status s = newton ? accepts_newton(d, &z) : ASSAY_OK;
    if (u->k[4])
        beta = derive_codes(&d->spec->in[2]);
    if (u->k[6])
        beta = apply_rescale_reach(&u->scale[ASSAY_SECOND], beta);
    sum = derive_times(z, u->k[3] ? derive_codes(&d->spec->in[1]) : (assay_interval){one, one});
    sum = derive_plus(sum, beta);
    sum = derive_around(ldexp((double)sum.lo, -shift), ldexp((double)sum.hi, -shift));
    return s ? s : derive_accepts(d, ASSAY_OUT, sum, "normalized * gamma + beta");
}

/* Wide codes of gamma or beta: nearly all of their range is refused, so each is asked about as a
 * network runs. */
static void ask_rows(const assay_derive *d)
{
    assay_unit *u = d->u;
    u->asks_row = apply_rescale_can_refuse(&u->rec.rescale) &&
                  ((present(d, 1) && d->spec->in[1].elem.bits > 16) ||
                   (present(d, 2) && d->spec->in[2].elem.bits > 16));
    for (int i = 0; i < 3 && u->asks_row; i++)
        u->judged[i] = true;
}

assay_status derive_layer_norm(const assay_derive *d)
{
    assay_unit *u = d->u;
    const assay_rule_softmax *rule = &u->rec.softmax;
    const double n = (double)d->spec->depth, scale = (double)derive_scale_of(&d->spec->in[0]);
    const int fraction = rule->layer_norm_fraction, shift = rule->layer_norm_shift;
    if (d->spec->in[0].elem.bits > 16 || d->spec->depth > MAX_ELEMENTS)
        return derive_fail(d, "needs codes of at most 16 bits and rows of at most %d",
                           MAX_ELEMENTS);
    assay_status s = check_operand(d, 1, "gamma");
    if (!s)
        s = check_operand(d, 2, "beta");
    if (!s && present(d, 1))
        s = derive_centred(d, 1);
    if (s)
        return s;
    float gamma_scale =
        present(d, 1) ? derive_scale_of(&d->spec->in[1]) : ldexpf(1, -shift); /* code 2^shift: 1 */
    bool newton = rule->layer_norm == ASSAY_LAYER_NORM_NEWTON;
    if (newton && fraction > NEWTON_FRACTION)
        return derive_fail(d, "layer_norm_fraction %d; newton-inverse-sqrt has at most %d",
                           fraction, NEWTON_FRACTION);
    /* TFLite lstm.cc: input_variance_guard = max(1, (int)(10000 * layer_norm_scale)). */
    double guard = newton ? fmax(1, trunc(10000 * (double)gamma_scale))
                          : rint(n * n * d->spec->epsilon / (scale * scale));
    if (!(guard >= 0 && guard < (newton ? 0x1p31 : 0x1p62)))
        return derive_fail(d, "epsilon %g is out of reach at input scale %g", d->spec->epsilon,
                           scale);
    u->k[0] = (int64_t)guard;
    u->k[1] = fraction;
    u->k[2] = shift;
    u->k[3] = present(d, 1);
    if (u->k[3])
        u->in_zero[1] = derive_zero_of(&d->spec->in[1]);
    u->row = apply_layer_norm;
    ask_rows(d);
    s = derive_beta(d, gamma_scale, fraction);
    int64_t *k = derive_unit_array(u, "constants", 1);
    if (!s && !k)
        return derive_memory(d);
    if (s)
        return s;
    k[0] = u->k[0];
    s = derive_output_rescale(d, ldexpf(1, shift - fraction), &gamma_scale, 1,
                              derive_scale_of(d->spec->out));
    return s || u->asks_row ? s : accepts_rows(d, newton);
}
