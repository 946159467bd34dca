/* Shape and type inference: the checks every op shares, then the op's own rule. */
#include "graph/core/infer.h"

#include <stdio.h>
#include <string.h>

static const assay_shape_fn rules[ASSAY_OP_COUNT] = {
#define OP(ID, name, attr, min_in, max_in, n_out, shape, traits) assay_shape_##shape,
#include "graph/core/op.def"
};

/* Counts of inputs and outputs, and no holes among the required inputs. */
static assay_status check_arity(const assay_inference *c)
{
    const assay_node *n = c->n;
    const assay_op_info *info = assay_op_get(n->op);
    if (n->n_in < info->min_in || (info->max_in >= 0 && n->n_in > info->max_in))
        return info->max_in < 0
                   ? assay_infer_fail(c, "%d inputs, expected at least %d", n->n_in, info->min_in)
               : info->min_in == info->max_in
                   ? assay_infer_fail(c, "%d inputs, expected %d", n->n_in, info->min_in)
                   : assay_infer_fail(c, "%d inputs, expected %d to %d", n->n_in, info->min_in,
                                      info->max_in);
    if (info->n_out >= 0 && n->n_out != info->n_out)
        return assay_infer_fail(c, "%d outputs, expected %d", n->n_out, info->n_out);
    for (int i = 0; i < n->n_in; ++i)
        if (n->in[i] == ASSAY_NO_VALUE && (i < info->min_in || info->max_in < 0))
            return assay_infer_fail(c, "input %d is required", i);
    return ASSAY_OK;
}

/* The axis of `out` that a reshape makes of one of x, whole and behind as many elements; or -1. */
static int reshaped_axis(const assay_type *x, int axis, const assay_type *out)
{
    int64_t before = 1, reached = 1;
    for (int i = 0; i < axis; ++i)
        before *= x->dim[i];
    for (int i = 0; i < out->rank; reached *= out->dim[i++])
        if (reached == before && out->dim[i] == x->dim[axis])
            return i;
    return -1;
}

/* Where per-axis parameters of `axis` end up, or -1 when they cannot pass through the op. */
static int follow_axis(const assay_node *n, const assay_type *x, const assay_type *out)
{
    int axis = x->q.axis;
    bool kept = out->rank == x->rank && axis < x->rank && out->dim[axis] == x->dim[axis];
    switch (n->op) {
    case ASSAY_OP_TRANSPOSE:
        for (int i = 0; x->q.granularity == ASSAY_Q_AXIS && i < n->attr.perm.perm.n; ++i)
            if (n->attr.perm.perm.v[i] == axis)
                return i;
        return -1;
    case ASSAY_OP_RESHAPE:
        return x->q.granularity == ASSAY_Q_AXIS ? reshaped_axis(x, axis, out) : -1;
    case ASSAY_OP_PAD:
    case ASSAY_OP_TILE:
    case ASSAY_OP_MAX_POOL:
        return kept && x->q.granularity == ASSAY_Q_AXIS ? axis : -1;
    case ASSAY_OP_CONCAT:
        return kept && x->q.granularity == ASSAY_Q_AXIS && n->attr.axis.axis != axis ? axis : -1;
    case ASSAY_OP_SPLIT:
        return kept && x->q.granularity == ASSAY_Q_AXIS && n->attr.split.axis != axis ? axis : -1;
    case ASSAY_OP_SLICE:
        return kept && x->q.granularity == ASSAY_Q_AXIS && n->attr.slice.step.v[axis] == 1 ? axis
                                                                                           : -1;
    default:
        return -1;
    }
}

/* Ops that move or choose codes give their input's parameters to their outputs. */
static assay_status carry_params(const assay_inference *c)
{
    const assay_type *data = c->n->op == ASSAY_OP_SELECT ? assay_infer_in(c, 1) : c->x;
    if (!(assay_op_get(c->n->op)->traits & (ASSAY_T_MOVE | ASSAY_T_SELECTS)))
        return ASSAY_OK;
    for (int i = 0; i < c->n->n_out; ++i) {
        c->out[i].q = data->q;
        if (data->q.granularity <= ASSAY_Q_TENSOR)
            continue;
        c->out[i].q.axis = follow_axis(c->n, data, &c->out[i]);
        if (c->out[i].q.axis < 0)
            return assay_infer_fail(
                c,
                "the op does not carry quantization parameters per index of axis %d to its output",
                data->q.axis);
    }
    return ASSAY_OK;
}

assay_status assay_infer(const assay_graph *g, const assay_node *n, assay_type *out,
                         assay_error *err)
{
    assay_inference c = {.g = g, .n = n, .out = out, .err = err};
    char what[240];
    assay_status s = check_arity(&c);
    if (s)
        return s;
    snprintf(what, sizeof what, "node '%.200s' (%s)", n->name, assay_op_get(n->op)->name);
    s = assay_attrs_check(assay_op_get(n->op)->attrs, &n->attr, what, err);
    if (s)
        return s;
    c.x = assay_infer_in(&c, 0);
    memset(out, 0, (size_t)n->n_out * sizeof *out);
    for (int i = 0; i < n->n_out; ++i)
        out[i].elem = c.x->elem;
    s = rules[n->op](&c);
    for (int i = 0; !s && i < n->n_out; ++i)
        s = assay_infer_size(&c, &out[i]);
    return s ? s : carry_params(&c);
}
