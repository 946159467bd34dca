/* Operators on codes with an output scale: QLinear*, QGemm. Scale and zero point inputs become the
 * parameters of the values; what the operator computes from them is the scheme's affair. */
#include <math.h>
#include <string.h>

#include "graph/onnx/op/op.h"

static const int64_t swap[2] = {1, 0};
static const assay_elem i32 = {ASSAY_KIND_INT, 32, true};

static assay_elem elem_of(onnx_node *n, onnx_value *v)
{
    return n->status ? (assay_elem){0} : n->im->graph->value[v->id].type.elem;
}

/* The output's parameters; its codes are of x's kind. */
static bool output_params(onnx_node *n, size_t scale, size_t zero, onnx_value *x, assay_qparams *q)
{
    return !n->status && onnx_read_params(n, scale, zero, elem_of(n, x), 1, q);
}

/* in[0..n_in-1] through the node's op, to codes of in[0]'s kind. */
static void finish(onnx_node *n, assay_op op, const assay_attrs *attr, onnx_value *const *in,
                   int n_in, size_t scale, size_t zero)
{
    assay_qparams q;

    if (output_params(n, scale, zero, in[0], &q))
        onnx_quantized_op(n, op, attr, in, n_in, elem_of(n, in[0]), &q, NULL);
}

/* An int32 bias. */
static onnx_value *bias_in(onnx_node *n, size_t i)
{
    onnx_value *b = onnx_in(n, i);

    if (b && !n->status && !assay_elem_equal(onnx_type(n, b).elem, i32))
        return onnx_fail(n, ASSAY_ERR_INPUT, "bias '%s' is not int32", n->pb->input[i]);
    return b;
}

void onnx_import_qlinear_conv(onnx_node *n)
{
    assay_type x = onnx_type(n, onnx_in(n, 0)), w = onnx_type(n, onnx_in(n, 3));
    assay_attrs a = onnx_conv_attrs(n, &x, &w);
    onnx_value *in[3] = {onnx_quantized_in(n, 0, 1, 2),
                         onnx_quantized_axis(n, onnx_in(n, 3), 4, 5, 0), bias_in(n, 8)};

    finish(n, ASSAY_OP_CONV, &a, in, in[2] ? 3 : 2, 6, 7);
}

/* A constant matrix makes it fully connected. */
void onnx_import_qlinear_matmul(onnx_node *n)
{
    onnx_value *b = onnx_in(n, 3);
    assay_type ta = onnx_type(n, onnx_in(n, 0)), tb = onnx_type(n, b);
    bool fc = !n->status && b->constant && tb.rank == 2 && ta.rank >= 1;
    onnx_value *in[2] = {onnx_quantized_in(n, 0, 1, 2), NULL};

    if (n->status)
        return;
    if (tb.rank < 1) {
        onnx_fail(n, ASSAY_ERR_INPUT, "operand B of rank 0, expected at least 1");
        return;
    }
    if (fc) {
        onnx_value *weights = onnx_transposed(n, b, swap, "weights");
        onnx_inherit_name(weights, b);
        in[1] = onnx_quantized_axis(n, weights, 4, 5, 0);
    } else {
        in[1] = onnx_quantized_axis(n, b, 4, 5, tb.rank - 1);
    }
    finish(n, fc ? ASSAY_OP_FC : ASSAY_OP_MATMUL, NULL, in, 2, 6, 7);
}

/* ---- QGemm ---- */

/* x with alpha in its scale: the steps of the product are f32(f32(alpha * a) * b). */
static onnx_value *times_alpha(onnx_node *n, onnx_value *x, float alpha)
{
    assay_qparams q;
    float scale;

    if (n->status || alpha == 1)
        return x;
    q = n->im->graph->value[x->id].type.q;
    scale = alpha * q.scale[0];
    q.scale = &scale;
    if (!(scale > 0) || !isfinite(scale))
        return onnx_refuse(n, "alpha %g", (double)alpha);
    return onnx_convert(n, ASSAY_OP_RELABEL, x, elem_of(n, x), &q, "times_alpha");
}

/* The weights as [N, K] with their parameters. */
static onnx_value *gemm_weights(onnx_node *n)
{
    onnx_value *b = onnx_in(n, 3);
    bool transposed = onnx_int(n, "transB", 0) != 0;
    assay_type t = onnx_type(n, b);
    assay_qparams q;
    int axis = transposed ? 0 : 1;

    if (n->status)
        return NULL;
    if (t.rank != 2)
        return onnx_fail(n, ASSAY_ERR_INPUT, "operand B of rank %d, expected 2", t.rank);
    if (!onnx_read_params(n, 4, 5, t.elem, t.dim[axis], &q))
        return NULL;
    q.granularity = q.count > 1 ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR;
    if (transposed || b->constant) {
        onnx_value *w = transposed ? b : onnx_transposed(n, b, swap, "weights");
        if (!transposed)
            onnx_inherit_name(w, b);
        q.axis = 0;
        return n->status ? NULL : onnx_quantized(n, w, &q);
    }
    q.axis = q.count > 1 ? 1 : 0;
    b = onnx_quantized(n, b, &q);
    return b ? onnx_transposed(n, b, swap, "weights") : NULL;
}

/* Accumulators times the step a * b, one for all or one a column. */
static void real_product(onnx_node *n, onnx_value *const *in, int n_in)
{
    const assay_attrs cast = {.cast = {.to = ASSAY_CAST_F32}};
    onnx_value *acc = onnx_quantized_op(n, ASSAY_OP_FC, NULL, in, n_in, i32, NULL, "acc");

    if (n->status)
        return;
    const assay_qparams *a = &n->im->graph->value[in[0]->id].type.q;
    const assay_qparams *b = &n->im->graph->value[in[1]->id].type.q;
    int64_t count = (int64_t)b->count;
    onnx_const *step = onnx_new_const(n->im, ONNX_FLOAT, 1, &count);
    if (!step) {
        onnx_no_memory(n);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        onnx_set_real(step, i, (double)(a->scale[0] * b->scale[i]));
    onnx_op2(n, ASSAY_OP_MUL, NULL, onnx_op1(n, ASSAY_OP_CAST, &cast, acc, "acc_real"),
             onnx_constant(n, step, "step"), NULL);
}

void onnx_import_qgemm(onnx_node *n)
{
    onnx_value *in[3] = {onnx_quantized_in(n, 0, 1, 2), gemm_weights(n), bias_in(n, 6)};
    assay_type t;

    in[0] = times_alpha(n, in[0], onnx_float(n, "alpha", 1));
    if (n->status)
        return;
    if (onnx_int(n, "transA", 0) != 0)
        in[0] = onnx_transposed(n, in[0], swap, "a_transposed");
    t = onnx_type(n, in[2]);
    if (in[2] && (t.rank != 1 || t.dim[0] != onnx_type(n, in[1]).dim[0]))
        onnx_refuse(n, "an operand C that is not one vector of the columns");
    if (onnx_has(n, 7))
        finish(n, ASSAY_OP_FC, NULL, in, in[2] ? 3 : 2, 7, 8);
    else
        real_product(n, in, in[2] ? 3 : 2);
}

/* ---- elements ---- */

void onnx_import_qlinear_binary(onnx_node *n)
{
    onnx_value *in[2] = {onnx_quantized_in(n, 0, 1, 2), onnx_quantized_in(n, 3, 4, 5)};
    finish(n, n->row->op, NULL, in, 2, 6, 7);
}

void onnx_import_qlinear_unary(onnx_node *n)
{
    onnx_value *x = onnx_quantized_in(n, 0, 1, 2);
    assay_attrs a = {.alpha = {.alpha = onnx_float(n, "alpha", 0.01f)}};

    finish(n, n->row->op, n->row->op == ASSAY_OP_LEAKY_RELU ? &a : NULL, &x, 1, 3, 4);
}

/* Before opset 13 the axes from `axis` on are one row together. */
void onnx_import_qlinear_softmax(onnx_node *n)
{
    onnx_value *x = onnx_quantized_in(n, 0, 1, 2), *y;
    assay_type t = onnx_type(n, x);
    int64_t opset = onnx_int(n, "opset", 13);
    int64_t axis = onnx_axis(n, onnx_int(n, "axis", opset < 13 ? 1 : -1), t.rank);
    int64_t flat[2] = {1, 1};
    assay_attrs a = {.softmax = {.axis = axis, .beta = 1}};
    assay_qparams q;

    for (int i = 0; i < t.rank; i++)
        flat[i >= axis] *= t.dim[i];
    if (n->status || opset >= 13 || flat[1] == t.dim[axis]) {
        finish(n, n->row->op, &a, &x, 1, 3, 4);
        return;
    }
    a.softmax.axis = 1;
    if (!output_params(n, 3, 4, x, &q))
        return;
    y = onnx_reshaped(n, x, 2, flat, "rows");
    y = onnx_quantized_op(n, n->row->op, &a, &y, 1, t.elem, &q, "softmax_rows");
    onnx_reshaped(n, y, t.rank, t.dim, NULL);
}

/* ---- windows and reductions ---- */

void onnx_import_qlinear_global_average_pool(onnx_node *n)
{
    onnx_value *x = onnx_quantized_in(n, 0, 1, 2);
    bool nhwc = onnx_int(n, "channels_last", 0) != 0;
    assay_attrs a = {.layout = {.layout = nhwc ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW}};

    finish(n, ASSAY_OP_GLOBAL_AVG_POOL, &a, &x, 1, 3, 4);
}

/* One window, without padding. */
static bool is_whole(const assay_type *x, const assay_attr_pool *a)
{
    int first = a->layout == ASSAY_LAYOUT_NHWC ? 1 : 2;
    for (int i = 0; i < a->kernel.n; i++)
        if (a->kernel.v[i] != x->dim[first + i] || a->pad_begin.v[i] || a->pad_end.v[i])
            return false;
    return true;
}

void onnx_import_qlinear_average_pool(onnx_node *n)
{
    onnx_value *x = onnx_quantized_in(n, 0, 1, 2);
    bool nhwc = onnx_int(n, "channels_last", 0) != 0;
    assay_type t = onnx_type(n, x);
    assay_attrs a = onnx_pool_attrs(n, &t, nhwc);

    if (n->status)
        return;
    assay_pool_count_overhang(&t, &a.pool);
    assay_attrs global = {.layout = {.layout = a.pool.layout}};
    if (is_whole(&t, &a.pool)) /* as ONNX Runtime computes it */
        finish(n, ASSAY_OP_GLOBAL_AVG_POOL, &global, &x, 1, 3, 4);
    else
        finish(n, ASSAY_OP_AVG_POOL, &a, &x, 1, 3, 4);
}

void onnx_import_qlinear_reduce_mean(onnx_node *n)
{
    onnx_value *x = onnx_quantized_in(n, 0, 1, 2);
    assay_attrs a = {.reduce = {.keepdims = onnx_int(n, "keepdims", 1) != 0}};
    assay_type t = onnx_type(n, x);

    onnx_ints(n, "axes", &a.reduce.axes);
    for (int i = 0; i < a.reduce.axes.n && !n->status; i++)
        a.reduce.axes.v[i] = onnx_axis(n, a.reduce.axes.v[i], t.rank);
    finish(n, ASSAY_OP_REDUCE_MEAN, &a, &x, 1, 3, 4);
}

/* ---- data movement between parameters ---- */

/* x in the output's parameters. */
static onnx_value *rescaled(onnx_node *n, onnx_value *x, const assay_qparams *q)
{
    if (n->status)
        return NULL;
    const assay_type *t = &n->im->graph->value[x->id].type;
    return assay_qparams_equal(&t->q, q)
               ? x
               : onnx_convert(n, ASSAY_OP_RESCALE, x, t->elem, q, "rescaled");
}

/* Inputs: output scale and zero point, then value, scale and zero point of each operand. */
void onnx_import_qlinear_concat(onnx_node *n)
{
    size_t count = n->pb->n_input < 5 ? 0 : (n->pb->n_input - 2) / 3;
    onnx_value **in = assay_arena_array(n->im->temp, count + 1, sizeof *in);
    assay_qparams q;
    assay_attrs a = {.axis = {.axis = 0}};

    if (count == 0 || n->pb->n_input != 2 + 3 * count) {
        onnx_fail(n, ASSAY_ERR_INPUT, "%zu inputs, expected 2 and 3 per operand", n->pb->n_input);
        return;
    }
    if (!in) {
        onnx_no_memory(n);
        return;
    }
    for (size_t i = 0; i < count; i++)
        in[i] = onnx_quantized_in(n, 2 + 3 * i, 3 + 3 * i, 4 + 3 * i);
    if (!output_params(n, 0, 1, in[0], &q))
        return;
    a.axis.axis = onnx_axis(n, onnx_int(n, "axis", 1), onnx_type(n, in[0]).rank);
    for (size_t i = 0; i < count; i++)
        in[i] = rescaled(n, in[i], &q);
    onnx_quantized_op(n, ASSAY_OP_CONCAT, &a, in, (int)count, elem_of(n, in[0]), &q, NULL);
}

void onnx_import_qlinear_where(onnx_node *n)
{
    onnx_value *in[3] = {onnx_in(n, 0), onnx_quantized_in(n, 1, 2, 3),
                         onnx_quantized_in(n, 4, 5, 6)};
    assay_qparams q;

    if (!output_params(n, 7, 8, in[1], &q))
        return;
    in[1] = rescaled(n, in[1], &q);
    in[2] = rescaled(n, in[2], &q);
    onnx_quantized_op(n, ASSAY_OP_SELECT, NULL, in, 3, elem_of(n, in[1]), &q, NULL);
}
