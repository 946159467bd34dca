/* ADD and SUB: the alignment kinds. */
#include <math.h>

#include "schemes/apply/softfloat.h"
#include "schemes/derive/derive.h"
#include "schemes/round.h"

/* What an operand's rescale, of a half at most, makes of its shifted codes. One whose own values
 * wrap, as its record says, keeps halves here. */
static assay_interval half(const assay_derive *d, int operand, assay_interval code)
{
    const assay_rescale *r = &d->u->scale[operand == 0 ? ASSAY_FIRST : ASSAY_SECOND];
    return apply_rescale_wraps(r) ? (assay_interval){code.lo / 2, code.hi / 2}
                                  : apply_rescale_reach(r, code);
}

/* The sum of the operands' halves, whose own rescale may shift it to the left. */
static assay_status check_sum(const assay_derive *d, const assay_interval code[2])
{
    const assay_rescale *o = &d->u->scale[ASSAY_OUT];
    const assay_interval halves[2] = {half(d, 0, code[0]), half(d, 1, code[1])};
    const assay_interval sum = derive_sum_of(d, halves);
    const int64_t first = o->rule->round.n > 1 ? o->rule->round.step[0].bits : 0;
    int left = 0;
    if (o->shift && o->rule->left_shift == ASSAY_LEFT_WRAP && o->shift[0] < first)
        left = (int)(first - o->shift[0]);
    return derive_fits(d, ldexp((double)sum.lo, left), ldexp((double)sum.hi, left), 32,
                       left > 0 ? "the sum, shifted left for its output scale,"
                                : "the sum of two rescaled codes");
}

/* TFLite: T = 2 * max(s1, s2); operands at s / T after a shift to the left by `bits`, the sum at
 * T / (2^bits * s_out). LiteRT and TFLM ADD form these in double, TFLM SUB in float32. */
static assay_status left_shift(const assay_derive *d, float s1, float s2, float s_out)
{
    assay_unit *u = d->u;
    int32_t bits;
    derive_left_shift(d, 2, u->rec.add.bits, &bits);
    const assay_interval code[2] = {derive_shifted(derive_codes(&d->spec->in[0]), bits),
                                    derive_shifted(derive_codes(&d->spec->in[1]), bits)};
    assay_status s = derive_hold_both(d, code, "a code less its zero point");
    if (s)
        return s;
    double twice = 2 * (s1 > s2 ? (double)s1 : (double)s2);
    double r1 = s1 / twice, r2 = s2 / twice, out = twice / (ldexp(1, bits) * s_out);
    if (u->rec.add.scale == ASSAY_PRECISION_F32) {
        float t = 2 * (s1 > s2 ? s1 : s2);
        float f1 = s1 / t, f2 = s2 / t, fo = t / (ldexpf(1, bits) * s_out);
        r1 = (double)f1;
        r2 = (double)f2;
        out = (double)fo;
    }
    derive_intermediate(&u->scale[ASSAY_FIRST]);
    derive_intermediate(&u->scale[ASSAY_SECOND]);
    s = derive_one(d, &u->scale[ASSAY_FIRST], r1, "_1");
    if (!s)
        s = derive_one(d, &u->scale[ASSAY_SECOND], r2, "_2");
    if (!s)
        s = derive_one(d, &u->scale[ASSAY_OUT], out, "");
    u->k[0] = bits;
    u->binary = apply_add_left_shift;
    if (!s)
        s = check_sum(d, code);
    assay_interval scaled[2];
    if (!s)
        s = derive_accepts_both(d, code, "a shifted code", scaled);
    if (!s)
        s = derive_accepts(d, ASSAY_OUT, derive_sum_of(d, scaled), "the sum of two rescaled codes");
    return !s ? derive_list_constants(d, 1) : s;
}

/* Codes of an operand times k. */
static assay_interval codes_times(const assay_derive *d, int input, int64_t k)
{
    return derive_times(derive_codes(&d->spec->in[input]), (assay_interval){k, k});
}

/* XNNPACK, QNNPACK: float32 ratios; the larger one gets `bits` + 1 bits, both one exponent. */
static assay_status common_exponent(const assay_derive *d, float s1, float s2, float s_out)
{
    assay_unit *u = d->u;
    float r1 = s1 / s_out, r2 = s2 / s_out, larger = r1 > r2 ? r1 : r2;
    int exponent;
    frexpf(larger, &exponent); /* larger in [2^(exponent - 1), 2^exponent) */
    int shift = u->rec.add.bits - (exponent - 1);
    if (shift < 1 || shift > 62)
        return derive_fail(d, "scale ratios %g and %g are out of reach of a common exponent",
                           (double)r1, (double)r2);
    u->k[0] = lrintf(ldexpf(r1, shift));
    u->k[1] = lrintf(ldexpf(r2, shift));
    u->k[2] = shift;
    u->binary = apply_add_common_exponent;
    const assay_interval product[2] = {codes_times(d, 0, u->k[0]), codes_times(d, 1, u->k[1])};
    const assay_interval sum = derive_sum_of(d, product);
    assay_status s = derive_holds(d, sum, 32, "with this add.bits the sum");
    if (!s) {
        s = derive_accepts_end(
            d, derive_around(ldexp((double)sum.lo, -shift), ldexp((double)sum.hi, -shift)),
            "the sum");
    }
    return !s ? derive_list_constants(d, 3) : s;
}

static assay_status separate(const assay_derive *d, float s1, float s2, float s_out)
{
    assay_unit *u = d->u;
    const float one = 1;
    derive_intermediate(&u->scale[ASSAY_FIRST]);
    derive_intermediate(&u->scale[ASSAY_SECOND]);
    u->binary = apply_add_separate;
    assay_status s = derive_ratio(d, &u->scale[ASSAY_FIRST], s1, &one, 1, s_out, "_1");
    if (!s)
        s = derive_ratio(d, &u->scale[ASSAY_SECOND], s2, &one, 1, s_out, "_2");
    const assay_interval code[2] = {derive_codes(&d->spec->in[0]), derive_codes(&d->spec->in[1])};
    assay_interval scaled[2];
    if (!s)
        s = derive_accepts_both(d, code, "a code less its zero point", scaled);
    return !s ? derive_accepts_end(d, derive_sum_of(d, scaled), "the sum of two rescaled codes")
              : s;
}

/* floor(log2 s) of a power of two; false for other scales. */
static bool power(float s, int *exponent)
{
    float fraction = frexpf(s, exponent);
    (*exponent)--;
    return fraction == 0.5f;
}

/* The sum of the operands as they are aligned: each goes down by its shift and is rounded. */
static assay_interval aligned(const assay_derive *d)
{
    const assay_unit *u = d->u;
    const enum assay_rounding mode = (enum assay_rounding)u->rec.add.align_round;
    assay_interval x[2];
    for (int i = 0; i < 2; i++) {
        x[i] = derive_shifted(derive_codes(&d->spec->in[i]), (int)u->k[2]);
        x[i].lo = assay_round_shift(x[i].lo, (unsigned)u->k[i], mode);
        x[i].hi = assay_round_shift(x[i].hi, (unsigned)u->k[i], mode);
    }
    return derive_sum_of(d, x);
}

static assay_status align(const assay_derive *d, float s1, float s2, float s_out)
{
    assay_unit *u = d->u;
    int e1, e2, e_out;
    if (!power(s1, &e1) || !power(s2, &e2) || !power(s_out, &e_out))
        return derive_fail(d, "needs power-of-two scales; found %.9g, %.9g, %.9g", (double)s1,
                           (double)s2, (double)s_out);
    int coarse = e1 > e2 ? e1 : e2, guard = u->rec.add.bits;
    u->k[0] = coarse - e1;
    u->k[1] = coarse - e2;
    u->k[2] = guard;
    u->k[3] = guard + e_out - coarse;
    u->binary = apply_add_align;
    const assay_interval code[2] = {derive_codes(&d->spec->in[0]), derive_codes(&d->spec->in[1])};
    const assay_interval exact = derive_sum_of(d, code);
    assay_status s = derive_fits(d, ldexp((double)exact.lo, guard), ldexp((double)exact.hi, guard),
                                 63, "with this add.bits the sum");
    if (!s) {
        const assay_interval sum = aligned(d);
        s = derive_accepts_end(d,
                               derive_around(ldexp((double)sum.lo, -(int)u->k[3]),
                                             ldexp((double)sum.hi, -(int)u->k[3])),
                               "the sum");
    }
    return !s ? derive_list_constants(d, 4) : s;
}

static void set_floats(assay_unit *u, float a, float b, float c)
{
    u->k[0] = derive_bits_of(a);
    u->k[1] = derive_bits_of(b);
    u->k[2] = derive_bits_of(c);
}

/* MLAS walks broadcast operands in runs along their innermost axes; whether the first operand is a
 * single element in such a run (as the second may be). */
static bool first_is_single(const assay_type *a, const assay_type *b)
{
    for (int i = 1; i <= a->rank || i <= b->rank; i++) {
        int64_t da = i <= a->rank ? a->dim[a->rank - i] : 1;
        int64_t db = i <= b->rank ? b->dim[b->rank - i] : 1;
        if (da != 1 || db != 1)
            return da == 1;
    }
    return true;
}

/* MLAS: F = z_out - (r1*z1 + r2*z2), each operation rounded to float32; on AVX2 the compiler fused
 * one of the products, which one depends on the kernel (ONNX Runtime 1.30, measured). */
static void float_scaled(const assay_derive *d, float s1, float s2, float s_out, int32_t zero_out)
{
    assay_unit *u = d->u;
    float r1 = s1 / s_out, r2 = s2 / s_out;
    if (u->rec.add.fused) {
        bool single = first_is_single(&d->spec->in[0], &d->spec->in[1]);
        float z1 = (float)u->in_zero[0], z2 = (float)u->in_zero[1];
        float signed2 = u->subtract ? -r2 : r2, q1 = r1 * z1, q2 = signed2 * z2;
        float both = single ? fmaf(signed2, z2, q1) : fmaf(r1, z1, q2);
        set_floats(u, r1, signed2, (float)zero_out - both);
        u->k[3] = single;
        u->binary = apply_add_float_scaled;
        return;
    }
    float p1 = r1 * (float)u->in_zero[0], p2 = r2 * (float)u->in_zero[1];
    float sum = p1 + p2;
    float difference = p1 - p2;
    float f = (float)zero_out - (u->subtract ? difference : sum);
    set_floats(u, r1, u->subtract ? -r2 : r2, f);
    u->binary = apply_add_float_scaled;
}

/* Codes of an operand at the fixed scale: its ends in float32, rounded as apply_add_fixed_scale
 * does. */
static assay_interval at_fixed(const assay_derive *d, int input)
{
    const assay_interval code = derive_codes(&d->spec->in[input]);
    const enum assay_rounding mode = (enum assay_rounding)d->u->rec.add.round;
    const int64_t max = INT64_C(1) << 62;
    int64_t end[2] = {code.lo, code.hi};
    for (int i = 0; i < 2; i++) {
        const uint32_t x = apply_f32_mul(apply_f32_from_i64(end[i]), (uint32_t)d->u->k[input]);
        end[i] = apply_f32_to_int(x, mode, -max, max, 0);
    }
    return (assay_interval){end[0], end[1]};
}

static assay_status fixed_scale(const assay_derive *d, float s1, float s2, float s_out)
{
    const float fixed = ldexpf(1, -d->u->rec.add.bits);
    set_floats(d->u, s1 / fixed, s2 / fixed, fixed / s_out);
    d->u->binary = apply_add_fixed_scale;
    const assay_interval x[2] = {at_fixed(d, 0), at_fixed(d, 1)};
    assay_status s = derive_holds(d, derive_sum_of(d, x), 32, "with this add.bits the sum");
    if (!s)
        s = derive_hold_both(d, x, "a code at the fixed scale");
    return s ? s : derive_list_constants(d, 3);
}

static assay_status plain(const assay_derive *d, float s1, float s2, float s_out)
{
    const assay_interval code[2] = {derive_codes(&d->spec->in[0]), derive_codes(&d->spec->in[1])};
    if (s1 != s2 || s1 != s_out)
        return derive_fail(d, "a plain add needs equal scales; found %.9g, %.9g, %.9g", (double)s1,
                           (double)s2, (double)s_out);
    d->u->binary = apply_add_plain;
    return derive_accepts_end(d, derive_sum_of(d, code), "the sum of two codes");
}

assay_status derive_add(const assay_derive *d)
{
    assay_unit *u = d->u;
    const assay_type *a = &d->spec->in[0], *b = &d->spec->in[1], *out = d->spec->out;
    float s1 = derive_scale_of(a), s2 = derive_scale_of(b), s_out = derive_scale_of(out);
    if (u->op != ASSAY_OP_ADD && u->op != ASSAY_OP_SUB)
        return derive_unknown(d);
    assay_status s = derive_range(d);
    if (s)
        return s;
    u->subtract = u->op == ASSAY_OP_SUB;
    switch ((enum assay_add_kind)u->rec.add.kind) {
    case ASSAY_ADD_LEFT_SHIFT:
        return left_shift(d, s1, s2, s_out);
    case ASSAY_ADD_COMMON_EXPONENT:
        return common_exponent(d, s1, s2, s_out);
    case ASSAY_ADD_SEPARATE:
        return separate(d, s1, s2, s_out);
    case ASSAY_ADD_ALIGN_POW2:
        return align(d, s1, s2, s_out);
    case ASSAY_ADD_FLOAT_SCALED:
        float_scaled(d, s1, s2, s_out, derive_zero_of(out));
        return derive_list_constants(d, 4);
    case ASSAY_ADD_FLOAT_REAL:
        set_floats(u, s1, s2, s_out);
        u->binary = apply_add_float_real;
        break;
    case ASSAY_ADD_FLOAT_RATIO:
        set_floats(u, s1 / s_out, s2 / s_out, 0);
        u->binary = apply_add_float_ratio;
        break;
    case ASSAY_ADD_FIXED_SCALE:
        return fixed_scale(d, s1, s2, s_out);
    case ASSAY_ADD_PLAIN:
        return plain(d, s1, s2, s_out);
    }
    return derive_list_constants(d, 3);
}

/* Sums of codes of one scale (TFLite add_n.h, cumsum.h): each term is shifted to the left by `bits`
 * and halved, which is exact, so the sum's codes are shifted by one bit less; the sum's scale is
 * that of ADD, formed in add.scale. Other kinds rescale the exact sum. */
assay_status derive_sum(const assay_derive *d)
{
    assay_unit *u = d->u;
    const float one = 1;
    float s_in = derive_scale_of(&d->spec->in[0]), s_out = derive_scale_of(d->spec->out);
    int32_t bits;
    int64_t *k = derive_unit_array(u, "constants", 2);
    if (!k)
        return derive_memory(d);
    u->pool = apply_add_n;
    if (u->rec.add.kind != ASSAY_ADD_LEFT_SHIFT || u->rec.add.bits < 1)
        return derive_output_rescale(d, s_in, &one, 1, s_out);
    derive_left_shift(d, 1, u->rec.add.bits, &bits);
    if (bits == 0) /* no room to shift, and nothing to halve */
        return derive_output_rescale(d, s_in, &one, 1, s_out);
    u->k[0] = k[0] = bits - 1;
    u->k[1] = k[1] = u->rec.add.extra_zero_point;
    const assay_status s = derive_range(d);
    double real = u->rec.add.scale == ASSAY_PRECISION_F32
                      ? (double)(2 * s_in / (ldexpf(1, bits) * s_out))
                      : 2 * (double)s_in / (ldexp(1, bits) * (double)s_out);
    return s ? s : derive_one(d, &u->scale[ASSAY_OUT], real, "");
}
