/* Row functions: what a prepared unit does to codes and accumulators, in integers only. One file
 * an op class; the arithmetic of a rescale is rescale.c, every rounding is round.h. */
#ifndef ASSAY_SCHEMES_APPLY_APPLY_H
#define ASSAY_SCHEMES_APPLY_APPLY_H

#include "schemes/apply/unit.h"

/* Rows of codes (binary, unary: of n elements; row: a softmax or norm of n codes) and of sums of
 * count[i] codes: assay_scheme_vtable.binary, unary, row, pool. */
typedef void assay_binary_row(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                              int32_t *out);
typedef void assay_unary_row(const assay_unit *u, const int32_t *x, size_t n, int32_t *out);
typedef void assay_pool_row(const assay_unit *u, const int64_t *sum, const int32_t *count, size_t n,
                            int32_t *out);

/* ---- accumulate.c ---- */
int64_t apply_accumulate(const assay_unit *u, const int32_t *x, const int32_t *w, size_t n,
                         int64_t bias, int32_t zx, int32_t zw, bool *trapped);
int64_t apply_combine(const assay_unit *u, int64_t *sum, size_t n, size_t channel, int64_t bias,
                      bool *trapped);
int64_t apply_overflow(const assay_unit *u, int64_t sum, bool *trapped);
/* accept.c: assay_scheme_facts.accepted, accepted_codes, may_refuse. */
size_t apply_accepted(const assay_unit *u, const int64_t *acc, const int32_t *count, size_t n,
                      size_t channel);
size_t apply_accepted_codes(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n);
bool apply_may_refuse(const assay_unit *u, assay_interval sums);
/* Whether `accepted` speaks of u: its output rescale takes the accumulators as they are; and
 * whether accepted_codes does. */
bool apply_asks(const assay_unit *u);
bool apply_asks_codes(const assay_unit *u);
bool apply_exact(const assay_unit *u, int64_t bound, int64_t pair);
int64_t apply_limit(const assay_unit *u);

/* ---- rescale.c, rescale_float.c, rescale_near.c ---- */
/* Chooses r->row for the rule and parameters. */
void apply_rescale_choose(assay_rescale *r);
/* x before the multiplication by the rule's pre-shift: to the right rounded, to the left (pre < 0)
 * saturated in 32 bits. |x| < 2^65, any pre. */
assay_int128 apply_pre_shift(const assay_rule_rescale *k, assay_int128 x, int64_t pre);
/* x rescaled and rounded, without the zero point that is added after; below 2^126. Beyond 2^100
 * only the sign and the low 64 bits are meant. */
assay_int128 apply_rescale_value(const assay_rescale *r, int64_t x, size_t channel);
/* The code of what apply_rescale_value gave: zero point (unless it was subtracted before), store.
 */
int32_t apply_rescale_finish(const assay_rescale *r, assay_int128 value);
/* The code of a sum at the output's scale that no rescale made: zero point, store. */
int32_t apply_rescale_end(const assay_rescale *r, assay_int128 sum);
/* The code of a value that already is a code, stored in the type. */
int32_t apply_rescale_store(const assay_rescale *r, int64_t code);
/* These three of a unit's output rescale, told (tell.h); t may be NULL. */
int32_t apply_tell_store(const assay_teller *t, const assay_rescale *r, int64_t code);
int32_t apply_tell_end(const assay_teller *t, const assay_rescale *r, assay_int128 sum);
int32_t apply_tell_finish(const assay_teller *t, const assay_rescale *r, assay_int128 value);
/* The unit's teller where it asks for element i of a row, else NULL. */
static inline const assay_teller *apply_teller(const assay_unit *u, size_t i)
{
    return apply_tell_at(u->teller, i);
}
/* One accumulator through r->row. */
int32_t apply_rescale_one(const assay_rescale *r, int64_t x, size_t channel);
/* Whether the target accepts x: false where it would raise an error (result_overflow: refuse,
 * input_bits). */
bool apply_rescale_accepts(const assay_rescale *r, int64_t x, size_t channel);
/* The same for a sum that apply_rescale_end ends. */
bool apply_rescale_end_accepts(const assay_rescale *r, assay_int128 sum);
/* Whether such a rule refuses anything; and whether r may refuse an operand of `x`, which lies
 * within +-2^62, in some channel. False is certain. */
bool apply_rescale_can_refuse(const assay_rule_rescale *k);
bool apply_rescale_may_refuse(const assay_rescale *r, assay_interval x);
/* What r makes (apply_rescale_value) of operands of `x`, within +-2^62; all of that also where
 * values may wrap on their way. */
assay_interval apply_rescale_reach(const assay_rescale *r, assay_interval x);
/* Whether values may wrap on their way, so that a greater operand may give a smaller one. */
bool apply_rescale_wraps(const assay_rescale *r);
/* The same for the float rules, by every step of the target; c indexes the parameters. */
int32_t apply_rescale_element_float(const assay_rescale *r, int64_t x, size_t c);
/* rescale_near.c */
void apply_rescale_row_float(const assay_rescale *r, const int64_t *acc, size_t n, size_t channel,
                             int32_t *out);
/* The accumulators themselves, modulo 2^32. */
void apply_rescale_row_sums(const assay_rescale *r, const int64_t *acc, size_t n, size_t channel,
                            int32_t *out);
/* A float32 to an integer by float_rounding: add-one, and beyond int32 by float_overflow. */
int64_t apply_rescale_add_one(const assay_rule_rescale *k, uint32_t f);
int64_t apply_rescale_value_float(const assay_rescale *r, int64_t x, size_t channel);

/* ---- simd.c, simd/avx512.c: blocks of accumulators to bytes ---- */
/* A function that does the output rescale of u with the instructions of isa, or NULL. */
assay_block_fn simd_block(const assay_unit *u, enum assay_isa isa);

/* The same for u's quantize to one-byte codes, or NULL. */
assay_encode_fn simd_encode(const assay_unit *u, enum assay_isa isa);

/* The same for u's binary on one-byte codes, or NULL. */
assay_pair_fn simd_pair(const assay_unit *u, enum assay_isa isa);

/* The same for u's row with output codes of one byte, or NULL. */
assay_row_fn simd_bytes(const assay_unit *u, enum assay_isa isa);

/* The same for u's binary or unary on rows of codes at most `reach` from their zero points, or
 * NULL. */
assay_codes_fn simd_codes(const assay_unit *u, enum assay_isa isa, int64_t reach);

/* The same for the rounding of u's interpolate, or NULL. */
assay_interpolate_fn simd_interpolated(const assay_unit *u, enum assay_isa isa);

/* Whether the target accepts all that a function rescales of codes a and b (a unary one: of a). */
typedef bool apply_accepts_fn(const assay_unit *u, int32_t a, int32_t b);

/* ---- add.c: a and b are codes ---- */
apply_accepts_fn apply_add_accepts; /* of the kinds by integers, which end in an integer sum */
assay_binary_row apply_add_left_shift;
assay_pool_row apply_add_n;
/* The operand of the rescale of a sum of `count` codes. */
int64_t apply_add_n_operand(const assay_unit *u, int64_t sum, int32_t count);
assay_binary_row apply_add_common_exponent;
assay_binary_row apply_add_separate;
assay_binary_row apply_add_align;
assay_binary_row apply_add_plain;
assay_binary_row apply_add_fixed_scale;
/* ---- add_float.c ---- */
assay_binary_row apply_add_float_scaled;
assay_binary_row apply_add_float_real;
assay_binary_row apply_add_float_ratio;

/* ---- binary.c ---- */
assay_binary_row apply_mul;
assay_binary_row apply_minmax;
assay_binary_row apply_squared_difference;
assay_binary_row apply_prelu;
assay_binary_row apply_compare;
apply_accepts_fn apply_binary_accepts; /* of apply_minmax and apply_compare, where that rescales */
assay_binary_row apply_div_reciprocal;
assay_binary_row apply_div_float;
assay_binary_row apply_div_truncate;
apply_accepts_fn apply_div_accepts; /* not of apply_div_float, which rescales nothing */

/* ---- unary.c ---- */
assay_unary_row apply_clamp;
assay_unary_row apply_rescale;
assay_unary_row apply_slope;
assay_unary_row apply_abs;
#define ASSAY_RSQRT_BITS 20 /* fraction bits between the two steps of apply_rsqrt */
assay_unary_row apply_rsqrt;
apply_accepts_fn apply_unary_accepts; /* of apply_rsqrt and apply_slope_fixed8 */
assay_unary_row apply_slope_fixed8;
assay_unary_row apply_table;
assay_unary_row apply_table513;
assay_unary_row apply_logistic16;
assay_unary_row apply_tanh16;

/* ---- pool.c ---- */
/* TOSA 1.0 AVG_POOL2D divides by d, 0..2^31, as times ((2^30 + 1) << k) / d and a shift of 30 + k,
 * k = ceil(log2 d). */
int64_t apply_reciprocal(int64_t d, unsigned *shift);
assay_pool_row apply_pool_divide;
assay_pool_row apply_pool_reciprocal;
assay_pool_row apply_pool_rescale;
assay_pool_row apply_pool_rescale_divide;
assay_pool_row apply_pool_two_stage;
assay_pool_row apply_pool_dpu;
void apply_window_float_sum(const assay_unit *u, const int32_t *x, size_t n, int32_t count,
                            int32_t *out);
assay_pool_row apply_sum;

/* ---- softmax.c, softmax_table.c, norm.c, layer_norm.c ---- */
/* e^(beta * s_in * difference) in F_0; difference <= 0. */
int32_t apply_softmax_exponential(const assay_unit *u, int32_t difference);
assay_unary_row apply_softmax_fixed;
assay_unary_row apply_log_softmax;
assay_unary_row apply_softmax_lut16;
assay_unary_row apply_softmax_float_table;
assay_unary_row apply_softmax_integer_table;
assay_unary_row apply_softmax_q31;
assay_unary_row apply_softmax_float_sum;
assay_unary_row apply_l2_norm;
assay_unary_row apply_product;
/* x: n codes, then n of gamma, then n of beta (whatever they are where the input is absent). */
#define ASSAY_LAYER_NORM_GUARD 8 /* bits of the square root */
/* r of layer_norm.c, and the sum of the n codes. */
int64_t apply_layer_norm_root(const assay_unit *u, const int32_t *x, size_t n, int64_t *sum);
assay_unary_row apply_layer_norm;
/* Newton's rescale of x - mean, by a multiplier and a shift that the caller keeps. */
assay_rescale apply_layer_norm_form(const assay_unit *u, const int64_t *multiplier,
                                    const int64_t *shift);
/* assay_scheme_facts.accepted_row */
size_t apply_accepted_row(const assay_unit *u, const int32_t *x, size_t n, int32_t *scratch,
                          int64_t *operand);

/* ---- lrn.c ---- */
/* The entry of a sum of squares, and the least sum of that entry. */
int64_t apply_lrn_entry(int64_t sum, unsigned cells);
int64_t apply_lrn_least(int64_t entry, unsigned cells);
/* x: the n channels of one place. */
assay_unary_row apply_lrn;

/* ---- ibert.c ---- */
assay_unary_row apply_gelu_ibert;
assay_unary_row apply_softmax_ibert;

/* ---- resize.c ---- */
void apply_interpolate(const assay_unit *u, const int32_t *c, const int32_t *fy, const int32_t *fx,
                       size_t n, int32_t *out);

/* ---- convert.c ---- */
/* round(x / scale) + zero, or round(x / scale + zero) in [lo, hi], of float32 bits; a reciprocal
 * stands in scale's place. NaN becomes zero, or the least that there is. t hears the steps; NULL:
 * nobody does. */
int64_t apply_code(const assay_rule_convert *k, uint32_t x, uint32_t scale, int64_t zero,
                   int64_t lo, int64_t hi, const assay_teller *t);
void apply_quantize(const assay_unit *u, const uint32_t *bits, size_t n, size_t channel,
                    int32_t *out);
void apply_dequantize(const assay_unit *u, const int32_t *q, size_t n, size_t channel,
                      uint32_t *bits);

#endif
