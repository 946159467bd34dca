/* ADD and SUB by float32 operations. k[0..3] are float32 bits as each function says. */
#include "schemes/apply/apply.h"
#include "schemes/apply/softfloat.h"
#include "schemes/apply/tail.h"

/* MLAS. SSE2: round((F + a*r1) + b*r2). AVX2 (fused): round(fma(a, r1, fma(b, r2, F))), the
 * operands' places exchanged where k[3] says so. k[0] r1 = s1/s_out, k[1] r2 (negated for SUB),
 * k[2] F, the output's zero point less those of the operands (derive/add.c). */
void apply_add_float_scaled(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                            int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    enum assay_rounding mode = (enum assay_rounding)u->rec.add.round;
    uint32_t r1 = (uint32_t)u->k[0], r2 = (uint32_t)u->k[1], f0 = (uint32_t)u->k[2];
    const int64_t max = apply_float_max(o);
    const bool int_min = u->rec.add.float_overflow == ASSAY_FLOAT_INT_MIN;
    for (size_t i = 0; i < n; i++) {
        uint32_t x = apply_f32_from_i32(a[i]), y = apply_f32_from_i32(b[i]), f;
        if (!u->rec.add.fused)
            f = apply_f32_add(apply_f32_add(f0, apply_f32_mul(x, r1)), apply_f32_mul(y, r2));
        else if (u->k[3])
            f = apply_f32_fma(y, r2, apply_f32_fma(x, r1, f0));
        else
            f = apply_f32_fma(x, r1, apply_f32_fma(y, r2, f0));
        int64_t v = apply_f32_to_int(f, mode, INT64_MIN, INT64_MAX, INT64_MIN);
        const int64_t kept = apply_clamp_to(v, INT32_MIN, max);
        out[i] = apply_rescale_store(o, v != kept && int_min ? INT32_MIN : kept);
    }
}

/* The end of a float sum: zero point inside or after the rounding, store. */
static int32_t round_out(const assay_unit *u, uint32_t f)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    enum assay_rounding mode = (enum assay_rounding)u->rec.add.round;
    const int64_t max = apply_float_max(o);
    if (u->rec.add.zero_point == ASSAY_ZERO_INSIDE) {
        f = apply_f32_add(f, apply_f32_from_i32((int32_t)o->zero_point));
        return apply_rescale_store(o, apply_f32_to_int(f, mode, INT32_MIN, max, o->zero_point));
    }
    return apply_rescale_store(o, apply_f32_to_int(f, mode, INT32_MIN, max, 0) + o->zero_point);
}

/* Dequantize, add, quantize: (s1*(a - z1) + s2*(b - z2)) / s_out. k[0] s1, k[1] s2, k[2] s_out. */
void apply_add_float_real(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                          int32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t x = apply_f32_mul(apply_f32_from_i64(a[i] - u->in_zero[0]), (uint32_t)u->k[0]);
        uint32_t y = apply_f32_mul(apply_f32_from_i64(b[i] - u->in_zero[1]), (uint32_t)u->k[1]);
        uint32_t sum = u->subtract ? apply_f32_sub(x, y) : apply_f32_add(x, y);
        out[i] = round_out(u, apply_f32_div(sum, (uint32_t)u->k[2]));
    }
}

/* Each operand times its own ratio: (s1/s_out)*(a - z1) + (s2/s_out)*(b - z2). k[0], k[1]: ratios.
 */
void apply_add_float_ratio(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                           int32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t x = apply_f32_mul(apply_f32_from_i64(a[i] - u->in_zero[0]), (uint32_t)u->k[0]);
        uint32_t y = apply_f32_mul(apply_f32_from_i64(b[i] - u->in_zero[1]), (uint32_t)u->k[1]);
        out[i] = round_out(u, u->subtract ? apply_f32_sub(x, y) : apply_f32_add(x, y));
    }
}
