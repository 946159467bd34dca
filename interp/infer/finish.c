/* Whole rules; see finish.h. */
#include "interp/infer/finish.h"

#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/infer/reach.h"

typedef struct finisher {
    infer_engine *e;
    infer_rules *out;
    infer_model m;
    size_t *order; /* of the log: rows that told rules apart come first */
    bool short_of_memory;
} finisher;

static bool holds(finisher *f, const infer_rule *k)
{
    const infer_rows *log = &f->e->t->log;
    infer_model_set(&f->m, k);
    for (size_t i = 0; i < log->n; i++) {
        const size_t at = f->order[i];
        if (infer_answer(&f->m, &log->row[at]) == log->row[at].answer)
            continue;
        f->e->work += i;
        f->order[i] = f->order[i / 2];
        f->order[i / 2] = f->order[0];
        f->order[0] = at;
        return false;
    }
    f->e->work += log->n;
    return true;
}

static bool stops(finisher *f)
{
    if (f->e->work < INFER_WORK && f->out->n < INFER_MOST && !f->short_of_memory)
        return false;
    f->e->t->complete = false;
    return true;
}

static void keep(finisher *f, const infer_rule *k)
{
    infer_rules *r = f->out;
    if (r->n == r->room) {
        const size_t room = r->room * 2 + 64;
        infer_rule *wide = realloc(r->rule, room * sizeof *wide);
        if (!wide) {
            f->short_of_memory = true;
            return;
        }
        r->rule = wide;
        r->room = room;
    }
    r->rule[r->n++] = *k;
}

static void try_rule(finisher *f, const infer_rule *k, const infer_reach *r)
{
    if (!infer_is_idle(f->e->t->o, k, r) && holds(f, k))
        keep(f, k);
}

/* The ways in which a form's result is narrowed. */
static bool is_of_form(enum infer_form form, int32_t how)
{
    static const int32_t ways[INFER_FORMS] = {-1, ASSAY_NARROW_WRAP, ASSAY_NARROW_SATURATE,
                                              ASSAY_NARROW_REFUSE};
    return form == INFER_WIDE || ways[form] == how;
}

static void try_results(finisher *f, infer_rule *k, enum infer_form form, const infer_reach *r)
{
    static const int32_t ways[] = {ASSAY_NARROW_WRAP, ASSAY_NARROW_SATURATE, ASSAY_NARROW_REFUSE};
    const int32_t least = form == INFER_WIDE ? 2 : 1, most = form == INFER_WIDE ? 64 : 1;
    if (form == INFER_WIDE)
        try_rule(f, k, r);
    for (int32_t bits = least; bits <= most; bits++)
        for (int w = 0; w < 3; w++)
            if (is_of_form(form, ways[w])) {
                k->result_bits = bits;
                k->result_overflow = ways[w];
                try_rule(f, k, r);
            }
    k->result_bits = 0;
    k->result_overflow = ASSAY_NARROW_SATURATE;
}

/* The rule as a whole record would have it: the window of multipliers and shifts in its fields. */
static void close_window(const infer_engine *e, infer_rule *k)
{
    if (k->encoding == ASSAY_ENCODE_MULTIPLIER && k->reduced_bits == 0)
        k->multiplier_bits = e->multiplier_bits > 0 ? e->multiplier_bits : 1;
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
        if (!infer_is_idle_before(f->e, &k, &r))
            try_ends(f, c, &k, &r);
    }
}

assay_status infer_finish(infer_engine *e, infer_rules *out, assay_error *err)
{
    finisher f = {.e = e, .out = out};
    infer_rule k;
    infer_plain_rule(&k);
    out->n = 0;
    f.order = malloc((e->t->log.n + 1) * sizeof *f.order);
    if (!f.order)
        return assay_out_of_memory_for(err, "candidates");
    for (size_t i = 0; i < e->t->log.n; i++)
        f.order[i] = e->t->log.n - 1 - i;
    infer_model_start(&f.m, &k, e->t->o);
    e->work = 0;
    for (size_t i = 0; i < e->list.n && !stops(&f); i++)
        finish_one(&f, &e->list.item[i]);
    free(f.order);
    return f.short_of_memory ? assay_out_of_memory_for(err, "candidates") : ASSAY_OK;
}

void infer_rules_free(infer_rules *r)
{
    free(r->rule);
    *r = (infer_rules){0};
}
