/* Queries of proofs about the sums and rescales of a unit; see forms.h. */
#include "opt/prove/forms.h"

#include <stddef.h>
#include <string.h>

#include "schemes/prepare/prepare.h"

/* Accumulators of a plugin's form: how many are enumerated whatever it declares, and how many when
 * it declares nothing. */
#define FEW        (INT64_C(1) << 16)
#define MANY       (INT64_C(1) << 20)
#define WIDEST_SUM (INT64_C(1) << 50)

static bool is_built_in(const assay_scheme *s)
{
    return s->vt == &assay_family_vtable;
}

/* ---- sums ---- */

assay_status prove_sums_apply_overflow(const assay_scheme *s, const assay_unit *u, assay_sums *sums,
                                       assay_error *err)
{
    if (!is_built_in(s)) {
        sums->exact = ASSAY_SCHEME_HAS(s->vt, facts, exact) &&
                      s->vt->facts->exact(u, sums->greatest, sums->pair);
        return sums->exact ? ASSAY_OK
                           : assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                                        "the plugin does not declare sums of up to %lld exact",
                                        (long long)sums->greatest);
    }
    const assay_rule_accumulator *a = &u->rec.accumulator;
    const int64_t max = a->bits < 52 ? (INT64_C(1) << (a->bits - 1)) - 1 : WIDEST_SUM;
    sums->exact = sums->greatest <= max && !a->saturate_pairs;
    if (sums->exact)
        return ASSAY_OK;
    if (a->bits >= 52)
        return assay_fail(err, ASSAY_ERR_LIMIT, "sums too wide for an interval");
    sums->reach = (assay_interval){-max - 1, max};
    return ASSAY_OK;
}

bool prove_sums_alike(const assay_scheme *s, const assay_unit *a, const assay_unit *b,
                      const assay_sums *sums)
{
    assay_sums other = *sums;
    assay_error unused;
    if (is_built_in(s) &&
        memcmp(&a->rec.accumulator, &b->rec.accumulator, sizeof a->rec.accumulator) == 0)
        return true;
    return sums->exact && !prove_sums_apply_overflow(s, b, &other, &unused) && other.exact;
}

/* ---- threshold forms ---- */

size_t prove_form_count(const assay_scheme *s, const assay_unit *u, const assay_type *weights)
{
    if (is_built_in(s))
        return u->scale[ASSAY_OUT].n;
    return weights && weights->q.count > 1 ? weights->q.count : 1;
}

typedef struct one_channel {
    const assay_scheme_vtable *vt;
    const assay_unit *unit;
    size_t channel;
} one_channel;

static int64_t code_of(const void *of, int64_t x)
{
    const one_channel *c = of;
    int32_t code = 0;
    c->vt->requantize(c->unit, &x, 1, c->channel, &code);
    return code;
}

assay_status prove_form_make(const assay_scheme *s, const assay_unit *u, size_t channel,
                             assay_interval r, assay_threshold_form *out, assay_error *err)
{
    if (is_built_in(s))
        return assay_threshold_form_make(&u->scale[ASSAY_OUT], channel, r.lo, r.hi, out, err);
    const one_channel c = {s->vt, u, channel};
    const bool monotone = r.hi - r.lo >= FEW && ASSAY_SCHEME_HAS(s->vt, facts, monotone) &&
                          s->vt->facts->monotone(u, r.lo, r.hi);
    if (!s->vt->requantize || (!monotone && r.hi - r.lo >= MANY))
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "the plugin does not declare its rescale monotone, and [%lld, %lld] is "
                          "too wide to enumerate",
                          (long long)r.lo, (long long)r.hi);
    return assay_threshold_form_ask(code_of, &c, monotone, r.lo, r.hi, out, err);
}
