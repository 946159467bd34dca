/* A histogram whose state depends only on the set of elements counted. Bin i is [i * 2^exponent,
 * (i + 1) * 2^exponent), where the exponent is the least that puts the bins of all finite elements
 * into ASSAY_HISTOGRAM_BINS neighbours. Growing by one makes one bin of bins 2i and 2i+1 exactly;
 * so histograms merge in any order and grouping.
 *
 * Since half the width would not have done, more than half of the ASSAY_HISTOGRAM_BINS, and so more
 * than 2000, lie between the least and the greatest element, wherever these are: unless their
 * distance is below the resolution of floats, or of 2^ASSAY_HISTOGRAM_MIN_EXPONENT.
 *
 * Counts are kept in a ring: that of bin i at i mod ASSAY_HISTOGRAM_BINS. */
#ifndef ASSAY_OPT_HISTOGRAM_H
#define ASSAY_OPT_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/base.h"

#define ASSAY_HISTOGRAM_BINS         4096
#define ASSAY_HISTOGRAM_MIN_EXPONENT (-112)
#define ASSAY_HISTOGRAM_MAX_EXPONENT 117       /* -2^128 and 2^128 are 2^11 of these each away */
#define ASSAY_HISTOGRAM_MAX_BIN      (1 << 24) /* bins are in [-MAX_BIN, MAX_BIN) */

typedef struct assay_histogram {
    uint64_t finite;   /* elements counted in bins */
    uint64_t nan, inf; /* elements that are in no bin */
    float min, max;    /* over finite elements; 0 when there are none */
    int exponent;
    uint64_t *count; /* the ring */
} assay_histogram;

/* An empty one; clear *h whatever the status. */
assay_status profile_histogram_init(assay_histogram *h, assay_error *err);
/* Frees its memory. */
void profile_histogram_clear(assay_histogram *h);
/* Forgets every element. */
void profile_histogram_reset(assay_histogram *h);

/* The least exponent for elements of which min is the least and max the greatest. */
int profile_histogram_exponent(float min, float max);
/* Whether the exponent is the least one for elements of [min, max] as well. */
bool profile_histogram_holds(const assay_histogram *h, float min, float max);
/* Makes it so. */
void profile_histogram_grow(assay_histogram *h, float min, float max);
/* Notes n elements, of which these are the least and the greatest, and which h holds; counting them
 * is the caller's. */
void profile_histogram_note(assay_histogram *h, uint64_t n, float min, float max);

/* Whether counts of both together fit in 64 bits. */
bool profile_histogram_can_merge(const assay_histogram *a, const assay_histogram *b);
/* Adds `from`. */
void profile_histogram_merge(assay_histogram *into, const assay_histogram *from);

/* Whether they saw the same elements, as far as histograms show. */
bool profile_histogram_equal(const assay_histogram *a, const assay_histogram *b);

/* The bin of x, which is finite and in the histogram's range. */
int profile_histogram_bin(const assay_histogram *h, double x);
/* Where bin i's count is. */
static inline uint64_t *profile_histogram_at(const assay_histogram *h, int i)
{
    return &h->count[(unsigned)i % ASSAY_HISTOGRAM_BINS];
}
/* Edges of bin i in real values: [*lo, *hi). */
void profile_histogram_edges(const assay_histogram *h, int i, double *lo, double *hi);
/* The least and the greatest element are in bins *first and *end - 1; *first = *end when there are
 * none. */
void profile_histogram_extent(const assay_histogram *h, int *first, int *end);

#endif
