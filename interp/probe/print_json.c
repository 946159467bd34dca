/* Findings as JSON. */
#include <stdio.h>

#include "interp/page/json.h"
#include "interp/probe/find.h"
#include "schemes/prepare/asks.h"
#include "schemes/record/reads.h"

static void set_field(json_t **j, const assay_field *field, json_t *value)
{
    char name[80];
    snprintf(name, sizeof name, "%s.%s", field->section, field->name);
    page_json_set(j, name, value);
}

static json_t *json_value(const assay_field *field, assay_field_value v)
{
    char text[96];
    assay_field_print(field, v, text, sizeof text);
    return json_string(text);
}

/* The record's value first, then others; null: a record that does not read the field. */
static json_t *json_values(const probe_op_finding *o, const assay_field *field,
                           enum probe_state state)
{
    json_t *values = json_array();
    if (assay_reads_op(&o->record, o->op, field) && !assay_reads_not(&o->record, field))
        page_json_add(&values, json_value(field, assay_record_get(&o->record, field)));
    for (int i = 0; i < o->n_open; i++)
        if (o->open[i].field == field)
            page_json_add(&values, json_value(field, o->open[i].value));
    if (state == PROBE_OPEN_UNREAD)
        page_json_add(&values, json_null());
    if (state == PROBE_OPEN_MORE)
        page_json_add(&values, json_string("..."));
    return values;
}

/* Fields of states from..to, each with its values or, of one value, that alone. */
static json_t *json_fields(const probe_op_finding *o, enum probe_state from, enum probe_state to)
{
    size_t n;
    const assay_field *field = assay_record_fields(&n);
    json_t *fields = json_object();
    for (size_t i = 0; o->state && i < n; i++)
        if (o->state[i] >= from && o->state[i] <= to)
            set_field(&fields, &field[i],
                      probe_is_open(o->state[i])
                          ? json_values(o, &field[i], o->state[i])
                          : json_value(&field[i], assay_record_get(&o->record, &field[i])));
    return fields;
}

static json_t *json_op(const probe_findings *found, const probe_op_finding *o)
{
    json_t *j = json_object(), *presets = json_array(), *changes = json_object(),
           *against = json_array();
    for (int k = 0; k < found->schemes.n; k++)
        if (o->agrees[k])
            page_json_add(&presets, page_json_text(found->schemes.scheme[k]->name));
    for (int i = 0; i < o->n_changes; i++)
        set_field(&changes, o->change[i],
                  json_value(o->change[i], assay_record_get(&o->record, o->change[i])));
    for (int i = 0; i < o->n_against; i++)
        page_json_add(&against, page_json_text(o->against[i]));
    page_json_set(&j, "op", json_string(probe_op_name(o)));
    page_json_set(
        &j, "verdict",
        json_string(probe_is_float(found, o) ? "float" : probe_verdict(probe_is_full(o))));
    page_json_set(&j, "presets", presets);
    page_json_set(&j, "nearest", page_json_text(found->schemes.scheme[o->nearest]->name));
    page_json_set(&j, "changes", changes);
    page_json_set(&j, "open", json_fields(o, PROBE_OPEN, PROBE_OPEN_UNREAD));
    page_json_set(&j, "settled", json_fields(o, PROBE_HELD, PROBE_HELD));
    page_json_set(&j, "unobservable", json_fields(o, PROBE_UNSEEN, PROBE_UNSEEN));
    page_json_set(&j, "tried", json_integer(o->tried));
    page_json_set(&j, "nodes", json_integer(o->n_nodes));
    page_json_set(&j, "elements", json_integer(o->elements));
    page_json_set(&j, "given", json_integer(o->given));
    page_json_set(&j, "contradictions", against);
    return j;
}

static json_t *json_stretch(const probe_findings *found, const probe_stretch *s)
{
    json_t *j = json_object(), *presets = json_array(), *against = json_array();
    for (int k = 0; k < found->schemes.n; k++)
        if (s->agrees[k])
            page_json_add(&presets, page_json_text(found->schemes.scheme[k]->name));
    for (int i = 0; i < s->n_against; i++)
        page_json_add(&against, page_json_text(s->against[i]));
    page_json_set(&j, "end", page_json_text(s->end));
    page_json_set(&j, "presets", presets);
    page_json_set(&j, "as_found", json_boolean(s->as_found));
    page_json_set(&j, "nodes", json_integer(s->n_nodes));
    page_json_set(&j, "elements", json_integer(s->elements));
    page_json_set(&j, "given", json_integer(s->given));
    page_json_set(&j, "contradictions", against);
    return j;
}

json_t *probe_json(const probe_findings *found, const char *path)
{
    json_t *j = json_object(), *presets = json_array(), *ops = json_array(), *not = json_array(),
           *nearest = json_array(), *stretches = json_array();
    for (int k = 0; k < found->schemes.n; k++)
        if (probe_agrees(found, k))
            page_json_add(&presets, page_json_text(found->schemes.scheme[k]->name));
    for (int k = 0; k < found->schemes.n; k++)
        if (probe_is_nearest(found, k))
            page_json_add(&nearest, page_json_text(found->schemes.scheme[k]->name));
    for (int i = 0; i < found->n_ops; i++)
        page_json_add(&ops, json_op(found, &found->op[i]));
    for (int i = 0; i < found->n_unanswered; i++)
        page_json_add(&not, json_string(found->unanswered[i]));
    page_json_set(&j, "verdict", json_string(probe_verdict(probe_is_explained(found))));
    page_json_set(&j, "presets", presets);
    page_json_set(&j, "nearest", nearest);
    page_json_set(&j, "found", path ? page_json_text(path) : json_null());
    page_json_set(&j, "ops", ops);
    for (int i = 0; i < found->n_stretches; i++)
        page_json_add(&stretches, json_stretch(found, &found->stretch[i]));
    page_json_set(&j, "stretches", stretches);
    page_json_set(&j, "not_of_network", json_integer(found->not_of_network));
    page_json_set(&j, "not_answered", not );
    return j;
}

assay_status probe_write_json(const char *file, const probe_findings *found, const char *path,
                              assay_error *err)
{
    json_t *j = probe_json(found, path);
    const assay_status status = page_json_write(file, j, err);
    json_decref(j);
    return status;
}
