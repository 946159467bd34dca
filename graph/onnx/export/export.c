/* A graph as a QDQ network: every op on real values, codes made of its results. */
#include "graph/onnx/export.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/layout/layout.h"
#include "graph/onnx/export/parts.h"

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

/* Operand i of a product, transposed where the product says so; codes are transposed themselves. */
static const char *transposed(onnx_writer *w, const assay_node *n, int i)
{
    static const char *const suffix[2] = {"a", "b"};
    const assay_value *x = assay_node_in(w->g, n, i);
    const char *y = w->g->value[n->out[0]].name, *to, *real;
    assay_list perm = {.n = x->type.rank};
    assay_type t = x->type;

    if (!(i == 0 ? n->attr.matmul.transpose_a : n->attr.matmul.transpose_b) || perm.n < 2)
        return onnx_export_real(w, n->in[i]);
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
    onnx_export_parameters(w, n->in[i]);
    real = onnx_text(w, "%s:real", to);
    onnx_export_convert(w, "DequantizeLinear", to, x->name, &t, real);
    return real;
}

/* The zero points of an operand of an integer product: one where all are equal. */
static const char *zero_of(onnx_writer *w, const assay_node *n, int i)
{
    const assay_value *x = assay_node_in(w->g, n, i);
    const char *name = onnx_text(w, "%s:zero%d", w->g->value[n->out[0]].name, i);
    const bool equal = assay_qparams_one_zero_point(&x->type.q);
    const int64_t count = equal ? 1 : (int64_t)x->type.q.count;
    char *zeros = onnx_memory(w, (size_t)count + 1);
    for (int64_t k = 0; zeros && k < count; k++)
        assay_elem_set(x->type.elem, zeros, (size_t)k, x->type.q.zero_point[k]);
    onnx_write_tensor(w, name, x->type.elem, equal ? 0 : 1, &count, zeros);
    return name;
}

/* The codes of the second operand of an integer product, as [.., K, N]. */
static const char *columns_of(onnx_writer *w, const assay_node *n, int i, bool transpose)
{
    const assay_value *x = assay_node_in(w->g, n, i);
    const char *to = onnx_text(w, "%s:codes%d", w->g->value[n->out[0]].name, i);
    assay_list perm = {.n = x->type.rank};

    if (!transpose || perm.n < 2)
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
        onnx_export_convert(w, "QuantizeLinear", flat, x->name, &x->type,
                            onnx_text(w, "%s:q", flat));
        in[0] = onnx_text(w, "%s:real", flat);
        onnx_export_convert(w, "DequantizeLinear", onnx_text(w, "%s:q", flat), x->name, &x->type,
                            in[0]);
    }
    onnx_export_operation(w, n, in, made);
    made = bounded(w, n, made, NULL);
    if (codes) {
        to = onnx_text(w, "%s:rows", y->name);
        onnx_export_parameters(w, n->out[0]);
        onnx_export_convert(w, "QuantizeLinear", made, y->name, &y->type, to);
        made = onnx_text(w, "%s:real", to);
        onnx_export_convert(w, "DequantizeLinear", to, y->name, &y->type, made);
    }
    to = codes ? onnx_text(w, "%s:float", y->name) : y->name;
    onnx_write_node(w, "Reshape", to);
    onnx_write_input(w, made);
    onnx_write_input(w, onnx_write_integers(w, y->name, "shape", &shape));
    if (codes)
        onnx_export_quantize(w, to, n->out[0]);
}

static void split(onnx_writer *w, const assay_node *n, const char *x)
{
    const assay_attr_split *a = &n->attr.split;
    bool codes = assay_is_quantized(&assay_node_out(w->g, n, 0)->type);

    onnx_write_operation(w);
    onnx_write_node(w, "Split", NULL);
    onnx_write_input(w, x);
    onnx_write_input(w, onnx_write_integers(w, w->g->value[n->out[0]].name, "sizes", &a->sizes));
    onnx_write_int(w, "axis", a->axis);
    for (int k = 0; k < n->n_out; k++) {
        const char *name = w->g->value[n->out[k]].name;
        onnx_write_output(w, codes ? onnx_text(w, "%s:float", name) : name);
    }
    for (int k = 0; k < n->n_out && codes; k++)
        onnx_export_quantize(w, onnx_text(w, "%s:float", w->g->value[n->out[k]].name), n->out[k]);
}

#define MAX_IN 64

/* The name by which node n reads input i. */
static const char *input_of(onnx_writer *w, const assay_node *n, int i)
{
    bool weighted = assay_op_get(n->op)->traits & ASSAY_T_WEIGHTED;

    if (n->in[i] < 0)
        return "";
    if (weighted && i == 2)
        return onnx_export_bias(w, n);
    if (n->op == ASSAY_OP_MATMUL)
        return transposed(w, n, i);
    /* indices; codes that only get another meaning, or that the node itself dequantizes */
    if ((n->op == ASSAY_OP_GATHER && i == 1) || n->op == ASSAY_OP_RELABEL ||
        n->op == ASSAY_OP_DEQUANTIZE)
        return w->g->value[n->in[i]].name;
    return onnx_export_real(w, n->in[i]);
}

static bool is_sum(const onnx_writer *w, const assay_node *n)
{
    return assay_is_accumulator(&assay_node_out(w->g, n, 0)->type) &&
           assay_node_is_quantized(w->g, n) &&
           assay_op_get(n->op)->traits & (ASSAY_T_WEIGHTED | ASSAY_T_ABSORB_IN);
}

/* Nodes that are more than one operator, or none of their own; false: any other. */
static bool export_apart(onnx_writer *w, const assay_node *n, const char **in)
{
    const assay_value *x = assay_node_in(w->g, n, 0), *y = assay_node_out(w->g, n, 0);
    const char *to;

    switch (n->op) {
    case ASSAY_OP_DEQUANTIZE:
        onnx_export_parameters(w, n->in[0]);
        onnx_write_operation(w);
        onnx_export_convert(w, "DequantizeLinear", x->name, x->name, &x->type, y->name);
        return true;
    case ASSAY_OP_QUANTIZE:
    case ASSAY_OP_RESCALE:
        to = bounded(w, n, in[0], NULL);
        onnx_write_operation(w);
        onnx_export_quantize(w, to, n->out[0]);
        return true;
    case ASSAY_OP_SPLIT:
        split(w, n, in[0]);
        return true;
    case ASSAY_OP_FC:
        if (x->type.rank != 2)
            deep_fc(w, n, in);
        return x->type.rank != 2;
    case ASSAY_OP_RELABEL:
        onnx_export_operation(w, n, in, y->name);
        return true;
    default:
        return false;
    }
}

static void export_node(onnx_writer *w, const assay_node *n)
{
    const assay_value *y = assay_node_out(w->g, n, 0);
    const char *in[MAX_IN], *to;

    onnx_write_for(w, n);
    if (assay_op_get(n->op)->traits & ASSAY_T_FLOW) {
        onnx_write_refuse(w, n, "control flow is not exported to ONNX");
        return;
    }
    if (assay_op_get(n->op)->traits & ASSAY_T_STATE) {
        onnx_write_refuse(w, n, "state kept between runs, for which ONNX has no operator");
        return;
    }
    if (n->n_in > MAX_IN) {
        onnx_write_refuse(w, n, "more than 64 inputs");
        return;
    }
    if (is_sum(w, n)) {
        sums(w, n);
        return;
    }
    for (int i = 0; i < n->n_in; i++)
        in[i] = input_of(w, n, i);
    if (export_apart(w, n, in))
        return;
    if (assay_is_quantized(&y->type)) {
        to = onnx_text(w, "%s:float", y->name);
        onnx_export_operation(w, n, in, to);
        onnx_export_quantize(w, bounded(w, n, to, NULL), n->out[0]);
        return;
    }
    to = isinf(n->act_lo) && isinf(n->act_hi) ? y->name : onnx_text(w, "%s:unbounded", y->name);
    onnx_export_operation(w, n, in, to);
    bounded(w, n, to, y->name);
}

static int64_t opset_of_node(const assay_graph *g, const assay_node *n)
{
    switch (n->op) {
    case ASSAY_OP_HARD_SWISH:
        return 14;
    case ASSAY_OP_ROI_ALIGN:
        return 16;
    case ASSAY_OP_GRID_SAMPLE:
        return assay_node_in(g, n, 0)->type.rank == 4 ? 16 : 20;
    case ASSAY_OP_SCATTER_REDUCE:
        return n->attr.scatter.reduction <= ASSAY_REDUCTION_MUL ? 16 : 18;
    case ASSAY_OP_LAYER_NORM:
        return 17;
    case ASSAY_OP_BITWISE_AND:
    case ASSAY_OP_BITWISE_OR:
    case ASSAY_OP_BITWISE_XOR:
        return 18;
    case ASSAY_OP_PAD:
        return n->attr.pad.mode == ASSAY_PAD_WRAP ? 19 : 13;
    case ASSAY_OP_GELU:
        return 20;
    default:
        return 13;
    }
}

/* Small floats: output_dtype and blocks; float4; float8e8m0 as a scale. */
static int64_t opset_of_type(const assay_type *t)
{
    if (assay_is_small_float(t->elem))
        return t->elem.kind == ASSAY_KIND_F8E8M0 ? 25 : t->elem.kind == ASSAY_KIND_F4E2M1 ? 23 : 21;
    if (t->elem.kind == ASSAY_KIND_INT && t->elem.bits == 2)
        return 25;
    return assay_is_quantized(t) &&
                   (t->elem.bits == 4 || t->elem.bits == 16 || t->q.granularity == ASSAY_Q_BLOCK)
               ? 21
               : 13;
}

/* The least opset that has what the network needs. */
static int64_t opset_of(const assay_graph *g)
{
    int64_t opset = 13;
    for (int i = 0; i < g->n_nodes; i++) {
        const int64_t needs = opset_of_node(g, &g->node[i]);
        opset = needs > opset ? needs : opset;
    }
    for (int v = 0; v < g->n_values; v++) {
        const int64_t needs = opset_of_type(&g->value[v].type);
        opset = needs > opset ? needs : opset;
    }
    return opset;
}

static assay_status export(const assay_graph *g, unsigned char **bytes, size_t *length,
                           assay_error *err)
{
    onnx_writer w;

    onnx_write_begin(&w, g, opset_of(g), err);
    for (int v = 0; v < g->n_values && !w.status; v++)
        if (g->value[v].data && !g->value[v].is_variable && !onnx_export_is_wide_bias(g, v))
            onnx_write_tensor(&w, g->value[v].name, g->value[v].type.elem, g->value[v].type.rank,
                              g->value[v].type.dim, g->value[v].data);
    for (int i = 0; i < g->n_nodes && !w.status; i++)
        export_node(&w, &g->node[i]);
    onnx_write_values(&w);
    return onnx_write_end(&w, bytes, length);
}

assay_status onnx_export_graph(const assay_graph *g, unsigned char **bytes, size_t *length,
                               assay_error *err)
{
    assay_graph *first;
    assay_status s;

    *bytes = NULL;
    s = layout_change(g, ASSAY_LAYOUT_NCHW, &first, err);
    if (s)
        return s;
    s = export(first ? first : g, bytes, length, err);
    assay_graph_free(first);
    return s;
}
