/* A graph as a QDQ network: every op on real values, codes made of its results. */
#include "graph/onnx/export.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/onnx/import.h"
#include "graph/onnx/write.h"

/* ---- conversions ---- */

static void scales_and_zeros(onnx_writer *w, const char *name, const assay_type *t)
{
    const assay_qparams *q = &t->q;
    int64_t dim[ASSAY_MAX_RANK] = {(int64_t)q->count};
    int rank = q->granularity == ASSAY_Q_TENSOR ? 0 : 1;

    if (q->granularity == ASSAY_Q_BLOCK) {
        rank = t->rank;
        memcpy(dim, t->dim, sizeof dim);
        dim[q->axis] = (dim[q->axis] + q->block - 1) / q->block;
    }
    onnx_write_tensor(w, onnx_text(w, "%s:scale", name), assay_f32(), rank, dim, q->scale);
    if (t->elem.bits == 32) /* a bias: its zero point is 0 */
        return;
    char *zeros = onnx_memory(w, q->count * assay_elem_size(t->elem) + 1);
    for (size_t i = 0; zeros && i < q->count; i++)
        assay_elem_set(t->elem, zeros, i, q->zero_point[i]);
    onnx_write_tensor(w, onnx_text(w, "%s:zero", name), t->elem, rank, dim, zeros);
}

/* QuantizeLinear or DequantizeLinear of `from` into `to`, with the parameters written for `name`.
 */
static void convert(onnx_writer *w, const char *op, const char *from, const char *name,
                    const assay_type *t, const char *to)
{
    onnx_write_node(w, op, to);
    onnx_write_input(w, from);
    onnx_write_input(w, onnx_text(w, "%s:scale", name));
    if (t->elem.bits != 32)
        onnx_write_input(w, onnx_text(w, "%s:zero", name));
    if (t->q.granularity != ASSAY_Q_TENSOR)
        onnx_write_int(w, "axis", t->q.axis);
    if (t->q.granularity == ASSAY_Q_BLOCK)
        onnx_write_int(w, "block_size", t->q.block);
}

/* The parameters of a value, written once. */
static void parameters(onnx_writer *w, int v)
{
    if (w->has_params[v])
        return;
    w->has_params[v] = true;
    scales_and_zeros(w, w->g->value[v].name, &w->g->value[v].type);
}

/* The name of a value's real numbers; of codes a DequantizeLinear is made at the first use. */
static const char *real_of(onnx_writer *w, int v)
{
    const assay_value *x = &w->g->value[v];
    const char *name;

    if (!assay_is_quantized(&x->type))
        return x->name;
    name = onnx_text(w, "%s:real", x->name);
    if (!w->has_real[v]) {
        w->has_real[v] = true;
        parameters(w, v);
        convert(w, "DequantizeLinear", x->name, x->name, &x->type, name);
    }
    return name;
}

static void quantize(onnx_writer *w, const char *from, int v)
{
    const assay_value *y = &w->g->value[v];
    parameters(w, v);
    convert(w, "QuantizeLinear", from, y->name, &y->type, y->name);
}

/* A bias is real at the scale of the products, whatever its own parameters say. */
static const char *bias_of(onnx_writer *w, const assay_node *n)
{
    const assay_value *b = &w->g->value[n->in[2]], *weights = &w->g->value[n->in[1]];
    const char *name = onnx_text(w, "%s:bias", w->g->value[n->out[0]].name);
    assay_type t = b->type;
    float *scale = onnx_memory(w, weights->type.q.count * sizeof *scale + 1);

    if (t.elem.kind != ASSAY_KIND_INT)
        return b->name;
    if (t.elem.bits != 32) {
        onnx_write_refuse(w, n, "a bias that is not int32");
        return b->name;
    }
    for (size_t c = 0; scale && c < weights->type.q.count; c++)
        scale[c] = w->g->value[n->in[0]].type.q.scale[0] * weights->type.q.scale[c];
    t.q = (assay_qparams){.granularity = weights->type.q.count > 1 ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR,
                          .count = weights->type.q.count,
                          .scale = scale};
    if (scale)
        scales_and_zeros(w, name, &t);
    convert(w, "DequantizeLinear", b->name, name, &t, onnx_text(w, "%s:real", name));
    return onnx_text(w, "%s:real", name);
}

/* ---- operators ---- */

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
        onnx_write_refuse(w, n, "its channels are last, ONNX has them first");
}

static void conv(onnx_writer *w, const assay_node *n, const char *const *in, const char *y)
{
    const assay_attr_conv *a = &n->attr.conv;

    refuse_nhwc(w, n, a->layout);
    onnx_write_node(w, n->op == ASSAY_OP_CONV ? "Conv" : "ConvTranspose", y);
    inputs(w, in, n->n_in);
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

    onnx_write_node(w, sum ? "ReduceSum" : "ReduceMean", y);
    inputs(w, in, 1);
    if (sum || w->opset >= 18)
        onnx_write_input(w, onnx_write_integers(w, y, "axes", &n->attr.reduce.axes));
    else
        onnx_write_list(w, "axes", &n->attr.reduce.axes, NULL);
    onnx_write_int(w, "keepdims", n->attr.reduce.keepdims);
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
        onnx_write_node(w, "Gather", y);
        onnx_write_int(w, "axis", n->attr.axis.axis);
        break;
    case ASSAY_OP_MATMUL:
        if (n->attr.matmul.transpose_a || n->attr.matmul.transpose_b)
            onnx_write_refuse(w, n, "a product with a transposed operand");
        onnx_write_node(w, "MatMul", y);
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

/* Node n on real values named `in`, its first result named y. */
static void operation(onnx_writer *w, const assay_node *n, const char *const *in, const char *y)
{
    const char *plain = plain_name(n->op);
    assay_list shape = {0};

    switch (n->op) {
    case ASSAY_OP_CONV:
    case ASSAY_OP_CONV_TRANSPOSE:
        conv(w, n, in, y);
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
        reduce(w, n, in, y);
        break;
    case ASSAY_OP_RESHAPE:
        shape.n = assay_node_out(w->g, n, 0)->type.rank;
        memcpy(shape.v, assay_node_out(w->g, n, 0)->type.dim, (size_t)shape.n * sizeof *shape.v);
        onnx_write_node(w, "Reshape", y);
        inputs(w, in, 1);
        onnx_write_input(w, onnx_write_integers(w, y, "shape", &shape));
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

/* Fused bounds as Relu or Clip of `from`; returns the name of the result. */
static const char *bounded(onnx_writer *w, const assay_node *n, const char *from)
{
    const assay_type *t = &assay_node_out(w->g, n, 0)->type;
    float lo = n->act_lo, hi = n->act_hi;
    const char *to = onnx_text(w, "%s:bounded", w->g->value[n->out[0]].name);

    if (n->has_code_bounds && t->q.granularity == ASSAY_Q_TENSOR) {
        lo = fmaxf(lo, t->q.scale[0] * (float)(n->code_lo - t->q.zero_point[0]));
        hi = fminf(hi, t->q.scale[0] * (float)(n->code_hi - t->q.zero_point[0]));
    }
    if (isinf(lo) && isinf(hi))
        return from;
    onnx_write_node(w, lo == 0 && isinf(hi) ? "Relu" : "Clip", to);
    onnx_write_input(w, from);
    if (!(lo == 0 && isinf(hi))) {
        onnx_write_input(w, onnx_write_number(w, to, "min", lo));
        onnx_write_input(w, onnx_write_number(w, to, "max", hi));
    }
    return to;
}

/* x of more than two dimensions through Gemm: rows, product, and back, on codes. */
static void deep_fc(onnx_writer *w, const assay_node *n, const char **in)
{
    const assay_value *x = assay_node_in(w->g, n, 0), *y = assay_node_out(w->g, n, 0);
    bool codes = assay_is_quantized(&x->type);
    int64_t columns = x->type.dim[x->type.rank - 1];
    assay_list rows = {.n = 2, .v = {-1, columns}}, shape = {.n = y->type.rank};
    const char *flat = onnx_text(w, "%s:rows_in", y->name), *to;
    const char *made = onnx_text(w, "%s:product", y->name);

    memcpy(shape.v, y->type.dim, (size_t)shape.n * sizeof *shape.v);
    onnx_write_node(w, "Reshape", flat);
    onnx_write_input(w, in[0]);
    onnx_write_input(w, onnx_write_integers(w, flat, "shape", &rows));
    in[0] = flat;
    if (codes) {
        convert(w, "QuantizeLinear", flat, x->name, &x->type, onnx_text(w, "%s:q", flat));
        in[0] = onnx_text(w, "%s:real", flat);
        convert(w, "DequantizeLinear", onnx_text(w, "%s:q", flat), x->name, &x->type, in[0]);
    }
    operation(w, n, in, made);
    made = bounded(w, n, made);
    if (codes) {
        to = onnx_text(w, "%s:rows", y->name);
        parameters(w, n->out[0]);
        convert(w, "QuantizeLinear", made, y->name, &y->type, to);
        made = onnx_text(w, "%s:real", to);
        convert(w, "DequantizeLinear", to, y->name, &y->type, made);
    }
    to = codes ? onnx_text(w, "%s:float", y->name) : y->name;
    onnx_write_node(w, "Reshape", to);
    onnx_write_input(w, made);
    onnx_write_input(w, onnx_write_integers(w, y->name, "shape", &shape));
    if (codes)
        quantize(w, to, n->out[0]);
}

static void split(onnx_writer *w, const assay_node *n, const char *x)
{
    const assay_attr_split *a = &n->attr.split;
    bool codes = assay_is_quantized(&assay_node_out(w->g, n, 0)->type);

    onnx_write_node(w, "Split", NULL);
    onnx_write_input(w, x);
    onnx_write_input(w, onnx_write_integers(w, w->g->value[n->out[0]].name, "sizes", &a->sizes));
    onnx_write_int(w, "axis", a->axis);
    for (int k = 0; k < n->n_out; k++) {
        const char *name = w->g->value[n->out[k]].name;
        onnx_write_output(w, codes ? onnx_text(w, "%s:float", name) : name);
    }
    for (int k = 0; k < n->n_out && codes; k++)
        quantize(w, onnx_text(w, "%s:float", w->g->value[n->out[k]].name), n->out[k]);
}

#define MAX_IN 64

static void export_node(onnx_writer *w, const assay_node *n)
{
    const assay_value *y = assay_node_out(w->g, n, 0);
    bool codes = assay_is_quantized(&y->type),
         weighted = assay_op_get(n->op)->traits & ASSAY_T_WEIGHTED;
    const char *in[MAX_IN], *to;

    if (n->n_in > MAX_IN || assay_op_get(n->op)->traits & ASSAY_T_STATE ||
        (assay_is_accumulator(&y->type) && assay_node_is_quantized(w->g, n))) {
        onnx_write_refuse(w, n, "state, plain sums, or too many inputs");
        return;
    }
    for (int i = 0; i < n->n_in; i++)
        in[i] = n->in[i] < 0                         ? ""
                : weighted && i == 2                 ? bias_of(w, n)
                : n->op == ASSAY_OP_GATHER && i == 1 ? w->g->value[n->in[i]].name
                                                     : real_of(w, n->in[i]);
    if (n->op == ASSAY_OP_DEQUANTIZE) {
        parameters(w, n->in[0]);
        convert(w, "DequantizeLinear", w->g->value[n->in[0]].name, w->g->value[n->in[0]].name,
                &w->g->value[n->in[0]].type, y->name);
        return;
    }
    if (n->op == ASSAY_OP_QUANTIZE || n->op == ASSAY_OP_RESCALE) {
        quantize(w, bounded(w, n, in[0]), n->out[0]);
        return;
    }
    if (n->op == ASSAY_OP_SPLIT) {
        split(w, n, in[0]);
        return;
    }
    if (n->op == ASSAY_OP_FC && assay_node_in(w->g, n, 0)->type.rank != 2) {
        deep_fc(w, n, in);
        return;
    }
    to = codes ? onnx_text(w, "%s:float", y->name) : y->name;
    operation(w, n, in, to);
    if (codes)
        quantize(w, bounded(w, n, to), n->out[0]);
    else if (bounded(w, n, to) != to)
        onnx_write_refuse(w, n, "bounds of a float op");
}

/* The least opset that has what the network needs. */
static int64_t opset_of(const assay_graph *g)
{
    int64_t opset = 13;
    for (int i = 0; i < g->n_nodes; i++) {
        assay_op op = g->node[i].op;
        int64_t needs = op == ASSAY_OP_LAYER_NORM   ? 17
                        : op == ASSAY_OP_GELU       ? 20
                        : op == ASSAY_OP_HARD_SWISH ? 14
                                                    : 13;
        opset = needs > opset ? needs : opset;
    }
    for (int v = 0; v < g->n_values; v++) {
        const assay_type *t = &g->value[v].type;
        if (assay_is_quantized(t) &&
            (t->elem.bits == 4 || t->elem.bits == 16 || t->q.granularity == ASSAY_Q_BLOCK))
            opset = 21;
    }
    return opset;
}

assay_status assay_onnx_export(const assay_graph *g, unsigned char **bytes, size_t *length,
                               assay_error *err)
{
    onnx_writer w;

    *bytes = NULL;
    onnx_write_begin(&w, g, opset_of(g), err);
    for (int v = 0; v < g->n_values && !w.status; v++)
        if (g->value[v].data && !g->value[v].is_variable)
            onnx_write_tensor(&w, g->value[v].name, g->value[v].type.elem, g->value[v].type.rank,
                              g->value[v].type.dim, g->value[v].data);
    for (int i = 0; i < g->n_nodes && !w.status; i++)
        export_node(&w, &g->node[i]);
    return onnx_write_end(&w, bytes, length);
}
