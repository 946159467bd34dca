/* The multipliers and shifts that the device takes; see window.h. */
#include "interp/infer/window.h"

#include "interp/infer/questions.h"

static void put(infer_task *t, int64_t multiplier, int64_t shift)
{
    const infer_row row = {.multiplier = multiplier, .shift = (int32_t)shift};
    if (multiplier >= t->o->multiplier_lo && multiplier <= t->o->multiplier_hi)
        infer_rows_add(&t->next, &row);
}

/* Operand 0 and zero point 0: nothing but the multiplier or the shift can be refused. */
static assay_status find_shifts(infer_task *t, bool *refused, assay_error *err)
{
    const int64_t m = infer_least_multiplier(t);
    const size_t from = t->log.n;
    for (int64_t s = t->o->shift_lo; s <= t->o->shift_hi; s++)
        put(t, m, s);
    const assay_status status = infer_ask(t, err);
    bool any = false;
    for (size_t i = from; i < t->log.n && !status; i++) {
        const infer_row *r = &t->log.row[i];
        if (r->answer == INFER_REFUSED) {
            *refused = true;
            continue;
        }
        t->shift_lo = any && t->shift_lo < r->shift ? t->shift_lo : r->shift;
        t->shift_hi = any && t->shift_hi > r->shift ? t->shift_hi : r->shift;
        any = true;
    }
    return status || any ? status
                         : assay_fail(err, ASSAY_ERR_INPUT,
                                      "the oracle refuses every row: there is nothing to infer");
}

static assay_status find_multipliers(infer_task *t, bool *refused, assay_error *err)
{
    const size_t from = t->log.n;
    int64_t lo = infer_least_multiplier(t), hi = lo;
    for (int i = 0; i <= 32; i++)
        for (int64_t d = 0; d <= 1; d++) {
            put(t, (INT64_C(1) << i) + d, infer_middle_shift(t));
            put(t, -(INT64_C(1) << i) - d, infer_middle_shift(t));
        }
    put(t, t->o->multiplier_lo, infer_middle_shift(t));
    put(t, t->o->multiplier_hi, infer_middle_shift(t));
    const assay_status status = infer_ask(t, err);
    for (size_t i = from; i < t->log.n && !status; i++) {
        const infer_row *r = &t->log.row[i];
        *refused |= r->answer == INFER_REFUSED;
        if (r->answer == INFER_REFUSED)
            continue;
        lo = r->multiplier < lo ? r->multiplier : lo;
        hi = r->multiplier > hi ? r->multiplier : hi;
    }
    t->multiplier_lo = lo;
    t->multiplier_hi = hi;
    return status;
}

bool infer_is_bounded(const infer_task *t)
{
    return t->multiplier_lo > t->o->multiplier_lo || t->multiplier_hi < t->o->multiplier_hi;
}

bool infer_is_of_shifts(const infer_task *t)
{
    return infer_is_bounded(t) && t->multiplier_lo >= -1 && t->multiplier_hi <= 1;
}

static bool is_everything(const infer_options *o)
{
    return o->multiplier_lo == -INFER_MOST_MULTIPLIER &&
           o->multiplier_hi == INFER_MOST_MULTIPLIER && o->shift_lo == -INFER_MOST_SHIFT &&
           o->shift_hi == INFER_MOST_SHIFT;
}

assay_status infer_find_window(infer_task *t, assay_error *err)
{
    bool refused = false;
    assay_status s = find_shifts(t, &refused, err);
    if (!s)
        s = find_multipliers(t, &refused, err);
    if (s || refused || !is_everything(t->o))
        return s;
    t->multiplier_lo = 0; /* what never refuses computes there what it was not made for */
    t->multiplier_hi = INT32_MAX;
    t->shift_lo = 0;
    t->shift_hi = 62;
    snprintf(t->note, sizeof t->note,
             "the device refuses no multiplier and no shift: asked about multipliers 0..2147483647 "
             "and shifts 0..62; --multiplier and --shift choose others");
    return s;
}
