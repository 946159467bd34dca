/* Schemes as others see them: what a unit is prepared from, and the vtable that a target's
 * arithmetic consists of.
 *
 * Public: users get it through assay.h; whoever writes a plugin needs nothing else. */
#ifndef ASSAY_SCHEMES_VTABLE_H
#define ASSAY_SCHEMES_VTABLE_H

#include "../graph/base.h" /* relative: so it is found beside this file when both are installed */

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default) /* the library hides every symbol but those declared so */
#endif

/* ---- schemes: the arithmetic of a target ---------------------------------------------------
 *
 * A kernel walks tensors and forms exact integer operands; everything that rounds, narrows,
 * saturates or changes scale is asked of a *unit*: one node's arithmetic, prepared by the scheme
 * from the node's types (floating point allowed there) and applied to rows (integers only).
 * Rows are contiguous; codes travel as int32, accumulators as int64, floats as their IEEE bits. */

typedef struct assay_scheme assay_scheme;
typedef struct assay_unit assay_unit;

/* What a unit is prepared from. Everything is borrowed for the call only. */
typedef struct assay_unit_spec {
    uint32_t size;        /* sizeof(assay_unit_spec) of the caller: for plugins' compatibility */
    const char *op;       /* name in the op table: "conv", "add", "sigmoid", ... */
    const char *node;     /* the node's name, for overrides and messages; neither is NULL */
    const assay_type *in; /* n_in input types, kind NONE where an optional one is absent */
    int n_in;
    const assay_type *out;
    int64_t depth;         /* products in one accumulator (conv, fc, matmul), or window size, or
                              count of reduced elements, or row length (softmax); else 0 */
    double act_lo, act_hi; /* fused activation bounds in real values; infinities when none */
    double alpha, beta;    /* the op's own real parameters: leaky slope, softmax beta, ... */
    double gamma, epsilon;
    int64_t flag; /* op-specific choice, e.g. count_include_pad, gelu's approximation */
    /* Bounds that the network gives as codes of the output; act_lo and act_hi hold their values. */
    bool has_code_bounds;
    int64_t code_lo, code_hi;
    int64_t window[2];    /* averages: rows and columns of the window, 1 row along one axis; 0, 0 of
                             more than two axes and of other ops */
    bool uncounted;       /* average pools: some window reaches cells that its count leaves out */
    int64_t channel_step; /* conv: how far a filter's channels lie from each other among its
                             products; else 0 */
    int64_t channel_outputs; /* conv, depthwise: outputs for each input channel; else 0 */
    int64_t scale_block[2];  /* scaled_matmul: elements of K under one scale, of a and b; else 0 */
} assay_unit_spec;

/* One named integer (or float-bits) parameter array of a prepared unit, for bundles and reports:
 * "multiplier", "shift", "scale_bits", "zero_point", "lo", "hi", "bias", "table", ... */
typedef struct assay_unit_param {
    const char *name;
    size_t count;
    const int64_t *value; /* owned by the unit */
} assay_unit_param;

#define ASSAY_SCHEME_ABI 6

/* Integers from lo to hi, both included. */
typedef struct assay_interval {
    int64_t lo, hi;
} assay_interval;

/* Instruction sets that an engine may ask a scheme to use. */
enum assay_isa { ASSAY_ISA_PORTABLE, ASSAY_ISA_AVX2, ASSAY_ISA_VNNI };

/* rows x columns accumulators, acc_step per row, to codes of one byte, out_step bytes per row;
 * column j belongs to channel (channel + j). The same codes as requantize gives. */
typedef void (*assay_block_fn)(const assay_unit *u, const int32_t *acc, size_t rows, size_t columns,
                               size_t acc_step, size_t channel, uint8_t *out, size_t out_step);
/* n pairs of one-byte codes to one-byte codes: what binary gives. */
typedef void (*assay_pair_fn)(const assay_unit *u, const uint8_t *a, bool a_signed,
                              const uint8_t *b, bool b_signed, size_t n, uint8_t *out);

/* n pairs of codes to codes: what binary gives; of unary b is NULL. */
typedef void (*assay_codes_fn)(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                               int32_t *out);

/* n floats to one-byte codes: what quantize gives. */
typedef void (*assay_encode_fn)(const assay_unit *u, const float *x, size_t n, uint8_t *out);

/* n sums of the corners of interpolate, each code times its weight, the weights of one place adding
 * up to 2^(2 bits): to codes of `size` bytes (1 or 2), two's complement. Four corners that all hold
 * such a code interpolate to what these do. */
typedef void (*assay_interpolate_fn)(const assay_unit *u, const int64_t *sum, size_t n, size_t size,
                                     void *out);

/* The result of row as one-byte codes; scratch has room for n. */
typedef void (*assay_row_fn)(const assay_unit *u, const int32_t *x, size_t n, int32_t *scratch,
                             uint8_t *out);

/* Vector forms of row functions for the instructions of `isa`, for an engine that adds products in
 * its own order and works on rows of bytes. Any may be NULL, or return NULL: then such nodes use
 * the plain row functions.
 *
 *  block   requantize, on blocks, to one-byte codes
 *  pair    binary, on one-byte codes
 *  encode  quantize without channels, to one-byte codes
 *  interpolate  the rounding of interpolate
 *  bytes   row, to one-byte codes
 *  codes   binary or unary, on rows of codes that are at most `reach` from their zero points */
typedef struct assay_scheme_simd {
    assay_block_fn (*block)(const assay_unit *u, enum assay_isa isa);
    assay_pair_fn (*pair)(const assay_unit *u, enum assay_isa isa);
    assay_encode_fn (*encode)(const assay_unit *u, enum assay_isa isa);
    assay_interpolate_fn (*interpolate)(const assay_unit *u, enum assay_isa isa);
    assay_row_fn (*bytes)(const assay_unit *u, enum assay_isa isa);
    assay_codes_fn (*codes)(const assay_unit *u, enum assay_isa isa, int64_t reach);
} assay_scheme_simd;

/* The result of `rule` for a rewrite that this target forbids. */
#define ASSAY_RULE_NEVER (-1)

/* Properties that a scheme declares, for checks of a network's sums, engines, the optimizer and its
 * checker. Any may be NULL: then nothing is known.
 *
 *  exact     true when accumulate returns the exact sum whenever |bias| plus all |x[i]*w[i]| is at
 *            most `bound`, and any two products of raw codes (activations moved up to unsigned) add
 *            up to at most `pair` in magnitude.
 *  limit     the greatest magnitude that sums of products may be able to reach, in the worst case
 *            of a node's weights: a node that may exceed it is refused when a program is made. 0:
 *            no limit.
 *  monotone  true when requantize gives no smaller code for a greater accumulator between lo and
 *            hi, in any channel. The optimizer then represents codes by their thresholds; otherwise
 *            it can handle only intervals short enough to check every accumulator.
 *  accepted  the number of accumulators, of n, before the first that the target refuses to rescale;
 *            n if it accepts all. channel as in requantize; count as in pool, NULL for products. A
 *            network's run stops there. NULL: all are accepted.
 *  may_refuse  whether accumulators of `sums` (of codes: less their zero points) might not all be
 *            accepted; present together with accepted. Engines that do not call accepted leave such
 *            nodes to those that do.
 *  accepted_codes  the same as accepted for binary and, where b is NULL, unary: the number of codes
 *            (pairs), of n, before the first that the target refuses to rescale. Called for codes
 *            of more than 16 bits only: where a narrower one could be refused, prepare refuses the
 *            node. NULL: all are accepted.
 *  accepted_row  the same for row, for layer norms with gamma or beta of more than 16 bits: the
 *            number of its n result codes before the first whose rescale, or a step of it, the
 *            target refuses; *operand is then the operand of that rescale. scratch has room for n.
 *            NULL: all are accepted.
 *  rule      policy i on the optimizer's rules. *name becomes the rule's name, or NULL after the
 *            last one; returns by how many codes it may change results, 0, or ASSAY_RULE_NEVER. */
typedef struct assay_scheme_facts {
    bool (*exact)(const assay_unit *u, int64_t bound, int64_t pair);
    int64_t (*limit)(const assay_unit *u);
    bool (*monotone)(const assay_unit *u, int64_t lo, int64_t hi);
    int64_t (*rule)(size_t i, const char **name);
    size_t (*accepted)(const assay_unit *u, const int64_t *acc, const int32_t *count, size_t n,
                       size_t channel);
    bool (*may_refuse)(const assay_unit *u, assay_interval sums);
    size_t (*accepted_codes)(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n);
    size_t (*accepted_row)(const assay_unit *u, const int32_t *x, size_t n, int32_t *scratch,
                           int64_t *operand);
} assay_scheme_facts;

/* One dot product of two rows of small floats, k patterns each. */
typedef struct assay_dot {
    size_t k;
    const int32_t *a, *b;
    const int32_t *a_scale, *b_scale; /* one per block of K */
    int32_t a_second, b_second;       /* bits of the scales' scales: f32, 1 where there is none */
    int32_t bias;                     /* f32 bits, +0 where there is none */
} assay_dot;

/* The vtable. A plugin exports `const assay_scheme_vtable *assay_scheme_plugin(void)`.
 * A row function other than accumulate and apply_overflow may be NULL if no unit of this scheme
 * needs it. Row functions never fail and never allocate, except that an accumulator declared to
 * trap reports through *trapped.
 *
 *  accumulate  sum of x[i]*w[i], i in reduction order, plus bias, under the accumulator's width,
 *              overflow policy and block size. x and w are centred (code - zero point); zx and zw
 *              let a target that multiplies raw codes restore them. Returns the accumulator.
 *  combine     replaces accumulate for weights with a scale per block of inputs: sum[i] is the
 *              exact sum of the products of block i of the channel's filter, blocks in memory
 *              order (for a second operand [K,N]: down its column), centred by each block's zero
 *              point; the bias is in units of the accumulator. It may write to sum.
 *  apply_overflow  the same policy for a sum already exact (pool, reduce): wrap, saturate or trap.
 *  requantize  the rescale of accumulators to the output's codes. acc[i] belongs to channel
 *              (channel + i) when the unit is per channel; an output of plain i32 (no parameters)
 *              is the accumulators themselves.
 *  binary      out[i] = op(a[i], b[i]) on codes (add, sub, mul, div, min, max, squared difference,
 *              prelu with b the slope code, comparisons yielding 0 or 1).
 *  unary       out[i] = f(x[i]) on codes (rescale, relu, clip, leaky relu, tables, ...).
 *  pool        out[i] from sum[i], a sum of raw codes over count[i] valid cells of a window
 *              (average pool) or over all reduced elements (mean, sum); the unit handles zero
 *              points.
 *  window      average pool where the order of the sum matters: *out from the n codes of one
 *              window that are not padding, in C order, divided by count. False if the unit works
 *              from sums (pool), whatever the codes; n may be 0 to query just that.
 *  row         one whole row of n codes to n codes (softmax, log softmax, l2 norm; lrn: all
 *              channels of one position). Layer norm: the n codes are followed by n codes of gamma
 *              and n of beta.
 *  interpolate  bilinear resize: four corner codes in c[4*i..], and the distances from the first
 *              of them along either axis, fy[i] and fx[i], in 2^-bits; with n = 0 it may set *out
 *              to the number of bits that it wants, otherwise 10.
 *  quantize    IEEE binary32 bits to codes; channel as in requantize.
 *  dequantize  the reverse of quantize.
 *  dot         the result of scaled_matmul as f32 bits; returns ASSAY_ERR_MEMORY or ASSAY_OK. The
 *              other ops of matrix units are `row`s, whose n codes are followed by the scale and
 *              the scale's scale (f32 bits; 1 if there is none): block_scale makes one code, the
 *              scale, from the n codes of a block (followed by the scale's scale); float_encode
 *              makes patterns from n f32 bits, float_decode does the reverse.
 *
 * `simd` serves engines and `facts` serves provers; computing needs neither, so each may be NULL.
 */
typedef struct assay_scheme_vtable {
    uint32_t abi;  /* ASSAY_SCHEME_ABI */
    uint32_t size; /* sizeof(assay_scheme_vtable) */
    const char *name;
    const char *description;

    assay_status (*prepare)(const assay_scheme *s, const assay_unit_spec *spec, assay_unit **out,
                            assay_error *err);
    void (*release)(assay_unit *u);
    /* Lists the unit's parameters; returns how many, at most `max` are written. */
    size_t (*params)(const assay_unit *u, assay_unit_param *list, size_t max);

    int64_t (*accumulate)(const assay_unit *u, const int32_t *x, const int32_t *w, size_t n,
                          int64_t bias, int32_t zx, int32_t zw, bool *trapped);
    int64_t (*combine)(const assay_unit *u, int64_t *sum, size_t n, size_t channel, int64_t bias,
                       bool *trapped);
    int64_t (*apply_overflow)(const assay_unit *u, int64_t sum, bool *trapped);
    void (*requantize)(const assay_unit *u, const int64_t *acc, size_t n, size_t channel,
                       int32_t *out);
    void (*binary)(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n, int32_t *out);
    void (*unary)(const assay_unit *u, const int32_t *x, size_t n, int32_t *out);
    void (*pool)(const assay_unit *u, const int64_t *sum, const int32_t *count, size_t n,
                 int32_t *out);
    bool (*window)(const assay_unit *u, const int32_t *x, size_t n, int32_t count, int32_t *out);
    void (*row)(const assay_unit *u, const int32_t *x, size_t n, int32_t *out);
    void (*interpolate)(const assay_unit *u, const int32_t *c, const int32_t *fy, const int32_t *fx,
                        size_t n, int32_t *out);
    void (*quantize)(const assay_unit *u, const uint32_t *bits, size_t n, size_t channel,
                     int32_t *out);
    void (*dequantize)(const assay_unit *u, const int32_t *q, size_t n, size_t channel,
                       uint32_t *bits);
    assay_status (*dot)(const assay_unit *u, const assay_dot *d, int32_t *out, assay_error *err);

    const assay_scheme_simd *simd;
    const assay_scheme_facts *facts;
} assay_scheme_vtable;

/* Whether a scheme has member `field` of its `simd` or `facts` (`part`). */
#define ASSAY_SCHEME_HAS(vt, part, field) ((vt)->part && (vt)->part->field)

/* Opens a scheme by preset name ("tflite"), by path of a YAML file (a name with '/' or ending in
 * .yaml), or by path of a shared object (ending in .so). */
assay_status assay_scheme_open(const char *name_or_path, assay_scheme **out, assay_error *err);
void assay_scheme_free(assay_scheme *s);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
