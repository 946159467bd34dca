/* Constants and parameters that the second side has otherwise; see numbers.h. */
#include "interp/golden/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/golden/diff_rows.h"
#include "interp/page/json.h"

/* "1 of 8 elements, first [1,3]  8 != 7". */
static void say_elements(const assay_diff *d, int row, char *text, size_t size)
{
    const assay_comparison *c = &d->row[row].result;
    int i = 0;
    size_t used = (size_t)snprintf(text, size, "%lld of %lld elements", (long long)c->differing,
                                   (long long)c->elements);
    while (i < d->n_elements && d->element[i].row != row)
        i++;
    if (i == d->n_elements)
        return;
    const assay_diff_element *e = &d->element[i];
    used += (size_t)snprintf(text + used, size - used, ", first ");
    for (int k = 0; k < e->rank; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", k ? "," : "[",
                                 (long long)e->at[k]);
    if (e->codes)
        snprintf(text + used, size - used, "]  %lld != %lld", (long long)e->code_a,
                 (long long)e->code_b);
    else
        snprintf(text + used, size - used, "]  %.9g != %.9g", e->real_a, e->real_b);
}

static json_t *list_rows(const assay_diff *d)
{
    json_t *list = json_array();
    for (int i = 0; i < d->n_rows && list; i++) {
        const assay_diff_row *r = &d->row[i];
        char text[320];
        if (r->shown || r->result.pass)
            continue;
        if (r->note[0])
            snprintf(text, sizeof text, "%s", r->note);
        else
            say_elements(d, i, text, sizeof text);
        json_t *o = json_object();
        page_json_set(&o, "name", page_json_text(r->name));
        page_json_set(&o, "difference", page_json_text(text));
        page_json_add(&list, o);
    }
    return list;
}

assay_status golden_numbers(const assay_bundle *a, const assay_bundle *b, const assay_dumps *dumps,
                            json_t **out, assay_error *err)
{
    const assay_diff_options o = {.limits = ASSAY_THRESHOLDS_EXACT};
    assay_diff *d = calloc(1, sizeof *d);
    *out = NULL;
    if (!d)
        return assay_out_of_memory(err);
    d->first = -1;
    assay_status s = golden_diff_constants(d, &o, a, b, dumps, err);
    if (!s)
        s = golden_diff_parameters(d, &o, a, b, err);
    golden_diff_choose_orders(d);
    if (!s && !(*out = list_rows(d)))
        s = assay_out_of_memory(err);
    golden_diff_free(d);
    return s;
}

static const json_t *input_of(const json_t *node, const assay_bundle *b, size_t k)
{
    const char *name = json_string_value(json_array_get(json_object_get(node, "inputs"), k));
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(b->manifest, "constants"), i, entry)
    {
        const char *is = json_string_value(json_object_get(entry, "name"));
        if (name && is && strcmp(is, name) == 0)
            return entry;
    }
    return NULL;
}

assay_status golden_number_constant(const assay_bundle *a, const assay_bundle *b,
                                    const assay_dumps *dumps, const char *name, size_t node,
                                    size_t k, const assay_type *t, void **data, assay_error *err)
{
    const json_t *n = golden_diff_node(b ? b : a, node, name);
    const json_t *entry = n ? input_of(n, b ? b : a, k) : NULL;
    const char *file = json_string_value(json_object_get(entry, "file"));
    const int dump = entry && !b ? golden_dumps_constant(dumps, entry) : -1;
    assay_type found = {0};
    assay_status s = ASSAY_OK;
    *data = NULL;
    if (b && file) {
        s = golden_json_type_read(b, entry, name, &found, err);
        if (!s && assay_shape_equal(&found, t) && assay_elem_equal(found.elem, t->elem))
            s = golden_bundle_read_array(b, file, &found, data, err);
        golden_json_type_free(&found);
    } else if (dump >= 0) {
        s = golden_dumps_read(dumps, dump, t, &found, data, err);
        if (!s && (!assay_shape_equal(&found, t) || !assay_elem_equal(found.elem, t->elem))) {
            free(*data);
            *data = NULL;
        }
    }
    return s;
}

void golden_numbers_print(const json_t *numbers, FILE *f)
{
    enum { SHOWN = 8 };
    const size_t n = json_array_size(numbers);
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        const json_t *o = json_array_get(numbers, i);
        fprintf(f, "the device's %.300s differs: %.320s\n",
                json_string_value(json_object_get(o, "name")),
                json_string_value(json_object_get(o, "difference")));
    }
    if (n > SHOWN)
        fprintf(f, "and %zu more constants and parameters\n", n - SHOWN);
}
