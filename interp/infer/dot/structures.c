/* The nesting of a unit's sums, from the rows that show little else; see task.h. */
#include <string.h>

#include "graph/memory.h"
#include "interp/infer/dot/moves.def"
#include "interp/infer/dot/task.h"

static const size_t nested[] = {
#define NESTED(parameter) offsetof(assay_mac, parameter),
    INFER_DOT_NESTED(NESTED)
#undef NESTED
};
enum { N_NESTED = sizeof nested / sizeof *nested, MASKS = 64 };

/* The ladder and some rows of large numbers that cancel. */
static void choose_rows(infer_dot_task *t, infer_dot_rows *rows)
{
    size_t masks = 0;
    infer_dot_rows_open(rows, t->o);
    for (size_t i = 0; i < t->log.n; i++) {
        const bool mask = t->log.probe[i] == DOT_MASKS && masks < MASKS;
        masks += mask;
        if (mask || (t->log.probe[i] == DOT_LADDER && i < infer_dot_rungs(&t->log)))
            infer_dot_rows_copy(rows, &t->log, i);
    }
    if (rows->short_of_memory)
        t->status = assay_out_of_memory_for(t->err, "rows");
}

typedef struct walk {
    infer_dot_task *t;
    infer_dot_rows rows;
    infer_dot_starts *starts;
    size_t hot;
} walk;

/* Whether a value makes a difference where those before it in the list are as in m. */
static bool matters(const assay_mac *m, size_t parameter, int64_t value)
{
    if (parameter == offsetof(assay_mac, instruction))
        return value == 0 || m->start == ASSAY_MAC_START_ZERO;
    if (parameter == offsetof(assay_mac, align_bits))
        return value == ASSAY_MAC_NONE || value == 24 || value == m->align_bits;
    return true;
}

static void visit(walk *w, const assay_mac *m, int depth)
{
    infer_dot_task *t = w->t;
    int64_t value[INFER_DOT_VALUES];
    if (infer_dot_is_late(t))
        return;
    if (depth == N_NESTED) {
        if (infer_dot_takes(t, m))
            infer_dot_start(w->starts, m,
                            infer_dot_against(t, m, &w->rows, infer_dot_worst(w->starts), &w->hot));
        return;
    }
    const assay_mac_parameter *p = infer_dot_at(nested[depth]);
    const size_t n = infer_dot_values(t, m, p, value);
    for (size_t i = 0; i < n; i++) {
        assay_mac next = *m;
        infer_dot_set(&next, p, value[i]);
        if (matters(m, nested[depth], value[i]) && *mac_member(&next, p) == value[i])
            visit(w, &next, depth + 1);
    }
}

void infer_dot_structures(infer_dot_task *t, infer_dot_starts *starts)
{
    walk w = {.t = t, .starts = starts};
    assay_mac m = t->best;
    m.order = m.instruction = 0;
    m.exact_group = m.chains = m.lanes = 1;
    m.k_order = ASSAY_MAC_ASCENDING;
    m.split_k = 1;
    m.promote = m.scale_place == ASSAY_MAC_AT_TERM ? 0 : m.promote;
    choose_rows(t, &w.rows);
    visit(&w, &m, 0);
    infer_dot_rows_free(&w.rows);
}
