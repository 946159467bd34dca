/* Translation of operators to nodes; constants as numbers. */
#include <string.h>

#include "graph/tflite/node/node.h"

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
    if ((s = tfl_part(op, "moved", &type, &moved)) ||
        (s = assay_graph_add_node(g, kind, NULL, in, n_in, &moved, 1, attr, id, op->m->err)))
        return s;
    return assay_graph_add_node(g, ASSAY_OP_RELABEL, NULL, &moved, 1, &out, 1, NULL, NULL,
                                op->m->err);
}

assay_status tfl_node(const tfl_op *op, assay_op kind, const int *in, int n_in, const int *out,
                      int n_out, const assay_attrs *attr, int *id)
{
    const assay_value *v = op->m->g->value;
    assay_status s =
        op->m->follows_data ? tfl_infer(op, kind, in, n_in, out, n_out, attr) : ASSAY_OK;
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

assay_status tfl_step(const tfl_op *op, assay_op kind, const int *in, int n_in, const char *part,
                      const assay_type *type, int *value)
{
    assay_status s = tfl_part(op, part, type, value);
    return s ? s : tfl_node(op, kind, in, n_in, value, 1, NULL, NULL);
}

assay_status tfl_expect(const tfl_op *o, int n)
{
    if (o->n_in < n || o->n_out < 1)
        return tfl_fail(o, "%d inputs and %d outputs, expected at least %d and 1", o->n_in,
                        o->n_out, n);
    for (int i = 0; i < n; ++i)
        if (o->in[i] < 0)
            return tfl_fail(o, "input %d is missing", i);
    return ASSAY_OK;
}

assay_status tfl_only_input(const tfl_op *o, int i, const assay_attrs *a)
{
    tfl_op one = *o;
    one.n_in = 1;
    one.in = &o->in[i];
    return tfl_straight(&one, a, NULL);
}

assay_status tfl_straight(const tfl_op *op, const assay_attrs *attr, int *id)
{
    int few_in[FEW], few_out[FEW], *in = few_in, *out = few_out;
    assay_status s = ASSAY_OK;

    if (op->n_in > FEW)
        in = assay_arena_array(op->m->temp, (size_t)op->n_in, sizeof *in);
    if (op->n_out > FEW)
        out = assay_arena_array(op->m->temp, (size_t)op->n_out, sizeof *out);
    if (!in || !out)
        return tfl_no_memory(op->m);
    for (int i = 0; !s && i < op->n_in; ++i)
        s = tfl_value(op, i, &in[i]);
    for (int i = 0; !s && i < op->n_out; ++i)
        s = tfl_result(op, i, &out[i]);
    return s ? s : tfl_node(op, op->op, in, op->n_in, out, op->n_out, attr, id);
}

assay_status tfl_reshape(const tfl_op *op, int x, int to)
{
    const assay_type *type = &op->m->g->value[to].type;
    assay_attrs a = {.shape.shape.n = type->rank};

    memcpy(a.shape.shape.v, type->dim, sizeof type->dim);
    return tfl_node(op, ASSAY_OP_RESHAPE, &x, 1, &to, 1, &a, NULL);
}

/* ---- constants as numbers ---- */

assay_status tfl_ints(const tfl_op *op, int i, int max, int64_t *out, int *n)
{
    tfl_tensor *t;
    const void *data;
    int64_t count;
    assay_status s;

    if (!tfl_has(op, i))
        return tfl_fail(op, "input %d is missing", i);
    t = tfl_in(op, i);
    count = assay_shape_count(&t->type);
    if (t->why || t->is_variable)
        return tfl_unsupported(op, "input %d is not constant", i);
    if (t->type.elem.kind != ASSAY_KIND_INT || t->type.rank > 2 || count > max)
        return tfl_fail(op, "input %d '%.200s': expected at most %d integers", i, t->name, max);
    *n = (int)count;
    if (count == 0)
        return ASSAY_OK;
    s = assay_tfl_is_constant(t) ? tfl_elements(op->m, t, &data) : tfl_compute(op, i, &data);
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
            return tfl_fail(op, "input %d '%.200s': expected signed integers", i, t->name);
        }
    }
    return ASSAY_OK;
}

assay_status tfl_int(const tfl_op *op, int i, int64_t *out)
{
    int n = 0;
    assay_status s = tfl_ints(op, i, 1, out, &n);
    if (!s && n != 1)
        s = tfl_fail(op, "input %d: expected a single integer", i);
    return s;
}

assay_status tfl_axes(const tfl_op *op, int i, int rank, assay_list *out)
{
    int64_t axis[ASSAY_ATTR_LIST];
    unsigned seen = 0;
    int n = 0;
    assay_status s = tfl_ints(op, i, ASSAY_ATTR_LIST, axis, &n);

    out->n = 0;
    for (int k = 0; !s && k < n; ++k) {
        int64_t a = axis[k] < 0 ? axis[k] + rank : axis[k];
        if (a < 0 || a >= rank)
            return tfl_fail(op, "axis %lld is outside the input's %d dimensions",
                            (long long)axis[k], rank);
        if (!(seen >> a & 1U))
            out->v[out->n++] = a;
        seen |= 1U << a;
    }
    return s;
}

assay_status tfl_activation_bounds(const tfl_op *op, int slot, int id)
{
    assay_node *n = &op->m->g->node[id];
    switch ((enum tfl_activation)tfl_flat_i8(op->options, slot, 0)) {
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
        return tfl_unsupported(op, "fused activation %d", tfl_flat_i8(op->options, slot, 0));
    }
}
