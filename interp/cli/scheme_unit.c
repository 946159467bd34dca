/* assay scheme on matrix units: list, show, check, diff and new. */
#include <string.h>

#include "interp/cli/scheme_unit.h"
#include "schemes/mac/parameters.h"

enum { WORD = 1300 };

int cli_units_list(void)
{
    for (const char *const *name = assay_mac_units(); *name; name++) {
        assay_mac_unit u;
        assay_error err;
        if (mac_open(*name, &u, &err))
            return cli_failed(&err);
        printf("%-28s %s\n", *name, u.description);
    }
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

int cli_unit_show(const char *name)
{
    assay_mac_unit u;
    assay_error err;
    if (mac_open(name, &u, &err))
        return cli_failed(&err);
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

int cli_units_diff(const char *a, const char *b)
{
    assay_mac_unit u, v;
    assay_error err;
    size_t n, differ = 0;
    const assay_mac_parameter *p = mac_parameters(&n);
    if (mac_open(a, &u, &err) || mac_open(b, &v, &err))
        return cli_failed(&err);
    printf("parameters of the matrix units %s and %s:\n", u.name, v.name);
    for (size_t i = 0; i < n; i++) {
        char left[WORD], right[WORD];
        mac_print(&p[i], &u.record, left, sizeof left);
        mac_print(&p[i], &v.record, right, sizeof right);
        if (strcmp(left, right) == 0)
            continue;
        differ++;
        printf("  %-20s %-20s %s\n", p[i].name, left, right);
    }
    printf("  %zu differ, %zu are the same\n", differ, n - differ);
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
