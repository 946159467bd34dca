/* The end of every rescale: zero point, saturation. */
#ifndef ASSAY_SCHEMES_APPLY_TAIL_H
#define ASSAY_SCHEMES_APPLY_TAIL_H

#include "schemes/apply/round.h"
#include "schemes/unit.h"

/* x in so many bits (0: as it is) by enum assay_narrowing; refusing is the caller's affair. */
static inline int64_t assay_narrow(int64_t x, int32_t bits, int32_t how)
{
    if (bits == 0)
        return x;
    return how == ASSAY_NARROW_WRAP ? assay_wrap(x, (unsigned)bits)
                                    : assay_saturate(x, (unsigned)bits);
}

/* What a row keeps in registers. */
typedef struct assay_tail {
    int64_t zero_point, lo, hi;
    int32_t sum_bits, sum_overflow;
    bool wraps, is_signed;
    unsigned bits;
} assay_tail;

static inline assay_tail assay_tail_of(const assay_rescale *r)
{
    return (assay_tail){r->zero_point,
                        r->lo,
                        r->hi,
                        r->rule->sum_bits,
                        r->rule->sum_overflow,
                        r->rule->store == ASSAY_NARROW_WRAP,
                        r->out_signed,
                        r->out_bits};
}

static inline int32_t assay_finish(const assay_tail *t, int64_t v)
{
    v += t->zero_point;
    if (t->sum_bits > 0)
        v = assay_narrow(v, t->sum_bits, t->sum_overflow);
    v = assay_clamp(v, t->lo, t->hi);
    if (t->wraps)
        v = t->is_signed ? assay_wrap(v, t->bits) : assay_wrap_unsigned(v, t->bits);
    return (int32_t)v;
}

#endif
