/* Rows that tell the remaining rules apart; see multiplier.h. */
#include "interp/infer/multiplier.h"

#include <string.h>

#include "interp/infer/questions.h"

enum { SAMPLE = 24, DRAWN = 20000, WHOLE = 8000, ASKED = 160, ROUNDS = 12, QUIET = 3 };

/* Up to SAMPLE of n indices, spread evenly; a different choice each time. */
static size_t sample(rows_random *r, size_t n, size_t *at)
{
    const size_t count = n < SAMPLE ? n : SAMPLE;
    const size_t from = n > SAMPLE ? (size_t)rows_between(r, 0, (int64_t)n - 1) : 0;
    for (size_t i = 0; i < count; i++)
        at[i] = (from + i * n / count) % n;
    return count;
}

static bool parts_candidates(const infer_engine *e, const size_t *at, size_t n,
                             const infer_row *row)
{
    int64_t first = 0, other;
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (!infer_partial_answer(e, &e->list.item[at[i]], row, &other))
            continue;
        if (any && other != first)
            return true;
        first = other;
        any = true;
    }
    return false;
}

static void draw_small(infer_engine *e)
{
    size_t at[SAMPLE];
    const size_t n = sample(&e->t->random, e->list.n, at);
    for (int i = 0; i < DRAWN && e->t->next.n < ASKED; i++) {
        const bool before = e->tail[e->list.item[at[(size_t)i % n]].tail].before;
        const infer_row row = infer_small_row(e->t, before);
        if (parts_candidates(e, at, n, &row))
            infer_rows_add(&e->t->next, &row);
    }
}

static void drop_candidates(infer_engine *e)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->list.n; i++) {
        infer_partial p;
        infer_place(e, &e->list.item[i].rule);
        infer_partial_start(&p, &e->list.item[i], false);
        if (infer_partial_holds(e, &p))
            e->list.item[kept++] = e->list.item[i];
    }
    e->list.n = kept;
}

assay_status infer_part_candidates(infer_engine *e, assay_error *err)
{
    int quiet = 0;
    for (int round = 0; round < ROUNDS && quiet < QUIET && e->list.n > 1; round++) {
        draw_small(e);
        quiet = e->t->next.n == 0 ? quiet + 1 : 0;
        if (e->t->next.n == 0)
            continue;
        const size_t from = e->t->log.n;
        assay_status s = infer_ask(e->t, err);
        if (!s)
            s = infer_engine_take(e, e->t->log.row + from, e->t->log.n - from, err);
        if (s || e->t->exhausted)
            return s;
        drop_candidates(e);
    }
    return ASSAY_OK;
}

/* ---- whole rules ---- */

/* Moves a row to a step of a rule: its accumulator and the one below have different codes. False:
 * none was found from where it started. */
static bool find_step(infer_task *t, infer_model *m, infer_row *row)
{
    const int64_t end = infer_acc_max(t), begin = row->acc;
    const int64_t first = infer_answer(m, row);
    const bool up = rows_next(&t->random) & 1;
    int64_t same = begin, other = begin;
    for (int i = 0; i < 63; i++) {
        const int64_t room = up ? end - begin : begin + end + 1, step = INT64_C(1) << i;
        if (room < step)
            return false;
        row->acc = other = up ? begin + step : begin - step;
        if (infer_answer(m, row) != first)
            break;
        same = other;
    }
    if (same == other)
        return false;
    while (up ? same + 1 < other : other + 1 < same) {
        row->acc = up ? same + (other - same) / 2 : other + (same - other) / 2;
        if (infer_answer(m, row) == first)
            same = row->acc;
        else
            other = row->acc;
    }
    row->acc = rows_next(&t->random) & 1 ? same : other;
    return true;
}

static infer_row draw_row(infer_task *t, infer_model *m, bool before)
{
    const uint64_t kind = rows_next(&t->random) % 8;
    const bool end = kind == 1 && rows_next(&t->random) & 1;
    infer_row row = kind == 0 || kind > 4 ? infer_small_row(t, before)
                    : end                 ? infer_end_row(t)
                                          : infer_any_row(t);
    const int64_t acc = row.acc;
    if (kind >= 2 && !find_step(t, m, &row))
        row.acc = acc;
    return row;
}

/* Adds a row on which the rules differ; most candidates are drawn at a step of one of them. */
static void draw_any(infer_task *t, const infer_rules *rules, infer_model *m)
{
    size_t at[SAMPLE];
    const size_t n = sample(&t->random, rules->n, at);
    for (size_t i = 0; i < n; i++)
        infer_model_start(&m[i], &rules->rule[at[i]], t->o);
    for (size_t i = 0; i < WHOLE && t->next.n < ASKED; i++) {
        const bool before = rules->rule[at[0]].zero_point == ASSAY_STAGE_BEFORE;
        const infer_row row = draw_row(t, &m[i % n], before);
        const int64_t first = infer_answer(&m[0], &row);
        bool parts = false;
        for (size_t k = 1; k < n && !parts; k++)
            parts = infer_answer(&m[k], &row) != first;
        if (parts)
            infer_rows_add(&t->next, &row);
    }
}

void infer_drop_rules(infer_task *t, infer_rules *rules, size_t from)
{
    size_t kept = 0;
    infer_model m;
    for (size_t i = 0; i < rules->n; i++) {
        bool good = true;
        infer_model_start(&m, &rules->rule[i], t->o);
        for (size_t k = from; k < t->log.n && good; k++)
            good = !infer_in_window(t, &t->log.row[k]) ||
                   infer_answer(&m, &t->log.row[k]) == t->log.row[k].answer;
        if (good)
            rules->rule[kept++] = rules->rule[i];
    }
    rules->n = kept;
}

assay_status infer_part_rules(infer_task *t, infer_rules *rules, assay_error *err)
{
    static _Thread_local infer_model m[SAMPLE]; /* too large for the stack */
    int quiet = 0;
    for (int round = 0; round < 4 * ROUNDS && quiet < QUIET && rules->n > 1; round++) {
        draw_any(t, rules, m);
        quiet = t->next.n == 0 ? quiet + 1 : 0;
        if (t->next.n == 0)
            continue;
        const size_t from = t->log.n;
        const assay_status s = infer_ask(t, err);
        if (s)
            return s;
        infer_drop_rules(t, rules, from);
        if (t->exhausted)
            return ASSAY_OK;
    }
    return ASSAY_OK;
}
