/* One element of a node's output, watched while the node's own kernel computes it: which call of
 * the scheme's row functions gives its code, from what. The kernel runs as it always does; the
 * vtable that it calls notes what passes. */
#ifndef ASSAY_INTERP_EXPLAIN_WATCH_H
#define ASSAY_INTERP_EXPLAIN_WATCH_H

#include "interp/explain/trace.h"
#include "interp/run/program.h"

/* The row function that gave the element. */
enum explain_kind {
    EXPLAIN_NOTHING, /* none: the element was moved, or computed in floats */
    EXPLAIN_REQUANTIZE,
    EXPLAIN_POOL,
    EXPLAIN_WINDOW,
    EXPLAIN_BINARY,
    EXPLAIN_UNARY,
    EXPLAIN_ROW,
    EXPLAIN_INTERPOLATE,
    EXPLAIN_QUANTIZE,
    EXPLAIN_DEQUANTIZE,
    EXPLAIN_DOT
};

#define EXPLAIN_RESCALES 4

/* A rescale that was made on the way. */
typedef struct explain_rescale {
    const assay_rescale *r; /* of the program's unit */
    int64_t acc;
    size_t channel;
} explain_rescale;

typedef struct explain_seen {
    enum explain_kind kind;
    size_t channel;
    int64_t value; /* the element: a code, or a float's bits */
    int64_t acc;   /* requantize: the accumulator; pool: the sum, */
    int32_t count; /* and of how many cells; window: likewise */
    int32_t in[2]; /* unary, binary; interpolate: the fractions fy, fx */
    uint32_t bits; /* quantize: the float; dequantize: in[0] */
    int32_t *row;  /* row, window; interpolate: the four corners */
    size_t n_row, at;
    /* Products of the accumulator: centred operands in the order of reduction; n 0 and no blocks:
     * they are not available. */
    int32_t *x, *w;
    size_t n;
    int64_t *block; /* exact sums of blocks of weights */
    size_t n_blocks;
    int64_t bias;
    int32_t zx, zw;
    int n_rescales;
    explain_rescale rescale[EXPLAIN_RESCALES];
    explain_trace told; /* what the scheme's function told of its steps, rescales included; */
    int n_own;          /* how many of these were its own words */
} explain_seen;

/* Watches element `element` of output 0. in[i] as for assay_replay_node. What *seen holds is to be
 * freed by explain_seen_free, whatever is returned. */
assay_status explain_watch(const assay_program *p, int node, const void *const *in, int64_t element,
                           explain_seen *seen, assay_error *err);
void explain_seen_free(explain_seen *seen);

/* Of an element that was moved: which input it was, and which element of that; false: it is none's.
 */
bool explain_source(const assay_program *p, int node, const void *const *in, int64_t element,
                    int *input, int64_t *at);
#endif
