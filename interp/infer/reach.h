/* Fields that are idle, by what can reach them: reach.c says why. */
#ifndef ASSAY_INTERP_INFER_REACH_H
#define ASSAY_INTERP_INFER_REACH_H

#include "interp/infer/engine.h"

typedef struct infer_span {
    assay_int128 lo, hi;
} infer_span;

/* Whether a register of so many bits, 1 to 127, holds all of it. */
static inline bool infer_holds(infer_span s, int32_t bits)
{
    const assay_int128 max = (assay_int128)1 << (bits - 1);
    return s.lo >= -max && s.hi < max;
}

typedef struct infer_reach {
    infer_span input, operand,
        product;       /* accumulator, multiplicand, product: before each narrows */
    infer_span lifted; /* an operand shifted to the left, before 32 bits */
    infer_span raised; /* products of such operands */
    infer_span value;  /* the rounded value, before it is narrowed */
} infer_reach;

/* What rows of the domain can bring into the registers of a rule, or more. */
infer_reach infer_reach_of(const infer_engine *e, const infer_rule *k);
/* The shift after s at which a rule may do something else, beyond e->shift_hi behind the last:
 * those so far out that every value is next to 0, or beyond every register, are one. */
int32_t infer_next_shift(const infer_engine *e, int32_t s);
/* Leaves out one of result_bits, sum_bits and store, where that changes no code; false: none. The
 * rules by which they are left out are those of this folder's README. */
bool infer_leave_out(const infer_options *o, infer_rule *k, const infer_reach *r);
/* The same for input_bits, input_shift_range, operand_bits, left_shift and product_bits. */
bool infer_leave_out_before(const infer_engine *e, infer_rule *k, const infer_reach *r);
/* Whether the latter leaves out anything of a rule whose refusals are open. */
bool infer_is_idle_open(const infer_engine *e, const infer_rule *k);

#endif
