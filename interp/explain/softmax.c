/* Steps of softmax and log softmax: the distance from the row's greatest code, its exponential, the
 * sum of the row's, and what is made of the two. Formulas: schemes/apply/softmax.c,
 * softmax_table.c. */
#include "interp/explain/forms.h"

#include <inttypes.h>
#include <math.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/fixedpoint.h"
#include "schemes/apply/row.h"
#include "schemes/apply/softfloat.h"

enum { DIFF_BITS = 5, SUM_BITS = 12, LOG_BITS = 4 }; /* integer bits */

static double fixed(int64_t raw, int integer_bits)
{
    return ldexp((double)raw, integer_bits - 31);
}

/* ---- fixed point ---- */

static int32_t sum_fixed(const assay_unit *u, const explain_seen *s, int32_t max)
{
    int32_t sum = 0;
    for (size_t i = 0; i < s->n_row; i++)
        if (s->row[i] - max >= u->k[0])
            sum = apply_wrap32((int64_t)sum +
                               apply_rdbp(apply_softmax_exponential(u, s->row[i] - max), SUM_BITS));
    return sum;
}

static void say_fixed_sum(explain_trace *t, int32_t sum)
{
    explain_say(t, "sum of exponentials", "%" PRId32 " / 2^%d = %.9g", sum, 31 - SUM_BITS,
                fixed(sum, SUM_BITS));
}

static bool say_fixed(explain_trace *t, const assay_unit *u, const explain_seen *s, int32_t max)
{
    const int64_t lo = u->scale[ASSAY_OUT].lo;
    const int32_t d = s->row[s->at] - max, sum = sum_fixed(u, s, max);
    int over_unit = 0;
    say_fixed_sum(t, sum);
    if (d < u->k[0]) {
        explain_say(t, "too far below", "the least distance that counts is %" PRId64, u->k[0]);
        return explain_say_store(t, u, lo, s);
    }
    const int32_t inverse = sum > 0 ? apply_fixed_reciprocal(sum, SUM_BITS, &over_unit) : 0;
    const int32_t e = apply_softmax_exponential(u, d), v = apply_srdhm(inverse, e);
    explain_say(t, "exponential", "%" PRId32 " / 2^31 = %.9g", e, fixed(e, 0));
    explain_say(t, "reciprocal of the sum", "%" PRId32 " / 2^31 / 2^%d = %.9g", inverse, over_unit,
                ldexp(fixed(inverse, 0), -over_unit));
    explain_say(t, "product", "%" PRId32 " * %" PRId32 " / 2^31 -> %" PRId32 ", half-up", inverse,
                e, v);
    const int64_t to =
        explain_say_shift(t, "rounding 1", v, (unsigned)(over_unit + u->k[1]), u->last);
    explain_say(t, "plus least code", "%" PRId64 " + %" PRId64 " = %" PRId64, to, lo, to + lo);
    return explain_say_store(t, u, to + lo, s);
}

static bool say_log(explain_trace *t, const assay_unit *u, const explain_seen *s, int32_t max)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    const int32_t d = s->row[s->at] - max, sum = sum_fixed(u, s, max);
    const int32_t log = apply_fixed_log(sum, SUM_BITS, DIFF_BITS);
    int64_t least = apply_saturate128(
        apply_rescale_value(&u->scale[ASSAY_SECOND], (int64_t)log + INT32_MIN, 0), 64);
    least = least > u->k[0] - 1 ? least : u->k[0] - 1;
    say_fixed_sum(t, sum);
    explain_say(t, "logarithm of the sum", "%" PRId32 " / 2^%d = %.9g", log, 31 - DIFF_BITS,
                fixed(log, DIFF_BITS));
    if (d <= least) {
        explain_say(t, "too far below", "%" PRId64 " or less is the least code", least);
        return explain_say_store(t, u, o->lo, s);
    }
    const int64_t scaled = (int64_t)apply_rescale_value(&u->scale[ASSAY_FIRST], d, 0);
    explain_say(t, "distance rescaled", "%" PRId64 " / 2^%d = %.9g", scaled, 31 - DIFF_BITS,
                fixed(scaled, DIFF_BITS));
    explain_say(t, "minus the logarithm", "%" PRId32, apply_wrap32(scaled - log));
    const int64_t to = explain_say_shift(t, "rounding 1", apply_wrap32(scaled - log),
                                         31 - DIFF_BITS - LOG_BITS, u->last);
    explain_say(t, "plus greatest code", "%" PRId64 " + %" PRId64 " = %" PRId64, to, o->hi,
                to + o->hi);
    return explain_say_store(t, u, to + o->hi, s);
}

/* ---- tables ---- */

static uint32_t say_float_row(explain_trace *t, const assay_unit *u, const explain_seen *s,
                              int32_t max, uint32_t *e)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < s->n_row; i++)
        sum = apply_f32_add(sum, (uint32_t)u->table[max - s->row[i]]);
    *e = (uint32_t)u->table[max - s->row[s->at]];
    explain_say(t, "exponential", "table entry %d: %.9g (0x%08" PRIx32 ")", max - s->row[s->at],
                explain_real(*e), *e);
    explain_say(t, "sum of exponentials", "%.9g (0x%08" PRIx32 "), float32, in their order",
                explain_real(sum), sum);
    return sum;
}

static bool say_rounded(explain_trace *t, const assay_unit *u, const explain_seen *s, uint32_t f,
                        int64_t v)
{
    explain_say(t, "rounded", "%.9g (0x%08" PRIx32 ") -> %" PRId64 ", %s", explain_real(f), f, v,
                assay_rounding_name(u->last));
    return explain_say_end(t, u, v, s);
}

static bool say_float_table(explain_trace *t, const assay_unit *u, const explain_seen *s,
                            int32_t max)
{
    uint32_t e;
    const uint32_t sum = say_float_row(t, u, s, max, &e);
    const uint32_t scaled = apply_f32_mul(sum, (uint32_t)u->k[0]);
    const uint32_t inverse = apply_f32_div(0x3f800000, scaled), f = apply_f32_mul(e, inverse);
    explain_say(t, "reciprocal of the sum", "1 / (%.9g * %.9g) = %.9g (0x%08" PRIx32 ")",
                explain_real(sum), explain_real((uint32_t)u->k[0]), explain_real(inverse), inverse);
    return say_rounded(t, u, s, f, apply_f32_to_int(f, u->last, INT32_MIN, INT32_MAX, 0));
}

static bool say_float_sum(explain_trace *t, const assay_unit *u, const explain_seen *s, int32_t max)
{
    const int64_t beyond = INT64_C(1) << 31;
    uint32_t e;
    const uint32_t sum = say_float_row(t, u, s, max, &e);
    const uint32_t scaled = apply_f32_mul(e, (uint32_t)u->k[0]), f = apply_f32_div(scaled, sum);
    const int64_t v = apply_f32_to_int(f, u->last, INT32_MIN, beyond, beyond);
    explain_say(t, "exponential scaled", "%.9g * %.9g = %.9g (0x%08" PRIx32 ")", explain_real(e),
                explain_real((uint32_t)u->k[0]), explain_real(scaled), scaled);
    return v != beyond && say_rounded(t, u, s, f, v);
}

/* 16 bits: 513 entries of e^x on [-10, 0], 513 of 1 / (1 + x) on [0, 1]. */
static bool say_lut16(explain_trace *t, const assay_unit *u, const explain_seen *s, int32_t max)
{
    int32_t sum = 0, own = 0;
    for (size_t i = 0; i < s->n_row; i++) {
        const assay_int128 d =
            apply_rescale_value(&u->scale[ASSAY_FIRST], (int64_t)s->row[i] - max, 0) + INT16_MAX;
        const int32_t at = (int32_t)apply_saturate128(d, 16);
        const int32_t e = apply_softmax_lookup(u->table, at);
        sum = apply_wrap32((int64_t)sum + e);
        if (i == s->at) {
            own = e;
            explain_say(t, "distance rescaled", "+ %d = %" PRId32 ", held in 16 bits", INT16_MAX,
                        at);
            explain_say(t, "exponential", "between entries %d and %d: %" PRId32, 256 + (at >> 7),
                        257 + (at >> 7), e);
        }
    }
    const unsigned left = (unsigned)apply_clamp_to(apply_clz32((uint32_t)sum), 1, 31);
    explain_say(t, "sum of exponentials", "%" PRId32 ", %u leading zeros", sum, left);
    const int64_t scaled = explain_say_shift(t, "sum in 17 bits", sum * (INT64_C(1) << (left - 1)),
                                             14, ASSAY_ROUND_HALF_UP);
    const int64_t inverse =
        apply_softmax_lookup(u->list[0], apply_saturate(scaled - 3 * 32768, 16));
    explain_say(t, "reciprocal of the sum", "at %" PRId64 " - 98304: %" PRId64, scaled, inverse);
    explain_say(t, "product", "%" PRId32 " * %" PRId64 " = %" PRId64, own, inverse, own * inverse);
    const int64_t v = explain_say_shift(t, "rounding 1", own * inverse, 31 - left, u->last);
    return explain_say_store(t, u, v < 0 ? 0 : v, s);
}

static int64_t say_integer_row(explain_trace *t, const assay_unit *u, const explain_seen *s,
                               int32_t max)
{
    int64_t sum = 0;
    for (size_t i = 0; i < s->n_row; i++)
        sum += u->table[max - s->row[i]];
    explain_say(t, "exponential", "table entry %d: %" PRId64, max - s->row[s->at],
                u->table[max - s->row[s->at]]);
    explain_say(t, "sum of exponentials", "%" PRId64, sum);
    return sum;
}

static bool say_integer_table(explain_trace *t, const assay_unit *u, const explain_seen *s,
                              int32_t max)
{
    const int64_t lo = u->scale[ASSAY_OUT].lo, sum = say_integer_row(t, u, s, max);
    const int64_t v =
        explain_say_quotient(t, u->table[max - s->row[s->at]] * 256, sum, u->last) + lo;
    explain_say(t, "plus least code", "+ %" PRId64 " = %" PRId64, lo, v);
    return explain_say_store(t, u, v, s);
}

static bool say_q31(explain_trace *t, const assay_unit *u, const explain_seen *s, int32_t max)
{
    const int64_t sum = say_integer_row(t, u, s, max);
    const int64_t v = explain_say_shift(t, "rounding 1", u->table[max - s->row[s->at]] * u->k[0],
                                        16, ASSAY_ROUND_HALF_AWAY);
    return explain_say_end(t, u, explain_say_quotient(t, v, sum, u->last), s);
}

bool explain_softmax_form(explain_trace *t, const assay_unit *u, const explain_seen *s)
{
    static const struct {
        assay_unary_row *row;
        bool (*say)(explain_trace *, const assay_unit *, const explain_seen *, int32_t);
    } forms[] = {
        {apply_softmax_fixed, say_fixed},
        {apply_log_softmax, say_log},
        {apply_softmax_lut16, say_lut16},
        {apply_softmax_float_table, say_float_table},
        {apply_softmax_float_sum, say_float_sum},
        {apply_softmax_integer_table, say_integer_table},
        {apply_softmax_q31, say_q31},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms && s->n_row > 0; i++)
        if (u->row == forms[i].row) {
            const int32_t max = apply_greatest(s->row, s->n_row);
            explain_say(t, "distance", "%d - %d (the greatest of the row) = %d", s->row[s->at], max,
                        s->row[s->at] - max);
            return forms[i].say(t, u, s, max);
        }
    return false;
}
