/* Operands of element-wise ops, part by part: an operand of the output's shape is read in place,
 * a broadcast one is expanded for the part. Codes between storage and int32. */
#ifndef ASSAY_INTERP_FAST_OPERANDS_H
#define ASSAY_INTERP_FAST_OPERANDS_H

#include "interp/fast/fast.h"
#include "interp/move/broadcast.h"

typedef struct assay_operands {
    const assay_view *in;
    assay_broadcast walk;           /* at its first row; unused where all are whole */
    bool whole[ASSAY_BROADCAST_IN]; /* of the output's shape */
    int size[ASSAY_BROADCAST_IN];   /* bytes of an element, at most 8 */
} assay_operands;

void fast_operands_begin(assay_operands *o, const assay_type *out, const assay_view *in, int n_in);

/* Input k at n output elements from `first` on: in place, or in `buffer`, which has room. */
const void *fast_operands_part(const assay_operands *o, int k, int64_t first, int64_t n,
                               void *buffer);

/* Codes of at most 16 bits, or booleans: n of them to int32, and back. */
bool fast_is_short(const assay_type *t);
void fast_widen(assay_elem e, const void *x, int64_t n, int32_t *row);
void fast_narrow_codes(assay_elem e, const int32_t *row, int64_t n, void *y);

#endif
