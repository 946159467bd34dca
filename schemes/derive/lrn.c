/* Local response normalization: the table of gains that apply/lrn.c reads. */
#include <math.h>

#include "schemes/derive/derive.h"
#include "schemes/derive/real.h"

#define MAX_CHANNELS (1 << 20) /* in a window, so that sums of squares stay below 2^54 */

assay_status derive_lrn(const assay_derive *d)
{
    assay_unit *u = d->u;
    const assay_unit_spec *s = d->spec;
    const assay_rule_lrn *rule = &u->rec.lrn;
    const unsigned cells = (unsigned)rule->cells;
    const double scale = (double)derive_scale_of(&s->in[0]);
    if (s->in[0].elem.bits > 16 || s->depth < 1 || s->depth >= MAX_CHANNELS)
        return derive_fail(
            d, "needs codes of at most 16 bits and windows of 1 to %d channels; found %u and %lld",
            MAX_CHANNELS - 1, s->in[0].elem.bits, (long long)s->depth);
    if (!(s->gamma > 0) || !(s->alpha >= 0) || !(s->beta >= 0) || isinf(s->gamma) ||
        isinf(s->alpha) || isinf(s->beta))
        return derive_fail(
            d, "bias %g, alpha %g, beta %g; a gain that falls needs bias > 0, alpha and beta >= 0",
            s->gamma, s->alpha, s->beta);

    int exponent; /* the first and greatest gain, bias^-beta, has rule->bits bits */
    double first = pow(s->gamma, -s->beta);
    frexp(first, &exponent);
    const int places = rule->bits - exponent;
    if (!(first > 0) || isinf(first) || places < -126 || places > 126)
        return derive_fail(d, "bias %g to the power of -%g is out of reach", s->gamma, s->beta);
    int64_t max = derive_reach(&s->in[0]);
    size_t n = (size_t)apply_lrn_entry(max * max * s->depth, cells) + 2;
    int64_t *table = derive_unit_array(u, "table", n);
    if (!table)
        return derive_memory(d);
    const double unit = s->alpha / (double)s->depth * scale * scale;
    for (size_t i = 0; i < n; i++) {
        double base = s->gamma + unit * (double)apply_lrn_least((int64_t)i, cells);
        table[i] =
            derive_round_real(ldexp(pow(base, -s->beta), places), (enum assay_rounding)rule->round);
    }
    u->table = table;
    u->depth = s->depth;
    u->row = apply_lrn;
    const float one = ldexpf(1, -places);
    const assay_status status =
        derive_output_rescale(d, derive_scale_of(&s->in[0]), &one, 1, derive_scale_of(s->out));
    return status ? status
                  : derive_accepts(
                        d, ASSAY_OUT,
                        derive_times(derive_codes(&s->in[0]), (assay_interval){0, table[0]}),
                        "a code times its gain");
}
