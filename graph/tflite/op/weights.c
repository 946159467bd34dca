/* Weights whose axes stand in another order than ours. */
#include "graph/tflite/op/op.h"

static assay_status permuted_constant(const tfl_op *o, tfl_tensor *t, const int *perm,
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
    if ((s = tfl_elements(o->m, t, &data)) || (s = tfl_charge(o->m, assay_type_bytes(type) / 4)))
        return s;
    name = tfl_unique(o->m, t->name, index);
    elements = assay_arena_alloc(g->arena, assay_type_bytes(type));
    if (!name || !elements)
        return tfl_no_memory(o->m);
    assay_elements_permuted(&t->type, data, perm, elements);
    s = assay_graph_borrow_constant(g, name, type, elements, value, o->m->err);
    if (!s)
        g->value[*value].source_index = index;
    return s;
}

assay_status tfl_permuted_weights(const tfl_op *o, int i, const assay_list *perm, int *value)
{
    tfl_tensor *t = tfl_in(o, i);
    const assay_attrs a = {.perm.perm = *perm};
    int axes[ASSAY_MAX_RANK], w;
    assay_status s;

    for (int k = 0; k < perm->n; ++k)
        axes[k] = (int)perm->v[k];
    const assay_type type = assay_type_permuted(&t->type, axes);
    if (assay_tfl_is_constant(t))
        return permuted_constant(o, t, axes, &type, value);
    if ((s = tfl_value(o, i, &w)) || (s = tfl_part(o, "weights", &type, value)))
        return s;
    return tfl_node(o, ASSAY_OP_TRANSPOSE, &w, 1, value, 1, &a, NULL);
}
