#include "opt/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 64 /* candidates: the range times 1/64 .. 64/64 */

/* Counts as the searches see them. Zeros cost nothing under any range, for 0 is a code exactly; a
 * ReLU's would drown all else. So the bin that starts at 0 counts no more than its neighbours. */
typedef struct histogram {
    const assay_profile_entry *e;
    int first, end; /* bins that are not empty lie in [first, end) */
    double total;
    double count[ASSAY_PROFILE_BINS];
} histogram;

static void read_histogram(const assay_profile_entry *e, histogram *h)
{
    const int zero = ASSAY_PROFILE_BINS / 2;
    *h = (histogram){.e = e, .first = 0, .end = ASSAY_PROFILE_BINS};
    while (h->first < h->end - 1 && e->bin[h->first] == 0)
        h->first++;
    while (h->end > h->first + 1 && e->bin[h->end - 1] == 0)
        h->end--;
    for (int i = h->first; i < h->end; i++)
        h->count[i] = (double)e->bin[i];
    h->count[zero] = fmin(h->count[zero], fmax(1, fmax(h->count[zero - 1], h->count[zero + 1])));
    for (int i = h->first; i < h->end; i++)
        h->total += h->count[i];
}

/* Drops half of what lies beyond the percentile at each end, to the resolution of the bins. */
static void percentile(const histogram *h, double keep, double *min, double *max)
{
    uint64_t drop = (uint64_t)((double)h->e->finite * (100 - keep) / 200), seen = 0;
    int lo = h->first, hi = h->end - 1;
    double edge;
    while ((seen += h->e->bin[lo]) <= drop)
        lo++;
    for (seen = 0; (seen += h->e->bin[hi]) <= drop;)
        hi--;
    assay_profile_bin_edges(h->e, lo, min, &edge);
    assay_profile_bin_edges(h->e, hi, &edge, max);
}

/* Squared error when codes are `step` apart and reach from lo to hi. */
static double squared_error(const histogram *h, double lo, double hi, double step)
{
    double sum = 0;
    for (int i = h->first; i < h->end; i++) {
        double a, b;
        assay_profile_bin_edges(h->e, i, &a, &b);
        double centre = (a + b) / 2;
        double off = centre < lo ? lo - centre : centre > hi ? centre - hi : 0;
        sum += h->count[i] * (off > 0 ? off * off : step * step / 12);
    }
    return sum;
}

/* Code whose interval holds x, for x in [lo, hi]. */
static int code_of(double x, double lo, double step, int levels)
{
    int code = (int)floor((x - lo) / step + 0.5);
    return code < 0 ? 0 : code >= levels ? levels - 1 : code;
}

/* KL divergence of the clipped histogram from its quantized form, less what sampling alone makes of
 * it: n observations in B bins of C codes diverge by (B - C) / 2n from their average over each code
 * (Miller 1955), which would otherwise reward every clipping of a small sample. */
static double divergence(const histogram *h, double lo, double hi, int levels)
{
    double mass[ASSAY_PROFILE_BINS] = {0}, below = 0, above = 0, kept = 0, sum = 0;
    int used[ASSAY_PROFILE_BINS] = {0}, code[ASSAY_PROFILE_BINS];
    double step = (hi - lo) / (levels - 1);
    int first = -1, last = -1, bins = 0, codes = 0;
    for (int i = h->first; i < h->end; i++) {
        double a, b;
        assay_profile_bin_edges(h->e, i, &a, &b);
        double x = (a + b) / 2;
        below += x < lo ? h->count[i] : 0;
        above += x > hi ? h->count[i] : 0;
        if (x < lo || x > hi)
            continue;
        first = first < 0 ? i : first;
        last = i;
        code[i] = code_of(x, lo, step, levels);
        kept += h->count[i];
        mass[code[i]] += h->count[i];
        used[code[i]] += h->count[i] > 0;
    }
    if (kept == 0)
        return INFINITY;
    for (int i = first; i <= last; i++) {
        double p = h->count[i] + (i == first ? below : 0) + (i == last ? above : 0);
        double q = h->count[i] > 0 ? mass[code[i]] / used[code[i]] / kept : 0;
        if (p == 0)
            continue;
        p /= h->total;
        sum += p * log(p / fmax(q, 1e-12));
        bins++;
    }
    for (int c = 0; c < levels; c++)
        codes += used[c] > 0;
    return sum - (bins - codes) / (2 * h->total);
}

static double cost_of(const histogram *h, assay_calibration method, double levels, double lo,
                      double hi)
{
    int n = levels < ASSAY_PROFILE_BINS ? (int)levels : ASSAY_PROFILE_BINS;
    if (method == ASSAY_CALIBRATE_MSE)
        return squared_error(h, lo, hi, (hi - lo) / (levels - 1));
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

/* Share of the elements in bins wholly outside of [min, max]. */
static double share_outside(const assay_profile_entry *e, double min, double max)
{
    uint64_t outside = 0;
    for (int i = 0; i < ASSAY_PROFILE_BINS; i++) {
        double lo, hi;
        assay_profile_bin_edges(e, i, &lo, &hi);
        outside += hi <= min || lo > max ? e->bin[i] : 0;
    }
    return (double)outside / (double)e->finite;
}

void assay_calibrate_power_of_two(const assay_profile_entry *e, double lo, double hi,
                                  assay_calibrated *range)
{
    histogram h;
    double need = fmax(range->min < 0 ? range->min / lo : 0, range->max > 0 ? range->max / hi : 0);
    double scale, best;
    int exponent;

    if (!(need > 0) || e->min >= e->max)
        return;
    read_histogram(e, &h);
    scale = frexp(need, &exponent) == 0.5 ? need : ldexp(1, exponent);
    best = squared_error(&h, lo * scale, hi * scale, scale);
    for (double half = scale / 2;; half /= 2) {
        double cost = squared_error(&h, lo * half, hi * half, half);
        if (cost >= best)
            break;
        best = cost;
        scale = half;
    }
    range->min = fmax(range->min, lo * scale);
    range->max = fmin(range->max, hi * scale);
    range->clipped = share_outside(e, range->min, range->max);
}

void assay_calibrate(const assay_profile_entry *e, const assay_calibrate_how *how, double levels,
                     assay_calibrated *out)
{
    histogram h;
    *out = (assay_calibrated){.used = how->method, .min = (double)e->min, .max = (double)e->max};
    if (how->method == ASSAY_CALIBRATE_MIN_MAX || e->min >= e->max)
        return;
    read_histogram(e, &h);
    if (how->method == ASSAY_CALIBRATE_KL && h.end - h.first < levels) {
        out->used = ASSAY_CALIBRATE_MIN_MAX;
        out->note = "the histogram has fewer bins than the type has codes, so KL cannot judge";
        return;
    }
    if (how->method == ASSAY_CALIBRATE_PERCENTILE)
        percentile(&h, how->percentile > 0 ? how->percentile : ASSAY_PERCENTILE, &out->min,
                   &out->max);
    else
        search(&h, how->method, levels, &out->min, &out->max);
    out->min = fmax(out->min, (double)e->min);
    out->max = fmin(out->max, (double)e->max);
    out->clipped = share_outside(e, out->min, out->max);
}

static const char *const names[] = {"min-max", "percentile", "mse", "kl"};

const char *assay_calibration_name(assay_calibration c)
{
    return names[c];
}

bool assay_calibration_find(const char *name, assay_calibrate_how *how)
{
    const size_t length = strcspn(name, ":");
    char *end;
    *how = (assay_calibrate_how){0};
    for (int i = 0; i < 4; i++) {
        if (strlen(names[i]) != length || strncmp(name, names[i], length) != 0)
            continue;
        how->method = (assay_calibration)i;
        if (name[length] == 0)
            return true;
        how->percentile = strtod(name + length + 1, &end);
        return i == ASSAY_CALIBRATE_PERCENTILE && end != name + length + 1 && *end == 0 &&
               how->percentile >= 50 && how->percentile <= 100;
    }
    return false;
}
