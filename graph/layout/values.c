/* Values of a graph whose layout is changed: in their old order, in the new one, or both. */
#include <stdio.h>
#include <string.h>

#include "graph/layout/change.h"
#include "graph/memory.h"

/* The name, or with a suffix where it is taken. */
static const char *name_for(const assay_layout_change *c, int v, const char *suffix, bool suffixed)
{
    const char *name = c->from->value[v].name;
    size_t room = strlen(name) + strlen(suffix) + 16;
    char *longer;

    if (!suffixed && assay_graph_find_value(c->to, name) < 0)
        return name;
    longer = assay_arena_alloc(c->to->arena, room);
    if (!longer)
        return NULL;
    snprintf(longer, room, "%s:%s", name, suffix);
    for (int i = 2; assay_graph_find_value(c->to, longer) >= 0; ++i)
        snprintf(longer, room, "%s:%s%d", name, suffix, i);
    return longer;
}

static assay_status add_constant(const assay_layout_change *c, int v, const assay_type *type,
                                 const void *data, const char *suffix, int *out)
{
    const char *name = name_for(c, v, suffix, false);
    return name ? assay_graph_borrow_constant(c->to, name, type, data, out, c->err)
                : assay_out_of_memory(c->err);
}

assay_status layout_constant(const assay_layout_change *c, int v, const assay_type *t,
                             const int *perm, const char *suffix, int *out)
{
    assay_type type = assay_type_permuted(t, perm);
    void *data = assay_arena_alloc(c->to->arena, assay_type_bytes(t));

    if (!data)
        return assay_out_of_memory(c->err);
    assay_elements_permuted(t, c->from->value[v].data, perm, data);
    return add_constant(c, v, &type, data, suffix, out);
}

bool layout_same_order(const assay_type *t, const int *perm)
{
    int last = -1;
    for (int i = 0; i < 4; ++i) {
        if (t->dim[perm[i]] == 1)
            continue;
        if (perm[i] < last)
            return false;
        last = perm[i];
    }
    return true;
}

/* ---- values ---- */

assay_status layout_transpose(const assay_layout_change *c, int v, int x, const assay_type *t,
                              const int *perm, const char *suffix, int *out)
{
    bool moves = !layout_same_order(t, perm);
    assay_type type = assay_type_permuted(t, perm);
    assay_attrs a = {0};
    const char *name = name_for(c, v, suffix, false);
    assay_status s;

    if (!name)
        return assay_out_of_memory(c->err);
    for (int i = 0; i < 4; ++i)
        if (moves)
            a.perm.perm.v[i] = perm[i];
        else
            a.shape.shape.v[i] = type.dim[i];
    if (moves)
        a.perm.perm.n = 4;
    else
        a.shape.shape.n = 4;
    if ((s = assay_graph_add_value(c->to, name, &type, out, c->err)))
        return s;
    return assay_graph_add_node(c->to, moves ? ASSAY_OP_TRANSPOSE : ASSAY_OP_RESHAPE, NULL, &x, 1,
                                out, 1, &a, NULL, c->err);
}

assay_status layout_value(const assay_layout_change *c, int v, enum assay_order order, int *out)
{
    const assay_value *x;
    const assay_type *t;
    const char *suffix = c->suffix[order];
    assay_type other;
    assay_status s;

    *out = v == ASSAY_NO_VALUE ? ASSAY_NO_VALUE : c->at[order][v];
    if (v == ASSAY_NO_VALUE || *out >= 0)
        return ASSAY_OK;
    x = &c->from->value[v];
    t = &x->type;
    if (order == ASSAY_ORDER_OLD && c->at[ASSAY_ORDER_NEW][v] < 0) {
        s = x->is_variable ? assay_graph_add_variable(c->to, x->name, t, x->data, out, c->err)
                           : add_constant(c, v, t, x->data, suffix, out);
    } else if (x->data && !x->is_variable) {
        s = order == ASSAY_ORDER_NEW ? layout_constant(c, v, t, c->there, suffix, out)
                                     : add_constant(c, v, t, x->data, suffix, out);
    } else if (order == ASSAY_ORDER_NEW) {
        s = layout_transpose(c, v, c->at[ASSAY_ORDER_OLD][v], t, c->there, suffix, out);
    } else {
        other = assay_type_permuted(t, c->there);
        s = layout_transpose(c, v, c->at[ASSAY_ORDER_NEW][v], &other, c->back, suffix, out);
    }
    c->at[order][v] = *out;
    return s;
}

assay_status layout_result(const assay_layout_change *c, int v, enum assay_order order, int *out)
{
    const assay_value *x = &c->from->value[v];
    assay_type type = order == ASSAY_ORDER_NEW ? assay_type_permuted(&x->type, c->there) : x->type;
    bool given = false;
    const char *name;
    assay_status s;

    for (int i = 0; i < c->from->n_outputs; ++i)
        given = given || c->from->output[i] == v;
    name = name_for(c, v, c->suffix[ASSAY_ORDER_NEW], given && order == ASSAY_ORDER_NEW);
    if (!name)
        return assay_out_of_memory(c->err);
    s = assay_graph_add_value(c->to, name, &type, out, c->err);
    c->at[order][v] = *out;
    return s;
}
