/* A graph as a QDQ network: every op on real values, codes made of its results. */
#include "graph/onnx/export.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/layout.h"
#include "graph/onnx/export_parts.h"

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

static bool is_wide_bias(const assay_graph *g, int v)
{
    const assay_type *t = &g->value[v].type;
    if (t->elem.kind != ASSAY_KIND_INT || t->elem.bits != 64)
        return false;
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < g->node[i].n_in; k++)
            if (g->node[i].in[k] == v)
                return k == 2 && assay_op_get(g->node[i].op)->traits & ASSAY_T_WEIGHTED;
    return false;
}

/* DequantizeLinear has no 64 bits: the bias as floats, of which its codes can be made again. */
static void wide_bias(onnx_writer *w, const assay_node *n, const char *name, const float *scale,
                      size_t scales)
{
    const assay_value *b = &w->g->value[n->in[2]];
    int64_t count = assay_shape_count(&b->type);
    float *real = onnx_memory(w, (size_t)count * sizeof *real + 1);

    for (int64_t i = 0; real && scale && b->data && i < count; i++) {
        double code = (double)assay_elem_get(b->type.elem, b->data, (size_t)i);
        double s = (double)scale[scales > 1 ? i : 0];
        real[i] = (float)(code * s);
        if (rint((double)real[i] / s) != code) {
            onnx_write_refuse(w, n, "a 64-bit bias that float32 does not tell from its neighbours");
            return;
        }
    }
    onnx_write_tensor(w, name, assay_f32(), b->type.rank, b->type.dim, real);
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
    if (weights->type.q.granularity == ASSAY_Q_BLOCK) {
        onnx_write_refuse(w, n, "a bias in codes beside weights in blocks");
        return b->name;
    }
    for (size_t c = 0; scale && c < weights->type.q.count; c++)
        scale[c] = w->g->value[n->in[0]].type.q.scale[0] * weights->type.q.scale[c];
    if (t.elem.bits != 32) {
        wide_bias(w, n, name, scale, weights->type.q.count);
        return name;
    }
    t.q = (assay_qparams){.granularity = weights->type.q.count > 1 ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR,
                          .count = weights->type.q.count,
                          .scale = scale};
    if (scale)
        scales_and_zeros(w, name, &t);
    convert(w, "DequantizeLinear", b->name, name, &t, onnx_text(w, "%s:real", name));
    return onnx_text(w, "%s:real", name);
}

/* ---- nodes ---- */

/* Fused bounds as Relu or Clip of `from` into `to` (NULL: a name of its own); returns the name of
 * the result, `from` where there are no bounds. */
static const char *bounded(onnx_writer *w, const assay_node *n, const char *from, const char *to)
{
    const assay_type *t = &assay_node_out(w->g, n, 0)->type;
    float lo = n->act_lo, hi = n->act_hi;

    if (n->has_code_bounds && t->q.granularity == ASSAY_Q_TENSOR) {
        lo = fmaxf(lo, t->q.scale[0] * (float)(n->code_lo - t->q.zero_point[0]));
        hi = fminf(hi, t->q.scale[0] * (float)(n->code_hi - t->q.zero_point[0]));
    }
    if (isinf(lo) && isinf(hi))
        return from;
    if (!to)
        to = onnx_text(w, "%s:bounded", w->g->value[n->out[0]].name);
    onnx_write_node(w, lo == 0 && isinf(hi) ? "Relu" : "Clip", to);
    onnx_write_input(w, from);
    if (!(lo == 0 && isinf(hi))) {
        onnx_write_input(w, onnx_write_number(w, to, "min", lo));
        onnx_write_input(w, onnx_write_number(w, to, "max", hi));
    }
    return to;
}

/* Operand i of a product, turned where the product says so; codes are turned themselves. */
static const char *turned(onnx_writer *w, const assay_node *n, int i)
{
    static const char *const suffix[2] = {"a", "b"};
    const assay_value *x = assay_node_in(w->g, n, i);
    const char *y = w->g->value[n->out[0]].name, *to, *real;
    assay_list perm = {.n = x->type.rank};
    assay_type t = x->type;

    if (!(i == 0 ? n->attr.matmul.transpose_a : n->attr.matmul.transpose_b) || perm.n < 2)
        return real_of(w, n->in[i]);
    for (int d = 0; d < perm.n; d++)
        perm.v[d] = d < perm.n - 2 ? d : 2 * perm.n - 3 - d;
    to = onnx_text(w, "%s:%s_turned", y, suffix[i]);
    onnx_write_node(w, "Transpose", to);
    onnx_write_input(w, x->name);
    onnx_write_list(w, "perm", &perm, NULL);
    if (!assay_is_quantized(&t))
        return to;
    if (t.q.granularity != ASSAY_Q_TENSOR && t.q.axis >= perm.n - 2)
        t.q.axis = 2 * perm.n - 3 - t.q.axis;
    parameters(w, n->in[i]);
    real = onnx_text(w, "%s:real", to);
    convert(w, "DequantizeLinear", to, x->name, &t, real);
    return real;
}

/* The zero points of an operand of an integer product: one where all are equal. */
static const char *zero_of(onnx_writer *w, const assay_node *n, int i)
{
    const assay_value *x = assay_node_in(w->g, n, i);
    const char *name = onnx_text(w, "%s:zero%d", w->g->value[n->out[0]].name, i);
    int64_t count = (int64_t)x->type.q.count;
    bool equal = true;

    for (int64_t k = 1; k < count; k++)
        equal = equal && x->type.q.zero_point[k] == x->type.q.zero_point[0];
    count = equal ? 1 : count;
    char *zeros = onnx_memory(w, (size_t)count + 1);
    for (int64_t k = 0; zeros && k < count; k++)
        assay_elem_set(x->type.elem, zeros, (size_t)k, x->type.q.zero_point[k]);
    onnx_write_tensor(w, name, x->type.elem, equal ? 0 : 1, &count, zeros);
    return name;
}

/* The codes of the second operand of an integer product, as [.., K, N]. */
static const char *columns_of(onnx_writer *w, const assay_node *n, int i, bool turn)
{
    const assay_value *x = assay_node_in(w->g, n, i);
    const char *to = onnx_text(w, "%s:codes%d", w->g->value[n->out[0]].name, i);
    assay_list perm = {.n = x->type.rank};

    if (!turn || perm.n < 2)
        return x->name;
    for (int d = 0; d < perm.n; d++)
        perm.v[d] = d < perm.n - 2 ? d : 2 * perm.n - 3 - d;
    onnx_write_node(w, "Transpose", to);
    onnx_write_input(w, x->name);
    onnx_write_list(w, "perm", &perm, NULL);
    return to;
}

/* A product whose result is its exact sums: ConvInteger or MatMulInteger, and the bias. */
static void sums(onnx_writer *w, const assay_node *n)
{
    const assay_value *y = assay_node_out(w->g, n, 0), *bias = assay_node_in(w->g, n, 2);
    bool conv = n->op == ASSAY_OP_CONV, fc = n->op == ASSAY_OP_FC;
    const char *to = bias ? onnx_text(w, "%s:products", y->name) : y->name, *in[4];

    if ((!conv && !fc && n->op != ASSAY_OP_MATMUL) ||
        assay_node_in(w->g, n, 0)->type.elem.bits != 8 ||
        assay_node_in(w->g, n, 1)->type.elem.bits != 8 || y->type.elem.bits != 32) {
        onnx_write_refuse(w, n, "plain sums, other than of 8-bit codes in 32 bits");
        return;
    }
    in[0] = columns_of(w, n, 0, n->op == ASSAY_OP_MATMUL && n->attr.matmul.transpose_a);
    in[1] = columns_of(w, n, 1, fc || (n->op == ASSAY_OP_MATMUL && n->attr.matmul.transpose_b));
    in[2] = zero_of(w, n, 0);
    in[3] = zero_of(w, n, 1);
    onnx_export_sums(w, n, in, to);
    if (!bias)
        return;
    onnx_write_node(w, "Add", y->name);
    onnx_write_input(w, to);
    onnx_write_input(w, bias->name);
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
    onnx_export_operation(w, n, in, made);
    made = bounded(w, n, made, NULL);
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

/* The name by which node n reads input i. */
static const char *input_of(onnx_writer *w, const assay_node *n, int i)
{
    bool weighted = assay_op_get(n->op)->traits & ASSAY_T_WEIGHTED;

    if (n->in[i] < 0)
        return "";
    if (weighted && i == 2)
        return bias_of(w, n);
    if (n->op == ASSAY_OP_MATMUL)
        return turned(w, n, i);
    /* indices; codes that only get another meaning */
    if ((n->op == ASSAY_OP_GATHER && i == 1) || n->op == ASSAY_OP_RELABEL)
        return w->g->value[n->in[i]].name;
    return real_of(w, n->in[i]);
}

static void export_node(onnx_writer *w, const assay_node *n)
{
    const assay_value *y = assay_node_out(w->g, n, 0);
    bool codes = assay_is_quantized(&y->type);
    const char *in[MAX_IN], *to;

    if (assay_op_get(n->op)->traits & ASSAY_T_STATE) {
        onnx_write_refuse(w, n, "state kept between runs, for which ONNX has no operator");
        return;
    }
    if (n->n_in > MAX_IN) {
        onnx_write_refuse(w, n, "more than 64 inputs");
        return;
    }
    if (assay_is_accumulator(&y->type) && assay_node_is_quantized(w->g, n) &&
        assay_op_get(n->op)->traits & (ASSAY_T_WEIGHTED | ASSAY_T_ABSORB_IN)) {
        sums(w, n);
        return;
    }
    for (int i = 0; i < n->n_in; i++)
        in[i] = input_of(w, n, i);
    switch (n->op) {
    case ASSAY_OP_DEQUANTIZE:
        parameters(w, n->in[0]);
        convert(w, "DequantizeLinear", w->g->value[n->in[0]].name, w->g->value[n->in[0]].name,
                &w->g->value[n->in[0]].type, y->name);
        return;
    case ASSAY_OP_QUANTIZE:
    case ASSAY_OP_RESCALE:
        quantize(w, bounded(w, n, in[0], NULL), n->out[0]);
        return;
    case ASSAY_OP_SPLIT:
        split(w, n, in[0]);
        return;
    case ASSAY_OP_FC:
        if (assay_node_in(w->g, n, 0)->type.rank == 2)
            break;
        deep_fc(w, n, in);
        return;
    default:
        break;
    }
    if (n->op == ASSAY_OP_RELABEL) {
        onnx_export_operation(w, n, in, y->name);
        return;
    }
    if (codes) {
        to = onnx_text(w, "%s:float", y->name);
        onnx_export_operation(w, n, in, to);
        quantize(w, bounded(w, n, to, NULL), n->out[0]);
        return;
    }
    to = isinf(n->act_lo) && isinf(n->act_hi) ? y->name : onnx_text(w, "%s:unbounded", y->name);
    onnx_export_operation(w, n, in, to);
    bounded(w, n, to, y->name);
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

static assay_status export(const assay_graph *g, unsigned char **bytes, size_t *length,
                           assay_error *err)
{
    onnx_writer w;

    onnx_write_begin(&w, g, opset_of(g), err);
    for (int v = 0; v < g->n_values && !w.status; v++)
        if (g->value[v].data && !g->value[v].is_variable && !is_wide_bias(g, v))
            onnx_write_tensor(&w, g->value[v].name, g->value[v].type.elem, g->value[v].type.rank,
                              g->value[v].type.dim, g->value[v].data);
    for (int i = 0; i < g->n_nodes && !w.status; i++)
        export_node(&w, &g->node[i]);
    return onnx_write_end(&w, bytes, length);
}

assay_status assay_onnx_export(const assay_graph *g, unsigned char **bytes, size_t *length,
                               assay_error *err)
{
    assay_graph *first;
    assay_status s;

    *bytes = NULL;
    s = assay_change_layout(g, ASSAY_LAYOUT_NCHW, &first, err);
    if (s)
        return s;
    s = export(first ? first : g, bytes, length, err);
    assay_graph_free(first);
    return s;
}
