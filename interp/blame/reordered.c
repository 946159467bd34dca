/* Edits that leave the device's codes in other places: what an edit predicts of two channels, or of
 * one row of cells, holds each code as often as the device has it there, and not where it has it.
 * Then the codes' order is likely to be another cause, however far off it puts them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/budget.h"
#include "interp/blame/families.h"
#include "interp/blame/likely.h"

enum { CHANNELS = 2, ROWS = 1, DISTINCT = 4, MAX_BITS = 16 };

typedef struct reordering {
    blame_search *s;
    blame_look look;
    int32_t *codes;
    int64_t *count; /* of each code */
} reordering;

static void reordering_close(reordering *r)
{
    blame_look_close(&r->look);
    free(r->codes);
    free(r->count);
}

/* An axis of cells along which the node can be cut; -1: none. */
static int axis_of_rows(const blame_search *s)
{
    const bool last = s->channel_axis == s->type->rank - 1;
    return s->type->rank > 2 ? (last ? 1 : 2) : -1;
}

static bool reordering_open(reordering *r, blame_search *s, bool channels)
{
    const int axis = channels ? s->channel_axis : axis_of_rows(s);
    *r = (reordering){.s = s};
    assert(s->type->elem.bits <= MAX_BITS); /* can */
    if (axis < 0 || !blame_band_open(s, axis, channels ? CHANNELS : ROWS, &r->look))
        return false;
    r->codes = malloc((size_t)r->look.n * sizeof *r->codes + 64);
    r->count = malloc(sizeof *r->count << s->type->elem.bits);
    return r->codes && r->count;
}

/* Whether the device has each code as often as it is predicted, and elsewhere. elem.bits is at most
 * MAX_BITS. */
static bool is_reordered(const reordering *r)
{
    const blame_search *s = r->s;
    const int64_t least = assay_elem_min(s->type->elem);
    int64_t distinct = 0;
    bool same = true, moved = false;
    memset(r->count, 0, sizeof *r->count << s->type->elem.bits);
    for (int64_t j = 0; j < r->look.n; j++)
        distinct += r->count[r->codes[j] - least]++ == 0;
    for (int64_t j = 0; j < r->look.n && same; j++) {
        const int64_t e = r->look.k * s->count + r->look.at[j];
        moved = moved || (s->seen[e] && s->dev[e] != r->codes[j]);
        same = !s->seen[e] || --r->count[s->dev[e] - least] >= 0;
    }
    return same && moved && distinct >= DISTINCT;
}

static bool can(const blame_search *s)
{
    const assay_elem e = s->type->elem;
    return s->n_after == 0 && !s->on_sums && s->unseen_bits == 0 && blame_case_can(s->n) &&
           e.kind == ASSAY_KIND_INT && e.bits <= MAX_BITS;
}

static bool is_edit(const blame_family *f)
{
    return f->edit && !f->late && !f->sought && f->id != BLAME_FAMILY_scheme &&
           f->id != BLAME_FAMILY_dumped;
}

static void try_family(reordering *r, const blame_family *f, blame_likely *list, int *n)
{
    const int choices = is_edit(f) ? f->count(r->s) : 0;
    for (int i = 0; i < choices; i++) {
        blame_likely one = {.finding = {.story = {.changed = 1}, .family = f, .i = i}};
        if (blame_afford(r->s) &&
            blame_predict_look(r->s, f, i, &r->look, r->codes, &one.finding.story) &&
            is_reordered(r))
            blame_note_likely(list, n, &one);
    }
}

int blame_reordered_edits(blame_search *s, blame_likely list[BLAME_LIKELY])
{
    int n = 0;
    for (int way = 0; way < 2 && n == 0 && can(s); way++) {
        reordering r;
        if (reordering_open(&r, s, way == 0))
            for (int f = 0; f < BLAME_FAMILIES; f++)
                try_family(&r, &blame_families[f], list, &n);
        reordering_close(&r);
    }
    return n;
}
