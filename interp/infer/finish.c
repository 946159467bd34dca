/* Whole rules; see finish.h. */
#include "interp/infer/finish.h"

#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/infer/check.h"
#include "interp/infer/reach.h"
#include "interp/infer/window.h"

typedef struct finisher {
    infer_engine *e;
    infer_rules *out;
    infer_check check;
    bool short_of_memory;
} finisher;

enum { FIRST = 10000000 }; /* work until the first rule is found, in a search that is over */

static bool stops(finisher *f)
{
    const infer_task *t = f->e->t;
    const uint64_t work = t->work - f->e->begun;
    const bool over = infer_is_over(t) && (f->out->n > 0 || work >= FIRST);
    if (work < INFER_WORK && f->out->n < INFER_MAX_CANDIDATES && !f->short_of_memory && !over)
        return false;
    f->e->t->complete = false;
    return true;
}

static void try_rule(finisher *f, const infer_rule *k, const infer_reach *r)
{
    infer_rule less = *k;
    if (!infer_leave_out(f->e->t->o, &less, r) && infer_check_holds(&f->check, k))
        f->short_of_memory |= !infer_rules_keep(f->out, k);
}

/* The ways in which the result may be narrowed. */
static bool is_of_form(enum infer_form form, int32_t how)
{
    static const int32_t ways[INFER_FORMS] = {-1, ASSAY_NARROW_WRAP, ASSAY_NARROW_SATURATE,
                                              ASSAY_NARROW_REFUSE};
    return form == INFER_WIDE || ways[form] == how;
}

static void try_results(finisher *f, infer_rule *k, enum infer_form form, const infer_reach *r)
{
    static const int32_t ways[] = {ASSAY_NARROW_WRAP, ASSAY_NARROW_SATURATE, ASSAY_NARROW_REFUSE};
    const int32_t min = form == INFER_WIDE ? 2 : 1, max = form == INFER_WIDE ? 64 : 1;
    if (form == INFER_WIDE)
        try_rule(f, k, r);
    for (int32_t bits = min; bits <= max; bits++)
        for (int w = 0; w < 3; w++)
            if (is_of_form(form, ways[w])) {
                k->result_bits = bits;
                k->result_overflow = ways[w];
                try_rule(f, k, r);
            }
    k->result_bits = 0;
    k->result_overflow = ASSAY_NARROW_SATURATE;
}

/* Turns a rule into one of a whole record: the window of multipliers and shifts becomes its fields.
 */
static void close_window(const infer_engine *e, infer_rule *k)
{
    if (e->t->o->kind == INFER_SCALE) /* the encoding states them */
        return;
    if (infer_is_of_shifts(e->t)) {
        assay_record plain; /* encoding: shift has the multiplier 1 alone, and its multiplier_bits
                               are the default */
        assay_record_default(&plain);
        k->encoding = ASSAY_ENCODE_SHIFT;
        k->scale = ASSAY_FORM_POW2;
        k->multiplier_bits = plain.rescale.multiplier_bits;
    } else if (k->reduced_bits == 0) {
        k->multiplier_bits = e->multiplier_bits > 0 ? e->multiplier_bits : 1;
    }
    k->shift_min = e->shift_lo;
    k->shift_max = e->shift_hi;
}

static void try_ends(finisher *f, const infer_candidate *c, infer_rule *k, const infer_reach *r)
{
    for (size_t i = 0; i < f->e->n_ends && !stops(f); i++) {
        const infer_end *end = &f->e->end[i];
        if (end->tail != c->tail)
            continue;
        k->sum_bits = end->sum_bits;
        k->sum_overflow = end->sum_overflow;
        k->store = end->store;
        try_results(f, k, c->form, r);
    }
}

static void finish_one(finisher *f, const infer_candidate *c)
{
    for (int i = 0; i < f->e->n_inputs; i++) {
        infer_rule k = c->rule;
        close_window(f->e, &k);
        k.input_bits = f->e->inputs[i].bits;
        k.input_shift_range = f->e->inputs[i].by_shift;
        const infer_reach r = infer_reach_of(f->e, &k);
        infer_rule less = k;
        if (!infer_leave_out_before(f->e, &less, &r))
            try_ends(f, c, &k, &r);
    }
}

assay_status infer_finish(infer_engine *e, infer_rules *out, assay_error *err)
{
    finisher f = {.e = e, .out = out};
    /* kind scale: rows whose R the encoding does not cover are checked later */
    const bool live = e->t->o->kind == INFER_SCALE;
    const assay_status s = infer_check_open(&f.check, e->t, live, err);
    out->n = 0;
    e->begun = e->t->work;
    if (s)
        return s;
    for (size_t i = 0; i < e->list.n && !stops(&f); i++)
        finish_one(&f, &e->list.item[i]);
    infer_check_close(&f.check);
    return f.short_of_memory ? assay_out_of_memory_for(err, "candidates") : ASSAY_OK;
}

void infer_rules_free(infer_rules *r)
{
    free(r->rule);
    *r = (infer_rules){0};
}
