/* Softmax by tables of exponentials, indexed by the distance from the row's greatest code. */
#include "schemes/apply/apply.h"
#include "schemes/apply/row.h"
#include "schemes/apply/softfloat.h"

/* The sum of a row's exponentials, floats in their order. */
static uint32_t float_sum(const assay_unit *u, int32_t max, const int32_t *x, size_t n)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = apply_f32_add(sum, (uint32_t)u->table[max - x[i]]);
    return sum;
}

static int64_t integer_sum(const assay_unit *u, int32_t max, const int32_t *x, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += u->table[max - x[i]];
    return sum;
}

static const assay_teller *tell_distance(const assay_unit *u, size_t i, int32_t max, int32_t x)
{
    const assay_teller *t = apply_teller(u, i);
    apply_tell_sum(t, "distance from the greatest", max, -(int64_t)x);
    return t;
}

/* LiteRT: table[d] = float bits of e^(-beta * s_in * d); the sum in float32, in order; then
 * round(t * (1 / (sum * s_out))) + z. k[0]: bits of s_out. */
void apply_softmax_float_table(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    const uint32_t one = 0x3f800000;
    int32_t max = apply_greatest(x, n);
    const uint32_t sum = float_sum(u, max, x, n);
    uint32_t inverse = apply_f32_div(one, apply_f32_mul(sum, (uint32_t)u->k[0]));
    apply_tell_f32(u->teller, "sum of exponentials", sum);
    apply_tell_f32(u->teller, "1 / (sum * out scale)", inverse);
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = tell_distance(u, i, max, x[i]);
        uint32_t f = apply_f32_mul((uint32_t)u->table[max - x[i]], inverse);
        int64_t v = apply_f32_to_int(f, u->last, INT32_MIN, INT32_MAX, 0);
        apply_tell_f32(t, "exponential", (uint32_t)u->table[max - x[i]]);
        apply_tell_rounded(t, f, v, u->last);
        apply_tell_sum(t, "plus zero point", v, o->zero_point);
        out[i] = apply_tell_store(t, o, v + o->zero_point);
    }
}

/* XNNPACK, QNNPACK: integer exponentials t, y = min(255, ((t << 8) + sum / 2) / sum) over the least
 * code, which is t / sum rounded half up. */
void apply_softmax_integer_table(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    int32_t max = apply_greatest(x, n);
    const int64_t sum = integer_sum(u, max, x, n);
    apply_tell(u->teller, "sum of exponentials", sum);
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = tell_distance(u, i, max, x[i]);
        const int64_t e = u->table[max - x[i]];
        apply_tell(t, "exponential", e);
        const int64_t v = apply_tell_div(t, "divided", e * 256, sum, u->last);
        apply_tell_sum(t, "plus least code", v, o->lo);
        out[i] = apply_tell_store(t, o, v + o->lo);
    }
}

/* MLAS QLinearSoftmax: float exponentials t, round(t * k[0] / sum) + z, k[0]: bits of
 * floor(1 / s_out). The exponentials end near FLT_MAX / n: in short rows t * k[0] overflows, and
 * the conversion gives INT32_MIN; its wrapping sum with z is clamped into signed codes, while
 * unsigned ones are its low bits, z. */
void apply_softmax_float_sum(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    const int64_t beyond = INT64_C(1) << 31;
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    int64_t overflown = o->lo == 0 ? o->zero_point : o->zero_point < 0 ? o->hi : o->lo;
    int32_t max = apply_greatest(x, n);
    const uint32_t sum = float_sum(u, max, x, n);
    apply_tell_f32(u->teller, "sum of exponentials", sum);
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = tell_distance(u, i, max, x[i]);
        uint32_t f = apply_f32_mul((uint32_t)u->table[max - x[i]], (uint32_t)u->k[0]);
        int64_t v = apply_f32_to_int(apply_f32_div(f, sum), u->last, INT32_MIN, beyond, beyond);
        apply_tell_f32(t, "exponential", (uint32_t)u->table[max - x[i]]);
        apply_tell_f32(t, "times floor(1 / out scale)", f);
        apply_tell_rounded(t, apply_f32_div(f, sum), v, u->last);
        if (v == beyond)
            apply_tell(t, "beyond 32 bits, with the zero point", overflown);
        else
            apply_tell_sum(t, "plus zero point", v, o->zero_point);
        out[i] = apply_tell_store(t, o, v == beyond ? overflown : v + o->zero_point);
    }
}

/* Glow CPU: exponentials with 31 fraction bits, their sum exact; the quotient t / sum / s_out is
 * rounded half away. k[0]: 1 / s_out with 16 fraction bits. */
void apply_softmax_q31(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    int32_t max = apply_greatest(x, n);
    const int64_t sum = integer_sum(u, max, x, n);
    apply_tell(u->teller, "sum of exponentials", sum);
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = tell_distance(u, i, max, x[i]);
        const int64_t e = u->table[max - x[i]];
        apply_tell_fixed(t, "exponential", e, 31);
        apply_tell_fixed(t, "1 / out scale", u->k[0], 16);
        const int64_t v = apply_tell_shift(t, "rounding 1", e * u->k[0], 16, ASSAY_ROUND_HALF_AWAY);
        out[i] = apply_tell_end(t, o, apply_tell_div(t, "divided", v, sum, u->last));
    }
}
