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
    profile_add_full(p, &f->counts, n);
    if (!profile_place(p, x, n, &f->counts, at)) {
        profile_add(p, &f->counts);
        if (!profile_place_anew(p, x, n, &f->counts, at))
            return;
    }
    f->counts.max += (uint32_t)n;
    profile_rows_best()->count(at, n, f->counts.table);
}

void profile_observe(assay_profile *p, int value, const float *x, size_t n)
{
    if (value < 0 || value >= p->n_values || p->entry_of_value[value] < 0)
        return;
    assay_profile_entry *e = &p->entry[p->entry_of_value[value]];
    assay_profile_fresh *f = &p->fresh[p->entry_of_value[value]];
    const assay_profile_pair pair = pair_of(e, f);
    if (f->is_clamped)
        return;
    if (e->pending) {
        profile_observe_channels(e, f, x, n);
        return;
    }
    for (size_t at = 0; at < n; at += ASSAY_PROFILE_CHUNK)
        observe_chunk(&pair, f, x + at,
                      n - at < ASSAY_PROFILE_CHUNK ? n - at : ASSAY_PROFILE_CHUNK);
}

void profile_flush(const assay_profile *p)
{
    for (int i = 0; p->fresh && i < p->n_entries; i++) {
        const assay_profile_pair pair = pair_of(&p->entry[i], &p->fresh[i]);
        profile_add(&pair, &p->fresh[i].counts);
        profile_flush_channels(&p->entry[i], &p->fresh[i]);
    }
    for (int i = 0; p->fresh && i < p->n_entries; i++)
        profile_join_channels(&p->entry[i]);
}
