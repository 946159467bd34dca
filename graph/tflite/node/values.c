/* Translation of tensors to values. */
#include <stdio.h>
#include <string.h>

#include "graph/tflite/node/node.h"

bool tfl_has(const tfl_op *op, int i)
{
    return i < op->n_in && op->in[i] >= 0;
}

tfl_tensor *tfl_in(const tfl_op *op, int i)
{
    return &op->m->tensors.at[op->in[i]];
}

tfl_tensor *tfl_out(const tfl_op *op, int i)
{
    return &op->m->tensors.at[op->out[i]];
}

/* Zero of wider codes than 8 bits has the code 0 (TFLM, micro_graph.cc: ResetVariableTensors). */
assay_status tfl_add_variable(tfl_import *m, const char *name, const assay_type *type,
                              const void *initial, int *value)
{
    size_t bytes = assay_type_bytes(type);
    assay_status s = tfl_charge(m, bytes / 4);

    if (!s)
        s = assay_graph_add_variable(m->g, name, type, initial, value, m->err);
    if (!s && !initial && type->q.granularity == ASSAY_Q_TENSOR && assay_elem_size(type->elem) == 1)
        memset((void *)(uintptr_t)m->g->value[*value].data, type->q.zero_point[0], bytes);
    return s;
}

static assay_status make_value(const tfl_op *op, tfl_tensor *t, bool constant)
{
    tfl_import *m = op->m;
    const void *data = NULL;
    assay_status s = ASSAY_OK;

    if (t->why)
        return tfl_unsupported(op, "%s", t->why);
    t->name = tfl_unique(m, t->name, (int)(t - m->tensors.at));
    if (!t->name)
        return tfl_no_memory(m);
    if (t->is_variable && m->depth) { /* its own, not one of the graph around it */
        char *own = assay_arena_alloc(m->temp, strlen(t->name) + 32);
        if (!own)
            return tfl_no_memory(m);
        snprintf(own, strlen(t->name) + 32, "%s@%d", t->name, m->subgraph);
        t->name = tfl_unique(m, own, (int)(t - m->tensors.at));
        if (!t->name)
            return tfl_no_memory(m);
    }
    if (t->is_variable) {
        if (t->data) /* its first content */
            s = tfl_elements(m, t, &data);
        if (!s)
            s = tfl_add_variable(m, t->name, &t->type, data, &t->value);
    } else if (constant) {
        s = tfl_elements(m, t, &data);
        if (!s)
            s = assay_graph_borrow_constant(m->g, t->name, &t->type, data, &t->value, m->err);
    } else {
        s = assay_graph_add_value(m->g, t->name, &t->type, &t->value, m->err);
    }
    if (!s)
        m->g->value[t->value].source_index = (int)(t - m->tensors.at);
    return s;
}

assay_status tfl_value(const tfl_op *op, int i, int *value)
{
    tfl_tensor *t;
    assay_status s = ASSAY_OK;

    *value = ASSAY_NO_VALUE;
    if (!tfl_has(op, i))
        return ASSAY_OK;
    t = tfl_in(op, i);
    if (t->value < 0 && !assay_tfl_is_constant(t) && !t->is_variable && !t->why)
        return op->index < 0
                   ? assay_fail(op->m->err, ASSAY_ERR_INPUT,
                                "%s: no operator computes the model's output %d '%.200s'",
                                op->m->name, i, t->name)
                   : tfl_fail(op, "nothing before it defines its input %d '%.200s'", i, t->name);
    if (t->value < 0)
        s = make_value(op, t, true);
    *value = t->value;
    return s;
}

assay_status tfl_result(const tfl_op *op, int i, int *value)
{
    tfl_tensor *t = tfl_out(op, i);
    assay_status s = ASSAY_OK;

    *value = ASSAY_NO_VALUE;
    if (t->is_variable || t->data)
        return tfl_fail(op, "its output '%.200s' is constant or a variable", t->name);
    if (t->value < 0)
        s = make_value(op, t, false);
    *value = t->value;
    return s;
}

assay_status tfl_part(const tfl_op *op, const char *part, const assay_type *type, int *value)
{
    const char *base = tfl_op_name(op);
    size_t room = strlen(base) + strlen(part) + 2;
    char *name = assay_arena_alloc(op->m->temp, room);
    const char *unique;

    if (!name)
        return tfl_no_memory(op->m);
    snprintf(name, room, "%s/%s", base, part);
    unique = tfl_unique(op->m, name, 0);
    return unique ? assay_graph_add_value(op->m->g, unique, type, value, op->m->err)
                  : tfl_no_memory(op->m);
}

assay_status tfl_filled(const tfl_op *op, const char *part, const assay_type *type, double number,
                        int *value)
{
    const int64_t count = assay_shape_count(type);
    void *data;
    assay_status s = assay_shape_check(type, part, op->m->err);

    if (s || (s = tfl_charge(op->m, assay_type_bytes(type) / 4)) ||
        (s = tfl_part(op, part, type, value)))
        return s;
    data = assay_arena_array(op->m->g->arena, (size_t)count + 1, assay_elem_size(type->elem));
    if (!data)
        return tfl_no_memory(op->m);
    for (int64_t i = 0; number != 0 && i < count; ++i)
        if (type->elem.kind == ASSAY_KIND_F32)
            ((float *)data)[i] = (float)number;
        else
            assay_elem_set(type->elem, data, (size_t)i, (int64_t)number);
    op->m->g->value[*value].data = data;
    return ASSAY_OK;
}

assay_status tfl_zero_bias(const tfl_op *op, unsigned bits, int64_t n, int *value)
{
    const assay_type type = {.elem = assay_int(bits, true), .rank = 1, .dim = {n}};

    return tfl_filled(op, "bias", &type, 0, value);
}
