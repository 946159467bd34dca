/* The end of a rescale: from what it gave to a code of the output. */
#include "schemes/apply/tail.h"

#include "schemes/apply/apply.h"

int32_t apply_rescale_finish(const assay_rescale *r, assay_int128 v)
{
    assay_tail t = apply_tail_of(r);
    return apply_finish128(&t, v);
}

int32_t apply_rescale_end(const assay_rescale *r, assay_int128 sum)
{
    assay_tail t = apply_tail_of(r);
    t.zero_point = r->zero_point;
    t.sum_bits = r->rule->sum_bits;
    return apply_finish128(&t, sum);
}

bool apply_rescale_end_accepts(const assay_rescale *r, assay_int128 sum)
{
    const assay_rule_rescale *k = r->rule;
    const assay_int128 v = sum + r->zero_point;
    return k->sum_overflow != ASSAY_NARROW_REFUSE || k->sum_bits == 0 ||
           v == apply_saturate128(v, (unsigned)k->sum_bits);
}

int32_t apply_rescale_store(const assay_rescale *r, int64_t code)
{
    assay_tail t = apply_tail_of(r);
    return apply_store(&t, code);
}

int32_t apply_tell_store(const assay_teller *t, const assay_rescale *r, int64_t code)
{
    const assay_told bounds = {.kind = ASSAY_TOLD_BOUNDS, .a = r->clamp_lo, .b = r->clamp_hi};
    if (r->clamp_lo != INT64_MIN || r->clamp_hi != INT64_MAX)
        apply_tell_step(t, bounds);
    const int32_t stored = apply_rescale_store(r, code);
    if (r->rule->store == ASSAY_STORE_WRAP)
        apply_tell(t, "low bits kept", stored);
    return stored;
}

static void tell_sum(const assay_teller *t, const assay_rescale *r, assay_int128 v, int64_t zero)
{
    apply_tell_sum(t, "plus zero point", apply_saturate128(v, 62), zero);
    apply_tell_store(t, r, apply_saturate128(v + zero, 63));
}

int32_t apply_tell_end(const assay_teller *t, const assay_rescale *r, assay_int128 sum)
{
    if (t)
        tell_sum(t, r, sum, r->zero_point);
    return apply_rescale_end(r, sum);
}

int32_t apply_tell_finish(const assay_teller *t, const assay_rescale *r, assay_int128 value)
{
    if (t)
        tell_sum(t, r, value, apply_tail_of(r).zero_point);
    return apply_rescale_finish(r, value);
}
