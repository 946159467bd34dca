/* The edges of the integer part: float32 bits to codes and back. */
#include "schemes/apply/apply.h"
#include "schemes/apply/softfloat.h"

/* code = round(x / scale) + zero point, or round(x / scale + zero point); the division may be a
 * product with the float32 reciprocal. NaN becomes the zero point. */
void assay_apply_quantize(const assay_unit *u, const uint32_t *bits, size_t n, size_t channel,
                          int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    const assay_rule_convert *k = &u->rec.convert;
    enum assay_rounding mode = (enum assay_rounding)k->round;
    const bool least = k->nan == ASSAY_NAN_LEAST;
    for (size_t i = 0; i < n; i++) {
        size_t c = o->n > 1 ? channel + i : 0;
        int64_t zero = u->list[0][c];
        uint32_t scale = (uint32_t)o->scale[c];
        uint32_t f = k->division == ASSAY_SCALE_DIVIDE ? assay_f32_div(bits[i], scale)
                                                       : assay_f32_mul(bits[i], scale);
        if (k->zero_point == ASSAY_STAGE_INSIDE) {
            f = assay_f32_add(f, assay_f32_from_i64(zero));
            out[i] = assay_rescale_store(
                o, assay_f32_to_int(f, mode, o->lo, o->hi, least ? o->lo : zero));
        } else {
            int64_t v = assay_f32_to_int(f, mode, INT32_MIN, INT32_MAX, least ? INT32_MIN : 0);
            out[i] = assay_rescale_store(o, v + zero);
        }
    }
}

/* x = scale * (code - zero point), in float32, or in float64 and then rounded to float32. */
void assay_apply_dequantize(const assay_unit *u, const int32_t *q, size_t n, size_t channel,
                            uint32_t *bits)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    for (size_t i = 0; i < n; i++) {
        size_t c = o->n > 1 ? channel + i : 0;
        int64_t v = q[i] - u->list[0][c];
        uint32_t scale = (uint32_t)o->scale[c];
        if (u->rec.convert.dequantize == ASSAY_PRECISION_F32)
            bits[i] = assay_f32_mul(assay_f32_from_i64(v), scale);
        else
            bits[i] =
                assay_f32_from_f64(assay_f64_mul(assay_f64_from_i64(v), assay_f64_from_f32(scale)));
    }
}
