/* The end of every operation that gives codes: zero point, and the one way into the output's type.
 */
#ifndef ASSAY_SCHEMES_APPLY_TAIL_H
#define ASSAY_SCHEMES_APPLY_TAIL_H

#include "schemes/apply/unit.h"
#include "schemes/round.h"

/* x in so many bits (0: as it is) by enum assay_narrowing; refusing is left to the caller. */
static inline int64_t apply_narrow(int64_t x, int32_t bits, int32_t how)
{
    if (bits == 0)
        return x;
    return how == ASSAY_NARROW_WRAP ? apply_wrap(x, (unsigned)bits)
                                    : apply_saturate(x, (unsigned)bits);
}
static inline assay_int128 apply_narrow128(assay_int128 x, int32_t bits, int32_t how)
{
    if (bits == 0)
        return x;
    return how == ASSAY_NARROW_WRAP ? apply_wrap((int64_t)x, (unsigned)bits)
                                    : apply_saturate128(x, (unsigned)bits);
}

/* The greatest integer that a float becomes on its way to the output: int32's, or the type's own
 * where that is uint32. */
static inline int64_t apply_float_max(const assay_rescale *r)
{
    return r->out_bits == 32 && !r->out_signed ? UINT32_MAX : INT32_MAX;
}

/* What a row keeps in registers. */
typedef struct assay_tail {
    int64_t zero_point, lo, hi; /* lo, hi: clamp_lo, clamp_hi */
    int32_t sum_bits, sum_overflow;
    bool wraps, is_signed;
    unsigned bits;
} assay_tail;

/* Whether the output's zero point is taken from what is multiplied. */
static inline bool apply_zero_is_before(const assay_rescale *r)
{
    return r->rule->zero_point == ASSAY_STAGE_BEFORE;
}

/* The bits that the sum with the zero point is narrowed to, or 0 where that changes no code: what
 * saturates at bounds outside lo..hi ends at lo..hi either way. */
static inline int32_t apply_tail_bits(const assay_rescale *r)
{
    const int32_t bits = apply_zero_is_before(r) ? 0 : r->rule->sum_bits;
    const bool clamped = bits > 0 && r->rule->sum_overflow != ASSAY_NARROW_WRAP &&
                         r->clamp_lo == apply_saturate(r->clamp_lo, (unsigned)bits) &&
                         r->clamp_hi == apply_saturate(r->clamp_hi, (unsigned)bits);
    return clamped ? 0 : bits;
}

static inline assay_tail apply_tail_of(const assay_rescale *r)
{
    return (assay_tail){apply_zero_is_before(r) ? 0 : r->zero_point,
                        r->clamp_lo,
                        r->clamp_hi,
                        apply_tail_bits(r),
                        r->rule->sum_overflow,
                        r->rule->store == ASSAY_STORE_WRAP,
                        r->out_signed,
                        r->out_bits};
}

/* A clamped value as the type holds it. */
static inline int32_t apply_keep(const assay_tail *t, int64_t v)
{
    if (t->wraps)
        v = t->is_signed ? apply_wrap(v, t->bits) : apply_wrap_unsigned(v, t->bits);
    return (int32_t)v;
}

/* The code that is stored for v, always one of the output's type: what saturates has bounds within
 * the type, what does not keeps the low bits. Every operation ends here. */
static inline int32_t apply_store(const assay_tail *t, int64_t v)
{
    return apply_keep(t, apply_clamp_to(v, t->lo, t->hi));
}

/* The zero point, then the code; |v| < 2^63 - 2^32. */
static inline int32_t apply_finish(const assay_tail *t, int64_t v)
{
    return apply_store(t, apply_narrow(v + t->zero_point, t->sum_bits, t->sum_overflow));
}

/* The same for any v below 2^127 - 2^64. */
static inline int32_t apply_finish128(const assay_tail *t, assay_int128 v)
{
    v = apply_narrow128(v + t->zero_point, t->sum_bits, t->sum_overflow);
    if (v < t->lo && t->lo != INT64_MIN)
        v = t->lo;
    if (v > t->hi && t->hi != INT64_MAX)
        v = t->hi;
    return apply_keep(t, (int64_t)v);
}

#endif
