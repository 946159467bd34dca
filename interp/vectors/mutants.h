/* The neighbours of a record: one parameter that its rescale reads, at another value. */
#ifndef ASSAY_INTERP_VECTORS_MUTANTS_H
#define ASSAY_INTERP_VECTORS_MUTANTS_H

#include "interp/vectors/rows.h"

typedef struct vectors_mutant {
    int field; /* index into assay_record_fields */
    assay_field_value value;
    assay_scheme *side; /* owned */
} vectors_mutant;

typedef struct vectors_mutants {
    size_t n, room;
    vectors_mutant *mutant;
    char unseen[512]; /* parameters that rows of the space do not test, a blank before each */
} vectors_mutants;

/* All of `side` (vectors_side): other choices, other modes and widths of rounding steps, a step
 * more or less, and of numbers all of a small range, else the ends, the default and those near.
 * What makes no record, or one that reads as `side` does, is none. Free what it gives, also on
 * failure. */
assay_status vectors_mutants_of(const assay_scheme *side, const vectors_space *space,
                                vectors_mutants *out, assay_error *err);
void vectors_mutants_free(vectors_mutants *m);

/* "rescale.store wrap" */
const char *vectors_mutant_print(const vectors_mutant *m, char *text, size_t size);

#endif
