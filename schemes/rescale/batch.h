/* Rescales by the row: for `assay scheme apply` and `derive`, for tests and for NumPy users. */
#ifndef ASSAY_SCHEMES_BATCH_H
#define ASSAY_SCHEMES_BATCH_H

#include "schemes/scheme.h"

/* n independent rescales; arrays have n entries. Either scale, or the three scales of which it is
 * formed (float32; weight and out may be NULL: 1), or multiplier and shift (in the
 * target's own sign convention, `rescale.shift_sign`) and pre where the target has a pre-shift. */
typedef struct assay_batch {
    size_t n;
    const char *op;  /* whose overrides apply; NULL: "conv" */
    bool wide;       /* the record for codes of more than 8 bits */
    assay_elem type; /* of the output, 1..32 bits; unsigned: the record for unsigned codes */
    const int64_t *acc;
    bool sums;           /* acc are exact sums, which a weighted op's accumulator holds first */
    const double *scale; /* R; rounded to float32 first where the scheme forms scales in float32 */
    const double *in, *weight, *out; /* or R = in * weight / out, formed as the scheme does */
    bool per_tensor;                 /* the weights have one scale */
    const int64_t *multiplier, *shift, *pre;
    const int64_t *zero_point; /* of the output; NULL: 0 */
    const int64_t *in_zero;    /* subtracted from acc; NULL: 0 */
    const int64_t *lo, *hi;    /* bounds within the type's range; where low bits are stored as they
                                * are, before that; NULL: that range, or none */
} assay_batch;

/* out[i]: the code; error[i] (may be NULL): 1 where the target would refuse (out[i] is then 0).
 * Without `error` the first refused row is the error returned. Built-in families only. */
assay_status assay_scheme_batch_apply(const assay_scheme *s, const assay_batch *b, int64_t *out,
                                      uint8_t *error, assay_error *err);

/* Multipliers, shifts and pre-shifts (may be NULL) of n scales as the target writes them, under the
 * record of a variant (enum assay_variant); float encodings give IEEE bits in `multiplier` and 0 in
 * shift. error as above. */
assay_status assay_scheme_batch_derive(const assay_scheme *s, const char *op, unsigned variant,
                                       const double *scale, size_t n, int64_t *multiplier,
                                       int64_t *shift, int64_t *pre, uint8_t *error,
                                       assay_error *err);

#endif
