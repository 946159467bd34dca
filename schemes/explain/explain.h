/* A scheme in words: its formula, one rescale step by step, its rounding as a table that the code
 * itself fills. For `assay scheme show` and `try`. */
#ifndef ASSAY_SCHEMES_EXPLAIN_H
#define ASSAY_SCHEMES_EXPLAIN_H

#include <stdio.h>

#include "schemes/rescale/single.h"

/* How a rescale is computed, encoded and applied, one sentence per line. */
/* How products are added (sums.c). */
void assay_explain_sums(FILE *f, const assay_record *rec);
void assay_explain_formula(FILE *f, const assay_record *rec);
/* How the target writes shifts. */
const char *assay_explain_shift_sign(const assay_rule_rescale *k);
/* Every intermediate value of one accumulator. */
void assay_explain_steps(FILE *f, const assay_single *o, int64_t acc);
/* The same, each value in binary too. A line is two blanks, the step's name in ASSAY_EXPLAIN_NAME
 * characters, its text. */
#define ASSAY_EXPLAIN_NAME 24
void assay_explain_steps_in_binary(FILE *f, const assay_single *o, int64_t acc);
/* Two's complement digits of v, as many as it takes, the last `cut` (at most 127) after a point.
 */
#define ASSAY_EXPLAIN_BITS 136
const char *assay_explain_bits(assay_int128 v, unsigned cut, char text[ASSAY_EXPLAIN_BITS]);
/* Under the record of a variant (enum assay_variant), in codes of the scheme's activations: values
 * ending in one half (and quarters), rounded by running the rescale with R = 1/2, 1/4, 1/8, zero
 * point 0 and 1. */
assay_status assay_explain_rounding(FILE *f, const assay_scheme *s, const char *op,
                                    unsigned variant, assay_error *err);
/* 32 rescales: accumulator, R, zero point, what R becomes, the code. */
assay_status assay_explain_examples(FILE *f, const assay_scheme *s, const char *op,
                                    unsigned variant, assay_error *err);

/* Nothing for a scheme without `extends`; else which parameters each ancestor states last, which
 * claims of bit-exactness are inherited, and which were lost by what. */
void assay_explain_inheritance(FILE *f, const assay_scheme_data *d);

#endif
