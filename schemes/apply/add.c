/* ADD and SUB by integers: two operands brought to one scale. Codes a and b, output codes. */
#include <assert.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/softfloat.h"
#include "schemes/apply/tail.h"
#include "schemes/round.h"

static inline int64_t first(const assay_unit *u, int32_t a)
{
    return a - u->in_zero[0];
}
/* The second operand, negated for SUB. */
static inline int64_t second(const assay_unit *u, int32_t b)
{
    return u->subtract ? u->in_zero[1] - b : b - u->in_zero[1];
}

/* An operand's rescale. */
static inline void tell_rescaled(const assay_teller *t, const char *which, const assay_rescale *r,
                                 int64_t x, assay_int128 to)
{
    apply_tell(t, which, x);
    if (r->multiplier && r->shift) {
        apply_tell_product(t, "its product", x, r->multiplier[0]);
        apply_tell(t, "to be shifted right by", r->shift[0]);
    }
    apply_tell(t, "rescaled", (int64_t)to);
}

/* Two operands, each by its own rescale. */
static inline assay_int128 rescaled_sum(const assay_unit *u, int64_t x, int64_t y,
                                        const assay_teller *t)
{
    const assay_int128 p = apply_rescale_value(&u->scale[ASSAY_FIRST], x, 0);
    const assay_int128 q = apply_rescale_value(&u->scale[ASSAY_SECOND], y, 0);
    const assay_int128 sum = u->subtract ? p - q : p + q;
    tell_rescaled(t, "first", &u->scale[ASSAY_FIRST], x, p);
    tell_rescaled(t, "second", &u->scale[ASSAY_SECOND], y, q);
    apply_tell(t, u->subtract ? "difference" : "sum", (int64_t)sum);
    return sum;
}

static inline int64_t shifted(const assay_unit *u, int64_t x)
{
    return apply_shift_left_wrap(x, (unsigned)u->k[0], 32);
}

static inline int64_t left_shift_sum(const assay_unit *u, int32_t a, int32_t b,
                                     const assay_teller *t)
{
    return apply_wrap(
        (int64_t)rescaled_sum(u, shifted(u, first(u, a)), shifted(u, b - u->in_zero[1]), t), 32);
}

/* TFLite: out = rescale_out(rescale_1((a - z1) << bits) + rescale_2((b - z2) << bits)), all
 * intermediates int32. k[0]: bits. */
void apply_add_left_shift(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                          int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = apply_rescale_one(&u->scale[ASSAY_OUT],
                                   left_shift_sum(u, a[i], b[i], apply_teller(u, i)), 0);
}

static inline int64_t common_exponent_sum(const assay_unit *u, int32_t a, int32_t b,
                                          const assay_teller *t)
{
    const enum assay_rounding mode = (enum assay_rounding)u->rec.add.round;
    const int64_t sum = apply_wrap(first(u, a) * u->k[0] + second(u, b) * u->k[1], 32);
    apply_tell_product(t, "first product", first(u, a), u->k[0]);
    apply_tell_product(t, "second product", second(u, b), u->k[1]);
    apply_tell(t, "sum", sum);
    return apply_tell_shift(t, "rounding 1", sum, (unsigned)u->k[2], mode);
}

/* XNNPACK, QNNPACK: two multipliers under one exponent.
 * out = round((a - z1) * k[0] + (b - z2) * k[1] >> k[2]) + zero point, in int32. */
void apply_add_common_exponent(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                               int32_t *out)
{
    assert(u->k[2] >= 0);
    for (size_t i = 0; i < n; i++)
        out[i] = apply_tell_end(apply_teller(u, i), &u->scale[ASSAY_OUT],
                                common_exponent_sum(u, a[i], b[i], apply_teller(u, i)));
}

/* Glow CPU: each operand rescaled and rounded to the output scale on its own, then added. */
void apply_add_separate(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                        int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = apply_tell_end(
            apply_teller(u, i), &u->scale[ASSAY_OUT],
            rescaled_sum(u, first(u, a[i]), b[i] - u->in_zero[1], apply_teller(u, i)));
}

static inline assay_int128 aligned_sum(const assay_unit *u, int32_t a, int32_t b,
                                       const assay_teller *t)
{
    const enum assay_rounding align = (enum assay_rounding)u->rec.add.align_round;
    const enum assay_rounding mode = (enum assay_rounding)u->rec.add.round;
    const unsigned guard = (unsigned)u->k[2];
    const int64_t x = apply_tell_shift(t, "first", apply_shift_left_wrap(first(u, a), guard, 64),
                                       (unsigned)u->k[0], align);
    const int64_t y = apply_tell_shift(
        t, "second", apply_shift_left_wrap(b - u->in_zero[1], guard, 64), (unsigned)u->k[1], align);
    const int64_t sum = u->subtract ? x - y : x + y;
    apply_tell(t, u->subtract ? "difference" : "sum", sum);
    if (u->k[3] < 0)
        apply_tell(t, "shifted left by", -u->k[3]);
    return u->k[3] >= 0 ? apply_tell_shift(t, "rounding 1", sum, (unsigned)u->k[3], mode)
                        : apply_shift_left128(sum, (unsigned)-u->k[3]);
}

/* Power-of-two scales (Vitis-AI DPU): each operand goes to the coarser scale with k[2] guard bits,
 * its own shift k[0] or k[1] rounded by align_round; the sum is shifted by k[3] (negative: left).
 */
void apply_add_align(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                     int32_t *out)
{
    assert(u->k[0] >= 0 && u->k[1] >= 0 && u->k[2] >= 0);
    for (size_t i = 0; i < n; i++)
        out[i] = apply_tell_end(apply_teller(u, i), &u->scale[ASSAY_OUT],
                                aligned_sum(u, a[i], b[i], apply_teller(u, i)));
}

/* Equal scales: codes are added and saturated (MAX78000). */
void apply_add_plain(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                     int32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_teller(u, i);
        apply_tell_sum(t, u->subtract ? "difference" : "sum", first(u, a[i]), second(u, b[i]));
        out[i] = apply_tell_end(t, &u->scale[ASSAY_OUT], first(u, a[i]) + second(u, b[i]));
    }
}

bool apply_add_accepts(const assay_unit *u, int32_t a, int32_t b)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    if (u->binary == apply_add_common_exponent)
        return apply_rescale_end_accepts(o, common_exponent_sum(u, a, b, NULL));
    if (u->binary == apply_add_align)
        return apply_rescale_end_accepts(o, aligned_sum(u, a, b, NULL));
    if (u->binary == apply_add_plain)
        return apply_rescale_end_accepts(o, first(u, a) + second(u, b));
    const bool shifts = u->binary == apply_add_left_shift;
    int64_t x = first(u, a), y = b - u->in_zero[1];
    x = shifts ? shifted(u, x) : x;
    y = shifts ? shifted(u, y) : y;
    return apply_rescale_accepts(&u->scale[ASSAY_FIRST], x, 0) &&
           apply_rescale_accepts(&u->scale[ASSAY_SECOND], y, 0) &&
           (shifts ? apply_rescale_accepts(o, left_shift_sum(u, a, b, NULL), 0)
                   : apply_rescale_end_accepts(o, rescaled_sum(u, x, y, NULL)));
}

/* Glow interpreter: both operands at the fixed scale 2^-bits, each rounded there, summed, then to
 * the output scale. list[0..2]: float32 bits of s1 / 2^-bits, s2 / 2^-bits, 2^-bits / s_out. */
void apply_add_fixed_scale(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                           int32_t *out)
{
    enum assay_rounding mode = (enum assay_rounding)u->rec.add.round;
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    uint32_t zero = apply_f32_from_i32((int32_t)o->zero_point);
    for (size_t i = 0; i < n; i++) {
        uint32_t x = apply_f32_mul(apply_f32_from_i64(first(u, a[i])), (uint32_t)u->k[0]);
        uint32_t y = apply_f32_mul(apply_f32_from_i64(b[i] - u->in_zero[1]), (uint32_t)u->k[1]);
        int64_t sum = apply_f32_to_int(x, mode, INT32_MIN, INT32_MAX, 0);
        int64_t add = apply_f32_to_int(y, mode, INT32_MIN, INT32_MAX, 0);
        const assay_teller *t = apply_teller(u, i);
        apply_tell_rounded(t, x, sum, mode);
        apply_tell_rounded(t, y, add, mode);
        sum = apply_wrap(u->subtract ? sum - add : sum + add, 32);
        uint32_t f = apply_f32_mul(apply_f32_from_i64(sum), (uint32_t)u->k[2]);
        apply_tell(t, u->subtract ? "difference" : "sum", sum);
        apply_tell_f32(t, "at the output's scale", f);
        f = apply_f32_add(f, zero);
        const int64_t v = apply_f32_to_int(f, mode, INT32_MIN, apply_float_max(o), 0);
        apply_tell_rounded(t, f, v, mode);
        out[i] = apply_tell_store(t, o, v);
    }
}

/* Sums of count codes: out = rescale((sum - z_in * (count + k[1])) << k[0]), the shift in 32 bits
 * when there is one. */
int64_t apply_add_n_operand(const assay_unit *u, int64_t sum, int32_t count)
{
    assert(u->k[0] >= 0 && u->k[0] <= 31);
    const int64_t x = sum - u->in_zero[0] * (count + u->k[1]);
    return u->k[0] ? apply_wrap((int64_t)((uint64_t)x << u->k[0]), 32) : x;
}

void apply_add_n(const assay_unit *u, const int64_t *sum, const int32_t *count, size_t n,
                 int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] =
            apply_rescale_one(&u->scale[ASSAY_OUT], apply_add_n_operand(u, sum[i], count[i]), 0);
}
