/* What vector forms share: names by instruction set, and floats rounded to integers. */
#ifndef ASSAY_SCHEMES_APPLY_SIMD_ROUND_H
#define ASSAY_SCHEMES_APPLY_SIMD_ROUND_H

#include "schemes/apply/round.h"

#define JOIN2(a, b) a##_##b
#define JOIN(a, b)  JOIN2(a, b)
#define NAMED(a)    JOIN(a, SIMD_NAME)
#define INLINE      static inline __attribute__((always_inline))

/* Integral, for |f| < 2^22: adding 1.5 * 2^23 leaves no fraction bits, so the sum is rounded half
 * to even. The others correct what is nearest. The sum has a variable, which C rounds to float even
 * where it computes in a wider type. */
INLINE float round_float(float f, const enum assay_rounding mode)
{
    const float big = 12582912.0f, sum = f + big, near = sum - big, d = f - near; /* d is exact */
    switch (mode) {
    case ASSAY_ROUND_FLOOR:
        return near - (d < 0 ? 1.0f : 0.0f);
    case ASSAY_ROUND_CEIL:
        return near + (d > 0 ? 1.0f : 0.0f);
    case ASSAY_ROUND_TRUNC:
        return near - (f > 0 && d < 0 ? 1.0f : 0.0f) + (f < 0 && d > 0 ? 1.0f : 0.0f);
    case ASSAY_ROUND_HALF_AWAY: /* ties that went toward zero */
        return near + (f > 0 && d == 0.5f ? 1.0f : 0.0f) - (f < 0 && d == -0.5f ? 1.0f : 0.0f);
    default:
        return near;
    }
}

#endif
