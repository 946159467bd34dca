/* Common parts of vector forms: names by instruction set, and floats rounded to integers. */
#ifndef ASSAY_SCHEMES_APPLY_SIMD_ROUND_H
#define ASSAY_SCHEMES_APPLY_SIMD_ROUND_H

#include "schemes/round.h"

#define JOIN2(a, b) a##_##b
#define JOIN(a, b)  JOIN2(a, b)
#define NAMED(a)    JOIN(a, SIMD_NAME)
#define INLINE      static inline __attribute__((always_inline))

/* The machine's own roundings of floats, by round.def's column; 0: it has none. */
enum { IEEE_STEPS, IEEE_NEAREST, IEEE_DOWN, IEEE_ZERO, IEEE_UP };
#define IEEE_CASE(ID, name, text, words, ieee, addend)                                             \
    case ASSAY_ROUND_##ID:                                                                         \
        return IEEE_##ieee;
INLINE int ieee_of(const enum assay_rounding mode)
{
    switch (mode) {
        ASSAY_ROUNDINGS(IEEE_CASE)
    }
    return IEEE_STEPS;
}

ASSAY_ROUNDING_ADDEND(addend32, uint32_t)

/* |f| < 2^22. Adding 1.5 * 2^23 leaves no fraction bits, so `near` is rounded half to even (`sum`
 * has a variable, which C rounds to float even where it computes in a wider type). Any other rule
 * asks of f only its sign, its floor, and which of these the fraction above it is: 0, below a half,
 * a half, above. So it rounds floor * 4 + 0, 1, 2 or 3, shifted by 2. */
INLINE int32_t round_float(float f, const enum assay_rounding mode)
{
    const float big = 12582912.0f, sum = f + big, near = sum - big, d = f - near; /* d is exact */
    if (ieee_of(mode) == IEEE_NEAREST)
        return (int32_t)near;
    const int32_t below = d < 0;
    const int32_t part = below ? 3 - (d == -0.5f) : (d > 0) + (d == 0.5f);
    const int32_t q = (int32_t)near - below;
    const uint32_t quarters = (uint32_t)part + addend32(mode, 2, 3, 0 - (uint32_t)(f < 0),
                                                        0 - ((uint32_t)q & 1), UINT32_MAX);
    return q + (int32_t)(quarters >> 2);
}

#endif
