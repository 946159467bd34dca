/* From one scale to another as targets with floating-point requantization do it, on IEEE bits:
 *
 *   float(acc) -> * scale  (or * s_in, * s_w, / s_out) -> [+ zero point] -> round -> [+ zero point]
 *
 * Every operation rounds to nearest even, as apply/softfloat.h computes it. */
#include "schemes/apply/apply.h"
#include "schemes/apply/softfloat.h"

/* Gemmini's ROUND_NEAR_EVEN: the neighbour is found by a float32 addition of one, which itself
 * rounds, so values just below an integer can go one too far (ucb-bar/libgemmini). */
static int64_t round_add_one(uint32_t f)
{
    const uint32_t one = 0x3f800000, half = 0x3f000000;
    int64_t low = assay_f32_to_int(f, ASSAY_ROUND_TRUNC, INT64_MIN, INT64_MAX, 0);
    uint32_t beyond = f >> 31 ? assay_f32_sub(f, one) : assay_f32_add(f, one);
    int64_t next = assay_f32_to_int(beyond, ASSAY_ROUND_TRUNC, INT64_MIN, INT64_MAX, 0);
    uint32_t rest = assay_f32_sub(f, assay_f32_from_i64(low)) & 0x7fffffff;
    if (rest == half)
        return low % 2 == 0 ? low : next;
    return assay_f32_lt(rest, half) ? low : next;
}

static inline int64_t to_int(const assay_rule_rescale *k, uint32_t f, enum assay_rounding mode)
{
    if (k->float_rounding == ASSAY_FLOAT_ROUND_ADD_ONE)
        return round_add_one(f);
    if (k->float_overflow == ASSAY_FLOAT_SATURATE)
        return assay_f32_to_int(f, mode, INT32_MIN, INT32_MAX, 0);
    int64_t v = assay_f32_to_int(f, mode, INT64_MIN, INT64_MAX, INT64_MIN);
    return v == (int32_t)v ? v : INT32_MIN;
}

static inline uint32_t to_f32(int64_t x)
{
    return x == (int32_t)x ? assay_f32_from_i32((int32_t)x) : assay_f32_from_i64(x);
}

/* The real result in float32, before the zero point. */
static inline uint32_t product(const assay_rescale *r, int64_t x, size_t c)
{
    uint32_t f = assay_f32_mul(to_f32(x - r->in_zero), (uint32_t)r->scale[c]);
    if (r->scale_w != NULL) /* in steps; only weighted ops have them */
        f = assay_f32_div(assay_f32_mul(f, (uint32_t)r->scale_w[c]), (uint32_t)r->scale_out[0]);
    return f;
}

static uint64_t product64(const assay_rescale *r, int64_t x, size_t c)
{
    return assay_f64_mul(assay_f64_from_i64(x - r->in_zero), (uint64_t)r->scale[c]);
}

int64_t assay_rescale_value_float(const assay_rescale *r, int64_t x, size_t c)
{
    const assay_rule_rescale *k = r->rule;
    enum assay_rounding mode = (enum assay_rounding)k->round.step[0].mode;
    if (k->encoding == ASSAY_ENCODE_F64)
        return assay_f64_to_int(product64(r, x, c), mode, INT32_MIN, INT32_MAX, 0);
    return to_int(k, product(r, x, c), mode);
}

static void row_f64(const assay_rescale *r, const int64_t *acc, size_t n, size_t channel,
                    int32_t *out)
{
    const assay_rule_rescale *k = r->rule;
    enum assay_rounding mode = (enum assay_rounding)k->round.step[0].mode;
    for (size_t i = 0; i < n; i++) {
        size_t c = r->n > 1 ? channel + i : 0;
        if (k->zero_point == ASSAY_STAGE_INSIDE) {
            uint64_t f = assay_f64_add(product64(r, acc[i], c), assay_f64_from_i64(r->zero_point));
            out[i] = (int32_t)assay_f64_to_int(f, mode, r->lo, r->hi, 0);
        } else {
            out[i] = assay_rescale_finish(r, assay_rescale_value_float(r, acc[i], c));
        }
    }
}

static inline __attribute__((always_inline)) void row_f32(const assay_rescale *r,
                                                          const int64_t *acc, size_t n,
                                                          size_t channel, int32_t *out,
                                                          enum assay_rounding mode)
{
    const assay_rule_rescale *k = r->rule;
    const bool inside = k->zero_point == ASSAY_STAGE_INSIDE;
    const uint32_t zero = assay_f32_from_i32((int32_t)r->zero_point);
    size_t step = r->n > 1, c = step ? channel : 0;
    for (size_t i = 0; i < n; i++, c += step) {
        uint32_t f = product(r, acc[i], c);
        if (inside)
            out[i] = (int32_t)assay_clamp(to_int(k, assay_f32_add(f, zero), mode), r->lo, r->hi);
        else
            out[i] = assay_rescale_finish(r, to_int(k, f, mode));
    }
}

void assay_rescale_row_float(const assay_rescale *r, const int64_t *acc, size_t n, size_t channel,
                             int32_t *out)
{
    enum assay_rounding mode = (enum assay_rounding)r->rule->round.step[0].mode;
    if (r->rule->encoding == ASSAY_ENCODE_F64)
        row_f64(r, acc, n, channel, out);
    else if (mode == ASSAY_ROUND_HALF_EVEN)
        row_f32(r, acc, n, channel, out, ASSAY_ROUND_HALF_EVEN);
    else
        row_f32(r, acc, n, channel, out, mode);
}
