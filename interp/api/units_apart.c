/* Two matrix units: parameters that differ, and a row that shows it; see units.h. */
#include <inttypes.h>
#include <string.h>

#include "interp/api/options.h"
#include "interp/api/units.h"
#include "schemes/mac/parameters.h"

typedef struct parameter_pair {
    char value[2][ASSAY_UNIT_WORD];
} parameter_pair;

/* Whether parameter i of the two differs; its values. */
static bool differs(const assay_units_pair *p, const assay_mac_parameter *what, parameter_pair *out)
{
    for (int i = 0; i < 2; i++)
        mac_print(what, &p->unit[i]->record, out->value[i], sizeof out->value[i]);
    return strcmp(out->value[0], out->value[1]) != 0;
}

assay_status assay_units_compare(const assay_mac_unit *a, const assay_mac_unit *b, uint64_t seed,
                                 assay_units_pair *out, assay_error *err)
{
    size_t n;
    const assay_mac_parameter *p = mac_parameters(&n);
    parameter_pair values;
    *out = (assay_units_pair){.unit = {a, b}};
    for (size_t i = 0; i < n; i++)
        out->differ += differs(out, &p[i], &values);
    out->same = n - out->differ;
    out->unlike = vectors_units_unlike(&a->record, &b->record);
    if (out->differ == 0 || out->unlike)
        return ASSAY_OK;
    return vectors_units_apart(&a->record, &b->record, seed, &out->row, &out->found, err);
}

void assay_units_pair_free(assay_units_pair *p)
{
    vectors_dot_free(&p->row);
}

/* ---- in words ---- */

static int digits(int64_t format)
{
    return mac_layout_of((enum assay_mac_format)format)->bits / 4;
}

static void print_dot(FILE *f, const assay_units_pair *p)
{
    const assay_mac *m = &p->unit[0]->record;
    const vectors_dot *r = &p->row;
    fprintf(f, "%s and %s, k %zu; all other elements 0:\n", p->unit[0]->name, p->unit[1]->name,
            r->k);
    for (size_t i = 0; i < r->k; i++)
        if (r->a[i] != 0 || r->b[i] != 0)
            fprintf(f, "  a[%zu] 0x%0*" PRIx64 "  b[%zu] 0x%0*" PRIx64 "\n", i, digits(m->a),
                    r->a[i], i, digits(m->b), r->b[i]);
    for (size_t i = 0; i < r->blocks; i++)
        fprintf(f, "  scale-a[%zu] 0x%0*" PRIx64 "  scale-b[%zu] 0x%0*" PRIx64 "\n", i,
                digits(m->scale), r->scale_a[i], i, digits(m->scale), r->scale_b[i]);
    fprintf(f, "  c 0x%0*" PRIx64 "\n", digits(m->acc), r->c);
    for (int i = 0; i < 2; i++)
        fprintf(f, "  %s gives 0x%0*" PRIx64 "\n", p->unit[i]->name, digits(m->out), r->d[i]);
}

void assay_units_print_row(FILE *f, const assay_units_pair *p)
{
    if (p->found)
        print_dot(f, p);
    else if (p->differ == 0)
        fprintf(f, "%s and %s are equal: no parameter differs\n", p->unit[0]->name,
                p->unit[1]->name);
    else if (p->unlike)
        fprintf(f, "no row fits both units: %s\n", p->unlike);
    else
        fprintf(
            f,
            "%s and %s: none of %zu dot products drawn, of k %zu, distinguishes them; that none "
            "does is not proved\n",
            p->unit[0]->name, p->unit[1]->name, p->row.drawn, p->row.k);
}

void assay_units_print(FILE *f, const void *pair)
{
    const assay_units_pair *p = pair;
    size_t n;
    const assay_mac_parameter *all = mac_parameters(&n);
    parameter_pair v;
    fprintf(f, "parameters of the matrix units %s and %s:\n", p->unit[0]->name, p->unit[1]->name);
    for (size_t i = 0; i < n; i++)
        if (differs(p, &all[i], &v))
            fprintf(f, "  %-20s %-20s %s\n", all[i].name, v.value[0], v.value[1]);
    fprintf(f, "  %zu differ, %zu are the same\n", p->differ, p->same);
    if (p->differ > 0)
        assay_units_print_row(f, p);
}

/* ---- for programs ---- */

static json_t *patterns_json(int64_t format, const uint64_t *pattern, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        page_json_add(&list, json_sprintf("0x%0*" PRIx64, digits(format), pattern[i]));
    return list;
}

/* Patterns as they are in hexadecimal; d: what each unit gives. */
static json_t *row_json(const assay_units_pair *p)
{
    const assay_mac *m = &p->unit[0]->record;
    const vectors_dot *r = &p->row;
    json_t *o = json_object();
    page_json_set(&o, "k", json_integer((json_int_t)r->k));
    page_json_set(&o, "a", patterns_json(m->a, r->a, r->k));
    page_json_set(&o, "b", patterns_json(m->b, r->b, r->k));
    page_json_set(&o, "c", patterns_json(m->acc, &r->c, 1));
    page_json_set(&o, "scale_a", patterns_json(m->scale, r->scale_a, r->blocks));
    page_json_set(&o, "scale_b", patterns_json(m->scale, r->scale_b, r->blocks));
    page_json_set(&o, "d", patterns_json(m->out, r->d, 2));
    return o;
}

json_t *assay_units_json(const assay_units_pair *p)
{
    size_t n;
    const assay_mac_parameter *all = mac_parameters(&n);
    json_t *o = json_object(), *list = json_array();
    parameter_pair v;
    for (size_t i = 0; i < n; i++) {
        if (!differs(p, &all[i], &v))
            continue;
        json_t *one = json_object();
        page_json_set(&one, "parameter", json_string(all[i].name));
        page_json_set(&one, "doc", page_json_text(all[i].doc));
        page_json_set(&one, "a", page_json_text(v.value[0]));
        page_json_set(&one, "b", page_json_text(v.value[1]));
        page_json_add(&list, one);
    }
    page_json_set(&o, "a", page_json_text(p->unit[0]->name));
    page_json_set(&o, "b", page_json_text(p->unit[1]->name));
    page_json_set(&o, "parameters", list);
    page_json_set(&o, "same", json_integer((json_int_t)p->same));
    page_json_set(&o, "unlike", p->unlike ? page_json_text(p->unlike) : json_null());
    page_json_set(&o, "drawn", json_integer((json_int_t)p->row.drawn));
    page_json_set(&o, "row", p->found ? row_json(p) : json_null());
    return o;
}

assay_status assay_matrix_units_diff(const assay_matrix_unit *a, const assay_matrix_unit *b,
                                     uint64_t seed, bool *apart, char **text, char **json,
                                     assay_error *err)
{
    char **const texts[] = {text, json};
    assay_units_pair p;
    assay_texts_begin(texts, 2);
    seed = seed ? seed : ASSAY_UNITS_SEED;
    assay_status status = assay_units_compare(&a->unit, &b->unit, seed, &p, err);
    if (!status)
        status = assay_text_of(assay_units_print, &p, text, err);
    if (!status && json)
        status = assay_text_of_json(assay_units_json(&p), json, err);
    if (!status)
        *apart = p.found;
    assay_units_pair_free(&p);
    return assay_texts_end(status, texts, 2);
}
