/* A histogram whose state depends only on the set of elements counted: n_bins equal bins (a power
 * of two) of [-2^exponent, 2^exponent), where the exponent is the least one (at least
 * ASSAY_HISTOGRAM_MIN_EXPONENT) whose range holds every finite element. When it grows by one, bins
 * 2i and 2i+1 become one bin exactly; so histograms merge in any order and grouping. Data on one
 * side of zero still cover at least a quarter of the bins. */
#ifndef ASSAY_OPT_HISTOGRAM_H
#define ASSAY_OPT_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "interp/assay.h"

#define ASSAY_HISTOGRAM_MIN_EXPONENT (-100)
#define ASSAY_HISTOGRAM_MAX_BINS     8192

typedef struct assay_histogram {
    uint64_t finite;   /* elements counted in bins */
    uint64_t nan, inf; /* elements that are in no bin */
    float min, max;    /* over finite elements; 0 when there are none */
    int exponent;
    int n_bins; /* at most ASSAY_HISTOGRAM_MAX_BINS */
    uint64_t *bin;
} assay_histogram;

/* An empty one; *h is to be cleared whatever the status. */
assay_status assay_histogram_init(assay_histogram *h, int n_bins, assay_error *err);
void assay_histogram_clear(assay_histogram *h);

/* Least exponent whose range holds every x of [min, max]. */
int assay_histogram_exponent(float min, float max);
/* Grows the range to [-2^exponent, 2^exponent); does nothing when it is that wide. */
void assay_histogram_grow(assay_histogram *h, int exponent);
/* Counts n elements of [min, max] that were found finite; their bins are the caller's to add. */
void assay_histogram_note(assay_histogram *h, uint64_t n, float min, float max);
/* The bin among n_bins that bin i goes into when the range grows by 2^grow. */
int assay_histogram_coarser_bin(int n_bins, int i, int grow);
/* Whether counts of both together fit in 64 bits. */
bool assay_histogram_can_merge(const assay_histogram *a, const assay_histogram *b);
/* Adds `from`, which has as many bins. */
void assay_histogram_merge(assay_histogram *into, const assay_histogram *from);

/* Edges of bin i in real values: [*lo, *hi). */
void assay_histogram_edges(const assay_histogram *h, int i, double *lo, double *hi);
/* Bins that are not empty lie in [*first, *end), which is empty when all are. */
void assay_histogram_extent(const assay_histogram *h, int *first, int *end);

#endif
