/* The whole loop of questions; see infer.h. */
#include <stdlib.h>
#include <string.h>

#include "interp/infer/formed.h"
#include "interp/infer/multiplier.h"
#include "interp/infer/near.h"
#include "interp/infer/scale.h"
#include "schemes/record/reads.h"

static void describe(const infer_options *o, const infer_row *r, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "acc %lld, zero point %d, ", (long long)r->acc, r->zp);
    if (o->kind == INFER_MULTIPLIER)
        n += (size_t)snprintf(text + n, size - n, "multiplier %lld, shift %d",
                              (long long)r->multiplier, r->shift);
    else
        n += (size_t)snprintf(text + n, size - n, "scales %.9g * %.9g / %.9g", (double)r->in,
                              (double)r->weight, (double)r->out);
    if (r->bounded)
        snprintf(text + n, size - n, ", bounds %d..%d", r->lo, r->hi);
}

static void list_against(const infer_task *t, infer_result *r)
{
    infer_model m;
    infer_model_start(&m, &r->found, t->o);
    for (size_t i = 0; i < t->log.n; i++) {
        const infer_row *row = &t->log.row[i];
        const int64_t code = infer_answer(&m, row);
        if (code == row->answer)
            continue;
        if (r->n_against < INFER_FIRST_ROWS) {
            infer_contradiction *c = &r->against[r->n_against];
            describe(t->o, row, c->row, sizeof c->row);
            c->device = row->answer;
            c->record = code;
        }
        r->n_against++;
    }
}

/* Sets the fields that nothing reads to their defaults: they are not open. */
static void default_unread(const infer_options *o, infer_rules *rules)
{
    assay_record rec;
    for (size_t i = 0; i < rules->n; i++) {
        infer_record_of(&rules->rule[i], o->type, o->acc_bits, &rec);
        assay_reads_normalize(&rec);
        rules->rule[i] = rec.rescale;
    }
}

static void conclude(infer_task *t, infer_rules *rules, infer_result *r)
{
    r->rows = t->spent;
    r->complete = t->complete;
    r->multiplier_lo = t->multiplier_lo;
    r->multiplier_hi = t->multiplier_hi;
    r->shift_lo = t->shift_lo;
    r->shift_hi = t->shift_hi;
    r->real_lo = t->live_lo - INFER_BELOW;
    r->real_hi = t->live_hi + 1;
    memcpy(r->note, t->note, sizeof r->note);
    r->n_presets = infer_presets(t, r->preset, INFER_PRESETS);
    default_unread(t->o, rules);
    r->left = rules->rule;
    r->n_left = rules->n;
    *rules = (infer_rules){0};
    if (r->n_left > 0)
        r->found = r->left[0];
    else
        infer_nearest(t, &r->found);
    list_against(t, r);
    if (r->n_left > 0) {
        r->verdict = t->one && r->n_against == 0 ? INFER_UNIQUE : INFER_CLASS;
        r->spellings = t->spellings > r->n_left ? t->spellings : r->n_left;
        return;
    }
    /* where the search was cut, a rule that was not tried may agree */
    r->verdict = t->complete && r->n_against > 0 ? INFER_NONE : INFER_CLASS;
}

assay_status infer_run(const infer_options *o, infer_result *r, assay_error *err)
{
    infer_task t;
    infer_rules rules = {0};
    memset(r, 0, sizeof *r);
    assay_status s = infer_task_open(&t, o, err);
    if (!s)
        s = o->kind == INFER_SCALE ? infer_scale(&t, &rules, err)
                                   : infer_multiplier(&t, &rules, err);
    if (!s)
        conclude(&t, &rules, r);
    infer_rules_free(&rules);
    infer_task_close(&t);
    return s;
}

void infer_result_free(infer_result *r)
{
    free(r->left);
    memset(r, 0, sizeof *r);
}
