/* Parsing values of the text form: name, type, elements or the file that holds them. */
#include <stdlib.h>
#include <string.h>

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
        s = text_scan_accept(p, "file") ? text_parse_file(p, &t, &data)
                                        : parse_elements(p, &t, &data);
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
