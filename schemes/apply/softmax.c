/* Softmax and log softmax by the gemmlowp fixed-point functions (TFLite, CMSIS-NN). */
#include <assert.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/fixedpoint.h"
#include "schemes/apply/row.h"

#define DIFF_BITS 5  /* integer bits of a scaled difference */
#define SUM_BITS  12 /* integer bits of the sum of exponentials */

int32_t apply_softmax_exponential(const assay_unit *u, int32_t difference)
{
    const assay_int128 scaled = apply_rescale_value(&u->scale[ASSAY_FIRST], difference, 0);
    return apply_fixed_exp_negative(apply_wrap32((int64_t)scaled), DIFF_BITS);
}

/* Sum of the exponentials of differences of at least k[0]. */
static int32_t sum_exponentials(const assay_unit *u, const int32_t *x, size_t n, int32_t max)
{
    int32_t sum = 0;
    for (size_t i = 0; i < n; i++)
        if (x[i] - max >= u->k[0])
            sum = apply_wrap32((int64_t)sum +
                               apply_rdbp(apply_softmax_exponential(u, x[i] - max), SUM_BITS));
    return sum;
}

/* TFLite reference/softmax.h. k[0]: least difference that counts; k[1]: 31 minus output bits. */
void apply_softmax_fixed(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    int over_unit = 0;
    int32_t max = apply_greatest(x, n), sum = sum_exponentials(u, x, n, max);
    int32_t inverse = sum > 0 ? apply_fixed_reciprocal(sum, SUM_BITS, &over_unit) : 0;
    apply_tell_fixed(u->teller, "sum of exponentials", sum, 31 - SUM_BITS);
    apply_tell_fixed(u->teller, "reciprocal of the sum", inverse, 31 + over_unit);
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_teller(u, i);
        apply_tell_sum(t, "distance from the greatest", x[i], -(int64_t)max);
        if (x[i] - max < u->k[0]) {
            apply_tell(t, "too far below; the least that counts", u->k[0]);
            out[i] = (int32_t)o->lo;
            continue;
        }
        const int32_t e = apply_softmax_exponential(u, x[i] - max);
        int64_t v = apply_srdhm(inverse, e);
        apply_tell_fixed(t, "exponential", e, 31);
        apply_tell(t, "product with the reciprocal / 2^31", v);
        v = apply_tell_shift(t, "rounding 1", v, (unsigned)(over_unit + u->k[1]), u->last);
        apply_tell_sum(t, "plus least code", v, o->lo);
        out[i] = apply_tell_store(t, o, v + o->lo);
    }
}

/* TFLite reference/log_softmax.h, output scale 16/256, zero point the greatest code. k[2]: the
 * reverse scale of a difference, as the rescale in slot ASSAY_SECOND. */
void apply_log_softmax(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    const unsigned output_integer_bits = 4;
    int32_t max = apply_greatest(x, n);
    const int32_t sum = sum_exponentials(u, x, n, max);
    int32_t log = apply_fixed_log(sum, SUM_BITS, DIFF_BITS);
    apply_tell_fixed(u->teller, "sum of exponentials", sum, 31 - SUM_BITS);
    apply_tell_fixed(u->teller, "logarithm of the sum", log, 31 - DIFF_BITS);
    int64_t least = apply_saturate128(
        apply_rescale_value(&u->scale[ASSAY_SECOND], (int64_t)log + INT32_MIN, 0), 64);
    least = least > u->k[0] - 1 ? least : u->k[0] - 1;
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_teller(u, i);
        apply_tell_sum(t, "distance from the greatest", x[i], -(int64_t)max);
        if (x[i] - max <= least) {
            apply_tell(t, "too far below: the least code, up to", least);
            out[i] = (int32_t)o->lo;
            continue;
        }
        int64_t v = (int64_t)apply_rescale_value(&u->scale[ASSAY_FIRST], x[i] - max, 0) - log;
        apply_tell_fixed(t, "distance rescaled", v + log, 31 - DIFF_BITS);
        apply_tell(t, "minus the logarithm", apply_wrap32(v));
        v = apply_tell_shift(t, "rounding 1", apply_wrap32(v), 31 - DIFF_BITS - output_integer_bits,
                             u->last);
        apply_tell_sum(t, "plus greatest code", v, o->hi);
        out[i] = apply_tell_store(t, o, v + o->hi);
    }
}

/* Between the entries of a table of 513 for codes of 16 bits. */
static int32_t lookup(const int64_t *table, int64_t x)
{
    assert(x >= INT16_MIN && x <= INT16_MAX);
    int64_t index = 256 + apply_shift_right(x, 7), slope = table[index + 1] - table[index];
    return (int16_t)(table[index] + assay_round_shift(slope * (x & 127), 7, ASSAY_ROUND_HALF_UP));
}

/* TFLite int16: 513-entry tables of e^x on [-10, 0] (table) and 1 / (1 + x) on [0, 1] (list[0]). */
void apply_softmax_lut16(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    int32_t max = apply_greatest(x, n);
    int32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const assay_int128 d =
            apply_rescale_value(&u->scale[ASSAY_FIRST], (int64_t)x[i] - max, 0) + 32767;
        const assay_teller *t = apply_teller(u, i);
        out[i] = lookup(u->table, apply_saturate128(d, 16));
        apply_tell_sum(t, "distance from the greatest", x[i], -(int64_t)max);
        apply_tell(t, "rescaled, + 32767, in 16 bits", apply_saturate128(d, 16));
        apply_tell(t, "exponential, between two entries", out[i]);
        sum = apply_wrap32((int64_t)sum + out[i]);
    }
    unsigned headroom =
        (unsigned)apply_clamp_to(apply_clz32((uint32_t)sum), 1, 31); /* wrapped: 1 */
    int64_t shifted =
        assay_round_shift(sum * (INT64_C(1) << (headroom - 1)), 14, ASSAY_ROUND_HALF_UP);
    int64_t inverse = lookup(u->list[0], apply_saturate(shifted - 98304, 16));
    apply_tell(u->teller, "sum of exponentials", sum);
    apply_tell(u->teller, "its leading zeros", headroom);
    apply_tell(u->teller, "sum in 17 bits", shifted);
    apply_tell(u->teller, "reciprocal, between two entries", inverse);
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_teller(u, i);
        apply_tell_product(t, "product", out[i], inverse);
        int64_t v = apply_tell_shift(t, "rounding 1", out[i] * inverse, 31 - headroom, u->last);
        out[i] = apply_tell_store(t, o, v < 0 ? 0 : v);
    }
}
