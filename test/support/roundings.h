/* The result of each rounding mode, by definition: the one expectation that a new mode needs in the
 * tests. Shares nothing with schemes/round.def. */
#ifndef ASSAY_TEST_SUPPORT_ROUNDINGS_H
#define ASSAY_TEST_SUPPORT_ROUNDINGS_H

#include "schemes/round.h"

/* The fraction that a value has above its floor. */
enum test_part { TEST_WHOLE, TEST_BELOW_HALF, TEST_HALF, TEST_ABOVE_HALF };

/* Is a value of this sign, with a floor of this parity, rounded up from its floor? Fails the test
 * when `mode` has no expectation. */
bool test_rounds_up(enum assay_rounding mode, bool negative, bool odd_floor, enum test_part part);

/* v rounded, |v| < 2^62. */
int64_t test_rounded(long double v, enum assay_rounding mode);

#endif
