#include "opt/calibrate.h"

#include <math.h>
#include <string.h>

#define STEPS 64 /* candidates: the range times 1/64 .. 64/64 */

typedef struct histogram {
    const assay_profile_entry *e;
    int first, end; /* bins that are not empty lie in [first, end) */
} histogram;

static histogram trimmed(const assay_profile_entry *e)
{
    histogram h = {e, 0, ASSAY_PROFILE_BINS};
    while (h.first < h.end - 1 && e->bin[h.first] == 0)
        h.first++;
    while (h.end > h.first + 1 && e->bin[h.end - 1] == 0)
        h.end--;
    return h;
}

/* Drops so many elements at each end, to the resolution of the bins. */
static void percentile(const histogram *h, double *min, double *max)
{
    uint64_t drop = h->e->finite / 20000, seen = 0;
    int lo = h->first, hi = h->end - 1;
    double edge;
    while ((seen += h->e->bin[lo]) <= drop)
        lo++;
    for (seen = 0; (seen += h->e->bin[hi]) <= drop;)
        hi--;
    assay_profile_bin_edges(h->e, lo, min, &edge);
    assay_profile_bin_edges(h->e, hi, &edge, max);
}

/* Mean squared error when [lo, hi] is spread over `levels` codes. */
static double squared_error(const histogram *h, double lo, double hi, double levels)
{
    double step = (hi - lo) / (levels - 1), sum = 0;
    for (int i = h->first; i < h->end; i++) {
        double a, b;
        assay_profile_bin_edges(h->e, i, &a, &b);
        double centre = (a + b) / 2;
        double off = centre < lo ? lo - centre : centre > hi ? centre - hi : 0;
        sum += (double)h->e->bin[i] * (off > 0 ? off * off : step * step / 12);
    }
    return sum;
}

/* Code whose interval holds x, for x in [lo, hi]. */
static int code_of(double x, double lo, double step, int levels)
{
    int code = (int)floor((x - lo) / step + 0.5);
    return code < 0 ? 0 : code >= levels ? levels - 1 : code;
}

/* KL divergence of the clipped histogram from its quantized form; huge when a form is empty. */
static double divergence(const histogram *h, double lo, double hi, int levels)
{
    double mass[ASSAY_PROFILE_BINS] = {0}, p[ASSAY_PROFILE_BINS] = {0};
    int used[ASSAY_PROFILE_BINS] = {0}, code[ASSAY_PROFILE_BINS];
    double step = (hi - lo) / (levels - 1), total = 0, kept = 0, sum = 0;
    int inside_first = -1, inside_last = -1;
    for (int i = h->first; i < h->end; i++) {
        double a, b;
        assay_profile_bin_edges(h->e, i, &a, &b);
        double x = (a + b) / 2, count = (double)h->e->bin[i];
        total += count;
        code[i] = -1;
        if (x < lo || x > hi)
            continue;
        inside_first = inside_first < 0 ? i : inside_first;
        inside_last = i;
        code[i] = code_of(x, lo, step, levels);
        p[i] = count;
        kept += count;
        mass[code[i]] += count;
        used[code[i]] += count > 0;
    }
    if (kept == 0)
        return INFINITY;
    for (int i = h->first; i < h->end; i++)
        if (code[i] < 0)
            p[i < inside_first ? inside_first : inside_last] += (double)h->e->bin[i];
    for (int i = inside_first; i <= inside_last; i++) {
        if (p[i] == 0)
            continue;
        double q = h->e->bin[i] > 0 ? mass[code[i]] / used[code[i]] / kept : 0;
        q = fmax(q, 1e-12);
        sum += p[i] / total * log(p[i] / total / q);
    }
    return sum;
}

static double cost_of(const histogram *h, assay_calibration method, double levels, double lo,
                      double hi)
{
    int n = levels < ASSAY_PROFILE_BINS ? (int)levels : ASSAY_PROFILE_BINS;
    if (method == ASSAY_CALIBRATE_MSE)
        return squared_error(h, lo, hi, levels);
    return divergence(h, lo, hi, n);
}

/* Shrinks the upper end, then the lower one, each to where the cost is least. */
static void search(const histogram *h, assay_calibration method, double levels, double *min,
                   double *max)
{
    double lo = fmin(*min, 0), hi = fmax(*max, 0);
    *min = lo;
    *max = hi;
    double best = cost_of(h, method, levels, lo, hi);
    for (int end = 0; end < 2; end++)
        for (int i = STEPS - 1; i >= 1; i--) {
            double a = end ? lo * i / STEPS : *min, b = end ? *max : hi * i / STEPS;
            double cost = b > a ? cost_of(h, method, levels, a, b) : INFINITY;
            if (cost < best) {
                best = cost;
                *min = a;
                *max = b;
            }
        }
}

void assay_calibrate(const assay_profile_entry *e, assay_calibration method, double levels,
                     double *min, double *max)
{
    histogram h = trimmed(e);
    *min = (double)e->min;
    *max = (double)e->max;
    if (method == ASSAY_CALIBRATE_MIN_MAX || e->min >= e->max)
        return;
    if (method == ASSAY_CALIBRATE_PERCENTILE)
        percentile(&h, min, max);
    else
        search(&h, method, levels, min, max);
    *min = fmax(*min, (double)e->min);
    *max = fmin(*max, (double)e->max);
}

bool assay_calibration_find(const char *name, assay_calibration *c)
{
    static const char *const known[] = {"min-max", "percentile", "mse", "kl"};
    for (int i = 0; i < 4; i++)
        if (strcmp(name, known[i]) == 0) {
            *c = (assay_calibration)i;
            return true;
        }
    return false;
}
