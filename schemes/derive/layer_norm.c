/* Layer normalization: what apply/layer_norm.c needs, from real scales and epsilon. */
#include <math.h>

#include "graph/core/type.h"
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
    return s ? s
             : derive_accepts(d, ASSAY_SECOND, derive_reach(&d->spec->in[2]),
                              "a code of beta less its zero point");
}

/* Of what is normalized, times gamma, plus beta: |x - mean| is at most sqrt(n) deviations. Newton's
 * root is as good as its 31 bits. */
static assay_status accepts_rows(const assay_derive *d, bool newton)
{
    const assay_unit *u = d->u;
    const int shift = (int)u->k[2];
    if (!apply_rescale_can_refuse(&u->rec.rescale))
        return ASSAY_OK;
    const double z = newton ? 0x1p31 : ldexp(sqrt((double)d->spec->depth), (int)u->k[1]) + 1;
    const double gamma = u->k[3] ? (double)derive_reach(&d->spec->in[1]) : ldexp(1, shift);
    const int64_t code = u->k[4] ? derive_reach(&d->spec->in[2]) : 0;
    const int64_t beta = u->k[6] ? apply_rescale_reach(&u->scale[ASSAY_SECOND], code) : code;
    const double most = ceil(ldexp(z * gamma + (double)beta, -shift));
    return derive_accepts(d, ASSAY_OUT, (int64_t)fmin(most, 0x1p62), "normalized * gamma + beta");
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
    s = derive_beta(d, gamma_scale, fraction);
    int64_t *k = derive_unit_array(u, "constants", 1);
    if (!s && !k)
        return derive_memory(d);
    if (s)
        return s;
    k[0] = u->k[0];
    s = derive_output_rescale(d, ldexpf(1, shift - fraction), &gamma_scale, 1,
                              derive_scale_of(d->spec->out));
    return s ? s : accepts_rows(d, newton);
}
