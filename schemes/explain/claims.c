/* Inheritance of a scheme, in words; see explain.h. */
#include <string.h>

#include "schemes/explain/explain.h"

/* The parameters that file `from` (1 the first) is the last to state, a section a line. */
static void parameters(FILE *f, const assay_scheme_data *d, int from)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    const char *section = "";
    for (size_t i = 0; i < n; i++) {
        if (d->origin[i] != from)
            continue;
        if (strcmp(section, fields[i].section) != 0)
            fprintf(f, "%s    %s: ", *section != '\0' ? "\n" : "", fields[i].section);
        else
            fprintf(f, ", ");
        section = fields[i].section;
        fprintf(f, "%s", fields[i].name);
    }
    size_t overrides = 0;
    for (size_t i = 0; i < d->n_overrides; i++)
        overrides += d->override[i].origin == from;
    fprintf(f, "%s", *section != '\0' ? "\n" : "");
    if (overrides > 0)
        fprintf(f, "    of single ops, forms or nodes: %zu\n", overrides);
}

/* The claims of one list: inherited ones, then those that were lost, by field. */
static void claims(FILE *f, const bool *exact, const int *lost_by, bool inherited, const char *what)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    bool any = false;
    for (int op = 0; op < ASSAY_OP_COUNT && inherited; op++) {
        if (!exact[op])
            continue;
        if (!any)
            fprintf(f, "  claims of bit-exactness%s inherited: ", what);
        fprintf(f, "%s%s", any ? ", " : "", assay_op_get((assay_op)op)->name);
        any = true;
    }
    fprintf(f, "%s", any ? "\n" : "");
    for (int by = 1; by <= (int)n; by++) {
        any = false;
        for (int op = 0; op < ASSAY_OP_COUNT; op++) {
            if (lost_by[op] != by)
                continue;
            if (!any)
                fprintf(f, "  claims%s lost: ", what);
            fprintf(f, "%s%s", any ? ", " : "", assay_op_get((assay_op)op)->name);
            any = true;
        }
        if (any)
            fprintf(f, " (%s.%s is another)\n", fields[by - 1].section, fields[by - 1].name);
    }
}

void assay_explain_inheritance(FILE *f, const assay_scheme_data *d)
{
    if (d->n_from < 2)
        return;
    for (int from = 1; from < d->n_from; from++) {
        fprintf(f, "  from %s:\n", d->from[from - 1]);
        parameters(f, d, from);
    }
    claims(f, d->exact_op, d->lost_by, d->claims_from, "");
    claims(f, d->exact_float, d->float_lost_by, d->floats_from, " of floats");
}
