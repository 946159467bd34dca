/* Matrix units; see units.h. */
#include "interp/api/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/api/options.h"
#include "schemes/mac/explain.h"
#include "schemes/mac/parameters.h"
#include "schemes/mac/scheme.h"
#include "schemes/record/data.h"

static const assay_mac_layout *layout(int64_t format)
{
    return mac_layout_of((enum assay_mac_format)format);
}

/* ---- one unit ---- */

const char *assay_matrix_unit_preset(int i)
{
    const char *const *name = assay_mac_units();
    int n = 0;
    while (name[n])
        n++;
    return i >= 0 && i < n ? name[i] : NULL;
}

/* A shipped scheme of matrix units, or a file of one. */
static assay_status is_scheme(const char *name, bool *is, assay_error *err)
{
    size_t length;
    char *text;
    *is = assay_mac_scheme_text(name, &length);
    if (*is || assay_mac_unit_text(name, &length) ||
        assay_scheme_read_file(name, &text, &length, err))
        return ASSAY_OK;
    const assay_status s = mac_scheme_is(text, length, is, err);
    free(text);
    return s;
}

assay_status assay_units_open(const char *name, assay_mac_unit *out, assay_error *err)
{
    bool is;
    assay_scheme *scheme;
    assay_status s = is_scheme(name, &is, err);
    if (!s && !is)
        return mac_open(name, out, err);
    if (!s)
        s = assay_scheme_open(name, &scheme, err);
    if (s)
        return s;
    const assay_mac_scheme *mac = scheme->mac;
    *out = mac->unit[0];
    assay_scheme_free(scheme);
    return ASSAY_OK;
}

/* The unit when it was read, else nothing. */
static assay_status give(assay_matrix_unit *u, assay_status status, assay_matrix_unit **out)
{
    if (status)
        free(u);
    *out = status ? NULL : u;
    return status;
}

assay_status assay_matrix_unit_open(const char *name, assay_matrix_unit **out, assay_error *err)
{
    assay_matrix_unit *u = calloc(1, sizeof *u);
    return give(u, u ? assay_units_open(name, &u->unit, err) : assay_out_of_memory(err), out);
}

assay_status assay_matrix_unit_from_text(const char *file, const char *text, size_t size,
                                         assay_matrix_unit **out, assay_error *err)
{
    assay_matrix_unit *u = calloc(1, sizeof *u);
    return give(u, u ? mac_read(file, text, size, &u->unit, err) : assay_out_of_memory(err), out);
}

void assay_matrix_unit_free(assay_matrix_unit *u)
{
    free(u);
}

/* As many as a pattern is stored in. */
static json_t *bits_json(const assay_mac *m)
{
    json_t *o = json_object();
    page_json_set(&o, "a", json_integer(layout(m->a)->bits));
    page_json_set(&o, "b", json_integer(layout(m->b)->bits));
    page_json_set(&o, "acc", json_integer(layout(m->acc)->bits));
    page_json_set(&o, "out", json_integer(layout(m->out)->bits));
    if (m->scale_block > 0)
        page_json_set(&o, "scale", json_integer(layout(m->scale)->bits));
    return o;
}

json_t *assay_unit_json(const assay_mac_unit *u)
{
    size_t n;
    const assay_mac_parameter *p = mac_parameters(&n);
    json_t *o = json_object(), *mac = json_object();
    for (size_t i = 0; i < n; i++) {
        char value[ASSAY_UNIT_WORD];
        mac_print(&p[i], &u->record, value, sizeof value);
        page_json_set(&mac, p[i].name, page_json_text(value));
    }
    page_json_set(&o, "name", page_json_text(u->name));
    page_json_set(&o, "description", page_json_text(u->description));
    page_json_set(&o, "contract", page_json_text(u->contract));
    page_json_set(&o, "multiple", json_integer((json_int_t)mac_multiple(&u->record)));
    page_json_set(&o, "bits", bits_json(&u->record));
    page_json_set(&o, "mac", mac);
    return o;
}

assay_status assay_matrix_unit_json(const assay_matrix_unit *u, char **json, assay_error *err)
{
    return assay_text_of_json(assay_unit_json(&u->unit), json, err);
}

/* ---- dot products ---- */

/* Codes of formats of fewer bits than their bytes must be codes. */
static assay_status in_format(const char *name, const void *patterns, const assay_dots *d,
                              int64_t format, assay_error *err)
{
    const assay_mac_layout *l = layout(format);
    const int used = 1 + l->exponent_bits + l->fraction_bits;
    for (size_t i = 0; l->bits == 8 && used < 8 && i < d->n * d->k; i++) {
        const uint8_t code = ((const uint8_t *)patterns)[i];
        if (code >> used != 0)
            return assay_fail(err, ASSAY_ERR_INPUT, "%s, row %zu: %d is not a pattern of %s", name,
                              i / d->k, code, l->name);
    }
    return ASSAY_OK;
}

assay_status assay_dots_check(const assay_mac_unit *u, const assay_dots *d, assay_error *err)
{
    const assay_mac *m = &u->record;
    const size_t each = mac_multiple(m);
    const bool scales = m->scale_block > 0;
    if (!d->a || !d->b)
        return assay_fail(err, ASSAY_ERR_INPUT, "a and b are needed");
    if ((d->scale_a != NULL) != scales || (d->scale_b != NULL) != scales)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          scales ? "%s needs scales of a and of b" : "%s has no block scales",
                          u->name);
    if (d->k % each != 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "k is %zu; %s takes multiples of %zu", d->k,
                          u->name, each);
    const assay_status status = in_format("a", d->a, d, m->a, err);
    return status ? status : in_format("b", d->b, d, m->b, err);
}

assay_mac_rows assay_dots_rows(const assay_dots *d)
{
    return (assay_mac_rows){d->k, d->a, d->b, d->c, d->scale_a, d->scale_b};
}

static assay_status take_dots(const assay_mac_unit *u, const assay_dots *from, assay_dots *d,
                              assay_error *err)
{
    const assay_status status = ASSAY_OPTIONS_TAKE(from, d, err);
    return status ? status : assay_dots_check(u, d, err);
}

assay_status assay_matrix_unit_dot(const assay_matrix_unit *u, const assay_dots *rows, void *d,
                                   assay_error *err)
{
    assay_dots own;
    const assay_status status = take_dots(&u->unit, rows, &own, err);
    const assay_mac_rows r = assay_dots_rows(&own);
    return status ? status : mac_dots(&u->unit.record, own.n, &r, d, err);
}

void assay_unit_print_trial(FILE *f, const void *trial)
{
    const assay_unit_trial *t = trial;
    const assay_mac_rows rows = assay_dots_rows(t->row);
    fprintf(f, "%s, k %zu\n", t->unit->name, t->row->k);
    *t->status = mac_explain(f, &t->unit->record, &rows, t->err);
}

static json_t *pattern_json(int64_t format, uint64_t pattern)
{
    return json_sprintf("0x%0*" PRIx64, layout(format)->bits / 4, pattern);
}

static assay_status trial_text(const assay_unit_trial *t, char **text, assay_error *err)
{
    const assay_status status = assay_text_of(assay_unit_print_trial, t, text, err);
    return status ? status : *t->status;
}

json_t *assay_unit_trial_json(const assay_unit_trial *t)
{
    const assay_mac *m = &t->unit->record;
    const assay_mac_rows rows = assay_dots_rows(t->row);
    uint64_t stored = 0;
    char *text = NULL;
    json_t *o = json_object();
    const bool whole = !trial_text(t, &text, NULL) && !mac_dots(m, 1, &rows, &stored, NULL);
    page_json_set(&o, "unit", page_json_text(t->unit->name));
    page_json_set(&o, "k", json_integer((json_int_t)t->row->k));
    page_json_set(&o, "d", pattern_json(m->out, mac_load(m->out, &stored, 0)));
    page_json_set(&o, "steps", whole ? page_json_lines(text + strcspn(text, "\n") + 1) : NULL);
    free(text);
    return o;
}

assay_status assay_matrix_unit_try(const assay_matrix_unit *u, const assay_dots *row, char **text,
                                   char **json, assay_error *err)
{
    char **const texts[] = {text, json};
    assay_dots own;
    assay_status printed = ASSAY_OK;
    const assay_unit_trial t = {&u->unit, &own, &printed, err};
    assay_texts_begin(texts, 2);
    assay_status status = take_dots(&u->unit, row, &own, err);
    if (!status && own.n != 1)
        status =
            assay_fail(err, ASSAY_ERR_INPUT, "only a single row can be explained, not %zu", own.n);
    if (!status)
        status = trial_text(&t, text, err);
    if (!status && json)
        status = assay_text_of_json(assay_unit_trial_json(&t), json, err);
    return assay_texts_end(status, texts, 2);
}
