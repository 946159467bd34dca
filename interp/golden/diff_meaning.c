/* Differences of two bundles beside their tensors: the parameters of nodes, and what codes stand
 * for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/golden/diff_rows.h"
#include "interp/golden/digest.h"

/* A row "NAME (WHAT)" that says in words what is not the same. */
static assay_status add_note(assay_diff *d, const assay_diff_options *o, const char *name,
                             const char *what, const char *op, int64_t sample, int index,
                             const char *note, bool decides, assay_error *err)
{
    char row[512];
    assay_diff_row *r;

    snprintf(row, sizeof row, "%.480s (%s)", name, what);
    r = golden_diff_add_row(d, row, op, sample, index);
    if (!r)
        return assay_out_of_memory(err);
    r->kind = ASSAY_DIFF_DIGEST_ONLY;
    r->shown = !decides || !golden_diff_is_exact(o);
    snprintf(r->note, sizeof r->note, "%s", note);
    golden_diff_count_row(d, r);
    return ASSAY_OK;
}

/* ---- parameters ---- */

bool golden_diff_one_scheme(const assay_bundle *a, const assay_bundle *b)
{
    return json_equal(json_object_get(json_object_get(a->manifest, "scheme"), "xxh3"),
                      json_object_get(json_object_get(b->manifest, "scheme"), "xxh3"));
}

static bool is_digest_only(const json_t *list)
{
    return json_is_object(list) && !json_object_get(list, "file");
}

static assay_status digest_of(const assay_bundle *b, const char *key, const json_t *list,
                              char hex[33], assay_error *err)
{
    const char *digest = json_string_value(json_object_get(list, "xxh3"));
    assay_type type;
    void *data;
    if (json_is_object(list)) {
        snprintf(hex, 33, "%s", digest ? digest : "");
        return ASSAY_OK;
    }
    assay_status s = golden_bundle_parameter(b, key, list, &type, &data, err);
    if (!s)
        s = golden_digest_tensor(&type, data, hex, err);
    free(data);
    return s;
}

/* Two lists of which at least one was kept as a digest. */
static assay_status find_digest(const assay_bundle *a, const json_t *x, const assay_bundle *b,
                                const json_t *y, const char *key, char *note, size_t size,
                                assay_error *err)
{
    char one[33], two[33];
    assay_status s = digest_of(a, key, x, one, err);
    if (!s)
        s = digest_of(b, key, y, two, err);
    if (!s && strcmp(one, two) != 0)
        snprintf(note, size, "%.60s: the digests differ", key);
    return s;
}

/* The first entry of two lists that is not the same: "multiplier[3]: 5 != 6"; "" where all is. */
static assay_status find_entry(const assay_bundle *a, const json_t *x, const assay_bundle *b,
                               const json_t *y, const char *key, char *note, size_t size,
                               assay_error *err)
{
    int64_t *v = NULL, *w = NULL;
    size_t n = 0, m = 0, i = 0;
    *note = 0;
    if (is_digest_only(x) || is_digest_only(y))
        return find_digest(a, x, b, y, key, note, size, err);
    assay_status s = golden_bundle_integers(a, key, x, &v, &n, err);
    if (!s)
        s = golden_bundle_integers(b, key, y, &w, &m, err);
    while (!s && i < n && i < m && v[i] == w[i])
        i++;
    if (!s && n != m)
        snprintf(note, size, "%.60s: %zu entries != %zu", key, n, m);
    else if (!s && i < n)
        snprintf(note, size, "%.60s[%zu]: %lld != %lld", key, i, (long long)v[i], (long long)w[i]);
    free(v);
    free(w);
    return s;
}

/* What of two nodes' parameters is not the same; "" where all is. */
static assay_status find_parameter(const assay_bundle *a, const json_t *of_a, const assay_bundle *b,
                                   const json_t *of_b, char *note, size_t size, assay_error *err)
{
    const json_t *x = json_object_get(of_a, "parameters"), *y = json_object_get(of_b, "parameters");
    const char *key;
    json_t *list;
    assay_status s = ASSAY_OK;
    *note = 0;
    json_object_foreach((json_t *)(uintptr_t)x, key, list)
    {
        const json_t *other = json_object_get(y, key);
        if (s || *note)
            break;
        if (!other)
            snprintf(note, size, "%.60s: only the first has it", key);
        else if (!json_equal(list, other))
            s = find_entry(a, list, b, other, key, note, size, err);
    }
    json_object_foreach((json_t *)(uintptr_t)y, key, list)
    {
        if (!*note && !json_object_get(x, key))
            snprintf(note, size, "%.60s: only the second has it", key);
    }
    return s;
}

const json_t *golden_diff_node(const assay_bundle *b, size_t i, const char *name)
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

assay_status golden_diff_parameters(assay_diff *d, const assay_diff_options *o,
                                    const assay_bundle *a, const assay_bundle *b, assay_error *err)
{
    const json_t *list = json_object_get(a->manifest, "nodes");
    assay_status s = ASSAY_OK;
    for (size_t i = 0; i < json_array_size(list) && !s && b; i++) {
        const json_t *node = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(node, "name"));
        const json_t *other = name ? golden_diff_node(b, i, name) : NULL;
        char note[160] = "";
        if (other && json_equal(json_object_get(node, "op"), json_object_get(other, "op")))
            s = find_parameter(a, node, b, other, note, sizeof note, err);
        if (!*note)
            continue;
        const bool one = golden_diff_one_scheme(a, b);
        if (!one)
            strncat(note, ", under another scheme", sizeof note - strlen(note) - 1);
        s = add_note(d, o, name, "parameters", json_string_value(json_object_get(node, "op")), 0,
                     -1, note, one, err);
    }
    return s;
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
            snprintf(note, size, "%s: the granularity differs", keys[k]);
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

assay_status golden_diff_meaning(assay_diff *d, const assay_diff_options *o, const assay_bundle *a,
                                 const assay_bundle *b, int i, int entry, assay_error *err)
{
    const assay_bundle_tensor *t = &a->tensor[i];
    char note[160];

    if (!b || entry < 0 || t->sample != a->tensor[0].sample ||
        !find_meaning(json_array_get(json_object_get(a->manifest, "tensors"), (size_t)i),
                      json_array_get(json_object_get(b->manifest, "tensors"), (size_t)entry), note,
                      sizeof note))
        return ASSAY_OK;
    return add_note(d, o, t->name, "codes", t->op, t->sample, t->index, note, true, err);
}
