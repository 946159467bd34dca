/* Transposes that exchange two runs of axes, others before and after them staying: a matrix for
 * each index of those before, its elements the runs of those after, of at most 8 bytes
 * (transpose_tile.h). */
#include <stdlib.h>

#include "interp/fast/fast.h"
#include "interp/fast/transpose_tile.h"

typedef struct transposition {
    assay_fast base;
    int64_t matrices, rows, columns;
    int size; /* bytes of an element of a matrix */
} transposition;

static void free_transposition(assay_fast *f)
{
    free(f);
}

static assay_status run(const assay_fast *f, assay_call *call, assay_error *err)
{
    const transposition *t = (const transposition *)f;
    const int64_t bytes = t->rows * t->columns * t->size;
    (void)err;
    for (int64_t i = 0; i < t->matrices; i++)
        fast_transpose_cells((const char *)call->in[0].data + i * bytes, t->rows, t->columns,
                             t->size, (char *)call->out[0].data + i * bytes, f->threads);
    return ASSAY_OK;
}

/* perm is 0 .. same-1, then second .. end-1, then same .. second-1, then end .. rank-1. */
static bool is_exchange(const assay_list *perm, int same, int second, int end)
{
    for (int i = same; i < end; i++)
        if (perm->v[i] != (i < same + end - second ? second + i - same : i - (end - second)))
            return false;
    return true;
}

assay_status fast_transpose(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_list *perm = &s->node->attr.perm.perm;
    int64_t size = (int64_t)assay_elem_size(x->elem);
    int same = 0, end = perm->n;
    if (perm->n != x->rank)
        return ASSAY_OK;
    while (same < perm->n && perm->v[same] == same)
        same++;
    for (; end > same && perm->v[end - 1] == end - 1; end--)
        size *= x->dim[end - 1];
    const int second = same < end ? (int)perm->v[same] : 0;
    const bool fits = size == 1 || size == 2 || size == 4 || size == 8;
    if (same == end || !fits || !is_exchange(perm, same, second, end))
        return ASSAY_OK;
    transposition *t = fast_alloc(sizeof *t);
    if (!t)
        return fast_memory(s, err);
    *t = (transposition){.base = {.run = run, .free = free_transposition, .threads = s->threads},
                         .matrices = 1,
                         .rows = 1,
                         .columns = 1,
                         .size = (int)size};
    for (int i = 0; i < end; i++)
        *(i < same ? &t->matrices : i < second ? &t->rows : &t->columns) *= x->dim[i];
    *out = &t->base;
    return ASSAY_OK;
}
