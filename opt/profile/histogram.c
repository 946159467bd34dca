/* A histogram whose state depends only on the set of elements counted; see histogram.h. */
#include "opt/profile/histogram.h"
#include "graph/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/arena.h"

#define RING_BYTES (ASSAY_HISTOGRAM_BINS * sizeof(uint64_t))

assay_status profile_histogram_init(assay_histogram *h, assay_error *err)
{
    *h = (assay_histogram){.exponent = ASSAY_HISTOGRAM_MIN_EXPONENT};
    h->count = calloc(1, RING_BYTES);
    return h->count ? ASSAY_OK : assay_out_of_memory(err);
}

void profile_histogram_clear(assay_histogram *h)
{
    free(h->count);
    h->count = NULL;
}

void profile_histogram_reset(assay_histogram *h)
{
    memset(h->count, 0, RING_BYTES);
    *h = (assay_histogram){.exponent = ASSAY_HISTOGRAM_MIN_EXPONENT, .count = h->count};
}

static int bin_of(double x, int exponent)
{
    return (int)floor(ldexp(x, -exponent));
}

int profile_histogram_exponent(float min, float max)
{
    int exponent = ASSAY_HISTOGRAM_MIN_EXPONENT, e;
    if (frexpf(fmaxf(-min, max), &e) > 0 && e - 24 > exponent)
        exponent = e - 24; /* bins are within MAX_BIN; finer than that floats are not */
    while (bin_of((double)max, exponent) - bin_of((double)min, exponent) >= ASSAY_HISTOGRAM_BINS)
        exponent++;
    return exponent;
}

/* The range of what h has seen and [*min, *max] together. */
static void join(const assay_histogram *h, float *min, float *max)
{
    *min = h->finite > 0 ? fminf(*min, h->min) : *min;
    *max = h->finite > 0 ? fmaxf(*max, h->max) : *max;
}

bool profile_histogram_holds(const assay_histogram *h, float min, float max)
{
    if (h->finite > 0 && min >= h->min && max <= h->max)
        return true;
    join(h, &min, &max);
    if (h->finite == 0)
        return profile_histogram_exponent(min, max) == h->exponent;
    const double width = ldexp(1, h->exponent), limit = width * ASSAY_HISTOGRAM_MAX_BIN;
    return (double)max < limit && -(double)min < limit &&
           floor((double)max / width) - floor((double)min / width) < ASSAY_HISTOGRAM_BINS;
}

void profile_histogram_grow(assay_histogram *h, float min, float max)
{
    join(h, &min, &max);
    const int exponent = profile_histogram_exponent(min, max), by = exponent - h->exponent;
    uint64_t old[ASSAY_HISTOGRAM_BINS];
    int first, end;
    if (by > 0 && h->finite > 0) {
        memcpy(old, h->count, RING_BYTES);
        memset(h->count, 0, RING_BYTES);
        profile_histogram_extent(h, &first, &end);
        h->exponent = exponent;
        for (int i = first; i < end; i++)
            *profile_histogram_at(h, by < 31 ? i >> by
                                     : i < 0 ? -1
                                             : 0) += old[(unsigned)i % ASSAY_HISTOGRAM_BINS];
    }
    h->exponent = exponent;
}

void profile_histogram_note(assay_histogram *h, uint64_t n, float min, float max)
{
    min += 0.0f; /* -0 counts as 0, or the order of observations would show */
    max += 0.0f;
    h->min = h->finite == 0 || min < h->min ? min : h->min;
    h->max = h->finite == 0 || max > h->max ? max : h->max;
    h->finite += n;
}

bool profile_histogram_can_merge(const assay_histogram *a, const assay_histogram *b)
{
    return a->finite <= UINT64_MAX - b->finite && a->nan <= UINT64_MAX - b->nan &&
           a->inf <= UINT64_MAX - b->inf;
}

void profile_histogram_merge(assay_histogram *into, const assay_histogram *from)
{
    if (from->finite > 0) {
        profile_histogram_grow(into, from->min, from->max);
        const int by = into->exponent - from->exponent;
        int first, end;
        profile_histogram_extent(from, &first, &end);
        for (int i = first; i < end; i++)
            *profile_histogram_at(into, by < 31 ? i >> by
                                        : i < 0 ? -1
                                                : 0) += *profile_histogram_at(from, i);
        profile_histogram_note(into, from->finite, from->min, from->max);
    }
    into->nan += from->nan;
    into->inf += from->inf;
}

bool profile_histogram_equal(const assay_histogram *a, const assay_histogram *b)
{
    return a->finite == b->finite && a->nan == b->nan && a->inf == b->inf && a->min == b->min &&
           a->max == b->max && memcmp(a->count, b->count, RING_BYTES) == 0;
}

int profile_histogram_bin(const assay_histogram *h, double x)
{
    return bin_of(x, h->exponent);
}

void profile_histogram_edges(const assay_histogram *h, int i, double *lo, double *hi)
{
    *lo = ldexp(i, h->exponent);
    *hi = ldexp(i + 1, h->exponent);
}

void profile_histogram_extent(const assay_histogram *h, int *first, int *end)
{
    *first = h->finite > 0 ? bin_of((double)h->min, h->exponent) : 0;
    *end = h->finite > 0 ? bin_of((double)h->max, h->exponent) + 1 : 0;
}
