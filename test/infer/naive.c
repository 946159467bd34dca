/* A rescale in plain integers; see naive.h. */
#include "test/infer/naive.h"

#include "graph/core/type.h"
#include "test/support/roundings.h"

static int64_t floor_div(int64_t n, int64_t d)
{
    return n / d - (n % d != 0 && n < 0);
}

/* n / 2^bits by the table of the modes. */
static int64_t naive_round(int64_t n, int64_t bits, int32_t mode)
{
    if (bits > 60) /* all is known of a fraction next to 0 */
        bits = 60;
    const int64_t d = INT64_C(1) << bits, low = floor_div(n, d), rest = n - low * d;
    enum test_part part = rest == 0       ? TEST_WHOLE
                          : 2 * rest < d  ? TEST_BELOW_HALF
                          : 2 * rest == d ? TEST_HALF
                                          : TEST_ABOVE_HALF;
    return low + test_rounds_up((enum assay_rounding)mode, n < 0, low % 2 != 0, part);
}

static int64_t naive_wrap(int64_t v, int32_t bits, bool is_signed)
{
    const int64_t span = INT64_C(1) << bits, low = v - floor_div(v, span) * span;
    return is_signed && low >= span / 2 ? low - span : low;
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static bool fits(int64_t v, int64_t bits)
{
    return bits >= 62 || (v >= -(INT64_C(1) << (bits - 1)) && v < INT64_C(1) << (bits - 1));
}

static int64_t naive_saturate(int64_t v, int32_t bits)
{
    return bits >= 62 ? v : clamp(v, -(INT64_C(1) << (bits - 1)), (INT64_C(1) << (bits - 1)) - 1);
}

/* False: refused. */
static bool naive_narrow(int64_t *v, int32_t bits, int32_t how)
{
    if (bits == 0 || fits(*v, bits))
        return true;
    *v = how == ASSAY_NARROW_WRAP ? naive_wrap(*v, bits, true) : naive_saturate(*v, bits);
    return how != ASSAY_NARROW_REFUSE;
}

int64_t naive_steps(const assay_steps *s, int64_t p, int64_t shift)
{
    for (int i = 0; i < s->n; i++) {
        const int64_t bits = i == s->n - 1 || s->step[i].bits > shift ? shift : s->step[i].bits;
        p = naive_round(p, bits, s->step[i].mode);
        shift -= bits;
    }
    return p;
}

static void naive_reduce(const assay_rule_rescale *k, int64_t *m, int64_t *shift)
{
    if (k->reduced_bits == 0 || *m == 0)
        return;
    const int64_t limit = INT64_C(1) << k->reduced_bits, sign = *m < 0 ? -1 : 1;
    int64_t u = naive_round(sign * *m, k->multiplier_bits - k->reduced_bits, ASSAY_ROUND_HALF_UP);
    *shift -= k->multiplier_bits - k->reduced_bits;
    if (u == limit && k->reduced_overflow == ASSAY_REDUCED_RENORMALISE) {
        u = limit / 2;
        --*shift;
    } else if (u == limit) {
        u = limit - 1;
    }
    *m = sign * u;
}

/* The operand behind the pre-shift. */
static int64_t naive_operand(const assay_rule_rescale *k, int64_t x, int64_t pre)
{
    if (pre < 0)
        x = naive_saturate(naive_saturate(x, 32) * (INT64_C(1) << -pre), 32);
    else
        x = naive_round(x, pre, k->pre_shift_round);
    return k->operand_bits > 0 ? naive_saturate(x, k->operand_bits) : x;
}

static int64_t naive_value(const assay_rule_rescale *k, int64_t x, int64_t m, int64_t shift)
{
    const int64_t first = k->round.n > 1 ? k->round.step[0].bits : 0;
    if (k->left_shift != ASSAY_LEFT_PRODUCT && shift < first) {
        x = k->left_shift == ASSAY_LEFT_WRAP
                ? naive_wrap(x * (INT64_C(1) << (first - shift)), 32, true)
                : naive_saturate(naive_saturate(x, 32) * (INT64_C(1) << (first - shift)), 32);
        shift = first;
    }
    int64_t p = x * m;
    if (k->product_bits > 0 && k->product_bits < 62)
        p = naive_wrap(p, k->product_bits, true);
    if (shift < 0) {
        p *= INT64_C(1) << -shift;
        shift = 0;
    }
    return naive_steps(&k->round, p, shift);
}

int64_t naive_code(const assay_rule_rescale *k, const naive_row *g)
{
    const bool before = k->zero_point == ASSAY_STAGE_BEFORE;
    const int64_t x = g->acc - (before ? g->zp : 0);
    int64_t m = g->multiplier, total = g->shift, pre = 0;
    naive_reduce(k, &m, &total);
    if (k->pre_shift != ASSAY_PRE_NONE)
        pre = k->pre_shift == ASSAY_PRE_FIXED ? k->pre_shift_bits : total - k->round.step[0].bits;
    if (k->input_bits > 0 && !fits(x, k->input_bits))
        return NAIVE_REFUSED;
    if (k->input_shift_range && (total < 1 ? x != 0 : !fits(x, total)))
        return NAIVE_REFUSED;
    int64_t v = naive_value(k, naive_operand(k, x, pre), m, total - pre);
    if (!naive_narrow(&v, k->result_bits, k->result_overflow))
        return NAIVE_REFUSED;
    if (!before) {
        v += g->zp;
        if (!naive_narrow(&v, k->sum_bits, k->sum_overflow))
            return NAIVE_REFUSED;
    }
    if (g->bounded)
        v = clamp(v, g->lo, g->hi);
    return k->store == ASSAY_STORE_WRAP
               ? naive_wrap(v, (int32_t)g->type.bits, g->type.is_signed)
               : clamp(v, assay_elem_min(g->type), assay_elem_max(g->type));
}
