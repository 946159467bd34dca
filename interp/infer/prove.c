/* Rules of floats against those with multipliers; see prove.h.
 *
 * A rule with a multiplier answers by the multiplier and shift that R becomes. Where every encoding
 * makes one of R that are answered differently, all of them are out, whatever follows (encoding.h
 * says why their limits and reductions are out with them). */
#include "interp/infer/prove.h"

#include <string.h>

#include "interp/infer/check.h"
#include "interp/infer/drift.h"
#include "interp/infer/encoding.h"
#include "interp/infer/reach.h"
#include "schemes/record/reads.h"

/* ---- one of each function ---- */

/* Unsigned codes that saturate hold 0 for all that is below it: roundings that differ there alone
 * are one where nothing is added to what they give. */
static void forget_sign(const infer_options *o, infer_rule *k)
{
    int32_t *mode = &k->round.step[0].mode;
    if (o->type.is_signed || k->store == ASSAY_STORE_WRAP || k->zero_point != ASSAY_STAGE_INSIDE)
        return;
    if (*mode == ASSAY_ROUND_HALF_AWAY)
        *mode = ASSAY_ROUND_HALF_UP;
    else if (*mode == ASSAY_ROUND_TRUNC)
        *mode = ASSAY_ROUND_FLOOR;
    else if (*mode == ASSAY_ROUND_AWAY)
        *mode = ASSAY_ROUND_CEIL;
}

static void normalize(const infer_options *o, infer_rule *k)
{
    assay_record rec;
    const infer_reach r = {.value = {INT32_MIN, INT32_MAX}}; /* what a float converts to */
    if (k->input_bits >= o->acc_bits)                        /* it holds every accumulator */
        k->input_bits = 0;
    while (infer_leave_out(o, k, &r))
        ;
    if (k->sum_bits == 0)
        k->sum_overflow = ASSAY_NARROW_WRAP;
    forget_sign(o, k);
    infer_record_of(k, o->type, o->acc_bits, &rec);
    assay_reads_normalize(&rec);
    *k = rec.rescale;
}

/* Rules that differ in spelling alone become one; where thousands agree, of those that stand close,
 * which is where spellings of one stand. */
static void merge(infer_task *t, infer_rules *r)
{
    enum { CLOSE = 512 };
    size_t kept = 0;
    t->spellings = r->n;
    for (size_t i = 0; i < r->n; i++) {
        infer_rule normal = r->rule[i];
        size_t k = kept > CLOSE ? kept - CLOSE : 0;
        normalize(t->o, &normal);
        while (k < kept && memcmp(&r->rule[k], &normal, sizeof normal) != 0)
            k++;
        if (k == kept)
            r->rule[kept++] = normal;
    }
    r->n = kept;
}

/* ---- rules with a multiplier ---- */

/* Whether every encoding that might be is tried: the device takes R that are no powers of two, and
 * every power among those that it takes, so that none is missed by a logarithm (rows where one may
 * give another exponent contradict nothing). */
static bool is_plain(const infer_task *t)
{
    return !t->powers && !t->encoder.exponent_by_log;
}

assay_status infer_prove_floats(infer_task *t, infer_rules *rules, assay_error *err)
{
    infer_encodings all = {0}, bounded = {0};
    assay_status s = infer_rules_check(t, rules, err);
    merge(t, rules);
    if (s || rules->n != 1 || t->exhausted || !t->complete)
        t->one = false;
    else if (infer_log_drifts(t))
        t->one = true;
    else if (is_plain(t)) {
        s = infer_find_encodings(t, false, &all, err);
        if (!s && all.n == 0)
            s = infer_find_encodings(t, true, &bounded, err);
        t->one = !s && all.n == 0 && bounded.n == 0;
    }
    infer_encodings_free(&all);
    infer_encodings_free(&bounded);
    t->complete = t->one;
    return s;
}
