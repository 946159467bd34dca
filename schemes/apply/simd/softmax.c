/* Softmax rows (softmax.c, softmax_table.c) in C loops that compilers turn into vectors: built once
 * for each instruction set, which SIMD_NAME appends to the names.
 *
 * All kinds begin with e[max - x], 256 exponentials (assay_unit.exponential), and their sum. Sums
 * of integers have no order; those of floats are added one after the other, as the target does.
 * Float operations are the IEEE operations that softfloat.h computes, under the machine's default
 * modes. Where a row has what a form does not reach, the unit's own row runs. */
#include <assert.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/fixedpoint.h"

#define JOIN2(a, b) a##_##b
#define JOIN(a, b)  JOIN2(a, b)

enum { SUM_BITS = 12 /* integer bits of the fixed-point sum, as in softmax.c */ };

#define EXACT 0x1p53 /* doubles below are exact */

/* d[i] = the row's greatest code - x[i], 0..255. */
static void find_distances(const int32_t *restrict x, size_t n, int32_t *restrict d)
{
    int32_t max = x[0];
    for (size_t i = 1; i < n; i++)
        max = x[i] > max ? x[i] : max;
    for (size_t i = 0; i < n; i++)
        d[i] = max - x[i];
}

static void use_row(const assay_unit *u, const int32_t *x, size_t n, int32_t *scratch, uint8_t *out)
{
    u->row(u, x, n, scratch);
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)scratch[i];
}

static float float_of(uint32_t bits)
{
    float f;
    __builtin_memcpy(&f, &bits, sizeof f);
    return f;
}

/* apply_softmax_fixed: differences that do not count have an exponential of 0, which gives
 * the least code. Nothing is negative, so half up is half away. */
static void fixed(const assay_unit *u, const int32_t *x, size_t n, int32_t *d, uint8_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    const int32_t *e = u->exponential, lo = (int32_t)o->lo;
    const uint64_t max = (uint64_t)(o->hi - o->lo);
    uint32_t sum = 0;
    int over_unit = 0;
    find_distances(x, n, d);
    for (size_t i = 0; i < n; i++) {
        d[i] = e[d[i]];
        sum += ((uint32_t)d[i] + (1U << (SUM_BITS - 1))) >> SUM_BITS;
    }
    const uint64_t inverse =
        (int32_t)sum > 0 ? (uint64_t)apply_fixed_reciprocal((int32_t)sum, SUM_BITS, &over_unit) : 0;
    const unsigned shift = (unsigned)(over_unit + u->k[1]); /* 3 to 41 */
    assert(shift >= 1 && shift <= 62);
    const uint64_t half = (uint64_t)1 << (shift - 1);
    for (size_t i = 0; i < n; i++) {
        const uint64_t product = (inverse * (uint32_t)d[i] + ((uint64_t)1 << 30)) >> 31;
        const uint64_t v = (product + half) >> shift;
        out[i] = (uint8_t)((int32_t)(v < max ? v : max) + lo);
    }
}

/* Exponentials as floats in the place of d, and their sum in order. */
static float sum_floats(const assay_unit *u, int32_t *d, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++)
        d[i] = u->exponential[d[i]];
    for (size_t i = 0; i < n; i++)
        sum += float_of((uint32_t)d[i]);
    return sum;
}

/* apply_softmax_float_table. */
static void float_table(const assay_unit *u, const int32_t *x, size_t n, int32_t *d, uint8_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    const float min = (float)(o->lo - o->zero_point), max = (float)(o->hi - o->zero_point);
    find_distances(x, n, d);
    const float inverse = 1.0f / (sum_floats(u, d, n) * float_of((uint32_t)u->k[0]));
    if (!(inverse < 0x1p100f)) { /* products stay finite */
        use_row(u, x, n, d, out);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        float f = float_of((uint32_t)d[i]) * inverse;
        f = f < max + 1 ? f : max + 1; /* not negative */
        const int32_t whole = (int32_t)f;
        const float v = (float)(whole + (f - (float)whole >= 0.5f));
        out[i] = (uint8_t)((int32_t)(v < min ? min : v > max ? max : v) + (int32_t)o->zero_point);
    }
}

/* apply_softmax_float_sum. What does not lie below 2^31 is overflown, infinities too. */
static void float_sum(const assay_unit *u, const int32_t *x, size_t n, int32_t *d, uint8_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    const int64_t overflown = o->lo == 0 ? o->zero_point : o->zero_point < 0 ? o->hi : o->lo;
    const float big = 12582912.0f; /* rounds half to even below 2^22 */
    const float min = (float)(o->lo - o->zero_point), max = (float)(o->hi - o->zero_point);
    const float raise = float_of((uint32_t)u->k[0]);
    find_distances(x, n, d);
    const float sum = sum_floats(u, d, n);
    if (!(sum < 0x1p127f)) { /* the greatest code's exponential alone is at least 1 */
        use_row(u, x, n, d, out);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const float f = float_of((uint32_t)d[i]) * raise / sum;
        float v = f < max ? f : max; /* integral bounds: rounding keeps the order */
        v = v < min ? min : v;
        v = (v + big) - big;
        out[i] =
            (uint8_t)(f < 2147483648.0f ? (int32_t)v + (int32_t)o->zero_point : (int32_t)overflown);
    }
}

/* a / b rounded toward zero, b > 0: exact where a + b < 2^53, since a quotient below an integer is
 * then further from it than half a unit in the last place of the double. */
static inline int32_t divide(int64_t a, double b)
{
    return (int32_t)((double)a / b);
}

/* apply_softmax_integer_table. */
static void integer_table(const assay_unit *u, const int32_t *x, size_t n, int32_t *d, uint8_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    const int32_t lo = (int32_t)o->lo, max = (int32_t)(o->hi - o->lo);
    int64_t sum = 0;
    find_distances(x, n, d);
    for (size_t i = 0; i < n; i++) {
        d[i] = u->exponential[d[i]];
        sum += d[i];
    }
    if ((double)sum * 512 >= EXACT) {
        use_row(u, x, n, d, out);
        return;
    }
    for (size_t i = 0; i < n; i++) { /* at most 256.5 */
        const int32_t v = divide(d[i] * INT64_C(256) + sum / 2, (double)sum);
        out[i] = (uint8_t)((v < max ? v : max) + lo);
    }
}

/* apply_softmax_q31; half away of what is not negative: (2 t + sum) / (2 sum). */
static void q31(const assay_unit *u, const int32_t *x, size_t n, int32_t *d, uint8_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    const int32_t zero = (int32_t)o->zero_point;
    const int32_t lo = (int32_t)o->lo - zero, hi = (int32_t)o->hi - zero;
    int64_t sum = 0;
    find_distances(x, n, d);
    for (size_t i = 0; i < n; i++) {
        d[i] = u->exponential[d[i]];
        sum += d[i];
    }
    /* The greatest quotient is below 2^31 as the greatest t / 2^15 is below 2^31 * k / 2^15, and
     * the sum no less than the greatest code's exponential. */
    if (u->k[0] >= INT64_C(1) << 30 || (double)sum * 3 + 0x1p16 * (double)u->k[0] >= EXACT) {
        use_row(u, x, n, d, out);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const int64_t t = (d[i] * u->k[0] + 0x8000) >> 16;
        const int32_t v = divide(2 * t + sum, 2 * (double)sum);
        out[i] = (uint8_t)((v < lo ? lo : v > hi ? hi : v) + zero);
    }
}

assay_row_fn JOIN(simd_softmax, SIMD_NAME)(const assay_unit *u)
{
    return !u->exponential                         ? NULL
           : u->row == apply_softmax_fixed         ? fixed
           : u->row == apply_softmax_float_table   ? float_table
           : u->row == apply_softmax_float_sum     ? float_sum
           : u->row == apply_softmax_integer_table ? integer_table
                                                   : q31;
}
