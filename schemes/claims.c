/* Claims that a scheme file inherits: those of ops whose arithmetic it changes are lost. */
#include "schemes/claims.h"

#include <stdlib.h>
#include <string.h>

#include "schemes/reads.h"

#define FORMS 8

struct assay_claims {
    assay_record before[ASSAY_OP_COUNT][FORMS];
};

static void records_of(const assay_scheme_data *d, assay_op op, assay_record out[FORMS])
{
    for (unsigned form = 0; form < FORMS; form++)
        assay_effective_record(d, assay_op_get(op)->name, "", form, &out[form]);
}

assay_status assay_claims_begin(const assay_reading *c, assay_claims **out)
{
    assay_claims *k = *out = malloc(sizeof *k);
    if (k == NULL)
        return assay_read_no_memory(c);
    for (int op = 0; op < ASSAY_OP_COUNT; op++)
        if (c->data->exact_op[op])
            records_of(c->data, (assay_op)op, k->before[op]);
    return ASSAY_OK;
}

/* The first field that the file changed and op reads, or -1. */
static int change_of(const assay_claims *k, const assay_scheme_data *d, assay_op op)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    assay_record now[FORMS];
    int field = -1;
    records_of(d, op, now);
    for (int form = 0; form < FORMS && field < 0; form++)
        field = assay_reads_change(&k->before[op][form], &now[form], op);
    for (size_t i = 0; i < d->n_overrides && field < 0; i++) { /* of nodes, whatever their op */
        const assay_override *o = &d->override[i];
        if (o->scope == ASSAY_SCOPE_NODE && o->at != NULL &&
            assay_reads_op(&now[0], op, &fields[o->field]))
            field = o->field;
    }
    return field;
}

void assay_claims_end(const assay_reading *c, assay_claims *k, bool own)
{
    assay_scheme_data *d = c->data;
    bool any = false;
    for (int op = 0; op < ASSAY_OP_COUNT && k != NULL && !own; op++) {
        const int field = d->exact_op[op] ? change_of(k, d, (assay_op)op) : -1;
        if (field < 0)
            continue;
        d->exact_op[op] = false;
        d->lost_by[op] = field + 1;
        any = true;
    }
    d->claims_from = k != NULL && !own;
    if (own)
        memset(d->lost_by, 0, sizeof d->lost_by);
    free(k);
    if (!any || c->states_exact)
        return;
    free(d->contract[ASSAY_CONTRACT_EXACT]); /* sentences about all that the parent does */
    d->contract[ASSAY_CONTRACT_EXACT] = NULL;
}
