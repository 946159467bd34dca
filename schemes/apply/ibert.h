/* I-BERT's integer polynomials (Kim et al. 2021, algorithms 2 and 3) as Gemmini computes them
 * (ucb-bar/libgemmini @ 5b1254a, gemmini.cc), in int32 that wraps; measured on its own functions
 * (test/schemes/vectors_exact.c). q counts steps of the input's scale S. */
#ifndef ASSAY_SCHEMES_APPLY_IBERT_H
#define ASSAY_SCHEMES_APPLY_IBERT_H

#include <stdint.h>

/* q * (sign(q) * ((min(|q|, -b) + b)^2 + c) + c), b and c negative: GELU in steps of
 * -0.2888 * S^3 / 4, hence of the other sign. */
int32_t apply_ibert_gelu(int32_t q, int32_t b, int32_t c);

/* e^(S q) for q <= 0 in steps of 0.3585 * S^2: with z = -q * ln2_inverse / 2^16, p = q + z * ln2,
 * ((p + b)^2 + c) / 2^z. */
int32_t apply_ibert_exp(int32_t q, int32_t b, int32_t c, int32_t ln2, int32_t ln2_inverse);

#endif
