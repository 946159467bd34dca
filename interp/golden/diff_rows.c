/* The rows of a diff: two tensors in memory, within their thresholds or not. */
#include "interp/golden/diff_rows.h"
#include "graph/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/golden/compare.h"

static void merge_limits(assay_thresholds *to, const assay_thresholds *from)
{
    if (from->max_lsb >= 0.0)
        to->max_lsb = from->max_lsb;
    if (from->rel >= 0.0)
        to->rel = from->rel;
    if (from->abs >= 0.0)
        to->abs = from->abs;
    if (from->cosine >= 0.0)
        to->cosine = from->cosine;
    if (from->sqnr >= 0.0)
        to->sqnr = from->sqnr;
}

/* Whether the tensor is NAME:f32, the floats of the codes `codes` (quantize.h). */
static bool is_float_twin(const char *tensor, const char *codes)
{
    const size_t n = strlen(codes);
    return strncmp(tensor, codes, n) == 0 && strcmp(tensor + n, ":f32") == 0;
}

/* Thresholds of codes are also those of their floats, which may have their own beside. */
static assay_thresholds limits_for(const assay_diff_options *o, const char *name)
{
    assay_thresholds t = o->limits;
    for (int i = 0; i < o->n_overrides; i++)
        if (is_float_twin(name, o->overrides[i].tensor))
            merge_limits(&t, &o->overrides[i].limits);
    for (int i = 0; i < o->n_overrides; i++)
        if (strcmp(o->overrides[i].tensor, name) == 0)
            merge_limits(&t, &o->overrides[i].limits);
    return t;
}

/* Where the next element of a row goes: behind those of rows that decide, if it does, else behind
 * all. ASSAY_DIFF_SHOWN: nowhere. */
static int place_of(const assay_diff *d, const assay_diff_row *r)
{
    int k = 0;
    while (k < d->n_elements && (r->shown || !d->row[d->element[k].row].shown))
        k++;
    return k;
}

/* Makes room there; the last is dropped where all places are taken. */
static assay_diff_element *new_element(assay_diff *d, int at)
{
    const int kept = d->n_elements < ASSAY_DIFF_SHOWN ? d->n_elements : ASSAY_DIFF_SHOWN - 1;
    assay_diff_element *e = &d->element[at];
    memmove(e + 1, e, (size_t)(kept - at) * sizeof *e);
    d->n_elements = kept + 1;
    return e;
}

/* Keeps the first mismatching elements of a failed row for the report. */
static void keep_elements(assay_diff *d, int row, const assay_type *ta, const void *a,
                          const assay_type *tb, const void *b, const assay_thresholds *limits)
{
    const int64_t n = assay_shape_count(ta);
    const int64_t first = d->row[row].result.first;
    int at = place_of(d, &d->row[row]);

    for (int64_t i = first < 0 ? n : first; i < n && at < ASSAY_DIFF_SHOWN; i++) {
        const assay_element_error m = golden_element_compare(ta, a, tb, b, i, limits);
        assay_diff_element *e;
        int64_t rest = i;
        if (m.same || (m.good && d->row[row].result.mismatches > 0))
            continue;
        e = new_element(d, at++);
        e->row = row;
        e->rank = ta->rank;
        for (int k = ta->rank - 1; k >= 0; k--) {
            e->at[k] = rest % ta->dim[k];
            rest /= ta->dim[k];
        }
        e->codes = ta->elem.kind != ASSAY_KIND_F32 && tb->elem.kind != ASSAY_KIND_F32;
        if (e->codes) {
            e->code_a = golden_element_code(ta, a, i);
            e->code_b = golden_element_code(tb, b, i);
        }
        e->real_a = m.a;
        e->real_b = m.b;
    }
}

assay_diff_row *golden_diff_add_row(assay_diff *d, const char *name, const char *op, int64_t sample,
                                    int index)
{
    assay_diff_row *longer = realloc(d->row, ((size_t)d->n_rows + 1) * sizeof *longer);
    assay_diff_row *r;

    if (!longer)
        return NULL;
    d->row = longer;
    r = &d->row[d->n_rows];
    memset(r, 0, sizeof *r);
    r->name = strdup(name);
    r->op = strdup(op ? op : "");
    r->sample = sample;
    r->index = index;
    r->result.first = -1;
    d->n_rows++;
    return r->name && r->op ? r : NULL;
}

void golden_diff_count_row(assay_diff *d, assay_diff_row *r)
{
    if (r->shown)
        r->result.pass = true;
    if (r->kind == ASSAY_DIFF_MISSING)
        return;
    d->n_compared++;
    if (!r->result.pass) {
        d->n_failed++;
        if (d->first < 0)
            d->first = (int)(r - d->row);
    }
}

/* Finds the orders of the axes in which a failed row's elements are the first's. */
static void seek_orders(assay_diff_row *r, const assay_type *ta, const void *a,
                        const assay_type *tb, const void *b)
{
    r->rank = ta->rank;
    r->permuted = golden_permuted_find(ta, a, tb, b, &r->orders);
}

/* Rows that may be in that order of so many axes. */
static int count_order(const assay_diff *d, int rank, int order)
{
    int n = 0;
    for (int i = 0; i < d->n_rows; i++)
        n += d->row[i].permuted && golden_permuted_has(&d->row[i].orders, order) &&
             (order <= GOLDEN_OWN_ORDER || d->row[i].rank == rank);
    return n;
}

void golden_diff_choose_orders(assay_diff *d)
{
    char room[64];
    for (int i = 0; i < d->n_rows; i++) {
        assay_diff_row *r = &d->row[i];
        for (int order = 0, most = 0; order < GOLDEN_ORDERS && r->permuted; order++) {
            if (!golden_permuted_has(&r->orders, order))
                continue;
            const int n = count_order(d, r->rank, order);
            if (n > most) {
                most = n;
                r->order = order;
            }
        }
        if (r->permuted)
            snprintf(r->note, sizeof r->note, "%sequal %s",
                     r->kind == ASSAY_DIFF_SHAPE ? "the shapes differ; " : "",
                     golden_permuted_name(r->rank, r->order, room, sizeof room));
    }
}

assay_status golden_diff_compare_row(assay_diff *d, assay_diff_row *r, const assay_diff_options *o,
                                     const assay_type *ta, const void *a, const assay_type *tb,
                                     const void *b, assay_error *err)
{
    const assay_thresholds limits = limits_for(o, r->name);
    assay_status status;

    if (!assay_shape_equal(ta, tb)) {
        r->kind = ASSAY_DIFF_SHAPE;
        snprintf(r->note, sizeof r->note, "the shapes differ");
        seek_orders(r, ta, a, tb, b);
        golden_diff_count_row(d, r);
        return ASSAY_OK;
    }
    status = assay_compare(ta, a, tb, b, &limits, &r->result, err);
    if (!status && !r->result.pass) {
        keep_elements(d, (int)(r - d->row), ta, a, tb, b, &limits);
        seek_orders(r, ta, a, tb, b);
    }
    if (!status)
        golden_diff_count_row(d, r);
    return status;
}

bool golden_diff_is_exact(const assay_diff_options *o)
{
    const assay_thresholds *l = &o->limits;
    return o->n_overrides == 0 && l->max_lsb < 0.0 && l->rel < 0.0 && l->abs < 0.0 &&
           l->cosine < 0.0 && l->sqnr < 0.0;
}
