/* Rules of floats against those with multipliers; see prove.h.
 *
 * A rule with a multiplier answers by the multiplier and shift that R becomes. Where every encoding
 * maps R with different answers to one multiplier and shift, all of these rules are out, whatever
 * follows (encoding.h says why limits and reductions need not be tried). */
#include "interp/infer/prove.h"

#include <string.h>

#include "interp/infer/check.h"
#include "interp/infer/drift.h"
#include "interp/infer/encoding.h"
#include "interp/infer/modes.h"
#include "interp/infer/reach.h"
#include "schemes/record/reads.h"

/* ---- one rule of each function ---- */

/* Unsigned codes that saturate show 0 for everything below it: roundings that differ only there are
 * equal where nothing is added after them. */
static void forget_sign(const infer_options *o, infer_rule *k)
{
    int32_t *mode = &k->round.step[0].mode;
    if (o->type.is_signed || k->store == ASSAY_STORE_WRAP || k->zero_point != ASSAY_STAGE_INSIDE)
        return;
    *mode = infer_mode_of_positives(*mode);
}

static void normalize(const infer_options *o, infer_rule *k)
{
    assay_record rec;
    const infer_reach r = {.value = {INT32_MIN, INT32_MAX}}; /* the range of a converted float */
    if (k->input_bits >= o->acc_bits) /* the register holds every accumulator */
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

/* Keeps one of the rules that differ only in spelling; where thousands agree, only neighbours in
 * the list are compared, since spellings of one function are near each other. */
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

/* Whether every encoding that is possible gets tried: the device accepts R other than powers of
 * two, and all powers between those that it accepts. Then no encoding escapes by taking the
 * exponent from a logarithm (rows on which that may differ contradict nothing). */
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
