/* Operands of rescales of codes: what is made of one code or two before a rescale, and which of the
 * unit's rescales it is. The rows that rescale and the question whether the target accepts the
 * operand (accept.c) go by it alike. */
#ifndef ASSAY_SCHEMES_APPLY_OPERAND_H
#define ASSAY_SCHEMES_APPLY_OPERAND_H

#include "schemes/apply/unit.h"

typedef struct assay_operand {
    int64_t x;
    int slot; /* in assay_unit.scale */
} assay_operand;

/* rescale, relu, clip, maxima: x - z_in. */
static inline assay_operand apply_operand_rescale(const assay_unit *u, int32_t x)
{
    return (assay_operand){x - u->in_zero[0], ASSAY_OUT};
}

static inline assay_operand apply_operand_abs(const assay_unit *u, int32_t x)
{
    const int64_t v = x - u->in_zero[0];
    return (assay_operand){v < 0 ? -v : v, ASSAY_OUT};
}

/* leaky relu: negative ones by the first rescale, whose scale includes |slope|; k[0] is 1 when the
 * slope is negative. */
static inline assay_operand apply_operand_slope(const assay_unit *u, int32_t x)
{
    const int64_t v = x - u->in_zero[0];
    return v >= 0 ? (assay_operand){v, ASSAY_OUT} : (assay_operand){u->k[0] ? -v : v, ASSAY_FIRST};
}

static inline assay_operand apply_operand_mul(const assay_unit *u, int32_t a, int32_t b)
{
    return (assay_operand){(a - u->in_zero[0]) * (b - u->in_zero[1]), ASSAY_OUT};
}

/* Negative ones times the slope's code by the first rescale. */
static inline assay_operand apply_operand_prelu(const assay_unit *u, int32_t a, int32_t b)
{
    const int64_t v = a - u->in_zero[0];
    return v >= 0 ? (assay_operand){v, ASSAY_OUT}
                  : (assay_operand){v * (b - u->in_zero[1]), ASSAY_FIRST};
}

#endif
