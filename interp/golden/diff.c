/* Matching two sets of tensors and comparing them one by one. */
#include "interp/golden/diff.h"
#include "graph/memory.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interp/golden/compare.h"
#include "interp/golden/dumps.h"

/* What is compared: bundle a with bundle b or with dumps; neither: two files. */
typedef struct sides {
    assay_bundle *a, *b;
    assay_dumps dumps;
} sides;

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_bundle(const char *path)
{
    char manifest[4096];
    snprintf(manifest, sizeof manifest, "%.4000s/manifest.json", path);
    return access(manifest, F_OK) == 0;
}

static assay_status open_sides(sides *s, const char *a, const char *b, unsigned hex_bits,
                               assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int k = 0; k < 2; k++)
        if (access(k ? b : a, F_OK) != 0)
            return assay_fail(err, ASSAY_ERR_IO, "%s: %s", k ? b : a, strerror(errno));
    if (!is_folder(a) && !is_folder(b))
        return ASSAY_OK;
    if (!is_bundle(a) || !is_folder(b))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: the first must be a golden bundle (a folder with manifest.json) and "
                          "the second a bundle or a folder of dumps, or both .npy files",
                          a);
    status = golden_bundle_open(a, &s->a, err);
    if (status == ASSAY_OK)
        status = is_bundle(b) ? golden_bundle_open(b, &s->b, err)
                              : golden_dumps_open(b, hex_bits, &s->dumps, err);
    return status;
}

static void close_sides(sides *s)
{
    golden_bundle_free(s->a);
    golden_bundle_free(s->b);
    golden_dumps_close(&s->dumps);
}

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
        const assay_element_error m = golden_element_compare(ta, a, tb, b, i, limits);
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
            e->code_a = golden_element_code(ta, a, i);
            e->code_b = golden_element_code(tb, b, i);
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

static void count_row(assay_diff *d, const assay_diff_row *r)
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
        count_row(d, r);
        return ASSAY_OK;
    }
    status = assay_compare(ta, a, tb, b, &limits, &r->result, err);
    if (status == ASSAY_OK && !r->result.pass)
        keep_elements(d, (int)(r - d->row), ta, a, tb, b, &limits);
    if (status == ASSAY_OK)
        count_row(d, r);
    return status;
}

/* Elements of the counterpart of a's tensor `ta`: entry `other` of bundle b, or dump `other`. */
static assay_status read_other(const assay_bundle_tensor *ta, bool sums, const sides *s, int other,
                               assay_type *tb, void **data, assay_error *err)
{
    const assay_type like = sums ? golden_bundle_sums_type(&ta->type) : ta->type;
    if (!s->b)
        return golden_dumps_read(&s->dumps, other, &like, tb, data, err);
    if (sums)
        return golden_bundle_read_sums(s->b, other, tb, data, err);
    *tb = s->b->tensor[other].type;
    return golden_bundle_read(s->b, other, data, err);
}

/* Of digests alone. */
static assay_status compare_digests(assay_diff *d, assay_diff_row *r, const assay_type *type,
                                    const char *a, const char *b)
{
    r->kind = ASSAY_DIFF_DIGEST_ONLY;
    r->result.elements = assay_shape_count(type);
    r->result.pass = strcmp(a, b) == 0;
    snprintf(r->note, sizeof r->note, "digests %s", r->result.pass ? "equal" : "differ");
    count_row(d, r);
    return ASSAY_OK;
}

/* Reads tensor i of bundle a, or its accumulators, and its counterpart, and compares them. */
static assay_status compare_entry(assay_diff *d, assay_diff_row *r, const assay_diff_options *o,
                                  const sides *s, int i, int other, bool sums, assay_error *err)
{
    const assay_bundle_tensor *ta = &s->a->tensor[i];
    const assay_bundle_tensor *b = s->b ? &s->b->tensor[other] : NULL;
    assay_type ra = ta->type, tb;
    void *data_a = NULL, *data_b = NULL;
    assay_status status;

    if (b && (sums ? !ta->sums_file || !b->sums_file : !ta->file || !b->file))
        return compare_digests(d, r, &ta->type, sums ? ta->sums_digest : ta->digest,
                               sums ? b->sums_digest : b->digest);
    status = sums ? golden_bundle_read_sums(s->a, i, &ra, &data_a, err)
                  : golden_bundle_read(s->a, i, &data_a, err);
    if (status == ASSAY_OK)
        status = read_other(ta, sums, s, other, &tb, &data_b, err);
    if (status == ASSAY_OK)
        status = compare_row(d, r, o, &ra, data_a, &tb, data_b, err);
    free(data_a);
    free(data_b);
    return status;
}

/* Accumulators and parameters decide where nothing but equality is asked for. */
static bool is_exact(const assay_diff_options *o)
{
    const assay_thresholds *l = &o->limits;
    return o->n_overrides == 0 && l->max_lsb < 0.0 && l->rel < 0.0 && l->abs < 0.0 &&
           l->cosine < 0.0 && l->sqnr < 0.0;
}

/* A row of accumulators, where both sides have them. */
static assay_status diff_sums(assay_diff *d, const assay_diff_options *o, const sides *s, int i,
                              int entry, assay_error *err)
{
    const assay_bundle_tensor *t = &s->a->tensor[i];
    const int dump =
        s->b || !t->sums_file ? -1 : golden_dumps_find(&s->dumps, t, s->a->tensor[0].sample, true);
    const int failed = d->n_failed, first = d->first;
    char name[512];
    assay_diff_row *r;
    assay_status status;

    if (!t->sums_digest || (s->b ? entry < 0 || !s->b->tensor[entry].sums_digest : dump < 0))
        return ASSAY_OK;
    snprintf(name, sizeof name, "%.480s (accumulators)", t->name);
    r = add_row(d, name, t->op, t->sample, t->index);
    status =
        r ? compare_entry(d, r, o, s, i, s->b ? entry : dump, true, err) : assay_out_of_memory(err);
    if (status == ASSAY_OK && !is_exact(o)) {
        d->n_failed = failed;
        d->first = first;
        d->row[d->n_rows - 1].result.pass = true;
    }
    return status;
}

/* ---- parameters ---- */

/* What of two nodes is not the same: "multiplier[3]: 5 != 6"; false where all is. */
static bool find_parameter(const json_t *a, const json_t *b, char *note, size_t size)
{
    const char *key;
    json_t *list;
    json_object_foreach((json_t *)(uintptr_t)a, key, list)
    {
        const json_t *other = json_object_get(b, key);
        for (size_t i = 0; i < json_array_size(list) || i < json_array_size(other); i++)
            if (!json_equal(json_array_get(list, i), json_array_get(other, i))) {
                snprintf(note, size, "%.60s[%zu]: %lld != %lld", key, i,
                         (long long)json_integer_value(json_array_get(list, i)),
                         (long long)json_integer_value(json_array_get(other, i)));
                return true;
            }
    }
    return false;
}

static const json_t *node_named(const assay_bundle *b, size_t i, const char *name)
{
    const json_t *list = json_object_get(b->manifest, "nodes");
    const json_t *guess = json_array_get(list, i);
    const char *found = json_string_value(json_object_get(guess, "name"));
    if (found && strcmp(found, name) == 0)
        return guess;
    for (size_t k = 0; k < json_array_size(list); k++) {
        found = json_string_value(json_object_get(json_array_get(list, k), "name"));
        if (found && strcmp(found, name) == 0)
            return json_array_get(list, k);
    }
    return NULL;
}

/* A row for each node whose parameters differ, under one and the same scheme. */
static assay_status diff_parameters(assay_diff *d, const assay_diff_options *o, const sides *s,
                                    assay_error *err)
{
    const json_t *list = json_object_get(s->a->manifest, "nodes");
    const json_t *scheme = json_object_get(s->a->manifest, "scheme");
    if (!s->b || !json_equal(json_object_get(scheme, "xxh3"),
                             json_object_get(json_object_get(s->b->manifest, "scheme"), "xxh3")))
        return ASSAY_OK;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *node = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(node, "name"));
        const json_t *other = name ? node_named(s->b, i, name) : NULL;
        char note[160], row[512];
        assay_diff_row *r;
        if (!other || !find_parameter(json_object_get(node, "parameters"),
                                      json_object_get(other, "parameters"), note, sizeof note))
            continue;
        snprintf(row, sizeof row, "%.480s (parameters)", name);
        r = add_row(d, row, json_string_value(json_object_get(node, "op")), 0, -1);
        if (!r)
            return assay_out_of_memory(err);
        r->kind = ASSAY_DIFF_DIGEST_ONLY;
        r->result.pass = !is_exact(o);
        snprintf(r->note, sizeof r->note, "%s", note);
        count_row(d, r);
    }
    return ASSAY_OK;
}

/* ---- what codes stand for ---- */

/* "scale[3]: 0.5 != 0.25"; false where the codes of both mean the same, or one side has none. */
static bool find_meaning(const json_t *a, const json_t *b, char *note, size_t size)
{
    static const char *const keys[] = {"scale", "zero_point"};
    for (int k = 0; k < 2; k++) {
        const json_t *x = json_object_get(a, keys[k]), *y = json_object_get(b, keys[k]);
        if (!x || !y || json_equal(x, y))
            continue;
        size_t i = 0;
        while (json_is_array(x) && json_is_array(y) && i < json_array_size(x) &&
               json_equal(json_array_get(x, i), json_array_get(y, i)))
            i++;
        if (json_is_array(x) != json_is_array(y) || json_array_size(x) != json_array_size(y)) {
            snprintf(note, size, "%s: another granularity", keys[k]);
            return true;
        }
        if (json_is_array(x)) {
            x = json_array_get(x, i);
            y = json_array_get(y, i);
        }
        snprintf(note, size, "%s: %.9g != %.9g", keys[k], json_number_value(x),
                 json_number_value(y));
        return true;
    }
    return false;
}

/* A row for a tensor of the first sample whose codes mean something else in the other bundle. */
static assay_status diff_meaning(assay_diff *d, const assay_diff_options *o, const sides *s, int i,
                                 int entry, assay_error *err)
{
    const assay_bundle_tensor *t = &s->a->tensor[i];
    char note[160], row[512];
    assay_diff_row *r;

    if (!s->b || entry < 0 || t->sample != s->a->tensor[0].sample ||
        !find_meaning(json_array_get(json_object_get(s->a->manifest, "tensors"), (size_t)i),
                      json_array_get(json_object_get(s->b->manifest, "tensors"), (size_t)entry),
                      note, sizeof note))
        return ASSAY_OK;
    snprintf(row, sizeof row, "%.480s (codes)", t->name);
    r = add_row(d, row, t->op, t->sample, t->index);
    if (!r)
        return assay_out_of_memory(err);
    r->kind = ASSAY_DIFF_DIGEST_ONLY;
    r->result.pass = !is_exact(o);
    snprintf(r->note, sizeof r->note, "%s", note);
    count_row(d, r);
    return ASSAY_OK;
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

static assay_status diff_tensor(assay_diff *d, const sides *s, const assay_diff_options *o, int i,
                                int entry, assay_error *err)
{
    const assay_bundle_tensor *t = &s->a->tensor[i];
    assay_status status = diff_sums(d, o, s, i, entry, err);
    if (status == ASSAY_OK)
        status = diff_meaning(d, o, s, i, entry, err);
    assay_diff_row *r = status == ASSAY_OK ? add_row(d, t->name, t->op, t->sample, t->index) : NULL;

    if (status == ASSAY_OK && !r)
        status = assay_out_of_memory(err);
    if (status == ASSAY_OK && !s->b)
        status = golden_dumps_match(&s->dumps, s->a, i, &entry, err);
    if (status != ASSAY_OK)
        return status;
    if (entry < 0) {
        r->kind = ASSAY_DIFF_MISSING;
        snprintf(r->note, sizeof r->note, "not in the second");
        return ASSAY_OK;
    }
    return compare_entry(d, r, o, s, i, entry, false, err);
}

static assay_status diff_bundle(assay_diff *d, const sides *s, const assay_diff_options *o,
                                assay_error *err)
{
    const int n = s->b ? s->b->n_tensors : 0;
    key *keys = malloc(((size_t)n + 1) * sizeof *keys);
    assay_status status = keys ? diff_parameters(d, o, s, err) : assay_out_of_memory(err);

    for (int i = 0; i < n && keys; i++)
        keys[i] = (key){s->b->tensor[i].name, s->b->tensor[i].sample, i};
    if (n > 0 && keys)
        qsort(keys, (size_t)n, sizeof *keys, by_key);
    for (int i = 0; i < s->a->n_tensors && status == ASSAY_OK; i++) {
        const key wanted = {s->a->tensor[i].name, s->a->tensor[i].sample, 0};
        const key *hit = n ? bsearch(&wanted, keys, (size_t)n, sizeof *keys, by_key) : NULL;
        status = diff_tensor(d, s, o, i, hit ? hit->entry : -1, err);
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
        return assay_out_of_memory(err);
    status = golden_dump_read_npy(a, NULL, &ta, &data_a, err);
    if (status == ASSAY_OK)
        status = golden_dump_read_npy(b, &ta, &tb, &data_b, err);
    if (status == ASSAY_OK)
        status = compare_row(d, r, o, &ta, data_a, &tb, data_b, err);
    free(data_a);
    free(data_b);
    return status;
}

assay_status golden_diff_paths(const char *a, const char *b, const assay_diff_options *options,
                               assay_diff **out, assay_error *err)
{
    sides s = {0};
    assay_diff *d = calloc(1, sizeof *d);
    assay_status status;

    *out = NULL;
    if (!d)
        return assay_out_of_memory(err);
    d->first = -1;
    status = open_sides(&s, a, b, options->hex_bits, err);
    if (status == ASSAY_OK)
        status = s.a ? diff_bundle(d, &s, options, err) : diff_files(d, a, b, options, err);
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
    close_sides(&s);
    if (status != ASSAY_OK) {
        golden_diff_free(d);
        return status;
    }
    *out = d;
    return ASSAY_OK;
}

void golden_diff_free(assay_diff *d)
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
