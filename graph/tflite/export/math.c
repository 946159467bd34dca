/* Element-wise nodes, rows, reductions and conversions as operators. */
#include <math.h>

#include "graph/tflite/export/emit.h"

static const assay_type *in_type(const tfl_export *x, const assay_node *n, int i)
{
    return &x->g->value[n->in[i]].type;
}

static const assay_type *out_type(const tfl_export *x, const assay_node *n)
{
    return &x->g->value[n->out[0]].type;
}

/* Ours with TFLite's where inputs and outputs correspond and there are no options. */
static const struct {
    assay_op op;
    int builtin;
} builtins[] = {
    {ASSAY_OP_ADD, BUILTIN_ADD},
    {ASSAY_OP_SUB, BUILTIN_SUB},
    {ASSAY_OP_MUL, BUILTIN_MUL},
    {ASSAY_OP_DIV, BUILTIN_DIV},
    {ASSAY_OP_MIN, BUILTIN_MINIMUM},
    {ASSAY_OP_MAX, BUILTIN_MAXIMUM},
    {ASSAY_OP_POW, BUILTIN_POW},
    {ASSAY_OP_MOD, BUILTIN_FLOOR_MOD},
    {ASSAY_OP_FLOOR_DIV, BUILTIN_FLOOR_DIV},
    {ASSAY_OP_SQUARED_DIFFERENCE, BUILTIN_SQUARED_DIFFERENCE},
    {ASSAY_OP_ATAN2, BUILTIN_ATAN2},
    {ASSAY_OP_PRELU, BUILTIN_PRELU},
    {ASSAY_OP_SHIFT_RIGHT, BUILTIN_RIGHT_SHIFT},
    {ASSAY_OP_EQUAL, BUILTIN_EQUAL},
    {ASSAY_OP_NOT_EQUAL, BUILTIN_NOT_EQUAL},
    {ASSAY_OP_LESS, BUILTIN_LESS},
    {ASSAY_OP_LESS_EQUAL, BUILTIN_LESS_EQUAL},
    {ASSAY_OP_GREATER, BUILTIN_GREATER},
    {ASSAY_OP_GREATER_EQUAL, BUILTIN_GREATER_EQUAL},
    {ASSAY_OP_LOGICAL_AND, BUILTIN_LOGICAL_AND},
    {ASSAY_OP_LOGICAL_OR, BUILTIN_LOGICAL_OR},
    {ASSAY_OP_LOGICAL_NOT, BUILTIN_LOGICAL_NOT},
    {ASSAY_OP_SELECT, BUILTIN_SELECT_V2},
    {ASSAY_OP_RELU, BUILTIN_RELU},
    {ASSAY_OP_SIGMOID, BUILTIN_LOGISTIC},
    {ASSAY_OP_TANH, BUILTIN_TANH},
    {ASSAY_OP_HARD_SWISH, BUILTIN_HARD_SWISH},
    {ASSAY_OP_EXP, BUILTIN_EXP},
    {ASSAY_OP_LOG, BUILTIN_LOG},
    {ASSAY_OP_SQRT, BUILTIN_SQRT},
    {ASSAY_OP_RSQRT, BUILTIN_RSQRT},
    {ASSAY_OP_SQUARE, BUILTIN_SQUARE},
    {ASSAY_OP_ABS, BUILTIN_ABS},
    {ASSAY_OP_NEG, BUILTIN_NEG},
    {ASSAY_OP_SIGN, BUILTIN_SIGN},
    {ASSAY_OP_FLOOR, BUILTIN_FLOOR},
    {ASSAY_OP_CEIL, BUILTIN_CEIL},
    {ASSAY_OP_ROUND, BUILTIN_ROUND},
    {ASSAY_OP_SIN, BUILTIN_SIN},
    {ASSAY_OP_COS, BUILTIN_COS},
    {ASSAY_OP_QUANTIZE, BUILTIN_QUANTIZE},
    {ASSAY_OP_RESCALE, BUILTIN_QUANTIZE},
    {ASSAY_OP_DEQUANTIZE, BUILTIN_DEQUANTIZE},
    {ASSAY_OP_LEAKY_RELU, BUILTIN_LEAKY_RELU},
    {ASSAY_OP_ELU, BUILTIN_ELU},
    {ASSAY_OP_GELU, BUILTIN_GELU},
    {ASSAY_OP_SOFTMAX, BUILTIN_SOFTMAX},
    {ASSAY_OP_LOG_SOFTMAX, BUILTIN_LOG_SOFTMAX},
    {ASSAY_OP_L2_NORM, BUILTIN_L2_NORMALIZATION},
    {ASSAY_OP_ADD_N, BUILTIN_ADD_N},
    {ASSAY_OP_UPDATE_SLICE, BUILTIN_DYNAMIC_UPDATE_SLICE},
    {ASSAY_OP_WHERE, BUILTIN_WHERE},
    {ASSAY_OP_LRN, BUILTIN_LOCAL_RESPONSE_NORMALIZATION},
    {ASSAY_OP_CAST, BUILTIN_CAST},
};

static int plain_builtin(assay_op op)
{
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; ++i)
        if (builtins[i].op == op)
            return builtins[i].builtin;
    return -1;
}

/* What the operator has no way to say. */
static const char *unsaid(const tfl_export *x, const assay_node *n)
{
    switch (n->op) {
    case ASSAY_OP_MOD:
        return n->attr.mod.truncated ? "a remainder with the dividend's sign" : NULL;
    case ASSAY_OP_ELU:
        return n->attr.alpha.alpha != 1 ? "an alpha other than 1" : NULL;
    case ASSAY_OP_SOFTMAX:
    case ASSAY_OP_LOG_SOFTMAX:
        if (n->attr.softmax.axis != in_type(x, n, 0)->rank - 1)
            return "along an axis that is not the last";
        return n->op == ASSAY_OP_LOG_SOFTMAX && n->attr.softmax.beta != 1 ? "a beta other than 1"
                                                                          : NULL;
    case ASSAY_OP_L2_NORM:
        if (n->attr.norm.axis != in_type(x, n, 0)->rank - 1)
            return "along an axis that is not the last";
        return n->attr.norm.epsilon != 1e-6F ? "an epsilon other than 1e-6" : NULL;
    case ASSAY_OP_LRN:
        return n->attr.lrn.layout != ASSAY_LAYOUT_NHWC || n->attr.lrn.size % 2 == 0
                   ? "an even size, or channels that are not last"
                   : NULL;
    default:
        return NULL;
    }
}

/* Codes of element-wise operators are of one kind, in and out. */
static bool one_kind(const tfl_export *x, const assay_node *n)
{
    const assay_type *y = out_type(x, n);
    unsigned traits = assay_op_get(n->op)->traits;

    if (!(traits & (ASSAY_T_UNARY | ASSAY_T_BINARY)) ||
        traits & (ASSAY_T_COMPARE | ASSAY_T_CONVERT))
        return true;
    for (int i = 0; i < n->n_in; ++i)
        if (!assay_elem_equal(in_type(x, n, i)->elem, y->elem))
            return false;
    return true;
}

/* TFLite's alpha is per element of the window, ours for the whole. */
static void lrn_options(tfl_export *x, const assay_attr_lrn *a)
{
    tfl_option(x, LRN_RADIUS, 4, (int32_t)(a->size / 2));
    tfl_option_float(x, LRN_BIAS, a->bias);
    tfl_option_float(x, LRN_ALPHA, a->alpha / (float)a->size);
    tfl_option_float(x, LRN_BETA, a->beta);
}

static int raw_of_cast(int to)
{
    static const int raw[] = {[ASSAY_CAST_F32] = TFL_FLOAT32,
                              [ASSAY_CAST_BOOL] = TFL_BOOL,
                              [ASSAY_CAST_I8] = TFL_INT8,
                              [ASSAY_CAST_U8] = TFL_UINT8,
                              [ASSAY_CAST_I16] = TFL_INT16,
                              [ASSAY_CAST_U16] = TFL_UINT16,
                              [ASSAY_CAST_I32] = TFL_INT32,
                              [ASSAY_CAST_U32] = TFL_UINT32,
                              [ASSAY_CAST_I64] = TFL_INT64,
                              [ASSAY_CAST_F16] = TFL_FLOAT16,
                              [ASSAY_CAST_BF16] = TFL_FLOAT16,
                              [ASSAY_CAST_I4] = TFL_INT4, /* u4, i2, u2: values are refused */
                              [ASSAY_CAST_U2] = TFL_INT4};
    return raw[to];
}

#define SLOT_POT_SCALE 1 /* of ADD and SUB: another arithmetic for 16 bits, by default */

static void options(tfl_export *x, const assay_node *n, int fused)
{
    switch (n->op) {
    case ASSAY_OP_ADD:
    case ASSAY_OP_SUB:
        tfl_option(x, SLOT_POT_SCALE, 1, 0);
        tfl_option(x, 0, 1, fused);
        break;
    case ASSAY_OP_MUL:
    case ASSAY_OP_DIV:
    case ASSAY_OP_L2_NORM:
        tfl_option(x, 0, 1, fused);
        break;
    case ASSAY_OP_LEAKY_RELU:
        tfl_option_float(x, 0, n->attr.alpha.alpha);
        break;
    case ASSAY_OP_GELU:
        tfl_option(x, 0, 1, n->attr.gelu.approximate == ASSAY_GELU_TANH);
        break;
    case ASSAY_OP_SOFTMAX:
        tfl_option_float(x, 0, n->attr.softmax.beta);
        break;
    case ASSAY_OP_LRN:
        lrn_options(x, &n->attr.lrn);
        break;
    case ASSAY_OP_CAST:
        if (assay_is_narrowing(n))
            tfl_refuse(x, n, "rounding to float16 or bfloat16");
        tfl_option(x, 1, 1, raw_of_cast(n->attr.cast.to));
        break;
    default:
        break;
    }
}

static bool can_fuse(assay_op op)
{
    return op == ASSAY_OP_ADD || op == ASSAY_OP_SUB || op == ASSAY_OP_MUL || op == ASSAY_OP_DIV ||
           op == ASSAY_OP_L2_NORM;
}

/* Operators that choose among codes compare and copy them raw, whatever their parameters are
 * (reference/maximum_minimum.h, select.h): an operand is requantized to the result's before. */
static int alike(tfl_export *x, const assay_node *n, int i)
{
    const assay_type *from = in_type(x, n, i);
    assay_type to = *from;
    int in = tfl_add_tensor(x, n->in[i]), y;

    to.q = out_type(x, n)->q;
    if (!(assay_op_get(n->op)->traits & ASSAY_T_SELECTS) || !assay_is_quantized(from) ||
        assay_qparams_equal(&from->q, &to.q))
        return in;
    y = tfl_extra(x, n, i == 0 ? "first" : "second", &to, NULL);
    tfl_add_operator(x, BUILTIN_QUANTIZE, &in, 1, &y, 1);
    return y;
}

static void plain(tfl_export *x, const assay_node *n, int builtin)
{
    const char *why = unsaid(x, n);
    int *in = tfl_room(x, (size_t)n->n_in * sizeof *in), y, fused;

    if (!in)
        return;
    if (why || !one_kind(x, n)) {
        tfl_refuse(x, n, "%s", why ? why : "operands of several kinds");
        return;
    }
    for (int i = 0; i < n->n_in; ++i)
        in[i] = alike(x, n, i);
    y = tfl_begin(x, n, can_fuse(n->op), &fused);
    tfl_add_operator(x, builtin, in, n->n_in, &y, 1);
    options(x, n, fused);
    tfl_finish(x, n, y);
}

/* RELU6 and its like, where the runtimes have kernels: of 16-bit codes RELU_N1_TO_1 and RELU_0_TO_1
 * have none (LiteRT, tflite/kernels/activations.cc). Other bounds as MAXIMUM and MINIMUM of codes
 * with the same parameters. */
static void clip(tfl_export *x, const assay_node *n)
{
    const bool wide = assay_is_quantized(in_type(x, n, 0)) && in_type(x, n, 0)->elem.bits == 16;
    const assay_attr_clip *a = &n->attr.clip;
    assay_node bounded = *n;
    int builtin = a->lo == 0 && a->hi == INFINITY ? BUILTIN_RELU
                  : a->lo == 0 && a->hi == 6      ? BUILTIN_RELU6
                  : wide                          ? -1
                  : a->lo == -1 && a->hi == 1     ? BUILTIN_RELU_N1_TO_1
                  : a->lo == 0 && a->hi == 1      ? BUILTIN_RELU_0_TO_1
                                                  : -1;

    if (builtin >= 0) {
        plain(x, n, builtin);
        return;
    }
    if (!assay_qparams_equal(&in_type(x, n, 0)->q, &out_type(x, n)->q)) {
        tfl_refuse(x, n, "bounds [%g, %g] between different parameters", (double)a->lo,
                   (double)a->hi);
        return;
    }
    bounded.act_lo = fmaxf(n->act_lo, a->lo);
    bounded.act_hi = fminf(n->act_hi, a->hi);
    tfl_finish(x, &bounded, tfl_add_tensor(x, n->in[0]));
}

static int reduction(assay_op op)
{
    return op == ASSAY_OP_REDUCE_MEAN   ? BUILTIN_MEAN
           : op == ASSAY_OP_REDUCE_SUM  ? BUILTIN_SUM
           : op == ASSAY_OP_REDUCE_PROD ? BUILTIN_REDUCE_PROD
           : op == ASSAY_OP_REDUCE_MAX  ? BUILTIN_REDUCE_MAX
                                        : BUILTIN_REDUCE_MIN;
}

static void reduce(tfl_export *x, const assay_node *n)
{
    const assay_list *axes = &n->attr.reduce.axes;
    int y, fused, in[2] = {tfl_add_tensor(x, n->in[0])};

    in[1] = tfl_numbers(x, n, "axes", axes->v, axes->n);
    y = tfl_begin(x, n, false, &fused);
    tfl_add_operator(x, reduction(n->op), in, 2, &y, 1);
    tfl_option(x, 0, 1, n->attr.reduce.keepdims);
    tfl_finish(x, n, y);
}

/* TFLite drops the axis; one that is kept comes back by a reshape. */
static void arg(tfl_export *x, const assay_node *n)
{
    const assay_attr_arg *a = &n->attr.arg;
    bool max = n->op == ASSAY_OP_ARG_MAX;
    assay_type dropped = *out_type(x, n);
    int in[2] = {tfl_add_tensor(x, n->in[0])}, y = tfl_add_tensor(x, n->out[0]), to = y;

    if (a->select_last) {
        tfl_refuse(x, n, "the last of equal elements");
        return;
    }
    in[1] = tfl_number(x, n, "axis", a->axis);
    if (a->keepdims) {
        for (int i = (int)a->axis; i + 1 < dropped.rank; ++i)
            dropped.dim[i] = dropped.dim[i + 1];
        --dropped.rank;
        to = tfl_extra(x, n, "dropped", &dropped, NULL);
    }
    tfl_add_operator(x, max ? BUILTIN_ARG_MAX : BUILTIN_ARG_MIN, in, 2, &to, 1);
    tfl_option(x, 0, 1, a->index_bits == 32 ? TFL_INT32 : TFL_INT64);
    if (to != y) {
        int shaped[2] = {to, tfl_numbers(x, n, "shape", out_type(x, n)->dim, out_type(x, n)->rank)};
        tfl_add_operator(x, BUILTIN_RESHAPE, shaped, 2, &y, 1);
    }
}

static void topk(tfl_export *x, const assay_node *n)
{
    const assay_attr_topk *a = &n->attr.topk;
    int in[2], out[2];

    if (!a->largest || a->axis != in_type(x, n, 0)->rank - 1 || a->index_bits != 32) {
        tfl_refuse(x, n,
                   "smallest instead of largest, an axis that is not the last, or 64-bit indices");
        return;
    }
    in[0] = tfl_add_tensor(x, n->in[0]);
    in[1] = tfl_number(x, n, "k", a->k);
    out[0] = tfl_add_tensor(x, n->out[0]);
    out[1] = tfl_add_tensor(x, n->out[1]);
    tfl_add_operator(x, BUILTIN_TOPK_V2, in, 2, out, 2);
}

static void cumsum(tfl_export *x, const assay_node *n)
{
    const assay_attr_cumsum *a = &n->attr.cumsum;
    int in[2] = {tfl_add_tensor(x, n->in[0]), tfl_number(x, n, "axis", a->axis)};
    int y = tfl_add_tensor(x, n->out[0]);

    tfl_add_operator(x, BUILTIN_CUMSUM, in, 2, &y, 1);
    tfl_option(x, CUMSUM_EXCLUSIVE, 1, a->exclusive);
    tfl_option(x, CUMSUM_REVERSE, 1, a->reverse);
}

bool tfl_export_math(tfl_export *x, const assay_node *n)
{
    int builtin = plain_builtin(n->op);

    if (builtin >= 0) {
        plain(x, n, builtin);
        return true;
    }
    switch (n->op) {
    case ASSAY_OP_CLIP:
        clip(x, n);
        return true;
    case ASSAY_OP_REDUCE_MEAN:
    case ASSAY_OP_REDUCE_SUM:
    case ASSAY_OP_REDUCE_PROD:
    case ASSAY_OP_REDUCE_MAX:
    case ASSAY_OP_REDUCE_MIN:
        reduce(x, n);
        return true;
    case ASSAY_OP_ARG_MAX:
    case ASSAY_OP_ARG_MIN:
        arg(x, n);
        return true;
    case ASSAY_OP_TOPK:
        topk(x, n);
        return true;
    case ASSAY_OP_CUMSUM:
        cumsum(x, n);
        return true;
    default:
        return false;
    }
}
