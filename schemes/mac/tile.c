/* Sums of 16 columns at a time, for units whose step is one aligned or exact sum; see tile.h. */
#include "schemes/mac/tile_sums.h"

#include <string.h>

enum {
    COLUMNS = MAC_TILE,
    GROUPS = 8,
    WHOLE = 1024, /* products of int8mx, each 4 at most, whose sum is 2^12 at most */
    LEAST = -126, /* least exponent of an element */
    NOTHING = MAC_TILE_NOTHING
};

/* ---- units computed here ---- */

/* Formats of 8 bits or fewer; ue4m3, which lies between them in the list, is never an element's. */
static bool is_small(int64_t format)
{
    return (format >= ASSAY_MAC_E5M2 && format <= ASSAY_MAC_E2M1) || format == ASSAY_MAC_INT8MX;
}

bool mac_tile_is_wide(const assay_mac *m)
{
    return mac_format_is_wide(m->a);
}

/* The steps are aligned sums, one after the other. */
static bool is_one_chain(const assay_mac *m)
{
    return m->order == 0 && m->k_order == ASSAY_MAC_ASCENDING && m->chains == 1 &&
           m->start == ASSAY_MAC_START_ACC && m->phases == 1 && m->sum == ASSAY_MAC_ALIGNED &&
           m->promote == 0 && m->split_k == 1;
}

/* A step is one aligned sum of its products and the running value. */
static bool is_one_sum(const assay_mac *m)
{
    return is_one_chain(m) && m->lanes == 1 && m->accumulator == ASSAY_MAC_ACC_JOINED;
}

static bool is_plain(const assay_mac *m)
{
    return m->flush_in == ASSAY_MAC_FLUSH_NONE && m->flush_acc == ASSAY_MAC_FLUSH_NONE &&
           m->a_digits == ASSAY_MAC_NONE && m->b_digits == ASSAY_MAC_NONE &&
           m->product_round == ASSAY_MAC_NONE && m->flush_out == ASSAY_MAC_TINY_NONE &&
           m->zero_sign != ASSAY_MAC_ZERO_IEEE;
}

/* Groups of fp4 products with scales, whose terms fit sums of 53 bits. A group divides a step and a
 * block of scales; anything else is a contradiction. */
static bool has_exact_groups(const assay_mac *m)
{
    return m->exact_group > 1 && m->a == ASSAY_MAC_E2M1 && m->b == ASSAY_MAC_E2M1 &&
           m->group / m->exact_group <= GROUPS && m->exact_group <= 32 && m->scale_block > 0 &&
           m->align_bits <= 36;
}

static bool is_integers(const assay_mac *m)
{
    return m->a == ASSAY_MAC_INT8MX && m->b == ASSAY_MAC_INT8MX && m->out == ASSAY_MAC_F32 &&
           m->align_bits == ASSAY_MAC_NONE && m->out_frac == 0;
}

/* Exact sums of int8mx, multiples of 2^-12: up to 2^12 f32 represents each of them, so that neither
 * order nor rounding matters. */
static bool is_whole(const assay_mac *m)
{
    return is_integers(m) && m->scale_block == 0 && m->a_digits == ASSAY_MAC_NONE &&
           m->b_digits == ASSAY_MAC_NONE && m->product_limit == ASSAY_MAC_NONE &&
           m->zero_sign != ASSAY_MAC_ZERO_IEEE;
}

/* Steps that add such a sum, with scales that are powers of two, to the running value in one
 * rounding, as an IEEE addition does. */
static bool is_scaled_whole(const assay_mac *m)
{
    return is_integers(m) && m->scale == ASSAY_MAC_E8M0 && m->group > 0 && m->group <= WHOLE &&
           m->scale_block > 0 && m->scale_block % m->group == 0 && is_one_sum(m) && is_plain(m) &&
           m->product_limit == ASSAY_MAC_NONE && m->out_round == ASSAY_ROUND_HALF_EVEN;
}

static bool are_elements(const assay_mac *m)
{
    return (is_small(m->a) && is_small(m->b)) ||
           (mac_format_is_wide(m->a) && mac_format_is_wide(m->b) && m->scale_block == 0);
}

static bool has_short_steps(const assay_mac *m)
{
    return m->out != ASSAY_MAC_F64 && m->group > 0 && m->group <= 64;
}

/* A step's sum and the running value, each cut once more and added; both stay below 2^52. The zeros
 * that fill up the last step have no greater exponent than any other product. */
bool mac_tile_is_aside(const assay_mac *m)
{
    return m->accumulator == ASSAY_MAC_ACC_ALIGNED && is_one_chain(m) && is_plain(m) &&
           has_short_steps(m) && are_elements(m) && m->scale_block == 0 && m->exact_group == 1 &&
           m->lanes <= MAC_TILE_LANES && m->align_cut == ASSAY_ROUND_TRUNC && m->align_bits <= 25 &&
           m->sum_align_bits <= 40 && m->acc_align_bits <= m->sum_align_bits &&
           m->sum_cut == ASSAY_ROUND_FLOOR &&
           (m->zero_exponent == ASSAY_MAC_NONE || m->zero_exponent <= LEAST);
}

/* For records without contradictions: scales inside a term are not f32, and a group divides an
 * instruction. */
bool mac_tile_takes(const assay_mac *m)
{
    const bool scales = m->scale_block == 0 || (m->scale == ASSAY_MAC_E8M0 && m->group > 0 &&
                                                m->scale_block % m->group == 0);
    if (is_whole(m) || is_scaled_whole(m) || mac_tile_is_aside(m))
        return true;
    return are_elements(m) && has_short_steps(m) && is_one_sum(m) && is_plain(m) &&
           m->align_cut == ASSAY_ROUND_TRUNC && m->product_limit == ASSAY_MAC_NONE &&
           m->align_bits != ASSAY_MAC_NONE &&
           (has_exact_groups(m) || (m->exact_group == 1 && m->zero_exponent == ASSAY_MAC_NONE &&
                                    scales && m->align_bits <= 25));
}

/* ---- one step of 16 columns ---- */

/* The running value, cut to multiples of 2^grid, which lies at most align_bits below its unit; a
 * zero's unit is NOTHING. */
static int64_t cut(int32_t digits, int32_t unit, int32_t grid)
{
    const int32_t up = unit - 23 - grid, drop = -up > 31 ? 31 : -up;
    const int64_t magnitude = digits < 0 ? -(int64_t)digits : digits;
    const int64_t kept = up >= 0 ? magnitude << up : magnitude >> drop;
    return digits < 0 ? -kept : kept;
}

static void step(const mac_tile *t, const float *a, const int32_t *units, int32_t a_scale,
                 size_t first, size_t n, mac_running *r)
{
    const assay_mac *m = t->unit;
    const int32_t least = m->least_max == ASSAY_MAC_NONE ? NOTHING : (int32_t)m->least_max;
    const mac_rounder how = mac_rounder_of(m, m->out_round, m->out_frac);
    int32_t top[COLUMNS], shift[COLUMNS] = {0};
    int64_t sum[COLUMNS];
    const mac_tile_terms terms = {a, units, first, n, 1};
    mac_tile_greatest(t, &terms, top);
    for (int j = 0; j < COLUMNS; j++) {
        if (t->scale)
            shift[j] = a_scale + t->scale[first / (size_t)t->b_run * COLUMNS + (size_t)j] - 254;
        top[j] = top[j] > NOTHING / 2 ? top[j] + shift[j] : NOTHING;
        top[j] = top[j] > r->unit[j] ? top[j] : r->unit[j];
        top[j] = top[j] > least ? top[j] : least;
        const int32_t grid = top[j] - (int32_t)m->align_bits;
        sum[j] = cut(r->digits[j], r->unit[j], grid);
    }
    mac_tile_sum(t, &terms, top, shift, sum);
    for (int j = 0; j < COLUMNS; j++)
        mac_tile_store(&how, r, j, sum[j], top[j] - (int32_t)m->align_bits);
}

/* ---- exact groups ---- */

/* A step's terms: digits * 2^(unit - below). */
typedef struct terms {
    size_t n;
    int32_t digits[GROUPS][COLUMNS], unit[GROUPS][COLUMNS];
    int32_t below;
} terms;

/* Sums of at most 32 products of fp4, multiples of 1/4, times both scales. */
static void group_terms(const mac_tile *t, const float *a, const int32_t *a_scale, size_t first,
                        size_t n, terms *s, mac_running *r)
{
    const size_t group = (size_t)t->unit->exact_group;
    s->below = 2 + (t->unit->scale == ASSAY_MAC_E8M0 ? 0 : 6);
    s->n = 0;
    for (size_t at = 0; at < n; at += group, s->n++) {
        const float *b = t->value + (first + at) * COLUMNS;
        const uint8_t *scale = t->scale + (first + at) / (size_t)t->b_run * COLUMNS;
        const mac_tile_scale own = t->scales[a_scale[(first + at) / (size_t)t->a_run] & 0xff];
        float sum[COLUMNS] = {0};
        for (size_t k = 0; k < group && at + k < n; k++)
            for (int j = 0; j < COLUMNS; j++)
                sum[j] += a[at + k] * b[k * COLUMNS + (size_t)j];
        for (int j = 0; j < COLUMNS; j++) {
            const mac_tile_scale other = t->scales[scale[j]];
            s->digits[s->n][j] = (int32_t)(sum[j] * 4) * own.digits * other.digits;
            s->unit[s->n][j] = own.unit + other.unit;
            r->odd[j] = r->odd[j] || own.digits == 0 || other.digits == 0;
        }
    }
}

/* digits * 2^up, rounded toward zero; of a term that is not 0, so that up is at most align_bits. */
static int64_t moved(int32_t digits, int32_t up)
{
    const int64_t magnitude = digits < 0 ? -(int64_t)digits : digits;
    const int64_t kept = up >= 0 ? magnitude << up : magnitude >> (-up < 62 ? -up : 62);
    return digits < 0 ? -kept : kept;
}

static void exact_step(const mac_tile *t, const float *a, const int32_t *a_scale, size_t first,
                       size_t n, mac_running *r)
{
    const assay_mac *m = t->unit;
    const bool zeros = m->zero_exponent != ASSAY_MAC_NONE;
    const int32_t least = m->least_max == ASSAY_MAC_NONE ? NOTHING : (int32_t)m->least_max;
    const mac_rounder how = mac_rounder_of(m, m->out_round, m->out_frac);
    terms s;
    group_terms(t, a, a_scale, first, n, &s, r);
    for (int j = 0; j < COLUMNS; j++) {
        int32_t top = r->digits[j] == 0 && zeros ? (int32_t)m->zero_exponent : r->unit[j];
        for (size_t g = 0; g < s.n; g++)
            if ((zeros || s.digits[g][j] != 0) && s.unit[g][j] > top)
                top = s.unit[g][j];
        top = top > least ? top : least;
        const int32_t grid = top - (int32_t)m->align_bits;
        int64_t sum = cut(r->digits[j], r->unit[j], grid);
        for (size_t g = 0; g < s.n; g++)
            sum += s.digits[g][j] == 0 ? 0 : moved(s.digits[g][j], s.unit[g][j] - s.below - grid);
        mac_tile_store(&how, r, j, sum, grid);
    }
}

/* ---- whole sums ---- */

/* A step's sum with its scales is an f32 as it stands; where its exponent, or the result's, is not
 * that of a normal number, the column is odd. */
static void scaled_step(const mac_tile *t, const float *a, int32_t a_scale, size_t first, size_t n,
                        float y[COLUMNS], mac_running *r)
{
    const float *b = t->value + first * COLUMNS;
    const uint8_t *scale = t->scale + first / (size_t)t->b_run * COLUMNS;
    float sum[COLUMNS] = {0};
    for (size_t k = 0; k < n; k++)
        for (int j = 0; j < COLUMNS; j++)
            sum[j] += a[k] * b[k * COLUMNS + (size_t)j];
    for (int j = 0; j < COLUMNS; j++) {
        const int32_t up = a_scale + scale[j] - 254;
        r->odd[j] = r->odd[j] || up < -110 || up > 110;
        y[j] += sum[j] * mac_power_of_two(up);
    }
}

static void scaled_run(const mac_tile *t, const float *a, const int32_t *a_scale, size_t first,
                       size_t last, mac_running *r)
{
    const size_t group = (size_t)t->unit->group;
    float y[COLUMNS] = {0};
    for (size_t i = first; i < last; i += group)
        scaled_step(t, a + i, a_scale[i / (size_t)t->a_run], i, last - i < group ? last - i : group,
                    y, r);
    for (int j = 0; j < COLUMNS; j++) {
        uint32_t bits;
        memcpy(&bits, &y[j], sizeof bits);
        const int32_t field = (int32_t)(bits >> 23 & 0xff),
                      digits = (int32_t)(bits & 0x7fffff) | 0x800000;
        r->odd[j] = r->odd[j] || (y[j] != 0 && field == 0) || field == 0xff;
        r->digits[j] = y[j] == 0 ? 0 : bits >> 31 ? -digits : digits;
        r->unit[j] = field - 127;
    }
}

static void whole_run(const mac_tile *t, const float *a, size_t first, size_t last, mac_running *r)
{
    const mac_rounder all = mac_rounder_of(t->unit, ASSAY_ROUND_TRUNC, 0);
    float sum[COLUMNS] = {0}, reach[COLUMNS] = {0};
    for (size_t i = first; i < last; i++)
        for (int j = 0; j < COLUMNS; j++)
            sum[j] += a[i] * t->value[i * COLUMNS + (size_t)j];
    for (size_t i = first; i < last && last - first > WHOLE; i++)
        for (int j = 0; j < COLUMNS; j++) {
            const float p = a[i] * t->value[i * COLUMNS + (size_t)j];
            reach[j] += p < 0 ? -p : p;
        }
    for (int j = 0; j < COLUMNS; j++) {
        r->odd[j] = r->odd[j] || reach[j] > 4096;
        mac_tile_store(&all, r, j, (int64_t)(sum[j] * 4096), -12);
    }
}

uint32_t mac_tile_pattern(const mac_running *r, int j)
{
    const int32_t d = r->digits[j];
    const uint32_t magnitude = (uint32_t)(d < 0 ? -d : d);
    if (r->infinite[j] != 0)
        return r->infinite[j] < 0 ? 0xff800000u : 0x7f800000u;
    return d == 0 ? 0
                  : (d < 0 ? 0x80000000u : 0) | ((uint32_t)(r->unit[j] + 127) << 23) |
                        (magnitude & 0x7fffff);
}

void mac_tile_run(const mac_tile *t, const float *a, const int32_t *exponent,
                  const int32_t *a_scale, size_t first, size_t last, mac_running *r)
{
    const size_t group = (size_t)t->unit->group;
    memset(r->infinite, 0, sizeof r->infinite);
    if (is_whole(t->unit)) {
        whole_run(t, a, first, last, r);
        return;
    }
    if (is_scaled_whole(t->unit)) {
        scaled_run(t, a, a_scale, first, last, r);
        return;
    }
    for (int j = 0; j < COLUMNS; j++) {
        r->digits[j] = 0;
        r->unit[j] = NOTHING;
    }
    if (mac_tile_is_aside(t->unit)) {
        mac_tile_run_aside(t, a, exponent, first, last, r);
        return;
    }
    for (size_t i = first; i < last && t->unit->exact_group > 1; i += group)
        exact_step(t, a + i, a_scale, i, last - i < group ? last - i : group, r);
    for (size_t i = first; i < last && t->unit->exact_group == 1; i += group)
        step(t, a + i, exponent + i, t->scale ? a_scale[i / (size_t)t->a_run] : 0, i,
             last - i < group ? last - i : group, r);
}

/* ---- elements and scales ---- */

void mac_tile_scales(const assay_mac *m, mac_tile_scale table[256])
{
    for (uint32_t i = 0; i < 256; i++) {
        const assay_mac_value v = mac_decode((enum assay_mac_format)m->scale, i);
        table[i] =
            (mac_tile_scale){v.kind == ASSAY_MAC_NUMBER ? (int32_t)v.significand : 0, v.unit};
    }
}

mac_element mac_tile_element(const assay_mac *m, int64_t format, uint32_t pattern)
{
    const int32_t of_zero =
        m->zero_exponent == ASSAY_MAC_NONE ? NOTHING : (int32_t)m->zero_exponent;
    const assay_mac_value v = mac_decode((enum assay_mac_format)format, pattern);
    const int32_t exponent = mac_format_is_wide(format) ? v.exponent - v.unit : v.exponent;
    const float magnitude = (float)v.significand * mac_power_of_two(exponent);
    return (mac_element){v.negative ? -magnitude : magnitude, v.significand > 0 ? v.unit : of_zero,
                         v.kind != ASSAY_MAC_NUMBER};
}

void mac_tile_table(const assay_mac *m, int64_t format, mac_element table[256])
{
    for (uint32_t i = 0; i < 256; i++)
        table[i] = mac_tile_element(m, format, i);
}
