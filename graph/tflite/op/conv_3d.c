/* Convolutions of three spatial axes, which TFLite has for floats only: CONV_3D, CONV_3D_TRANSPOSE
 * (kernels/conv3d.cc, conv3d_transpose.cc). */
#include "graph/tflite/op/op.h"

#define AXES 3

static assay_status check_operands(const tfl_op *o, int x, int w)
{
    if (!tfl_has(o, x) || !tfl_has(o, w))
        return tfl_fail(o, "the input or the weights are missing");
    if (tfl_in(o, x)->type.rank != AXES + 2 || tfl_in(o, w)->type.rank != AXES + 2 ||
        tfl_out(o, 0)->type.rank != AXES + 2)
        return tfl_fail(o, "expected input, weights and output of 5 dimensions");
    if (tfl_in(o, x)->type.elem.kind != ASSAY_KIND_F32 ||
        tfl_in(o, w)->type.elem.kind != ASSAY_KIND_F32)
        return tfl_unsupported(o, "on elements other than floats");
    return ASSAY_OK;
}

/* `wide` is the tensor over which the window moves; w: the weights' type, whose first axes the
 * window has. */
static assay_status read_window(const tfl_op *o, const assay_type *wide, const assay_type *w,
                                assay_attr_conv *a)
{
    static const int stride[AXES] = {CONV_3D_STRIDE_D, CONV_3D_STRIDE_H, CONV_3D_STRIDE_W};
    static const int dilation[AXES] = {CONV_3D_DILATION_D, CONV_3D_DILATION_H, CONV_3D_DILATION_W};
    const int8_t padding = tfl_flat_i8(o->options, CONV_PADDING, PADDING_SAME);
    assay_attrs all;

    assay_attrs_defaults(ASSAY_ATTRS_conv, &all);
    *a = all.conv;
    a->layout = ASSAY_LAYOUT_NHWC;
    a->kernel.n = a->stride.n = a->dilation.n = a->pad_begin.n = a->pad_end.n = AXES;
    if (padding != PADDING_SAME && padding != PADDING_VALID)
        return tfl_fail(o, "padding scheme %d does not exist", padding);
    for (int i = 0; i < AXES; ++i) {
        a->kernel.v[i] = w->dim[i];
        a->stride.v[i] = tfl_flat_i32(o->options, stride[i], 0);
        a->dilation.v[i] = tfl_flat_i32(o->options, dilation[i], 1);
        if (padding == PADDING_SAME)
            tfl_pad_same(wide->dim[1 + i], (w->dim[i] - 1) * a->dilation.v[i] + 1, a->stride.v[i],
                         &a->pad_begin.v[i], &a->pad_end.v[i]);
    }
    return ASSAY_OK;
}

/* The node on input `x` and the weights in input 1, whose axes are put into our order, and the bias
 * in input `bias`. */
static assay_status convolve(const tfl_op *o, int x, int bias, const assay_list *perm,
                             const assay_attrs *a)
{
    int vx, vw, y, id;
    assay_status s;

    if ((s = tfl_value(o, x, &vx)) || (s = tfl_permuted_weights(o, 1, perm, &vw)) ||
        (s = tfl_result(o, 0, &y)) ||
        (s = tfl_weighted_node(o, vx, vw, bias, TFL_FLOAT32, y, a, &id)))
        return s;
    return tfl_activation_bounds(o, CONV_3D_ACTIVATION, id);
}

/* Weights are [d,h,w,I,O]. */
assay_status tfl_op_conv_3d(const tfl_op *o)
{
    static const assay_list perm = {.n = AXES + 2, .v = {4, 0, 1, 2, 3}};
    assay_attrs a = {0};
    assay_status s = check_operands(o, 0, 1);

    if (s || (s = read_window(o, &tfl_in(o, 0)->type, &tfl_in(o, 1)->type, &a.conv)))
        return s;
    const int64_t channels = tfl_in(o, 0)->type.dim[4], each = tfl_in(o, 1)->type.dim[3];
    if (each < 1 || channels % each != 0)
        return tfl_fail(o, "%lld input channels are not divisible by the weights' %lld",
                        (long long)channels, (long long)each);
    a.conv.group = channels / each;
    return convolve(o, 0, 2, &perm, &a);
}

/* output shape, weights [d,h,w,O,I], x, bias. */
assay_status tfl_op_conv_3d_transpose(const tfl_op *o)
{
    static const assay_list perm = {.n = AXES + 2, .v = {3, 0, 1, 2, 4}};
    assay_attrs a = {0};
    assay_status s = check_operands(o, 2, 1);

    if (s)
        return s;
    const assay_type *x = &tfl_in(o, 2)->type, *w = &tfl_in(o, 1)->type, *to = &tfl_out(o, 0)->type;
    if ((s = read_window(o, to, w, &a.conv)))
        return s;
    a.conv.output_padding.n = AXES;
    for (int i = 0; i < AXES; ++i)
        tfl_pad_transposed(x->dim[1 + i], w->dim[i], to->dim[1 + i], i, &a.conv);
    return convolve(o, 2, 3, &perm, &a);
}
