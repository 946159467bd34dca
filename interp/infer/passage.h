/* Boxes of rows through one rule: what reaches its registers, and whether two rules treat a box
 * alike. */
#ifndef ASSAY_INTERP_INFER_PASSAGE_H
#define ASSAY_INTERP_INFER_PASSAGE_H

#include "interp/infer/reach.h"

/* Rows of one shift: a span of operands (accumulators, less the zero point where it is subtracted
 * first) and one of multipliers, neither with both signs. */
typedef struct infer_box {
    infer_span x, m;
    int32_t shift;
} infer_box;

/* Each span holds every value that a row of the box brings there, and may hold more. */
typedef struct infer_passage {
    bool placed; /* all multipliers get one shift; if false, nothing below is set */
    infer_span m;
    infer_span taken;   /* operands that the rule accepts */
    infer_span operand; /* multipliers after the pre-shift */
    int64_t pre, shift; /* the shift after it */
    int64_t left;       /* bits by which the operand is shifted left */
    infer_span lifted;  /* operands after that, before they are cut to 32 bits */
    infer_span plain;   /* products as they would be without that cut */
    infer_span product, wrapped;
    infer_span value; /* rounded values, before they are narrowed */
} infer_passage;

void infer_pass(const infer_rule *k, const infer_box *box, infer_passage *p);

/* Whether both rules bring every row to one multiplier, shift and operand, before a left shift of
 * the operand. */
bool infer_same_place(const infer_rule *a, const infer_passage *p, const infer_rule *b,
                      const infer_passage *q);
/* Whether both rules round every row of the box to one value. False: undecided. */
bool infer_same_value(const infer_rule *a, const infer_passage *p, const infer_rule *b,
                      const infer_passage *q);
/* The low bits, up to *bits, that the values of every row share with what they would be if no
 * product wrapped; and, unless the other rule also shifts operands to the left (same_left), if no
 * such operand wrapped either. False: undecided. */
bool infer_low_bits(const infer_rule *k, const infer_passage *p, bool same_left, int64_t *bits);
/* Whether everything after the rounding depends on that many low bits alone. */
bool infer_keeps_low(const infer_rule *k, int64_t bits);
/* Whether both rules turn each value in `v` into one code at every zero point. */
bool infer_same_end(const infer_options *o, const infer_rule *a, const infer_rule *b, infer_span v);
/* Whether every value of a span ends in one and the same sum or refusal at every zero point: *sum
 * (or INFER_REFUSED), clamped to the type where it saturates. */
bool infer_is_pinned(const infer_options *o, const infer_rule *k, infer_span v, int64_t *sum);

#endif
