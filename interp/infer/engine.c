/* Lists of candidates; see engine.h. */
#include "interp/infer/engine.h"

#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"

#define MAX_KEPT 2048 /* multiplier widths and reductions that are kept */

assay_status infer_engine_open(infer_engine *e, infer_task *t, assay_error *err)
{
    *e = (infer_engine){.t = t};
    e->keep = malloc(MAX_KEPT * sizeof *e->keep);
    return e->keep ? ASSAY_OK : assay_out_of_memory_for(err, "candidates");
}

void infer_engine_close(infer_engine *e)
{
    free(e->order);
    free(e->pair);
    free(e->placed);
    free(e->keep);
    free(e->end);
    free(e->tail);
    free(e->list.item);
    memset(e, 0, sizeof *e);
}

assay_status infer_engine_take(infer_engine *e, const infer_row *row, size_t n, assay_error *err)
{
    free(e->order);
    free(e->placed);
    e->order = malloc((n + 1) * sizeof *e->order);
    e->placed = malloc((n + 1) * sizeof *e->placed);
    if (!e->order || !e->placed)
        return assay_out_of_memory_for(err, "candidates");
    e->row = row;
    e->n = 0;
    for (size_t i = 0; i < n; i++)
        if (infer_in_window(e->t, &row[i]) && !row[i].bounded)
            e->order[e->n++] = i;
    for (size_t i = e->n; i > 1; i--) { /* shuffled: a mixed order finds contradictions soonest */
        const size_t j = (size_t)rows_between(&e->t->random, 0, (int64_t)i - 1);
        const size_t at = e->order[i - 1];
        e->order[i - 1] = e->order[j];
        e->order[j] = at;
    }
    return infer_make_pairs(e, err);
}

void infer_push(infer_engine *e, const infer_candidate *c)
{
    infer_list *l = &e->list;
    if (!assay_make_room(&l->item, &l->room, l->n + 1, sizeof *l->item)) {
        e->t->complete = false;
        return;
    }
    l->item[l->n++] = *c;
}

bool infer_stop(infer_engine *e)
{
    if (e->t->work - e->begun < INFER_WORK && e->list.n < INFER_MAX_CANDIDATES &&
        !infer_is_over(e->t))
        return false;
    e->t->complete = false;
    return true;
}
