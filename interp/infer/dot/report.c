/* A matrix unit found, as a unit file, text and JSON; see dot.h. */
#include <string.h>

#include "interp/infer/dot/dot.h"
#include "interp/page/json.h"

enum { WORD = 1300 };

static const char *const verdicts[] = {"unique", "class", "none"};

void infer_dot_print_unit(FILE *f, const void *result)
{
    const infer_dot_result *r = result;
    size_t n;
    const assay_mac_parameter *p = mac_parameters(&n);
    const assay_mac defaults = mac_defaults();
    fprintf(f, "unit: found\ndescription: \"%s of assay infer, from %zu rows\"\nmac:\n",
            r->n_against > 0 ? "the nearest" : "a record", r->rows);
    for (size_t i = 0; i < n; i++) {
        char value[WORD], usual[WORD];
        mac_print(&p[i], &r->found, value, sizeof value);
        mac_print(&p[i], &defaults, usual, sizeof usual);
        if (p[i].value == ASSAY_MAC_MUST || strcmp(value, usual) != 0)
            fprintf(f, "  %s: %s\n", p[i].name, value);
    }
}

/* ---- text ---- */

static void print_none(FILE *f, const infer_dot_result *r)
{
    fprintf(f,
            "  none of the %zu records that were tried gives these answers; the search was cut,\n"
            "  and one that was not tried may: give it more seconds\n"
            "  the nearest is contradicted by %zu rows:\n",
            r->tried, r->n_against);
    for (size_t i = 0; i < r->n_against && i < INFER_FIRST_ROWS; i++)
        fprintf(f, "    %s: device 0x%llx, record 0x%llx\n", r->against[i].row,
                (unsigned long long)r->against[i].device, (unsigned long long)r->against[i].record);
}

static void print_class(FILE *f, const infer_dot_options *o, const infer_dot_result *r)
{
    fprintf(f,
            "  a record that agrees with every row, of k %zu; that no other does is not proved\n",
            o->k);
    fprintf(f,
            r->n_open > 0 ? "  open, each by itself:\n" : "  no other value of a parameter does\n");
    for (int i = 0; i < r->n_open; i++)
        fprintf(f, "    %-16s %s\n", r->open[i].parameter->name, r->open[i].values);
}

void infer_dot_print_report(FILE *f, const infer_dot_options *o, const infer_dot_result *r,
                            const char *path)
{
    for (int i = 0; i < r->n_units; i++)
        fprintf(f, "%s%s", i ? ", " : "this is ", r->unit[i]);
    if (r->n_units > 0)
        fprintf(f, " (units that agree with every row)\n");
    fprintf(f, "%s, from %zu rows\n", verdicts[r->verdict], r->rows);
    if (r->verdict == INFER_NONE)
        print_none(f, r);
    else
        print_class(f, o, r);
    if (path)
        fprintf(f, "  %s\n", path);
}

/* ---- JSON ---- */

static json_t *json_units(const infer_dot_result *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->n_units; i++)
        page_json_add(&list, json_string(r->unit[i]));
    return list;
}

static json_t *json_open(const infer_dot_result *r)
{
    json_t *open = json_object();
    for (int i = 0; i < r->n_open; i++)
        page_json_set(&open, r->open[i].parameter->name, json_string(r->open[i].values));
    return open;
}

static json_t *json_record(const infer_dot_result *r)
{
    size_t n;
    const assay_mac_parameter *p = mac_parameters(&n);
    json_t *record = json_object();
    for (size_t i = 0; i < n; i++) {
        char value[WORD];
        mac_print(&p[i], &r->found, value, sizeof value);
        page_json_set(&record, p[i].name, json_string(value));
    }
    return record;
}

static json_t *json_pattern(int64_t v)
{
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)v);
    return json_string(text);
}

static json_t *json_against(const infer_dot_result *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->n_against && i < INFER_FIRST_ROWS; i++)
        page_json_add(&list, json_pack("{s:s,s:o,s:o}", "row", r->against[i].row, "device",
                                       json_pattern(r->against[i].device), "record",
                                       json_pattern(r->against[i].record)));
    return list;
}

json_t *infer_dot_json(const infer_dot_options *o, const infer_dot_result *r, const char *path)
{
    json_t *j = json_object();
    page_json_set(&j, "verdict", json_string(verdicts[r->verdict]));
    page_json_set(&j, "units", json_units(r));
    page_json_set(&j, "found", path ? json_string(path) : json_null());
    page_json_set(&j, "record", json_record(r));
    page_json_set(&j, "open", json_open(r));
    page_json_set(&j, "k", json_integer((json_int_t)o->k));
    page_json_set(&j, "rows", json_integer((json_int_t)r->rows));
    page_json_set(&j, "complete", json_false());
    page_json_set(&j, "contradicted", json_integer((json_int_t)r->n_against));
    page_json_set(&j, "contradictions", json_against(r));
    return j;
}
