/* Operators that multiply and accumulate: convolutions, fully connected, batch matmul. */
#include <stdio.h>
#include <string.h>

#include "graph/tflite/op/op.h"

assay_status tfl_real_weights(const tfl_op *o, int x, int w)
{
    tfl_tensor *t = tfl_in(o, w);

    if (tfl_in(o, x)->type.elem.kind != ASSAY_KIND_F32 || t->type.elem.kind != ASSAY_KIND_INT)
        return ASSAY_OK;
    if (!t->data || t->value >= 0 ||
        (t->type.q.granularity == ASSAY_Q_NONE && !tfl_flat_present(t->blockwise)))
        return tfl_unsupported(
            o,
            "hybrid: integer weights under float activations, but not constant or without a scale");
    return tfl_to_real(o->m, t);
}

/* Operators below have these operands: x and weights of 4 dimensions. */
static assay_status check_operands(const tfl_op *o, int x, int w)
{
    if (!tfl_has(o, x) || !tfl_has(o, w))
        return tfl_fail(o, "the input or the weights are missing");
    if (tfl_in(o, x)->type.rank != 4 || tfl_in(o, w)->type.rank != 4 ||
        tfl_out(o, 0)->type.rank != 4)
        return tfl_fail(o, "expected input, weights and output of 4 dimensions");
    return o->op == ASSAY_OP_CONV && tfl_is_hybrid(o, x, w) ? ASSAY_OK : tfl_real_weights(o, x, w);
}

static void set2(assay_list *l, int64_t h, int64_t w)
{
    *l = (assay_list){.n = 2, .v = {h, w}};
}

void tfl_pad_same(int64_t in, int64_t reach, int64_t stride, int64_t *begin, int64_t *end)
{
    int64_t out = stride > 0 ? (in + stride - 1) / stride : 0;
    int64_t total = (out - 1) * stride + reach - in;
    total = total > 0 ? total : 0;
    *begin = total / 2;
    *end = total - total / 2;
}

/* Pads of a window for the padding scheme in slot 0 of the options. */
static assay_status set_pads(const tfl_op *o, const assay_type *x, const assay_list *kernel,
                             const assay_list *stride, const assay_list *dilation,
                             assay_list *begin, assay_list *end)
{
    int8_t padding = tfl_flat_i8(o->options, CONV_PADDING, PADDING_SAME);

    set2(begin, 0, 0);
    set2(end, 0, 0);
    if (padding != PADDING_SAME && padding != PADDING_VALID)
        return tfl_fail(o, "padding scheme %d does not exist", padding);
    for (int i = 0; padding == PADDING_SAME && i < 2; ++i)
        tfl_pad_same(x->dim[1 + i], (kernel->v[i] - 1) * dilation->v[i] + 1, stride->v[i],
                     &begin->v[i], &end->v[i]);
    return ASSAY_OK;
}

static assay_status conv_attributes(const tfl_op *o, const assay_type *x, const assay_type *w,
                                    int dilation_w, int dilation_h, assay_attr_conv *a)
{
    assay_attrs all;
    assay_attrs_defaults(ASSAY_ATTRS_conv, &all);
    *a = all.conv;
    a->layout = ASSAY_LAYOUT_NHWC;
    set2(&a->kernel, w->dim[1], w->dim[2]);
    set2(&a->stride, tfl_flat_i32(o->options, CONV_STRIDE_H, 0),
         tfl_flat_i32(o->options, CONV_STRIDE_W, 0));
    set2(&a->dilation, tfl_flat_i32(o->options, dilation_h, 1),
         tfl_flat_i32(o->options, dilation_w, 1));
    return set_pads(o, x, &a->kernel, &a->stride, &a->dilation, &a->pad_begin, &a->pad_end);
}

/* Of 16-bit activations, the bias decides how wide the accumulator is (micro/kernels/conv.cc).
 * Where there is none, slot `bias_type` of the options does: so a bias of zeros says it in the
 * graph. */
static assay_status implied_bias(const tfl_op *o, int x, int w, int bias_type, int *bias)
{
    const assay_graph *g = o->m->g;

    if (*bias != ASSAY_NO_VALUE || !assay_is_quantized(&g->value[x].type) ||
        g->value[x].type.elem.bits != 16)
        return ASSAY_OK;
    return tfl_zero_bias(o, bias_type == TFL_INT32 ? 32 : 64, g->value[w].type.dim[0], bias);
}

static int bias_type_of(const tfl_op *o, int slot)
{
    return tfl_flat_i8(o->options, slot, 0);
}

assay_status tfl_weighted_node(const tfl_op *o, int x, int w, int bias, int bias_type, int y,
                               const assay_attrs *a, int *id)
{
    int in[3] = {x, w, ASSAY_NO_VALUE};
    const assay_value *v = o->m->g->value;
    assay_status s = tfl_value(o, bias, &in[2]);
    if (!s && v[x].type.elem.kind == ASSAY_KIND_F32 && v[w].type.elem.kind == ASSAY_KIND_INT)
        return tfl_hybrid_node(o, x, w, in[2], y, a, id);
    if (!s)
        s = implied_bias(o, x, w, bias_type, &in[2]);
    return s ? s : tfl_node(o, o->op, in, in[2] == ASSAY_NO_VALUE ? 2 : 3, &y, 1, a, id);
}

assay_status tfl_op_conv(const tfl_op *o)
{
    const assay_type *x, *w;
    assay_attrs a = {0};
    int vx, vw, y, id;
    assay_status s = check_operands(o, 0, 1);

    if (s)
        return s;
    x = &tfl_in(o, 0)->type;
    w = &tfl_in(o, 1)->type;
    if ((s = conv_attributes(o, x, w, CONV_DILATION_W, CONV_DILATION_H, &a.conv)))
        return s;
    if (w->dim[3] < 1 || x->dim[3] % w->dim[3] != 0)
        return tfl_fail(o, "%lld input channels are not divisible by the weights' %lld",
                        (long long)x->dim[3], (long long)w->dim[3]);
    a.conv.group = x->dim[3] / w->dim[3];
    if ((s = tfl_value(o, 0, &vx)) || (s = tfl_value(o, 1, &vw)) || (s = tfl_result(o, 0, &y)) ||
        (s = tfl_weighted_node(o, vx, vw, 2, bias_type_of(o, CONV_BIAS_TYPE), y, &a, &id)))
        return s;
    return tfl_activation_bounds(o, CONV_ACTIVATION, id);
}

/* The filter of output channel c*m + j reads input channel c: a convolution in as many groups as
 * there are input channels. The operator's depth_multiplier repeats what the shapes say. */
assay_status tfl_op_depthwise(const tfl_op *o)
{
    static const assay_list perm = {.n = 4, .v = {3, 1, 2, 0}};
    const assay_type *x;
    tfl_tensor *w;
    assay_attrs a = {0};
    int vx, vw, y, id;
    assay_status s = check_operands(o, 0, 1);

    if (s)
        return s;
    x = &tfl_in(o, 0)->type;
    w = tfl_in(o, 1);
    if (w->type.dim[0] != 1)
        return tfl_fail(o, "the weights' first extent is %lld, expected 1",
                        (long long)w->type.dim[0]);
    if (w->type.q.granularity == ASSAY_Q_AXIS && w->type.q.axis != 3)
        return tfl_fail(o, "the weights are quantized along axis %d, expected 3", w->type.q.axis);
    if ((s = conv_attributes(o, x, &w->type, DEPTHWISE_DILATION_W, DEPTHWISE_DILATION_H, &a.conv)))
        return s;
    a.conv.group = x->dim[3];
    a.conv.depthwise = a.conv.group == 1;
    if ((s = tfl_value(o, 0, &vx)) || (s = tfl_permuted_weights(o, 1, &perm, &vw)) ||
        (s = tfl_result(o, 0, &y)) || (s = tfl_weighted_node(o, vx, vw, 2, TFL_INT64, y, &a, &id)))
        return s;
    return tfl_activation_bounds(o, DEPTHWISE_ACTIVATION, id);
}

void tfl_pad_transposed(int64_t in, int64_t kernel, int64_t out, int i, assay_attr_conv *a)
{
    const int64_t full = (in - 1) * a->stride.v[i] + (kernel - 1) * a->dilation.v[i] + 1;
    const int64_t end = full - a->pad_begin.v[i] - out;

    a->pad_end.v[i] = end > 0 ? end : 0;
    a->output_padding.v[i] = end < 0 ? -end : 0;
}

/* The output's shape is the output tensor's; the input that repeats it may be computed. Pads are
 * those of the convolution that leads from the output back to the input. */
assay_status tfl_op_transpose_conv(const tfl_op *o)
{
    const assay_type *x, *w, *to;
    assay_attrs a = {0};
    int vx, vw, y, id;
    assay_status s = check_operands(o, 2, 1);

    if (s)
        return s;
    x = &tfl_in(o, 2)->type;
    w = &tfl_in(o, 1)->type;
    to = &tfl_out(o, 0)->type;
    assay_attrs_defaults(ASSAY_ATTRS_conv, &a);
    a.conv.layout = ASSAY_LAYOUT_NHWC;
    set2(&a.conv.kernel, w->dim[1], w->dim[2]);
    set2(&a.conv.stride, tfl_flat_i32(o->options, CONV_STRIDE_H, 0),
         tfl_flat_i32(o->options, CONV_STRIDE_W, 0));
    set2(&a.conv.dilation, 1, 1);
    if ((s = set_pads(o, to, &a.conv.kernel, &a.conv.stride, &a.conv.dilation, &a.conv.pad_begin,
                      &a.conv.pad_end)))
        return s;
    set2(&a.conv.output_padding, 0, 0);
    for (int i = 0; i < 2; ++i)
        tfl_pad_transposed(x->dim[1 + i], w->dim[1 + i], to->dim[1 + i], i, &a.conv);
    if ((s = tfl_value(o, 2, &vx)) || (s = tfl_value(o, 1, &vw)) || (s = tfl_result(o, 0, &y)) ||
        (s = tfl_weighted_node(o, vx, vw, 3, bias_type_of(o, TRANSPOSE_CONV_BIAS_TYPE), y, &a,
                               &id)))
        return s;
    return tfl_activation_bounds(o, CONV_ACTIVATION, id);
}

/* Input of any shape is rows of K, K the weights' last extent; the output tensor's shape says
 * whether the leading dimensions stay. */
assay_status tfl_op_fully_connected(const tfl_op *o)
{
    const tfl_tensor *x, *w, *out;
    assay_type rows, result;
    int64_t depth, count;
    int vx, vw, y, flat, id;
    bool direct;
    assay_status s;

    if (!tfl_has(o, 0) || !tfl_has(o, 1))
        return tfl_fail(o, "the input or the weights are missing");
    if (tfl_flat_i8(o->options, FC_WEIGHTS_FORMAT, 0) != 0)
        return tfl_unsupported(o, "shuffled weights");
    if (!tfl_is_hybrid(o, 0, 1) && (s = tfl_real_weights(o, 0, 1)))
        return s;
    x = tfl_in(o, 0);
    w = tfl_in(o, 1);
    out = tfl_out(o, 0);
    depth = w->type.rank == 2 ? w->type.dim[1] : 0;
    count = assay_shape_count(&x->type);
    if (depth < 1 || count % depth != 0)
        return tfl_fail(o, "the input's %lld elements are not rows of the weights' %lld",
                        (long long)count, (long long)depth);
    result = out->type;
    result.rank = x->type.rank;
    memcpy(result.dim, x->type.dim, sizeof result.dim);
    direct = x->type.rank > 0 && x->type.dim[x->type.rank - 1] == depth;
    if (direct) {
        result.dim[result.rank - 1] = w->type.dim[0];
        direct = assay_shape_equal(&result, &out->type) || x->type.rank == 2;
    }
    if ((s = tfl_value(o, 0, &vx)) || (s = tfl_value(o, 1, &vw)) || (s = tfl_result(o, 0, &y)))
        return s;
    if (!direct) {
        rows = x->type;
        rows.rank = 2;
        rows.dim[0] = count / depth;
        rows.dim[1] = depth;
        result.rank = 2;
        result.dim[0] = rows.dim[0];
        result.dim[1] = w->type.dim[0];
        if ((s = tfl_part(o, "rows", &rows, &flat)) || (s = tfl_reshape(o, vx, flat)))
            return s;
        vx = flat;
    }
    flat = y;
    if (!assay_shape_equal(&result, &out->type) && (s = tfl_part(o, "flat", &result, &flat)))
        return s;
    if ((s = tfl_weighted_node(o, vx, vw, 2, bias_type_of(o, FC_BIAS_TYPE), flat, NULL, &id)) ||
        (s = tfl_activation_bounds(o, FC_ACTIVATION, id)))
        return s;
    return flat == y ? ASSAY_OK : tfl_reshape(o, flat, y);
}

assay_status tfl_op_batch_matmul(const tfl_op *o)
{
    assay_attrs a = {.matmul = {.transpose_a = tfl_flat_bool(o->options, MATMUL_ADJ_X),
                                .transpose_b = tfl_flat_bool(o->options, MATMUL_ADJ_Y)}};
    if (o->n_in != 2 || o->in[0] < 0 || o->in[1] < 0)
        return tfl_fail(o, "expected two inputs");
    assay_status s = tfl_real_weights(o, 0, 1);
    return s ? s : tfl_straight(o, &a, NULL);
}

static assay_status read_pool(const tfl_op *o, assay_attrs *a)
{
    if (!tfl_has(o, 0) || tfl_in(o, 0)->type.rank != 4)
        return tfl_fail(o, "expected an input of 4 dimensions");
    assay_attrs_defaults(ASSAY_ATTRS_pool, a);
    a->pool.layout = ASSAY_LAYOUT_NHWC;
    set2(&a->pool.kernel, tfl_flat_i32(o->options, POOL_FILTER_H, 0),
         tfl_flat_i32(o->options, POOL_FILTER_W, 0));
    set2(&a->pool.stride, tfl_flat_i32(o->options, CONV_STRIDE_H, 0),
         tfl_flat_i32(o->options, CONV_STRIDE_W, 0));
    set2(&a->pool.dilation, 1, 1);
    return set_pads(o, &tfl_in(o, 0)->type, &a->pool.kernel, &a->pool.stride, &a->pool.dilation,
                    &a->pool.pad_begin, &a->pool.pad_end);
}

assay_status tfl_op_pool(const tfl_op *o)
{
    assay_attrs a;
    int id;
    assay_status s = read_pool(o, &a);

    if (s || (s = tfl_straight(o, &a, &id)))
        return s;
    return tfl_activation_bounds(o, POOL_ACTIVATION, id);
}

/* The root of the mean of squares; TFLite has it for floats only (kernels/pooling.cc). */
assay_status tfl_op_l2_pool(const tfl_op *o)
{
    assay_attrs a;
    int x, y, squared, mean, id;
    assay_status s = read_pool(o, &a);

    if (s)
        return s;
    if (tfl_in(o, 0)->type.elem.kind != ASSAY_KIND_F32)
        return tfl_unsupported(o, "on elements other than floats");
    if ((s = tfl_value(o, 0, &x)) || (s = tfl_result(o, 0, &y)) ||
        (s = tfl_part(o, "squared", &tfl_in(o, 0)->type, &squared)) ||
        (s = tfl_part(o, "mean", &tfl_out(o, 0)->type, &mean)) ||
        (s = tfl_node(o, ASSAY_OP_SQUARE, &x, 1, &squared, 1, NULL, NULL)) ||
        (s = tfl_node(o, ASSAY_OP_AVG_POOL, &squared, 1, &mean, 1, &a, NULL)) ||
        (s = tfl_node(o, ASSAY_OP_SQRT, &mean, 1, &y, 1, NULL, &id)))
        return s;
    return tfl_activation_bounds(o, POOL_ACTIVATION, id);
}
