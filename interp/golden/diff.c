/* Matching two sets of tensors and comparing them one by one. */
#include "interp/golden/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/golden/compare.h"
#include "interp/golden/diff_side.h"

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

static assay_thresholds limits_for(const assay_diff_options *o, const char *name)
{
    assay_thresholds t = o->limits;
    for (int i = 0; i < o->n_overrides; i++)
        if (strcmp(o->overrides[i].tensor, name) == 0)
            merge_limits(&t, &o->overrides[i].limits);
    return t;
}

/* Keeps the first mismatching elements of a failed row for the report. */
static void keep_elements(assay_diff *d, int row, const assay_type *ta, const void *a,
                          const assay_type *tb, const void *b, const assay_thresholds *limits)
{
    const int64_t n = assay_shape_count(ta);
    const int64_t first = d->row[row].result.first;

    for (int64_t i = first < 0 ? n : first; i < n && d->n_elements < ASSAY_DIFF_SHOWN; i++) {
        const assay_element_error m = assay_element_compare(ta, a, tb, b, i, limits);
        assay_diff_element *e = &d->element[d->n_elements];
        int64_t rest = i;
        if (m.same || (m.good && d->row[row].result.mismatches > 0))
            continue;
        e->row = row;
        e->rank = ta->rank;
        for (int k = ta->rank - 1; k >= 0; k--) {
            e->at[k] = rest % ta->dim[k];
            rest /= ta->dim[k];
        }
        e->codes = ta->elem.kind != ASSAY_KIND_F32 && tb->elem.kind != ASSAY_KIND_F32;
        if (e->codes) {
            e->code_a = assay_element_code(ta, a, i);
            e->code_b = assay_element_code(tb, b, i);
        }
        e->real_a = m.a;
        e->real_b = m.b;
        d->n_elements++;
    }
}

static assay_diff_row *add_row(assay_diff *d, const char *name, const char *op, int64_t sample,
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

static void settle_row(assay_diff *d, const assay_diff_row *r)
{
    if (r->kind == ASSAY_DIFF_MISSING)
        return;
    d->n_compared++;
    if (!r->result.pass) {
        d->n_failed++;
        if (d->first < 0)
            d->first = (int)(r - d->row);
    }
}

/* Compares elements in memory as one row. */
static assay_status compare_row(assay_diff *d, assay_diff_row *r, const assay_diff_options *o,
                                const assay_type *ta, const void *a, const assay_type *tb,
                                const void *b, assay_error *err)
{
    const assay_thresholds limits = limits_for(o, r->name);
    assay_status status;

    if (!assay_shape_equal(ta, tb)) {
        r->kind = ASSAY_DIFF_SHAPE;
        snprintf(r->note, sizeof r->note, "the shapes differ");
        settle_row(d, r);
        return ASSAY_OK;
    }
    status = assay_compare(ta, a, tb, b, &limits, &r->result, err);
    if (status == ASSAY_OK && !r->result.pass)
        keep_elements(d, (int)(r - d->row), ta, a, tb, b, &limits);
    if (status == ASSAY_OK)
        settle_row(d, r);
    return status;
}

/* Reads tensor i of bundle a and its counterpart, and compares them. */
static assay_status compare_entry(assay_diff *d, assay_diff_row *r, const assay_diff_options *o,
                                  const assay_diff_side *a, int i, const assay_diff_side *b,
                                  int other, const char *file, assay_error *err)
{
    const assay_bundle_tensor *ta = &a->bundle->tensor[i];
    assay_type tb;
    void *data_a = NULL, *data_b = NULL;
    char path[4096];
    assay_status status;

    if (b->bundle && (!ta->file || !b->bundle->tensor[other].file)) {
        r->kind = ASSAY_DIFF_DIGEST_ONLY;
        r->result.elements = assay_shape_count(&ta->type);
        r->result.pass = strcmp(ta->digest, b->bundle->tensor[other].digest) == 0;
        snprintf(r->note, sizeof r->note, "digests %s", r->result.pass ? "equal" : "differ");
        settle_row(d, r);
        return ASSAY_OK;
    }
    status = assay_bundle_read(a->bundle, i, &data_a, err);
    if (status == ASSAY_OK && b->bundle) {
        tb = b->bundle->tensor[other].type;
        status = assay_bundle_read(b->bundle, other, &data_b, err);
    } else if (status == ASSAY_OK) {
        snprintf(path, sizeof path, "%s/%s", b->path, file);
        status = assay_diff_read_loose(path, &ta->type, &tb, &data_b, err);
    }
    if (status == ASSAY_OK)
        status = compare_row(d, r, o, &ta->type, data_a, &tb, data_b, err);
    free(data_a);
    free(data_b);
    return status;
}

/* Names of bundle b, sorted, for look-up. */
typedef struct key {
    const char *name;
    int64_t sample;
    int entry;
} key;

static int by_key(const void *x, const void *y)
{
    const key *a = x, *b = y;
    const int names = strcmp(a->name, b->name);
    return names ? names : a->sample < b->sample ? -1 : a->sample > b->sample;
}

static assay_status diff_bundle(assay_diff *d, const assay_diff_side *a, const assay_diff_side *b,
                                const assay_diff_options *o, assay_error *err)
{
    const int n = b->bundle ? b->bundle->n_tensors : 0;
    key *keys = malloc(((size_t)n + 1) * sizeof *keys);
    assay_status status = ASSAY_OK;

    if (!keys)
        return assay_fail(err, ASSAY_ERR_MEMORY, "out of memory");
    for (int i = 0; i < n; i++)
        keys[i] = (key){b->bundle->tensor[i].name, b->bundle->tensor[i].sample, i};
    qsort(keys, (size_t)n, sizeof *keys, by_key);
    for (int i = 0; i < a->bundle->n_tensors && status == ASSAY_OK; i++) {
        const assay_bundle_tensor *t = &a->bundle->tensor[i];
        const key wanted = {t->name, t->sample, 0};
        const key *hit = n ? bsearch(&wanted, keys, (size_t)n, sizeof *keys, by_key) : NULL;
        const char *file = NULL;
        assay_diff_row *r = add_row(d, t->name, t->op, t->sample, t->index);
        if (!r) {
            status = assay_fail(err, ASSAY_ERR_MEMORY, "out of memory");
            break;
        }
        for (int k = 0; k < b->n_files && !file; k++)
            if (assay_diff_names(b->file[k], t))
                file = b->file[k];
        if (!hit && !file) {
            r->kind = ASSAY_DIFF_MISSING;
            snprintf(r->note, sizeof r->note, "not in the second");
            continue;
        }
        status = compare_entry(d, r, o, a, i, b, hit ? hit->entry : -1, file, err);
    }
    free(keys);
    return status;
}

static assay_status diff_files(assay_diff *d, const char *a, const char *b,
                               const assay_diff_options *o, assay_error *err)
{
    assay_type ta, tb;
    void *data_a = NULL, *data_b = NULL;
    const char *slash = strrchr(a, '/');
    assay_diff_row *r = add_row(d, slash ? slash + 1 : a, "", 0, 0);
    assay_status status;

    if (!r)
        return assay_fail(err, ASSAY_ERR_MEMORY, "out of memory");
    status = assay_diff_read_loose(a, NULL, &ta, &data_a, err);
    if (status == ASSAY_OK)
        status = assay_diff_read_loose(b, &ta, &tb, &data_b, err);
    if (status == ASSAY_OK)
        status = compare_row(d, r, o, &ta, data_a, &tb, data_b, err);
    free(data_a);
    free(data_b);
    return status;
}

assay_status assay_diff_paths(const char *a, const char *b, const assay_diff_options *options,
                              assay_diff **out, assay_error *err)
{
    assay_diff_side sa = {0}, sb = {0};
    assay_diff *d = calloc(1, sizeof *d);
    assay_status status;

    *out = NULL;
    if (!d)
        return assay_fail(err, ASSAY_ERR_MEMORY, "out of memory");
    d->first = -1;
    status = assay_diff_side_open(a, &sa, err);
    if (status == ASSAY_OK)
        status = assay_diff_side_open(b, &sb, err);
    if (status == ASSAY_OK) {
        if (sa.bundle && (sb.bundle || assay_is_folder(b)))
            status = diff_bundle(d, &sa, &sb, options, err);
        else if (!assay_is_folder(a) && !assay_is_folder(b))
            status = diff_files(d, a, b, options, err);
        else
            status =
                assay_fail(err, ASSAY_ERR_INPUT,
                           "%s: the first must be a golden bundle (a folder with manifest.json), "
                           "or both must be .npy files",
                           a);
    }
    if (status == ASSAY_OK && d->n_compared == 0)
        status = assay_fail(err, ASSAY_ERR_INPUT,
                            "nothing compared: %s and %s have no tensor name in common", a, b);
    for (int k = 0; k < options->n_overrides && status == ASSAY_OK; k++) {
        int i = 0;
        while (i < d->n_rows && strcmp(d->row[i].name, options->overrides[k].tensor) != 0)
            i++;
        if (i == d->n_rows)
            status =
                assay_fail(err, ASSAY_ERR_INPUT, "a threshold names tensor '%s', which %s has not",
                           options->overrides[k].tensor, a);
    }
    assay_diff_side_close(&sa);
    assay_diff_side_close(&sb);
    if (status != ASSAY_OK) {
        assay_diff_free(d);
        return status;
    }
    *out = d;
    return ASSAY_OK;
}

void assay_diff_free(assay_diff *d)
{
    if (!d)
        return;
    for (int i = 0; i < d->n_rows; i++) {
        free(d->row[i].name);
        free(d->row[i].op);
    }
    free(d->row);
    free(d);
}
