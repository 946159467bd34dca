/* Operators on the bits of integers: BitwiseNot and BitShift; the others are binary ops as they are
 * (math.c). */
#include "graph/onnx/op/op.h"

/* All bits of x against ones. */
void onnx_import_bitwise_not(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    const assay_type t = onnx_type(n, x);

    if (!n->status && t.elem.kind != ASSAY_KIND_INT)
        onnx_fail(n, ASSAY_ERR_INPUT, "the input is not of integers");
    if (n->status)
        return;
    const double ones = t.elem.is_signed ? -1 : (double)assay_elem_max(t.elem);
    onnx_op2(n, ASSAY_OP_BITWISE_XOR, NULL, x, onnx_scalar(n, x, ones, "ones"), NULL);
}

/* The direction has no default. */
void onnx_import_bit_shift(onnx_node *n)
{
    static const char *const directions[] = {"LEFT", "RIGHT", NULL};
    const int direction = onnx_choice(n, "direction", directions, -1);

    if (!n->status && direction < 0)
        onnx_fail(n, ASSAY_ERR_INPUT, "attribute 'direction' is missing");
    if (!n->status)
        onnx_op2(n, direction == 0 ? ASSAY_OP_SHIFT_LEFT : ASSAY_OP_SHIFT_RIGHT, NULL,
                 onnx_in(n, 0), onnx_in(n, 1), NULL);
}
