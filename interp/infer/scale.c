/* Kind scale; see scale.h. */
#include "interp/infer/scale.h"

#include "interp/infer/behind.h"
#include "interp/infer/check.h"
#include "interp/infer/drift.h"
#include "interp/infer/floats.h"
#include "interp/infer/limits.h"
#include "interp/infer/multiplier.h"
#include "interp/infer/places.h"
#include "interp/infer/prove.h"
#include "interp/infer/questions.h"

#define SMALL 1600 /* rows of each family */
#define ANY   1500

/* An encoding that covers every R, in use until the device's is known. */
static void set_first_encoder(infer_task *t)
{
    infer_plain_rule(&t->encoder);
    t->encoder.multiplier_bits = 31;
    t->encoder.shift_max = INFER_MAX_SHIFT;
    t->live_lo = INFER_MIN_EXPONENT;
    t->live_hi = INFER_MAX_EXPONENT;
    t->multiplier_lo = 1;
    t->multiplier_hi = INT32_MAX;
    t->shift_lo = 0;
    t->shift_hi = 62;
}

/* Adds operands whose product with R is between -1 and 1, so that nothing after it overflows. */
static void ask_operands(infer_task *t)
{
    const int bits = t->o->acc_bits;
    for (int i = 0; i < bits; i++)
        for (int64_t d = -1; d <= 1; d++)
            for (int sign = -1; sign <= 1; sign += 2) {
                const int64_t edge = i < 63 ? (INT64_C(1) << i) + d : INT64_MAX;
                infer_row row = {.acc = sign * (edge > infer_acc_max(t) ? infer_acc_max(t) : edge),
                                 .multiplier = 1};
                const int e = -i - 1 < t->live_lo ? t->live_lo : -i - 1;
                infer_set_scales(&t->random, &row, 1, e > t->live_hi ? t->live_hi : e);
                infer_encode_row(t, &row);
                infer_rows_add(&t->next, &row);
                infer_set_scales(&t->random, &row, 1, t->live_lo);
                infer_encode_row(t, &row);
                infer_rows_add(&t->next, &row);
                infer_set_scales(&t->random, &row, 0, 0);
                infer_encode_row(t, &row);
                infer_rows_add(&t->next, &row);
            }
}

static bool has_stage(const infer_engine *e, bool before)
{
    for (int i = 0; i < e->n_tails; i++)
        if (e->tail[i].before == before)
            return true;
    return false;
}

/* Asks the rows that serve every encoding. */
static assay_status ask_chain(infer_engine *e, assay_error *err)
{
    infer_task *t = e->t;
    for (int before = 0; before < 2; before++) {
        if (!has_stage(e, before))
            continue;
        infer_ask_powers(t, before, t->next.n + infer_some(t, SMALL));
        for (size_t i = 0; i < infer_some(t, SMALL); i++) {
            const infer_row row = infer_small_row(t, before);
            infer_rows_add(&t->next, &row);
        }
    }
    for (size_t i = 0; i < infer_some(t, ANY); i++) {
        const infer_row row = infer_any_row(t);
        infer_rows_add(&t->next, &row);
    }
    return infer_ask(t, err);
}

static assay_status find_rules(infer_engine *e, infer_rules *out, assay_error *err)
{
    if (e->n_ends == 0) /* operands of 0 contradict every record, whatever R becomes */
        return ASSAY_OK;
    infer_find_inputs_of(e, true);
    assay_status s = infer_find_floats(e, out, err);
    if (!s && out->n > 0)
        s = infer_part_rules(e->t, out, err);
    if (!s && out->n > 0)
        return infer_prove_floats(e->t, out, err);
    return s ? s : infer_find_behind(e, out, err);
}

assay_status infer_scale(infer_task *t, infer_rules *out, assay_error *err)
{
    infer_engine e;
    set_first_encoder(t);
    assay_status s = infer_engine_open(&e, t, err);
    if (!s)
        s = infer_find_taken(t, err);
    if (!s)
        s = infer_find_places(t, err);
    if (!s) {
        infer_ask_zeros(t);
        ask_operands(t);
        s = infer_ask(t, err);
    }
    if (!s) {
        infer_encode_log(t);
        s = infer_engine_take(&e, t->log.row, t->log.n, err);
    }
    if (!s)
        s = infer_find_ends(&e, err);
    if (!s)
        s = ask_chain(&e, err);
    infer_ask_drift(t);
    if (!s)
        s = infer_ask_limits(t, err);
    if (!s)
        s = find_rules(&e, out, err);
    if (!s)
        s = infer_rules_check(t, out, err);
    infer_engine_close(&e);
    return s;
}
