/* Kind scale: encodings of R as a multiplier and a shift, compared with rows.
 *
 * Whatever follows the encoding, rows of one accumulator and zero point whose R becomes one
 * multiplier and shift have one answer. An encoding under which two such rows differ is wrong. */
#ifndef ASSAY_INTERP_INFER_ENCODING_H
#define ASSAY_INTERP_INFER_ENCODING_H

#include "interp/infer/scales.h"

typedef struct infer_encoding {
    infer_rule rule; /* only its encoding */
    size_t cells;    /* number of different multipliers and shifts that it makes of the rows */
    uint64_t image;  /* a hash of those */
    uint64_t core;   /* the same hash over the rows with R in the core */
    size_t place;    /* when it was tried */
} infer_encoding;

typedef struct infer_encodings {
    infer_encoding
        *item; /* owned; those without limits first, then the fewest cells; one per image */
    size_t n, room;
    bool cut;               /* there were too many to keep */
    const infer_rule *like; /* if not NULL: only those with this one's core, whatever their image */
    const infer_rule *known;
    size_t n_known; /* encodings with the core of one of these n_known are left out */
} infer_encodings;

/* Finds the encodings that no row contradicts, in order. bounded: those whose multipliers lose bits
 * where R is small; else all others.
 *
 * What contradicts an encoding without limits also contradicts the same one with limits of shifts
 * or a reduced multiplier (unnormalised ones aside): rows with one multiplier and shift keep one.
 * For R of 24 bits (infer_is_single) multipliers of 24 bits are enough: in wider ones the other
 * bits are 0, and such a rule equals one with 24 bits whose registers and steps have that many bits
 * less. */
assay_status infer_find_encodings(infer_task *t, bool bounded, infer_encodings *out,
                                  assay_error *err);
/* The core are the R of 2^(live_lo + this) and more that are not infer_is_edge; limits of shifts
 * that few R exceed are left open there. */
int infer_core_of(const infer_task *t);
void infer_encodings_free(infer_encodings *l);

#endif
