/* Weights before they are packed: filters one at a time, and what is proved about them. */
#ifndef ASSAY_INTERP_FAST_WEIGHTS_H
#define ASSAY_INTERP_FAST_WEIGHTS_H

#include "interp/fast/fast.h"

/* Filter o is `depth` weights: `cells` times `channels`. Filter j of group g, o = g * group_outputs
 * + j, has element (cell, c) at origin + g * group_step + j * filter_step + cell * cell_step + c *
 * channel_step. */
typedef struct assay_filters {
    assay_view weights, bias; /* bias.data NULL: none */
    int64_t outputs, cells, channels, group_outputs;
    int64_t origin, group_step, filter_step, cell_step, channel_step;
} assay_filters;

/* How a node's products are formed. */
typedef struct assay_operand_form {
    bool bytes;     /* u8 x s8, the left operand being code + up; else s16 x s16, centred */
    int32_t up;     /* 128 for signed codes, else 0 */
    int32_t zero;   /* what the left operand holds where the input is zero: padding */
    int32_t centre; /* subtracted from codes in words: the zero point */
    int element;    /* bytes of an element of the left operand: 1 or 2 */
    const assay_rows *rows;
    int64_t bound; /* no partial sum lies beyond it */
} assay_operand_form;

static inline int64_t fast_filter_depth(const assay_filters *f)
{
    return f->cells * f->channels;
}

/* Filter o, centred, in the order cell, channel. row has room for the depth. */
void fast_filter_load(const assay_filters *f, int64_t o, int32_t *row);

/* Whether every sum is exact in int32, whatever the input: the sum over a filter of the greatest
 * |x - zx| times |w - zw|, plus |bias|, stays below 2^31, and the scheme says that within this
 * bound `accumulate` returns the exact sum. Chooses the form. False: the reference's. */
bool fast_filters_exact(const assay_fast_setup *s, const assay_filters *f, int32_t *row,
                        assay_operand_form *form);

/* What the accumulators of filter o begin with: its bias, less what the left operand's zero adds:
 *   sum (xu - zero) * w = sum xu * w - zero * sum w      (modulo 2^32) */
int32_t fast_filter_start(const assay_filters *f, const assay_operand_form *form, int64_t o,
                          const int32_t *row);

#endif
