/* Counting elements. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "opt/profile_state.h"

const assay_profile_rows *assay_profile_rows_best(void)
{
#ifdef ASSAY_X86
    if (__builtin_cpu_supports("avx2"))
        return &assay_profile_rows_avx2;
#endif
    return &assay_profile_rows_any;
}

static void settle(assay_histogram *h, void *fresh)
{
    assay_profile_fresh *f = fresh;
    const uint16_t *a = f->count[0], *b = f->count[1];
    for (int i = 0; i < ASSAY_HISTOGRAM_BINS; i++)
        h->count[i] += (uint64_t)a[i] + b[i];
    for (int i = ASSAY_HISTOGRAM_BINS; i < ASSAY_PROFILE_ROW; i++)
        h->count[0] += (uint64_t)a[i] + b[i];
    memset(f, 0, sizeof *f);
}

void assay_profile_settle(const assay_profile *p)
{
    for (int i = 0; p->fresh && i < p->n_entries; i++) {
        if (p->fresh[i].n > 0)
            settle(&p->entry[i].seen, &p->fresh[i]);
        if (p->entry[i].pending)
            assay_profile_settle_channels(&p->entry[i], &p->fresh[i]);
    }
}

/* Finds the places of all elements; false when not all are finite and held by h. */
static bool find_places(const assay_histogram *h, assay_profile_chunk *c)
{
    const float scale = ldexpf(1, -h->exponent), end = ldexpf(1, h->exponent + 24);
    int32_t bits;
    memcpy(&bits, &end, sizeof bits);
    return assay_profile_rows_best()->places(c->x, c->n, scale, bits - 1, c->at, &c->lo, &c->hi) &&
           assay_histogram_holds(h, c->lo, c->hi);
}

/* Counts NaNs and infinities in h and keeps the other elements, and their range. */
static void keep_finite(assay_histogram *h, assay_profile_chunk *c)
{
    size_t kept = 0;
    c->lo = FLT_MAX;
    c->hi = -FLT_MAX;
    for (size_t i = 0; i < c->n; i++) {
        const float x = c->x[i];
        if (isnan(x)) {
            h->nan++;
        } else if (isinf(x)) {
            h->inf++;
        } else {
            c->lo = x < c->lo ? x : c->lo;
            c->hi = x > c->hi ? x : c->hi;
            c->finite[kept++] = x;
        }
    }
    c->x = c->finite;
    c->n = kept;
}

void assay_profile_place(assay_histogram *h, assay_profile_chunk *c,
                         void (*settle_first)(assay_histogram *, void *), void *user)
{
    if (!find_places(h, c)) {
        keep_finite(h, c);
        if (c->n == 0)
            return;
        if (h->finite > 0 && !assay_histogram_holds(h, c->lo, c->hi))
            settle_first(h, user);
        assay_histogram_grow(h, c->lo, c->hi);
        find_places(h, c);
    }
    assay_histogram_note(h, c->n, c->lo, c->hi);
}

static void observe_chunk(assay_histogram *h, assay_profile_fresh *f, assay_profile_chunk *c)
{
    assay_profile_place(h, c, settle, f);
    if (c->n == 0)
        return;
    if (f->n + c->n > 2 * UINT16_MAX - ASSAY_PROFILE_CHUNK)
        settle(h, f);
    f->n += (uint32_t)c->n;
    assay_profile_rows_best()->count(c->at, c->n & ~(size_t)1, f->count);
    f->count[0][c->at[c->n - 1]] += c->n & 1;
}

void assay_profile_observe(assay_profile *p, int value, const float *x, size_t n)
{
    if (value < 0 || value >= p->n_values || p->entry_of_value[value] < 0)
        return;
    assay_profile_entry *e = &p->entry[p->entry_of_value[value]];
    assay_profile_fresh *f = &p->fresh[p->entry_of_value[value]];
    assay_profile_chunk c;
    if (e->pending) {
        assay_profile_observe_channels(e, f, x, n);
        return;
    }
    for (size_t at = 0; at < n; at += ASSAY_PROFILE_CHUNK) {
        c.x = x + at;
        c.n = n - at < ASSAY_PROFILE_CHUNK ? n - at : ASSAY_PROFILE_CHUNK;
        observe_chunk(&e->seen, f, &c);
    }
}
