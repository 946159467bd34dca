/* assay scheme on matrix units: list, show, check, diff and new. */
#include <string.h>

#include "interp/api/units.h"
#include "interp/cli/json.h"
#include "interp/cli/scheme_unit.h"
#include "schemes/mac/parameters.h"
#include "schemes/mac/scheme.h"

int cli_units_list(const cli_args *a)
{
    json_t *units = json_array();
    for (const char *const *name = assay_mac_units(); *name; name++) {
        assay_mac_unit u;
        assay_error err;
        json_t *o = json_object();
        if (mac_open(*name, &u, &err)) {
            json_decref(o);
            json_decref(units);
            return cli_failed(&err);
        }
        fprintf(cli_notes_of(a), "%-28s %s\n", *name, u.description);
        page_json_set(&o, "name", json_string(*name));
        page_json_set(&o, "description", page_json_text(u.description));
        page_json_add(&units, o);
    }
    if (cli_has(a, "json"))
        return cli_json_write(a, units);
    json_decref(units);
    return CLI_OK;
}

int cli_unit_check(const cli_args *a)
{
    const char *name = a->positional[1];
    assay_mac_unit u;
    assay_error err;
    if (mac_open(name, &u, &err))
        return cli_failed(&err);
    fprintf(cli_notes_of(a), "%s: good; matrix unit '%s', k in multiples of %zu\n", name, u.name,
            mac_multiple(&u.record));
    if (!cli_has(a, "json"))
        return CLI_OK;
    json_t *o = json_object();
    page_json_set(&o, "file", page_json_text(name));
    page_json_set(&o, "unit", page_json_text(u.name));
    page_json_set(&o, "multiple", json_integer((json_int_t)mac_multiple(&u.record)));
    return cli_json_write(a, o);
}

/* A parameter, its value, what it means; `all`: those at their defaults too. */
static void print_record(const assay_mac *m, bool all)
{
    size_t n;
    const assay_mac_parameter *p = mac_parameters(&n);
    const assay_mac defaults = mac_defaults();
    for (size_t i = 0; i < n; i++) {
        char value[ASSAY_UNIT_WORD], usual[ASSAY_UNIT_WORD];
        mac_print(&p[i], m, value, sizeof value);
        mac_print(&p[i], &defaults, usual, sizeof usual);
        const bool same = p[i].value != ASSAY_MAC_MUST && strcmp(value, usual) == 0;
        if (same == all)
            printf("  %s: %s  # %s\n", p[i].name, value, p[i].doc);
    }
}

int cli_unit_show(const cli_args *a, const char *name)
{
    assay_mac_unit u;
    assay_error err;
    if (mac_open(name, &u, &err))
        return cli_failed(&err);
    if (cli_has(a, "json") && cli_json_write(a, assay_unit_json(&u)) != CLI_OK)
        return CLI_TROUBLE;
    if (strcmp(cli_value(a, "json", ""), "-") == 0)
        return CLI_OK;
    printf("%s%s%s\n", u.name, u.description[0] ? ": " : "", u.description);
    if (u.contract[0])
        printf("\ncontract:\n  %s\n", u.contract);
    printf("\nd = c + a[0] b[0] + ... + a[k-1] b[k-1], k in multiples of %zu\n",
           mac_multiple(&u.record));
    printf("\nmac:\n");
    print_record(&u.record, false);
    printf("\nat their defaults:\n");
    print_record(&u.record, true);
    return CLI_OK;
}

/* What differs between two units, and a dot product that shows it; its JSON goes to *list, or is
 * the command's: CLI_DIFFERENT; else CLI_OK. */
static int diff(const cli_args *a, const assay_mac_unit *x, const assay_mac_unit *y, json_t **list)
{
    assay_error err;
    assay_units_pair p;
    int status = assay_units_compare(x, y, ASSAY_UNITS_SEED, &p, &err) ? cli_failed(&err) : CLI_OK;
    if (status == CLI_OK) {
        assay_units_print(cli_notes_of(a), &p);
        if (list)
            page_json_add(list, assay_units_json(&p));
        else if (cli_has(a, "json"))
            status = cli_json_write(a, assay_units_json(&p));
    }
    if (status == CLI_OK && p.differ > 0)
        status = CLI_DIFFERENT;
    assay_units_pair_free(&p);
    return status;
}

int cli_units_diff(const cli_args *a)
{
    assay_mac_unit u[2];
    assay_error err;
    for (int i = 0; i < 2; i++)
        if (mac_open(a->positional[1 + i], &u[i], &err))
            return cli_failed(&err);
    return diff(a, &u[0], &u[1], NULL);
}

/* Two schemes of matrix units beside each other. */
typedef struct beside {
    const cli_args *args;
    FILE *f;
    json_t *parameters, *alone, *units;
    size_t differ;
} beside;

/* Lines of two canonical texts, of as many parameters in the same order; `units` apart. */
static void diff_lines(beside *x, const char *a, const char *b)
{
    for (a = strstr(a, "\n  "), b = strstr(b, "\n  "); a && b;
         a = strstr(a + 1, "\n  "), b = strstr(b + 1, "\n  ")) {
        const int n = (int)strcspn(a + 3, "\n"), m = (int)strcspn(b + 3, "\n");
        if (strncmp(a + 3, "units:", 6) == 0 || (n == m && strncmp(a, b, (size_t)n + 3) == 0))
            continue;
        const int key = (int)strcspn(a + 3, ":");
        const char *left = a + 3 + key + 2, *right = b + 3 + key + 2;
        json_t *o = json_object();
        fprintf(x->f, "  %-20.*s %-20.*s %.*s\n", key, a + 3, n - key - 2, left, m - key - 2,
                right);
        page_json_set(&o, "parameter", json_stringn(a + 3, (size_t)key));
        page_json_set(&o, "a", json_stringn(left, (size_t)(n - key - 2)));
        page_json_set(&o, "b", json_stringn(right, (size_t)(m - key - 2)));
        page_json_add(&x->parameters, o);
        x->differ++;
    }
}

/* Units for elements that only one of the two has. */
static void tell_alone(beside *x, const assay_scheme *s, const assay_mac_scheme *other)
{
    const assay_mac_scheme *m = s->mac;
    for (int i = 0; i < m->n_units; i++) {
        const assay_mac *r = &m->unit[i].record;
        const enum assay_mac_format a = (enum assay_mac_format)r->a,
                                    b = (enum assay_mac_format)r->b;
        if (mac_scheme_unit(other, a, b))
            continue;
        json_t *o = json_object();
        fprintf(x->f, "  only %s has a unit for %s by %s: %s\n", s->name, mac_layout_of(a)->name,
                mac_layout_of(b)->name, m->unit[i].name);
        page_json_set(&o, "scheme", page_json_text(s->name));
        page_json_set(&o, "unit", page_json_text(m->unit[i].name));
        page_json_set(&o, "a", json_string(mac_layout_of(a)->name));
        page_json_set(&o, "b", json_string(mac_layout_of(b)->name));
        page_json_add(&x->alone, o);
        x->differ++;
    }
}

/* Their units for the same elements. */
static int diff_units(beside *x, const assay_mac_scheme *m, const assay_mac_scheme *o)
{
    for (int i = 0; i < m->n_units; i++)
        for (int j = 0; j < o->n_units; j++) {
            const assay_mac *a = &m->unit[i].record, *b = &o->unit[j].record;
            if (a->a != b->a || a->b != b->b || memcmp(a, b, sizeof *a) == 0)
                continue;
            const int status = diff(x->args, &m->unit[i], &o->unit[j], &x->units);
            if (status != CLI_DIFFERENT)
                return status;
            x->differ++;
        }
    return CLI_OK;
}

int cli_mac_diff(const cli_args *args, const assay_scheme *a, const assay_scheme *b)
{
    beside x = {.args = args,
                .f = cli_notes_of(args),
                .parameters = json_array(),
                .alone = json_array(),
                .units = json_array()};
    json_t *o = json_object();
    fprintf(x.f, "schemes of matrix units %s and %s:\n", a->name, b->name);
    diff_lines(&x, a->text, b->text);
    tell_alone(&x, a, b->mac);
    tell_alone(&x, b, a->mac);
    int status = diff_units(&x, a->mac, b->mac);
    if (status == CLI_OK && x.differ == 0)
        fprintf(x.f, "  the same\n");
    page_json_set(&o, "a", page_json_text(a->name));
    page_json_set(&o, "b", page_json_text(b->name));
    page_json_set(&o, "differ", json_boolean(x.differ > 0));
    page_json_set(&o, "parameters", x.parameters);
    page_json_set(&o, "alone", x.alone);
    page_json_set(&o, "units", x.units);
    if (status == CLI_OK && cli_has(args, "json"))
        status = cli_json_write(args, o);
    else
        json_decref(o);
    return status == CLI_OK && x.differ > 0 ? CLI_DIFFERENT : status;
}

int cli_unit_new(const char *name)
{
    static const char *const given[][2] = {{"a", "f16"},   {"b", "f16"},   {"acc", "f32"},
                                           {"out", "f32"}, {"group", "8"}, {"nan", "0x7fffffff"}};
    size_t n;
    const assay_mac_parameter *p = mac_parameters(&n);
    assay_mac m = mac_defaults();
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < sizeof given / sizeof *given; j++)
            if (strcmp(p[i].name, given[j][0]) == 0)
                mac_parse(&p[i], given[j][1], mac_member(&m, &p[i]));
    printf("# A matrix unit, every parameter at its default; keep what differs.\nunit: %s\n"
           "description: one line for `assay scheme list --units`\n"
           "contract: sources, how sure they are, what is disputed\nmac:\n",
           name);
    for (size_t i = 0; i < n; i++) {
        char value[ASSAY_UNIT_WORD];
        mac_print(&p[i], &m, value, sizeof value);
        printf("  # %s\n  %s: %s\n", p[i].doc, p[i].name, value);
    }
    return CLI_OK;
}
