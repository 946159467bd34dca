/* Completing attributes, so that passes and kernels see one form only: full lists, axes counted
 * from the front. */
#include "graph/core/complete.h"

static void fill(assay_list *l, int n, int64_t value)
{
    if (l->n != 0 || n > ASSAY_ATTR_LIST)
        return;
    l->n = n;
    for (int i = 0; i < n; ++i)
        l->v[i] = value;
}

static void wrap_axis(int64_t *axis, int rank)
{
    if (*axis < 0 && *axis >= -rank)
        *axis += rank;
}

static void wrap_axes(assay_list *axes, int rank)
{
    for (int i = 0; i < axes->n && i < ASSAY_ATTR_LIST; ++i)
        wrap_axis(&axes->v[i], rank);
}

static void complete_window(assay_list *stride, assay_list *dilation, assay_list *begin,
                            assay_list *end, int spatial)
{
    fill(stride, spatial, 1);
    fill(dilation, spatial, 1);
    fill(begin, spatial, 0);
    fill(end, spatial, 0);
}

static void complete_conv(assay_attr_conv *a, const assay_type *w, int spatial)
{
    complete_window(&a->stride, &a->dilation, &a->pad_begin, &a->pad_end, spatial);
    fill(&a->output_padding, spatial, 0);
    if (a->kernel.n == 0 && w && w->rank == spatial + 2) {
        int first = a->layout == ASSAY_LAYOUT_NCHW ? 2 : 1;
        a->kernel.n = spatial;
        for (int i = 0; i < spatial; ++i)
            a->kernel.v[i] = w->dim[first + i];
    }
}

/* One entry of -1 becomes what is left of the element count. */
static void complete_reshape(assay_list *shape, const assay_type *x)
{
    int64_t known = 1;
    int open = -1;
    for (int i = 0; i < shape->n && i < ASSAY_ATTR_LIST; ++i) {
        if (shape->v[i] == -1 && open < 0)
            open = i;
        else if (shape->v[i] <= 0 || __builtin_mul_overflow(known, shape->v[i], &known))
            return;
    }
    if (open >= 0 && assay_shape_count(x) % known == 0)
        shape->v[open] = assay_shape_count(x) / known;
}

static void complete_slice(assay_attr_slice *a, const assay_type *x)
{
    fill(&a->begin, x->rank, 0);
    fill(&a->step, x->rank, 1);
    if (a->size.n == 0) {
        a->size.n = x->rank;
        for (int i = 0; i < x->rank; ++i)
            a->size.v[i] = x->dim[i];
    }
}

static void complete_perm(assay_list *perm, int rank)
{
    if (perm->n == 0) {
        perm->n = rank;
        for (int i = 0; i < rank; ++i)
            perm->v[i] = rank - 1 - i;
    }
}

/* An output extent is floor(input extent * scale). */
static void complete_resize(assay_attr_resize *a, const assay_type *x)
{
    if (a->size.n != 0 || a->scales.n != x->rank)
        return;
    for (int i = 0; i < x->rank; ++i) {
        double extent = (double)x->dim[i] * (double)a->scales.v[i];
        a->size.v[i] = extent >= 0 && extent < 0x1p40 ? (int64_t)extent : -1;
    }
    a->size.n = x->rank;
}

static void complete_split(assay_attr_split *a, const assay_type *x, int n_out)
{
    wrap_axis(&a->axis, x->rank);
    if (a->sizes.n == 0 && a->axis >= 0 && a->axis < x->rank && x->dim[a->axis] % n_out == 0)
        fill(&a->sizes, n_out, x->dim[a->axis] / n_out);
}

void assay_node_complete(const assay_graph *g, const assay_node *n, assay_attrs *a)
{
    const assay_value *x = assay_node_in(g, n, 0), *w = assay_node_in(g, n, 1);
    int rank = x ? x->type.rank : 0, spatial = rank - 2;

    if (!x)
        return;
    switch (assay_op_get(n->op)->attrs) {
    case ASSAY_ATTRS_conv:
        if (spatial >= 1)
            complete_conv(&a->conv, w ? &w->type : NULL, spatial);
        break;
    case ASSAY_ATTRS_pool:
        if (spatial >= 1)
            complete_window(&a->pool.stride, &a->pool.dilation, &a->pool.pad_begin,
                            &a->pool.pad_end, spatial);
        break;
    case ASSAY_ATTRS_softmax:
        wrap_axis(&a->softmax.axis, rank);
        break;
    case ASSAY_ATTRS_norm:
        wrap_axis(&a->norm.axis, rank);
        break;
    case ASSAY_ATTRS_arg:
        wrap_axis(&a->arg.axis, rank);
        break;
    case ASSAY_ATTRS_topk:
        wrap_axis(&a->topk.axis, rank);
        break;
    case ASSAY_ATTRS_cumsum:
        wrap_axis(&a->cumsum.axis, rank);
        break;
    case ASSAY_ATTRS_axis:
        wrap_axis(&a->axis.axis, rank);
        break;
    case ASSAY_ATTRS_gather:
        wrap_axis(&a->gather.axis, rank);
        break;
    case ASSAY_ATTRS_axes:
        wrap_axes(&a->axes.axes, rank);
        break;
    case ASSAY_ATTRS_reduce:
        wrap_axes(&a->reduce.axes, rank);
        if (a->reduce.axes.n == 0) {
            a->reduce.axes.n = rank;
            for (int i = 0; i < rank; ++i)
                a->reduce.axes.v[i] = i;
        }
        break;
    case ASSAY_ATTRS_perm:
        wrap_axes(&a->perm.perm, rank);
        complete_perm(&a->perm.perm, rank);
        break;
    case ASSAY_ATTRS_shape:
        if (n->op == ASSAY_OP_RESHAPE)
            complete_reshape(&a->shape.shape, &x->type);
        break;
    case ASSAY_ATTRS_split:
        if (n->n_out > 0)
            complete_split(&a->split, &x->type, n->n_out);
        break;
    case ASSAY_ATTRS_slice:
        complete_slice(&a->slice, &x->type);
        break;
    case ASSAY_ATTRS_pad:
        fill(&a->pad.begin, rank, 0);
        fill(&a->pad.end, rank, 0);
        break;
    case ASSAY_ATTRS_tile:
        fill(&a->tile.repeats, rank, 1);
        break;
    case ASSAY_ATTRS_resize:
        complete_resize(&a->resize, &x->type);
        break;
    default:
        break;
    }
}
