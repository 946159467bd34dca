/* A naive twin of one rescale: rational arithmetic written from the words of record.def, the C
 * library's floats, no code of schemes/. */
#ifndef ASSAY_TEST_RESCALE_TWIN_H
#define ASSAY_TEST_RESCALE_TWIN_H

#include "schemes/record/record.h"

typedef struct rescale_twin {
    const assay_record *rec;
    int64_t multiplier, shift, pre; /* shift: right, in all, without pre */
    float f32;
    double f64;
    int64_t zero, in_zero, lo, hi;
    int bits;
    bool is_signed;
} rescale_twin;

/* The shift as the target writes it, and a pre-shift of Glow's: a second rounding of the
 * multiplier, and where the pre-shift comes from. */
void twin_place(rescale_twin *t, int64_t written, int64_t glow_pre);
/* The code of an accumulator less the input's zero point. */
int64_t twin_code(const rescale_twin *t, int64_t acc);

#endif
