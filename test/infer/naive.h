/* One rescale in plain integers, of schemes/README.md ("the record in one breath") and the words of
 * record.def and round.def: for the numbers of tests: products below 2^60. */
#ifndef ASSAY_TEST_INFER_NAIVE_H
#define ASSAY_TEST_INFER_NAIVE_H

#include "graph/base.h"
#include "schemes/record/record.h"
#include "schemes/round.h"

#define NAIVE_REFUSED INT64_MIN

typedef struct naive_row {
    int64_t acc, zp, multiplier, shift;
    assay_elem type;
    bool bounded;
    int64_t lo, hi;
} naive_row;

/* A product behind a list of steps, which have `shift` bits between them. */
int64_t naive_steps(const assay_steps *s, int64_t p, int64_t shift);
/* The code of a row whose multiplier and shift the target takes, or NAIVE_REFUSED. */
int64_t naive_code(const assay_rule_rescale *k, const naive_row *g);

#endif
