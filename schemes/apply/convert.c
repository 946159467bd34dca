/* The edges of the integer part: float32 bits to codes and back. */
#include "schemes/apply/apply.h"
#include "schemes/apply/softfloat.h"

/* What a quotient is rounded to, where it is told, and what a NaN becomes. */
typedef struct end {
    int64_t lo, hi, nan;
    const assay_teller *t;
} end;

static int64_t quotient_f64(enum assay_rounding mode, uint32_t x, uint32_t scale, int64_t inside,
                            const end *e)
{
    const uint64_t d = apply_f64_div(apply_f64_from_f32(x), apply_f64_from_f32(scale)),
                   f = apply_f64_add(d, apply_f64_from_i64(inside));
    const int64_t v = apply_f64_to_int(f, mode, e->lo, e->hi, e->nan);
    apply_tell_f64(e->t, "divided by scale, binary64", d);
    apply_tell_f64(e->t, "and the zero point in it, binary64", f);
    apply_tell(e->t, "rounded", v);
    return v;
}

/* round(x / scale + inside) in [lo, hi]; a reciprocal stands in scale's place. */
static int64_t quotient(const assay_rule_convert *k, uint32_t x, uint32_t scale, int64_t inside,
                        const end *e)
{
    const enum assay_rounding mode = (enum assay_rounding)k->round;
    const bool divides = k->division == ASSAY_QUANTIZE_DIVIDE;
    if (k->division == ASSAY_QUANTIZE_DIVIDE_F64)
        return quotient_f64(mode, x, scale, inside, e);
    uint32_t f = divides ? apply_f32_div(x, scale) : apply_f32_mul(x, scale);
    apply_tell_f32(e->t, divides ? "divided by scale" : "times 1 / scale", f);
    if (inside != 0) {
        f = apply_f32_add(f, apply_f32_from_i64(inside));
        apply_tell_f32(e->t, "plus zero point", f);
    }
    const int64_t v = apply_f32_to_int(f, mode, e->lo, e->hi, e->nan);
    apply_tell_rounded(e->t, f, v, mode);
    return v;
}

int64_t apply_code(const assay_rule_convert *k, uint32_t x, uint32_t scale, int64_t zero,
                   int64_t lo, int64_t hi, const assay_teller *t)
{
    const bool least = k->nan == ASSAY_NAN_LEAST;
    const end inside = {lo, hi, least ? lo : zero, t};
    const end before = {INT32_MIN, hi > INT32_MAX ? hi : INT32_MAX, least ? INT32_MIN : 0, t};
    if (k->zero_point == ASSAY_ZERO_INSIDE)
        return quotient(k, x, scale, zero, &inside);
    const int64_t v = quotient(k, x, scale, 0, &before);
    apply_tell_sum(t, "plus zero point", v, zero);
    return zero + v;
}

void apply_quantize(const assay_unit *u, const uint32_t *bits, size_t n, size_t channel,
                    int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    for (size_t i = 0; i < n; i++) {
        const size_t c = o->n > 1 ? channel + i : 0;
        const uint32_t scale = (uint32_t)o->scale[c];
        const assay_teller *t = apply_teller(u, i);
        out[i] = apply_tell_store(
            t, o, apply_code(&u->rec.convert, bits[i], scale, u->list[0][c], o->lo, o->hi, t));
    }
}

/* x = scale * (code - zero point), in float32, or in float64 and then rounded to float32; k[0]: 1
 * when codes are of 32 unsigned bits. */
void apply_dequantize(const assay_unit *u, const int32_t *q, size_t n, size_t channel,
                      uint32_t *bits)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    for (size_t i = 0; i < n; i++) {
        size_t c = o->n > 1 ? channel + i : 0;
        int64_t v = (u->k[0] ? (uint32_t)q[i] : (int64_t)q[i]) - u->list[0][c];
        uint32_t scale = (uint32_t)o->scale[c];
        apply_tell(apply_teller(u, i), "less its zero point", v);
        if (u->rec.convert.dequantize == ASSAY_PRECISION_F32) {
            bits[i] = apply_f32_mul(apply_f32_from_integer(v), scale);
            apply_tell_f32(apply_teller(u, i), "times scale", bits[i]);
        } else {
            const uint64_t product =
                apply_f64_mul(apply_f64_from_i64(v), apply_f64_from_f32(scale));
            apply_tell_f64(apply_teller(u, i), "times scale, binary64", product);
            bits[i] = apply_f32_from_f64(product);
        }
    }
}
