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
        const assay_teller *t = apply_teller(u, i);
        uint32_t x = apply_f32_from_i32(a[i]), y = apply_f32_from_i32(b[i]), f;
        const bool second_first = u->rec.add.fused && !u->k[3];
        apply_tell_f32(t, "zero points", f0);
        if (!u->rec.add.fused)
            f = apply_f32_add(f0, apply_f32_mul(x, r1));
        else
            f = second_first ? apply_f32_fma(y, r2, f0) : apply_f32_fma(x, r1, f0);
        apply_tell_f32(t, second_first ? "plus second" : "plus first", f);
        if (!u->rec.add.fused)
            f = apply_f32_add(f, apply_f32_mul(y, r2));
        else
            f = second_first ? apply_f32_fma(x, r1, f) : apply_f32_fma(y, r2, f);
        apply_tell_f32(t, second_first ? "plus first" : "plus second", f);
        int64_t v = apply_f32_to_int(f, mode, INT64_MIN, INT64_MAX, INT64_MIN);
        const int64_t kept = apply_clamp_to(v, INT32_MIN, max);
        apply_tell_rounded(t, f, v != kept && int_min ? INT32_MIN : kept, mode);
        out[i] = apply_tell_store(t, o, v != kept && int_min ? INT32_MIN : kept);
    }
}

/* The end of a float sum: zero point inside or after the rounding, store. */
static int32_t round_out(const assay_unit *u, uint32_t f, const assay_teller *t)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    enum assay_rounding mode = (enum assay_rounding)u->rec.add.round;
    const int64_t max = apply_float_max(o);
    if (u->rec.add.zero_point == ASSAY_ZERO_INSIDE) {
        f = apply_f32_add(f, apply_f32_from_i32((int32_t)o->zero_point));
        const int64_t code = apply_f32_to_int(f, mode, INT32_MIN, max, o->zero_point);
        apply_tell_f32(t, "plus zero point", f);
        apply_tell_rounded(t, f, code, mode);
        return apply_tell_store(t, o, code);
    }
    const int64_t v = apply_f32_to_int(f, mode, INT32_MIN, max, 0);
    apply_tell_rounded(t, f, v, mode);
    apply_tell_sum(t, "plus zero point", v, o->zero_point);
    return apply_tell_store(t, o, v + o->zero_point);
}

static uint32_t added(const assay_unit *u, uint32_t x, uint32_t y, const assay_teller *t)
{
    const uint32_t sum = u->subtract ? apply_f32_sub(x, y) : apply_f32_add(x, y);
    apply_tell_f32(t, "first", x);
    apply_tell_f32(t, "second", y);
    apply_tell_f32(t, u->subtract ? "difference" : "sum", sum);
    return sum;
}

/* Dequantize, add, quantize: (s1*(a - z1) + s2*(b - z2)) / s_out. k[0] s1, k[1] s2, k[2] s_out. */
void apply_add_float_real(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                          int32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t x = apply_f32_mul(apply_f32_from_i64(a[i] - u->in_zero[0]), (uint32_t)u->k[0]);
        uint32_t y = apply_f32_mul(apply_f32_from_i64(b[i] - u->in_zero[1]), (uint32_t)u->k[1]);
        const uint32_t sum = added(u, x, y, apply_teller(u, i)),
                       f = apply_f32_div(sum, (uint32_t)u->k[2]);
        apply_tell_f32(apply_teller(u, i), "divided by out scale", f);
        out[i] = round_out(u, f, apply_teller(u, i));
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
        out[i] = round_out(u, added(u, x, y, apply_teller(u, i)), apply_teller(u, i));
    }
}
