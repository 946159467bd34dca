/* Convolution and pooling: 1 to 3 spatial axes, layout N,C,spatial. */
#include <string.h>

#include "graph/onnx/op/op.h"

/* A sliding window: what Conv, ConvTranspose and the pools have in common. */
typedef struct window {
    int spatial;
    assay_list kernel, stride, dilation, begin, end;
    enum { PAD_EXPLICIT, PAD_SAME_UPPER, PAD_SAME_LOWER, PAD_VALID } auto_pad;
} window;

static const char *const auto_pads[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", NULL};

#define WINDOW_LIMIT ((int64_t)1 << 31)

/* An optional list of one entry (or two: pads) a spatial axis, each in least..WINDOW_LIMIT. */
static void window_list(onnx_node *n, const char *name, int count, int64_t least, int64_t otherwise,
                        assay_list *list)
{
    if (!onnx_ints(n, name, list)) {
        list->n = count;
        for (int i = 0; i < count; i++)
            list->v[i] = otherwise;
    }
    if (list->n != count)
        onnx_fail(n, ASSAY_ERR_INPUT, "attribute '%s' has %d entries, expected %d", name, list->n,
                  count);
    for (int i = 0; i < list->n; i++)
        if (list->v[i] < least || list->v[i] > WINDOW_LIMIT)
            onnx_refuse(n, "attribute '%s' has the entry %lld", name, (long long)list->v[i]);
}

/* Reads the attributes. `weights` is the type of the kernel, or NULL for pools. */
static window read_window(onnx_node *n, const assay_type *x, const assay_type *weights)
{
    window w = {.spatial = x->rank - 2};
    assay_list pads;

    if (n->status)
        return w;
    if (w.spatial < 1 || w.spatial > 3) {
        onnx_refuse(n, "input of rank %d: 1 to 3 spatial axes are supported", x->rank);
        return w;
    }
    if (weights && weights->rank != x->rank) {
        onnx_fail(n, ASSAY_ERR_INPUT, "weights of rank %d for an input of rank %d", weights->rank,
                  x->rank);
        return w;
    }
    window_list(n, "kernel_shape", w.spatial, 1, 1, &w.kernel);
    for (int i = 0; weights && i < w.spatial && !n->status; i++) {
        if (onnx_attribute(n, "kernel_shape", ONNX_ATTR_INTS) &&
            w.kernel.v[i] != weights->dim[2 + i])
            onnx_fail(n, ASSAY_ERR_INPUT, "kernel_shape says %lld where the weights have %lld",
                      (long long)w.kernel.v[i], (long long)weights->dim[2 + i]);
        w.kernel.v[i] = weights->dim[2 + i];
    }
    if (!weights && !onnx_attribute(n, "kernel_shape", ONNX_ATTR_INTS))
        onnx_fail(n, ASSAY_ERR_INPUT, "attribute 'kernel_shape' is missing");
    window_list(n, "strides", w.spatial, 1, 1, &w.stride);
    window_list(n, "dilations", w.spatial, 1, 1, &w.dilation);
    window_list(n, "pads", 2 * w.spatial, 0, 0, &pads);
    w.auto_pad = (unsigned)onnx_choice(n, "auto_pad", auto_pads, PAD_EXPLICIT);
    w.begin.n = w.end.n = w.spatial;
    for (int i = 0; i < w.spatial && w.auto_pad == PAD_EXPLICIT; i++) {
        w.begin.v[i] = pads.v[i];
        w.end.v[i] = pads.v[w.spatial + i];
    }
    return w;
}

/* Splits the padding of an axis; SAME_UPPER puts the odd one at the end. */
static void split_padding(window *w, int i, int64_t total, bool more_at_end)
{
    w->begin.v[i] = more_at_end ? total / 2 : total - total / 2;
    w->end.v[i] = total - w->begin.v[i];
}

/* SAME: as many outputs as ceil(input / stride). */
static void resolve_same(window *w, const assay_type *x)
{
    for (int i = 0; i < w->spatial; i++) {
        int64_t in = x->dim[2 + i], stride = w->stride.v[i];
        int64_t out = (in + stride - 1) / stride;
        int64_t reach = (w->kernel.v[i] - 1) * w->dilation.v[i] + 1;
        int64_t total = (out - 1) * stride + reach - in;
        split_padding(w, i, total > 0 ? total : 0, w->auto_pad == PAD_SAME_UPPER);
    }
}

static assay_attrs conv_attrs(onnx_node *n, const window *w)
{
    assay_attrs a = {.conv = {.kernel = w->kernel,
                              .stride = w->stride,
                              .dilation = w->dilation,
                              .pad_begin = w->begin,
                              .pad_end = w->end,
                              .output_padding = {.n = w->spatial},
                              .group = onnx_int(n, "group", 1)}};
    if (a.conv.group < 1)
        onnx_fail(n, ASSAY_ERR_INPUT, "attribute 'group' is %lld", (long long)a.conv.group);
    return a;
}

static onnx_value *emit_conv(onnx_node *n, const assay_attrs *a, const char *suffix)
{
    onnx_value *in[3] = {onnx_in(n, 0), onnx_in(n, 1), onnx_in(n, 2)};

    onnx_check_finite(n, in[1]);
    onnx_check_finite(n, in[2]);
    return onnx_op(n, n->row->op, a, in, in[2] ? 3 : 2, suffix);
}

assay_attrs onnx_conv_attrs(onnx_node *n, const assay_type *x, const assay_type *weights)
{
    window w = read_window(n, x, weights);

    if (!n->status && (w.auto_pad == PAD_SAME_UPPER || w.auto_pad == PAD_SAME_LOWER))
        resolve_same(&w, x);
    return conv_attrs(n, &w);
}

onnx_value *onnx_conv(onnx_node *n, const char *suffix)
{
    assay_type x = onnx_type(n, onnx_in(n, 0)), weights = onnx_type(n, onnx_in(n, 1));
    assay_attrs a = onnx_conv_attrs(n, &x, &weights);

    return n->status ? NULL : emit_conv(n, &a, suffix);
}

void onnx_import_conv(onnx_node *n)
{
    onnx_conv(n, NULL);
}

/* output_shape or auto_pad decide the padding: what the full result has too much is cut off. Where
 * the result is smaller than asked for, zeros are added at the end (output_padding). */
static void resolve_transposed(onnx_node *n, window *w, const assay_type *x, assay_attr_conv *a)
{
    assay_list wanted;
    bool given = onnx_ints(n, "output_shape", &wanted);

    if (given && wanted.n == w->spatial + 2) /* old models give the batch and channels too */
        memmove(wanted.v, wanted.v + 2, (size_t)w->spatial * sizeof *wanted.v);
    else if (given && wanted.n != w->spatial)
        onnx_fail(n, ASSAY_ERR_INPUT, "attribute 'output_shape' has %d entries, expected %d",
                  wanted.n, w->spatial);
    if (!given && (w->auto_pad == PAD_EXPLICIT || w->auto_pad == PAD_VALID))
        return;
    for (int i = 0; i < w->spatial && !n->status; i++) {
        int64_t in = x->dim[2 + i], stride = w->stride.v[i];
        int64_t out = given ? wanted.v[i] : in * stride;
        int64_t reach = (w->kernel.v[i] - 1) * w->dilation.v[i] + 1;
        int64_t full = (in - 1) * stride + a->output_padding.v[i] + reach;
        if (out < 1 || out > WINDOW_LIMIT)
            onnx_fail(n, ASSAY_ERR_INPUT, "output extent %lld", (long long)out);
        else if (full >= out)
            split_padding(w, i, full - out, w->auto_pad == PAD_SAME_UPPER);
        else
            a->output_padding.v[i] += out - full;
    }
    a->pad_begin = w->begin;
    a->pad_end = w->end;
}

void onnx_import_conv_transpose(onnx_node *n)
{
    assay_type x = onnx_type(n, onnx_in(n, 0)), weights = onnx_type(n, onnx_in(n, 1));
    window w = read_window(n, &x, &weights);

    if (n->status)
        return;
    assay_attrs a = conv_attrs(n, &w);
    window_list(n, "output_padding", w.spatial, 0, 0, &a.conv.output_padding);
    resolve_transposed(n, &w, &x, &a.conv);
    emit_conv(n, &a, NULL);
}

assay_attrs onnx_pool_attrs(onnx_node *n, const assay_type *x, bool nhwc)
{
    assay_type first = *x; /* channels first */
    window w;

    for (int i = 2; nhwc && i < x->rank; i++)
        first.dim[i] = x->dim[i - 1];
    w = read_window(n, &first, NULL);
    if (!n->status && (w.auto_pad == PAD_SAME_UPPER || w.auto_pad == PAD_SAME_LOWER))
        resolve_same(&w, &first);
    assay_attrs a = {.pool = {.layout = nhwc ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW,
                              .kernel = w.kernel,
                              .stride = w.stride,
                              .dilation = w.dilation,
                              .pad_begin = w.begin,
                              .pad_end = w.end,
                              .ceil_mode = onnx_int(n, "ceil_mode", 0) != 0,
                              .count_include_pad = onnx_int(n, "count_include_pad", 0) != 0}};
    if (w.auto_pad != PAD_EXPLICIT)
        a.pool.ceil_mode = false; /* it applies to explicit pads only */
    return a;
}

void onnx_import_pool(onnx_node *n)
{
    assay_type x = onnx_type(n, onnx_in(n, 0));
    assay_attrs a = onnx_pool_attrs(n, &x, false);

    if (n->row->op == ASSAY_OP_AVG_POOL) {
        onnx_since(n, 7); /* before, it was not said whether padding counts */
        a.pool.columns_first = n->opset < 19;
    }
    onnx_value *y = onnx_op1(n, n->row->op, &a, onnx_in(n, 0), NULL);
    if (onnx_out_used(n, 1))
        onnx_pool_indices(n, &a.pool, y);
}

void onnx_import_global_avg_pool(onnx_node *n)
{
    assay_attrs a = {.layout = {.layout = ASSAY_LAYOUT_NCHW}};
    onnx_op1(n, n->row->op, &a, onnx_in(n, 0), NULL);
}

void onnx_import_global_max_pool(onnx_node *n)
{
    assay_type x = onnx_type(n, onnx_in(n, 0));
    assay_attrs a = {.reduce = {.keepdims = true}};

    if (!n->status && x.rank < 3)
        onnx_fail(n, ASSAY_ERR_INPUT, "input of rank %d has no spatial axis", x.rank);
    for (int i = 2; i < x.rank; i++)
        a.reduce.axes.v[a.reduce.axes.n++] = i;
    onnx_op1(n, n->row->op, &a, onnx_in(n, 0), NULL);
}
