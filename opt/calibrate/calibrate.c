/* Calibration: a range from what was seen of a value; see calibrate.h. */
#include "opt/calibrate/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 64 /* candidates: the range times 1/64 .. 64/64 */

/* Counts as the searches see them. Zeros cost nothing under any range, for 0 is a code exactly; a
 * ReLU's would drown all else. So the bin that starts at 0 counts no more than its neighbours. */
typedef struct weighed {
    const assay_histogram *h;
    int first, n; /* bins first, first + 1, ..., n of them */
    double width, total;
    double count[ASSAY_HISTOGRAM_BINS];
} weighed;

/* The middle of the i-th bin. */
static double centre_of(const weighed *w, int i)
{
    return (w->first + i + 0.5) * w->width;
}

static void weigh(const assay_histogram *h, weighed *w)
{
    int end;
    *w = (weighed){.h = h, .width = ldexp(1, h->exponent)};
    profile_histogram_extent(h, &w->first, &end);
    w->n = end - w->first;
    for (int i = 0; i < w->n; i++)
        w->count[i] = (double)*profile_histogram_at(h, w->first + i);
    const int zero = -w->first;
    if (zero >= 0 && zero < w->n) {
        double left = zero > 0 ? w->count[zero - 1] : 0;
        double right = zero + 1 < w->n ? w->count[zero + 1] : 0;
        w->count[zero] = fmin(w->count[zero], fmax(1, fmax(left, right)));
    }
    for (int i = 0; i < w->n; i++)
        w->total += w->count[i];
}

/* Drops half of what lies beyond the percentile at each end, to the resolution of the bins. */
static void percentile(const weighed *w, double keep, double *min, double *max)
{
    uint64_t drop = (uint64_t)((double)w->h->finite * (100 - keep) / 200), seen = 0;
    int lo = w->first, hi = w->first + w->n - 1;
    double edge;
    while ((seen += *profile_histogram_at(w->h, lo)) <= drop)
        lo++;
    for (seen = 0; (seen += *profile_histogram_at(w->h, hi)) <= drop;)
        hi--;
    profile_histogram_edges(w->h, lo, min, &edge);
    profile_histogram_edges(w->h, hi, &edge, max);
}

/* Squared error when codes are `step` apart and reach from lo to hi. */
static double squared_error(const weighed *w, double lo, double hi, double step)
{
    double sum = 0;
    for (int i = 0; i < w->n; i++) {
        double centre = centre_of(w, i);
        double off = centre < lo ? lo - centre : centre > hi ? centre - hi : 0;
        sum += w->count[i] * (off > 0 ? off * off : step * step / 12);
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
static double divergence(const weighed *w, double lo, double hi, int levels)
{
    double mass[ASSAY_HISTOGRAM_BINS] = {0}, below = 0, above = 0, kept = 0, sum = 0;
    int used[ASSAY_HISTOGRAM_BINS] = {0}, code[ASSAY_HISTOGRAM_BINS];
    double step = (hi - lo) / (levels - 1);
    int first = -1, last = -1, bins = 0, codes = 0;
    for (int i = 0; i < w->n; i++) {
        double x = centre_of(w, i);
        below += x < lo ? w->count[i] : 0;
        above += x > hi ? w->count[i] : 0;
        if (x < lo || x > hi)
            continue;
        first = first < 0 ? i : first;
        last = i;
        code[i] = code_of(x, lo, step, levels);
        kept += w->count[i];
        mass[code[i]] += w->count[i];
        used[code[i]] += w->count[i] > 0;
    }
    if (kept == 0)
        return INFINITY;
    for (int i = first; i <= last; i++) {
        double p = w->count[i] + (i == first ? below : 0) + (i == last ? above : 0);
        double q = w->count[i] > 0 ? mass[code[i]] / used[code[i]] / kept : 0;
        if (p == 0)
            continue;
        p /= w->total;
        sum += p * log(p / fmax(q, 1e-12));
        bins++;
    }
    for (int c = 0; c < levels; c++)
        codes += used[c] > 0;
    return sum - (bins - codes) / (2 * w->total);
}

static double cost_of(const weighed *w, assay_calibration method, double levels, double lo,
                      double hi)
{
    int n = levels < ASSAY_HISTOGRAM_BINS ? (int)levels : ASSAY_HISTOGRAM_BINS;
    if (method == ASSAY_CALIBRATE_MSE)
        return squared_error(w, lo, hi, (hi - lo) / (levels - 1));
    return divergence(w, lo, hi, n);
}

/* Shrinks the upper end, then the lower one, each to where the cost is least. */
static void search(const weighed *w, assay_calibration method, double levels, double *min,
                   double *max)
{
    double lo = fmin(*min, 0), hi = fmax(*max, 0);
    *min = lo;
    *max = hi;
    double best = cost_of(w, method, levels, lo, hi);
    for (int end = 0; end < 2; end++)
        for (int i = STEPS - 1; i >= 1; i--) {
            double a = end ? lo * i / STEPS : *min, b = end ? *max : hi * i / STEPS;
            double cost = b > a ? cost_of(w, method, levels, a, b) : INFINITY;
            if (cost < best) {
                best = cost;
                *min = a;
                *max = b;
            }
        }
}

/* Share of the elements in bins wholly outside of [min, max]. */
static double share_outside(const assay_histogram *h, double min, double max)
{
    uint64_t outside = 0;
    int first, end;
    profile_histogram_extent(h, &first, &end);
    for (int i = first; i < end; i++) {
        double lo, hi;
        profile_histogram_edges(h, i, &lo, &hi);
        outside += hi <= min || lo > max ? *profile_histogram_at(h, i) : 0;
    }
    return (double)outside / (double)h->finite;
}

void calibrate_power_of_two(const assay_histogram *h, double lo, double hi, assay_calibrated *range)
{
    weighed w;
    double need = fmax(range->min < 0 ? range->min / lo : 0, range->max > 0 ? range->max / hi : 0);
    double scale, best;
    int exponent;

    if (!(need > 0) || h->min >= h->max || range->used == ASSAY_CALIBRATE_HEADROOM)
        return;
    weigh(h, &w);
    scale = frexp(need, &exponent) == 0.5 ? need : ldexp(1, exponent);
    best = squared_error(&w, lo * scale, hi * scale, scale);
    for (double half = scale / 2;; half /= 2) {
        double cost = squared_error(&w, lo * half, hi * half, half);
        if (cost >= best)
            break;
        best = cost;
        scale = half;
    }
    range->min = fmax(range->min, lo * scale);
    range->max = fmin(range->max, hi * scale);
    range->clipped = share_outside(h, range->min, range->max);
}

/* Numbers that no sample had may lie beyond those that one had. */
static void leave_headroom(const assay_calibrate_how *how, double levels, assay_calibrated *out)
{
    const double factor = how->headroom > 0 ? how->headroom : ASSAY_HEADROOM;
    if (levels <= ASSAY_ROOMY) {
        out->used = ASSAY_CALIBRATE_MIN_MAX;
        out->note = "codes of at most 10 bits have none to spare for headroom";
        return;
    }
    out->min = fmin(out->min, out->min * factor);
    out->max = fmax(out->max, out->max * factor);
}

void calibrate_range(const assay_histogram *h, const assay_calibrate_how *how, double levels,
                     assay_calibrated *out)
{
    weighed w;
    *out = (assay_calibrated){.used = how->method, .min = (double)h->min, .max = (double)h->max};
    if (how->method == ASSAY_CALIBRATE_MIN_MAX || h->min >= h->max)
        return;
    if (how->method == ASSAY_CALIBRATE_HEADROOM) {
        leave_headroom(how, levels, out);
        return;
    }
    weigh(h, &w);
    if (how->method == ASSAY_CALIBRATE_KL && w.n < levels) {
        out->used = ASSAY_CALIBRATE_MIN_MAX;
        out->note = "the histogram has fewer bins than the type has codes, so KL cannot judge";
        return;
    }
    if (how->method == ASSAY_CALIBRATE_PERCENTILE)
        percentile(&w, how->percentile > 0 ? how->percentile : ASSAY_PERCENTILE, &out->min,
                   &out->max);
    else
        search(&w, how->method, levels, &out->min, &out->max);
    out->min = fmax(out->min, (double)h->min);
    out->max = fmin(out->max, (double)h->max);
    out->clipped = share_outside(h, out->min, out->max);
}

static void calibrate_glow(const assay_choice *c, const assay_histogram *h, assay_calibrated *out)
{
    float count[2048] = {0}, lo, hi;
    bool symmetric;
    int first, end, bin, grow = 0, n;
    double from, to, unused;
    assay_error err;

    if (h->min >= h->max ||
        calibrate_choose_glow_range(c, (double)h->min, (double)h->max, &lo, &hi, &symmetric, &err))
        return; /* what is wrong the qparams method says */
    profile_histogram_extent(h, &first, &end);
    while (((end - 1) >> grow) - (first >> grow) >= 2048)
        grow++;
    bin = first >> grow;
    n = ((end - 1) >> grow) - bin + 1;
    for (int i = first; i < end; i++)
        count[(i >> grow) - bin] += (float)*profile_histogram_at(h, i);
    profile_histogram_edges(h, bin * (1 << grow), &from, &unused);
    profile_histogram_edges(h, (bin + n) * (1 << grow) - 1, &unused, &to);
    out->final = calibrate_glow_kl(count, n, (float)from, (float)to, symmetric, &lo, &hi);
    out->note = out->final ? NULL : "Glow's KL leaves a histogram of fewer than 255 bins as it is";
    out->used = out->final ? ASSAY_CALIBRATE_KL : ASSAY_CALIBRATE_MIN_MAX;
    if (out->final) {
        out->min = (double)lo;
        out->max = (double)hi;
        out->clipped = share_outside(h, out->min, out->max);
    }
}

void calibrate_for(const assay_choice *c, const assay_histogram *h, const assay_calibrate_how *how,
                   assay_calibrated *out)
{
    const assay_calibrate_how all = {.method = ASSAY_CALIBRATE_MIN_MAX};
    const bool is_glow = c->method == ASSAY_QPARAMS_GLOW && how->method == ASSAY_CALIBRATE_KL;
    calibrate_range(h, is_glow ? &all : how, ldexp(1, c->elem.bits), out);
    if (is_glow)
        calibrate_glow(c, h, out);
}

static const char *const names[] = {"min-max", "percentile", "mse", "kl", "headroom"};

const char *calibrate_name(assay_calibration c)
{
    return names[c];
}

/* The method's own number, which stands behind its name. */
static bool find_number(const char *text, assay_calibrate_how *how)
{
    char *end;
    const double number = strtod(text, &end);
    if (end == text || *end != 0)
        return false;
    if (how->method == ASSAY_CALIBRATE_PERCENTILE) {
        how->percentile = number;
        return number >= 50 && number <= 100;
    }
    how->headroom = number;
    return how->method == ASSAY_CALIBRATE_HEADROOM && number >= 1 && number <= 16;
}

bool calibrate_find(const char *name, assay_calibrate_how *how)
{
    const size_t length = strcspn(name, ":");
    *how = (assay_calibrate_how){0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i]) != length || strncmp(name, names[i], length) != 0)
            continue;
        how->method = (assay_calibration)i;
        return name[length] == 0 || find_number(name + length + 1, how);
    }
    return false;
}
