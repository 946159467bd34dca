/* Common parts of the vector forms of element-wise functions. */
#ifndef ASSAY_SCHEMES_APPLY_SIMD_CODES_H
#define ASSAY_SCHEMES_APPLY_SIMD_CODES_H

#include "schemes/apply/codes.h"
#include "schemes/apply/simd/round.h"

/* The loop for a form of floats (codes_float.c); NULL where the instruction set has none. */
assay_codes_fn NAMED(simd_codes_float)(const assay_codes *c);

#endif
