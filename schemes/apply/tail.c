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
