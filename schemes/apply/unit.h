/* A unit: one node's arithmetic, prepared. derive/ fills it (floating point allowed), apply/ runs
 * it (integers only, this header included there).
 *
 * At its core are rescales: a unit has up to three (first operand, second operand, output). */
#ifndef ASSAY_SCHEMES_UNIT_H
#define ASSAY_SCHEMES_UNIT_H

#include "graph/core/float_eval.h"
#include "graph/core/op.h"
#include "schemes/apply/simd.h"
#include "schemes/apply/tell.h"
#include "schemes/record/record.h"
#include "schemes/vtable.h"

typedef struct assay_rescale assay_rescale;

/* One rescale: per-channel parameters and how to apply them. Arrays have n entries (1: the same for
 * every channel) and belong to the unit. */
struct assay_rescale {
    const assay_rule_rescale *rule;
    size_t n;
    /* integers: value = (x >> pre) * multiplier / 2^shift, shift may be negative */
    const int64_t *multiplier, *shift;
    const int64_t *pre; /* NULL: no pre-shift; negative: to the left */
    /* floats, IEEE bits: x * scale, or ((x * scale) * scale_w) / scale_out in steps */
    const int64_t *scale, *scale_w, *scale_out;
    /* floats: round(R * 2^(64 - near_left)), R the real scale, for the row's short path
     * (apply/rescale_near.c); NULL: there is none */
    const int64_t *near;
    unsigned near_left;
    /* thresholds: n_thresholds a channel, ascending; result = lo + how many are <= x */
    const int64_t *threshold;
    size_t n_thresholds;
    int64_t in_zero;    /* subtracted first */
    int64_t zero_point; /* of the output */
    int64_t lo, hi;     /* codes: the type's range within the fused activation */
    /* What a value is clamped to before it is stored: lo and hi; where the target keeps the low
     * bits (store: wrap), the fused activation alone: INT64_MIN, INT64_MAX where it has no bound.
     */
    int64_t clamp_lo, clamp_hi;
    unsigned out_bits; /* of the type */
    bool out_signed;
    bool untold; /* the unit's */
    /* acc[i] of channel (channel + i) when n > 1, to codes */
    void (*row)(const assay_rescale *r, const int64_t *acc, size_t n, size_t channel, int32_t *out);
};

/* Positions in assay_unit.scale. */
enum { ASSAY_FIRST, ASSAY_SECOND, ASSAY_OUT };

struct assay_unit {
    assay_record rec; /* the effective record of this node */
    enum assay_op op;
    assay_rescale scale[3];
    assay_simd simd;    /* of scale[ASSAY_OUT] */
    int64_t in_zero[2]; /* zero points of the operands */
    bool in_signed;     /* the first operand's type */
    int64_t depth;
    int64_t pair_step;          /* distance of the products of a pair; 0: neighbours */
    bool subtract;              /* add: second operand negated */
    bool untold;                /* the record has what short forms were not told of (known.def) */
    const assay_teller *teller; /* NULL: nobody asks for its steps */
    /* 256- or 65,536-entry table by code - table_min, or 513 entries to interpolate */
    const int64_t *table;
    int64_t table_min;
    /* Softmax of codes of at most 8 bits: 256 exponentials by the distance from the row's greatest
     * code, fixed-point or float bits, for vector forms (apply/simd/softmax.c); else NULL. */
    const int32_t *exponential;
    /* Small constants of one op class; the files in apply/ say what each is. */
    int64_t k[12];
    const int64_t *list[2];        /* zero points per channel; weighted: multipliers per block */
    enum assay_rounding last;      /* softmax, log softmax: how their last step rounds */
    int64_t sides[2];              /* pool: rows and columns of its window, or 0 */
    const assay_rescale *by_count; /* pool: a rescale for each divisor 1..depth */
    size_t n_by_count;

    void (*binary)(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n, int32_t *out);
    void (*unary)(const assay_unit *u, const int32_t *x, size_t n, int32_t *out);
    void (*pool)(const assay_unit *u, const int64_t *sum, const int32_t *count, size_t n,
                 int32_t *out);
    void (*window)(const assay_unit *u, const int32_t *x, size_t n, int32_t count, int32_t *out);
    void (*row)(const assay_unit *u, const int32_t *x, size_t n, int32_t *out);
    void (*interpolate)(const assay_unit *u, const int32_t *c, const int32_t *fy, const int32_t *fx,
                        size_t n, int32_t *out);

    /* Everything allocated, and what params() lists (owned ones have a name). */
    struct assay_unit_block *blocks;
    assay_unit_param *param;
    size_t n_params;
    bool memory_short;     /* an allocation failed: the unit must not be used */
    bool precomputed_used; /* it uses multipliers given for the node */
    bool asks_row;         /* no bound of codes says what reaches a rescale: accepted_row does */
    bool judged[3];        /* what reaches scale[i] is none that it refuses (derive/reach.c) */
};

#endif
