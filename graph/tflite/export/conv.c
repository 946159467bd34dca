/* Nodes that multiply and accumulate, and pools, as operators. */
#include <string.h>

#include "graph/tflite/export/emit.h"

static const assay_type *in_type(const tfl_export *x, const assay_node *n, int i)
{
    return &x->g->value[n->in[i]].type;
}

static const assay_type *out_type(const tfl_export *x, const assay_node *n)
{
    return &x->g->value[n->out[0]].type;
}

static bool any_zero_point(const assay_type *t)
{
    for (size_t i = 0; i < t->q.count; ++i)
        if (t->q.zero_point[i] != 0)
            return true;
    return false;
}

/* What TFLite's kernels take: floats; 8-bit codes under weights of the same kind; 16-bit codes
 * without zero points under int8 weights. */
static bool check_types(tfl_export *x, const assay_node *n)
{
    const assay_type *a = in_type(x, n, 0), *w = in_type(x, n, 1), *y = out_type(x, n);
    char ka[8], kw[8], ky[8];
    bool same = assay_elem_equal(a->elem, y->elem), fits;

    if (a->elem.kind == ASSAY_KIND_F32)
        fits = same && w->elem.kind == ASSAY_KIND_F32;
    else if (a->elem.bits == 16)
        fits = same && a->elem.is_signed && w->elem.is_signed && w->elem.bits <= 8;
    else
        fits = same && a->elem.bits == 8 && w->elem.is_signed == a->elem.is_signed &&
               w->elem.bits <= 8 && assay_is_quantized(y);
    if (!fits) {
        tfl_refuse(x, n, "TFLite has no such op on %s by %s with output %s",
                   assay_elem_print(a->elem, ka), assay_elem_print(w->elem, kw),
                   assay_is_accumulator(y) ? "plain sums" : assay_elem_print(y->elem, ky));
        return false;
    }
    if (a->elem.kind == ASSAY_KIND_F32)
        return true;
    if (a->elem.bits == 16 && (any_zero_point(a) || any_zero_point(y)))
        tfl_refuse(x, n, "16-bit codes with a zero point");
    else if (w->elem.is_signed && any_zero_point(w))
        tfl_refuse(x, n, "signed weights with a zero point");
    else if (!w->elem.is_signed && w->q.granularity != ASSAY_Q_TENSOR)
        tfl_refuse(x, n, "uint8 weights with parameters per channel");
    else
        return true;
    return false;
}

/* The parameters of a bias: those of the products, if they have any. */
static void bias_parameters(tfl_export *x, const assay_node *n, assay_qparams *q)
{
    const assay_type *a = in_type(x, n, 0), *w = in_type(x, n, 1);
    float *scale = tfl_room(x, w->q.count * sizeof *scale + 1);

    *q = w->q;
    q->axis = 0;
    q->zero_point = tfl_room(x, w->q.count * sizeof *q->zero_point + 1);
    q->scale = scale;
    for (size_t c = 0; scale && c < w->q.count; ++c)
        scale[c] = a->q.scale[0] * w->q.scale[c];
}

/* The bias; TFLite compares its scale with that of the products (kernels/kernel_util.cc), so one
 * without parameters gets them. */
static int bias_of(tfl_export *x, const assay_node *n, int i)
{
    const assay_value *b;
    assay_type type;

    if (i >= n->n_in || n->in[i] == ASSAY_NO_VALUE)
        return -1;
    b = &x->g->value[n->in[i]];
    type = b->type;
    if (type.elem.kind == ASSAY_KIND_F32 || type.q.granularity != ASSAY_Q_NONE || !b->data)
        return tfl_add_tensor(x, n->in[i]);
    bias_parameters(x, n, &type.q);
    return tfl_tensor_as(x, n->in[i], &type, b->data);
}

/* Zeros: CONV_2D fails in TensorFlow Lite 2.2, 2.9 and LiteRT where its third operand is missing,
 * as does TFLite Micro's DEPTHWISE_CONV_2D; LiteRT's delegate takes no bias without parameters. */
static int zero_bias(tfl_export *x, const assay_node *n)
{
    const assay_type *a = in_type(x, n, 0), *w = in_type(x, n, 1);
    assay_type type = {.elem = a->elem, .rank = 1, .dim = {w->dim[0]}};

    if (a->elem.kind != ASSAY_KIND_F32) {
        type.elem = assay_int(a->elem.bits == 16 ? 64 : 32, true);
        bias_parameters(x, n, &type.q);
    }
    return tfl_extra(x, n, "bias", &type, tfl_room(x, assay_type_bytes(&type) + 1));
}

/* Which of TFLite's padding schemes gives these windows along one axis: the pads that a scheme
 * implies follow from extents alone. */
static bool is_scheme(int scheme, int64_t in, int64_t out, int64_t reach, int64_t stride,
                      int64_t begin)
{
    int64_t total = (out - 1) * stride + reach - in;

    if (scheme == PADDING_VALID)
        return begin == 0 && in >= reach && out == (in - reach) / stride + 1;
    return out == (in + stride - 1) / stride && begin == (total > 0 ? total / 2 : 0);
}

typedef struct windows {
    int64_t in[2], out[2], reach[2];
    const assay_list *stride, *begin, *end;
} windows;

/* SAME, VALID, or -1 when the input has to be padded before. */
static int scheme_of(const windows *w)
{
    for (int scheme = PADDING_SAME; scheme <= PADDING_VALID; ++scheme)
        if (is_scheme(scheme, w->in[0], w->out[0], w->reach[0], w->stride->v[0], w->begin->v[0]) &&
            is_scheme(scheme, w->in[1], w->out[1], w->reach[1], w->stride->v[1], w->begin->v[1]))
            return scheme;
    return -1;
}

static windows windows_of(const assay_type *from, const assay_type *to, const assay_list *kernel,
                          const assay_list *dilation, const assay_list *stride,
                          const assay_list *begin, const assay_list *end)
{
    windows w = {.stride = stride, .begin = begin, .end = end};
    for (int i = 0; i < 2; ++i) {
        w.in[i] = from->dim[1 + i];
        w.out[i] = to->dim[1 + i];
        w.reach[i] = (kernel->v[i] - 1) * dilation->v[i] + 1;
    }
    return w;
}

/* The padded input, as far as windows reach. `lowest`: by the least value instead of zero. */
static int padded(tfl_export *x, const assay_node *n, const windows *w, bool lowest)
{
    int64_t pads[8] = {0};
    assay_type type = *in_type(x, n, 0), one = type;
    int in[3] = {tfl_add_tensor(x, n->in[0])}, to;

    for (int i = 0; i < 2; ++i) {
        int64_t end = (w->out[i] - 1) * w->stride->v[i] + w->reach[i] - w->in[i] - w->begin->v[i];
        pads[2 + 2 * i] = w->begin->v[i];
        pads[3 + 2 * i] = end > 0 ? end : 0;
        type.dim[1 + i] += pads[2 + 2 * i] + pads[3 + 2 * i];
    }
    in[1] = tfl_numbers(x, n, "pads", pads, 8);
    if (in[1] >= 0) {
        x->tensor[in[1]].type.rank = 2;
        x->tensor[in[1]].type.dim[0] = 4;
        x->tensor[in[1]].type.dim[1] = 2;
    }
    if (lowest) {
        static const float least = -__FLT_MAX__;
        void *data = tfl_room(x, sizeof(int64_t));
        one.rank = 0;
        if (data && one.elem.kind == ASSAY_KIND_F32)
            memcpy(data, &least, sizeof least);
        else if (data)
            assay_elem_set(one.elem, data, 0, assay_elem_min(one.elem));
        in[2] = tfl_extra(x, n, "pad_value", &one, data);
    }
    to = tfl_extra(x, n, "padded", &type, NULL);
    tfl_add_operator(x, lowest ? BUILTIN_PADV2 : BUILTIN_PAD, in, lowest ? 3 : 2, &to, 1);
    return to;
}

/* Of depthwise weights: [O,h,w,1] as [1,h,w,O]. */
static int transposed_weights(tfl_export *x, const assay_node *n)
{
    static const int perm[4] = {3, 1, 2, 0};
    const assay_value *w = &x->g->value[n->in[1]];
    const assay_type type = assay_type_permuted(&w->type, perm);
    void *to;

    if (!w->data) {
        tfl_refuse(x, n, "depthwise weights that are not constant");
        return -1;
    }
    to = tfl_room(x, assay_type_bytes(&type));
    if (to)
        assay_elements_permuted(&w->type, w->data, perm, to);
    return tfl_tensor_as(x, n->in[1], &type, to);
}

static void strides(tfl_export *x, int padding, const assay_list *stride)
{
    tfl_option(x, CONV_PADDING, 1, padding);
    tfl_option(x, CONV_STRIDE_W, 4, (int32_t)stride->v[1]);
    tfl_option(x, CONV_STRIDE_H, 4, (int32_t)stride->v[0]);
}

static bool is_image(tfl_export *x, const assay_node *n, int layout)
{
    if (layout == ASSAY_LAYOUT_NHWC && in_type(x, n, 0)->rank == 4)
        return true;
    tfl_refuse(x, n, "TFLite has it over two spatial dimensions with channels last");
    return false;
}

static void conv(tfl_export *x, const assay_node *n)
{
    const assay_attr_conv *a = &n->attr.conv;
    const assay_type *from = in_type(x, n, 0), *w = in_type(x, n, 1);
    bool depthwise = (a->group > 1 || a->depthwise) && a->group == from->dim[3] && w->dim[3] == 1;
    windows win;
    int in[3], y, padding, fused;

    if (!is_image(x, n, a->layout) || !check_types(x, n))
        return;
    win = windows_of(from, out_type(x, n), &a->kernel, &a->dilation, &a->stride, &a->pad_begin,
                     &a->pad_end);
    padding = scheme_of(&win);
    in[0] = padding < 0 ? padded(x, n, &win, false) : tfl_add_tensor(x, n->in[0]);
    in[1] = depthwise ? transposed_weights(x, n) : tfl_add_tensor(x, n->in[1]);
    in[2] = bias_of(x, n, 2);
    if (in[2] < 0)
        in[2] = zero_bias(x, n);
    y = tfl_begin(x, n, true, &fused);
    tfl_add_operator(x, depthwise ? BUILTIN_DEPTHWISE_CONV_2D : BUILTIN_CONV_2D, in, 3, &y, 1);
    strides(x, padding < 0 ? PADDING_VALID : padding, &a->stride);
    if (depthwise) {
        tfl_option(x, DEPTHWISE_MULTIPLIER, 4, (int32_t)(w->dim[0] / a->group));
        tfl_option(x, DEPTHWISE_ACTIVATION, 1, fused);
        tfl_option(x, DEPTHWISE_DILATION_W, 4, (int32_t)a->dilation.v[1]);
        tfl_option(x, DEPTHWISE_DILATION_H, 4, (int32_t)a->dilation.v[0]);
    } else {
        tfl_option(x, CONV_ACTIVATION, 1, fused);
        tfl_option(x, CONV_DILATION_W, 4, (int32_t)a->dilation.v[1]);
        tfl_option(x, CONV_DILATION_H, 4, (int32_t)a->dilation.v[0]);
    }
    tfl_finish(x, n, y);
}

/* TFLite's pads are those of the convolution that leads back; VALID is none in front, and as many
 * results behind as the shape says. */
static void conv_transpose(tfl_export *x, const assay_node *n)
{
    const assay_attr_conv *a = &n->attr.conv;
    const assay_type *y_type = out_type(x, n);
    windows win;
    int in[4], y, padding, fused;

    if (!is_image(x, n, a->layout) || !check_types(x, n))
        return;
    win = windows_of(y_type, in_type(x, n, 0), &a->kernel, &a->dilation, &a->stride, &a->pad_begin,
                     &a->pad_end);
    padding = a->pad_begin.v[0] == 0 && a->pad_begin.v[1] == 0 ? PADDING_VALID : scheme_of(&win);
    if (padding < 0 || a->group != 1 || a->dilation.v[0] != 1 || a->dilation.v[1] != 1) {
        tfl_refuse(x, n, "groups, dilation, or pads other than TFLite's SAME and VALID");
        return;
    }
    in[0] = tfl_numbers(x, n, "shape", y_type->dim, 4);
    in[1] = tfl_add_tensor(x, n->in[1]);
    in[2] = tfl_add_tensor(x, n->in[0]);
    in[3] = bias_of(x, n, 2);
    y = tfl_begin(x, n, true, &fused);
    tfl_add_operator(x, BUILTIN_TRANSPOSE_CONV, in, in[3] < 0 ? 3 : 4, &y, 1);
    strides(x, padding, &a->stride);
    tfl_option(x, CONV_ACTIVATION, 1, fused);
    if (fused != ACTIVATION_NONE)
        tfl_version(x, 4);
    tfl_finish(x, n, y);
}

static void fc(tfl_export *x, const assay_node *n)
{
    int in[3], y, fused;

    if (!check_types(x, n))
        return;
    in[0] = tfl_add_tensor(x, n->in[0]);
    in[1] = tfl_add_tensor(x, n->in[1]);
    in[2] = bias_of(x, n, 2);
    y = tfl_begin(x, n, true, &fused);
    tfl_add_operator(x, BUILTIN_FULLY_CONNECTED, in, 3, &y, 1);
    tfl_option(x, FC_ACTIVATION, 1, fused);
    tfl_option(x, FC_WEIGHTS_FORMAT, 1, 0);
    tfl_option(x, FC_KEEP_NUM_DIMS, 1, out_type(x, n)->rank != 2);
    tfl_finish(x, n, y);
}

static void matmul(tfl_export *x, const assay_node *n)
{
    const assay_type *a = in_type(x, n, 0), *b = in_type(x, n, 1), *to = out_type(x, n);
    int in[2], y, fused;

    if (a->rank < 2 || b->rank < 2 || !assay_elem_equal(a->elem, b->elem) ||
        !assay_elem_equal(a->elem, to->elem) || b->q.granularity > ASSAY_Q_TENSOR) {
        tfl_refuse(x, n, "a vector, operands of two kinds, or parameters per channel");
        return;
    }
    in[0] = tfl_add_tensor(x, n->in[0]);
    in[1] = tfl_add_tensor(x, n->in[1]);
    y = tfl_begin(x, n, false, &fused);
    tfl_add_operator(x, BUILTIN_BATCH_MATMUL, in, 2, &y, 1);
    tfl_option(x, MATMUL_ADJ_X, 1, n->attr.matmul.transpose_a);
    tfl_option(x, MATMUL_ADJ_Y, 1, n->attr.matmul.transpose_b);
    tfl_finish(x, n, y);
}

static bool same_params(tfl_export *x, const assay_node *n)
{
    if (assay_qparams_equal(&in_type(x, n, 0)->q, &out_type(x, n)->q))
        return true;
    tfl_refuse(x, n, "input and output have different parameters");
    return false;
}

static void pool_operator(tfl_export *x, const assay_node *n, int builtin, int from, int padding,
                          const assay_list *stride, const assay_list *kernel)
{
    int y, fused;

    y = tfl_begin(x, n, true, &fused);
    tfl_add_operator(x, builtin, &from, 1, &y, 1);
    strides(x, padding, stride);
    tfl_option(x, POOL_FILTER_W, 4, (int32_t)kernel->v[1]);
    tfl_option(x, POOL_FILTER_H, 4, (int32_t)kernel->v[0]);
    tfl_option(x, POOL_ACTIVATION, 1, fused);
    tfl_finish(x, n, y);
}

static void pool(tfl_export *x, const assay_node *n)
{
    const assay_attr_pool *a = &n->attr.pool;
    bool max = n->op == ASSAY_OP_MAX_POOL, counts = a->count_include_pad;
    windows win;
    int from, padding;

    if (!is_image(x, n, a->layout) || !same_params(x, n))
        return;
    win = windows_of(in_type(x, n, 0), out_type(x, n), &a->kernel, &a->dilation, &a->stride,
                     &a->pad_begin, &a->pad_end);
    padding = scheme_of(&win);
    if (a->dilation.v[0] != 1 || a->dilation.v[1] != 1) {
        tfl_refuse(x, n, "a dilated pool");
        return;
    }
    if (!max && padding != PADDING_VALID && (counts || padding < 0)) {
        bool inside = true;
        for (int i = 0; i < 2; ++i)
            inside = inside && (win.out[i] - 1) * a->stride.v[i] + win.reach[i] <=
                                   win.in[i] + a->pad_begin.v[i] + a->pad_end.v[i];
        if (!counts || !inside) {
            tfl_refuse(x, n, "averages at the border over fewer cells than TFLite takes");
            return;
        }
        padding = -1;
    }
    from = padding < 0 ? padded(x, n, &win, max) : tfl_add_tensor(x, n->in[0]);
    pool_operator(x, n, max ? BUILTIN_MAX_POOL_2D : BUILTIN_AVERAGE_POOL_2D, from,
                  padding < 0 ? PADDING_VALID : padding, &a->stride, &a->kernel);
}

static void global_pool(tfl_export *x, const assay_node *n)
{
    const assay_type *t = in_type(x, n, 0);
    const assay_list one = {.n = 2, .v = {1, 1}}, all = {.n = 2, .v = {t->dim[1], t->dim[2]}};

    if (is_image(x, n, n->attr.layout.layout) && same_params(x, n))
        pool_operator(x, n, BUILTIN_AVERAGE_POOL_2D, tfl_add_tensor(x, n->in[0]), PADDING_VALID,
                      &one, &all);
}

bool tfl_export_conv(tfl_export *x, const assay_node *n)
{
    switch (n->op) {
    case ASSAY_OP_CONV:
        conv(x, n);
        return true;
    case ASSAY_OP_CONV_TRANSPOSE:
        conv_transpose(x, n);
        return true;
    case ASSAY_OP_FC:
        fc(x, n);
        return true;
    case ASSAY_OP_MATMUL:
        matmul(x, n);
        return true;
    case ASSAY_OP_MAX_POOL:
    case ASSAY_OP_AVG_POOL:
        pool(x, n);
        return true;
    case ASSAY_OP_GLOBAL_AVG_POOL:
        global_pool(x, n);
        return true;
    default:
        return false;
    }
}
