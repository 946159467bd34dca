/* XXH3-128 of long inputs by vectors of 512 bits: the same hash as the library's, sooner. */
#ifndef ASSAY_INTERP_XXH3_H
#define ASSAY_INTERP_XXH3_H

#include "interp/digest.h"

enum { ASSAY_XXH3_LONG = 241 }; /* from so many bytes on XXH3 is the function below */

/* Of n bytes, at least ASSAY_XXH3_LONG. The machine must have AVX-512F and DQ. */
assay_digest assay_xxh3_avx512(const void *bytes, size_t n);

#endif
