/* From tensors and operators to values and nodes. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/tflite/node/node.h"

assay_status assay_tfl_charge(tfl_import *m, uint64_t amount)
{
    if (amount > m->budget)
        return assay_fail(m->err, ASSAY_ERR_LIMIT,
                          "%s: tensors share more of the file than a network of its size would",
                          m->name);
    m->budget -= amount;
    return ASSAY_OK;
}

assay_status assay_tfl_no_memory(tfl_import *m)
{
    return assay_out_of_memory(m->err);
}

/* ---- faults ---- */

static const char *name_of(const tfl_op *op)
{
    return op->n_out > 0 && op->out[0] >= 0 ? op->m->tensors.at[op->out[0]].name : "";
}

/* "subgraph 2: " inside a body of control flow. */
static const char *place_of(const tfl_import *m, char text[40])
{
    text[0] = '\0';
    if (m->depth)
        snprintf(text, 40, "subgraph %d: ", m->subgraph);
    return text;
}

assay_status assay_tfl_fail(const tfl_op *op, const char *format, ...)
{
    char text[400], place[40];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return assay_fail(op->m->err, ASSAY_ERR_INPUT, "%s: %soperator %d (%s, '%.120s'): %s",
                      op->m->name, place_of(op->m, place), op->index, op->kind, name_of(op), text);
}

#define MAX_FAULTS 256

assay_status assay_tfl_unsupported(const tfl_op *op, const char *format, ...)
{
    tfl_import *m = op->m;
    char reason[200], text[sizeof m->why], place[40];
    tfl_fault *f = NULL;
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    snprintf(text, sizeof text, "%s%.100s%s%s", place_of(m, place), op->kind, *reason ? ": " : "",
             reason);
    memcpy(m->why, text, sizeof text);
    for (int i = 0; !f && i < m->n_faults; ++i)
        if (strcmp(m->fault[i].what, text) == 0)
            f = &m->fault[i];
    if (!f && m->n_faults == MAX_FAULTS) {
        ++m->hidden_faults;
        return ASSAY_ERR_UNSUPPORTED;
    }
    if (!m->fault)
        m->fault = assay_arena_array(m->temp, MAX_FAULTS, sizeof *m->fault);
    if (!m->fault)
        return assay_tfl_no_memory(m);
    if (!f) {
        f = &m->fault[m->n_faults];
        f->what = assay_arena_string(m->temp, text);
        if (!f->what)
            return assay_tfl_no_memory(m);
        ++m->n_faults;
    }
    if (f->count < (int)(sizeof f->first / sizeof *f->first))
        f->first[f->count] = op->index;
    ++f->count;
    return ASSAY_ERR_UNSUPPORTED;
}

/* ---- values ---- */

const char *assay_tfl_unique(tfl_import *m, const char *name, int index)
{
    char *longer;
    size_t room;

    if (*name && assay_graph_find_value(m->g, name) < 0)
        return name;
    room = strlen(name) + 16;
    longer = assay_arena_alloc(m->temp, room);
    if (!longer)
        return NULL;
    do
        snprintf(longer, room, "%s#%d", name, index++);
    while (assay_graph_find_value(m->g, longer) >= 0);
    return longer;
}

bool assay_tfl_has(const tfl_op *op, int i)
{
    return i < op->n_in && op->in[i] >= 0;
}

tfl_tensor *assay_tfl_in(const tfl_op *op, int i)
{
    return &op->m->tensors.at[op->in[i]];
}

tfl_tensor *assay_tfl_out(const tfl_op *op, int i)
{
    return &op->m->tensors.at[op->out[i]];
}

/* A constant without elements may have no buffer. */
static bool is_constant(const tfl_tensor *t)
{
    return !t->is_variable && (t->data || assay_shape_count(&t->type) == 0);
}

/* Zero of wider codes than 8 bits has the code 0 (TFLM, micro_graph.cc: ResetVariableTensors). */
assay_status assay_tfl_add_variable(tfl_import *m, const char *name, const assay_type *type,
                                    const void *initial, int *value)
{
    size_t bytes = assay_type_bytes(type);
    assay_status s = assay_tfl_charge(m, bytes / 4);

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
        return assay_tfl_unsupported(op, "%s", t->why);
    t->name = assay_tfl_unique(m, t->name, (int)(t - m->tensors.at));
    if (!t->name)
        return assay_tfl_no_memory(m);
    if (t->is_variable && m->depth) { /* its own, not one of the graph around it */
        char *own = assay_arena_alloc(m->temp, strlen(t->name) + 32);
        if (!own)
            return assay_tfl_no_memory(m);
        snprintf(own, strlen(t->name) + 32, "%s@%d", t->name, m->subgraph);
        t->name = assay_tfl_unique(m, own, (int)(t - m->tensors.at));
        if (!t->name)
            return assay_tfl_no_memory(m);
    }
    if (t->is_variable) {
        if (t->data) /* its first content */
            s = assay_tfl_elements(m, t, &data);
        if (!s)
            s = assay_tfl_add_variable(m, t->name, &t->type, data, &t->value);
    } else if (constant) {
        s = assay_tfl_elements(m, t, &data);
        if (!s)
            s = assay_graph_borrow_constant(m->g, t->name, &t->type, data, &t->value, m->err);
    } else {
        s = assay_graph_add_value(m->g, t->name, &t->type, &t->value, m->err);
    }
    if (!s)
        m->g->value[t->value].source_index = (int)(t - m->tensors.at);
    return s;
}

assay_status assay_tfl_value(const tfl_op *op, int i, int *value)
{
    tfl_tensor *t;
    assay_status s = ASSAY_OK;

    *value = ASSAY_NO_VALUE;
    if (!assay_tfl_has(op, i))
        return ASSAY_OK;
    t = assay_tfl_in(op, i);
    if (t->value < 0 && !is_constant(t) && !t->is_variable && !t->why)
        return assay_tfl_fail(op, "nothing before it defines its input %d '%.200s'", i, t->name);
    if (t->value < 0)
        s = make_value(op, t, true);
    *value = t->value;
    return s;
}

assay_status assay_tfl_result(const tfl_op *op, int i, int *value)
{
    tfl_tensor *t = assay_tfl_out(op, i);
    assay_status s = ASSAY_OK;

    *value = ASSAY_NO_VALUE;
    if (t->is_variable || t->data)
        return assay_tfl_fail(op, "its output '%.200s' is constant or a variable", t->name);
    if (t->value < 0)
        s = make_value(op, t, false);
    *value = t->value;
    return s;
}

assay_status assay_tfl_part(const tfl_op *op, const char *part, const assay_type *type, int *value)
{
    const char *base = name_of(op);
    size_t room = strlen(base) + strlen(part) + 2;
    char *name = assay_arena_alloc(op->m->temp, room);
    const char *unique;

    if (!name)
        return assay_tfl_no_memory(op->m);
    snprintf(name, room, "%s/%s", base, part);
    unique = assay_tfl_unique(op->m, name, 0);
    return unique ? assay_graph_add_value(op->m->g, unique, type, value, op->m->err)
                  : assay_tfl_no_memory(op->m);
}

assay_status assay_tfl_zero_bias(const tfl_op *op, unsigned bits, int64_t n, int *value)
{
    assay_type type = {.elem = assay_int(bits, true), .rank = 1, .dim = {n}};
    assay_status s = assay_tfl_charge(op->m, assay_type_bytes(&type));

    if (!s)
        s = assay_tfl_part(op, "bias", &type, value);
    if (!s) {
        op->m->g->value[*value].data = assay_arena_alloc(op->m->g->arena, assay_type_bytes(&type));
        if (!op->m->g->value[*value].data)
            return assay_tfl_no_memory(op->m);
    }
    return s;
}

/* ---- nodes ---- */

/* TFLite's kernels that move codes do not look at their parameters. Where those of the output are
 * others than the input's, the codes move first and then take the output's. */
static assay_status move_and_relabel(const tfl_op *op, assay_op kind, const int *in, int n_in,
                                     int out, const assay_attrs *attr, int *id)
{
    assay_graph *g = op->m->g;
    assay_type type = g->value[out].type;
    int moved;
    assay_status s;

    type.q = g->value[in[0]].type.q;
    if ((s = assay_tfl_part(op, "moved", &type, &moved)) ||
        (s = assay_graph_add_node(g, kind, NULL, in, n_in, &moved, 1, attr, id, op->m->err)))
        return s;
    return assay_graph_add_node(g, ASSAY_OP_RELABEL, NULL, &moved, 1, &out, 1, NULL, NULL,
                                op->m->err);
}

assay_status assay_tfl_node(const tfl_op *op, assay_op kind, const int *in, int n_in,
                            const int *out, int n_out, const assay_attrs *attr, int *id)
{
    const assay_value *v = op->m->g->value;
    assay_status s =
        op->m->follows_data ? assay_tfl_infer(op, kind, in, n_in, out, n_out, attr) : ASSAY_OK;
    bool moves = assay_op_get(kind)->traits & ASSAY_T_MOVE && n_out == 1 && n_in > 0 &&
                 in[0] != ASSAY_NO_VALUE;

    if (s)
        return s;
    if (moves && v[in[0]].type.q.granularity == ASSAY_Q_TENSOR &&
        v[out[0]].type.q.granularity == ASSAY_Q_TENSOR &&
        assay_elem_equal(v[in[0]].type.elem, v[out[0]].type.elem) &&
        !assay_qparams_equal(&v[in[0]].type.q, &v[out[0]].type.q))
        return move_and_relabel(op, kind, in, n_in, out[0], attr, id);
    return assay_graph_add_node(op->m->g, kind, NULL, in, n_in, out, n_out, attr, id, op->m->err);
}

#define FEW 8

assay_status assay_tfl_expect(const tfl_op *o, int n)
{
    if (o->n_in < n || o->n_out < 1)
        return assay_tfl_fail(o, "%d inputs and %d outputs", o->n_in, o->n_out);
    for (int i = 0; i < n; ++i)
        if (o->in[i] < 0)
            return assay_tfl_fail(o, "input %d is missing", i);
    return ASSAY_OK;
}

assay_status assay_tfl_only_input(const tfl_op *o, int i, const assay_attrs *a)
{
    tfl_op one = *o;
    one.n_in = 1;
    one.in = &o->in[i];
    return assay_tfl_straight(&one, a, NULL);
}

assay_status assay_tfl_straight(const tfl_op *op, const assay_attrs *attr, int *id)
{
    int few_in[FEW], few_out[FEW], *in = few_in, *out = few_out;
    assay_status s = ASSAY_OK;

    if (op->n_in > FEW)
        in = assay_arena_array(op->m->temp, (size_t)op->n_in, sizeof *in);
    if (op->n_out > FEW)
        out = assay_arena_array(op->m->temp, (size_t)op->n_out, sizeof *out);
    if (!in || !out)
        return assay_tfl_no_memory(op->m);
    for (int i = 0; !s && i < op->n_in; ++i)
        s = assay_tfl_value(op, i, &in[i]);
    for (int i = 0; !s && i < op->n_out; ++i)
        s = assay_tfl_result(op, i, &out[i]);
    return s ? s : assay_tfl_node(op, op->op, in, op->n_in, out, op->n_out, attr, id);
}

assay_status assay_tfl_reshape(const tfl_op *op, int x, int to)
{
    const assay_type *type = &op->m->g->value[to].type;
    assay_attrs a = {.shape.shape.n = type->rank};

    memcpy(a.shape.shape.v, type->dim, sizeof type->dim);
    return assay_tfl_node(op, ASSAY_OP_RESHAPE, &x, 1, &to, 1, &a, NULL);
}

/* ---- constants as numbers ---- */

assay_status assay_tfl_ints(const tfl_op *op, int i, int max, int64_t *out, int *n)
{
    tfl_tensor *t;
    const void *data;
    int64_t count;
    assay_status s;

    if (!assay_tfl_has(op, i))
        return assay_tfl_fail(op, "input %d is missing", i);
    t = assay_tfl_in(op, i);
    count = assay_shape_count(&t->type);
    if (t->why || t->is_variable)
        return assay_tfl_unsupported(op, "input %d is not constant", i);
    if (t->type.elem.kind != ASSAY_KIND_INT || t->type.rank > 2 || count > max)
        return assay_tfl_fail(op, "input %d '%.200s': expected at most %d integers", i, t->name,
                              max);
    *n = (int)count;
    if (count == 0)
        return ASSAY_OK;
    s = is_constant(t) ? assay_tfl_elements(op->m, t, &data) : assay_tfl_compute(op, i, &data);
    if (s)
        return s;
    for (int k = 0; k < *n; ++k) {
        switch (t->raw) {
        case TFL_INT64:
            out[k] = ((const int64_t *)data)[k];
            break;
        case TFL_INT32:
            out[k] = ((const int32_t *)data)[k];
            break;
        case TFL_INT16:
            out[k] = ((const int16_t *)data)[k];
            break;
        case TFL_INT8:
            out[k] = ((const int8_t *)data)[k];
            break;
        default:
            return assay_tfl_fail(op, "input %d '%.200s': expected signed integers", i, t->name);
        }
    }
    return ASSAY_OK;
}

assay_status assay_tfl_int(const tfl_op *op, int i, int64_t *out)
{
    int n = 0;
    assay_status s = assay_tfl_ints(op, i, 1, out, &n);
    if (!s && n != 1)
        s = assay_tfl_fail(op, "input %d: expected one integer", i);
    return s;
}

assay_status assay_tfl_axes(const tfl_op *op, int i, int rank, assay_list *out)
{
    int64_t axis[ASSAY_ATTR_LIST];
    unsigned seen = 0;
    int n = 0;
    assay_status s = assay_tfl_ints(op, i, ASSAY_ATTR_LIST, axis, &n);

    out->n = 0;
    for (int k = 0; !s && k < n; ++k) {
        int64_t a = axis[k] < 0 ? axis[k] + rank : axis[k];
        if (a < 0 || a >= rank)
            return assay_tfl_fail(op, "axis %lld is outside the input's %d dimensions",
                                  (long long)axis[k], rank);
        if (!(seen >> a & 1U))
            out->v[out->n++] = a;
        seen |= 1U << a;
    }
    return s;
}

assay_status assay_tfl_activation(const tfl_op *op, int slot, int id)
{
    assay_node *n = &op->m->g->node[id];
    switch ((enum tfl_activation)assay_flat_i8(op->options, slot, 0)) {
    case ACTIVATION_NONE:
        return ASSAY_OK;
    case ACTIVATION_RELU:
        n->act_lo = 0;
        return ASSAY_OK;
    case ACTIVATION_RELU_N1_TO_1:
        n->act_lo = -1;
        n->act_hi = 1;
        return ASSAY_OK;
    case ACTIVATION_RELU6:
        n->act_lo = 0;
        n->act_hi = 6;
        return ASSAY_OK;
    default:
        return assay_tfl_unsupported(op, "fused activation %d",
                                     assay_flat_i8(op->options, slot, 0));
    }
}
