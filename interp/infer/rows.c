/* Rows without repetition; see rows.h. */
#include "interp/infer/rows.h"

#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
    rows_random r = {h ^ (v * UINT64_C(0xff51afd7ed558ccd))};
    return rows_next(&r);
}

static uint64_t float_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static uint64_t hash_of(const infer_row *row)
{
    const bool scales = row->out != 0;
    uint64_t h = mix(1, (uint64_t)row->acc);
    h = mix(h, scales ? 0 : (uint64_t)row->multiplier);
    h = mix(h, (uint64_t)(uint32_t)row->zp << 32 | (scales ? 0 : (uint32_t)row->shift));
    h = mix(h, float_bits(row->in) << 32 | float_bits(row->weight));
    h = mix(h, float_bits(row->out));
    h = row->bounded ? mix(h, (uint64_t)(uint32_t)row->lo << 32 | (uint32_t)row->hi) : h;
    return h ? h : 1;
}

/* The place of h, or of the free cell where it belongs. */
static size_t find(const uint64_t *seen, size_t room, uint64_t h)
{
    size_t i = (size_t)h & (room - 1);
    while (seen[i] && seen[i] != h)
        i = (i + 1) & (room - 1);
    return i;
}

static bool widen(infer_rows *r)
{
    const size_t room = r->seen_room ? r->seen_room * 2 : 4096;
    uint64_t *seen = calloc(room, sizeof *seen);
    if (!seen)
        return false;
    for (size_t i = 0; i < r->seen_room; i++)
        if (r->seen[i])
            seen[find(seen, room, r->seen[i])] = r->seen[i];
    free(r->seen);
    r->seen = seen;
    r->seen_room = room;
    return true;
}

bool infer_rows_keep(infer_rows *r, const infer_row *row, size_t n)
{
    if (!assay_make_room(&r->row, &r->room, r->n + n, sizeof *r->row)) {
        r->short_of_memory = true;
        return false;
    }
    memcpy(r->row + r->n, row, n * sizeof *row);
    r->n += n;
    return true;
}

void infer_rows_add(infer_rows *r, const infer_row *row)
{
    const uint64_t h = hash_of(row);
    if (2 * r->n_seen >= r->seen_room && !widen(r)) {
        r->short_of_memory = true;
        return;
    }
    const size_t at = find(r->seen, r->seen_room, h);
    if (r->seen[at] || !infer_rows_keep(r, row, 1))
        return;
    r->seen[at] = h;
    r->n_seen++;
}

void infer_rows_clear(infer_rows *r)
{
    r->n = 0;
}

void infer_rows_free(infer_rows *r)
{
    free(r->row);
    free(r->seen);
    memset(r, 0, sizeof *r);
}
