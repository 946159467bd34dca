/* Average pool, mean and sum: sums of raw codes over `count` cells, which is the divisor. Where
 * padding counts, its cells are in both, holding the zero point. */
#include <assert.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/softfloat.h"
#include "schemes/apply/tail.h"
#include "schemes/round.h"

/* The sum of (code - zero point). */
static inline int64_t centred(const assay_unit *u, int64_t sum, int32_t count)
{
    return sum - count * u->in_zero[0];
}

/* From values of the input's scale, their zero point gone, to codes of the output's (k[0]: the
 * parameters are the same). */
static inline int32_t to_output(const assay_unit *u, int64_t value, const assay_teller *t)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    return u->k[0] ? apply_tell_end(t, o, value) : apply_rescale_one(o, value, 0);
}

/* The same of codes, whose zero point is still in them. */
static inline int32_t code_to_output(const assay_unit *u, int64_t code, const assay_teller *t)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    return u->k[0] ? apply_tell_store(t, o, code) : apply_rescale_one(o, code - u->in_zero[0], 0);
}

/* TFLite, CMSIS-NN: an integer division, by default of raw codes. */
void apply_pool_divide(const assay_unit *u, const int64_t *sum, const int32_t *count, size_t n,
                       int32_t *out)
{
    enum assay_rounding mode = (enum assay_rounding)u->rec.pool.round;
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_teller(u, i);
        int64_t d = count[i];
        if (d == 0) {
            apply_tell(t, "no cells: the zero point", u->in_zero[0]);
            out[i] = code_to_output(u, u->in_zero[0], t);
        } else if (u->rec.pool.keep_zero_point)
            out[i] = code_to_output(u, apply_tell_div(t, "divided", sum[i], d, mode), t);
        else
            out[i] = to_output(
                u, apply_tell_div(t, "divided", centred(u, sum[i], count[i]), d, mode), t);
    }
}

int64_t apply_reciprocal(int64_t d, unsigned *shift)
{
    assert(d >= 0 && d <= INT32_MAX); /* shift stays below 62 */
    unsigned k = d <= 1 ? 0 : 64 - (unsigned)__builtin_clzll((uint64_t)d - 1);
    *shift = 30 + k;
    return d == 0 ? 0 : ((INT64_C(1) << 30) + 1) * (INT64_C(1) << k) / d;
}

void apply_pool_reciprocal(const assay_unit *u, const int64_t *sum, const int32_t *count, size_t n,
                           int32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        unsigned shift;
        int64_t m = apply_reciprocal(count[i], &shift);
        int64_t v = centred(u, sum[i], count[i]) * m;
        const assay_teller *t = apply_teller(u, i);
        apply_tell_fixed(t, "reciprocal", m, shift);
        apply_tell_product(t, "product", centred(u, sum[i], count[i]), m);
        out[i] = to_output(u, apply_tell_shift(t, "rounding 1", v, shift, ASSAY_ROUND_HALF_UP), t);
    }
}

/* The division is part of the rescale: one for each divisor, 1..n_by_count; a single one is for
 * u->depth. */
void apply_pool_rescale(const assay_unit *u, const int64_t *sum, const int32_t *count, size_t n,
                        int32_t *out)
{
    assert(u->n_by_count >= 1);
    for (size_t i = 0; i < n; i++) {
        int64_t d = count[i];
        const assay_rescale *r = &u->by_count[u->n_by_count > 1 && d > 0 ? d - 1 : 0];
        const int64_t x = d > 0 ? centred(u, sum[i], count[i]) : 0;
        apply_tell_rescale(apply_teller(u, i), r, x);
        out[i] = apply_rescale_one(r, x, 0);
    }
}

/* Glow CPU without padding counted: the sum is rescaled, then divided. */
void apply_pool_rescale_divide(const assay_unit *u, const int64_t *sum, const int32_t *count,
                               size_t n, int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    enum assay_rounding mode = (enum assay_rounding)u->rec.pool.round;
    for (size_t i = 0; i < n; i++) {
        int64_t d = count[i];
        const assay_teller *t = apply_teller(u, i);
        assay_int128 v = apply_rescale_value(o, centred(u, sum[i], count[i]), 0);
        const assay_int128 mean = d > 0 ? assay_round_div128(v, d, mode) : 0;
        apply_tell(t, "rescaled", (int64_t)v);
        apply_tell(t, "divided by", d);
        apply_tell(t, "rounded", (int64_t)mean);
        out[i] = apply_tell_finish(t, o, mean);
    }
}

/* NVDLA PDP: by trunc(65536 / columns), then by trunc(65536 / rows), each rounded half away. */
void apply_pool_two_stage(const assay_unit *u, const int64_t *sum, const int32_t *count, size_t n,
                          int32_t *out)
{
    const int64_t rows = u->sides[0], columns = u->sides[1]; /* sums of 64 cells times 2^32 */
    assert(rows >= 1 && rows <= 8 && columns >= 1 && columns <= 8);
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_teller(u, i);
        int64_t v = centred(u, sum[i], count[i]);
        apply_tell_product(t, "columns", v, 65536 / columns);
        v = apply_tell_shift(t, "rounding 1", v * (65536 / columns), 16, ASSAY_ROUND_HALF_AWAY);
        apply_tell_product(t, "rows", v, 65536 / rows);
        v = apply_tell_shift(t, "rounding 2", v * (65536 / rows), 16, ASSAY_ROUND_HALF_AWAY);
        out[i] = to_output(u, v, t);
    }
}

/* Vitis-AI DPU: times k[1] / 2^k[2], an approximation of 1 / window, and the power-of-two rescale
 * (k[3], added to the right shift), rounded once. */
void apply_pool_dpu(const assay_unit *u, const int64_t *sum, const int32_t *count, size_t n,
                    int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    enum assay_rounding mode = (enum assay_rounding)u->rec.pool.round;
    for (size_t i = 0; i < n; i++) {
        int64_t v = centred(u, sum[i], count[i]) * u->k[1];
        int64_t shift = u->k[2] + u->k[3];
        const assay_teller *t = apply_teller(u, i);
        apply_tell_product(t, "product", centred(u, sum[i], count[i]), u->k[1]);
        if (shift < 0)
            apply_tell(t, "shifted left by", -shift);
        out[i] =
            apply_tell_end(t, o,
                           shift >= 0 ? apply_tell_shift(t, "rounding 1", v, (unsigned)shift, mode)
                                      : apply_shift_left128(v, (unsigned)-shift));
    }
}

/* ONNX Runtime: float32 values (table, by code) added in the window's order, divided by the count,
 * then round(mean / s_out + z). k[0]: bits of s_out. */
void apply_window_float_sum(const assay_unit *u, const int32_t *x, size_t n, int32_t count,
                            int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    uint32_t sum = 0;
    assert(u->table && (n == 0 || count > 0));
    for (size_t i = 0; i < n; i++) {
        const uint32_t real = (uint32_t)u->table[x[i] - u->table_min];
        apply_tell_f32(u->teller, "a real of the window", real);
        sum = apply_f32_add(sum, real);
    }
    uint32_t mean = apply_f32_div(sum, apply_f32_from_i32(count));
    const uint32_t scaled = apply_f32_div(mean, (uint32_t)u->k[0]);
    uint32_t f = apply_f32_add(scaled, apply_f32_from_i32((int32_t)o->zero_point));
    const enum assay_rounding mode = (enum assay_rounding)u->rec.pool.round;
    const int64_t v = apply_f32_to_int(f, mode, INT32_MIN, apply_float_max(o), INT32_MIN);
    apply_tell_f32(u->teller, "sum of reals", sum);
    apply_tell_f32(u->teller, "divided by the count", mean);
    apply_tell_f32(u->teller, "divided by out scale", scaled);
    apply_tell_f32(u->teller, "plus zero point", f);
    apply_tell_rounded(u->teller, f, v, mode);
    *out = apply_tell_store(u->teller, o, v);
}

/* The sum itself, rescaled. */
void apply_sum(const assay_unit *u, const int64_t *sum, const int32_t *count, size_t n,
               int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = apply_rescale_one(&u->scale[ASSAY_OUT], centred(u, sum[i], count[i]), 0);
}
