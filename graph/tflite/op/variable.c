/* Resource variables: VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, and CALL_ONCE, which gives them
 * their initial values.
 *
 * A variable is known by its container and name; its type is that of what is first read or
 * assigned. Without an initial value it starts as the code of zero (TFLM,
 * micro_resource_variable.cc). The subgraph of a CALL_ONCE may assign constants; anything else in
 * it is not supported. */
#include <stdio.h>
#include <string.h>

#include "graph/tflite/op/op.h"

enum { OPTION_CONTAINER = 0, OPTION_SHARED_NAME = 1, OPTION_INIT_SUBGRAPH = 0 };
enum { CODE_VAR_HANDLE = 142, CODE_ASSIGN_VARIABLE = 144 };

/* "container/name", or the name alone. */
static const char *resource_name(const tfl_op *o)
{
    size_t n_container, n_name;
    const char *container = tfl_flat_text(o->options, OPTION_CONTAINER, &n_container);
    const char *name = tfl_flat_text(o->options, OPTION_SHARED_NAME, &n_name);
    char *text;

    if (tfl_charge(o->m, n_container + n_name))
        return NULL;
    text = assay_arena_alloc(o->m->temp, n_container + n_name + 16);
    if (!text)
        return NULL;
    snprintf(text, n_container + n_name + 16, "%.*s%s%.*s", (int)n_container,
             container ? container : "", n_container ? "/" : "", (int)n_name, name ? name : "");
    if (!*text)
        snprintf(text, 16, "variable");
    return text;
}

assay_status tfl_op_var_handle(const tfl_op *o)
{
    tfl_import *m = o->m;
    tfl_resource *r;
    const char *name;

    if (o->n_out != 1)
        return tfl_fail(o, "%d outputs, expected 1", o->n_out);
    name = resource_name(o);
    if (!name)
        return tfl_flat_status(&m->file, m->err) ? ASSAY_ERR_INPUT : tfl_no_memory(m);
    for (r = m->resource; r && strcmp(r->name, name) != 0; r = r->next)
        if (tfl_charge(m, 1))
            return ASSAY_ERR_LIMIT;
    if (!r) {
        r = assay_arena_alloc(m->temp, sizeof *r);
        if (!r)
            return tfl_no_memory(m);
        *r = (tfl_resource){.next = m->resource, .name = name};
        for (int i = 0; i < TFL_DEPTH; ++i)
            r->value[i] = -1;
        m->resource = r;
    }
    tfl_out(o, 0)->resource = r;
    return ASSAY_OK;
}

static tfl_resource *resource_of(const tfl_op *o)
{
    return tfl_has(o, 0) ? tfl_in(o, 0)->resource : NULL;
}

/* The variable's value, made when it is first used. */
static assay_status variable(const tfl_op *o, tfl_resource *r, const assay_type *type, int *value)
{
    tfl_import *m = o->m;
    assay_status s;

    *value = r->value[m->depth];
    if (*value >= 0)
        return ASSAY_OK;
    if (r->initial && (!assay_elem_equal(r->type.elem, type->elem) ||
                       assay_shape_count(&r->type) != assay_shape_count(type)))
        return tfl_fail(o, "the initial value of variable '%.200s' has another type", r->name);
    if (!r->variable)
        r->variable = tfl_unique(m, r->name, 0);
    if (!r->variable)
        return tfl_no_memory(m);
    if (assay_graph_find_value(m->g, r->variable) >= 0)
        return tfl_unsupported(o, "variable '%.100s' has the name of a tensor", r->variable);
    s = tfl_add_variable(m, r->variable, type, r->initial, value);
    r->value[m->depth] = *value;
    return s;
}

assay_status tfl_op_read_variable(const tfl_op *o)
{
    tfl_resource *r = resource_of(o);
    int v, y;
    assay_status s;

    if (!r || o->n_in != 1 || o->n_out != 1)
        return tfl_fail(o, "its input is not a variable's handle");
    if ((s = tfl_result(o, 0, &y)) || (s = variable(o, r, &tfl_out(o, 0)->type, &v)))
        return s;
    if (!assay_type_equal(&o->m->g->value[v].type, &o->m->g->value[y].type))
        return tfl_unsupported(o, "a variable of several types");
    return tfl_node(o, ASSAY_OP_READ, &v, 1, &y, 1, NULL, NULL);
}

assay_status tfl_op_assign_variable(const tfl_op *o)
{
    tfl_resource *r = resource_of(o);
    const char *name;
    char *text;
    int v, x, stored;
    assay_status s;

    if (!r || o->n_in != 2 || !tfl_has(o, 1))
        return tfl_fail(o, "its input is not a variable's handle");
    if ((s = tfl_value(o, 1, &x)) || (s = variable(o, r, &o->m->g->value[x].type, &v)))
        return s;
    if (!assay_type_equal(&o->m->g->value[v].type, &o->m->g->value[x].type))
        return tfl_unsupported(o, "a variable of several types");
    text = assay_arena_alloc(o->m->temp, strlen(r->name) + 16);
    if (!text)
        return tfl_no_memory(o->m);
    snprintf(text, strlen(r->name) + 16, "%s/assigned", r->name);
    name = tfl_unique(o->m, text, o->index);
    if (!name)
        return tfl_no_memory(o->m);
    s = assay_graph_add_value(o->m->g, name, &o->m->g->value[v].type, &stored, o->m->err);
    return s ? s : tfl_node(o, ASSAY_OP_ASSIGN, (int[]){v, x}, 2, &stored, 1, NULL, NULL);
}

/* ---- bodies of control flow ---- */

void tfl_enter_body(tfl_import *inner)
{
    for (tfl_resource *r = inner->resource; r; r = r->next)
        r->value[inner->depth] = -1;
}

assay_status tfl_leave_body(const tfl_op *o, tfl_import *inner)
{
    tfl_import *m = o->m;

    m->resource = inner->resource;
    for (tfl_resource *r = inner->resource; r; r = r->next) {
        int used = r->value[inner->depth], v;
        assay_status s;
        if (used < 0)
            continue;
        if ((s = tfl_charge(m, 1)) || (s = variable(o, r, &inner->g->value[used].type, &v)))
            return s;
        if (!assay_type_equal(&m->g->value[v].type, &inner->g->value[used].type))
            return tfl_unsupported(o, "a variable of several types");
    }
    return ASSAY_OK;
}

/* ---- CALL_ONCE ---- */

/* ASSIGN_VARIABLE of a constant. */
static assay_status initialise(const tfl_op *o)
{
    tfl_resource *r = resource_of(o);
    tfl_tensor *t;
    const void *data;
    assay_status s;

    if (!r || !tfl_has(o, 1))
        return tfl_fail(o, "its input is not a variable's handle");
    t = tfl_in(o, 1);
    if (t->why || !t->data || r->variable)
        return tfl_unsupported(o, "an initial value that is not constant");
    if ((s = tfl_elements(o->m, t, &data)))
        return s;
    r->initial = data;
    r->type = t->type;
    return ASSAY_OK;
}

assay_status tfl_op_call_once(const tfl_op *o)
{
    tfl_import *m = o->m;
    const tfl_tensor_list outer = m->tensors;
    int32_t index = tfl_flat_i32(o->options, OPTION_INIT_SUBGRAPH, 0);
    flat_table subgraph;
    flat_vector operators;
    assay_status s;

    if (index <= 0 || (uint32_t)index >= m->subgraphs.count)
        return tfl_fail(o, "there is no subgraph %d to call", index);
    subgraph = tfl_flat_list_table(m->subgraphs, (uint32_t)index);
    operators = tfl_flat_list(subgraph, SUBGRAPH_OPERATORS, 4);
    s = tfl_read_tensors(m, subgraph);
    for (uint32_t i = 0; !s && i < operators.count; ++i) {
        tfl_op inner;
        s = m->read_operator(m, (int)i, tfl_flat_list_table(operators, i), &inner);
        if (s)
            break;
        if (inner.builtin == CODE_VAR_HANDLE)
            s = tfl_op_var_handle(&inner);
        else if (inner.builtin == CODE_ASSIGN_VARIABLE)
            s = initialise(&inner);
        else
            s = tfl_unsupported(o, "%s in its subgraph", inner.kind);
    }
    m->tensors = outer;
    return s;
}
