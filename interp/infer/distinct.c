/* Spellings of one function among the last rules left, and different functions; see multiplier.h.
 */
#include "interp/infer/formed.h"
#include "interp/infer/multiplier.h"
#include "interp/infer/same.h"
#include "interp/infer/scales.h"

enum { MAX_RULES = 400, ASKED = 160, ROUNDS = 40 };
#define WORK UINT64_C(100000000) /* answers compared while boxes are split */

/* The functions found so far, with the number of rules that spell each. */
typedef struct distinction {
    infer_engine *e;
    size_t n, spellings[MAX_RULES];
    uint64_t begun; /* the task's work at the start */
} distinction;

/* Turns a multiplier and shift on which two rules differ into a row that can be asked; kind scale:
 * false if no R becomes these. */
static bool form_row(infer_task *t, const infer_rule *a, const infer_rule *b, infer_row *row)
{
    infer_model m[2];
    if (t->o->kind == INFER_MULTIPLIER)
        return true;
    t->encoder = *a;
    infer_form_row(t, row, true);
    infer_model_start(&m[0], a, t->o);
    infer_model_start(&m[1], b, t->o);
    return infer_answer(&m[0], row) != infer_answer(&m[1], row);
}

static enum infer_told tell(distinction *s, const infer_rule *a, const infer_rule *b,
                            infer_row *row)
{
    if (s->e->t->o->kind == INFER_SCALE)
        return infer_tell_formed(s->e, a, b, row);
    return infer_is_same(s->e, a, b) ? INFER_ALIKE : infer_tell(s->e, a, b, row);
}

/* Whether two rules are spellings of one function; if they differ, a row that shows it is added. */
static bool is_one(distinction *s, const infer_rule *a, const infer_rule *b)
{
    infer_task *t = s->e->t;
    infer_row row = {0};
    if (t->work - s->begun > WORK)
        return false;
    const enum infer_told told = tell(s, a, b, &row);
    if (told == INFER_APART && t->next.n < ASKED && form_row(t, a, b, &row))
        infer_rows_add(&t->next, &row);
    return told == INFER_ALIKE;
}

/* With scales a rule is kept as it is, since it also has to agree with rows outside the domain. */
static infer_rule normal_of(const distinction *s, const infer_rule *k)
{
    return s->e->t->o->kind == INFER_SCALE ? *k : infer_normal(s->e, k);
}

static void merge(distinction *s, infer_rules *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->n; i++) {
        const infer_rule normal = normal_of(s, &r->rule[i]);
        size_t k = 0;
        while (k < kept && !is_one(s, &r->rule[k], &normal))
            k++;
        if (k < kept) {
            s->spellings[k] += s->spellings[i];
            continue;
        }
        s->spellings[kept] = s->spellings[i];
        r->rule[kept++] = normal;
    }
    r->n = kept;
}

/* Drops what the rows from `from` on contradict. */
static void drop(distinction *s, infer_rules *r, size_t from)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->n; i++) {
        infer_rules one = {.rule = &r->rule[i], .n = 1};
        infer_drop_rules(s->e->t, &one, from);
        if (one.n == 0)
            continue;
        s->spellings[kept] = s->spellings[i];
        r->rule[kept++] = r->rule[i];
    }
    r->n = kept;
}

assay_status infer_keep_distinct(infer_engine *e, infer_rules *rules, assay_error *err)
{
    infer_task *t = e->t;
    distinction s = {.e = e, .begun = e->t->work};
    t->spellings = rules->n;
    t->one = false;
    if (rules->n > MAX_RULES)
        return ASSAY_OK;
    for (size_t i = 0; i < rules->n; i++)
        s.spellings[i] = 1;
    merge(&s, rules);
    for (int round = 0; round < ROUNDS && t->next.n > 0; round++) {
        const size_t from = t->log.n;
        const assay_status status = infer_ask(t, err);
        if (status)
            return status;
        drop(&s, rules, from);
        if (!t->exhausted)
            merge(&s, rules);
    }
    infer_rows_clear(&t->next);
    t->spellings = 0;
    for (size_t i = 0; i < rules->n; i++)
        t->spellings += s.spellings[i];
    t->one = rules->n == 1 && t->complete && t->note[0] == '\0';
    return ASSAY_OK;
}
