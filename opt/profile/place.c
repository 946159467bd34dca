/* Numbers counted in histograms: a chunk placed in bins, by the row and for both resolutions. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "opt/profile/state.h"

const assay_profile_rows *profile_rows_best(void)
{
#ifdef ASSAY_X86
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni"))
        return &profile_rows_avx512;
    if (__builtin_cpu_supports("avx2"))
        return &profile_rows_avx2;
#endif
    return &profile_rows_any;
}

/* Adds a row of counts, in bins of `fine`, which are as wide as h's or a part of them. */
static void add_row(assay_histogram *h, const assay_histogram *fine, const uint16_t *row)
{
    const int by = h->exponent - fine->exponent < 31 ? h->exponent - fine->exponent : 31;
    int first, end;
    profile_histogram_extent(fine, &first, &end);
    for (int i = first; i < end; i++)
        *profile_histogram_at(h, i >> by) += row[(unsigned)i % ASSAY_HISTOGRAM_BINS];
    for (int i = ASSAY_HISTOGRAM_BINS; i < ASSAY_PROFILE_ROW; i++)
        h->count[0] += row[i];
}

static void add_table(const assay_profile_pair *p, uint16_t *table)
{
    if (!p->y) {
        add_row(p->x, p->x, table);
        memset(table, 0, ASSAY_PROFILE_ROW * sizeof *table);
        return;
    }
    if (p->x->exponent >= p->y->exponent) { /* else no element was in [lo, hi] */
        add_row(p->y, p->y, table);
        add_row(p->x, p->y, table);
    }
    add_row(p->x, p->x, table + ASSAY_PROFILE_ROW);
    memset(table, 0, ASSAY_PROFILE_TABLE * sizeof *table);
}

void profile_add(const assay_profile_pair *p, assay_profile_counts *counts)
{
    if (counts->max == 0)
        return;
    add_table(p, counts->table);
    if (counts->below > 0)
        *profile_histogram_at(p->y, profile_histogram_bin(p->y, (double)p->lo)) += counts->below;
    if (counts->above > 0)
        *profile_histogram_at(p->y, profile_histogram_bin(p->y, (double)p->hi)) += counts->above;
    counts->max = counts->below = counts->above = 0;
}

void profile_add_full(const assay_profile_pair *p, assay_profile_counts *counts, size_t n)
{
    if (counts->max + n <= UINT16_MAX)
        return;
    counts->max = profile_rows_best()->greatest(counts->table);
    if (counts->max > UINT16_MAX / 2)
        profile_add(p, counts);
}

static float clamp(float x, float lo, float hi)
{
    x = x < lo ? lo : x;
    return x > hi ? hi : x;
}

/* 2^exponent, or infinity. */
static int32_t power_bits(int exponent)
{
    return (exponent < 128 ? exponent + 127 : 255) << 23;
}

static void set_bins(assay_profile_split *s, int which, const assay_histogram *h)
{
    const int32_t scale = power_bits(-h->exponent);
    memcpy(&s->scale[which], &scale, sizeof scale);
    s->limit[which] = power_bits(h->exponent + 24) - 1;
}

bool profile_place(const assay_profile_pair *p, const float *x, size_t n,
                   assay_profile_counts *counts, uint16_t *at)
{
    assay_profile_split s = {.lo = p->lo, .hi = p->hi};
    set_bins(&s, 0, p->y ? p->y : p->x);
    set_bins(&s, 1, p->x);
    if (!profile_rows_best()->places(x, n, &s, at) ||
        !profile_histogram_holds(p->x, s.least, s.greatest))
        return false;
    if (p->y) {
        const float lo = clamp(s.least, p->lo, p->hi), hi = clamp(s.greatest, p->lo, p->hi);
        if (!profile_histogram_holds(p->y, lo, hi) ||
            (p->y->exponent > p->x->exponent && n > s.below + s.above))
            return false;
        profile_histogram_note(p->y, n, lo, hi);
    }
    profile_histogram_note(p->x, n, s.least, s.greatest);
    counts->below += s.below;
    counts->above += s.above;
    return true;
}

/* The least and the greatest element; false when not all are finite. */
static bool range_of(const float *x, size_t n, float *least, float *greatest)
{
    float lo = FLT_MAX, hi = -FLT_MAX;
    int infinite = 0;
    for (size_t i = 0; i < n; i++) {
        infinite |= !isfinite(x[i]);
        lo = x[i] < lo ? x[i] : lo;
        hi = x[i] > hi ? x[i] : hi;
    }
    *least = lo;
    *greatest = hi;
    return !infinite;
}

/* Counts at most ASSAY_PROFILE_CHUNK elements in h at once, which has all of its counts. */
static void count_directly(assay_histogram *h, const float *x, size_t n)
{
    const assay_profile_pair alone = {h, NULL, -INFINITY, INFINITY};
    assay_profile_counts none;
    float kept[ASSAY_PROFILE_CHUNK], lo, hi;
    uint16_t at[ASSAY_PROFILE_CHUNK];
    size_t finite = 0;

    for (size_t i = 0; i < n; i++) {
        h->nan += isnan(x[i]) ? 1 : 0;
        h->inf += isinf(x[i]) ? 1 : 0;
        if (isfinite(x[i]))
            kept[finite++] = x[i];
    }
    if (finite == 0)
        return;
    range_of(kept, finite, &lo, &hi);
    profile_histogram_grow(h, lo, hi);
    none.below = none.above = 0;
    profile_place(&alone, kept, finite, &none, at);
    for (size_t i = 0; i < finite; i++)
        h->count[at[i] < ASSAY_HISTOGRAM_BINS ? at[i] : 0]++;
}

bool profile_place_anew(const assay_profile_pair *p, const float *x, size_t n,
                        assay_profile_counts *counts, uint16_t *at)
{
    float lo, hi, y[ASSAY_PROFILE_CHUNK];
    if (range_of(x, n, &lo, &hi)) {
        profile_histogram_grow(p->x, lo, hi);
        if (p->y)
            profile_histogram_grow(p->y, clamp(lo, p->lo, p->hi), clamp(hi, p->lo, p->hi));
        if (profile_place(p, x, n, counts, at))
            return true;
    }
    count_directly(p->x, x, n);
    for (size_t i = 0; i < n; i++)
        y[i] = clamp(x[i], p->lo, p->hi);
    if (p->y)
        count_directly(p->y, y, n);
    return false;
}
