/* Shape and type inference: the checks every op shares, then the op's own rule. */
#include "graph/core/infer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const assay_shape_fn rules[ASSAY_OP_COUNT] = {
#define OP(ID, name, attr, min_in, max_in, n_out, shape, traits) assay_shape_##shape,
#include "graph/core/op.def"
#undef OP
};

const assay_type *assay_infer_in(const assay_inference *c, int i)
{
    const assay_value *v = assay_node_in(c->g, c->n, i);
    return v ? &v->type : NULL;
}

assay_status assay_infer_fail(const assay_inference *c, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return assay_fail(c->err, ASSAY_ERR_INPUT, "node '%.200s' (%s): %s", c->n->name,
                      assay_op_get(c->n->op)->name, text);
}

assay_status assay_infer_axis(const assay_inference *c, int64_t axis)
{
    if (axis < 0 || axis >= c->x->rank)
        return assay_infer_fail(c, "axis %lld is outside the input's %d dimensions",
                                (long long)axis, c->x->rank);
    return ASSAY_OK;
}

assay_status assay_infer_axes(const assay_inference *c, const assay_list *axes)
{
    unsigned seen = 0;
    for (int i = 0; i < axes->n; ++i) {
        assay_status s = assay_infer_axis(c, axes->v[i]);
        if (s)
            return s;
        if (seen >> axes->v[i] & 1U)
            return assay_infer_fail(c, "axis %lld is named twice", (long long)axes->v[i]);
        seen |= 1U << axes->v[i];
    }
    return ASSAY_OK;
}

assay_status assay_infer_list(const assay_inference *c, const char *name, const assay_list *l,
                              int n, int64_t lo, int64_t hi)
{
    if (l->n != n)
        return assay_infer_fail(c, "attribute '%s' has %d entries, expected %d", name, l->n, n);
    for (int i = 0; i < n; ++i)
        if (l->v[i] < lo || l->v[i] > hi)
            return assay_infer_fail(c, "attribute '%s' holds %lld, expected %lld to %lld", name,
                                    (long long)l->v[i], (long long)lo, (long long)hi);
    return ASSAY_OK;
}

assay_status assay_infer_alike(const assay_inference *c, int first, int last)
{
    const assay_type *a = assay_infer_in(c, first);
    for (int i = first + 1; i <= last; ++i) {
        const assay_type *b = assay_infer_in(c, i);
        char ta[8], tb[8];
        if (b && b->elem.kind != a->elem.kind)
            return assay_infer_fail(c, "input %d is %s but input %d is %s", first,
                                    assay_elem_print(a->elem, ta), i,
                                    assay_elem_print(b->elem, tb));
    }
    return ASSAY_OK;
}

assay_status assay_infer_vector(const assay_inference *c, int i, const char *what, int64_t n)
{
    const assay_type *v = assay_infer_in(c, i);
    char shape[128];
    if (v && (v->rank != 1 || v->dim[0] != n))
        return assay_infer_fail(c, "the %s is %s, expected [%lld]", what,
                                assay_shape_print(v, shape, sizeof shape), (long long)n);
    return ASSAY_OK;
}

assay_status assay_infer_broadcast(const assay_inference *c, const assay_type *a,
                                   const assay_type *b, assay_type *out)
{
    int rank = a->rank > b->rank ? a->rank : b->rank;
    int64_t dim[ASSAY_MAX_RANK];
    for (int i = 0; i < rank; ++i) {
        int ia = i - (rank - a->rank), ib = i - (rank - b->rank);
        int64_t da = ia < 0 ? 1 : a->dim[ia], db = ib < 0 ? 1 : b->dim[ib];
        if (da != db && da != 1 && db != 1) {
            char sa[128], sb[128];
            return assay_infer_fail(c, "shapes %s and %s do not broadcast",
                                    assay_shape_print(a, sa, sizeof sa),
                                    assay_shape_print(b, sb, sizeof sb));
        }
        dim[i] = da == 1 ? db : da;
    }
    out->rank = rank;
    memcpy(out->dim, dim, (size_t)rank * sizeof *dim);
    return ASSAY_OK;
}

assay_status assay_infer_size(const assay_inference *c, const assay_type *t)
{
    char what[260];
    snprintf(what, sizeof what, "node '%.200s' (%s)", c->n->name, assay_op_get(c->n->op)->name);
    return assay_shape_check(t, what, c->err);
}

void assay_infer_shape(assay_type *out, const assay_type *from)
{
    out->rank = from->rank;
    memcpy(out->dim, from->dim, sizeof out->dim);
}

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
            return assay_infer_fail(c, "parameters per index of axis %d cannot pass through",
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
