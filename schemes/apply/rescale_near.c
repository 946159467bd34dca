/* Rows of the float rules. A chain of float operations gives a value within a known distance of the
 * exact x * R; unless a boundary of the rounding lies within that distance, rounding the exact
 * value gives the same integer. So a row takes one integer product an element,
 *
 *   x * 2^left * near = (whole + fraction / 2^64),   near = round(R * 2^(64 - left)),
 *
 * and where the fraction is close to a boundary, asks for the steps themselves (rescale_float.c).
 *
 * How close, for codes between lo and hi, with B = |zero point| + the greatest |code - zero point|:
 *   float32: x, the product, two more steps and the sum with the zero point are each rounded by at
 *     most 2^-24 of a value below B + 2: five of these, 8 * (B + 4) * 2^-24 is taken;
 *   float64: 3 * 2^-53 of it; (B + 4) * 2^-50 is taken;
 *   near itself is rounded: |x| * 2^left * 2^-65 < 2^(left - 33).
 * Values beyond that saturate, whichever way they are rounded. Scales are such that no step is
 * subnormal or overflows (derive/near.c). */
#include <assert.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/tail.h"

#define FAR    (UINT64_C(1) << 30) /* beyond it sums with the zero point may overflow */
#define WIDEST (INT64_C(1) << 18)  /* of B: outputs of up to 16 bits */

/* Where the boundaries of a rounding are. */
enum boundary {
    AT_HALVES,       /* to the nearest: they differ on ties only */
    AT_INTEGERS,     /* the directed ones */
    AT_HALF_INTEGERS /* Gemmini's addition of one: both */
};

/* The window around a boundary, in 2^-64; 0 when the row has no short path. */
static uint64_t window_of(const assay_rescale *r)
{
    const int64_t z = r->zero_point;
    const assay_rule_rescale *k = r->rule;
    const bool sum_wraps =
        k->sum_bits > 0 && k->sum_bits < 32 && k->sum_overflow == ASSAY_NARROW_WRAP;
    if (!r->near || r->untold || k->store == ASSAY_STORE_WRAP ||
        sum_wraps) /* else lo, hi are codes */
        return 0;
    assert(r->near_left <= 24); /* |x| < 2^31 stays below 2^55 after it */
    int64_t below = z - r->lo, above = r->hi - z, bound = below > above ? below : above;
    bound += z < 0 ? -z : z;
    if (bound > WIDEST)
        return 0;
    uint64_t steps = (uint64_t)(bound + 4) << (k->encoding == ASSAY_ENCODE_F64 ? 14 : 43);
    return steps + ((uint64_t)1 << (r->near_left + 31));
}

/* `step` 0: one scale for the whole row; 1: one an element, from c on. */
static inline __attribute__((always_inline)) void row_of(const assay_rescale *r, const int64_t *acc,
                                                         size_t n, size_t c, size_t step,
                                                         int32_t *out, uint64_t window,
                                                         enum boundary at, enum assay_rounding mode)
{
    const assay_tail t = apply_tail_of(r);
    const bool inside = r->rule->zero_point == ASSAY_STAGE_INSIDE;
    const int64_t *near = r->near, in_zero = r->in_zero;
    const unsigned left = r->near_left;
    const uint64_t start = window - (at == AT_HALVES ? UINT64_C(1) << 63 : 0);
    const uint64_t double_window = 2 * window;
    assert(left <= 24); /* before the loop: window_of has it too, but there a reader must look */
    for (size_t i = 0; i < n; i++) {
        int64_t x = acc[i] - in_zero;
        assay_int128 p = (assay_int128)(int64_t)((uint64_t)x << left) * near[c + i * step];
        int64_t whole = (int64_t)(p >> 64);
        uint64_t fraction = (uint64_t)p;
        bool close = at == AT_HALF_INTEGERS ? 2 * fraction + double_window <= 2 * double_window
                                            : fraction + start <= double_window;
        bool far = (uint64_t)whole + FAR >= 2 * FAR;
        if (__builtin_expect(x != (int32_t)x || close || far, 0)) {
            out[i] = apply_rescale_element_float(r, acc[i], c + i * step);
            continue;
        }
        int64_t v = inside ? whole + t.zero_point : whole;
        v += assay_rounds_up(mode, v < 0, v & 1, fraction); /* never exact, never a tie of `at` */
        out[i] = inside ? apply_store(&t, v) : apply_finish(&t, v);
    }
}

/* Whether a rule asks of a fraction on which side of one half it is; if not, it asks only whether
 * it is 0 (test/schemes/test_rescale_near.c). */
static bool is_nearest(enum assay_rounding mode)
{
    for (int i = 0; i < 4; i++) {
        const bool negative = i & 1, odd = i & 2;
        if (assay_rounds_up(mode, negative, odd, 1) ||
            !assay_rounds_up(mode, negative, odd, UINT64_MAX))
            return false;
    }
    return true;
}

void apply_rescale_row_float(const assay_rescale *r, const int64_t *acc, size_t n, size_t channel,
                             int32_t *out)
{
    const enum assay_rounding mode = (enum assay_rounding)r->rule->round.step[0].mode;
    const size_t step = r->n > 1, c = step ? channel : 0;
    const uint64_t window = window_of(r);
    const bool adds_one = r->rule->float_rounding == ASSAY_FLOAT_ROUND_ADD_ONE &&
                          r->rule->encoding == ASSAY_ENCODE_F32;
    if (window == 0)
        for (size_t i = 0; i < n; i++)
            out[i] = apply_rescale_element_float(r, acc[i], c + i * step);
    else if (adds_one)
        row_of(r, acc, n, c, step, out, window, AT_HALF_INTEGERS, ASSAY_ROUND_HALF_UP);
    else if (!is_nearest(mode))
        row_of(r, acc, n, c, step, out, window, AT_INTEGERS, mode);
    else if (step == 0)
        row_of(r, acc, n, 0, 0, out, window, AT_HALVES, ASSAY_ROUND_HALF_UP);
    else
        row_of(r, acc, n, c, 1, out, window, AT_HALVES, ASSAY_ROUND_HALF_UP);
}
