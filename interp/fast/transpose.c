/* Transposes of bytes that exchange two runs of axes, others before them staying: a matrix of bytes
 * for each index of those, by tiles of 16 x 16. */
#include <stdlib.h>

#include "interp/fast/fast.h"
#include "interp/fast/turn.h"

typedef struct transposition {
    assay_fast base;
    int64_t matrices, rows, columns;
} transposition;

static void free_transposition(assay_fast *f)
{
    free(f);
}

static assay_status run(const assay_fast *f, assay_call *call, assay_error *err)
{
    const transposition *t = (const transposition *)f;
    const int64_t size = t->rows * t->columns;
    (void)err;
    for (int64_t i = 0; i < t->matrices; i++)
        assay_transpose_bytes((const uint8_t *)call->in[0].data + i * size, t->rows, t->columns,
                              (uint8_t *)call->out[0].data + i * size, f->threads);
    return ASSAY_OK;
}

/* perm is 0 .. same-1, then `second` .. rank-1, then same .. second-1. */
static bool is_exchange(const assay_list *perm, int same, int second)
{
    for (int i = same; i < perm->n; i++)
        if (perm->v[i] !=
            (i < same + perm->n - second ? second + i - same : i - (perm->n - second)))
            return false;
    return true;
}

assay_status assay_fast_transpose(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_list *perm = &s->node->attr.perm.perm;
    int same = 0;
    if (assay_elem_size(x->elem) != 1 || perm->n != x->rank)
        return ASSAY_OK;
    while (same < perm->n && perm->v[same] == same)
        same++;
    const int second = same < perm->n ? (int)perm->v[same] : 0;
    if (same == perm->n || !is_exchange(perm, same, second))
        return ASSAY_OK;
    transposition *t = assay_fast_alloc(sizeof *t);
    if (!t)
        return assay_fast_memory(s, err);
    *t = (transposition){.base = {.run = run, .free = free_transposition, .threads = s->threads},
                         .matrices = 1,
                         .rows = 1,
                         .columns = 1};
    for (int i = 0; i < x->rank; i++)
        *(i < same ? &t->matrices : i < second ? &t->rows : &t->columns) *= x->dim[i];
    *out = &t->base;
    return ASSAY_OK;
}
