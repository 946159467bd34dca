/* Boxes of rows through one rule: what reaches its registers, and whether two rules treat it
 * alike. */
#ifndef ASSAY_INTERP_INFER_PASSAGE_H
#define ASSAY_INTERP_INFER_PASSAGE_H

#include "interp/infer/reach.h"

/* Rows of one shift: operands (accumulators, less the zero point where it comes before) and
 * multipliers, neither with both signs. */
typedef struct infer_box {
    infer_span x, m;
    int32_t shift;
} infer_box;

/* Spans hold whatever a row of the box brings there, and may hold more. */
typedef struct infer_passage {
    bool placed; /* one shift for all multipliers; else nothing below is set */
    infer_span m;
    infer_span taken;   /* operands that are not refused */
    infer_span operand; /* after the pre-shift */
    int64_t pre, shift; /* the shift after it */
    int64_t left;       /* bits of a left shift of the operand */
    infer_span lifted;  /* the operand after that, before 32 bits */
    infer_span plain;   /* what the product would be without it */
    infer_span product, wrapped;
    infer_span value; /* rounded, before it is narrowed */
} infer_passage;

void infer_pass(const infer_rule *k, const infer_box *box, infer_passage *p);

/* Whether both bring every row to one multiplier, shift and operand, before a left shift of it. */
bool infer_same_place(const infer_rule *a, const infer_passage *p, const infer_rule *b,
                      const infer_passage *q);
/* Whether both round every row of the box to one value. False: that is not told. */
bool infer_same_value(const infer_rule *a, const infer_passage *p, const infer_rule *b,
                      const infer_passage *q);
/* Low bits that the values of every row have in common, as many as *bits, with what they would be
 * if no product wrapped; and, unless the other rule shifts operands to the left as well
 * (same_left), no such operand either. False: that is not told. */
bool infer_low_bits(const infer_rule *k, const infer_passage *p, bool same_left, int64_t *bits);
/* Whether so many low bits of a value are all that is used afterwards. */
bool infer_keeps_low(const infer_rule *k, int64_t bits);
/* Whether both bring values of `v` to one code at every zero point. */
bool infer_same_end(const infer_options *o, const infer_rule *a, const infer_rule *b, infer_span v);
/* Whether every value of a span ends, at every zero point, in one and the same sum or refusal: *sum
 * (INFER_REFUSED), that of a type that saturates brought into it. */
bool infer_is_pinned(const infer_options *o, const infer_rule *k, infer_span v, int64_t *sum);

#endif
