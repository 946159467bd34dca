/* Normalizations, softmax, and Dropout, which does nothing at inference. */
#include <string.h>

#include "graph/onnx/op/op.h"

/* A vector over the channels, shaped to broadcast over N,C,spatial. */
static onnx_value *along_channels(onnx_node *n, onnx_value *v, const assay_type *x,
                                  const char *suffix)
{
    int64_t dim[ASSAY_MAX_RANK] = {1, x->dim[1], 1, 1, 1, 1};

    onnx_check_finite(n, v);
    return onnx_reshaped(n, v, x->rank, dim, suffix);
}

typedef struct moments {
    onnx_value *mean, *variance; /* with axes of extent 1 */
} moments;

/* (x - mean) / sqrt(variance + epsilon), over axes. */
static onnx_value *standardized_over(onnx_node *n, onnx_value *x, const assay_list *axes,
                                     moments *m)
{
    assay_attrs over = {.reduce = {.axes = *axes, .keepdims = true}};
    onnx_value *y, *v;

    m->mean = onnx_op1(n, ASSAY_OP_REDUCE_MEAN, &over, x, "mean");
    y = onnx_op2(n, ASSAY_OP_SUB, NULL, x, m->mean, "centred");
    v = onnx_op1(n, ASSAY_OP_SQUARE, NULL, y, "square");
    m->variance = onnx_op1(n, ASSAY_OP_REDUCE_MEAN, &over, v, "variance");
    v = onnx_op2(n, ASSAY_OP_ADD, NULL, m->variance,
                 onnx_scalar(n, x, (double)onnx_float(n, "epsilon", 1e-5f), "epsilon"), "shifted");
    return onnx_op2(n, ASSAY_OP_MUL, NULL, y, onnx_op1(n, ASSAY_OP_RSQRT, NULL, v, "rsqrt"),
                    "normalized");
}

/* The same over the axes from `axis` to the last. */
static onnx_value *standardized(onnx_node *n, onnx_value *x, int axis)
{
    assay_list axes = {0};
    moments unused;

    for (int i = axis; i < onnx_type(n, x).rank; i++)
        axes.v[axes.n++] = i;
    return standardized_over(n, x, &axes, &unused);
}

/* y * scale + bias, a number per channel each. */
static void scale_channels(onnx_node *n, onnx_value *y, onnx_value *scale, onnx_value *bias,
                           const assay_type *x)
{
    y = onnx_op2(n, ASSAY_OP_MUL, NULL, y, along_channels(n, scale, x, "scale"), "scaled");
    onnx_op2(n, ASSAY_OP_ADD, NULL, y, along_channels(n, bias, x, "bias"), NULL);
}

/* A running value and the batch's, momentum * running + (1 - momentum) * of the batch, as output i.
 */
static void bind_running(onnx_node *n, size_t i, onnx_value *running, onnx_value *batch,
                         int64_t channels)
{
    const float momentum = onnx_float(n, "momentum", 0.9f);

    if (!onnx_out_used(n, i))
        return;
    running = onnx_op2(n, ASSAY_OP_MUL, NULL, running,
                       onnx_scalar(n, running, (double)momentum, "momentum"), "kept");
    batch = onnx_reshaped(n, batch, 1, &channels, "batch");
    batch = onnx_op2(n, ASSAY_OP_MUL, NULL, batch,
                     onnx_scalar(n, batch, 1 - (double)momentum, "rest"), "taken");
    onnx_bind(n, i, onnx_op2(n, ASSAY_OP_ADD, NULL, running, batch, "running"));
}

/* In training form mean and variance are the batch's own. */
static void batch_norm_of_batch(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    const assay_type t = onnx_type(n, x);
    assay_list axes = {.n = 1};
    moments of;

    if (!n->status && t.rank < 2)
        onnx_fail(n, ASSAY_ERR_INPUT, "input of rank %d has no channels", t.rank);
    for (int i = 2; i < t.rank; i++)
        axes.v[axes.n++] = i;
    onnx_value *y = standardized_over(n, x, &axes, &of);
    scale_channels(n, y, onnx_in(n, 1), onnx_in(n, 2), &t);
    bind_running(n, 1, onnx_in(n, 3), of.mean, t.dim[1]);
    bind_running(n, 2, onnx_in(n, 4), of.variance, t.dim[1]);
}

void onnx_import_batch_norm(onnx_node *n)
{
    onnx_value *in[5];
    assay_attrs a = {
        .batch_norm = {.layout = ASSAY_LAYOUT_NCHW, .epsilon = onnx_float(n, "epsilon", 1e-5f)}};

    onnx_since(n, 7);
    if (n->opset >= 14 && onnx_int(n, "training_mode", 0) != 0) {
        batch_norm_of_batch(n);
        return;
    }
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

/* Over the spatial axes. */
void onnx_import_instance_norm(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    assay_type t = onnx_type(n, x);

    if (!n->status && t.rank < 3)
        onnx_fail(n, ASSAY_ERR_INPUT, "input of rank %d has no spatial axis", t.rank);
    scale_channels(n, standardized(n, x, 2), onnx_in(n, 1), onnx_in(n, 2), &t);
}

/* A number per group (before opset 21) as one per channel. */
static onnx_value *by_channel(onnx_node *n, onnx_value *v, int64_t groups, int64_t channels)
{
    const int64_t dim[2] = {groups, 1};
    assay_attrs expand = {.shape = {.shape = {.n = 2, .v = {groups, channels / groups}}}};

    if (n->opset >= 21)
        return v;
    v = onnx_op1(n, ASSAY_OP_EXPAND, &expand, onnx_reshaped(n, v, 2, dim, "groups"), "groups");
    return onnx_reshaped(n, v, 1, &channels, "groups");
}

/* Over the channels of a group and the spatial axes. */
void onnx_import_group_norm(onnx_node *n)
{
    const int64_t groups = onnx_int(n, "num_groups", 0);
    onnx_value *x = onnx_in(n, 0);
    assay_type t = onnx_type(n, x);

    if (!n->status && (t.rank < 2 || groups < 1 || t.dim[1] % groups != 0))
        onnx_fail(n, ASSAY_ERR_INPUT, "%lld groups for an input of rank %d", (long long)groups,
                  t.rank);
    if (n->status)
        return;
    const int64_t dim[3] = {t.dim[0], groups,
                            t.dim[0] > 0 ? onnx_count(&t) / t.dim[0] / groups : 0};
    onnx_value *y = standardized(n, onnx_reshaped(n, x, 3, dim, "groups"), 2);
    y = onnx_reshaped(n, y, t.rank, t.dim, "channels");
    scale_channels(n, y, by_channel(n, onnx_in(n, 1), groups, t.dim[1]),
                   by_channel(n, onnx_in(n, 2), groups, t.dim[1]), &t);
}

/* (x - mean) / (sqrt(mean(x^2) - mean^2) + 1e-9), by default over N and the spatial axes of an
 * image. */
void onnx_import_mean_variance_norm(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *mean, *v;
    const assay_type t = onnx_type(n, x);
    assay_attrs over = {.reduce = {.keepdims = true}};

    if (!onnx_ints(n, "axes", &over.reduce.axes))
        over.reduce.axes = (assay_list){.n = 3, .v = {0, 2, 3}};
    for (int i = 0; i < over.reduce.axes.n; i++)
        over.reduce.axes.v[i] = onnx_axis(n, over.reduce.axes.v[i], t.rank);
    mean = onnx_op1(n, ASSAY_OP_REDUCE_MEAN, &over, x, "mean");
    v = onnx_op1(n, ASSAY_OP_REDUCE_MEAN, &over, onnx_op1(n, ASSAY_OP_SQUARE, NULL, x, "square"),
                 "squares");
    v = onnx_op2(n, ASSAY_OP_SUB, NULL, v, onnx_op1(n, ASSAY_OP_SQUARE, NULL, mean, "square"),
                 "variance");
    v = onnx_op1(n, ASSAY_OP_SQRT, NULL, v, "deviation");
    v = onnx_op2(n, ASSAY_OP_ADD, NULL, v, onnx_scalar(n, x, 1e-9, "epsilon"), "shifted");
    onnx_op2(n, ASSAY_OP_DIV, NULL, onnx_op2(n, ASSAY_OP_SUB, NULL, x, mean, "centred"), v, NULL);
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

/* A constant scale of ones, which changes nothing. */
static bool is_ones(const onnx_value *scale)
{
    const onnx_const *c = scale ? scale->constant : NULL;

    for (int64_t i = 0; c && i < c->count; i++)
        if (onnx_get_real(c, i) != 1)
            return false;
    return c != NULL;
}

void onnx_import_layer_norm(onnx_node *n)
{
    onnx_value *in[3] = {onnx_in(n, 0), onnx_in(n, 1), onnx_in(n, 2)};
    assay_attrs a = {
        .norm = {.axis = onnx_axis(n, onnx_int(n, "axis", -1), onnx_type(n, in[0]).rank),
                 .epsilon = onnx_float(n, "epsilon", 1e-5f)}};

    onnx_check_finite(n, in[1]);
    onnx_check_finite(n, in[2]);
    onnx_op(n, ASSAY_OP_LAYER_NORM, &a, in, in[2] ? 3 : is_ones(in[1]) ? 1 : 2, NULL);
    if (onnx_out_used(n, 1) || onnx_out_used(n, 2))
        layer_norm_statistics(n, in[0], &a.norm);
}

/* x / sqrt(mean(x^2) + epsilon) * scale, over the axes from `axis` to the last; the reciprocal of
 * that root is the node's output `root`, where it has one. */
static onnx_value *rms_normed(onnx_node *n, onnx_value *x, onnx_value *scale, int64_t axis,
                              double epsilon, size_t root, const char *suffix)
{
    assay_type t = onnx_type(n, x);
    assay_attrs over = {.reduce = {.keepdims = true}};
    onnx_value *v;

    for (int64_t i = axis; i < t.rank; i++)
        over.reduce.axes.v[over.reduce.axes.n++] = i;
    onnx_check_finite(n, scale);
    v = onnx_op1(n, ASSAY_OP_SQUARE, NULL, x, "square");
    v = onnx_op1(n, ASSAY_OP_REDUCE_MEAN, &over, v, "mean_square");
    v = onnx_op2(n, ASSAY_OP_ADD, NULL, v, onnx_scalar(n, x, epsilon, "epsilon"), "shifted");
    v = onnx_op1(n, ASSAY_OP_RSQRT, NULL, v, "rsqrt");
    onnx_bind(n, root, v);
    v = onnx_op2(n, ASSAY_OP_MUL, NULL, x, v, "normalized");
    return onnx_op2(n, ASSAY_OP_MUL, NULL, v, scale, suffix);
}

/* RMSNormalization, and ONNX Runtime's SimplifiedLayerNormalization, which also tells the root. */
void onnx_import_rms_norm(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    const int64_t axis = onnx_axis(n, onnx_int(n, "axis", -1), onnx_type(n, x).rank);

    rms_normed(n, x, onnx_in(n, 1), axis, (double)onnx_float(n, "epsilon", 1e-5f), 1, NULL);
}

onnx_value *onnx_normalized(onnx_node *n, onnx_value *x, onnx_value *gamma, onnx_value *beta,
                            bool rms, const char *suffix)
{
    onnx_value *in[3] = {x, gamma, beta};
    const float epsilon = onnx_float(n, "epsilon", 1e-12f);
    assay_attrs a = {.norm = {.axis = onnx_type(n, x).rank - 1, .epsilon = epsilon}};

    if (rms)
        return rms_normed(n, x, gamma, a.norm.axis, (double)epsilon, n->pb->n_output, suffix);
    onnx_check_finite(n, gamma);
    onnx_check_finite(n, beta);
    return onnx_op(n, ASSAY_OP_LAYER_NORM, &a, in, beta ? 3 : 2, suffix);
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
