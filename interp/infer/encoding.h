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
    uint64_t core;   /* the same of rows with R in the core */
    size_t place;    /* in the order in which they were tried */
} infer_encoding;

typedef struct infer_encodings {
    infer_encoding *item; /* owned; no limits first, then least cells; one of each image */
    size_t n, room;
    bool cut;               /* there were too many */
    const infer_rule *like; /* NULL, or: every one of this one's core, whatever its image */
    const infer_rule *known;
    size_t n_known; /* those with the core of one of these are left out */
} infer_encodings;

/* Adds those that no row contradicts, in order. bounded: those whose multipliers lose bits where R
 * is small, else all others. One that has limits of shifts, or reduces its multiplier, is
 * contradicted by what contradicts the one without (but the unnormalised): it makes one multiplier
 * and shift of what has one there. R of 24 bits (infer_is_single) get multipliers of 24 bits at
 * most: more are 0 in wider ones, and a rule with these is one with 24 whose registers and steps
 * have so many bits less. */
assay_status infer_find_encodings(infer_task *t, bool bounded, infer_encodings *out,
                                  assay_error *err);
/* R of 2^(live_lo + this) and more that are not infer_is_edge are the core: limits of shifts that
 * few R are beyond are left open there. */
int infer_core_of(const infer_task *t);
void infer_encodings_free(infer_encodings *l);
/* Rounding modes that differ where nothing is negative. */
extern const int32_t infer_magnitude_modes[];
#define INFER_MAGNITUDE_MODES 6

#endif
