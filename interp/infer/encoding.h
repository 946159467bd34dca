/* Kind scale: ways in which R becomes a multiplier and a shift, compared with rows.
 *
 * Whatever follows the encoding, rows of one accumulator and zero point whose R becomes one
 * multiplier and shift have one answer. An encoding under which two such rows differ is wrong. */
#ifndef ASSAY_INTERP_INFER_ENCODING_H
#define ASSAY_INTERP_INFER_ENCODING_H

#include "interp/infer/scales.h"

typedef struct infer_encoding {
    infer_rule rule; /* its encoding */
    size_t cells;    /* how many different multipliers and shifts it makes of the rows */
    uint64_t image;  /* a hash of those */
    size_t place;    /* in the order in which they were tried */
} infer_encoding;

typedef struct infer_encodings {
    infer_encoding *item; /* owned; those of least cells first; one of each image */
    size_t n, room;
    bool cut; /* there were too many */
} infer_encodings;

/* Those that no row contradicts. bounded: those whose multipliers lose bits where R is small, else
 * all others. One that has limits of shifts, or reduces its multiplier, is contradicted by what
 * contradicts the one without (but the unnormalised): it makes one multiplier and shift of what has
 * one there. */
assay_status infer_find_encodings(infer_task *t, bool bounded, infer_encodings *out,
                                  assay_error *err);
/* Whether the exponent by logarithms is another than that of some form of R; not of powers of two,
 * which a target with such exponents refuses then. */
bool infer_is_near_power(const infer_row *row);
void infer_encodings_free(infer_encodings *l);
/* How R may be computed from three scales before it is encoded. */
extern const int32_t infer_formations[];
#define INFER_FORMATIONS 4
/* Rounding modes that differ where nothing is negative. */
extern const int32_t infer_magnitude_modes[];
#define INFER_MAGNITUDE_MODES 6

#endif
