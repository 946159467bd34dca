/* Rules shown to be one function on the domain, by rules about their fields: same.c. */
#ifndef ASSAY_INTERP_INFER_SAME_H
#define ASSAY_INTERP_INFER_SAME_H

#include "interp/infer/reach.h"

/* The rule without the fields that reach.h removes, and with every field that nothing reads at its
 * default. */
infer_rule infer_normal(const infer_engine *e, const infer_rule *k);
/* Whether two such rules give one code on every row of the domain. False: undecided. */
bool infer_is_same(const infer_engine *e, const infer_rule *a, const infer_rule *b);

/* Whether two rules with equal fields before the steps round to the same integers; r: what reaches
 * the registers of the first. */
bool infer_same_rounding(const infer_engine *e, const infer_rule *a, const infer_rule *b,
                         const infer_reach *r);

/* What a list of roundings makes of a product at a shift of 0 or more. */
assay_int128 infer_round_by(const assay_steps *s, assay_int128 p, int64_t shift);
/* Whether two lists of steps round the products of a rule to the same integers, at shifts min..max.
 */
bool infer_same_within(const infer_rule *k, const assay_steps *a, const assay_steps *b,
                       const infer_reach *r, int64_t min, int64_t max);

/* Whether two lists of roundings round every product -2^bits .. 2^bits - 1 to the same integer, at
 * every shift of min..max. Always decided. */
bool infer_same_steps(const assay_steps *a, const assay_steps *b, int bits, int64_t min,
                      int64_t max);
/* The same for the negative products alone, or for the others alone. */
bool infer_same_steps_of(const assay_steps *a, const assay_steps *b, int bits, int64_t min,
                         int64_t max, bool negative);
/* The same for a single product. */
bool infer_same_product(const assay_steps *a, const assay_steps *b, assay_int128 p, int64_t min,
                        int64_t max);

#endif
