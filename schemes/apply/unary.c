/* Functions of one code: rescale, leaky relu, tables. */
#include <assert.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/fixedpoint.h"
#include "schemes/apply/operand.h"
#include "schemes/round.h"

/* relu and clip with the same scale in and out. */
void apply_clamp(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    for (size_t i = 0; i < n; i++)
        out[i] = apply_tell_store(apply_teller(u, i), o, x[i]);
}

static int32_t rescaled(const assay_unit *u, assay_operand o)
{
    return apply_rescale_one(&u->scale[o.slot], o.x, 0);
}

/* rescale, relu, clip: out = saturate(rescale(x - z_in) + z_out). */
void apply_rescale(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = rescaled(u, apply_operand_rescale(u, x[i]));
}

void apply_slope(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = rescaled(u, apply_operand_slope(u, x[i]));
}

void apply_abs(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = rescaled(u, apply_operand_abs(u, x[i]));
}

/* XNNPACK leaky relu: 8 fraction bits, RHU: ((x - z_in) * m + (z_out << 8) + 128) >> 8, m = k[0]
 * for non-negative and k[1] for negative inputs. */
static int64_t sloped(const assay_unit *u, int32_t x, const assay_teller *t)
{
    const int64_t v = x - u->in_zero[0], m = v >= 0 ? u->k[0] : u->k[1];
    apply_tell_product(t, "times the slope", v, m);
    return apply_tell_shift(t, "rounding 1", v * m, 8, ASSAY_ROUND_HALF_UP);
}

void apply_slope_fixed8(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = apply_tell_end(apply_teller(u, i), &u->scale[ASSAY_OUT],
                                sloped(u, x[i], apply_teller(u, i)));
}

/* The rescale that makes the root of v, above 0, from 1. */
static assay_rescale rooted(const assay_unit *u, int64_t v, int64_t *multiplier, int64_t *shift)
{
    int left;
    assay_rescale r = u->scale[ASSAY_OUT];
    *multiplier = apply_fixed_inverse_sqrt((int32_t)v, &left);
    *shift = 31 - (left + ASSAY_RSQRT_BITS);
    r.multiplier = multiplier;
    r.shift = shift;
    return r;
}

/* TFLite elementwise.cc: 2^20 / sqrt(x) by a multiplier and a shift, then the output rescale. What
 * is not above zero gives the greatest code (of negative inputs TFLite ends the run). */
void apply_rsqrt(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_teller(u, i);
        int64_t v = x[i] - u->in_zero[0];
        apply_tell(t, "minus zero point", v);
        if (v <= 0) {
            apply_tell(t, "not above 0: the greatest code", o->hi);
            out[i] = (int32_t)o->hi;
            continue;
        }
        int64_t multiplier, shift;
        const assay_rescale r = rooted(u, v, &multiplier, &shift);
        const int64_t root = (int64_t)apply_rescale_value(&r, 1, 0);
        apply_tell_fixed(t, "its inverse root", multiplier, shift + ASSAY_RSQRT_BITS);
        apply_tell_fixed(t, "rounded", root, ASSAY_RSQRT_BITS);
        out[i] = apply_rescale_one(o, root, 0);
    }
}

bool apply_unary_accepts(const assay_unit *u, int32_t x, int32_t unused)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    const int64_t v = x - u->in_zero[0];
    int64_t multiplier, shift;
    (void)unused;
    if (u->unary == apply_slope_fixed8)
        return apply_rescale_end_accepts(o, sloped(u, x, NULL));
    if (v <= 0)
        return true;
    const assay_rescale r = rooted(u, v, &multiplier, &shift);
    return apply_rescale_accepts(&r, 1, 0) &&
           apply_rescale_accepts(o, (int64_t)apply_rescale_value(&r, 1, 0), 0);
}

/* One entry for each code from table_min. */
void apply_table(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    assert(u->table || n == 0);
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t)u->table[x[i] - u->table_min];
}

/* TFLite's 513 entries over int16: entry 256 + (x >> 7), interpolated over the low 7 bits. */
void apply_table513(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    assert(u->table || n == 0);
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    for (size_t i = 0; i < n; i++) {
        int64_t index = 256 + apply_shift_right(x[i], 7), part = x[i] & 127;
        int64_t slope = apply_wrap(u->table[index + 1] - u->table[index], 16);
        const assay_teller *t = apply_teller(u, i);
        apply_tell(t, "table entry", u->table[index]);
        apply_tell(t, "next entry", u->table[index + 1]);
        apply_tell_product(t, "slope times rest", slope, part);
        const int64_t more =
            apply_tell_shift(t, "rounding 1", slope * part, 7, ASSAY_ROUND_HALF_UP);
        apply_tell_sum(t, "entry plus that", u->table[index], more);
        out[i] = apply_tell_store(t, o, u->table[index] + more);
    }
}
