/* The whole inference of a matrix unit; see dot.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/infer/dot/task.h"
#include "interp/infer/task.h"

enum { WORD = 1300 };

static const int first_rows[INFER_DOT_N_PROBES] = {
#define ROWS(ID, rows, shows) rows,
    INFER_DOT_PROBES(ROWS)
#undef ROWS
};

/* The rows of the first round: the ladder, then each probe in turn. */
static void want_first(infer_dot_task *t)
{
    bool some = true;
    for (size_t i = 0; i < infer_dot_rungs(&t->log) + INFER_DOT_CROSSED; i++) {
        infer_dot_rung(&t->random, &t->log, i, &t->draft);
        infer_dot_rows_add(&t->next, &t->draft);
    }
    for (int i = 0; some; i++) {
        some = false;
        for (int probe = 0; probe < INFER_DOT_N_PROBES; probe++)
            if (i < first_rows[probe]) {
                infer_dot_want(t, (enum infer_dot_probe)probe, 1);
                some = true;
            }
    }
}

static assay_status check(const infer_dot_options *o, assay_error *err)
{
    const infer_dot_task t = {.o = o};
    const assay_mac m = infer_dot_plain(&t);
    const char *why = mac_contradiction(&m);
    if (why)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s", why);
    if (o->scale_block > 0 && o->k % o->scale_block != 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "k is %zu, no multiple of the scales' block, %zu",
                          o->k, o->scale_block);
    return ASSAY_OK;
}

/* ---- what was found ---- */

/* The row's patterns that are not 0, as far as there is room. */
static void describe(const infer_dot_rows *r, size_t row, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "row %zu:", row);
    for (int i = 0; i < DOT_COLUMNS; i++) {
        const infer_dot_column *c = &r->column[i];
        for (size_t j = 0; j < c->width && n < size; j++) {
            const uint64_t v = mac_load(c->format, c->data, row * c->width + j);
            if (v != 0 && i < DOT_SCALE_A)
                n += (size_t)snprintf(text + n, size - n, " %s[%zu] 0x%llx", infer_dot_columns[i],
                                      j, (unsigned long long)v);
        }
    }
    if (n >= size)
        memcpy(text + size - 5, " ...", 5);
}

static void add_against(const infer_dot_task *t, infer_dot_result *r, size_t row, uint64_t code)
{
    if (r->n_against < INFER_FIRST_ROWS) {
        infer_contradiction *c = &r->against[r->n_against];
        describe(&t->log, row, c->row, sizeof c->row);
        c->device = (int64_t)t->log.answer[row];
        c->record = (int64_t)code;
    }
    r->n_against++;
}

static assay_status list_against(infer_dot_task *t, infer_dot_result *r)
{
    uint64_t code[INFER_DOT_CHUNK];
    for (size_t first = 0; first < t->log.n && !t->status; first += INFER_DOT_CHUNK) {
        const size_t n = infer_dot_answers(t, &r->found, &t->log, first, code);
        for (size_t i = 0; i < n && !t->status; i++)
            if (code[i] != t->log.answer[first + i])
                add_against(t, r, first + i, code[i]);
    }
    return t->status;
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void add_text(infer_dot_open *o, const char *format, const char *first, const char *last)
{
    const size_t n = strlen(o->values);
    char text[140];
    snprintf(text, sizeof text, format, first, last);
    if (n + strlen(text) + 8 < sizeof o->values)
        snprintf(o->values + n, sizeof o->values - n, "%s%s", n > 0 ? ", " : "", text);
    else if (strcmp(o->values + n - 3, "...") != 0)
        snprintf(o->values + n, sizeof o->values - n, ", ...");
}

/* n values of a parameter in order, numbers that lie together as a range; `none` is the last. */
static void print_values(const assay_mac_parameter *p, const assay_mac *m, const int64_t *value,
                         size_t n, infer_dot_open *o)
{
    const bool numbers = p->kind == ASSAY_MAC_INT || p->kind == ASSAY_MAC_INT_OR_NONE;
    const int64_t gap = /* of values that are tried */
        p->kind == ASSAY_MAC_INT_OR_NONE && p->max - p->min > 100 ? 8 : 1;
    assay_mac copy = *m;
    for (size_t i = 0, j; i < n; i = j) {
        char first[WORD], last[WORD];
        for (j = i + 1;
             numbers && j < n && value[j] != ASSAY_MAC_NONE && value[j] <= value[j - 1] + gap;)
            j++;
        *mac_member(&copy, p) = value[i];
        mac_print(p, &copy, first, sizeof first);
        *mac_member(&copy, p) = value[j - 1];
        mac_print(p, &copy, last, sizeof last);
        first[60] = last[60] = '\0';
        add_text(o, strcmp(first, last) == 0 ? "%s" : "%s..%s", first, last);
    }
}

/* Values of a parameter in what was found and in n others. */
static void add_open(infer_dot_result *r, const assay_mac *m, size_t n,
                     const assay_mac_parameter *p)
{
    int64_t value[INFER_DOT_VALUES + 1];
    assay_mac copy = r->found;
    if (r->n_open == INFER_DOT_OPEN)
        return;
    value[0] = *mac_member(&copy, p);
    for (size_t i = 0; i < n; i++) {
        copy = m[i];
        value[i + 1] = *mac_member(&copy, p);
    }
    qsort(value, n + 1, sizeof *value, by_number);
    infer_dot_open *o = &r->open[r->n_open++];
    o->parameter = p;
    print_values(p, m, value, n + 1, o);
}

static assay_status conclude(infer_dot_task *t, const infer_dot_others *o, infer_dot_result *r)
{
    r->found = t->best;
    r->rows = t->spent;
    r->tried = t->tried;
    r->verdict = t->cost > 0 ? INFER_NONE : INFER_CLASS;
    for (size_t i = 0, j; i < o->n && r->verdict == INFER_CLASS; i = j) {
        for (j = i + 1; j < o->n && o->changed[i] && o->changed[j] == o->changed[i];)
            j++;
        if (o->changed[i])
            add_open(r, &o->record[i], j - i, o->changed[i]);
        else if (r->n_units < INFER_DOT_UNITS)
            r->unit[r->n_units++] = o->unit[i];
    }
    return list_against(t, r);
}

static assay_status run(infer_dot_task *t, infer_dot_others *others, assay_error *err)
{
    want_first(t);
    const assay_status s = infer_dot_ask(t, err);
    if (s)
        return s;
    t->end = infer_dot_seconds() + t->o->seconds;
    t->best = infer_dot_plain(t);
    infer_dot_search(t);
    return t->cost > 0 ? t->status : infer_dot_refine(t, others, err);
}

assay_status infer_dot_run(const infer_dot_options *o, infer_dot_result *r, assay_error *err)
{
    infer_dot_task t;
    infer_dot_others others = {.n = 0};
    memset(r, 0, sizeof *r);
    assay_status s = check(o, err);
    if (s)
        return s;
    s = infer_dot_begin(&t, o, err);
    if (!s)
        s = run(&t, &others, err);
    if (!s)
        s = conclude(&t, &others, r);
    infer_dot_others_free(&others);
    infer_dot_end(&t);
    return s;
}
