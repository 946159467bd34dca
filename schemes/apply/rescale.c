/* Rescale from one scale to another in integers:
 *
 *   x - in_zero -> pre-shift -> left shift -> times multiplier -> rounding steps -> narrow
 *     -> + zero point (or subtracted first) -> store
 *
 * `scaled_any` is that line for every rule, in 128 bits. `scaled` is the same line for the common
 * rules in 64 bits: its choices are constants in each row below, so the compiler makes a tight
 * loop of each; an accumulator too wide for it goes to `scaled_any`. */
#include <assert.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/tail.h"
#include "schemes/round.h"

/* The operand: in_zero removed (and the output's zero point, where it is subtracted before),
 * pre-shifted, saturated to operand_bits. */
static assay_int128 difference(const assay_rescale *r, int64_t x)
{
    return (assay_int128)x - r->in_zero - (apply_zero_is_before(r) ? r->zero_point : 0);
}

assay_int128 apply_pre_shift(const assay_rule_rescale *k, assay_int128 x, int64_t pre)
{
    return pre >= 0 ? assay_round_shift128(x, pre > 127 ? 127 : (unsigned)pre,
                                           (enum assay_rounding)k->pre_shift_round)
                    : apply_shift_left_saturate(apply_saturate128(x, 32), (unsigned)-pre, 32);
}

static assay_int128 operand(const assay_rescale *r, int64_t acc, size_t c)
{
    const assay_rule_rescale *k = r->rule;
    assay_int128 x = difference(r, acc);
    if (r->pre) {
        x = apply_pre_shift(k, x, r->pre[c]);
    }
    return k->operand_bits > 0 ? apply_saturate128(x, (unsigned)k->operand_bits) : x;
}

static int64_t left(const assay_rule_rescale *k, assay_int128 x, unsigned bits)
{
    assert(k->left_shift != ASSAY_LEFT_PRODUCT);
    return k->left_shift == ASSAY_LEFT_WRAP
               ? apply_shift_left_wrap((int64_t)x, bits, 32)
               : apply_shift_left_saturate(apply_saturate128(x, 32), bits, 32);
}

static assay_int128 scaled_any(const assay_rescale *r, int64_t acc, size_t c)
{
    const assay_rule_rescale *k = r->rule;
    const assay_steps *list = &k->round;
    int64_t shift = r->shift[c];
    int64_t first = list->n > 1 ? list->step[0].bits : 0;
    assay_int128 v = operand(r, acc, c);
    if (k->left_shift != ASSAY_LEFT_PRODUCT && shift < first) {
        v = left(k, v, (unsigned)(first - shift));
        shift = first;
    }
    v *= r->multiplier[c]; /* at most 65 and 54 bits */
    if (k->product_bits > 0)
        v = apply_wrap((int64_t)v, (unsigned)k->product_bits);
    if (shift < 0) {
        v = apply_shift_left128(v, (unsigned)-shift);
        shift = 0;
    }
    for (int i = 0; i < list->n; i++) {
        bool last = i == list->n - 1;
        int64_t bits = last || list->step[i].bits > shift ? shift : list->step[i].bits;
        v = assay_round_shift128(v, bits > 127 ? 127 : (unsigned)bits,
                                 (enum assay_rounding)list->step[i].mode);
        shift -= bits;
    }
    return apply_narrow128(v, k->result_bits, k->result_overflow);
}

/* What is constant in a row of a common rule. */
typedef struct way {
    enum assay_rounding mode, second; /* of the first and the second rounding */
    unsigned first_bits;              /* discarded by the first of two; 0: there is only one */
    enum { LEFT_NONE, LEFT_WRAPS, LEFT_SATURATES } left; /* of the operand, in 32 bits */
    enum { PRE_NONE, PRE_FLOOR, PRE_HALF_UP } pre;       /* half up: then saturated to 16 bits */
    bool product_wraps;                                  /* product in 32 bits */
} way;

/* |x| < 2^31 and |multiplier| <= 2^31: the product stays below 2^63. */
static inline __attribute__((always_inline)) int64_t scaled(int64_t x, int64_t multiplier,
                                                            int64_t shift, int64_t pre, way w)
{
    const int64_t first = w.first_bits;
    if (w.pre == PRE_FLOOR)
        x = apply_shift_right(x, (unsigned)pre);
    if (w.pre == PRE_HALF_UP)
        x = apply_saturate(assay_round_shift(x, (unsigned)pre, ASSAY_ROUND_HALF_UP), 16);
    if (w.left != LEFT_NONE && shift < first) {
        unsigned bits = (unsigned)(first - shift);
        x = w.left == LEFT_WRAPS ? apply_shift_left_wrap(x, bits, 32)
                                 : apply_saturate(x * (INT64_C(1) << (bits < 32 ? bits : 32)), 32);
        shift = first;
    }
    x *= multiplier;
    if (w.product_wraps)
        x = apply_wrap(x, 32);
    if (w.first_bits > 0 && shift >= first) {
        x = assay_round_shift(x, w.first_bits, w.mode);
        return assay_round_shift(x, (unsigned)(shift - first), w.second);
    }
    return assay_round_shift(x, (unsigned)shift, w.mode);
}

/* `step` 0: one set of parameters for the whole row; 1: one an element. */
static inline __attribute__((always_inline)) void row_of(const assay_rescale *r, const int64_t *acc,
                                                         size_t n, size_t c, size_t step,
                                                         int32_t *out, way w)
{
    const assay_tail t = apply_tail_of(r);
    const int64_t *multiplier = r->multiplier, *shift = r->shift, *pre = r->pre;
    assert(c + (step == 0 ? 1 : n) <= r->n && (w.pre == PRE_NONE || pre));
    const int32_t bits = r->rule->result_bits, how = r->rule->result_overflow;
    const int64_t m = multiplier[c], s = shift[c], p = w.pre != PRE_NONE ? pre[c] : 0;
    for (size_t i = 0; i < n; i++) {
        int64_t x = acc[i], v;
        size_t at = c + i * step;
        if (x != (int32_t)x) {
            out[i] = apply_finish128(&t, scaled_any(r, x, at));
            continue;
        }
        if (step == 0)
            v = scaled(x, m, s, p, w);
        else
            v = scaled(x, multiplier[at], shift[at], w.pre != PRE_NONE ? pre[at] : 0, w);
        if (bits > 0)
            v = apply_narrow(v, bits, how);
        out[i] = apply_finish(&t, v);
    }
}

static inline __attribute__((always_inline)) void row(const assay_rescale *r, const int64_t *acc,
                                                      size_t n, size_t channel, int32_t *out, way w)
{
    if (r->n == 1)
        row_of(r, acc, n, 0, 0, out, w);
    else if (n > 0)
        row_of(r, acc, n, channel, 1, out, w);
}

#define ROW(name, ...)                                                                             \
    static void row_##name(const assay_rescale *r, const int64_t *acc, size_t n, size_t channel,   \
                           int32_t *out)                                                           \
    {                                                                                              \
        row(r, acc, n, channel, out, (way){__VA_ARGS__});                                          \
    }

/* One rounding of the whole product. */
#define ONE_ROW(ID, name, ...)   ROW(name, .mode = ASSAY_ROUND_##ID)
#define ROW_ENTRY(ID, name, ...) row_##name,
ASSAY_ROUNDINGS(ONE_ROW)
/* TFLite: a left shift that wraps, rounding doubling high multiply, a rounding right shift. */
ROW(double, .mode = ASSAY_ROUND_HALF_UP, .second = ASSAY_ROUND_HALF_AWAY, .first_bits = 31,
    .left = LEFT_WRAPS)
/* gemmlowp: the left shift saturates. */
ROW(double_saturating, .mode = ASSAY_ROUND_HALF_UP, .second = ASSAY_ROUND_HALF_AWAY,
    .first_bits = 31, .left = LEFT_SATURATES)
/* Without a left shift (TOSA, Ethos-U, QNNPACK). */
ROW(double_plain, .mode = ASSAY_ROUND_HALF_UP, .second = ASSAY_ROUND_HALF_AWAY, .first_bits = 31)
/* Glow: floor pre-shift, 32-bit product, half up. */
ROW(glow, .mode = ASSAY_ROUND_HALF_UP, .pre = PRE_FLOOR, .product_wraps = true)
/* XNNPACK rndnu16: rounding pre-shift to 16 bits, then one rounding. */
ROW(to16, .mode = ASSAY_ROUND_HALF_UP, .pre = PRE_HALF_UP)

static void row_any(const assay_rescale *r, const int64_t *acc, size_t n, size_t channel,
                    int32_t *out)
{
    const assay_tail t = apply_tail_of(r);
    assert(r->n == 1 || channel + n <= r->n);
    for (size_t i = 0; i < n; i++) {
        size_t c = r->n > 1 ? channel + i : 0;
        out[i] = apply_finish128(&t, scaled_any(r, acc[i], c));
    }
}

/* How many thresholds are <= x: `below` of them, and some of the `left` after those. The step is a
 * sum, not a branch, which no processor could foresee. */
static int64_t count_thresholds(const assay_rescale *r, int64_t x, size_t c)
{
    const int64_t *t = r->threshold + c * r->n_thresholds;
    assert(c < r->n);
    size_t below = 0;
    for (size_t left = r->n_thresholds; left > 0;) {
        const size_t half = left - left / 2;
        below += t[below + half - 1] <= x ? half : 0;
        left -= half;
    }
    return (int64_t)below;
}

static void row_thresholds(const assay_rescale *r, const int64_t *acc, size_t n, size_t channel,
                           int32_t *out)
{
    assert(r->n == 1 || channel + n <= r->n);
    for (size_t i = 0; i < n; i++) {
        size_t c = r->n > 1 ? channel + i : 0;
        out[i] = (int32_t)(r->lo + count_thresholds(r, acc[i], c));
    }
}

static bool is_float(const assay_rescale *r)
{
    return r->rule->encoding == ASSAY_ENCODE_F32 || r->rule->encoding == ASSAY_ENCODE_F64;
}

assay_int128 apply_rescale_value(const assay_rescale *r, int64_t x, size_t channel)
{
    size_t c = r->n > 1 ? channel : 0;
    assert(c < r->n);
    if (r->rule->encoding == ASSAY_ENCODE_THRESHOLDS)
        return r->lo + count_thresholds(r, x, c) - r->zero_point;
    return is_float(r) ? apply_rescale_value_float(r, x, c) : scaled_any(r, x, c);
}

int32_t apply_rescale_one(const assay_rescale *r, int64_t x, size_t channel)
{
    int32_t out;
    r->row(r, &x, 1, channel, &out);
    return out;
}

static bool accepts_result(const assay_rescale *r, int64_t x, size_t channel)
{
    const assay_rule_rescale *k = r->rule;
    if (k->result_overflow != ASSAY_NARROW_REFUSE || k->result_bits == 0)
        return true;
    assay_rule_rescale wide = *k; /* what there is before it is narrowed */
    wide.result_bits = 0;
    assay_rescale copy = *r;
    copy.rule = &wide;
    const assay_int128 v = apply_rescale_value(&copy, x, channel);
    return v == apply_saturate128(v, (unsigned)k->result_bits);
}

static bool accepts_sum(const assay_rescale *r, int64_t x, size_t channel)
{
    const assay_rule_rescale *k = r->rule;
    return k->sum_overflow != ASSAY_NARROW_REFUSE || k->sum_bits == 0 ||
           k->zero_point != ASSAY_STAGE_AFTER ||
           apply_rescale_end_accepts(r, apply_rescale_value(r, x, channel));
}

bool apply_rescale_accepts(const assay_rescale *r, int64_t x, size_t channel)
{
    const assay_rule_rescale *k = r->rule;
    size_t c = r->n > 1 ? channel : 0;
    const assay_int128 v = difference(r, x);
    if (k->input_bits > 0 && v != apply_saturate128(v, (unsigned)k->input_bits))
        return false;
    if (k->input_shift_range) { /* of the whole shift, whatever comes before the multiplication */
        const int64_t shift = r->shift[c] + (r->pre ? r->pre[c] : 0);
        if (shift < 1 ? v != 0 : shift < 65 && v != apply_saturate128(v, (unsigned)shift))
            return false;
    }
    return accepts_result(r, x, channel) && accepts_sum(r, x, channel);
}

bool apply_rescale_wraps(const assay_rescale *r)
{
    const assay_rule_rescale *k = r->rule;
    const int64_t first = k->round.n > 1 ? k->round.step[0].bits : 0;
    bool left = false;
    for (size_t c = 0; c < r->n && !left && r->shift; c++)
        left = k->left_shift == ASSAY_LEFT_WRAP && r->shift[c] < first;
    return left || k->product_bits > 0 ||
           (k->result_bits > 0 && k->result_overflow == ASSAY_NARROW_WRAP);
}

static bool refuses_values(const assay_rule_rescale *k)
{
    return (k->result_bits > 0 && k->result_overflow == ASSAY_NARROW_REFUSE) ||
           (k->sum_bits > 0 && k->sum_overflow == ASSAY_NARROW_REFUSE);
}

bool apply_rescale_can_refuse(const assay_rule_rescale *k)
{
    return refuses_values(k) || k->input_bits > 0 || k->input_shift_range;
}

bool apply_rescale_may_refuse(const assay_rescale *r, assay_interval x)
{
    if (!apply_rescale_can_refuse(r->rule))
        return false;
    bool refused = refuses_values(r->rule) && apply_rescale_wraps(r);
    for (size_t c = 0; c < r->n && !refused; c++)
        refused = !apply_rescale_accepts(r, x.lo, c) || !apply_rescale_accepts(r, x.hi, c);
    return refused;
}

static int64_t within(assay_int128 x, int64_t max)
{
    return (int64_t)(x > max ? max : x < -max ? -max : x);
}

assay_interval apply_rescale_reach(const assay_rescale *r, assay_interval x)
{
    const assay_int128 a = apply_rescale_value(r, x.lo, 0), b = apply_rescale_value(r, x.hi, 0);
    const int64_t max = INT64_C(1) << 62;
    if (apply_rescale_wraps(r))
        return (assay_interval){-max, max};
    return (assay_interval){within(a < b ? a : b, max), within(a < b ? b : a, max)};
}

typedef void (*row_fn)(const assay_rescale *r, const int64_t *acc, size_t n, size_t channel,
                       int32_t *out);

/* Whether `scaled` holds r's operands; *min: the least shift, or 0. */
static bool fits_64(const assay_rescale *r, int64_t *min)
{
    const int64_t widest = INT64_C(1) << 31;
    *min = 0;
    for (size_t c = 0; c < r->n; c++) {
        *min = r->shift[c] < *min ? r->shift[c] : *min;
        if (r->pre && (r->pre[c] < 0 || r->pre[c] > 62 || r->shift[c] < 0))
            return false;
        if (r->multiplier[c] > widest || r->multiplier[c] < -widest)
            return false;
    }
    return r->in_zero == 0 && !(apply_zero_is_before(r) && r->zero_point != 0);
}

/* Rules with a shift before the product. */
static row_fn pre_shift_row(const assay_rule_rescale *k)
{
    if (k->round.n != 1 || k->round.step[0].mode != ASSAY_ROUND_HALF_UP)
        return NULL;
    if (k->product_bits == 32 && k->operand_bits == 0 && k->pre_shift_round == ASSAY_ROUND_FLOOR)
        return row_glow;
    return k->product_bits == 0 && k->operand_bits == 16 &&
                   k->pre_shift_round == ASSAY_ROUND_HALF_UP
               ? row_to16
               : NULL;
}

/* The 64-bit row for a rule of one or two common roundings, or NULL. */
static row_fn common_row(const assay_rescale *r)
{
    static const row_fn one[] = {ASSAY_ROUNDINGS(ROW_ENTRY)};
    const assay_rule_rescale *k = r->rule;
    const assay_steps *list = &k->round;
    int64_t min;
    if (r->untold || !fits_64(r, &min))
        return NULL;
    if (r->pre)
        return pre_shift_row(k);
    if (k->product_bits > 0 || k->operand_bits > 0)
        return NULL;
    if (list->n == 2 && list->step[0].bits == 31 && list->step[0].mode == ASSAY_ROUND_HALF_UP &&
        list->step[1].mode == ASSAY_ROUND_HALF_AWAY) {
        if (k->left_shift == ASSAY_LEFT_PRODUCT)
            return min >= 0 ? row_double_plain : NULL;
        return k->left_shift == ASSAY_LEFT_WRAP ? row_double : row_double_saturating;
    }
    assert(list->n != 1 || (unsigned)list->step[0].mode < ASSAY_ROUND_COUNT);
    return list->n == 1 && min >= 0 ? one[list->step[0].mode] : NULL;
}

void apply_rescale_choose(assay_rescale *r)
{
    r->row = r->rule->encoding == ASSAY_ENCODE_THRESHOLDS ? row_thresholds
             : is_float(r)                                ? apply_rescale_row_float
                                                          : common_row(r);
    if (!r->row)
        r->row = row_any;
}
