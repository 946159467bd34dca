/* Glow's calibration by Kullback-Leibler divergence, step by step in float32 as it does it (facts
 * from pytorch/glow 05dd99b, lib/Quantization/Base: Base.cpp, Calibration.cpp, Profile.cpp), flaws
 * included: 255 codes whatever the type, windows that need not hold 0. calibrate.h has ours. */
#include <math.h>
#include <string.h>

#include "opt/calibrate/calibrate.h"

#define CODES 255
#define FLOOR 1e-4f /* what an empty bin counts */

typedef struct bins {
    int n;
    float count[ASSAY_HISTOGRAM_BINS];
} bins;

static float within(float x, float lo, float hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

static int bin_number(float x, int n)
{
    return (int)within(x, 0, (float)(n - 1));
}

/* Spreads bins over [min, max] onto as many over [lo, hi]: each source bin gives whole counts to
 * the bins that it overlaps, in proportion, in order, until nothing is left; what rounding leaves
 * over is lost. */
static void respread(const bins *from, float min, float max, bins *to, float lo, float hi)
{
    const int n = from->n;
    const float width = (max - min) / (float)n, step = (hi - lo) / (float)n;
    if (min == lo && max == hi) {
        *to = *from;
        return;
    }
    *to = (bins){.n = n};
    for (int i = 0; i < n; i++) {
        const float begin = min + (float)i * width, end = min + (float)(i + 1) * width;
        const int first = bin_number(floorf((begin - lo) / step), n);
        const int last = bin_number(ceilf((end - lo) / step), n);
        float left = from->count[i];
        for (int k = first; k <= last && from->count[i] > 0; k++) {
            const float overlap =
                fminf(end, lo + (float)(k + 1) * step) - fmaxf(begin, lo + (float)k * step);
            const float share = roundf(within(overlap / width, 0, 1) * from->count[i]);
            const float given = share <= left ? share : left;
            to->count[k] += given;
            left -= given;
        }
    }
}

/* Gives empty bins FLOOR, and takes as much from the others; unless that were a whole count each.
 */
static void fill_empty(bins *p)
{
    int empty = 0;
    for (int i = 0; i < p->n; i++)
        empty += p->count[i] == 0;
    if (empty == p->n)
        return;
    const float taken = FLOOR * (float)empty / (float)(p->n - empty);
    if (taken >= 1)
        return;
    for (int i = 0; i < p->n; i++)
        p->count[i] = p->count[i] == 0 ? FLOOR : p->count[i] - taken;
}

static float sum(const float *x, int n)
{
    float total = 0;
    for (int i = 0; i < n; i++)
        total += x[i];
    return total;
}

static float divergence(const bins *p, const bins *q)
{
    const float all_p = sum(p->count, p->n), all_q = sum(q->count, q->n);
    float total = 0;
    if (all_p == 0 || all_q == 0)
        return 0;
    for (int i = 0; i < p->n; i++) {
        const float a = p->count[i] / all_p, b = q->count[i] / all_q;
        if (a > 0 && b > 0)
            total += a * logf(a / b);
    }
    return total;
}

/* How far bins [first, last], with what lies outside added to the outermost, are from the same bins
 * averaged over each of CODES codes (all of one width, the last with the remainder). */
static float cost(const bins *h, int first, int last)
{
    bins p = {.n = last - first + 1}, q = {.n = p.n};
    const int width = p.n / CODES;
    memcpy(p.count, h->count + first, (size_t)p.n * sizeof *p.count);
    p.count[0] = sum(h->count, first + 1);
    p.count[p.n - 1] = sum(h->count + last, h->n - last);
    for (int code = 0; code < CODES; code++) {
        const int begin = code * width, end = code < CODES - 1 ? begin + width : p.n;
        const float total = sum(h->count + first + begin, end - begin);
        int used = 0;
        for (int i = begin; i < end; i++)
            used += h->count[first + i] != 0;
        for (int i = begin; i < end && used > 0; i++)
            q.count[i] = p.count[i] != 0 ? total / (float)used : 0;
    }
    fill_empty(&p);
    fill_empty(&q);
    return divergence(&p, &q);
}

/* The window [*lo, *hi] of least cost among those that arise by leaving out two bins at a time: one
 * at each end or, unless symmetric, two at the end where they count least. */
static void search(const bins *h, bool symmetric, float *lo, float *hi)
{
    const float min = *lo, max = *hi, width = (max - min) / (float)h->n;
    float least = INFINITY;
    for (int first = 0, last = h->n - 1; last - first + 1 >= CODES;) {
        const float *c = h->count, now = cost(h, first, last);
        if (now < least) {
            least = now;
            *lo = min + (float)first * width;
            *hi = min + (float)(last + 1) * width;
        }
        const float both = c[first] + c[last], left = c[first] + c[first + 1],
                    right = c[last] + c[last - 1];
        if (symmetric || (both <= left && both <= right)) {
            first++;
            last--;
        } else if (left <= right) {
            first += 2;
        } else {
            last -= 2;
        }
    }
    if (!symmetric)
        return;
    const double below = (double)*lo / (double)min, above = (double)*hi / (double)max;
    if (below > above) /* both ends keep their ratio, so that zero stays a code */
        *hi = (float)(below * (double)max);
    else
        *lo = (float)(above * (double)min);
}

bool calibrate_glow_kl(const float *count, int n, float min, float max, bool symmetric, float *lo,
                       float *hi)
{
    bins seen = {.n = n}, spread;
    if (!(min < max) || !(*lo < *hi) || n < CODES || n > ASSAY_HISTOGRAM_BINS)
        return false;
    memcpy(seen.count, count, (size_t)n * sizeof *count);
    respread(&seen, min, max, &spread, *lo, *hi);
    search(&spread, symmetric, lo, hi);
    return true;
}
