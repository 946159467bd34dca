/* Operators on real values, in ONNX's words. */
#include "graph/onnx/export/parts.h"

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

/* ---- operators whose inputs are not the node's ---- */

static void conv_of(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
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

static void conv(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                 const char *y)
{
    conv_of(w, n, name, in, n->n_in, y);
}

static void pool(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                 const char *y)
{
    const assay_attr_pool *a = &n->attr.pool;

    refuse_nhwc(w, n, a->layout);
    onnx_write_node(w, name, y);
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

static void reduce(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                   const char *y)
{
    bool sum = n->op == ASSAY_OP_REDUCE_SUM;

    onnx_write_node(w, name, y);
    inputs(w, in, 1);
    if (sum || w->opset >= 18)
        onnx_write_input(w, onnx_write_integers(w, y, "axes", &n->attr.reduce.axes));
    else
        onnx_write_list(w, "axes", &n->attr.reduce.axes, NULL);
    onnx_write_int(w, "keepdims", n->attr.reduce.keepdims);
}

/* In the names of op/resize.c; TFLite's own half pixel is the same positions. */
static void resize(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                   const char *y)
{
    static const char *const modes[] = {"nearest", "linear", "cubic"};
    static const char *const coordinates[] = {"half_pixel", "pytorch_half_pixel",   "align_corners",
                                              "asymmetric", "half_pixel_symmetric", "half_pixel"};
    static const char *const nearests[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                           "ceil"};
    const assay_attr_resize *a = &n->attr.resize;

    refuse_nhwc(w, n, a->layout);
    onnx_write_node(w, name, y);
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

static void block(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                  const char *y)
{
    const assay_attr_block *a = &n->attr.block;
    bool to_space = n->op == ASSAY_OP_DEPTH_TO_SPACE;

    refuse_nhwc(w, n, a->layout);
    onnx_write_node(w, name, y);
    inputs(w, in, 1);
    onnx_write_int(w, "blocksize", a->block);
    if (to_space)
        onnx_write_string(w, "mode", a->order == ASSAY_D2S_CRD ? "CRD" : "DCR");
    else if (a->order == ASSAY_D2S_CRD)
        onnx_write_refuse(w, n, "blocks in the order of columns, rows, depth");
}

/* ---- attributes of operators whose inputs are the node's ---- */

static void alpha(onnx_writer *w, const assay_node *n)
{
    onnx_write_float(w, "alpha", n->attr.alpha.alpha);
}

static void alpha_beta(onnx_writer *w, const assay_node *n)
{
    onnx_write_float(w, "alpha", n->attr.alpha_beta.alpha);
    onnx_write_float(w, "beta", n->attr.alpha_beta.beta);
}

static void gelu(onnx_writer *w, const assay_node *n)
{
    if (n->attr.gelu.approximate == ASSAY_GELU_TANH)
        onnx_write_string(w, "approximate", "tanh");
}

static void softmax(onnx_writer *w, const assay_node *n)
{
    if (n->attr.softmax.beta != 1)
        onnx_write_refuse(w, n, "a softmax with a beta other than 1");
    onnx_write_int(w, "axis", n->attr.softmax.axis);
}

static void mod(onnx_writer *w, const assay_node *n)
{
    if (!n->attr.mod.truncated && assay_node_in(w->g, n, 0)->type.elem.kind != ASSAY_KIND_INT)
        onnx_write_refuse(w, n, "a remainder of floats with the divisor's sign");
    onnx_write_int(w, "fmod", n->attr.mod.truncated);
}

static void batch_norm(onnx_writer *w, const assay_node *n)
{
    refuse_nhwc(w, n, n->attr.batch_norm.layout);
    onnx_write_float(w, "epsilon", n->attr.batch_norm.epsilon);
}

static void lrn(onnx_writer *w, const assay_node *n)
{
    refuse_nhwc(w, n, n->attr.lrn.layout);
    onnx_write_int(w, "size", n->attr.lrn.size);
    onnx_write_float(w, "alpha", n->attr.lrn.alpha);
    onnx_write_float(w, "beta", n->attr.lrn.beta);
    onnx_write_float(w, "bias", n->attr.lrn.bias);
}

static void global_pool(onnx_writer *w, const assay_node *n)
{
    refuse_nhwc(w, n, n->attr.layout.layout);
}

static void perm(onnx_writer *w, const assay_node *n)
{
    onnx_write_list(w, "perm", &n->attr.perm.perm, NULL);
}

static void axis(onnx_writer *w, const assay_node *n)
{
    onnx_write_int(w, "axis", n->attr.axis.axis);
}

static void gather(onnx_writer *w, const assay_node *n)
{
    if (n->attr.gather.batch_dims != 0)
        onnx_write_refuse(w, n, "a gather with batch dimensions");
    onnx_write_int(w, "axis", n->attr.gather.axis);
}

static void gemm(onnx_writer *w, const assay_node *n)
{
    (void)n; /* of two dimensions here */
    onnx_write_int(w, "transB", 1);
}

/* ---- which operator an op is ---- */

typedef struct translation {
    const char *name;
    /* Writes the whole node; NULL: its inputs are the op's, behind its attributes. */
    void (*whole)(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                  const char *y);
    void (*attributes)(onnx_writer *w, const assay_node *n); /* NULL: none */
} translation;

static const translation translations[ASSAY_OP_COUNT] = {
    [ASSAY_OP_ADD] = {.name = "Add"},
    [ASSAY_OP_SUB] = {.name = "Sub"},
    [ASSAY_OP_MUL] = {.name = "Mul"},
    [ASSAY_OP_DIV] = {.name = "Div"},
    [ASSAY_OP_MIN] = {.name = "Min"},
    [ASSAY_OP_MAX] = {.name = "Max"},
    [ASSAY_OP_POW] = {.name = "Pow"},
    [ASSAY_OP_PRELU] = {.name = "PRelu"},
    [ASSAY_OP_RELU] = {.name = "Relu"},
    [ASSAY_OP_SIGMOID] = {.name = "Sigmoid"},
    [ASSAY_OP_TANH] = {.name = "Tanh"},
    [ASSAY_OP_ERF] = {.name = "Erf"},
    [ASSAY_OP_EXP] = {.name = "Exp"},
    [ASSAY_OP_LOG] = {.name = "Log"},
    [ASSAY_OP_SQRT] = {.name = "Sqrt"},
    [ASSAY_OP_RECIPROCAL] = {.name = "Reciprocal"},
    [ASSAY_OP_ABS] = {.name = "Abs"},
    [ASSAY_OP_NEG] = {.name = "Neg"},
    [ASSAY_OP_SIGN] = {.name = "Sign"},
    [ASSAY_OP_FLOOR] = {.name = "Floor"},
    [ASSAY_OP_CEIL] = {.name = "Ceil"},
    [ASSAY_OP_ROUND] = {.name = "Round"},
    [ASSAY_OP_SIN] = {.name = "Sin"},
    [ASSAY_OP_COS] = {.name = "Cos"},
    [ASSAY_OP_TAN] = {.name = "Tan"},
    [ASSAY_OP_ASIN] = {.name = "Asin"},
    [ASSAY_OP_ACOS] = {.name = "Acos"},
    [ASSAY_OP_ATAN] = {.name = "Atan"},
    [ASSAY_OP_SINH] = {.name = "Sinh"},
    [ASSAY_OP_COSH] = {.name = "Cosh"},
    [ASSAY_OP_ASINH] = {.name = "Asinh"},
    [ASSAY_OP_ACOSH] = {.name = "Acosh"},
    [ASSAY_OP_ATANH] = {.name = "Atanh"},
    [ASSAY_OP_SOFTPLUS] = {.name = "Softplus"},
    [ASSAY_OP_ADD_N] = {.name = "Sum"},
    [ASSAY_OP_MOD] = {.name = "Mod", .attributes = mod},
    [ASSAY_OP_BATCH_NORM] = {.name = "BatchNormalization", .attributes = batch_norm},
    [ASSAY_OP_LRN] = {.name = "LRN", .attributes = lrn},
    [ASSAY_OP_SELECT] = {.name = "Where"},
    [ASSAY_OP_HARD_SWISH] = {.name = "HardSwish"},
    [ASSAY_OP_MATMUL] = {.name = "MatMul"},    /* its operands are transposed already */
    [ASSAY_OP_RELABEL] = {.name = "Identity"}, /* the same codes */
    [ASSAY_OP_LEAKY_RELU] = {.name = "LeakyRelu", .attributes = alpha},
    [ASSAY_OP_ELU] = {.name = "Elu", .attributes = alpha},
    [ASSAY_OP_HARD_SIGMOID] = {.name = "HardSigmoid", .attributes = alpha_beta},
    [ASSAY_OP_GELU] = {.name = "Gelu", .attributes = gelu},
    [ASSAY_OP_SOFTMAX] = {.name = "Softmax", .attributes = softmax},
    [ASSAY_OP_LOG_SOFTMAX] = {.name = "LogSoftmax", .attributes = softmax},
    [ASSAY_OP_LAYER_NORM] = {.name = "LayerNormalization", .whole = onnx_export_layer_norm},
    [ASSAY_OP_GLOBAL_AVG_POOL] = {.name = "GlobalAveragePool", .attributes = global_pool},
    [ASSAY_OP_TRANSPOSE] = {.name = "Transpose", .attributes = perm},
    [ASSAY_OP_CONCAT] = {.name = "Concat", .attributes = axis},
    [ASSAY_OP_GATHER] = {.name = "Gather", .attributes = gather},
    [ASSAY_OP_ARG_MAX] = {.name = "ArgMax", .whole = onnx_export_arg},
    [ASSAY_OP_ARG_MIN] = {.name = "ArgMin", .whole = onnx_export_arg},
    [ASSAY_OP_TOPK] = {.name = "TopK", .whole = onnx_export_topk},
    [ASSAY_OP_WHERE] = {.name = "NonZero", .whole = onnx_export_where},
    [ASSAY_OP_GATHER_ND] = {.name = "GatherND", .whole = onnx_export_gather_nd},
    [ASSAY_OP_SCATTER_ND] = {.name = "ScatterND", .whole = onnx_export_scatter},
    [ASSAY_OP_SCATTER_REDUCE] = {.name = "ScatterND", .whole = onnx_export_scatter},
    [ASSAY_OP_CUMSUM] = {.name = "CumSum", .whole = onnx_export_cumsum},
    [ASSAY_OP_GRID_SAMPLE] = {.name = "GridSample", .whole = onnx_export_grid},
    [ASSAY_OP_ROI_ALIGN] = {.name = "RoiAlign", .whole = onnx_export_roi},
    [ASSAY_OP_FC] = {.name = "Gemm", .attributes = gemm},
    [ASSAY_OP_CONV] = {.name = "Conv", .whole = conv},
    [ASSAY_OP_CONV_TRANSPOSE] = {.name = "ConvTranspose", .whole = conv},
    [ASSAY_OP_MAX_POOL] = {.name = "MaxPool", .whole = pool},
    [ASSAY_OP_AVG_POOL] = {.name = "AveragePool", .whole = pool},
    [ASSAY_OP_SLICE] = {.name = "Slice", .whole = onnx_export_slice},
    [ASSAY_OP_REVERSE] = {.name = "Slice", .whole = onnx_export_reverse},
    [ASSAY_OP_PAD] = {.name = "Pad", .whole = onnx_export_pad},
    [ASSAY_OP_REDUCE_MEAN] = {.name = "ReduceMean", .whole = reduce},
    [ASSAY_OP_REDUCE_SUM] = {.name = "ReduceSum", .whole = reduce},
    [ASSAY_OP_REDUCE_PROD] = {.name = "ReduceProd", .whole = reduce},
    [ASSAY_OP_REDUCE_MAX] = {.name = "ReduceMax", .whole = reduce},
    [ASSAY_OP_REDUCE_MIN] = {.name = "ReduceMin", .whole = reduce},
    [ASSAY_OP_RESHAPE] = {.name = "Reshape", .whole = onnx_export_shaped},
    [ASSAY_OP_EXPAND] = {.name = "Expand", .whole = onnx_export_shaped},
    [ASSAY_OP_TILE] = {.name = "Tile", .whole = onnx_export_shaped},
    [ASSAY_OP_RESIZE] = {.name = "Resize", .whole = resize},
    [ASSAY_OP_DEPTH_TO_SPACE] = {.name = "DepthToSpace", .whole = block},
    [ASSAY_OP_SPACE_TO_DEPTH] = {.name = "SpaceToDepth", .whole = block},
    [ASSAY_OP_CLIP] = {.name = "Clip", .whole = onnx_export_clip},
    [ASSAY_OP_CAST] = {.name = "Cast", .whole = onnx_export_cast},
    [ASSAY_OP_FLOAT_ENCODE] = {.name = "QuantizeLinear", .whole = onnx_export_encode},
    [ASSAY_OP_FLOAT_DECODE] = {.name = "DequantizeLinear", .whole = onnx_export_decode},
    [ASSAY_OP_SCALED_MATMUL] = {.name = "MatMul", .whole = onnx_export_product},
    [ASSAY_OP_BLOCK_SCALE] = {.name = "ReduceMax", .whole = onnx_export_scale},
    [ASSAY_OP_SQUARE] = {.name = "Mul", .whole = onnx_export_square},
    [ASSAY_OP_RSQRT] = {.name = "Reciprocal", .whole = onnx_export_rsqrt},
    [ASSAY_OP_SQUARED_DIFFERENCE] = {.name = "Mul", .whole = onnx_export_squared_difference},
    [ASSAY_OP_FLOOR_DIV] = {.name = "Floor", .whole = onnx_export_floor_div},
    [ASSAY_OP_NOT_EQUAL] = {.name = "Not", .whole = onnx_export_not_equal},
    [ASSAY_OP_EQUAL] = {.name = "Equal"},
    [ASSAY_OP_LESS] = {.name = "Less"},
    [ASSAY_OP_LESS_EQUAL] = {.name = "LessOrEqual"},
    [ASSAY_OP_GREATER] = {.name = "Greater"},
    [ASSAY_OP_GREATER_EQUAL] = {.name = "GreaterOrEqual"},
    [ASSAY_OP_LOGICAL_AND] = {.name = "And"},
    [ASSAY_OP_LOGICAL_OR] = {.name = "Or"},
    [ASSAY_OP_LOGICAL_NOT] = {.name = "Not"},
    [ASSAY_OP_BITWISE_AND] = {.name = "BitwiseAnd"},
    [ASSAY_OP_BITWISE_OR] = {.name = "BitwiseOr"},
    [ASSAY_OP_BITWISE_XOR] = {.name = "BitwiseXor"},
};

void onnx_export_operation(onnx_writer *w, const assay_node *n, const char *const *in,
                           const char *y)
{
    const translation *t = &translations[n->op];

    if (!t->name) {
        onnx_write_refuse(w, n, "an op that is not exported");
        return;
    }
    onnx_write_operation(w);
    if (t->whole) {
        t->whole(w, n, t->name, in, y);
        return;
    }
    onnx_write_node(w, t->name, y);
    if (t->attributes)
        t->attributes(w, n);
    inputs(w, in, n->n_in);
}

void onnx_export_sums(onnx_writer *w, const assay_node *n, const char *const *in, const char *y)
{
    onnx_write_operation(w);
    if (n->op == ASSAY_OP_CONV) {
        conv_of(w, n, "ConvInteger", in, 4, y);
        return;
    }
    onnx_write_node(w, "MatMulInteger", y);
    inputs(w, in, 4);
}
