/* The making of a table's entry: told by the scheme, which prepares the node's unit once more for
 * it. */
#include "interp/explain/forms.h"

#include <string.h>

#include "schemes/node/spec.h"
#include "schemes/prepare/prepare.h"

typedef struct listener {
    explain_trace *t;
    const assay_unit *u;
} listener;

static void hear(void *to, const assay_told *step)
{
    const listener *l = to;
    explain_say_told(l->t, l->u, step);
}

void explain_table_entry(explain_trace *t, const assay_program *p, int node, int64_t entry)
{
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_error err = {0};
    listener l = {t, p->unit[node]};
    const assay_teller teller = {.tell = hear, .to = &l, .at = (size_t)entry};
    assay_unit_spec_fill(p->graph, &p->graph->node[node], in, &spec);
    if (assay_tell_table(run_scheme_of(p, node), &spec, &teller, &err))
        t->short_of_memory = true; /* it was prepared before: nothing else can be wrong */
}

/* The function as tables in binary32 have it. */
static const char *formula_f32(enum assay_op op)
{
    switch (op) {
#define FUNCTION_F32(ID, integers, y, table, engine)                                               \
    case ASSAY_OP_##ID:                                                                            \
        return #table;
#include "schemes/derive/function.def"
    default:
        return "ROUNDED";
    }
}

static const char *formula_f64(enum assay_op op)
{
    switch (op) {
#define FUNCTION(ID, integers, y)                                                                  \
    case ASSAY_OP_##ID:                                                                            \
        return #y;
#include "schemes/derive/function.def"
    default:
        return NULL;
    }
}

static const char *formula_mlas(enum assay_op op)
{
    switch (op) {
#define FUNCTION_F32(ID, integers, y, table, engine)
#define FUNCTION_MLAS(ID, integers, y, table, engine)                                              \
    case ASSAY_OP_##ID:                                                                            \
        return #engine;
#include "schemes/derive/function.def"
    default:
        return NULL;
    }
}

const char *explain_table_formula(const assay_unit *u)
{
    const bool single = u->rec.table.precision == ASSAY_PRECISION_F32;
    const bool rational = single && u->rec.table.sigmoid == ASSAY_SIGMOID_RATIONAL;
    const char *text = rational ? formula_mlas(u->op) : NULL;
    if (!text && single && strcmp(formula_f32(u->op), "ROUNDED") != 0)
        text = formula_f32(u->op);
    return text ? text : formula_f64(u->op);
}
