/* Asking rows within the budget; see task.h. */
#include "interp/infer/task.h"

#include <string.h>

#include "graph/memory.h"

#define REPEATED 4    /* old rows that each call repeats */
#define A_CALL   4096 /* rows in one call */

assay_status infer_task_open(infer_task *t, const infer_options *o, assay_error *err)
{
    memset(t, 0, sizeof *t);
    t->o = o;
    t->random.state = 20261123;
    t->complete = true;
    t->multiplier_lo = o->multiplier_lo;
    t->multiplier_hi = o->multiplier_hi;
    t->shift_lo = o->shift_lo;
    t->shift_hi = o->shift_hi;
    t->log.type = t->next.type = o->type;
    return infer_oracle_open(&t->device, o, err);
}

void infer_task_close(infer_task *t)
{
    infer_oracle_close(&t->device);
    infer_rows_free(&t->log);
    infer_rows_free(&t->next);
}

bool infer_is_over(const infer_task *t)
{
    return t->work_max > 0 && t->work > t->work_max;
}

size_t infer_left(const infer_task *t)
{
    return t->o->budget - t->spent;
}

size_t infer_some(const infer_task *t, size_t n)
{
    const size_t some = n * t->o->budget / INFER_BUDGET;
    return t->o->budget >= INFER_BUDGET ? n : some > 0 ? some : 1;
}

bool infer_in_window(const infer_task *t, const infer_row *row)
{
    if (t->o->kind == INFER_SCALE)
        return row->live;
    return row->multiplier >= t->multiplier_lo && row->multiplier <= t->multiplier_hi &&
           row->shift >= t->shift_lo && row->shift <= t->shift_hi;
}

/* Appends old rows of the same form to the n new ones; returns how many. */
static size_t repeat_some(infer_task *t, infer_row *row, size_t n, size_t room)
{
    size_t added = 0;
    for (int tries = 0; t->log.n > 0 && added < room && tries < 8 * REPEATED; tries++) {
        const size_t i = (size_t)rows_between(&t->random, 0, (int64_t)t->log.n - 1);
        if (t->log.row[i].bounded == row[0].bounded)
            row[n + added++] = t->log.row[i];
    }
    return added;
}

static assay_status differs(const infer_row *a, int64_t first, assay_error *err)
{
    char x[24] = "refused", y[24] = "refused";
    if (first != INFER_REFUSED)
        snprintf(x, sizeof x, "%lld", (long long)first);
    if (a->answer != INFER_REFUSED)
        snprintf(y, sizeof y, "%lld", (long long)a->answer);
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "the oracle answers differently to the same row: acc %lld, zero point %d, "
                      "once %s and once %s",
                      (long long)a->acc, a->zp, x, y);
}

/* Whether a row was refused for R = 0, which every record accepts. */
static bool is_outside(const infer_task *t, const infer_row *row)
{
    return t->zero_refused && row->answer == INFER_REFUSED && row->in * row->weight / row->out == 0;
}

static void keep_answers(infer_task *t, const infer_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_outside(t, &row[i]))
            infer_rows_keep(&t->log, &row[i], 1);
}

static assay_status ask_some(infer_task *t, const infer_row *rows, size_t n, assay_error *err)
{
    static _Thread_local infer_row row[A_CALL + REPEATED];
    int64_t first[REPEATED];
    size_t room = infer_left(t) > n ? infer_left(t) - n : 0;
    memcpy(row, rows, n * sizeof *row);
    const size_t again = repeat_some(t, row, n, room < REPEATED ? room : REPEATED);
    for (size_t i = 0; i < again; i++)
        first[i] = row[n + i].answer;
    const assay_status s = infer_oracle_ask(&t->device, row, n + again, err);
    if (s)
        return s;
    t->spent += n + again;
    if (t->o->told)
        t->o->told(t->o->listener, t->spent);
    for (size_t i = 0; i < again; i++)
        if (row[n + i].answer != first[i])
            return differs(&row[n + i], first[i], err);
    keep_answers(t, row, n);
    return ASSAY_OK;
}

assay_status infer_nothing_taken(const infer_task *t, assay_error *err)
{
    if (t->exhausted)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "the budget of %zu rows ended before the oracle took one: raise `budget`",
                          t->o->budget);
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "the oracle refuses every row: there is nothing to infer");
}

/* Asks the bounded rows of `next`, or the unbounded ones. */
static assay_status ask_form(infer_task *t, bool bounded, assay_error *err)
{
    static _Thread_local infer_row row[A_CALL];
    assay_status s = ASSAY_OK;
    for (size_t i = 0; i < t->next.n && !s;) {
        size_t n = 0;
        const size_t max = infer_left(t) < A_CALL ? infer_left(t) : A_CALL;
        for (; i < t->next.n && n < max; i++)
            if (t->next.row[i].bounded == bounded)
                row[n++] = t->next.row[i];
        if (max == 0) {
            t->exhausted = true;
            return ASSAY_OK;
        }
        if (n > 0)
            s = ask_some(t, row, n, err);
    }
    return s;
}

assay_status infer_ask(infer_task *t, assay_error *err)
{
    assay_status s = ask_form(t, false, err);
    if (!s)
        s = ask_form(t, true, err);
    infer_rows_clear(&t->next);
    if (!s && (t->next.short_of_memory || t->log.short_of_memory))
        return assay_out_of_memory_for(err, "rows");
    return s;
}
