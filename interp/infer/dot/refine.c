/* Rows that tell the record found from others that agree, too; see task.h. */
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/infer/dot/task.h"

/* POOL, FRESH: rows of each probe that are drawn and asked in a round, LAST_POOL, CLOSING: after a
 * round that distinguished nothing. Of the time for the search, an IN_RIVALS-th is for rivals. */
enum {
    POOL = 24,
    LAST_POOL = 400,
    FRESH = 16,
    CLOSING = 160,
    ROUNDS = 30,
    QUIET = 2,
    OF_EACH = 6,
    IN_RIVALS = 6
};

/* ---- other records that agree ---- */

void infer_dot_others_free(infer_dot_others *o)
{
    free(o->record);
    free(o->changed);
    free(o->unit);
    *o = (infer_dot_others){.n = 0};
}

static bool keep(infer_dot_others *o, const assay_mac *m, const assay_mac_parameter *changed,
                 const char *unit)
{
    if (o->n == o->room) {
        const size_t room = 2 * o->room + 64;
        if (!infer_dot_widen(&o->record, room * sizeof *o->record) ||
            !infer_dot_widen(&o->changed, room * sizeof *o->changed) ||
            !infer_dot_widen(&o->unit, room * sizeof *o->unit))
            return false;
        o->room = room;
    }
    o->record[o->n] = *m;
    o->changed[o->n] = changed;
    o->unit[o->n++] = unit;
    return true;
}

static bool agrees(infer_dot_task *t, const assay_mac *m)
{
    return infer_dot_takes(t, m) && infer_dot_cost(t, m, 1e-9) == 0;
}

static bool gather_values(infer_dot_task *t, infer_dot_others *o, const assay_mac_parameter *p)
{
    int64_t value[INFER_DOT_VALUES];
    const size_t n = p->kind == ASSAY_MAC_ORDER ? 0 : infer_dot_values(t, &t->best, p, value);
    for (size_t i = 0; i < n; i++) {
        assay_mac m = t->best;
        infer_dot_set(&m, p, value[i]);
        if (*mac_member(&m, p) == value[i] && memcmp(&m, &t->best, sizeof m) != 0 &&
            agrees(t, &m) && !keep(o, &m, p, NULL))
            return false;
    }
    return true;
}

/* Units for the formats of the rows, unchanged. */
static bool is_for(const infer_dot_task *t, const assay_mac *m)
{
    const infer_dot_options *o = t->o;
    return m->a == o->a && m->b == o->b && m->acc == o->acc && m->out == o->out &&
           m->scale_block == (int64_t)o->scale_block &&
           (o->scale_block == 0 || m->scale == o->scale);
}

static bool gather_units(infer_dot_task *t, infer_dot_others *o)
{
    for (const char *const *name = assay_mac_units(); *name; name++) {
        assay_mac_unit u;
        assay_error err;
        if (!mac_open(*name, &u, &err) && is_for(t, &u.record) && agrees(t, &u.record) &&
            !keep(o, &u.record, NULL, *name))
            return false;
    }
    return true;
}

assay_status infer_dot_gather(infer_dot_task *t, infer_dot_others *o)
{
    size_t n;
    const assay_mac_parameter *p = mac_parameters(&n);
    o->n = 0;
    bool good = gather_units(t, o);
    for (size_t i = 0; i < n && good; i++)
        good = gather_values(t, o, &p[i]);
    return good ? t->status : assay_out_of_memory_for(t->err, "records");
}

static bool keep_rivals(infer_dot_task *t, infer_dot_others *o, infer_dot_starts *s)
{
    bool good = true;
    for (int i = 0; i < s->n && good && !infer_dot_is_late(t); i++)
        if (infer_dot_leads(t, &s->record[i]) &&
            memcmp(&s->record[i], &t->best, sizeof t->best) != 0)
            good = keep(o, &s->record[i], NULL, NULL);
    return good;
}

/* Records that other nestings of the best record's sums lead to. */
static assay_status gather_rivals(infer_dot_task *t, infer_dot_others *o)
{
    infer_dot_starts nested = {.room = INFER_DOT_STARTS}, related = {.room = INFER_DOT_STARTS};
    const double end = t->end, soon = infer_dot_seconds() + t->o->seconds / IN_RIVALS;
    t->end = soon < end ? soon : end;
    infer_dot_structures(t, &t->best, &nested, &related);
    const bool good = keep_rivals(t, o, &nested) && keep_rivals(t, o, &related);
    t->end = end;
    return good ? t->status : assay_out_of_memory_for(t->err, "records");
}

/* Takes the best record, or one of the others if no row contradicts it now. */
static bool still_agrees(infer_dot_task *t, const infer_dot_others *o)
{
    bool good = agrees(t, &t->best);
    for (size_t i = 0; i < o->n && !good; i++)
        if (agrees(t, &o->record[i])) {
            t->best = o->record[i];
            good = true;
        }
    return good;
}

/* ---- rows ---- */

/* Rows that were drawn, what the best answers to them, and which of them are asked. */
typedef struct pool {
    infer_dot_rows rows;
    uint64_t *answer;
    bool *wanted;
} pool;

/* The first row of the pool on which m is not the best; one that is wanted already, if any. */
static void part(infer_dot_task *t, pool *x, const assay_mac *m)
{
    uint64_t d[INFER_DOT_CHUNK];
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < x->rows.n && !t->status; i += INFER_DOT_CHUNK) {
        const size_t n = infer_dot_answers(t, m, &x->rows, i, d);
        for (size_t j = 0; j < n; j++) {
            if (d[j] == x->answer[i + j])
                continue;
            if (x->wanted[i + j])
                return;
            first = first == SIZE_MAX ? i + j : first;
        }
        if (first != SIZE_MAX)
            break;
    }
    if (first != SIZE_MAX)
        x->wanted[first] = true;
}

static bool open_pool(infer_dot_task *t, pool *x, int of_each)
{
    *x = (pool){.answer = NULL};
    infer_dot_rows_open(&x->rows, t->o);
    for (int i = 0; i < of_each; i++)
        for (int probe = 0; probe < INFER_DOT_N_PROBES; probe++) {
            infer_dot_draw(&t->random, &t->log, (enum infer_dot_probe)probe, &t->draft);
            infer_dot_rows_add(&x->rows, &t->draft);
        }
    x->answer = calloc(x->rows.n + INFER_DOT_CHUNK, sizeof *x->answer);
    x->wanted = calloc(x->rows.n + 1, sizeof *x->wanted);
    for (size_t i = 0; x->answer && i < x->rows.n; i += INFER_DOT_CHUNK)
        infer_dot_answers(t, &t->best, &x->rows, i, x->answer + i);
    return x->answer && x->wanted && !x->rows.short_of_memory;
}

static void close_pool(pool *x)
{
    infer_dot_rows_free(&x->rows);
    free(x->answer);
    free(x->wanted);
}

/* Whether record i of the others is one of the OF_EACH of its parameter that rows are drawn for. */
static bool is_chosen(const infer_dot_others *o, size_t i)
{
    size_t first = i, last = i;
    while (first > 0 && o->changed[first - 1] == o->changed[i])
        first--;
    while (last + 1 < o->n && o->changed[last + 1] == o->changed[i])
        last++;
    const size_t step = (last - first) / OF_EACH + 1;
    return !o->changed[i] || i == last || (i - first) % step == 0;
}

/* Rows that tell some other from the best, of so many drawn of each probe; *some: whether there are
 * any. */
static assay_status want_apart(infer_dot_task *t, const infer_dot_others *o, int of_each,
                               bool *some)
{
    pool x;
    const bool good = open_pool(t, &x, of_each);
    for (size_t i = 0; good && i < o->n; i++)
        if (is_chosen(o, i))
            part(t, &x, &o->record[i]);
    *some = false;
    for (size_t i = 0; good && i < x.rows.n; i++)
        if (x.wanted[i]) {
            infer_dot_rows_copy(&t->next, &x.rows, i);
            *some = true;
        }
    close_pool(&x);
    return good ? t->status : assay_out_of_memory_for(t->err, "rows");
}

/* ---- the plainest record ---- */

static int unusual(const assay_mac *m)
{
    size_t n;
    int some = 0;
    const assay_mac_parameter *p = mac_parameters(&n);
    assay_mac copy = *m, defaults = mac_defaults();
    for (size_t i = 0; i < n; i++)
        some += *mac_member(&copy, &p[i]) != *mac_member(&defaults, &p[i]);
    return some;
}

/* Sets each parameter of the best record to its default in turn, where the record still agrees. */
static void make_plain(infer_dot_task *t)
{
    size_t n;
    const assay_mac_parameter *p = mac_parameters(&n);
    assay_mac defaults = mac_defaults();
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < n; i++) {
            assay_mac m = t->best;
            if (p[i].value == ASSAY_MAC_MUST || p[i].kind == ASSAY_MAC_ORDER ||
                infer_dot_is_given(&p[i]))
                continue;
            infer_dot_set(&m, &p[i], *mac_member(&defaults, &p[i]));
            if (unusual(&m) < unusual(&t->best) && agrees(t, &m)) {
                t->best = m;
                changed = true;
            }
        }
    }
}

assay_status infer_dot_refine(infer_dot_task *t, infer_dot_others *o, assay_error *err)
{
    int quiet = 0;
    for (int round = 0; round < ROUNDS && quiet < QUIET && !t->exhausted; round++) {
        bool some = false;
        const assay_mac before = t->best;
        make_plain(t);
        assay_status s = infer_dot_gather(t, o);
        if (!s && quiet > 0)
            s = gather_rivals(t, o);
        if (!s)
            s = want_apart(t, o, quiet > 0 ? LAST_POOL : POOL, &some);
        for (int probe = 0; probe < INFER_DOT_N_PROBES; probe++)
            infer_dot_want(t, (enum infer_dot_probe)probe, quiet > 0 ? CLOSING : FRESH);
        if (!s)
            s = infer_dot_ask(t, err);
        if (s)
            return s;
        quiet = some ? 0 : quiet + 1;
        if (infer_dot_cost(t, &t->best, 1e-9) == 0)
            continue;
        quiet = 0;
        t->best = still_agrees(t, o) || !agrees(t, &before) ? t->best : before;
        infer_dot_search(t);
        if (t->cost > 0)
            break;
    }
    const assay_status s = infer_dot_gather(t, o);
    if (s || t->cost > 0 || o->n == 0 || !o->unit[0])
        return s;
    t->best = o->record[0]; /* a shipped unit that agrees is what was found */
    return infer_dot_gather(t, o);
}
