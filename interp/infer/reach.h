/* Fields without effect, found by bounds on what can reach them; reach.c has the reasons. */
#ifndef ASSAY_INTERP_INFER_REACH_H
#define ASSAY_INTERP_INFER_REACH_H

#include "interp/infer/engine.h"

typedef struct infer_span {
    assay_int128 lo, hi;
} infer_span;

/* Whether a register of this many bits, 1 to 127, holds the whole span. */
static inline bool infer_holds(infer_span s, int32_t bits)
{
    const assay_int128 max = (assay_int128)1 << (bits - 1);
    return s.lo >= -max && s.hi < max;
}

typedef struct infer_reach {
    infer_span input, operand,
        product;       /* accumulators, multiplicands, products: each before it is narrowed */
    infer_span lifted; /* operands shifted left, before they are cut to 32 bits */
    infer_span raised; /* products of such operands */
    infer_span value;  /* rounded values, before they are narrowed */
} infer_reach;

/* Bounds on what rows of the domain bring into the registers of a rule; these may be too wide. */
infer_reach infer_reach_of(const infer_engine *e, const infer_rule *k);
/* The next shift after s at which a rule may behave differently; above e->shift_hi after the last.
 * Shifts so extreme that every value is next to 0, or beyond every register, count as one. */
int32_t infer_next_shift(const infer_engine *e, int32_t s);
/* Removes one of result_bits, sum_bits and store whose removal changes no code; false: none is like
 * that. The rules for it are listed in this folder's README. */
bool infer_leave_out(const infer_options *o, infer_rule *k, const infer_reach *r);
/* The same for input_bits, input_shift_range, operand_bits, left_shift and product_bits. */
bool infer_leave_out_before(const infer_engine *e, infer_rule *k, const infer_reach *r);
/* Whether the latter would remove anything from a rule whose refusals are open. */
bool infer_is_idle_open(const infer_engine *e, const infer_rule *k);

#endif
