/* Parsing values of the text form: name, type, elements or the file that holds them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/slurp.h"
#include "graph/memory.h"
#include "graph/text/scan.h"

/* Elements of t's kind, as many as t has, into malloc'd *data. */
static assay_status parse_elements(assay_scanner *p, const assay_type *t, void **data)
{
    size_t size = assay_elem_size(t->elem), n = 0;
    size_t count = (size_t)assay_shape_count(t);
    bool is_float = t->elem.kind == ASSAY_KIND_F32, is_bool = t->elem.kind == ASSAY_KIND_BOOL;
    int64_t lo = is_float || is_bool ? 0 : assay_elem_min(t->elem);
    int64_t hi = is_float || is_bool ? 1 : assay_elem_max(t->elem);
    assay_status s = text_scan_expect(p, "[");

    while (!s && !text_scan_accept(p, "]")) {
        int64_t v = 0;
        float f = 0;
        void *bigger = text_scan_grow(*data, n, size);
        if (!bigger)
            return assay_out_of_memory(p->err);
        *data = bigger;
        if (n == count)
            return text_scan_fail(p, "more than the %zu elements of the type", count);
        if (n && (s = text_scan_expect(p, ",")))
            break;
        s = is_float ? text_scan_float(p, &f) : text_scan_int(p, lo, hi, &v);
        if (is_float)
            memcpy((char *)bigger + n++ * size, &f, sizeof f);
        else
            assay_elem_set(t->elem, bigger, n++, v);
    }
    if (!s && n != count)
        s = text_scan_fail(p, "%zu elements, but the type has %zu", n, count);
    return s;
}

/* Elements of file `name` of the directory of constants. */
static assay_status read_file(const assay_scanner *p, const char *name, const assay_type *t,
                              void **data, assay_error *err)
{
    const assay_text_folder *c = p->constants;
    unsigned char *bytes;
    size_t size;
    char path[4096];
    assay_status s;

    if (snprintf(path, sizeof path, "%s/%s", c->path, name) >= (int)sizeof path)
        return assay_fail(err, ASSAY_ERR_IO, "the path of '%.100s' is too long", name);
    if (c->inside < 0)
        return text_constant_read(path, t, data, err);
    s = assay_slurp_inside(c->inside, c->shown, path, &bytes, &size, err);
    if (!s)
        s = text_constant_parse(path, bytes, size, t, data, err);
    free(bytes);
    return s;
}

/* The digest that a file's elements must have, where the text gives one. */
static assay_status parse_digest(assay_scanner *p, const char *name, const assay_type *t,
                                 const void *data)
{
    const char *at = text_scan_here(p);
    char *digest, found[33];
    assay_status s;

    if (!text_scan_accept(p, "xxh3"))
        return ASSAY_OK;
    if ((s = text_scan_string(p, &digest)))
        return s;
    s = text_constant_digest(t, data, found, p->err);
    if (!s && strcmp(found, digest) != 0)
        s = text_scan_fail_at(p, at, ASSAY_ERR_INPUT,
                              "'%.100s' holds other constants than this network was written with "
                              "(digest %s, expected %.40s)",
                              name, found, digest);
    free(digest);
    return s;
}

/* file "NAME": a file of the directory of constants, and of no other. */
static assay_status parse_file(assay_scanner *p, const assay_type *t, void **data)
{
    const char *at = text_scan_here(p);
    char *name;
    assay_error inner;
    assay_status s = text_scan_string(p, &name);

    if (s)
        return s;
    if (!*name || strchr(name, '/') || strcmp(name, "..") == 0 || strcmp(name, ".") == 0)
        s = text_scan_fail_at(p, at, ASSAY_ERR_INPUT, "'%.100s' is not a plain file name", name);
    else if (!p->constants->path)
        s = text_scan_fail_at(p, at, ASSAY_ERR_INPUT,
                              "the text names a file, but there is no directory of constants");
    else
        s = text_scan_located(p, at, read_file(p, name, t, data, &inner), &inner);
    if (!s)
        s = parse_digest(p, name, t, *data);
    free(name);
    return s;
}

assay_status text_parse_value(assay_scanner *p, assay_graph *g, assay_text_value kind, int *id)
{
    assay_type t = {.rank = 0};
    assay_text_params q = {0};
    void *data = NULL;
    char *name = NULL;
    int source_index = -1;
    bool has_data;
    assay_error inner;
    const char *at = text_scan_here(p);
    assay_status s;

    if (!(s = text_scan_name(p, &name)) && !(s = text_scan_expect(p, ":")))
        s = text_parse_type(p, &t, &q, &source_index);
    if (!s)
        s = text_scan_located(p, at, assay_shape_check(&t, name, &inner), &inner);
    has_data =
        kind == ASSAY_TEXT_CONSTANT || (kind == ASSAY_TEXT_VARIABLE && text_scan_accept(p, "="));
    if (!s && kind == ASSAY_TEXT_CONSTANT)
        s = text_scan_expect(p, "=");
    if (!s && has_data)
        s = text_scan_accept(p, "file") ? parse_file(p, &t, &data) : parse_elements(p, &t, &data);
    if (!s) {
        s = kind == ASSAY_TEXT_CONSTANT   ? assay_graph_add_constant(g, name, &t, data, id, &inner)
            : kind == ASSAY_TEXT_VARIABLE ? assay_graph_add_variable(g, name, &t, data, id, &inner)
                                          : assay_graph_add_value(g, name, &t, id, &inner);
        s = text_scan_located(p, at, s, &inner);
    }
    if (!s)
        g->value[*id].source_index = source_index;
    free(name);
    free(data);
    text_params_free(&q);
    return s;
}

assay_status text_parse_reference(assay_scanner *p, const assay_graph *g, int *id)
{
    const char *at = text_scan_here(p);
    char *name;
    assay_status s = text_scan_name(p, &name);
    if (s)
        return s;
    *id = assay_graph_find_value(g, name);
    if (*id < 0)
        s = text_scan_fail_at(p, at, ASSAY_ERR_INPUT, "nothing before defines '%.200s'", name);
    free(name);
    return s;
}
