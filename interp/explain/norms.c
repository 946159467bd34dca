/* Steps of layer and L2 normalization. Formulas: schemes/apply/layer_norm.c, norm.c. */
#include "interp/explain/forms.h"

#include <inttypes.h>
#include <stdlib.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/fixedpoint.h"

/* z by a square root of the row's variance, in codes times the row's length. */
static void say_root(explain_trace *t, const assay_unit *u, const explain_seen *s)
{
    const int64_t n = (int64_t)s->n_row, x = s->row[s->at];
    int64_t sum;
    const int64_t root = apply_layer_norm_root(u, s->row, s->n_row, &sum);
    const int64_t d = n * x - sum;
    explain_say(t, "sum of the row", "%" PRId64 ", mean %.9g", sum, (double)sum / (double)n);
    explain_say(t, "distance from it", "%" PRId64 " * %" PRId64 " - %" PRId64 " = %" PRId64, n, x,
                sum, d);
    explain_say(t, "deviation", "%" PRId64 " / 2^%d, of %" PRId64 " codes", root,
                ASSAY_LAYER_NORM_GUARD, n);
    if (root == 0)
        explain_say(t, "divided", "by nothing: 0");
    else
        explain_say_quotient(t, d * (INT64_C(1) << (u->k[1] + ASSAY_LAYER_NORM_GUARD)), root,
                             ASSAY_ROUND_HALF_AWAY);
}

static bool say_layer_norm(explain_trace *t, const assay_unit *u, const explain_seen *s)
{
    const int32_t gamma = s->row[s->n_row + s->at], beta = s->row[2 * s->n_row + s->at];
    int32_t *z = malloc(s->n_row * sizeof *z + 16);
    if (!z)
        return false;
    apply_layer_norm_normalize(u, s->row, s->n_row, z);
    if (u->rec.softmax.layer_norm == ASSAY_LAYER_NORM_SQRT)
        say_root(t, u, s);
    explain_say(t, "normalized", "%" PRId32 " / 2^%" PRId64, z[s->at], u->k[1]);
    const explain_rescale r = {.r = &u->scale[ASSAY_OUT],
                               .acc = apply_layer_norm_sum(u, z[s->at], gamma, beta)};
    if (u->k[3])
        explain_say(t, "gamma", "code %" PRId32 ", zero point %" PRId64, gamma, u->in_zero[1]);
    if (u->k[4])
        explain_say(t, "beta", "code %" PRId32 ", zero point %" PRId64, beta, u->k[5]);
    explain_say(t, "times gamma plus beta", "/ 2^%" PRId64 ", half-away: %" PRId64, u->k[2], r.acc);
    free(z);
    explain_say_rescale(t, u, &r);
    return apply_rescale_one(r.r, r.acc, 0) == s->value;
}

static bool say_l2_norm(explain_trace *t, const assay_unit *u, const explain_seen *s)
{
    int64_t squares = 0;
    int left;
    for (size_t i = 0; i < s->n_row; i++) {
        const int64_t d = s->row[i] - u->in_zero[0];
        squares += d * d;
    }
    const int64_t d = s->row[s->at] - u->in_zero[0];
    const int64_t multiplier = apply_fixed_inverse_sqrt(apply_saturate32(squares), &left);
    const int64_t shift = 31 - (left + 7);
    assay_rescale r = u->scale[ASSAY_OUT];
    r.n = 1;
    r.multiplier = &multiplier;
    r.shift = &shift;
    const int64_t v = (int64_t)apply_rescale_value(&r, d, 0);
    explain_say(t, "minus zero point", "%" PRId64, d);
    explain_say(t, "sum of squares", "%" PRId64, squares);
    explain_say(t, "its inverse root", "%" PRId64 " / 2^%d", multiplier, 31 - left);
    explain_say(t, "rescaled", "%" PRId64 " * %" PRId64 " / 2^%" PRId64 " -> %" PRId64, d,
                multiplier, shift, v);
    return explain_say_end(t, u, v, s);
}

bool explain_norm_form(explain_trace *t, const assay_unit *u, const explain_seen *s)
{
    if (s->n_row > 0 && u->row == apply_layer_norm)
        return say_layer_norm(t, u, s);
    return s->n_row > 0 && u->row == apply_l2_norm && say_l2_norm(t, u, s);
}
