/* assay scheme diff: the differences between two arithmetics, exactly: by record, by a range of
 * scales, by the layers of a network. Exit status 0 when they agree, 1 when they differ, 2 when no
 * difference was found but not all was decided. */
#include "interp/cli/scheme_diff.h"

#include <string.h>

#include "interp/cli/scheme_unit.h"
#include "schemes/derive/derive.h"
#include "schemes/mac/mac.h"
#include "schemes/mac/scheme.h"
#include "schemes/prepare/asks.h"
#include "schemes/record/data.h"

/* Whether the scheme leaves the op in float, which is said. */
static bool is_left(FILE *f, const assay_scheme *s, const assay_record *r, assay_op op)
{
    const char *name = assay_op_get(op)->name, *lacks = derive_lacks(r, op);
    const bool listed = assay_data(s)->in_float[op];
    if (listed || lacks)
        fprintf(f, "  %s leaves %s in float: %s%s\n", s->name, name,
                listed ? "float_ops" : "the target has no integer form of ", listed ? "" : lacks);
    return listed || lacks;
}

/* The record in force for an op; false after a message. */
static bool record_of(const cli_args *args, const assay_scheme *s, const char *op, assay_record *r)
{
    assay_elem type;
    if (!cli_scheme_type(args, s, &type))
        return false;
    assay_effective_record(assay_data(s), op, "", cli_scheme_form(args, s, type), r);
    return true;
}

/* A parameter that differs. */
static void put_parameter(cli_pair *p, const assay_field *f, assay_field_value x,
                          assay_field_value y)
{
    char key[80], left[128], right[128];
    json_t *o = json_object();
    snprintf(key, sizeof key, "%s.%s", f->section, f->name);
    assay_field_print(f, x, left, sizeof left);
    assay_field_print(f, y, right, sizeof right);
    fprintf(p->out, "  %-32s %-28s %s\n", key, left, right);
    page_json_set(&o, "parameter", json_string(key));
    page_json_set(&o, "a", page_json_text(left));
    page_json_set(&o, "b", page_json_text(right));
    page_json_add(&p->parameters, o);
}

/* False after a message. */
static bool compare_records(cli_pair *p, const cli_args *args)
{
    const char *op = cli_value(args, "op", "conv");
    const assay_op of = assay_op_find(op);
    assay_record a, b;
    size_t n, same = 0, differ = 0;
    const assay_field *fields = assay_record_fields(&n);
    if (!record_of(args, p->a, op, &a) || !record_of(args, p->b, op, &b))
        return false;
    fprintf(p->out, "parameters %s %s:\n", cli_has(args, "op") ? "that are read for" : "for", op);
    for (size_t i = 0; i < n; i++) {
        if (cli_has(args, "op") && !assay_reads_op(&a, of, &fields[i]) &&
            !assay_reads_op(&b, of, &fields[i]))
            continue;
        assay_field_value x = assay_record_get(&a, &fields[i]),
                          y = assay_record_get(&b, &fields[i]);
        if (assay_field_equal(&fields[i], x, y)) {
            same++;
            continue;
        }
        differ++;
        put_parameter(p, &fields[i], x, y);
    }
    p->same = (int)same;
    fprintf(p->out, "  %zu differ, %zu are the same\n", differ, same);
    if (cli_has(args, "op") && of != ASSAY_OP_COUNT) {
        const bool left_a = is_left(p->out, p->a, &a, of), left_b = is_left(p->out, p->b, &b, of);
        p->in_float = left_a && left_b;
        differ = p->in_float ? 0 : differ + (left_a != left_b);
    }
    if (!cli_has(args, "scale") && !cli_has(args, "model"))
        p->differ = differ > 0;
    return true;
}

/* Two schemes with records; an exit status, CLI_OK whatever was found. */
static int compare(cli_pair *p, const cli_args *args)
{
    int status = compare_records(p, args) ? CLI_OK : CLI_TROUBLE;
    if (status == CLI_OK && cli_has(args, "scale"))
        status = cli_diff_scales(p, args);
    if (status == CLI_OK && cli_has(args, "model"))
        status = cli_diff_network(p, args);
    if (status != CLI_OK || !cli_has(args, "json"))
        return status;
    json_t *o = json_object();
    page_json_set(&o, "a", page_json_text(p->a->name));
    page_json_set(&o, "b", page_json_text(p->b->name));
    page_json_set(&o, "op", json_string(cli_value(args, "op", "conv")));
    page_json_set(&o, "differ", json_boolean(p->differ));
    page_json_set(&o, "undecided", json_integer(p->undecided));
    page_json_set(&o, "parameters", json_incref(p->parameters));
    page_json_set(&o, "same", json_integer(p->same));
    if (cli_has(args, "scale"))
        page_json_set(&o, "scales", json_incref(p->scales));
    if (cli_has(args, "model"))
        page_json_set(&o, "nodes", json_incref(p->nodes));
    return cli_json_write(args, o);
}

/* Those that have no records. */
static int compare_units(const cli_args *args, const assay_scheme *a, const assay_scheme *b)
{
    const assay_scheme *without = a->record ? b : a;
    if (a->mac && b->mac)
        return cli_mac_diff(args, a, b);
    return without->mac
               ? cli_trouble("scheme diff: %.200s computes on matrix units and has no record; two "
                             "such schemes are compared, or two units by their names",
                             without->name)
               : cli_trouble("scheme diff: a plugin has no record to compare");
}

int cli_scheme_diff(const cli_args *args)
{
    assay_scheme *a = NULL, *b = NULL;
    assay_error err;
    int status = CLI_OK;
    if (mac_is_unit(args->positional[1]) || mac_is_unit(args->positional[2]))
        return cli_units_diff(args);
    if (assay_scheme_open(args->positional[1], &a, &err))
        return cli_failed(&err);
    if (assay_scheme_open(args->positional[2], &b, &err)) {
        assay_scheme_free(a);
        return cli_failed(&err);
    }
    cli_pair p = {.a = a,
                  .b = b,
                  .out = cli_notes_of(args),
                  .parameters = json_array(),
                  .scales = json_array(),
                  .nodes = json_array(),
                  .as_is = cli_has(args, "as-is")};
    if (!cli_scheme_names_differ(a, b) || !cli_scheme_op(args))
        status = CLI_TROUBLE;
    else
        status = a->record && b->record ? compare(&p, args) : compare_units(args, a, b);
    json_decref(p.parameters);
    json_decref(p.scales);
    json_decref(p.nodes);
    assay_scheme_free(a);
    assay_scheme_free(b);
    if (status != CLI_OK || p.differ)
        return status != CLI_OK ? status : CLI_DIFFERENT;
    if (p.undecided == 0 && !p.in_float)
        return CLI_OK;
    if (p.undecided == 0)
        return cli_trouble("scheme diff: nothing was decided: both leave %s in float",
                           cli_value(args, "op", ""));
    return cli_trouble("scheme diff: no difference found, but %d of the %s not decided",
                       p.undecided, cli_has(args, "model") ? "nodes were" : "scales were");
}
