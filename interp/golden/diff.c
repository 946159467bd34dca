/* Matching two sets of tensors and comparing them one by one. */
#include "interp/golden/diff.h"
#include "graph/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interp/golden/diff_rows.h"
#include "interp/golden/dumps.h"
#include "interp/golden/extra.h"

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
    if (!is_bundle(a))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: the first must be a golden bundle (a folder with manifest.json), or "
                          "both .npy files",
                          a);
    if (!is_folder(b))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: beside a golden bundle the second must be a bundle or a folder of "
                          "dumps",
                          b);
    status = golden_bundle_open(a, &s->a, err);
    if (!status)
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
    golden_diff_count_row(d, r);
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

    if (b &&
        (sums ? !ta->sums_file || !b->sums_file
              : !golden_bundle_has_elements(s->a, i) || !golden_bundle_has_elements(s->b, other)))
        return compare_digests(d, r, &ta->type, sums ? ta->sums_digest : ta->digest,
                               sums ? b->sums_digest : b->digest);
    status = sums ? golden_bundle_read_sums(s->a, i, &ra, &data_a, err)
                  : golden_bundle_read(s->a, i, &data_a, err);
    if (!status)
        status = read_other(ta, sums, s, other, &tb, &data_b, err);
    if (!status)
        status = golden_diff_compare_row(d, r, o, &ra, data_a, &tb, data_b, err);
    free(data_a);
    free(data_b);
    return status;
}

/* A row of accumulators, where both sides have them. */
static assay_status diff_sums(assay_diff *d, const assay_diff_options *o, const sides *s, int i,
                              int entry, assay_error *err)
{
    const assay_bundle_tensor *t = &s->a->tensor[i];
    const int dump =
        s->b || !t->sums_file ? -1 : golden_dumps_find(&s->dumps, t, s->a->tensor[0].sample, true);
    char name[512];
    assay_diff_row *r;

    if (!t->sums_digest || (s->b ? entry < 0 || !s->b->tensor[entry].sums_digest : dump < 0))
        return ASSAY_OK;
    snprintf(name, sizeof name, "%.480s (accumulators)", t->name);
    r = golden_diff_add_row(d, name, t->op, t->sample, t->index);
    if (!r)
        return assay_out_of_memory(err);
    r->shown = !golden_diff_is_exact(o);
    return compare_entry(d, r, o, s, i, s->b ? entry : dump, true, err);
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
    if (!status)
        status = golden_diff_meaning(d, o, s->a, s->b, i, entry, err);
    assay_diff_row *r =
        !status ? golden_diff_add_row(d, t->name, t->op, t->sample, t->index) : NULL;

    if (!status && !r)
        status = assay_out_of_memory(err);
    if (!status && !s->b)
        status = golden_dumps_match(&s->dumps, s->a, i, &entry, err);
    if (status)
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
    assay_status status =
        keys ? golden_diff_parameters(d, o, s->a, s->b, err) : assay_out_of_memory(err);
    if (!status)
        status = golden_diff_constants(d, o, s->a, s->b, &s->dumps, err);

    for (int i = 0; i < n && keys; i++)
        keys[i] = (key){s->b->tensor[i].name, s->b->tensor[i].sample, i};
    if (n > 0 && keys)
        qsort(keys, (size_t)n, sizeof *keys, by_key);
    for (int i = 0; i < s->a->n_tensors && !status; i++) {
        const key wanted = {s->a->tensor[i].name, s->a->tensor[i].sample, 0};
        const key *hit = n ? bsearch(&wanted, keys, (size_t)n, sizeof *keys, by_key) : NULL;
        status = diff_tensor(d, s, o, i, hit ? hit->entry : -1, err);
    }
    free(keys);
    if (status)
        return status;
    d->extra = s->b ? golden_extra_tensors(s->b, s->a) : golden_extra_dumps(&s->dumps, s->a, false);
    d->unread = golden_extra_unread(&s->dumps, s->a, false);
    return d->extra && d->unread ? ASSAY_OK : assay_out_of_memory(err);
}

static assay_status diff_files(assay_diff *d, const char *a, const char *b,
                               const assay_diff_options *o, assay_error *err)
{
    assay_type ta, tb;
    void *data_a = NULL, *data_b = NULL;
    const char *slash = strrchr(a, '/');
    assay_diff_row *r = golden_diff_add_row(d, slash ? slash + 1 : a, "", 0, 0);
    assay_status status;

    if (!r)
        return assay_out_of_memory(err);
    status = golden_dump_read_npy(a, NULL, &ta, &data_a, err);
    if (!status)
        status = golden_dump_read_npy(b, &ta, &tb, &data_b, err);
    if (!status)
        status = golden_diff_compare_row(d, r, o, &ta, data_a, &tb, data_b, err);
    free(data_a);
    free(data_b);
    return status;
}

/* Same is said of a device of which a result was compared: its inputs are what it was given. */
static assay_status check_judged(const assay_diff *d, const char *a, const char *b,
                                 assay_error *err)
{
    bool computes = false, judged = d->first >= 0;

    if (d->n_compared == 0)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "nothing compared: %s and %s have no tensor name in common", a, b);
    for (int i = 0; i < d->n_rows; i++) {
        const bool computed = strcmp(d->row[i].op, "input") != 0;
        computes = computes || computed;
        judged = judged || (computed && d->row[i].kind != ASSAY_DIFF_MISSING);
    }
    return judged || !computes
               ? ASSAY_OK
               : assay_fail(err, ASSAY_ERR_INPUT,
                            "nothing judged: of %s, %s has only the inputs, and they are equal", a,
                            b);
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
    if (!status)
        status = s.a ? diff_bundle(d, &s, options, err) : diff_files(d, a, b, options, err);
    golden_diff_choose_orders(d);
    if (!status)
        status = check_judged(d, a, b, err);
    for (int k = 0; k < options->n_overrides && !status; k++) {
        int i = 0;
        while (i < d->n_rows && strcmp(d->row[i].name, options->overrides[k].tensor) != 0)
            i++;
        if (i == d->n_rows)
            status = assay_fail(err, ASSAY_ERR_INPUT,
                                "a threshold names tensor '%s', which %s does not have",
                                options->overrides[k].tensor, a);
    }
    close_sides(&s);
    if (status) {
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
    json_decref(d->extra);
    json_decref(d->unread);
    free(d->row);
    free(d);
}
