/* Given rows, judged: the mutants of a scheme that survive them. */
#ifndef ASSAY_INTERP_VECTORS_LINT_H
#define ASSAY_INTERP_VECTORS_LINT_H

#include <stdio.h>

#include "interp/vectors/files.h"

typedef struct vectors_judgement {
    vectors_sides sides;
    vectors_suite given, could; /* the rows, and those that would kill the survivors */
    vectors_case *cases;        /* of `could`, owned */
    int64_t *expected;          /* the codes that the rows expect, owned */
    size_t wrong, live;         /* rows that the scheme computes otherwise; mutants */
} vectors_judgement;

/* Rows of `path`, as vectors_read takes it, against scheme s and its mutants. Free it with
 * vectors_lint_free, also on failure. */
assay_status vectors_lint(const assay_scheme *s, const vectors_space *space, const char *path,
                          uint64_t seed, vectors_judgement *out, assay_error *err);
void vectors_lint_free(vectors_judgement *j);

void vectors_lint_print(FILE *f, const void *judgement);
json_t *vectors_lint_json(const vectors_judgement *j);

#endif
