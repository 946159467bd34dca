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

static void settle(assay_histogram *h, assay_profile_fresh *f)
{
    const uint16_t *a = f->count[0], *b = f->count[1];
    for (int i = 0; i < ASSAY_PROFILE_BINS; i++)
        h->bin[i] += (uint64_t)a[i] + b[i];
    for (int i = ASSAY_PROFILE_BINS; i < ASSAY_PROFILE_ROW; i++)
        h->bin[ASSAY_PROFILE_HALF] += (uint64_t)a[i] + b[i];
    memset(f, 0, sizeof *f);
}

void assay_profile_settle(const assay_profile *p)
{
    for (int i = 0; p->fresh && i < p->n_entries; i++)
        if (p->fresh[i].n > 0)
            settle(&p->entry[i].seen, &p->fresh[i]);
}

bool assay_profile_place(const assay_histogram *h, assay_profile_chunk *c)
{
    const float scale = ldexpf(ASSAY_PROFILE_HALF, -h->exponent), end = ldexpf(1, h->exponent);
    int32_t bits;
    memcpy(&bits, &end, sizeof bits);
    return assay_profile_rows_best()->bins(c->x, c->n, scale, bits - 1, c->bin, &c->lo, &c->hi);
}

void assay_profile_keep_finite(assay_histogram *h, assay_profile_chunk *c)
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
            c->lo = fminf(c->lo, x);
            c->hi = fmaxf(c->hi, x);
            c->finite[kept++] = x;
        }
    }
    c->x = c->finite;
    c->n = kept;
}

static void observe_chunk(assay_histogram *h, assay_profile_fresh *f, assay_profile_chunk *c)
{
    if (!assay_profile_place(h, c)) {
        assay_profile_keep_finite(h, c);
        if (c->n == 0)
            return;
        const int exponent = assay_histogram_exponent(c->lo, c->hi);
        if (exponent > h->exponent)
            settle(h, f);
        assay_histogram_grow(h, exponent);
        assay_profile_place(h, c);
    }
    if (f->n + c->n > 2 * UINT16_MAX - ASSAY_PROFILE_CHUNK)
        settle(h, f);
    f->n += (uint32_t)c->n;
    assay_profile_rows_best()->count(c->bin, c->n & ~(size_t)1, f->count);
    f->count[0][c->bin[c->n - 1]] += c->n & 1;
    assay_histogram_note(h, c->n, c->lo, c->hi);
}

void assay_profile_observe(assay_profile *p, int value, const float *x, size_t n)
{
    if (value < 0 || value >= p->n_values || p->entry_of_value[value] < 0)
        return;
    assay_profile_entry *e = &p->entry[p->entry_of_value[value]];
    assay_profile_fresh *f = &p->fresh[p->entry_of_value[value]];
    assay_profile_chunk c;
    if (e->channel)
        assay_profile_observe_channels(e, x, n);
    for (size_t at = 0; at < n; at += ASSAY_PROFILE_CHUNK) {
        c.x = x + at;
        c.n = n - at < ASSAY_PROFILE_CHUNK ? n - at : ASSAY_PROFILE_CHUNK;
        observe_chunk(&e->seen, f, &c);
    }
}
