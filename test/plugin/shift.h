/* Common parts of the example plugins: sums without bounds, shifts with floor, codes of the
 * output's range. */
#ifndef ASSAY_TEST_PLUGIN_SHIFT_H
#define ASSAY_TEST_PLUGIN_SHIFT_H

#include <math.h>

#include "schemes/vtable.h"

/* The shift to the right that is nearest to a real scale of less than 1. */
static inline int64_t nearest_shift(double real)
{
    return (int64_t)fmin(fmax(round(-log2(real)), 0), 31);
}

static inline int64_t least_code(assay_elem e)
{
    return e.is_signed ? -(INT64_C(1) << (e.bits - 1)) : 0;
}

static inline int64_t greatest_code(assay_elem e)
{
    return least_code(e) + (INT64_C(1) << e.bits) - 1;
}

static inline int64_t shift_floor(int64_t v, int64_t shift)
{
    return v < 0 ? ~(~v >> shift) : v >> shift;
}

static inline int32_t saturate(int64_t v, int64_t lo, int64_t hi)
{
    return (int32_t)(v < lo ? lo : v > hi ? hi : v);
}

/* An accumulator of 64 bits: assay_scheme_vtable.accumulate and .apply_overflow. Operands come
 * centred. */
static inline int64_t accumulate_wide(const assay_unit *u, const int32_t *x, const int32_t *w,
                                      size_t n, int64_t bias, int32_t zx, int32_t zw, bool *trapped)
{
    (void)u;
    (void)zx;
    (void)zw;
    (void)trapped;
    for (size_t i = 0; i < n; i++)
        bias += (int64_t)x[i] * w[i];
    return bias;
}

static inline int64_t overflow_wide(const assay_unit *u, int64_t sum, bool *trapped)
{
    (void)u;
    (void)trapped;
    return sum;
}

#endif
