/* Kind multiplier; see multiplier.h. */
#include "interp/infer/multiplier.h"

#include "interp/infer/questions.h"
#include "interp/infer/window.h"

#define POWERS 1200 /* rows of each family */
#define PAIRS  2200
#define SMALL  2400
#define ANY    1500

static void find_keeps(infer_engine *e)
{
    const infer_task *t = e->t;
    const int max = infer_is_bounded(t) && t->note[0] == '\0' ? e->multiplier_bits : 32;
    e->keep[e->n_keep++] =
        (infer_keep){e->multiplier_bits > 0 ? e->multiplier_bits : 1, 0, ASSAY_REDUCED_CAP};
    if (infer_is_of_shifts(t))
        return;
    for (int32_t bits = e->multiplier_bits; bits <= max; bits++)
        for (int32_t reduced = 1; reduced < bits; reduced++) {
            e->keep[e->n_keep++] = (infer_keep){bits, reduced, ASSAY_REDUCED_CAP};
            e->keep[e->n_keep++] = (infer_keep){bits, reduced, ASSAY_REDUCED_RENORMALISE};
        }
}

static void set_window(infer_engine *e)
{
    e->multiplier_bits = infer_window_bits(e->t);
    e->multiplier_lo = e->t->multiplier_lo;
    e->multiplier_hi = e->t->multiplier_hi;
    e->shift_lo = e->t->shift_lo;
    e->shift_hi = e->t->shift_hi;
    find_keeps(e);
}

static assay_status take_all(infer_engine *e, assay_error *err)
{
    return infer_engine_take(e, e->t->log.row, e->t->log.n, err);
}

static bool has_stage(const infer_engine *e, bool before)
{
    for (int i = 0; i < e->n_tails; i++)
        if (e->tail[i].before == before)
            return true;
    return false;
}

static assay_status ask_powers(infer_engine *e, assay_error *err)
{
    for (int before = 0; before < 2; before++)
        if (has_stage(e, before)) {
            infer_ask_powers(e->t, before, e->t->next.n + infer_some(e->t, POWERS));
            infer_ask_neighbours(e->t, before, e->t->next.n + infer_some(e->t, PAIRS));
        }
    const assay_status s = infer_ask(e->t, err);
    return s ? s : take_all(e, err);
}

static assay_status ask_small(infer_engine *e, assay_error *err)
{
    for (int before = 0; before < 2; before++)
        for (size_t i = 0; i < infer_some(e->t, SMALL) && has_stage(e, before); i++) {
            const infer_row row = infer_small_row(e->t, before);
            infer_rows_add(&e->t->next, &row);
        }
    const assay_status s = infer_ask(e->t, err);
    return s ? s : take_all(e, err);
}

static assay_status ask_any(infer_engine *e, size_t n, assay_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const infer_row row = infer_any_row(e->t);
        infer_rows_add(&e->t->next, &row);
    }
    return infer_ask(e->t, err);
}

static assay_status find_candidates(infer_engine *e, assay_error *err)
{
    assay_status s;
    infer_ask_zeros(e->t);
    infer_ask_operands(e->t);
    if ((s = infer_ask(e->t, err)) || (s = take_all(e, err)) || (s = infer_find_ends(e, err)))
        return s;
    infer_find_inputs(e);
    if ((s = ask_powers(e, err)))
        return s;
    infer_find_prefixes(e);
    if ((s = ask_small(e, err)))
        return s;
    infer_find_steps(e);
    return infer_part_candidates(e, err);
}

assay_status infer_multiplier(infer_task *t, infer_rules *out, assay_error *err)
{
    infer_engine e;
    assay_status s = infer_engine_open(&e, t, err);
    if (!s)
        s = infer_find_window(t, err);
    if (!s) {
        set_window(&e);
        s = find_candidates(&e, err);
    }
    if (!s)
        s = ask_any(&e, infer_some(t, ANY), err);
    if (!s)
        s = infer_finish(&e, out, err);
    if (!s)
        s = infer_part_rules(t, out, err);
    if (!s)
        s = infer_keep_distinct(&e, out, err);
    infer_engine_close(&e);
    return s;
}
