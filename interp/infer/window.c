/* The multipliers and shifts that the device accepts; see window.h. */
#include "interp/infer/window.h"

#include <assert.h>
#include <stdlib.h>

#include "graph/memory.h"
#include "interp/infer/questions.h"
#include "schemes/round.h"

static void put(infer_task *t, int64_t multiplier, int64_t shift)
{
    const infer_row row = {.multiplier = multiplier, .shift = (int32_t)shift};
    if (multiplier >= t->o->multiplier_lo && multiplier <= t->o->multiplier_hi)
        infer_rows_add(&t->next, &row);
}

/* Rows of operand 0 and zero point 0, where only the multiplier or the shift can be refused. */
static assay_status find_shifts(infer_task *t, int64_t m, bool *any, bool *refused,
                                assay_error *err)
{
    for (int64_t s = t->o->shift_lo; s <= t->o->shift_hi; s++)
        put(t, m, s);
    const assay_status status = infer_ask(t, err);
    *any = false;
    for (size_t i = 0; i < t->log.n && !status; i++) { /* some of them were asked before */
        const infer_row *r = &t->log.row[i];
        if (r->multiplier != m)
            continue;
        if (r->answer == INFER_REFUSED) {
            *refused = true;
            continue;
        }
        t->shift_lo = *any && t->shift_lo < r->shift ? t->shift_lo : r->shift;
        t->shift_hi = *any && t->shift_hi > r->shift ? t->shift_hi : r->shift;
        *any = true;
    }
    return status;
}

/* 2^i, its neighbours and their negatives. */
static void put_powers(infer_task *t, int64_t shift)
{
    for (int i = 0; i <= 32; i++)
        for (int64_t d = -1; d <= 1; d++) {
            put(t, (INT64_C(1) << i) + d, shift);
            put(t, -(INT64_C(1) << i) - d, shift);
        }
}

/* A multiplier that the device accepts with some shift, for a device that refuses 0. */
static assay_status find_one(infer_task *t, int64_t *m, bool *any, assay_error *err)
{
    static const int32_t shifts[] = {31, 16, 8, 24, 40, 48, 0};
    const size_t from = t->log.n;
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++)
        put_powers(t, apply_clamp_to(shifts[i], t->o->shift_lo, t->o->shift_hi));
    const assay_status s = infer_ask(t, err);
    *any = false;
    for (size_t i = from; i < t->log.n && !s; i++)
        if (t->log.row[i].answer != INFER_REFUSED && (!*any || t->log.row[i].multiplier > *m)) {
            *m = t->log.row[i].multiplier;
            *any = true;
        }
    return s;
}

/* ---- multipliers ---- */

static int by_multiplier(const void *a, const void *b)
{
    const infer_row *x = a, *y = b;
    return (x->multiplier > y->multiplier) - (x->multiplier < y->multiplier);
}

/* The widest run of multipliers of which all that were asked were accepted. */
static void take_run(infer_task *t, infer_row *row, size_t n)
{
    bool any = false;
    qsort(row, n, sizeof *row, by_multiplier);
    for (size_t i = 0, to; i < n; i = to) {
        to = i + 1;
        if (row[i].answer == INFER_REFUSED)
            continue;
        while (to < n && row[to].answer != INFER_REFUSED)
            to++;
        if (any && row[to - 1].multiplier - row[i].multiplier < t->multiplier_hi - t->multiplier_lo)
            continue;
        t->multiplier_lo = row[i].multiplier;
        t->multiplier_hi = row[to - 1].multiplier;
        any = true;
    }
}

enum { AT_ONCE = 48 };

/* Moves an end of the window to the last multiplier before `out`, a refused one. */
static assay_status find_end(infer_task *t, int64_t *end, int64_t out, assay_error *err)
{
    while (out - *end > 1 || *end - out > 1) {
        const int64_t step = (out - *end) / AT_ONCE;
        const size_t from = t->log.n;
        const int64_t way = out > *end ? 1 : -1, begin = *end;
        for (int64_t i = 1; i <= AT_ONCE; i++)
            if ((out - begin - i * (step ? step : way)) * way > 0)
                put(t, begin + i * (step ? step : way), infer_middle_shift(t));
        const assay_status s = infer_ask(t, err);
        if (s || t->log.n == from)
            return s;
        for (size_t i = from; i < t->log.n; i++) {
            const infer_row *r = &t->log.row[i];
            if (r->answer != INFER_REFUSED && (r->multiplier - *end) * way > 0)
                *end = r->multiplier;
        }
        for (size_t i = from; i < t->log.n; i++) {
            const infer_row *r = &t->log.row[i];
            const bool beyond = (r->multiplier - *end) * way > 0;
            if (beyond && (out - r->multiplier) * way > 0)
                out = r->multiplier;
        }
    }
    return ASSAY_OK;
}

static assay_status find_multipliers(infer_task *t, int64_t taken, bool *refused, assay_error *err)
{
    const size_t from = t->log.n;
    put_powers(t, infer_middle_shift(t));
    put(t, taken, infer_middle_shift(t));
    put(t, t->o->multiplier_lo, infer_middle_shift(t));
    put(t, t->o->multiplier_hi, infer_middle_shift(t));
    const assay_status status = infer_ask(t, err);
    infer_row *row = malloc((t->log.n + 1) * sizeof *row);
    size_t n = 0;
    if (!row)
        return assay_out_of_memory_for(err, "rows");
    for (size_t i = 0; i < t->log.n && !status; i++)
        if (t->log.row[i].shift == infer_middle_shift(t)) {
            row[n++] = t->log.row[i];
            *refused |= i >= from && row[n - 1].answer == INFER_REFUSED;
        }
    t->multiplier_lo = t->multiplier_hi = taken;
    take_run(t, row, n);
    int64_t below = INT64_MIN, above = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        below = row[i].multiplier < t->multiplier_lo ? row[i].multiplier : below;
        if (row[n - 1 - i].multiplier > t->multiplier_hi)
            above = row[n - 1 - i].multiplier;
    }
    free(row);
    assay_status s = status;
    if (!s && below != INT64_MIN)
        s = find_end(t, &t->multiplier_lo, below, err);
    if (!s && above != INT64_MAX)
        s = find_end(t, &t->multiplier_hi, above, err);
    return s;
}

int infer_window_bits(const infer_task *t)
{
    const uint64_t lo = t->multiplier_lo < 0 ? 0 - (uint64_t)t->multiplier_lo : 0;
    const uint64_t hi = t->multiplier_hi > 0 ? (uint64_t)t->multiplier_hi : 0;
    const uint64_t max = lo > hi ? lo : hi;
    int bits = 0;
    while (bits < 32 && (UINT64_C(1) << bits) < max)
        bits++;
    return bits;
}

/* Drops refusals within -2^bits .. 2^bits, which a record accepts: negative multipliers, or those
 * that are not normalised, lie outside the domain and say nothing about a record. */
static void forget_refused(infer_task *t)
{
    assert(infer_window_bits(t) <= 32);
    const int64_t max = INT64_C(1) << infer_window_bits(t);
    size_t kept = 0;
    for (size_t i = 0; i < t->log.n; i++) {
        const infer_row *r = &t->log.row[i];
        const bool record_takes = r->multiplier >= -max && r->multiplier <= max &&
                                  r->shift >= t->shift_lo && r->shift <= t->shift_hi;
        if (r->answer != INFER_REFUSED || !record_takes)
            t->log.row[kept++] = *r;
    }
    t->log.n = kept;
}

/* Drops rows outside the window where the device refused none of them: they say nothing. */
static void forget_outside(infer_task *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->log.n; i++)
        if (infer_in_window(t, &t->log.row[i]))
            t->log.row[kept++] = t->log.row[i];
    t->log.n = kept;
}

bool infer_is_bounded(const infer_task *t)
{
    const bool up = t->multiplier_hi >= -t->multiplier_lo;
    const bool down = t->multiplier_hi <= -t->multiplier_lo;
    return (up && t->multiplier_hi < t->o->multiplier_hi) ||
           (down && t->multiplier_lo > t->o->multiplier_lo);
}

bool infer_is_of_shifts(const infer_task *t)
{
    return infer_is_bounded(t) && t->multiplier_lo >= -1 && t->multiplier_hi <= 1;
}

static bool is_everything(const infer_options *o)
{
    return o->multiplier_lo == -INFER_MAX_MULTIPLIER && o->multiplier_hi == INFER_MAX_MULTIPLIER &&
           o->shift_lo == -INFER_MAX_SHIFT && o->shift_hi == INFER_MAX_SHIFT;
}

assay_status infer_find_window(infer_task *t, assay_error *err)
{
    bool refused = false, any = false;
    int64_t m = infer_least_multiplier(t);
    assay_status s = find_shifts(t, m, &any, &refused, err);
    if (!s && !any)
        s = find_one(t, &m, &any, err);
    if (!s && !any)
        s = infer_nothing_taken(t, err);
    if (!s && m != infer_least_multiplier(t))
        s = find_shifts(t, m, &any, &refused, err);
    if (!s)
        s = find_multipliers(t, m, &refused, err);
    if (!s)
        forget_refused(t);
    if (!s && t->exhausted) {
        snprintf(t->note, sizeof t->note,
                 "the budget ended before it was known which multipliers and shifts the device "
                 "takes: the domain may be wider");
        return s;
    }
    if (s || refused || !is_everything(t->o))
        return s;
    t->multiplier_lo = 0; /* a device that never refuses also computes what it was not made for */
    t->multiplier_hi = INT32_MAX;
    t->shift_lo = 0;
    t->shift_hi = 62;
    forget_outside(t);
    snprintf(t->note, sizeof t->note,
             "the device refuses no multiplier and no shift: asked about multipliers 0..2147483647 "
             "and shifts 0..62, unless ranges of them are given");
    return s;
}
