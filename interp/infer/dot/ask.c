/* Asking dot products; see task.h. */
#include <string.h>

#include "interp/infer/dot/task.h"

#include <stdlib.h>

#include "graph/memory.h"

enum { REPEATED = 8, A_CALL = 256 };

assay_status infer_dot_begin(infer_dot_task *t, const infer_dot_options *o, assay_error *err)
{
    memset(t, 0, sizeof *t);
    t->o = o;
    t->random.state = 20261126;
    t->err = err;
    infer_dot_rows_open(&t->log, o);
    infer_dot_rows_open(&t->next, o);
    infer_dot_rows_open(&t->wrong, o);
    infer_dot_rows_open(&t->right, o);
    if (!infer_dot_draft_open(&t->draft, &t->log))
        return assay_out_of_memory_for(err, "rows");
    return infer_oracle_open(&t->device, &o->device, err);
}

void infer_dot_end(infer_dot_task *t)
{
    infer_oracle_close(&t->device);
    infer_dot_rows_free(&t->log);
    infer_dot_rows_free(&t->next);
    infer_dot_rows_free(&t->wrong);
    infer_dot_rows_free(&t->right);
    infer_dot_draft_close(&t->draft);
}

void infer_dot_want(infer_dot_task *t, enum infer_dot_probe probe, int n)
{
    for (int i = 0; i < n; i++) {
        infer_dot_draw(&t->random, &t->log, probe, &t->draft);
        infer_dot_rows_add(&t->next, &t->draft);
    }
}

/* ---- files ---- */

static assay_npy_type type_of(enum assay_mac_format f)
{
    return text_npy_unsigned(mac_layout_of(f)->bits);
}

typedef struct exchange {
    infer_dot_rows *rows;
    enum assay_mac_format out;
} exchange;

static assay_status put(infer_oracle *d, const char *folder, const void *what, assay_error *err)
{
    const infer_dot_rows *r = ((const exchange *)what)->rows;
    assay_status s = ASSAY_OK;
    (void)d;
    for (int i = 0; i < DOT_COLUMNS && !s; i++) {
        const infer_dot_column *c = &r->column[i];
        char path[300];
        const assay_npy a = {.type = type_of(c->format),
                             .rank = i == DOT_C ? 1 : 2,
                             .shape = {(int64_t)r->n, (int64_t)c->width},
                             .data = c->data};
        snprintf(path, sizeof path, "%s/%s.npy", folder, infer_dot_columns[i]);
        s = c->width > 0 ? text_npy_write_file(path, &a, err) : ASSAY_OK;
    }
    return s;
}

static assay_status take(infer_oracle *d, const char *folder, void *what, assay_error *err)
{
    const exchange *x = what;
    const assay_npy_type type = type_of(x->out);
    char path[300];
    assay_npy a = {.data = NULL};
    snprintf(path, sizeof path, "%s/out.npy", folder);
    assay_status s = infer_oracle_array(d, path, x->rows->n, &a, err);
    if (!s && a.type != type)
        s = assay_fail(
            err, ASSAY_ERR_INPUT, "the oracle's out.npy holds %s, not %s (patterns of %s)",
            text_npy_type_name(a.type), text_npy_type_name(type), mac_layout_of(x->out)->name);
    for (size_t i = 0; i < x->rows->n && !s; i++)
        x->rows->answer[i] = mac_load(x->out, a.data, i);
    text_npy_free(&a);
    return s;
}

/* ---- the call ---- */

static void keep_nan(infer_dot_task *t, uint64_t answer)
{
    bool known = mac_decode((enum assay_mac_format)t->o->out, answer).kind != ASSAY_MAC_NAN;
    for (int i = 0; i < t->n_nans && !known; i++)
        known = t->nan[i] == answer;
    if (!known && t->n_nans < INFER_DOT_NANS)
        t->nan[t->n_nans++] = answer;
}

/* The number of old rows that a call repeats. */
static size_t repeated(const infer_dot_task *t)
{
    return t->log.n > 0 ? REPEATED : 0;
}

/* Asks rows first .. first + n of `next`, and repeats some old ones. */
static assay_status ask_some(infer_dot_task *t, size_t first, size_t n, assay_error *err)
{
    infer_dot_rows call;
    size_t old[REPEATED];
    infer_dot_rows_open(&call, t->o);
    for (size_t i = first; i < first + n; i++)
        infer_dot_rows_copy(&call, &t->next, i);
    const size_t again = repeated(t);
    for (size_t i = 0; i < again; i++) {
        old[i] = (size_t)rows_between(&t->random, 0, (int64_t)t->log.n - 1);
        infer_dot_rows_copy(&call, &t->log, old[i]);
    }
    exchange x = {&call, (enum assay_mac_format)t->o->out};
    assay_status s = call.short_of_memory ? assay_out_of_memory_for(err, "rows")
                                          : infer_oracle_exchange(&t->device, put, take, &x, err);
    for (size_t i = 0; i < again && !s; i++)
        if (call.answer[n + i] != t->log.answer[old[i]])
            s = assay_fail(err, ASSAY_ERR_INPUT,
                           "the oracle answers differently to the same row: once 0x%llx and once "
                           "0x%llx",
                           (unsigned long long)t->log.answer[old[i]],
                           (unsigned long long)call.answer[n + i]);
    for (size_t i = 0; i < n && !s; i++) {
        infer_dot_rows_copy(&t->log, &call, i);
        keep_nan(t, call.answer[i]);
    }
    t->spent += n + again;
    if (!s && t->o->device.told)
        t->o->device.told(t->o->device.listener, t->spent);
    infer_dot_rows_free(&call);
    return s;
}

assay_status infer_dot_ask(infer_dot_task *t, assay_error *err)
{
    assay_status s = ASSAY_OK;
    for (size_t i = 0; i < t->next.n && !s;) {
        const size_t budget = t->o->device.budget, used = t->spent + repeated(t),
                     left = budget > used ? budget - used : 0;
        size_t n = t->next.n - i < A_CALL ? t->next.n - i : A_CALL;
        const size_t room = INFER_DOT_KEPT - t->log.n;
        n = n < left ? n : left;
        n = n < room ? n : room;
        t->exhausted = t->exhausted || n == 0;
        if (n == 0)
            break;
        s = ask_some(t, i, n, err);
        i += n;
    }
    if (!s && (t->next.short_of_memory || t->log.short_of_memory))
        s = assay_out_of_memory_for(err, "rows");
    t->next.n = 0;
    return s;
}
