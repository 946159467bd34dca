/* Tensors of a case cut along one axis. */
#include <string.h>

#include "interp/blame/cut.h"

const void *blame_slice(assay_arena *arena, const assay_type *t, const void *data, int axis,
                        int64_t first, int64_t n)
{
    const size_t width = assay_elem_size(t->elem);
    int64_t outer = 1, inner = 1;
    for (int i = 0; i < axis; i++)
        outer *= t->dim[i];
    for (int i = axis + 1; i < t->rank; i++)
        inner *= t->dim[i];
    const size_t run = (size_t)(n * inner) * width, whole = (size_t)(t->dim[axis] * inner) * width;
    char *to = assay_arena_alloc(arena, (size_t)outer * run + 64);
    for (int64_t i = 0; i < outer && to; i++)
        memcpy(to + (size_t)i * run,
               (const char *)data + (size_t)i * whole + (size_t)(first * inner) * width, run);
    return to;
}

void blame_cut_params(assay_type *t, int axis, int64_t first, int64_t n)
{
    if (t->q.granularity != ASSAY_Q_AXIS || t->q.axis != axis)
        return;
    t->q.scale += first;
    t->q.zero_point = t->q.zero_point ? t->q.zero_point + first : NULL;
    t->q.count = (size_t)n;
}

bool blame_cut_input(blame_case *c, int i, int axis, int64_t first, int64_t n)
{
    if (i >= c->n_in || c->in[i].elem.kind == ASSAY_KIND_NONE || c->in[i].dim[axis] == n)
        return true;
    c->data[i] = blame_slice(c->arena, &c->in[i], c->data[i], axis, first, n);
    c->in[i].dim[axis] = n;
    blame_cut_params(&c->in[i], axis, first, n);
    return c->data[i] != NULL;
}

void blame_cut_output(blame_case *c, int axis, int64_t first, int64_t n)
{
    c->out.dim[axis] = n;
    blame_cut_params(&c->out, axis, first, n);
}
