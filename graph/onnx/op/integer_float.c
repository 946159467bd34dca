/* Products of codes that come out as floats (com.microsoft): MatMulIntegerToFloat, and
 * DynamicQuantizeMatMul, whose first operand becomes codes as it runs.
 *
 *   y = float(sum of (a - zero_a) * (b - zero_b)) * (scale_a * scale_b) + bias
 *
 * The sums are plain i32 integers, and wrap. Source: docs/ContribOperators.md of
 * github.com/microsoft/onnxruntime. */
#include "graph/onnx/node/fold.h"
#include "graph/onnx/op/op.h"

static const assay_attrs to_i32 = {.cast = {.to = ASSAY_CAST_I32}};
static const assay_attrs to_f32 = {.cast = {.to = ASSAY_CAST_F32}};

static onnx_value *as_i32(onnx_node *n, onnx_value *x, const char *suffix)
{
    const onnx_const *c =
        x && x->constant && !n->status ? onnx_cast_const(n, x->constant, ONNX_INT32) : NULL;
    if (c)
        return onnx_constant(n, c, suffix);
    return onnx_op1(n, ASSAY_OP_CAST, &to_i32, x, suffix);
}

/* Codes less their zero point (NULL: 0): one, or one a column. */
static onnx_value *centred(onnx_node *n, onnx_value *codes, onnx_value *zero, const char *suffix)
{
    codes = as_i32(n, codes, suffix);
    return zero ? onnx_op2(n, ASSAY_OP_SUB, NULL, codes, as_i32(n, zero, "zero"), suffix) : codes;
}

/* A parameter that has as many entries as b has columns, or one; those of several matrices (rank 3)
 * have an axis for the rows already. */
static void check_columns(onnx_node *n, onnx_value *parameter, onnx_value *b)
{
    const assay_type t = onnx_type(n, b), p = onnx_type(n, parameter);

    if (n->status || !parameter || onnx_count(&p) == 1)
        return;
    if (t.rank < 2 || p.rank < 1 || p.dim[p.rank - 1] != t.dim[t.rank - 1])
        onnx_fail(n, ASSAY_ERR_INPUT,
                  "parameters of rank %d do not fit the columns of an operand of rank %d", p.rank,
                  t.rank);
}

static void scaled_product(onnx_node *n, onnx_value *a, onnx_value *b, onnx_value *scale,
                           onnx_value *bias)
{
    onnx_value *y = onnx_op2(n, ASSAY_OP_MATMUL, NULL, a, b, "sums");

    y = onnx_op1(n, ASSAY_OP_CAST, &to_f32, y, "floats");
    y = onnx_op2(n, ASSAY_OP_MUL, NULL, y, scale, bias ? "scaled" : NULL);
    if (bias)
        onnx_op2(n, ASSAY_OP_ADD, NULL, y, bias, NULL);
}

/* A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias */
void onnx_import_matmul_integer_to_float(onnx_node *n)
{
    onnx_value *b = onnx_in(n, 1);

    check_columns(n, onnx_in(n, 3), b);
    check_columns(n, onnx_in(n, 5), b);
    onnx_value *scale = onnx_op2(n, ASSAY_OP_MUL, NULL, onnx_in(n, 2), onnx_in(n, 3), "scale");
    scaled_product(n, centred(n, onnx_in(n, 0), onnx_in(n, 4), "a"),
                   centred(n, b, onnx_in(n, 5), "b"), scale, onnx_in(n, 6));
}

/* A, B, b_scale, b_zero_point, bias */
void onnx_import_dynamic_quantize_matmul(onnx_node *n)
{
    onnx_value *b = onnx_in(n, 1), *scale, *zero;

    check_columns(n, onnx_in(n, 2), b);
    check_columns(n, onnx_in(n, 3), b);
    onnx_value *a = onnx_dynamic_codes(n, &scale, &zero);
    a = as_i32(n, onnx_op2(n, ASSAY_OP_SUB, NULL, a, zero, "centred"), "a");
    scale = onnx_op2(n, ASSAY_OP_MUL, NULL, scale, onnx_in(n, 2), "scales");
    scaled_product(n, a, centred(n, b, onnx_in(n, 3), "b"), scale, onnx_in(n, 4));
}
