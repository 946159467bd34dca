/* Weights whose axes stand in another order than ours. */
#include <string.h>

#include "graph/tflite/op/op.h"

static void permute_type(const assay_type *from, const assay_list *perm, assay_type *to)
{
    *to = *from;
    for (int i = 0; i < perm->n; ++i) {
        to->dim[i] = from->dim[perm->v[i]];
        if (from->q.granularity == ASSAY_Q_AXIS && from->q.axis == perm->v[i])
            to->q.axis = i;
    }
}

/* Elements of a tensor `from` in the order of *type, whose axis i is its axis perm[i]. */
static void permute(const assay_type *from, const void *data, const assay_list *perm,
                    const assay_type *type, void *out)
{
    const size_t size = assay_elem_size(type->elem);
    const int64_t count = assay_shape_count(type);
    int64_t stride[ASSAY_MAX_RANK], at[ASSAY_MAX_RANK] = {0}, place = 0, step = 1;

    for (int i = from->rank - 1; i >= 0; --i) {
        for (int k = 0; k < perm->n; ++k)
            if (perm->v[k] == i)
                stride[k] = step;
        step *= from->dim[i];
    }
    for (int64_t i = 0; i < count; ++i) {
        memcpy((char *)out + (size_t)i * size, (const char *)data + (size_t)place * size, size);
        for (int k = type->rank - 1; k >= 0; --k) {
            place += stride[k];
            if (++at[k] < type->dim[k])
                break;
            place -= stride[k] * type->dim[k];
            at[k] = 0;
        }
    }
}

static assay_status permuted_constant(const tfl_op *o, tfl_tensor *t, const assay_list *perm,
                                      const assay_type *type, int *value)
{
    assay_graph *g = o->m->g;
    const int index = (int)(t - o->m->tensors.at);
    const void *data = NULL;
    const char *name;
    void *elements;
    assay_status s;

    if (t->why)
        return tfl_unsupported(o, "%s", t->why);
    if ((s = tfl_elements(o->m, t, &data)))
        return s;
    name = tfl_unique(o->m, t->name, index);
    elements = assay_arena_alloc(g->arena, assay_type_bytes(type));
    if (!name || !elements)
        return tfl_no_memory(o->m);
    permute(&t->type, data, perm, type, elements);
    s = assay_graph_borrow_constant(g, name, type, elements, value, o->m->err);
    if (!s)
        g->value[*value].source_index = index;
    return s;
}

assay_status tfl_permuted_weights(const tfl_op *o, int i, const assay_list *perm, int *value)
{
    tfl_tensor *t = tfl_in(o, i);
    const assay_attrs a = {.perm.perm = *perm};
    assay_type type;
    int w;
    assay_status s;

    permute_type(&t->type, perm, &type);
    if (assay_tfl_is_constant(t))
        return permuted_constant(o, t, perm, &type, value);
    if ((s = tfl_value(o, i, &w)) || (s = tfl_part(o, "weights", &type, value)))
        return s;
    return tfl_node(o, ASSAY_OP_TRANSPOSE, &w, 1, value, 1, &a, NULL);
}
