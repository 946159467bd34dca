/* Counting the elements of a value as they come, chunk by chunk. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "opt/profile/state.h"

static assay_profile_pair pair_of(assay_profile_entry *e, const assay_profile_fresh *f)
{
    return (assay_profile_pair){&e->seen, f->clamped ? &f->clamped->seen : NULL, f->lo, f->hi};
}

static void observe_chunk(const assay_profile_pair *p, assay_profile_fresh *f, const float *x,
                          size_t n)
{
    uint16_t at[ASSAY_PROFILE_CHUNK];
    assay_profile_add_full(p, &f->counts, n);
    if (!assay_profile_place(p, x, n, &f->counts, at)) {
        assay_profile_add(p, &f->counts);
        if (!assay_profile_place_anew(p, x, n, &f->counts, at))
            return;
    }
    f->counts.max += (uint32_t)n;
    assay_profile_rows_best()->count(at, n, f->counts.table);
}

void assay_profile_observe(assay_profile *p, int value, const float *x, size_t n)
{
    if (value < 0 || value >= p->n_values || p->entry_of_value[value] < 0)
        return;
    assay_profile_entry *e = &p->entry[p->entry_of_value[value]];
    assay_profile_fresh *f = &p->fresh[p->entry_of_value[value]];
    const assay_profile_pair pair = pair_of(e, f);
    if (f->is_clamped)
        return;
    if (e->pending) {
        assay_profile_observe_channels(e, f, x, n);
        return;
    }
    for (size_t at = 0; at < n; at += ASSAY_PROFILE_CHUNK)
        observe_chunk(&pair, f, x + at,
                      n - at < ASSAY_PROFILE_CHUNK ? n - at : ASSAY_PROFILE_CHUNK);
}

void assay_profile_flush(const assay_profile *p)
{
    for (int i = 0; p->fresh && i < p->n_entries; i++) {
        const assay_profile_pair pair = pair_of(&p->entry[i], &p->fresh[i]);
        assay_profile_add(&pair, &p->fresh[i].counts);
        assay_profile_flush_channels(&p->entry[i], &p->fresh[i]);
    }
    for (int i = 0; p->fresh && i < p->n_entries; i++)
        assay_profile_join_channels(&p->entry[i]);
}
