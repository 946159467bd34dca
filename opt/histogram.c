#include "opt/histogram.h"

#include <math.h>
#include <stdlib.h>

#include "graph/arena.h"

assay_status assay_histogram_init(assay_histogram *h, int n_bins, assay_error *err)
{
    *h = (assay_histogram){.exponent = ASSAY_HISTOGRAM_MIN_EXPONENT, .n_bins = n_bins};
    h->bin = calloc((size_t)n_bins, sizeof *h->bin);
    return h->bin ? ASSAY_OK : assay_out_of_memory(err);
}

void assay_histogram_clear(assay_histogram *h)
{
    free(h->bin);
    h->bin = NULL;
}

int assay_histogram_exponent(float min, float max)
{
    int k = ASSAY_HISTOGRAM_MIN_EXPONENT, e;
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

int assay_histogram_coarser_bin(int n_bins, int i, int grow)
{
    int from_zero = i - n_bins / 2;
    grow = grow > 30 ? 30 : grow; /* all bins of a side are in the one beside zero by then */
    return n_bins / 2 + (from_zero >= 0 ? from_zero >> grow : -1 - ((-1 - from_zero) >> grow));
}

void assay_histogram_grow(assay_histogram *h, int exponent)
{
    const int half = h->n_bins / 2, grow = exponent - h->exponent;
    if (grow <= 0)
        return;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < half; i++) { /* outwards from zero: targets lie behind the sources */
            int from = side ? half + i : half - 1 - i;
            int to = assay_histogram_coarser_bin(h->n_bins, from, grow);
            uint64_t count = h->bin[from];
            h->bin[from] = 0;
            h->bin[to] += count;
        }
    h->exponent = exponent;
}

void assay_histogram_note(assay_histogram *h, uint64_t n, float min, float max)
{
    min += 0.0f; /* -0 counts as 0, or the order of observations would show */
    max += 0.0f;
    h->min = h->finite == 0 || min < h->min ? min : h->min;
    h->max = h->finite == 0 || max > h->max ? max : h->max;
    h->finite += n;
}

bool assay_histogram_can_merge(const assay_histogram *a, const assay_histogram *b)
{
    return a->finite <= UINT64_MAX - b->finite && a->nan <= UINT64_MAX - b->nan &&
           a->inf <= UINT64_MAX - b->inf;
}

void assay_histogram_merge(assay_histogram *into, const assay_histogram *from)
{
    if (from->finite > 0) {
        assay_histogram_grow(into, from->exponent);
        int grow = into->exponent - from->exponent;
        for (int i = 0; i < from->n_bins; i++)
            into->bin[grow == 0 ? i : assay_histogram_coarser_bin(into->n_bins, i, grow)] +=
                from->bin[i];
        assay_histogram_note(into, from->finite, from->min, from->max);
    }
    into->nan += from->nan;
    into->inf += from->inf;
}

void assay_histogram_edges(const assay_histogram *h, int i, double *lo, double *hi)
{
    double width = ldexp(2.0, h->exponent) / h->n_bins;
    *lo = (double)(i - h->n_bins / 2) * width;
    *hi = *lo + width;
}

void assay_histogram_extent(const assay_histogram *h, int *first, int *end)
{
    *first = 0;
    *end = h->n_bins;
    while (*first < *end && h->bin[*first] == 0)
        ++*first;
    while (*end > *first && h->bin[*end - 1] == 0)
        --*end;
}
