/* Proof that rows of multipliers and shifts cannot distinguish two records. */
#ifndef ASSAY_INTERP_VECTORS_EQUAL_H
#define ASSAY_INTERP_VECTORS_EQUAL_H

#include "interp/infer/boxes.h"
#include "interp/vectors/rows.h"

/* The domain of the proof: the multipliers that R becomes under a record and the total right shifts
 * that it takes, with every zero point and every accumulator of so many bits. */
typedef struct vectors_domain {
    int acc_bits;
    int64_t multiplier_lo, multiplier_hi, shift_lo, shift_hi;
} vectors_domain;

/* False: the side takes none, or rows of scales. */
bool vectors_domain_of(const assay_scheme *side, const vectors_space *space, vectors_domain *out);
/* Rows at the ends of accumulators, multipliers and zero points, at every shift (of a wide range of
 * shifts at some 96). False: out of memory. */
bool vectors_add_corners(const vectors_space *space, const vectors_domain *d, vectors_rows *rows);
/* Whether side b is one function with a, whose domain it is, where they differ in nothing but their
 * rescales: by the rules of interp/infer/same.h and by boxes.h, as long as there are answers
 * left, of which the boxes take theirs. INFER_APART: *row, one of the space, tells them apart.
 * INFER_UNTOLD: neither is proved. */
enum infer_told vectors_tell(const assay_scheme *a, const assay_scheme *b,
                             const vectors_space *space, const vectors_domain *d, uint64_t *left,
                             vectors_row *row);

#endif
