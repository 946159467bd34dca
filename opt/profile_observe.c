/* Counting elements. */
#include <math.h>
#include <string.h>

#include "opt/profile_state.h"

#define HALF  ASSAY_PROFILE_HALF /* bins on either side of zero: 2^12 */
#define CHUNK 1024

/* Least k with x in [-2^k, 2^k) for every x of [min, max]. */
static int range_exponent(float min, float max)
{
    int k = ASSAY_PROFILE_MIN_EXPONENT, e;
    if (max > 0) {
        frexpf(max, &e);
        k = e > k ? e : k;
    }
    if (min < 0) {
        float mantissa = frexpf(min, &e);
        e -= mantissa == -0.5f ? 1 : 0; /* -2^(e-1) itself is inside [-2^(e-1), ...) */
        k = e > k ? e : k;
    }
    return k;
}

int assay_profile_coarser_bin(int i, int grow)
{
    int from_zero = i - HALF;
    grow = grow > 13 ? 13 : grow; /* all bins of a side are in the one beside zero by then */
    return HALF + (from_zero >= 0 ? from_zero >> grow : -1 - ((-1 - from_zero) >> grow));
}

void assay_profile_grow(assay_profile_entry *e, int exponent)
{
    int grow = exponent - e->exponent;
    if (grow <= 0)
        return;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < HALF; i++) { /* outwards from zero: targets lie behind the sources */
            int from = side ? HALF + i : HALF - 1 - i, to = assay_profile_coarser_bin(from, grow);
            uint64_t count = e->bin[from];
            e->bin[from] = 0;
            e->bin[to] += count;
        }
    e->exponent = exponent;
}

const assay_profile_rows *assay_profile_rows_best(void)
{
#ifdef ASSAY_X86
    if (__builtin_cpu_supports("avx2"))
        return &assay_profile_rows_avx2;
#endif
    return &assay_profile_rows_any;
}

static void settle(assay_profile_entry *e, assay_profile_fresh *f)
{
    const uint16_t *a = f->count[0], *b = f->count[1];
    for (int i = 0; i < ASSAY_PROFILE_BINS; i++)
        e->bin[i] += (uint64_t)a[i] + b[i];
    for (int i = ASSAY_PROFILE_BINS; i < ASSAY_PROFILE_ROW; i++)
        e->bin[HALF] += (uint64_t)a[i] + b[i];
    memset(f, 0, sizeof *f);
}

void assay_profile_settle(const assay_profile *p)
{
    for (int i = 0; p->fresh && i < p->n_entries; i++)
        if (p->fresh[i].n > 0)
            settle(&p->entry[i], &p->fresh[i]);
}

static void count_finite(assay_profile_entry *e, assay_profile_fresh *f, const float *x, size_t n,
                         float lo, float hi)
{
    const assay_profile_rows *rows = assay_profile_rows_best();
    int32_t bin[CHUNK];
    int exponent = range_exponent(lo, hi);
    lo += 0.0f; /* -0 counts as 0, or the order of observations would show */
    hi += 0.0f;
    if (e->finite == 0 || lo < e->min)
        e->min = lo;
    if (e->finite == 0 || hi > e->max)
        e->max = hi;
    e->finite += n;
    if (f->n + n > 2 * UINT16_MAX - CHUNK || exponent > e->exponent)
        settle(e, f);
    assay_profile_grow(e, exponent);
    f->n += (uint32_t)n;
    rows->bins(x, n, ldexpf(1.0f, 12 - e->exponent), bin);
    rows->count(bin, n & ~(size_t)1, f->count);
    f->count[0][bin[n - 1]] += n & 1;
}

/* A chunk with NaNs or infinities: these are counted apart. */
static void count_odd(assay_profile_entry *e, assay_profile_fresh *f, const float *x, size_t n)
{
    float finite[CHUNK], lo, hi;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i]))
            e->nan++;
        else if (isinf(x[i]))
            e->inf++;
        else
            finite[kept++] = x[i];
    }
    if (kept > 0 && assay_profile_rows_best()->survey(finite, kept, &lo, &hi))
        count_finite(e, f, finite, kept, lo, hi);
}

void assay_profile_observe(assay_profile *p, int value, const float *x, size_t n)
{
    if (value < 0 || value >= p->n_values || p->entry_of_value[value] < 0)
        return;
    assay_profile_entry *e = &p->entry[p->entry_of_value[value]];
    assay_profile_fresh *f = &p->fresh[p->entry_of_value[value]];
    const assay_profile_rows *rows = assay_profile_rows_best();
    if (e->channel)
        assay_profile_observe_channels(e, x, n);
    for (size_t at = 0; at < n; at += CHUNK) {
        size_t length = n - at < CHUNK ? n - at : CHUNK;
        float lo, hi;
        if (rows->survey(x + at, length, &lo, &hi))
            count_finite(e, f, x + at, length, lo, hi);
        else
            count_odd(e, f, x + at, length);
    }
}
