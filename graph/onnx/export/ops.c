/* Operators on real values, in ONNX's words. */
#include <string.h>

#include "graph/onnx/export/parts.h"

/* Ours with ONNX's name where the inputs are real values and there are no attributes. */
static const char *plain_name(assay_op op)
{
    static const struct {
        assay_op op;
        const char *name;
    } table[] = {{ASSAY_OP_ADD, "Add"},           {ASSAY_OP_SUB, "Sub"},
                 {ASSAY_OP_MUL, "Mul"},           {ASSAY_OP_DIV, "Div"},
                 {ASSAY_OP_MIN, "Min"},           {ASSAY_OP_MAX, "Max"},
                 {ASSAY_OP_POW, "Pow"},           {ASSAY_OP_PRELU, "PRelu"},
                 {ASSAY_OP_RELU, "Relu"},         {ASSAY_OP_SIGMOID, "Sigmoid"},
                 {ASSAY_OP_TANH, "Tanh"},         {ASSAY_OP_ERF, "Erf"},
                 {ASSAY_OP_EXP, "Exp"},           {ASSAY_OP_LOG, "Log"},
                 {ASSAY_OP_SQRT, "Sqrt"},         {ASSAY_OP_RECIPROCAL, "Reciprocal"},
                 {ASSAY_OP_ABS, "Abs"},           {ASSAY_OP_NEG, "Neg"},
                 {ASSAY_OP_SIGN, "Sign"},         {ASSAY_OP_FLOOR, "Floor"},
                 {ASSAY_OP_CEIL, "Ceil"},         {ASSAY_OP_ROUND, "Round"},
                 {ASSAY_OP_SIN, "Sin"},           {ASSAY_OP_COS, "Cos"},
                 {ASSAY_OP_SOFTPLUS, "Softplus"}, {ASSAY_OP_SELECT, "Where"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].op == op)
            return table[i].name;
    return NULL;
}

static void inputs(onnx_writer *w, const char *const *in, int n)
{
    for (int i = 0; i < n; i++)
        onnx_write_input(w, in[i]);
}

static void refuse_nhwc(onnx_writer *w, const assay_node *n, int layout)
{
    if (layout != ASSAY_LAYOUT_NCHW)
        onnx_write_refuse(w, n, "its channels are last, and it is not an image of two dimensions");
}

static void conv(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                 int n_in, const char *y)
{
    const assay_attr_conv *a = &n->attr.conv;

    refuse_nhwc(w, n, a->layout);
    onnx_write_node(w, name, y);
    inputs(w, in, n_in);
    onnx_write_list(w, "kernel_shape", &a->kernel, NULL);
    onnx_write_list(w, "strides", &a->stride, NULL);
    onnx_write_list(w, "dilations", &a->dilation, NULL);
    onnx_write_list(w, "pads", &a->pad_begin, &a->pad_end);
    onnx_write_int(w, "group", a->group);
    if (n->op == ASSAY_OP_CONV_TRANSPOSE)
        onnx_write_list(w, "output_padding", &a->output_padding, NULL);
}

static void pool(onnx_writer *w, const assay_node *n, const char *const *in, const char *y)
{
    const assay_attr_pool *a = &n->attr.pool;

    refuse_nhwc(w, n, a->layout);
    onnx_write_node(w, n->op == ASSAY_OP_MAX_POOL ? "MaxPool" : "AveragePool", y);
    inputs(w, in, 1);
    onnx_write_list(w, "kernel_shape", &a->kernel, NULL);
    onnx_write_list(w, "strides", &a->stride, NULL);
    onnx_write_list(w, "pads", &a->pad_begin, &a->pad_end);
    onnx_write_int(w, "ceil_mode", a->ceil_mode);
    if (n->op == ASSAY_OP_AVG_POOL)
        onnx_write_int(w, "count_include_pad", a->count_include_pad);
    for (int i = 0; i < a->dilation.n; i++)
        if (a->dilation.v[i] != 1 && n->op == ASSAY_OP_AVG_POOL)
            onnx_write_refuse(w, n, "a dilated average pool");
    if (n->op == ASSAY_OP_MAX_POOL)
        onnx_write_list(w, "dilations", &a->dilation, NULL);
}

static void slice(onnx_writer *w, const assay_node *n, const char *const *in, const char *y)
{
    const assay_attr_slice *a = &n->attr.slice;
    assay_list end = a->begin, axes = a->begin;

    for (int i = 0; i < a->begin.n; i++) {
        end.v[i] = a->begin.v[i] + a->step.v[i] * a->size.v[i];
        if (end.v[i] < 0)
            end.v[i] = INT64_MIN; /* before the first, not counted from the end */
        axes.v[i] = i;
    }
    onnx_write_node(w, "Slice", y);
    inputs(w, in, 1);
    onnx_write_input(w, onnx_write_integers(w, y, "starts", &a->begin));
    onnx_write_input(w, onnx_write_integers(w, y, "ends", &end));
    onnx_write_input(w, onnx_write_integers(w, y, "axes", &axes));
    onnx_write_input(w, onnx_write_integers(w, y, "steps", &a->step));
}

static void pad(onnx_writer *w, const assay_node *n, const char *const *in, const char *y)
{
    const assay_attr_pad *a = &n->attr.pad;
    assay_list pads = {.n = 2 * a->begin.n};

    if (a->mode != ASSAY_PAD_CONSTANT || pads.n > ASSAY_ATTR_LIST)
        onnx_write_refuse(w, n, "a pad that is not by a constant");
    for (int i = 0; i < a->begin.n && pads.n <= ASSAY_ATTR_LIST; i++) {
        pads.v[i] = a->begin.v[i];
        pads.v[a->begin.n + i] = a->end.v[i];
    }
    onnx_write_node(w, "Pad", y);
    inputs(w, in, 1);
    onnx_write_input(w, onnx_write_integers(w, y, "pads", &pads));
    onnx_write_input(w, onnx_write_number(w, y, "value", a->value));
}

static void reduce(onnx_writer *w, const assay_node *n, const char *const *in, const char *y)
{
    bool sum = n->op == ASSAY_OP_REDUCE_SUM;

    onnx_write_node(w,
                    sum                             ? "ReduceSum"
                    : n->op == ASSAY_OP_REDUCE_MEAN ? "ReduceMean"
                    : n->op == ASSAY_OP_REDUCE_MAX  ? "ReduceMax"
                                                    : "ReduceMin",
                    y);
    inputs(w, in, 1);
    if (sum || w->opset >= 18)
        onnx_write_input(w, onnx_write_integers(w, y, "axes", &n->attr.reduce.axes));
    else
        onnx_write_list(w, "axes", &n->attr.reduce.axes, NULL);
    onnx_write_int(w, "keepdims", n->attr.reduce.keepdims);
}

/* In the names of op_resize.c; TFLite's own half pixel is the same positions. */
static void resize(onnx_writer *w, const assay_node *n, const char *const *in, const char *y)
{
    static const char *const modes[] = {"nearest", "linear", "cubic"};
    static const char *const coordinates[] = {"half_pixel", "pytorch_half_pixel",   "align_corners",
                                              "asymmetric", "half_pixel_symmetric", "half_pixel"};
    static const char *const nearests[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                           "ceil"};
    const assay_attr_resize *a = &n->attr.resize;

    refuse_nhwc(w, n, a->layout);
    onnx_write_node(w, "Resize", y);
    inputs(w, in, 1);
    onnx_write_input(w, ""); /* roi */
    if (a->scales.n > 0) {
        onnx_write_input(w, onnx_write_numbers(w, y, "scales", &a->scales));
    } else {
        onnx_write_input(w, "");
        onnx_write_input(w, onnx_write_integers(w, y, "sizes", &a->size));
    }
    onnx_write_string(w, "mode", modes[a->mode]);
    onnx_write_string(w, "coordinate_transformation_mode", coordinates[a->coordinate]);
    if (a->mode == ASSAY_RESIZE_NEAREST)
        onnx_write_string(w, "nearest_mode", nearests[a->nearest]);
    if (a->mode == ASSAY_RESIZE_CUBIC) {
        onnx_write_float(w, "cubic_coeff_a", a->cubic_a);
        onnx_write_int(w, "exclude_outside", a->exclude_outside);
    }
}

static void block(onnx_writer *w, const assay_node *n, const char *const *in, const char *y)
{
    const assay_attr_block *a = &n->attr.block;
    bool to_space = n->op == ASSAY_OP_DEPTH_TO_SPACE;

    refuse_nhwc(w, n, a->layout);
    onnx_write_node(w, to_space ? "DepthToSpace" : "SpaceToDepth", y);
    inputs(w, in, 1);
    onnx_write_int(w, "blocksize", a->block);
    if (to_space)
        onnx_write_string(w, "mode", a->order == ASSAY_D2S_CRD ? "CRD" : "DCR");
    else if (a->order == ASSAY_D2S_CRD)
        onnx_write_refuse(w, n, "blocks in the order of columns, rows, depth");
}

/* The result's shape, or the list of an attribute, as the second input. */
static void shaped(onnx_writer *w, const assay_node *n, const char *const *in, const char *y)
{
    const assay_type *t = &assay_node_out(w->g, n, 0)->type;
    assay_list shape = {.n = t->rank};

    memcpy(shape.v, t->dim, (size_t)shape.n * sizeof *shape.v);
    onnx_write_node(w,
                    n->op == ASSAY_OP_RESHAPE  ? "Reshape"
                    : n->op == ASSAY_OP_EXPAND ? "Expand"
                                               : "Tile",
                    y);
    inputs(w, in, 1);
    onnx_write_input(w,
                     onnx_write_integers(w, y, "shape",
                                         n->op == ASSAY_OP_TILE ? &n->attr.tile.repeats : &shape));
}

/* To a narrow float and back: values are float32 here. */
static void narrowing(onnx_writer *w, const assay_node *n, const char *const *in, const char *y)
{
    const char *narrow = onnx_text(w, "%s:narrow", y);

    onnx_write_node(w, "Cast", narrow);
    inputs(w, in, 1);
    onnx_write_int(w, "to", n->attr.cast.to == ASSAY_CAST_F16 ? ONNX_FLOAT16 : ONNX_BFLOAT16);
    onnx_write_node(w, "Cast", y);
    onnx_write_input(w, narrow);
    onnx_write_int(w, "to", ONNX_FLOAT);
}

/* One input and perhaps one number or axis. */
static void simple(onnx_writer *w, const assay_node *n, const char *const *in, const char *y)
{
    switch (n->op) {
    case ASSAY_OP_LEAKY_RELU:
    case ASSAY_OP_ELU:
        onnx_write_node(w, n->op == ASSAY_OP_ELU ? "Elu" : "LeakyRelu", y);
        onnx_write_float(w, "alpha", n->attr.alpha.alpha);
        break;
    case ASSAY_OP_HARD_SIGMOID:
        onnx_write_node(w, "HardSigmoid", y);
        onnx_write_float(w, "alpha", n->attr.alpha_beta.alpha);
        onnx_write_float(w, "beta", n->attr.alpha_beta.beta);
        break;
    case ASSAY_OP_HARD_SWISH:
        onnx_write_node(w, "HardSwish", y);
        break;
    case ASSAY_OP_GELU:
        onnx_write_node(w, "Gelu", y);
        if (n->attr.gelu.approximate == ASSAY_GELU_TANH)
            onnx_write_string(w, "approximate", "tanh");
        break;
    case ASSAY_OP_SOFTMAX:
        if (n->attr.softmax.beta != 1)
            onnx_write_refuse(w, n, "a softmax with a beta other than 1");
        onnx_write_node(w, "Softmax", y);
        onnx_write_int(w, "axis", n->attr.softmax.axis);
        break;
    case ASSAY_OP_LAYER_NORM:
        onnx_write_node(w, "LayerNormalization", y);
        onnx_write_int(w, "axis", n->attr.norm.axis);
        onnx_write_float(w, "epsilon", n->attr.norm.epsilon);
        if (n->n_in < 2)
            onnx_write_refuse(w, n, "a layer normalization without scale");
        break;
    case ASSAY_OP_GLOBAL_AVG_POOL:
        refuse_nhwc(w, n, n->attr.layout.layout);
        onnx_write_node(w, "GlobalAveragePool", y);
        break;
    case ASSAY_OP_TRANSPOSE:
        onnx_write_node(w, "Transpose", y);
        onnx_write_list(w, "perm", &n->attr.perm.perm, NULL);
        break;
    case ASSAY_OP_CONCAT:
        onnx_write_node(w, "Concat", y);
        onnx_write_int(w, "axis", n->attr.axis.axis);
        break;
    case ASSAY_OP_GATHER:
        if (n->attr.gather.batch_dims != 0)
            onnx_write_refuse(w, n, "a gather with batch dimensions");
        onnx_write_node(w, "Gather", y);
        onnx_write_int(w, "axis", n->attr.gather.axis);
        break;
    case ASSAY_OP_MATMUL: /* its operands are turned already */
        onnx_write_node(w, "MatMul", y);
        break;
    case ASSAY_OP_RELABEL: /* the same codes */
        onnx_write_node(w, "Identity", y);
        break;
    case ASSAY_OP_CAST:
        if (assay_is_narrowing(n)) {
            narrowing(w, n, in, y);
            return;
        }
        onnx_write_node(w, "Cast", y);
        onnx_write_int(w, "to", onnx_elem_dtype(assay_node_out(w->g, n, 0)->type.elem));
        break;
    case ASSAY_OP_ARG_MAX:
    case ASSAY_OP_ARG_MIN:
        if (n->attr.arg.index_bits != 64)
            onnx_write_refuse(w, n, "indices of 32 bits");
        onnx_write_node(w, n->op == ASSAY_OP_ARG_MAX ? "ArgMax" : "ArgMin", y);
        onnx_write_int(w, "axis", n->attr.arg.axis);
        onnx_write_int(w, "keepdims", n->attr.arg.keepdims);
        onnx_write_int(w, "select_last_index", n->attr.arg.select_last);
        break;
    case ASSAY_OP_FC: /* of two dimensions here */
        onnx_write_node(w, "Gemm", y);
        onnx_write_int(w, "transB", 1);
        break;
    default:
        onnx_write_refuse(w, n, "an op that is not exported");
        return;
    }
    inputs(w, in, n->n_in);
}

void onnx_export_operation(onnx_writer *w, const assay_node *n, const char *const *in,
                           const char *y)
{
    const char *plain = plain_name(n->op);

    switch (n->op) {
    case ASSAY_OP_CONV:
        conv(w, n, "Conv", in, n->n_in, y);
        break;
    case ASSAY_OP_CONV_TRANSPOSE:
        conv(w, n, "ConvTranspose", in, n->n_in, y);
        break;
    case ASSAY_OP_MAX_POOL:
    case ASSAY_OP_AVG_POOL:
        pool(w, n, in, y);
        break;
    case ASSAY_OP_SLICE:
        slice(w, n, in, y);
        break;
    case ASSAY_OP_PAD:
        pad(w, n, in, y);
        break;
    case ASSAY_OP_REDUCE_MEAN:
    case ASSAY_OP_REDUCE_SUM:
    case ASSAY_OP_REDUCE_MAX:
    case ASSAY_OP_REDUCE_MIN:
        reduce(w, n, in, y);
        break;
    case ASSAY_OP_RESHAPE:
    case ASSAY_OP_EXPAND:
    case ASSAY_OP_TILE:
        shaped(w, n, in, y);
        break;
    case ASSAY_OP_RESIZE:
        resize(w, n, in, y);
        break;
    case ASSAY_OP_DEPTH_TO_SPACE:
    case ASSAY_OP_SPACE_TO_DEPTH:
        block(w, n, in, y);
        break;
    case ASSAY_OP_CLIP:
        onnx_write_node(w, "Clip", y);
        inputs(w, in, 1);
        onnx_write_input(w, onnx_write_number(w, y, "min", n->attr.clip.lo));
        onnx_write_input(w, onnx_write_number(w, y, "max", n->attr.clip.hi));
        break;
    default:
        if (!plain) {
            simple(w, n, in, y);
            break;
        }
        onnx_write_node(w, plain, y);
        inputs(w, in, n->n_in);
    }
}

void onnx_export_sums(onnx_writer *w, const assay_node *n, const char *const *in, const char *y)
{
    if (n->op == ASSAY_OP_CONV) {
        conv(w, n, "ConvInteger", in, 4, y);
        return;
    }
    onnx_write_node(w, "MatMulInteger", y);
    inputs(w, in, 4);
}
