/* Requantization of int32 accumulators (schemes/narrow.h), by lanes of vectors: for an engine that
 * makes codes of them while they are in its registers. */
#ifndef ASSAY_SCHEMES_APPLY_SIMD_NARROW_H
#define ASSAY_SCHEMES_APPLY_SIMD_NARROW_H

#include "schemes/narrow.h"

/* How the accumulators of 16 lanes of a vector become codes (narrow_avx512.h). */
typedef struct assay_sixteen {
    float scale[16];      /* FLOAT; the others: */
    int64_t factor[2][8]; /* of even and of odd lanes */
    int32_t shift[16];    /* of the upper halves of doubled products, to twice the code */
} assay_sixteen;

typedef struct assay_narrower {
    enum assay_narrow_by by;
    bool away;     /* DOUBLE: negative sums are rounded down once more; not needed where no
                      code is below the zero point */
    int64_t first; /* added to doubled products */
    int16_t zero;  /* FLOAT: zero point; the others: 1 + twice the zero point; that of unsigned
                      codes moved down by 128, as the next two */
    int8_t lo, hi, flip;  /* flip: ^ what moves codes up again */
    assay_sixteen *lanes; /* NULL: the scheme has no such form; owned */
} assay_narrower;

#endif
