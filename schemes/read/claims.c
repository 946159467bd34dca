/* Claims that a scheme file inherits: those of ops whose arithmetic it changes are lost. */
#include "schemes/read/claims.h"

#include <stdlib.h>
#include <string.h>

#include "schemes/read/uses.h"

struct assay_claims {
    assay_record before[ASSAY_OP_COUNT][ASSAY_VARIANTS];
};

static void records_of(const assay_scheme_data *d, assay_op op, assay_record out[ASSAY_VARIANTS])
{
    const char *name = assay_op_get(op)->name;
    const unsigned variants = assay_variants_of(d, name);
    for (unsigned variant = 0; variant < ASSAY_VARIANTS; variant++)
        if (variant & ~variants)
            out[variant] = out[variant & variants];
        else
            assay_effective_record(d, name, "", variant, &out[variant]);
}

assay_status assay_claims_begin(const assay_reading *c, assay_claims **out)
{
    assay_claims *k = *out = malloc(sizeof *k);
    if (!k)
        return assay_read_no_memory(c);
    for (int op = 0; op < ASSAY_OP_COUNT; op++)
        if (c->data->exact_op[op] || c->data->exact_float[op])
            records_of(c->data, (assay_op)op, k->before[op]);
    return ASSAY_OK;
}

/* The first field that the file changed and op reads, or -1. */
static int change_of(const assay_claims *k, const assay_scheme_data *d, assay_op op)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    assay_record now[ASSAY_VARIANTS];
    int field = -1;
    records_of(d, op, now);
    for (int variant = 0; variant < ASSAY_VARIANTS && field < 0; variant++)
        field = assay_reads_change(&k->before[op][variant], &now[variant], op);
    for (size_t i = 0; i < d->n_overrides && field < 0; i++) { /* of nodes, whatever their op */
        const assay_override *o = &d->override[i];
        if (o->scope == ASSAY_SCOPE_NODE && o->at && assay_reads_op(&now[0], op, &fields[o->field]))
            field = o->field;
    }
    return field;
}

/* The same of op's floats. What they read is asked of the base alone. */
static int float_change_of(const assay_claims *k, const assay_scheme_data *d, assay_op op)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    for (size_t i = 0; i < n; i++)
        if (assay_reads_float(op, &fields[i]) &&
            !assay_field_equal(&fields[i], assay_record_get(&k->before[op][0], &fields[i]),
                               assay_record_get(&d->base, &fields[i])))
            return (int)i;
    return -1;
}

typedef int changes(const assay_claims *k, const assay_scheme_data *d, assay_op op);

/* Claims of one list; whether one of them is lost. */
static bool lose(const assay_claims *k, const assay_scheme_data *d, changes *change, bool *exact,
                 int *lost_by)
{
    bool any = false;
    for (int op = 0; op < ASSAY_OP_COUNT; op++) {
        const int field = exact[op] ? change(k, d, (assay_op)op) : -1;
        if (field < 0)
            continue;
        exact[op] = false;
        lost_by[op] = field + 1;
        any = true;
    }
    return any;
}

void assay_claims_end(const assay_reading *c, assay_claims *k)
{
    assay_scheme_data *d = c->data;
    bool any = false;
    d->claims_from = k && !c->states_ops;
    d->floats_from = k && !c->states_floats;
    if (d->claims_from)
        any = lose(k, d, change_of, d->exact_op, d->lost_by);
    if (d->floats_from)
        any = lose(k, d, float_change_of, d->exact_float, d->float_lost_by) || any;
    if (c->states_ops)
        memset(d->lost_by, 0, sizeof d->lost_by);
    if (c->states_floats)
        memset(d->float_lost_by, 0, sizeof d->float_lost_by);
    free(k);
    if (!any || c->states_exact)
        return;
    free(d->contract[ASSAY_CONTRACT_EXACT]); /* sentences about all that the parent does */
    d->contract[ASSAY_CONTRACT_EXACT] = NULL;
}
