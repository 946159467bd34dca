/* The roundings that vector forms have, X(name, mode): of integers that are rounded once, and of
 * floats. Each file makes a function of each, and tables of them by mode. */
#ifndef ASSAY_SCHEMES_APPLY_SIMD_MODES_H
#define ASSAY_SCHEMES_APPLY_SIMD_MODES_H

#define ASSAY_SIMD_INTEGER_MODES(X)                                                                \
    X(half_up, ASSAY_ROUND_HALF_UP)                                                                \
    X(half_away, ASSAY_ROUND_HALF_AWAY)                                                            \
    X(half_even, ASSAY_ROUND_HALF_EVEN)                                                            \
    X(half_zero, ASSAY_ROUND_HALF_ZERO)                                                            \
    X(floor, ASSAY_ROUND_FLOOR)                                                                    \
    X(trunc, ASSAY_ROUND_TRUNC)                                                                    \
    X(ceil, ASSAY_ROUND_CEIL)                                                                      \
    X(odd, ASSAY_ROUND_ODD)                                                                        \
    X(away, ASSAY_ROUND_AWAY)

#define ASSAY_SIMD_FLOAT_MODES(X)                                                                  \
    X(half_even, ASSAY_ROUND_HALF_EVEN)                                                            \
    X(half_away, ASSAY_ROUND_HALF_AWAY)                                                            \
    X(floor, ASSAY_ROUND_FLOOR)                                                                    \
    X(trunc, ASSAY_ROUND_TRUNC)                                                                    \
    X(ceil, ASSAY_ROUND_CEIL)

#endif
