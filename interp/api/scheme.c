/* Schemes: what is in one, as text and JSON, and in which parameters two differ. */
#include <string.h>

#include "graph/memory.h"
#include "interp/api/options.h"
#include "interp/api/rows.h"
#include "interp/decide/pair.h"
#include "schemes/prepare/asks.h"
#include "schemes/record/data.h"
#include "schemes/record/tree.h"
#include "schemes/scheme.h"

assay_status assay_scheme_from_text(const char *file, const char *text, size_t size,
                                    assay_scheme **out, assay_error *err)
{
    return assay_scheme_parse(file, text, size, out, err);
}

const char *assay_scheme_preset(int i)
{
    const char *const *name = assay_scheme_presets();
    int n = 0;
    while (name[n])
        n++;
    return i >= 0 && i < n ? name[i] : NULL;
}

const char *assay_scheme_name(const assay_scheme *s)
{
    return s->name;
}

const char *assay_scheme_description(const assay_scheme *s)
{
    return s->description;
}

const char *assay_scheme_digest(const assay_scheme *s)
{
    return s->digest;
}

const char *assay_scheme_record(const assay_scheme *s)
{
    return s->text;
}

/* ---- JSON ---- */

static json_t *json_of(const assay_tree *t);

static json_t *json_children(const assay_tree *t)
{
    json_t *o = t->kind == ASSAY_TREE_MAP ? json_object() : json_array();
    for (const assay_tree *c = t->child; c; c = c->next)
        if (t->kind == ASSAY_TREE_MAP)
            page_json_set(&o, c->key, json_of(c));
        else
            page_json_add(&o, json_of(c));
    return o;
}

/* Eight levels at most (tree.h). */
static json_t *json_of(const assay_tree *t)
{
    return t->kind == ASSAY_TREE_SCALAR ? json_string(t->text) : json_children(t);
}

assay_status assay_scheme_json(const assay_scheme *s, char **json, assay_error *err)
{
    assay_tree *t = NULL;
    assay_status status = assay_scheme_has(s, NULL, err);

    *json = NULL;
    if (!status)
        status = assay_tree_parse(s->name, s->text, strlen(s->text), &t, err);
    if (!status)
        status = assay_text_of_json(json_of(t), json, err);
    assay_tree_free(t);
    return status;
}

/* ---- differences ---- */

static json_t *json_difference(const assay_field *f, assay_field_value x, assay_field_value y,
                               bool read)
{
    json_t *o = decide_parameter_json(f, x, y);
    page_json_set(&o, "doc", json_string(f->doc));
    page_json_set(&o, "read", json_boolean(read));
    return o;
}

assay_status assay_scheme_diff(const assay_scheme *a, const assay_scheme *b, const char *op,
                               bool wide, char **json, assay_error *err)
{
    const assay_op of = assay_op_find(op ? op : "conv");
    assay_record left, right;
    json_t *list;
    size_t n;
    const assay_field *field = assay_record_fields(&n);
    assay_status status = assay_scheme_has(a, op, err);

    *json = NULL;
    if (!status)
        status = assay_scheme_has(b, op, err);
    if (status)
        return status;
    op = assay_op_get(of)->name;
    assay_effective_record(assay_data(a), op, "", assay_scheme_own_variant(a, wide), &left);
    assay_effective_record(assay_data(b), op, "", assay_scheme_own_variant(b, wide), &right);
    list = json_array();
    for (size_t i = 0; i < n; i++) {
        const assay_field_value x = assay_record_get(&left, &field[i]),
                                y = assay_record_get(&right, &field[i]);
        if (!assay_field_equal(&field[i], x, y))
            page_json_add(&list, json_difference(&field[i], x, y,
                                                 assay_reads_op(&left, of, &field[i]) ||
                                                     assay_reads_op(&right, of, &field[i])));
    }
    return assay_text_of_json(list, json, err);
}
