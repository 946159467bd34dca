/* Element-wise operators, rows, reductions and conversions. */
#include <math.h>
#include <string.h>

#include "graph/tflite/op/op.h"

/* Builtin codes (ops.def) that share a function but differ. */
enum { CODE_RELU_N1_TO_1 = 20, CODE_RELU6 = 21, CODE_SELECT_V2 = 123 };

static assay_status expect_inputs(const tfl_op *o, int n)
{
    if (o->n_in != n || o->n_out != 1)
        return tfl_fail(o, "%d inputs and %d outputs, expected %d and 1", o->n_in, o->n_out, n);
    for (int i = 0; i < n; ++i)
        if (o->in[i] < 0)
            return tfl_fail(o, "input %d is missing", i);
    return ASSAY_OK;
}

assay_status tfl_op_unary(const tfl_op *o)
{
    assay_status s = expect_inputs(o, 1);
    return s ? s : tfl_straight(o, NULL, NULL);
}

/* MAXIMUM, MINIMUM and SELECT look at codes raw and give some of them, whatever their parameters
 * are (reference/maximum_minimum.h, select.h; the first two measured with TFLite 2.2, 2.9 and
 * LiteRT 2.5.3): to us operand i is codes of the result. */
static assay_status raw(const tfl_op *o, int i, int *to)
{
    const assay_type *out = &tfl_out(o, 0)->type;
    int from;
    assay_status s = tfl_value(o, i, &from);

    *to = from;
    if (s)
        return s;
    assay_type type = o->m->g->value[from].type;
    if (!assay_is_quantized(&type) || !assay_elem_equal(type.elem, out->elem) ||
        assay_qparams_equal(&type.q, &out->q))
        return ASSAY_OK;
    type.q = out->q;
    s = tfl_part(o, "raw", &type, to);
    return s ? s : tfl_node(o, ASSAY_OP_RELABEL, &from, 1, to, 1, NULL, NULL);
}

static assay_status greatest(const tfl_op *o)
{
    int in[2], y;
    assay_status s = tfl_result(o, 0, &y);

    for (int i = 0; !s && i < 2; ++i)
        s = raw(o, i, &in[i]);
    return s ? s : tfl_node(o, o->op, in, 2, &y, 1, NULL, NULL);
}

/* Slot 0 of the options of ADD, SUB, MUL and DIV is the fused activation; others have none. ADD of
 * plain integers does not look at it (TFLM, add.cc). */
assay_status tfl_op_binary(const tfl_op *o)
{
    bool fused = o->op == ASSAY_OP_ADD || o->op == ASSAY_OP_SUB || o->op == ASSAY_OP_MUL ||
                 o->op == ASSAY_OP_DIV;
    int id;
    assay_status s = expect_inputs(o, 2);
    if (!s && o->op == ASSAY_OP_ADD && tfl_out(o, 0)->type.elem.kind == ASSAY_KIND_INT &&
        !assay_is_quantized(&tfl_out(o, 0)->type))
        fused = false;
    if (!s && (o->op == ASSAY_OP_MIN || o->op == ASSAY_OP_MAX))
        return greatest(o);
    if (!s)
        s = tfl_straight(o, NULL, &id);
    return s || !fused ? s : tfl_activation_bounds(o, 0, id);
}

/* x is spread to the output's shape where the slope is larger than it. */
assay_status tfl_op_prelu(const tfl_op *o)
{
    assay_attrs a = {0};
    assay_type wide;
    int in[2], y, spread;
    assay_status s = expect_inputs(o, 2);

    if (s)
        return s;
    wide = tfl_in(o, 0)->type;
    if (assay_shape_equal(&wide, &tfl_out(o, 0)->type))
        return tfl_straight(o, NULL, NULL);
    wide.rank = a.shape.shape.n = tfl_out(o, 0)->type.rank;
    memcpy(wide.dim, tfl_out(o, 0)->type.dim, sizeof wide.dim);
    memcpy(a.shape.shape.v, wide.dim, sizeof wide.dim);
    if ((s = tfl_value(o, 0, &in[0])) || (s = tfl_value(o, 1, &in[1])) ||
        (s = tfl_result(o, 0, &y)) || (s = tfl_part(o, "spread", &wide, &spread)) ||
        (s = tfl_node(o, ASSAY_OP_EXPAND, in, 1, &spread, 1, &a, NULL)))
        return s;
    in[0] = spread;
    return tfl_node(o, ASSAY_OP_PRELU, in, 2, &y, 1, NULL, NULL);
}

assay_status tfl_op_add_n(const tfl_op *o)
{
    assay_status s =
        o->n_in < 1 || o->n_out != 1
            ? tfl_fail(o, "%d inputs and %d outputs, expected at least 1 and exactly 1", o->n_in,
                       o->n_out)
            : ASSAY_OK;
    return s ? s : tfl_straight(o, NULL, NULL);
}

assay_status tfl_op_relu_range(const tfl_op *o)
{
    assay_attrs a = {.clip = {.lo = o->builtin == CODE_RELU_N1_TO_1 ? -1.0F : 0.0F,
                              .hi = o->builtin == CODE_RELU6 ? 6.0F : 1.0F}};
    assay_status s = expect_inputs(o, 1);
    return s ? s : tfl_straight(o, &a, NULL);
}

assay_status tfl_op_leaky_relu(const tfl_op *o)
{
    assay_attrs a = {.alpha.alpha = tfl_flat_f32(o->options, 0, 0)};
    assay_status s = expect_inputs(o, 1);
    return s ? s : tfl_straight(o, &a, NULL);
}

assay_status tfl_op_elu(const tfl_op *o)
{
    assay_attrs a = {.alpha.alpha = 1};
    assay_status s = expect_inputs(o, 1);
    return s ? s : tfl_straight(o, &a, NULL);
}

assay_status tfl_op_gelu(const tfl_op *o)
{
    assay_attrs a = {.gelu.approximate =
                         tfl_flat_bool(o->options, 0) ? ASSAY_GELU_TANH : ASSAY_GELU_NONE};
    assay_status s = expect_inputs(o, 1);
    return s ? s : tfl_straight(o, &a, NULL);
}

assay_status tfl_op_softmax(const tfl_op *o)
{
    bool log = o->op == ASSAY_OP_LOG_SOFTMAX;
    assay_attrs a = {.softmax = {.axis = -1, .beta = log ? 1 : tfl_flat_f32(o->options, 0, 0)}};
    assay_status s = expect_inputs(o, 1);
    return s ? s : tfl_straight(o, &a, NULL);
}

/* Float: x / max(sqrt(sum of squares), 1e-6) (reference/l2normalization.h). */
assay_status tfl_op_l2_norm(const tfl_op *o)
{
    assay_attrs a = {.norm = {.axis = -1, .epsilon = 1e-6F}};
    int id;
    assay_status s = expect_inputs(o, 1);
    if (!s)
        s = tfl_straight(o, &a, &id);
    return s ? s : tfl_activation_bounds(o, 0, id);
}

/* TFLite's alpha is per element of the window, ONNX' and ours for the whole. */
assay_status tfl_op_lrn(const tfl_op *o)
{
    int32_t radius = tfl_flat_i32(o->options, LRN_RADIUS, 0);
    int64_t size = 2 * (int64_t)radius + 1;
    assay_attrs a = {.lrn = {.layout = ASSAY_LAYOUT_NHWC,
                             .size = size,
                             .alpha = tfl_flat_f32(o->options, LRN_ALPHA, 0) * (float)size,
                             .beta = tfl_flat_f32(o->options, LRN_BETA, 0),
                             .bias = tfl_flat_f32(o->options, LRN_BIAS, 0)}};
    assay_status s = expect_inputs(o, 1);
    return s ? s : tfl_straight(o, &a, NULL);
}

/* A node on input 0 only; other inputs were attributes. */
static assay_status first_input(const tfl_op *o, const assay_attrs *a)
{
    tfl_op one = *o;
    one.n_in = 1;
    return tfl_straight(&one, a, NULL);
}

assay_status tfl_op_reduce(const tfl_op *o)
{
    assay_attrs a = {.reduce.keepdims = tfl_flat_bool(o->options, 0)};
    assay_status s = expect_inputs(o, 2);
    if (!s)
        s = tfl_axes(o, 1, tfl_in(o, 0)->type.rank, &a.reduce.axes);
    if (!s && a.reduce.axes.n == 0)
        s = tfl_unsupported(o, "over no axes");
    return s ? s : first_input(o, &a);
}

assay_status tfl_op_arg(const tfl_op *o)
{
    assay_attrs a;
    assay_status s = expect_inputs(o, 2);
    assay_attrs_defaults(ASSAY_ATTRS_arg, &a);
    a.arg.keepdims = false;
    a.arg.index_bits = s ? 0 : tfl_out(o, 0)->type.elem.bits;
    if (!s)
        s = tfl_int(o, 1, &a.arg.axis);
    return s ? s : first_input(o, &a);
}

assay_status tfl_op_topk(const tfl_op *o)
{
    assay_attrs a;
    assay_status s;
    if (o->n_in != 2 || o->n_out != 2 || o->in[0] < 0)
        return tfl_fail(o, "expected two inputs and two outputs");
    assay_attrs_defaults(ASSAY_ATTRS_topk, &a);
    a.topk.index_bits = tfl_out(o, 1)->type.elem.bits;
    s = tfl_int(o, 1, &a.topk.k);
    return s ? s : first_input(o, &a);
}

assay_status tfl_op_cumsum(const tfl_op *o)
{
    assay_attrs a = {.cumsum = {.exclusive = tfl_flat_bool(o->options, CUMSUM_EXCLUSIVE),
                                .reverse = tfl_flat_bool(o->options, CUMSUM_REVERSE)}};
    assay_status s = expect_inputs(o, 2);
    if (!s)
        s = tfl_int(o, 1, &a.cumsum.axis);
    return s ? s : first_input(o, &a);
}

/* From floats, or from codes of one scale to codes of another. */
assay_status tfl_op_quantize(const tfl_op *o)
{
    tfl_op same = *o;
    assay_status s = expect_inputs(o, 1);
    if (!s && tfl_in(o, 0)->type.elem.kind == ASSAY_KIND_INT)
        same.op = ASSAY_OP_RESCALE;
    return s ? s : tfl_straight(&same, NULL, NULL);
}

/* Both tensors are one value. */
static assay_status same_value(const tfl_op *o)
{
    if (tfl_out(o, 0)->value >= 0)
        return tfl_fail(o, "its output exists already");
    if (!assay_shape_equal(&tfl_in(o, 0)->type, &tfl_out(o, 0)->type))
        return tfl_fail(o, "its output's shape differs from its input's");
    if (!assay_type_equal(&tfl_in(o, 0)->type, &tfl_out(o, 0)->type))
        return tfl_fail(o, "its output has another type than its input");
    return tfl_value(o, 0, &tfl_out(o, 0)->value);
}

/* Of a float16 constant: its values were widened when read. */
assay_status tfl_op_dequantize(const tfl_op *o)
{
    assay_status s = expect_inputs(o, 1);
    if (s || tfl_in(o, 0)->type.elem.kind != ASSAY_KIND_F32)
        return s ? s : tfl_straight(o, NULL, NULL);
    return same_value(o);
}

/* Of a sparse constant: its zeros were put in when it was read. */
assay_status tfl_op_densify(const tfl_op *o)
{
    assay_status s = expect_inputs(o, 1);
    return s ? s : same_value(o);
}

assay_status tfl_op_cast(const tfl_op *o)
{
    assay_attrs a = {0};
    assay_status s = expect_inputs(o, 1);
    if (s)
        return s;
    switch (tfl_out(o, 0)->raw) {
    case TFL_FLOAT32:
        a.cast.to = ASSAY_CAST_F32;
        break;
    case TFL_BOOL:
        a.cast.to = ASSAY_CAST_BOOL;
        break;
    case TFL_INT8:
        a.cast.to = ASSAY_CAST_I8;
        break;
    case TFL_UINT8:
        a.cast.to = ASSAY_CAST_U8;
        break;
    case TFL_INT16:
        a.cast.to = ASSAY_CAST_I16;
        break;
    case TFL_UINT16:
        a.cast.to = ASSAY_CAST_U16;
        break;
    case TFL_INT32:
        a.cast.to = ASSAY_CAST_I32;
        break;
    case TFL_UINT32:
        a.cast.to = ASSAY_CAST_U32;
        break;
    case TFL_INT64:
        a.cast.to = ASSAY_CAST_I64;
        break;
    default:
        return tfl_unsupported(o, "to %s", tfl_type_name(tfl_out(o, 0)->raw));
    }
    return tfl_straight(o, &a, NULL);
}

/* SELECT's condition may also be a vector that chooses whole slices of the first axis. */
assay_status tfl_op_select(const tfl_op *o)
{
    const tfl_tensor *c, *x;
    int in[3], y, wide;
    assay_type type;
    assay_status s = expect_inputs(o, 3);

    if (s)
        return s;
    c = tfl_in(o, 0);
    x = tfl_in(o, 1);
    if ((s = tfl_value(o, 0, &in[0])) || (s = raw(o, 1, &in[1])) || (s = raw(o, 2, &in[2])) ||
        (s = tfl_result(o, 0, &y)))
        return s;
    if (o->builtin != CODE_SELECT_V2 && c->type.rank == 1 && x->type.rank > 1) {
        type = c->type;
        type.rank = x->type.rank;
        for (int i = 1; i < type.rank; ++i)
            type.dim[i] = 1;
        if ((s = tfl_part(o, "condition", &type, &wide)) || (s = tfl_reshape(o, in[0], wide)))
            return s;
        in[0] = wide;
    }
    return tfl_node(o, ASSAY_OP_SELECT, in, 3, &y, 1, NULL, NULL);
}
