/* Sums of 16 columns at a time on a unit whose step is one aligned sum; tile.h has the terms. */
#include "schemes/mac/tile.h"

#include <string.h>

enum { COLUMNS = MAC_TILE, NOTHING = -20000 }; /* the exponent of a zero: below any other */

/* ---- which units ---- */

static bool is_small(int64_t format)
{
    return format >= ASSAY_MAC_E5M2 && format <= ASSAY_MAC_E2M1 && format != ASSAY_MAC_UE4M3;
}

/* A step is one aligned sum of its products and the running value, truncated. */
static bool is_one_sum(const assay_mac *m)
{
    return m->order == 0 && m->k_order == ASSAY_MAC_ASCENDING && m->chains == 1 &&
           m->start == ASSAY_MAC_START_ACC && m->phases == 1 && m->exact_group == 1 &&
           m->sum == ASSAY_MAC_ALIGNED && m->lanes == 1 && m->accumulator == ASSAY_MAC_ACC_JOINED &&
           m->promote == 0 && m->split_k == 1;
}

static bool is_plain(const assay_mac *m)
{
    return m->flush_in == ASSAY_MAC_FLUSH_NONE && m->flush_acc == ASSAY_MAC_FLUSH_NONE &&
           m->a_digits == ASSAY_MAC_NONE && m->b_digits == ASSAY_MAC_NONE &&
           m->product_limit == ASSAY_MAC_NONE && m->product_round == ASSAY_MAC_NONE &&
           m->zero_exponent == ASSAY_MAC_NONE && m->flush_out == ASSAY_MAC_TINY_NONE &&
           m->zero_sign == ASSAY_MAC_ZERO_SUM;
}

bool mac_tile_takes(const assay_mac *m)
{
    const bool truncates = m->align_cut == ASSAY_ROUND_TRUNC && m->out_round == ASSAY_ROUND_TRUNC;
    const bool scales =
        m->scale_block == 0 || (m->scale == ASSAY_MAC_E8M0 && m->scale_place == ASSAY_MAC_AT_TERM &&
                                m->scale_block % m->group == 0);
    return is_small(m->a) && is_small(m->b) && m->out == ASSAY_MAC_F32 && m->acc == ASSAY_MAC_F32 &&
           m->group > 0 && m->group <= 64 &&
           (m->instruction == 0 || m->instruction % m->group == 0) && is_one_sum(m) &&
           is_plain(m) && truncates && scales && m->align_bits != ASSAY_MAC_NONE &&
           m->align_bits <= 25;
}

/* ---- one step of 16 columns ---- */

static float power_of_two(int32_t n)
{
    const uint32_t bits = (uint32_t)((n < -126 ? -126 : n > 127 ? 127 : n) + 127) << 23;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* The running value cut to multiples of 2^grid. */
static int64_t cut(int32_t digits, int32_t unit, int32_t grid)
{
    const int32_t up = unit - 23 - grid, drop = -up > 31 ? 31 : -up;
    const int64_t magnitude = digits < 0 ? -(int64_t)digits : digits;
    const int64_t kept = up >= 0 ? magnitude << up : magnitude >> drop;
    return digits < 0 ? -kept : kept;
}

/* sum * 2^grid, its leading fraction_bits + 1 digits. */
static void store(mac_running *r, int j, int64_t sum, int32_t grid, int fraction_bits)
{
    const double exact = (double)sum; /* below 2^53 */
    uint64_t bits;
    memcpy(&bits, &exact, sizeof bits);
    if (sum == 0) {
        r->digits[j] = 0;
        r->unit[j] = NOTHING;
        return;
    }
    const int32_t unit = grid + (int32_t)(bits >> 52 & 0x7ff) - 1023;
    const int32_t top = (int32_t)(bits >> 29 & 0x7fffff) >> (23 - fraction_bits)
                                                                << (23 - fraction_bits);
    r->digits[j] = sum < 0 ? -(top | 0x800000) : top | 0x800000;
    r->unit[j] = unit;
    r->odd[j] = r->odd[j] || unit < -126 || unit > 127;
}

static void sum_terms(const mac_tile *t, const float *a, size_t first, size_t n,
                      const float factor[COLUMNS], int64_t sum[COLUMNS])
{
    const float *b = t->value + first * COLUMNS;
    const int64_t bits = t->unit->align_bits;
    if (bits <= 20) { /* at most 64 terms below 2^22 each */
        int32_t narrow[COLUMNS] = {0};
        for (size_t k = 0; k < n; k++)
            for (int j = 0; j < COLUMNS; j++)
                narrow[j] += (int32_t)(a[k] * b[k * COLUMNS + (size_t)j] * factor[j]);
        for (int j = 0; j < COLUMNS; j++)
            sum[j] += narrow[j];
        return;
    }
    for (size_t k = 0; k < n; k++)
        for (int j = 0; j < COLUMNS; j++)
            sum[j] += (int32_t)(a[k] * b[k * COLUMNS + (size_t)j] * factor[j]);
}

static void step(const mac_tile *t, const float *a, const int32_t *units, int32_t a_scale,
                 size_t first, size_t n, mac_running *r)
{
    const assay_mac *m = t->unit;
    const int32_t least = m->least_max == ASSAY_MAC_NONE ? NOTHING : (int32_t)m->least_max;
    const int fraction_bits = m->out_frac > 0 ? (int)m->out_frac : 23;
    const int32_t *b = t->exponent + first * COLUMNS;
    int32_t top[COLUMNS], shift[COLUMNS] = {0};
    float factor[COLUMNS];
    int64_t sum[COLUMNS];
    for (int j = 0; j < COLUMNS; j++)
        top[j] = NOTHING;
    for (size_t k = 0; k < n; k++)
        for (int j = 0; j < COLUMNS; j++) {
            const int32_t u = units[k] + b[k * COLUMNS + (size_t)j];
            top[j] = u > top[j] ? u : top[j];
        }
    for (int j = 0; j < COLUMNS; j++) {
        if (t->scale)
            shift[j] = a_scale + t->scale[first / (size_t)t->b_run * COLUMNS + (size_t)j] - 254;
        top[j] = top[j] > NOTHING / 2 ? top[j] + shift[j] : NOTHING;
        top[j] = top[j] > r->unit[j] ? top[j] : r->unit[j];
        top[j] = top[j] > least ? top[j] : least;
        const int32_t grid = top[j] - (int32_t)m->align_bits;
        factor[j] = power_of_two(shift[j] - grid);
        sum[j] = cut(r->digits[j], r->unit[j], grid);
    }
    sum_terms(t, a, first, n, factor, sum);
    for (int j = 0; j < COLUMNS; j++)
        store(r, j, sum[j], top[j] - (int32_t)m->align_bits, fraction_bits);
}

uint32_t mac_tile_pattern(const mac_running *r, int j)
{
    const int32_t d = r->digits[j];
    const uint32_t magnitude = (uint32_t)(d < 0 ? -d : d);
    return d == 0 ? 0
                  : (d < 0 ? 0x80000000u : 0) | ((uint32_t)(r->unit[j] + 127) << 23) |
                        (magnitude & 0x7fffff);
}

void mac_tile_run(const mac_tile *t, const float *a, const int32_t *exponent,
                  const int32_t *a_scale, size_t first, size_t last, mac_running *r)
{
    const size_t group = (size_t)t->unit->group;
    for (int j = 0; j < COLUMNS; j++) {
        r->digits[j] = 0;
        r->unit[j] = NOTHING;
    }
    for (size_t i = first; i < last; i += group)
        step(t, a + i, exponent + i, t->scale ? a_scale[i / (size_t)t->a_run] : 0, i,
             last - i < group ? last - i : group, r);
}

/* ---- elements ---- */

void mac_tile_table(int64_t format, mac_element table[256])
{
    for (uint32_t i = 0; i < 256; i++) {
        const assay_mac_value v = mac_decode((enum assay_mac_format)format, i);
        const float magnitude = (float)v.significand * power_of_two(v.exponent);
        table[i] = (mac_element){v.negative ? -magnitude : magnitude,
                                 v.significand > 0 ? v.unit : NOTHING, v.kind != ASSAY_MAC_NUMBER};
    }
}
