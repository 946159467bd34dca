/* The edges of the integer part: float32 bits to codes and back. */
#include "schemes/apply/apply.h"
#include "schemes/apply/softfloat.h"

/* round(x / scale + inside) in [lo, hi]; a reciprocal stands in scale's place. */
static int64_t quotient(const assay_rule_convert *k, uint32_t x, uint32_t scale, int64_t inside,
                        int64_t lo, int64_t hi, int64_t nan)
{
    const enum assay_rounding mode = (enum assay_rounding)k->round;
    if (k->division == ASSAY_QUANTIZE_DIVIDE_F64) {
        uint64_t d = apply_f64_div(apply_f64_from_f32(x), apply_f64_from_f32(scale));
        return apply_f64_to_int(apply_f64_add(d, apply_f64_from_i64(inside)), mode, lo, hi, nan);
    }
    uint32_t f =
        k->division == ASSAY_QUANTIZE_DIVIDE ? apply_f32_div(x, scale) : apply_f32_mul(x, scale);
    if (inside != 0)
        f = apply_f32_add(f, apply_f32_from_i64(inside));
    return apply_f32_to_int(f, mode, lo, hi, nan);
}

int64_t apply_code(const assay_rule_convert *k, uint32_t x, uint32_t scale, int64_t zero,
                   int64_t lo, int64_t hi)
{
    const bool least = k->nan == ASSAY_NAN_LEAST;
    if (k->zero_point == ASSAY_ZERO_INSIDE)
        return quotient(k, x, scale, zero, lo, hi, least ? lo : zero);
    return zero + quotient(k, x, scale, 0, INT32_MIN, hi > INT32_MAX ? hi : INT32_MAX,
                           least ? INT32_MIN : 0);
}

void apply_quantize(const assay_unit *u, const uint32_t *bits, size_t n, size_t channel,
                    int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    for (size_t i = 0; i < n; i++) {
        const size_t c = o->n > 1 ? channel + i : 0;
        out[i] = apply_rescale_store(o, apply_code(&u->rec.convert, bits[i], (uint32_t)o->scale[c],
                                                   u->list[0][c], o->lo, o->hi));
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
        if (u->rec.convert.dequantize == ASSAY_PRECISION_F32)
            bits[i] = apply_f32_mul(apply_f32_from_integer(v), scale);
        else
            bits[i] =
                apply_f32_from_f64(apply_f64_mul(apply_f64_from_i64(v), apply_f64_from_f32(scale)));
    }
}
