/* Distinguishing schemes, or a scheme from all its mutants: the whole job and its report. */
#ifndef ASSAY_INTERP_VECTORS_TELL_H
#define ASSAY_INTERP_VECTORS_TELL_H

#include <stdio.h>

#include "interp/vectors/files.h"

typedef struct vectors_counts {
    size_t told, same, proved, open; /* proved: of the same */
} vectors_counts;

typedef struct vectors_telling {
    vectors_space space;               /* given, of all that are asked */
    const assay_scheme *const *scheme; /* given, borrowed; with records */
    size_t n;                          /* 1: against its mutants */
    bool rows;                         /* given: the op is one rescale under all of them */
    uint64_t seed;                     /* given */
    vectors_sides sides;
    vectors_suite suite;
    probe_apart apart;
    vectors_counts counts;
} vectors_telling;

/* Fills the rest; free it with vectors_tell_free, also on failure. */
assay_status vectors_tell_run(vectors_telling *t, assay_error *err);
void vectors_tell_free(vectors_telling *t);
/* All are distinguished; of mutants, all that were seen to differ anywhere and none is open. */
bool vectors_tell_all(const vectors_telling *t);

void vectors_tell_print(FILE *f, const void *telling);
json_t *vectors_tell_json(const vectors_telling *t);
assay_status vectors_tell_write(const vectors_telling *t, const char *dir, assay_error *err);

#endif
