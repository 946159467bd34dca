/* Constants of two bundles, and a device's dumps of constants and parameters, as rows of a diff. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/golden/diff_rows.h"

/* Numbers of both sides under one name, owned. */
typedef struct pair {
    assay_type ta, tb;
    void *a, *b;
} pair;

static void free_pair(pair *p)
{
    golden_json_type_free(&p->ta);
    golden_json_type_free(&p->tb);
    free(p->a);
    free(p->b);
}

/* A row "NAME (WHAT)" of them; unless it `decides` it is only shown. */
static assay_status add_row(assay_diff *d, const assay_diff_options *o, const char *name,
                            const char *what, const char *op, const pair *p, bool decides,
                            assay_error *err)
{
    char row[512];
    snprintf(row, sizeof row, "%.440s (%.60s)", name, what);
    assay_diff_row *r = golden_diff_add_row(d, row, op, 0, -1);
    if (!r)
        return assay_out_of_memory(err);
    r->shown = !decides;
    return golden_diff_compare_row(d, r, o, &p->ta, p->a, &p->tb, p->b, err);
}

static const char *text(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static assay_status read_constant(const assay_bundle *b, const json_t *entry, assay_type *t,
                                  void **data, assay_error *err)
{
    const assay_status s = golden_json_type_read(b, entry, text(entry, "name"), t, err);
    return s ? s : golden_bundle_read_array(b, text(entry, "file"), t, data, err);
}

static const json_t *constant_named(const assay_bundle *b, const char *name)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(b->manifest, "constants"), i, entry)
    {
        if (text(entry, "name") && text(entry, "file") && strcmp(text(entry, "name"), name) == 0)
            return entry;
    }
    return NULL;
}

static bool same(const json_t *a, const json_t *b, const char *key)
{
    return json_equal(json_object_get(a, key), json_object_get(b, key));
}

/* Constant `entry` of a beside `other` of bundle b, which a row is made of where they differ. */
static assay_status diff_pair(assay_diff *d, const assay_diff_options *o, const assay_bundle *a,
                              const json_t *entry, const assay_bundle *b, const json_t *other,
                              assay_error *err)
{
    pair p = {0};
    if (!entry || !other || same(entry, other, "xxh3"))
        return ASSAY_OK;
    assay_status s = read_constant(a, entry, &p.ta, &p.a, err);
    if (!s)
        s = read_constant(b, other, &p.tb, &p.b, err);
    if (!s)
        s = add_row(d, o, text(entry, "name"), "constant", "", &p,
                    golden_diff_is_exact(o) && golden_diff_one_scheme(a, b), err);
    free_pair(&p);
    return s;
}

/* The constants that a node reads, and those that it reads in bundle b. */
static assay_status diff_read(assay_diff *d, const assay_diff_options *o, const assay_bundle *a,
                              size_t node, const assay_bundle *b, assay_error *err)
{
    const json_t *n = json_array_get(json_object_get(a->manifest, "nodes"), node);
    const json_t *in = json_object_get(n, "inputs");
    const json_t *other = text(n, "name") ? golden_diff_node(b, node, text(n, "name")) : NULL;
    assay_status s = ASSAY_OK;
    for (size_t k = 0; k < json_array_size(in) && other && same(n, other, "op") && !s; k++) {
        const char *x = json_string_value(json_array_get(in, k));
        const char *y = json_string_value(json_array_get(json_object_get(other, "inputs"), k));
        if (x && y)
            s = diff_pair(d, o, a, constant_named(a, x), b, constant_named(b, y), err);
    }
    return s;
}

static assay_status diff_dumped_constant(assay_diff *d, const assay_diff_options *o,
                                         const assay_bundle *a, const assay_dumps *dumps,
                                         const json_t *entry, assay_error *err)
{
    const int dump = golden_dumps_constant(dumps, entry);
    pair p = {0};
    if (dump < 0)
        return ASSAY_OK;
    assay_status s = read_constant(a, entry, &p.ta, &p.a, err);
    if (!s)
        s = golden_dumps_read(dumps, dump, &p.ta, &p.tb, &p.b, err);
    if (!s)
        s = add_row(d, o, text(entry, "name"), "constant", "", &p, golden_diff_is_exact(o), err);
    p.tb.q = (assay_qparams){0}; /* its scales are the reference's */
    free_pair(&p);
    return s;
}

/* ---- dumped parameters ---- */

static assay_status diff_list(assay_diff *d, const assay_diff_options *o, const assay_bundle *a,
                              const assay_dumps *dumps, const json_t *node, const char *key,
                              const json_t *list, assay_error *err)
{
    const int dump = golden_dumps_parameter(dumps, node, key);
    pair p = {0};
    char what[80];
    if (dump < 0)
        return ASSAY_OK;
    snprintf(what, sizeof what, "%.70s", key);
    assay_status s = golden_bundle_parameter(a, key, list, &p.ta, &p.a, err);
    if (!s)
        s = golden_dumps_read(dumps, dump, &p.ta, &p.tb, &p.b, err);
    if (!s)
        s = add_row(d, o, text(node, "name"), what, text(node, "op"), &p, golden_diff_is_exact(o),
                    err);
    free_pair(&p);
    return s;
}

static assay_status diff_dumped(assay_diff *d, const assay_diff_options *o, const assay_bundle *a,
                                const assay_dumps *dumps, const json_t *node, assay_error *err)
{
    const char *key;
    json_t *list;
    assay_status s = ASSAY_OK;
    json_object_foreach(json_object_get(node, "parameters"), key, list)
    {
        s = s ? s : diff_list(d, o, a, dumps, node, key, list, err);
    }
    return s;
}

assay_status golden_diff_constants(assay_diff *d, const assay_diff_options *o,
                                   const assay_bundle *a, const assay_bundle *b,
                                   const assay_dumps *dumps, assay_error *err)
{
    const json_t *constants = json_object_get(a->manifest, "constants");
    const json_t *nodes = json_object_get(a->manifest, "nodes");
    assay_status s = ASSAY_OK;
    for (size_t i = 0; i < json_array_size(constants) && !s && !b; i++)
        s = diff_dumped_constant(d, o, a, dumps, json_array_get(constants, i), err);
    for (size_t i = 0; i < json_array_size(nodes) && !s; i++)
        s = b ? diff_read(d, o, a, i, b, err)
              : diff_dumped(d, o, a, dumps, json_array_get(nodes, i), err);
    return s;
}
