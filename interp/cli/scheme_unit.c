/* assay scheme on matrix units: list, show, check, diff and new. */
#include <string.h>

#include "interp/cli/json.h"
#include "interp/cli/scheme_unit.h"
#include "schemes/mac/parameters.h"
#include "schemes/mac/scheme.h"

enum { WORD = 1300 };

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

int cli_unit_check(const char *name)
{
    assay_mac_unit u;
    assay_error err;
    if (mac_open(name, &u, &err))
        return cli_failed(&err);
    printf("%s: good; matrix unit '%s', k in multiples of %zu\n", name, u.name,
           mac_multiple(&u.record));
    return CLI_OK;
}

/* A parameter, its value, what it means; `all`: those at their defaults too. */
static void print_record(const assay_mac *m, bool all)
{
    size_t n;
    const assay_mac_parameter *p = mac_parameters(&n);
    const assay_mac defaults = mac_defaults();
    for (size_t i = 0; i < n; i++) {
        char value[WORD], usual[WORD];
        mac_print(&p[i], m, value, sizeof value);
        mac_print(&p[i], &defaults, usual, sizeof usual);
        const bool same = p[i].value != ASSAY_MAC_MUST && strcmp(value, usual) == 0;
        if (same == all)
            printf("  %s: %s  # %s\n", p[i].name, value, p[i].doc);
    }
}

/* All parameters as a unit file has them. */
static int write_json(const cli_args *a, const assay_mac_unit *u)
{
    size_t n;
    const assay_mac_parameter *p = mac_parameters(&n);
    json_t *o = json_object(), *mac = json_object();
    for (size_t i = 0; i < n; i++) {
        char value[WORD];
        mac_print(&p[i], &u->record, value, sizeof value);
        page_json_set(&mac, p[i].name, page_json_text(value));
    }
    page_json_set(&o, "name", page_json_text(u->name));
    page_json_set(&o, "description", page_json_text(u->description));
    page_json_set(&o, "contract", page_json_text(u->contract));
    page_json_set(&o, "multiple", json_integer((json_int_t)mac_multiple(&u->record)));
    page_json_set(&o, "mac", mac);
    return cli_json_write(a, o);
}

int cli_unit_show(const cli_args *a, const char *name)
{
    assay_mac_unit u;
    assay_error err;
    if (mac_open(name, &u, &err))
        return cli_failed(&err);
    if (cli_has(a, "json") && write_json(a, &u) != CLI_OK)
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

/* What differs between two units, and a dot product that shows it: CLI_DIFFERENT; else CLI_OK. */
static int diff(const assay_mac_unit u[2])
{
    assay_error err;
    size_t n, differ = 0;
    const assay_mac_parameter *p = mac_parameters(&n);
    printf("parameters of the matrix units %s and %s:\n", u[0].name, u[1].name);
    for (size_t i = 0; i < n; i++) {
        char left[WORD], right[WORD];
        mac_print(&p[i], &u[0].record, left, sizeof left);
        mac_print(&p[i], &u[1].record, right, sizeof right);
        if (strcmp(left, right) == 0)
            continue;
        differ++;
        printf("  %-20s %-20s %s\n", p[i].name, left, right);
    }
    printf("  %zu differ, %zu are the same\n", differ, n - differ);
    if (differ == 0)
        return CLI_OK;
    return cli_units_print_apart(u, &err) ? cli_failed(&err) : CLI_DIFFERENT;
}

int cli_units_diff(const char *a, const char *b)
{
    assay_mac_unit u[2];
    assay_error err;
    if (mac_open(a, &u[0], &err) || mac_open(b, &u[1], &err))
        return cli_failed(&err);
    return diff(u);
}

/* Lines of two canonical texts, of as many parameters in the same order; `units` apart. */
static size_t diff_lines(const char *a, const char *b)
{
    size_t differ = 0;
    for (a = strstr(a, "\n  "), b = strstr(b, "\n  "); a && b;
         a = strstr(a + 1, "\n  "), b = strstr(b + 1, "\n  ")) {
        const int n = (int)strcspn(a + 3, "\n"), m = (int)strcspn(b + 3, "\n");
        if (strncmp(a + 3, "units:", 6) == 0 || (n == m && strncmp(a, b, (size_t)n + 3) == 0))
            continue;
        const int key = (int)strcspn(a + 3, ":");
        printf("  %-20.*s %-20.*s %.*s\n", key, a + 3, n - key - 2, a + 3 + key + 2, m - key - 2,
               b + 3 + key + 2);
        differ++;
    }
    return differ;
}

/* Units for elements that only one of the two has. */
static size_t print_alone(const assay_scheme *s, const assay_mac_scheme *other)
{
    const assay_mac_scheme *m = s->mac;
    size_t alone = 0;
    for (int i = 0; i < m->n_units; i++) {
        const assay_mac *r = &m->unit[i].record;
        if (mac_scheme_unit(other, (enum assay_mac_format)r->a, (enum assay_mac_format)r->b))
            continue;
        printf("  only %s has a unit for %s by %s: %s\n", s->name,
               mac_layout_of((enum assay_mac_format)r->a)->name,
               mac_layout_of((enum assay_mac_format)r->b)->name, m->unit[i].name);
        alone++;
    }
    return alone;
}

int cli_mac_diff(const assay_scheme *a, const assay_scheme *b)
{
    const assay_mac_scheme *m = a->mac, *o = b->mac;
    printf("schemes of matrix units %s and %s:\n", a->name, b->name);
    size_t differ = diff_lines(a->text, b->text) + print_alone(a, o) + print_alone(b, m);
    for (int i = 0; i < m->n_units; i++)
        for (int j = 0; j < o->n_units; j++) {
            const assay_mac_unit u[2] = {m->unit[i], o->unit[j]};
            if (u[0].record.a != u[1].record.a || u[0].record.b != u[1].record.b ||
                memcmp(&u[0].record, &u[1].record, sizeof u[0].record) == 0)
                continue;
            const int status = diff(u);
            if (status != CLI_DIFFERENT)
                return status;
            differ++;
        }
    if (differ == 0)
        printf("  the same\n");
    return differ > 0 ? CLI_DIFFERENT : CLI_OK;
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
        char value[WORD];
        mac_print(&p[i], &m, value, sizeof value);
        printf("  # %s\n  %s: %s\n", p[i].doc, p[i].name, value);
    }
    return CLI_OK;
}
