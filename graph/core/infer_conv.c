/* Shape rules of the ops that multiply and accumulate or slide a window, and of normalizations with
 * a channel axis. */
#include "graph/core/infer.h"

/* Window attributes, and the cells of a window, stay below this, so that extents and counts cannot
 * overflow int64. */
#define WINDOW_MAX ((int64_t)1 << 30)

/* Axis of the first spatial dimension and of the channels in an activation. */
static int spatial_axis(int layout)
{
    return layout == ASSAY_LAYOUT_NCHW ? 2 : 1;
}

static int channel_axis(int layout, const assay_type *x)
{
    return layout == ASSAY_LAYOUT_NCHW ? 1 : x->rank - 1;
}

static assay_status check_spatial(const assay_inference *c)
{
    if (c->x->rank < 3 || c->x->rank > 5)
        return assay_infer_fail(c, "input has rank %d, expected 3 to 5 (1 to 3 spatial axes)",
                                c->x->rank);
    return ASSAY_OK;
}

static assay_status check_window(const assay_inference *c, const assay_list *kernel,
                                 const assay_list *stride, const assay_list *dilation,
                                 const assay_list *begin, const assay_list *end)
{
    int n = c->x->rank - 2;
    assay_status s;
    (void)((s = assay_infer_list(c, "kernel", kernel, n, 1, WINDOW_MAX)) ||
           (s = assay_infer_list(c, "stride", stride, n, 1, WINDOW_MAX)) ||
           (s = assay_infer_list(c, "dilation", dilation, n, 1, WINDOW_MAX)) ||
           (s = assay_infer_list(c, "pad_begin", begin, n, 0, WINDOW_MAX)) ||
           (s = assay_infer_list(c, "pad_end", end, n, 0, WINDOW_MAX)));
    for (int64_t i = 0, cells = 1; !s && i < n; ++i) {
        if (kernel->v[i] > WINDOW_MAX / cells)
            return assay_infer_fail(c, "a window has more than %lld cells", (long long)WINDOW_MAX);
        cells *= kernel->v[i];
    }
    return s;
}

/* What conv and conv_transpose share: ranks, kinds, the kernel's extents. */
static assay_status check_weights(const assay_inference *c)
{
    const assay_attr_conv *a = &c->n->attr.conv;
    const assay_type *w = assay_infer_in(c, 1);
    assay_status s;

    if ((s = check_spatial(c)) || (s = assay_infer_alike(c, 0, 2)))
        return s;
    if (w->rank != c->x->rank)
        return assay_infer_fail(c, "weights have rank %d, the input has %d", w->rank, c->x->rank);
    if ((s = check_window(c, &a->kernel, &a->stride, &a->dilation, &a->pad_begin, &a->pad_end)))
        return s;
    for (int i = 0; i < a->kernel.n; ++i)
        if (w->dim[spatial_axis(a->layout) + i] != a->kernel.v[i])
            return assay_infer_fail(c, "kernel extent %lld differs from the weights' %lld",
                                    (long long)a->kernel.v[i],
                                    (long long)w->dim[spatial_axis(a->layout) + i]);
    if (a->group < 1)
        return assay_infer_fail(c, "group is %lld, expected 1 or more", (long long)a->group);
    return ASSAY_OK;
}

/* Batch and channels of the output. */
static void frame(const assay_inference *c, int layout, int64_t channels)
{
    c->out->rank = c->x->rank;
    c->out->dim[0] = c->x->dim[0];
    c->out->dim[channel_axis(layout, c->x)] = channels;
}

/* Extent of a sliding window's positions: how far its last element reaches from its first. */
static int64_t reach(int64_t kernel, int64_t dilation)
{
    return (kernel - 1) * dilation + 1;
}

static assay_status set_extent(const assay_inference *c, int axis, int64_t extent)
{
    if (extent < 1)
        return assay_infer_fail(c, "the window does not fit: axis %d of extent %lld gives %lld",
                                axis, (long long)c->x->dim[axis], (long long)extent);
    c->out->dim[axis] = extent;
    return ASSAY_OK;
}

/* Number of window positions, or 0 when none fits. */
static int64_t positions(int64_t padded, int64_t window, int64_t stride)
{
    return padded < window ? 0 : (padded - window) / stride + 1;
}

assay_status assay_shape_conv(const assay_inference *c)
{
    const assay_attr_conv *a = &c->n->attr.conv;
    const assay_type *w = assay_infer_in(c, 1);
    int64_t channels, per_group;
    assay_status s = check_weights(c);

    if (s)
        return s;
    channels = c->x->dim[channel_axis(a->layout, c->x)];
    per_group = w->dim[channel_axis(a->layout, w)];
    if (channels % a->group != 0 || channels / a->group != per_group)
        return assay_infer_fail(
            c, "%lld input channels in %lld groups, but the weights have %lld channels per group",
            (long long)channels, (long long)a->group, (long long)per_group);
    if (a->depthwise && (c->n->op != ASSAY_OP_CONV || channels != 1))
        return assay_infer_fail(c, "depthwise applies to a conv with one input channel, not %lld",
                                (long long)channels);
    if (w->dim[0] % a->group != 0)
        return assay_infer_fail(c, "%lld output channels are not divisible into %lld groups",
                                (long long)w->dim[0], (long long)a->group);
    if ((s = assay_infer_vector(c, 2, "bias", w->dim[0])))
        return s;
    frame(c, a->layout, w->dim[0]);
    for (int i = 0; !s && i < a->kernel.n; ++i) {
        int axis = spatial_axis(a->layout) + i;
        int64_t padded = c->x->dim[axis] + a->pad_begin.v[i] + a->pad_end.v[i];
        s = set_extent(c, axis,
                       positions(padded, reach(a->kernel.v[i], a->dilation.v[i]), a->stride.v[i]));
    }
    return s;
}

/* extent = (in - 1) * stride + reach + output_padding - pads (ONNX ConvTranspose). */
assay_status assay_shape_conv_transpose(const assay_inference *c)
{
    const assay_attr_conv *a = &c->n->attr.conv;
    const assay_type *w = assay_infer_in(c, 1);
    int64_t channels, in_channels, out_channels;
    assay_status s = check_weights(c);

    if (!s)
        s = assay_infer_list(c, "output_padding", &a->output_padding, c->x->rank - 2, 0,
                             WINDOW_MAX);
    if (s)
        return s;
    if (a->depthwise)
        return assay_infer_fail(c, "depthwise applies to conv, not to conv_transpose");
    channels = c->x->dim[channel_axis(a->layout, c->x)];
    if (a->layout == ASSAY_LAYOUT_NHWC && a->group != 1)
        return assay_infer_fail(c, "group is %lld, expected 1 in layout nhwc", (long long)a->group);
    in_channels = a->layout == ASSAY_LAYOUT_NCHW ? w->dim[0] : w->dim[w->rank - 1];
    out_channels = a->layout == ASSAY_LAYOUT_NCHW ? w->dim[1] : w->dim[0];
    if (in_channels != channels || channels % a->group != 0)
        return assay_infer_fail(
            c, "%lld input channels in %lld groups, but the weights have %lld input channels",
            (long long)channels, (long long)a->group, (long long)in_channels);
    if (__builtin_mul_overflow(out_channels, a->group, &out_channels))
        return assay_infer_fail(c, "too many output channels");
    if ((s = assay_infer_vector(c, 2, "bias", out_channels)))
        return s;
    frame(c, a->layout, out_channels);
    for (int i = 0; !s && i < a->kernel.n; ++i) {
        int axis = spatial_axis(a->layout) + i;
        int64_t extent;
        if (__builtin_mul_overflow(c->x->dim[axis] - 1, a->stride.v[i], &extent))
            return assay_infer_fail(c, "the output's extent overflows");
        extent += reach(a->kernel.v[i], a->dilation.v[i]) + a->output_padding.v[i] -
                  a->pad_begin.v[i] - a->pad_end.v[i];
        s = set_extent(c, axis, extent);
    }
    return s;
}

assay_status assay_shape_fc(const assay_inference *c)
{
    const assay_type *w = assay_infer_in(c, 1);
    int last = c->x->rank - 1;
    char sx[128], sw[128];
    assay_status s;

    if ((s = assay_infer_alike(c, 0, 2)))
        return s;
    if (last < 0 || w->rank != 2 || w->dim[1] != c->x->dim[last])
        return assay_infer_fail(c, "input %s and weights %s: expected [..,K] and [O,K]",
                                assay_shape_print(c->x, sx, sizeof sx),
                                assay_shape_print(w, sw, sizeof sw));
    assay_infer_shape(c->out, c->x);
    c->out->dim[last] = w->dim[0];
    return assay_infer_vector(c, 2, "bias", w->dim[0]);
}

/* The matrix part of one operand, and its batch dimensions into `batch`. */
static void split_matrix(const assay_type *t, bool transposed, int64_t *rows, int64_t *columns,
                         assay_type *batch)
{
    assay_infer_shape(batch, t);
    batch->rank = t->rank - 2;
    *rows = t->dim[t->rank - (transposed ? 1 : 2)];
    *columns = t->dim[t->rank - (transposed ? 2 : 1)];
}

/* numpy.matmul: a vector is a row on the left, a column on the right, and its axis of one is
 * dropped from the result. */
assay_status assay_shape_matmul(const assay_inference *c)
{
    const assay_attr_matmul *m = &c->n->attr.matmul;
    assay_type a = *c->x, b = *assay_infer_in(c, 1), batch_a, batch_b;
    bool row = a.rank == 1, column = b.rank == 1;
    int64_t rows, inner_a, inner_b, columns;
    assay_status s;

    if ((s = assay_infer_alike(c, 0, 1)))
        return s;
    if (a.rank < 1 || b.rank < 1)
        return assay_infer_fail(c, "an operand is a scalar, expected rank 1 or more");
    if ((row && m->transpose_a) || (column && m->transpose_b))
        return assay_infer_fail(c, "a vector operand cannot be transposed");
    if (row) {
        a.dim[1] = a.dim[0];
        a.dim[0] = 1;
        a.rank = 2;
    }
    if (column) {
        b.dim[1] = 1;
        b.rank = 2;
    }
    split_matrix(&a, m->transpose_a, &rows, &inner_a, &batch_a);
    split_matrix(&b, m->transpose_b, &inner_b, &columns, &batch_b);
    if (inner_a != inner_b)
        return assay_infer_fail(c, "inner extents differ: %lld and %lld", (long long)inner_a,
                                (long long)inner_b);
    if ((s = assay_infer_broadcast(c, &batch_a, &batch_b, c->out)))
        return s;
    if (!row)
        c->out->dim[c->out->rank++] = rows;
    if (!column)
        c->out->dim[c->out->rank++] = columns;
    return ASSAY_OK;
}

/* Positions with ceil_mode: the last window may hang over the end, but must start inside the input
 * or the padding before it (ONNX opset 19 and PyTorch). */
static int64_t pool_positions(const assay_attr_pool *a, int i, int64_t extent)
{
    int64_t padded = extent + a->pad_begin.v[i] + a->pad_end.v[i];
    int64_t window = reach(a->kernel.v[i], a->dilation.v[i]), stride = a->stride.v[i];
    int64_t n = positions(padded, window, stride);
    if (a->ceil_mode && padded >= window && (padded - window) % stride != 0 &&
        n * stride < extent + a->pad_begin.v[i])
        ++n;
    return n;
}

void assay_pool_count_overhang(const assay_type *x, assay_attr_pool *a)
{
    for (int i = 0; a->ceil_mode && a->count_include_pad && i < a->kernel.n; ++i) {
        int64_t extent = x->dim[spatial_axis(a->layout) + i];
        int64_t window = reach(a->kernel.v[i], a->dilation.v[i]);
        int64_t last = (pool_positions(a, i, extent) - 1) * a->stride.v[i] + window;
        int64_t over = last - a->pad_begin.v[i] - extent - a->pad_end.v[i];
        a->pad_end.v[i] += over > 0 ? over : 0;
    }
}

assay_status assay_shape_pool(const assay_inference *c)
{
    const assay_attr_pool *a = &c->n->attr.pool;
    assay_status s;

    if ((s = check_spatial(c)) ||
        (s = check_window(c, &a->kernel, &a->stride, &a->dilation, &a->pad_begin, &a->pad_end)))
        return s;
    frame(c, a->layout, c->x->dim[channel_axis(a->layout, c->x)]);
    for (int i = 0; !s && i < a->kernel.n; ++i) {
        int axis = spatial_axis(a->layout) + i;
        int64_t extent = c->x->dim[axis], window = reach(a->kernel.v[i], a->dilation.v[i]);
        int64_t n = pool_positions(a, i, extent), last = (n - 1) * a->stride.v[i];
        bool padded = a->pad_begin.v[i] || a->pad_end.v[i];
        /* Every window must hold an element of the input: a maximum or mean of none is undefined.
         * (PyTorch writes ceil_mode before opset 10 as more end padding than any window reaches.)
         */
        if (a->pad_begin.v[i] >= window || (n > 0 && last >= a->pad_begin.v[i] + extent) ||
            (padded && a->kernel.v[i] > 1 && a->dilation.v[i] > extent))
            return assay_infer_fail(c, "a window on axis %d lies wholly in the padding", axis);
        s = set_extent(c, axis, n);
    }
    return s;
}

assay_status assay_shape_global_pool(const assay_inference *c)
{
    int layout = c->n->attr.layout.layout;
    assay_status s = check_spatial(c);
    if (s)
        return s;
    frame(c, layout, c->x->dim[channel_axis(layout, c->x)]);
    for (int i = 0; !s && i < c->x->rank - 2; ++i) {
        int axis = spatial_axis(layout) + i;
        if (c->x->dim[axis] < 1)
            s = assay_infer_fail(c, "axis %d is empty", axis);
        c->out->dim[axis] = 1;
    }
    return s;
}

assay_status assay_shape_batch_norm(const assay_inference *c)
{
    static const char *const what[] = {"input", "scale", "bias", "mean", "variance"};
    int axis = channel_axis(c->n->attr.batch_norm.layout, c->x);
    assay_status s;

    if (c->x->rank < 2)
        return assay_infer_fail(c, "input has rank %d, expected 2 or more", c->x->rank);
    if ((s = assay_infer_alike(c, 0, 4)))
        return s;
    for (int i = 1; i < 5; ++i)
        if ((s = assay_infer_vector(c, i, what[i], c->x->dim[axis])))
            return s;
    assay_infer_shape(c->out, c->x);
    return ASSAY_OK;
}

assay_status assay_shape_lrn(const assay_inference *c)
{
    if (c->x->rank < 3)
        return assay_infer_fail(c, "input has rank %d, expected 3 or more", c->x->rank);
    if (c->n->attr.lrn.size < 1)
        return assay_infer_fail(c, "size is %lld, expected 1 or more",
                                (long long)c->n->attr.lrn.size);
    assay_infer_shape(c->out, c->x);
    return ASSAY_OK;
}
