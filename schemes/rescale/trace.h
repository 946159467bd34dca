/* One accumulator's path through a rescale, every intermediate value kept: for explanations, and to
 * know where arithmetic wraps around. Written apart from the code that runs; a test checks that
 * they agree. */
#ifndef ASSAY_SCHEMES_TRACE_H
#define ASSAY_SCHEMES_TRACE_H

#include "schemes/apply/unit.h"
#include "schemes/round.h"

#define ASSAY_TRACE_ZONES 7

typedef struct assay_trace {
    bool accepted;   /* false: the target refuses the accumulator; nothing below counts */
    int64_t operand; /* minus input zero point, and the output's where it is subtracted before */
    int64_t shifted, saturated;  /* after pre-shift; operand_bits */
    unsigned left;               /* bits of a left shift of the operand, */
    int64_t lifted;              /* and what it gives */
    assay_int128 exact, product; /* before and after wrapping to product_bits */
    unsigned product_left;       /* bits of a left shift of the product */
    int n_rounds;
    struct {
        unsigned bits;
        enum assay_rounding mode;
        assay_int128 before, after;
    } round[ASSAY_MAX_STEPS];
    assay_int128 narrowed;
    /* float encodings: IEEE bits, binary32 unless the rule says binary64 */
    uint64_t f_acc, f_first, f_second, f_product, f_inside;
    assay_int128 rounded; /* the integer that is left of either */
    assay_int128 sum, clamped;
    int64_t code;
    /* Which turn of each wrap-around (or, of float values, which side or unit) this is. The code
     * is monotone in the accumulator between two that have equal zones and are on one side of the
     * accumulator whose operand is 0. */
    int64_t zone[ASSAY_TRACE_ZONES];
} assay_trace;

/* The accumulator whose operand is 0. */
int64_t assay_trace_zero(const assay_rescale *r);
void assay_trace_run(const assay_rescale *r, int64_t x, size_t channel, assay_trace *t);

#endif
