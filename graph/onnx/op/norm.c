/* Normalizations, softmax, and Dropout, which does nothing at inference. */
#include <string.h>

#include "graph/onnx/op/op.h"

void onnx_import_batch_norm(onnx_node *n)
{
    onnx_value *in[5];
    assay_attrs a = {
        .batch_norm = {.layout = ASSAY_LAYOUT_NCHW, .epsilon = onnx_float(n, "epsilon", 1e-5f)}};

    onnx_since(n, 7);
    if (onnx_int(n, "training_mode", 0) != 0)
        onnx_refuse(n, "attribute 'training_mode' is 1");
    if (onnx_int(n, "spatial", 1) != 1)
        onnx_refuse(n, "attribute 'spatial' is 0");
    for (size_t i = 1; i < n->pb->n_output; i++)
        if (onnx_out_used(n, i))
            onnx_refuse(n, "output %zu, which only training has", i);
    for (size_t i = 0; i < 5; i++) {
        in[i] = onnx_in(n, i);
        onnx_check_finite(n, in[i]);
    }
    onnx_op(n, ASSAY_OP_BATCH_NORM, &a, in, 5, NULL);
}

/* A vector over the channels, shaped to broadcast over N,C,spatial. */
static onnx_value *along_channels(onnx_node *n, onnx_value *v, const assay_type *x,
                                  const char *suffix)
{
    int64_t dim[ASSAY_MAX_RANK] = {1, x->dim[1], 1, 1, 1, 1};

    onnx_check_finite(n, v);
    return onnx_reshaped(n, v, x->rank, dim, suffix);
}

/* (x - mean) / sqrt(variance + epsilon) * scale + bias, over the spatial axes. */
void onnx_import_instance_norm(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    assay_type t = onnx_type(n, x);
    assay_attrs over = {.reduce = {.keepdims = true}};
    onnx_value *y, *v;

    if (!n->status && t.rank < 3)
        onnx_fail(n, ASSAY_ERR_INPUT, "input of rank %d has no spatial axis", t.rank);
    for (int i = 2; i < t.rank; i++)
        over.reduce.axes.v[over.reduce.axes.n++] = i;
    y = onnx_op2(n, ASSAY_OP_SUB, NULL, x, onnx_op1(n, ASSAY_OP_REDUCE_MEAN, &over, x, "mean"),
                 "centred");
    v = onnx_op1(n, ASSAY_OP_SQUARE, NULL, y, "square");
    v = onnx_op1(n, ASSAY_OP_REDUCE_MEAN, &over, v, "variance");
    v = onnx_op2(n, ASSAY_OP_ADD, NULL, v,
                 onnx_scalar(n, x, (double)onnx_float(n, "epsilon", 1e-5f), "epsilon"), "shifted");
    y = onnx_op2(n, ASSAY_OP_MUL, NULL, y, onnx_op1(n, ASSAY_OP_RSQRT, NULL, v, "rsqrt"),
                 "normalized");
    y = onnx_op2(n, ASSAY_OP_MUL, NULL, y, along_channels(n, onnx_in(n, 1), &t, "scale"), "scaled");
    onnx_op2(n, ASSAY_OP_ADD, NULL, y, along_channels(n, onnx_in(n, 2), &t, "bias"), NULL);
}

/* Outputs Mean and InvStdDev, which hardly any network uses. */
static void layer_norm_statistics(onnx_node *n, onnx_value *x, const assay_attr_norm *a)
{
    assay_attrs over = {.reduce = {.keepdims = true}};
    onnx_value *mean, *v;

    for (int64_t i = a->axis; i < onnx_type(n, x).rank; i++)
        over.reduce.axes.v[over.reduce.axes.n++] = i;
    mean = onnx_op1(n, ASSAY_OP_REDUCE_MEAN, &over, x, "mean");
    v = onnx_op2(n, ASSAY_OP_SQUARED_DIFFERENCE, NULL, x, mean, "squares");
    v = onnx_op1(n, ASSAY_OP_REDUCE_MEAN, &over, v, "variance");
    v = onnx_op2(n, ASSAY_OP_ADD, NULL, v, onnx_scalar(n, x, (double)a->epsilon, "epsilon"),
                 "shifted");
    onnx_bind(n, 1, mean);
    onnx_bind(n, 2, onnx_op1(n, ASSAY_OP_RSQRT, NULL, v, "rsqrt"));
}

void onnx_import_layer_norm(onnx_node *n)
{
    onnx_value *in[3] = {onnx_in(n, 0), onnx_in(n, 1), onnx_in(n, 2)};
    assay_attrs a = {
        .norm = {.axis = onnx_axis(n, onnx_int(n, "axis", -1), onnx_type(n, in[0]).rank),
                 .epsilon = onnx_float(n, "epsilon", 1e-5f)}};

    onnx_check_finite(n, in[1]);
    onnx_check_finite(n, in[2]);
    onnx_op(n, ASSAY_OP_LAYER_NORM, &a, in, in[2] ? 3 : 2, NULL);
    if (onnx_out_used(n, 1) || onnx_out_used(n, 2))
        layer_norm_statistics(n, in[0], &a.norm);
}

/* x / sqrt(mean(x^2) + epsilon) * scale, over the axes from `axis` to the last. */
void onnx_import_rms_norm(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *v;
    assay_type t = onnx_type(n, x);
    assay_attrs over = {.reduce = {.keepdims = true}};

    for (int64_t i = onnx_axis(n, onnx_int(n, "axis", -1), t.rank); i < t.rank; i++)
        over.reduce.axes.v[over.reduce.axes.n++] = i;
    onnx_check_finite(n, onnx_in(n, 1));
    v = onnx_op1(n, ASSAY_OP_SQUARE, NULL, x, "square");
    v = onnx_op1(n, ASSAY_OP_REDUCE_MEAN, &over, v, "mean_square");
    v = onnx_op2(n, ASSAY_OP_ADD, NULL, v,
                 onnx_scalar(n, x, (double)onnx_float(n, "epsilon", 1e-5f), "epsilon"), "shifted");
    v = onnx_op2(n, ASSAY_OP_MUL, NULL, x, onnx_op1(n, ASSAY_OP_RSQRT, NULL, v, "rsqrt"),
                 "normalized");
    onnx_op2(n, ASSAY_OP_MUL, NULL, v, onnx_in(n, 1), NULL);
}

void onnx_import_lrn(onnx_node *n)
{
    assay_attrs a = {.lrn = {.layout = ASSAY_LAYOUT_NCHW,
                             .size = onnx_int(n, "size", 0),
                             .alpha = onnx_float(n, "alpha", 1e-4f),
                             .beta = onnx_float(n, "beta", 0.75f),
                             .bias = onnx_float(n, "bias", 1)}};

    if (a.lrn.size < 1)
        onnx_fail(n, ASSAY_ERR_INPUT, "attribute 'size' is missing or below 1");
    onnx_op1(n, ASSAY_OP_LRN, &a, onnx_in(n, 0), NULL);
}

/* Before opset 13 the axes from `axis` on (default 1) are one row together; since then softmax
 * works along one axis (default the last). */
void onnx_import_softmax(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    assay_type t = onnx_type(n, x);
    int64_t axis = onnx_axis(n, onnx_int(n, "axis", n->opset < 13 ? 1 : -1), t.rank);
    assay_attrs a = {.softmax = {.axis = axis, .beta = 1}};
    int64_t flat[2] = {1, 1};

    for (int i = 0; i < t.rank; i++)
        flat[i >= axis] *= t.dim[i];
    if (n->status || n->opset >= 13 || flat[1] == t.dim[axis]) {
        onnx_op1(n, n->row->op, &a, x, NULL);
        return;
    }
    a.softmax.axis = 1;
    x = onnx_reshaped(n, x, 2, flat, "rows");
    x = onnx_op1(n, n->row->op, &a, x, "softmax");
    onnx_reshaped(n, x, t.rank, t.dim, NULL);
}

/* A ratio of 0, with which an exporter writes a model in training mode? */
static bool drops_nothing(const onnx_value *ratio)
{
    return ratio && ratio->constant && ratio->constant->count == 1 &&
           onnx_get_real(ratio->constant, 0) == 0;
}

/* Identity at inference; the mask, when something uses it, is all true. */
void onnx_import_dropout(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *ratio = onnx_in(n, 1), *mode = onnx_in(n, 2);
    assay_type t = onnx_type(n, x);

    onnx_since(n, 7);
    if (mode && (!mode->constant || onnx_get_int(mode->constant, 0) != 0) && !drops_nothing(ratio))
        onnx_refuse(n, "training mode");
    if (onnx_out_used(n, 1)) {
        onnx_const *mask = onnx_new_const(n->im, ONNX_BOOL, t.rank, t.dim);
        if (n->opset < 10)
            onnx_refuse(n, "output mask before opset 10");
        for (int64_t i = 0; mask && i < mask->count; i++)
            onnx_set_int(mask, i, 1);
        onnx_bind(n, 1, onnx_constant(n, mask, "mask"));
    }
    onnx_bind(n, 0, x);
}
