/* A real number as an integer: what the quantizer and the optimizer do to constants before the run.
 * Rounding is round.h's. */
#ifndef ASSAY_SCHEMES_REAL_H
#define ASSAY_SCHEMES_REAL_H

#include "schemes/round.h"

/* x rounded by `mode`, saturated at +-2^62; a NaN is 0. */
int64_t derive_round_real(double x, enum assay_rounding mode);

#endif
