/* Whole rules against the log; see check.h. */
#include "interp/infer/check.h"

#include <stdlib.h>

#include "graph/memory.h"

assay_status infer_check_open(infer_check *c, infer_task *t, bool live, assay_error *err)
{
    infer_rule k;
    infer_plain_rule(&k);
    c->t = t;
    c->n = 0;
    c->order = malloc((t->log.n + 1) * sizeof *c->order);
    if (!c->order)
        return assay_out_of_memory_for(err, "candidates");
    for (size_t i = t->log.n; i > 0; i--)
        if (!live || infer_in_window(t, &t->log.row[i - 1]))
            c->order[c->n++] = i - 1;
    infer_model_start(&c->m, &k, t->o);
    return ASSAY_OK;
}

void infer_check_close(infer_check *c)
{
    free(c->order);
    c->order = NULL;
}

enum { SET = 8 }; /* setting up a rule costs as much as this many rows */

bool infer_check_holds(infer_check *c, const infer_rule *k)
{
    infer_model_set(&c->m, k);
    c->t->work += SET;
    for (size_t i = 0; i < c->n; i++) {
        const size_t at = c->order[i];
        if (infer_answer(&c->m, &c->t->log.row[at]) == c->t->log.row[at].answer)
            continue;
        c->t->work += i;
        c->order[i] = c->order[i / 2];
        c->order[i / 2] = c->order[0];
        c->order[0] = at;
        return false;
    }
    c->t->work += c->n;
    return true;
}

assay_status infer_rules_check(infer_task *t, infer_rules *r, assay_error *err)
{
    infer_check c;
    size_t kept = 0;
    const assay_status s = infer_check_open(&c, t, false, err);
    if (s)
        return s;
    for (size_t i = 0; i < r->n; i++)
        if (infer_check_holds(&c, &r->rule[i]))
            r->rule[kept++] = r->rule[i];
    r->n = kept;
    infer_check_close(&c);
    return ASSAY_OK;
}

bool infer_rules_keep(infer_rules *r, const infer_rule *k)
{
    if (!assay_make_room(&r->rule, &r->room, r->n + 1, sizeof *r->rule))
        return false;
    r->rule[r->n++] = *k;
    return true;
}
