/* Completion of attributes, so that passes and kernels see one form only: full lists, axes counted
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

/* ---- by the op's attributes; x: type of the first operand, w: of the second, or NULL ---- */

static void complete_window(assay_list *stride, assay_list *dilation, assay_list *begin,
                            assay_list *end, int spatial)
{
    fill(stride, spatial, 1);
    fill(dilation, spatial, 1);
    fill(begin, spatial, 0);
    fill(end, spatial, 0);
}

static void conv(const assay_node *n, const assay_type *x, const assay_type *w, assay_attrs *attrs)
{
    assay_attr_conv *a = &attrs->conv;
    const int spatial = x->rank - 2;
    (void)n;
    if (spatial < 1)
        return;
    complete_window(&a->stride, &a->dilation, &a->pad_begin, &a->pad_end, spatial);
    fill(&a->output_padding, spatial, 0);
    if (a->kernel.n == 0 && w && w->rank == spatial + 2) {
        int first = a->layout == ASSAY_LAYOUT_NCHW ? 2 : 1;
        a->kernel.n = spatial;
        for (int i = 0; i < spatial; ++i)
            a->kernel.v[i] = w->dim[first + i];
    }
}

static void pool(const assay_node *n, const assay_type *x, const assay_type *w, assay_attrs *attrs)
{
    assay_attr_pool *a = &attrs->pool;
    (void)n, (void)w;
    if (x->rank >= 3)
        complete_window(&a->stride, &a->dilation, &a->pad_begin, &a->pad_end, x->rank - 2);
}

static void axes(const assay_node *n, const assay_type *x, const assay_type *w, assay_attrs *attrs)
{
    (void)n, (void)w;
    wrap_axes(&attrs->axes.axes, x->rank);
}

/* Axes counted from the end are counted from the beginning; no axes are all of them, in order or
 * from the last. */
static void complete_axes(assay_list *list, int rank, bool from_last)
{
    wrap_axes(list, rank);
    if (list->n != 0)
        return;
    list->n = rank;
    for (int i = 0; i < rank; ++i)
        list->v[i] = from_last ? rank - 1 - i : i;
}

static void reduce(const assay_node *n, const assay_type *x, const assay_type *w,
                   assay_attrs *attrs)
{
    (void)n, (void)w;
    complete_axes(&attrs->reduce.axes, x->rank, false);
}

static void perm(const assay_node *n, const assay_type *x, const assay_type *w, assay_attrs *attrs)
{
    (void)n, (void)w;
    complete_axes(&attrs->perm.perm, x->rank, true);
}

/* Of reshape: one entry of -1 becomes what is left of the element count. */
static void shape(const assay_node *n, const assay_type *x, const assay_type *w, assay_attrs *attrs)
{
    assay_list *list = &attrs->shape.shape;
    int64_t known = 1;
    int open = -1;
    (void)w;
    if (n->op != ASSAY_OP_RESHAPE)
        return;
    for (int i = 0; i < list->n && i < ASSAY_ATTR_LIST; ++i) {
        if (list->v[i] == -1 && open < 0)
            open = i;
        else if (list->v[i] <= 0 || __builtin_mul_overflow(known, list->v[i], &known))
            return;
    }
    if (open >= 0 && assay_shape_count(x) % known == 0)
        list->v[open] = assay_shape_count(x) / known;
}

static void split(const assay_node *n, const assay_type *x, const assay_type *w, assay_attrs *attrs)
{
    assay_attr_split *a = &attrs->split;
    (void)w;
    if (n->n_out <= 0)
        return;
    wrap_axis(&a->axis, x->rank);
    if (a->sizes.n == 0 && a->axis >= 0 && a->axis < x->rank && x->dim[a->axis] % n->n_out == 0)
        fill(&a->sizes, n->n_out, x->dim[a->axis] / n->n_out);
}

static void slice(const assay_node *n, const assay_type *x, const assay_type *w, assay_attrs *attrs)
{
    assay_attr_slice *a = &attrs->slice;
    (void)n, (void)w;
    fill(&a->begin, x->rank, 0);
    fill(&a->step, x->rank, 1);
    if (a->size.n != 0)
        return;
    a->size.n = x->rank;
    for (int i = 0; i < x->rank; ++i)
        a->size.v[i] = x->dim[i];
}

static void pad(const assay_node *n, const assay_type *x, const assay_type *w, assay_attrs *attrs)
{
    (void)n, (void)w;
    fill(&attrs->pad.begin, x->rank, 0);
    fill(&attrs->pad.end, x->rank, 0);
}

static void tile(const assay_node *n, const assay_type *x, const assay_type *w, assay_attrs *attrs)
{
    (void)n, (void)w;
    fill(&attrs->tile.repeats, x->rank, 1);
}

/* An output extent is floor(input extent * scale). */
static void resize(const assay_node *n, const assay_type *x, const assay_type *w,
                   assay_attrs *attrs)
{
    assay_attr_resize *a = &attrs->resize;
    (void)n, (void)w;
    if (a->size.n != 0 || a->scales.n != x->rank)
        return;
    for (int i = 0; i < x->rank; ++i) {
        double extent = (double)x->dim[i] * (double)a->scales.v[i];
        a->size.v[i] = extent >= 0 && extent < 0x1p40 ? (int64_t)extent : -1;
    }
    a->size.n = x->rank;
}

/* Attributes with one axis, counted from the front or the back. */
static const struct {
    int attrs;
    size_t offset; /* of the axis */
} one_axis[] = {
    {ASSAY_ATTRS_softmax, offsetof(assay_attrs, softmax.axis)},
    {ASSAY_ATTRS_norm, offsetof(assay_attrs, norm.axis)},
    {ASSAY_ATTRS_arg, offsetof(assay_attrs, arg.axis)},
    {ASSAY_ATTRS_topk, offsetof(assay_attrs, topk.axis)},
    {ASSAY_ATTRS_cumsum, offsetof(assay_attrs, cumsum.axis)},
    {ASSAY_ATTRS_axis, offsetof(assay_attrs, axis.axis)},
    {ASSAY_ATTRS_gather, offsetof(assay_attrs, gather.axis)},
};

static void (*const completions[ASSAY_ATTRS_COUNT])(const assay_node *n, const assay_type *x,
                                                    const assay_type *w, assay_attrs *attrs) = {
    [ASSAY_ATTRS_conv] = conv,   [ASSAY_ATTRS_pool] = pool,     [ASSAY_ATTRS_axes] = axes,
    [ASSAY_ATTRS_perm] = perm,   [ASSAY_ATTRS_reduce] = reduce, [ASSAY_ATTRS_shape] = shape,
    [ASSAY_ATTRS_split] = split, [ASSAY_ATTRS_slice] = slice,   [ASSAY_ATTRS_pad] = pad,
    [ASSAY_ATTRS_tile] = tile,   [ASSAY_ATTRS_resize] = resize,
};

void assay_node_complete(const assay_graph *g, const assay_node *n, assay_attrs *a)
{
    const assay_value *x = assay_node_in(g, n, 0), *w = assay_node_in(g, n, 1);
    const int attrs = (int)assay_op_get(n->op)->attrs;

    if (!x)
        return;
    for (size_t i = 0; i < sizeof one_axis / sizeof *one_axis; ++i)
        if (one_axis[i].attrs == attrs)
            wrap_axis((int64_t *)(void *)((char *)a + one_axis[i].offset), x->type.rank);
    if (completions[attrs])
        completions[attrs](n, &x->type, w ? &w->type : NULL, a);
}
