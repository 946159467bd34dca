/* Gemm and MatMul. A product with a constant matrix is fc, whose weights are output-major. */
#include <math.h>
#include <string.h>

#include "graph/onnx/op/op.h"

static const int64_t swap[2] = {1, 0};

static onnx_value *times(onnx_node *n, onnx_value *x, float factor, const char *suffix)
{
    return factor == 1 ? x
                       : onnx_op2(n, ASSAY_OP_MUL, NULL, x,
                                  onnx_scalar(n, x, (double)factor, "factor"), suffix);
}

/* True when C, broadcast to the rows of the product, is one vector of `columns`. */
static bool is_bias(const assay_type *c, int64_t columns)
{
    return c->rank <= 2 && (c->rank < 2 || c->dim[0] == 1) &&
           (c->rank == 0 || c->dim[c->rank - 1] == 1 || c->dim[c->rank - 1] == columns);
}

/* The constant C as a bias vector times beta, under its own name. */
static onnx_value *bias_vector(onnx_node *n, onnx_value *c, float beta, int64_t columns)
{
    assay_type t = onnx_type(n, c);
    assay_attrs expand = {.shape = {.shape = {.n = 1, .v = {columns}}}};
    int64_t last = t.rank ? t.dim[t.rank - 1] : 1;
    onnx_value *b = c;

    if (t.rank != 1)
        b = onnx_reshaped(n, b, 1, &last, "bias_vector");
    if (last != columns)
        b = onnx_op1(n, ASSAY_OP_EXPAND, &expand, b, "bias_vector");
    b = times(n, b, beta, "bias_scaled");
    onnx_inherit_name(b, c);
    return b;
}

onnx_value *onnx_gemm(onnx_node *n, const char *suffix)
{
    onnx_value *a = onnx_in(n, 0), *b = onnx_in(n, 1), *c = onnx_in(n, 2), *y;
    float alpha = onnx_float(n, "alpha", 1), beta = onnx_float(n, "beta", 1);
    bool trans_a = onnx_int(n, "transA", 0) != 0, trans_b = onnx_int(n, "transB", 0) != 0;
    assay_type ta = onnx_type(n, a), tb = onnx_type(n, b), tc = onnx_type(n, c);

    if (n->status)
        return NULL;
    if (ta.rank != 2 || tb.rank != 2)
        return onnx_fail(n, ASSAY_ERR_INPUT, "operands of rank %d and %d, expected rank 2", ta.rank,
                         tb.rank);
    int64_t columns = tb.dim[trans_b ? 0 : 1];
    /* Products by a power of two are exact and may go into constants. By any other factor they are
     * rounded where the operator says, after the sum. */
    const bool folds = onnx_is_constant(b) && assay_is_power_of_two(fabsf(alpha));
    bool adds = c && beta != 0;
    onnx_check_finite(n, b);
    onnx_check_finite(n, c);
    if (onnx_is_constant(b)) {
        onnx_value *in[3] = {a, b, NULL};
        if (trans_a)
            in[0] = onnx_transposed(n, a, swap, "a_transposed");
        if (!trans_b)
            in[1] = onnx_transposed(n, b, swap, "weights");
        if (folds)
            in[1] = times(n, in[1], alpha, "weights_scaled");
        onnx_inherit_name(in[1], b);
        bool codes = adds && c->codes && tc.rank == 1 && tc.dim[0] == columns && beta == 1;
        if (folds && (codes || (adds && c->constant && is_bias(&tc, columns)))) {
            in[2] = codes ? c : bias_vector(n, c, beta, columns);
            adds = false;
        }
        assay_attrs attr = {.fc = {.input_major = !trans_b, .x_turned = trans_a, .gemm = true}};
        y = onnx_op(n, ASSAY_OP_FC, &attr, in, in[2] ? 3 : 2, adds || !folds ? "product" : suffix);
    } else {
        assay_attrs attr = {
            .matmul = {.transpose_a = trans_a, .transpose_b = trans_b, .gemm = true}};
        bool more = adds || alpha != 1;
        y = onnx_op2(n, ASSAY_OP_MATMUL, &attr, a, b, more ? "product" : suffix);
    }
    if (!folds)
        y = times(n, y, alpha, adds ? "scaled" : suffix);
    return adds ? onnx_op2(n, ASSAY_OP_ADD, NULL, y, times(n, c, beta, "c_scaled"), suffix) : y;
}

void onnx_import_gemm(onnx_node *n)
{
    onnx_gemm(n, NULL);
}

/* a * b: fc where b is a constant matrix. */
onnx_value *onnx_product(onnx_node *n, onnx_value *a, onnx_value *b, const char *suffix)
{
    assay_type ta = onnx_type(n, a), tb = onnx_type(n, b);

    if (n->status)
        return NULL;
    if (onnx_is_constant(b) && tb.rank == 2 && ta.elem.kind == ASSAY_KIND_F32 && ta.rank >= 1) {
        onnx_check_finite(n, b);
        onnx_value *weights = onnx_transposed(n, b, swap, "weights");
        onnx_inherit_name(weights, b);
        assay_attrs attr = {.fc = {.input_major = true}};
        return onnx_op2(n, ASSAY_OP_FC, &attr, a, weights, suffix);
    }
    assay_attrs attr = {.matmul = {.transpose_a = false}};
    return onnx_op2(n, ASSAY_OP_MATMUL, &attr, a, b, suffix);
}

/* Exchanges the last two axes, or the first with those up to the last but one (`batch`). */
static onnx_value *transposed(onnx_node *n, onnx_value *x, bool last, bool batch,
                              const char *suffix)
{
    const int rank = onnx_type(n, x).rank;
    int64_t perm[ASSAY_MAX_RANK];

    if (n->status || rank < 2 || (!last && !batch))
        return x;
    for (int i = 0; i < rank; i++)
        perm[i] = batch && i < rank - 1 ? (i + 1) % (rank - 1) : i;
    if (last) {
        const int64_t row = perm[rank - 2];
        perm[rank - 2] = perm[rank - 1];
        perm[rank - 1] = row;
    }
    return onnx_transposed(n, x, perm, suffix);
}

/* alpha * op(a) * op(b): com.microsoft's FusedMatMul and its older name TransposeMatMul. transBatch
 * brings the first axis behind the other batch axes. */
void onnx_import_fused_matmul(onnx_node *n)
{
    const float alpha = onnx_float(n, "alpha", 1);
    onnx_value *a = transposed(n, onnx_in(n, 0), onnx_int(n, "transA", 0) != 0,
                               onnx_int(n, "transBatchA", 0) != 0, "a_transposed");
    onnx_value *b = transposed(n, onnx_in(n, 1), onnx_int(n, "transB", 0) != 0,
                               onnx_int(n, "transBatchB", 0) != 0, "b_transposed");
    onnx_value *y = onnx_product(n, a, b, alpha == 1 ? NULL : "product");

    if (alpha != 1)
        times(n, y, alpha, NULL);
}

void onnx_import_matmul(onnx_node *n)
{
    onnx_product(n, onnx_in(n, 0), onnx_in(n, 1), NULL);
}
