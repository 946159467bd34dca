/* Rules that are one function on the domain, by rules about fields: same.c. */
#ifndef ASSAY_INTERP_INFER_SAME_H
#define ASSAY_INTERP_INFER_SAME_H

#include "interp/infer/reach.h"

/* A rule with every field left out that reach.h leaves out, and every field that is not read at its
 * default. */
infer_rule infer_normal(const infer_engine *e, const infer_rule *k);
/* Whether normal rules give one code on every row of the domain. False: they may or may not. */
bool infer_is_same(const infer_engine *e, const infer_rule *a, const infer_rule *b);

/* Whether the steps of two rules that are the same in all else before them make the same integers;
 * r: what reaches the registers of the first. */
bool infer_same_rounding(const infer_engine *e, const infer_rule *a, const infer_rule *b,
                         const infer_reach *r);

/* What a list of roundings makes of a product at a shift of 0 or more. */
assay_int128 infer_round_by(const assay_steps *s, assay_int128 p, int64_t shift);
/* Whether lists of steps make the same integers of the products of a rule, at shifts min..max. */
bool infer_same_within(const infer_rule *k, const assay_steps *a, const assay_steps *b,
                       const infer_reach *r, int64_t min, int64_t max);

/* Whether lists of roundings make one integer of every product -2^bits .. 2^bits - 1 at every shift
 * of min..max. Decided. */
bool infer_same_steps(const assay_steps *a, const assay_steps *b, int bits, int64_t min,
                      int64_t max);
/* The same of those below 0, or of the others. */
bool infer_same_steps_of(const assay_steps *a, const assay_steps *b, int bits, int64_t min,
                         int64_t max, bool negative);
/* The same for one product. */
bool infer_same_product(const assay_steps *a, const assay_steps *b, assay_int128 p, int64_t min,
                        int64_t max);

#endif
