/* Small floats: Cast, QuantizeLinear and DequantizeLinear of float8 and float4, as encodings under
 * scales.
 *
 *   Cast to      float_encode(x, 1)              Cast from          float_decode(x, 1)
 *   Quantize     float_encode(x, scale)          Dequantize         float_decode(x, scale)
 *
 * A scale is a value like any other, one for all, for each index of an axis, or for each block of
 * one, float32 or float8e8m0. Where ONNX divides in float16 or bfloat16 (the scale's type, or
 * `precision`) the quotient is rounded to that first. */
#include <string.h>

#include "graph/onnx/op/op.h"

/* Extents of what shares a scale, and the scales' shape. */
typedef struct sharing {
    assay_list block;
    int64_t scales[ASSAY_MAX_RANK];
} sharing;

static int64_t whole(int64_t dim)
{
    return dim > 0 ? dim : 1;
}

static sharing one_for_all(const assay_type *x)
{
    sharing s = {.block = {.n = x->rank}};
    for (int d = 0; d < x->rank; d++) {
        s.block.v[d] = whole(x->dim[d]);
        s.scales[d] = x->dim[d] > 0;
    }
    return s;
}

/* As the node's scale, input 1, and its attributes say. */
static sharing sharing_of(onnx_node *n, const assay_type *x, const assay_type *scale)
{
    const int64_t block = onnx_int(n, "block_size", 0);
    sharing s = one_for_all(x);
    if (block < 0) {
        onnx_fail(n, ASSAY_ERR_INPUT, "attribute 'block_size' is %lld", (long long)block);
        return s;
    }
    if (onnx_count(scale) == 1 && block == 0)
        return s;
    const int axis = (int)onnx_axis(n, onnx_int(n, "axis", 1), x->rank);
    if (n->status)
        return s;
    if (block == 0) {
        s.block.v[axis] = 1;
        s.scales[axis] = x->dim[axis];
    } else {
        for (int d = 0; d < x->rank; d++) {
            s.block.v[d] = d == axis ? block : 1;
            s.scales[d] = x->dim[d] / s.block.v[d] + (x->dim[d] % s.block.v[d] != 0);
        }
    }
    assay_type shape = {.rank = x->rank};
    memcpy(shape.dim, s.scales, sizeof shape.dim);
    if (onnx_count(&shape) != onnx_count(scale))
        onnx_fail(n, ASSAY_ERR_INPUT, "scale '%s' has %lld elements, expected %lld",
                  n->pb->input[1], (long long)onnx_count(scale), (long long)onnx_count(&shape));
    return s;
}

/* Where casts saturate Inf is the greatest number of a FNUZ format, too, from opset 24 on; before
 * it is NaN, as float_encode has it. */
static bool keeps_within(const onnx_node *n, assay_elem elem, bool saturate)
{
    return (elem.kind == ASSAY_KIND_F8E4M3FNUZ || elem.kind == ASSAY_KIND_F8E5M2FNUZ) && saturate &&
           n->opset >= 24;
}

static onnx_value *kept_within(onnx_node *n, onnx_value *x, assay_elem elem, bool saturate)
{
    const float greatest = elem.kind == ASSAY_KIND_F8E4M3FNUZ ? 240 : 57344;
    const assay_attrs ends = {.clip = {.lo = -greatest, .hi = greatest}};
    return keeps_within(n, elem, saturate) ? onnx_op1(n, ASSAY_OP_CLIP, &ends, x, "finite") : x;
}

static onnx_value *encoded(onnx_node *n, onnx_value *x, onnx_value *scale, const sharing *s,
                           assay_elem elem, bool saturate, const char *suffix)
{
    static const char *const rounds[] = {"up", "down", "nearest", NULL};
    const assay_attrs a = {.float_encode = {.block = s->block,
                                            .round = elem.kind == ASSAY_KIND_F8E8M0
                                                         ? onnx_choice(n, "round_mode", rounds, 0)
                                                         : 0,
                                            .to = (int)(elem.kind - ASSAY_KIND_BOOL),
                                            .by = ASSAY_SCALE_BY_DIVIDE,
                                            .saturate = saturate}};
    return onnx_op2(n, ASSAY_OP_FLOAT_ENCODE, &a, x, scale, suffix);
}

onnx_value *onnx_to_small(onnx_node *n, onnx_value *x, assay_elem elem, const char *suffix)
{
    const assay_type t = onnx_type(n, x);
    const bool saturate = onnx_int(n, "saturate", 1) != 0;
    const sharing s = one_for_all(&t);
    if (n->status)
        return NULL;
    return encoded(n, kept_within(n, x, elem, saturate),
                   onnx_ones(n, ONNX_FLOAT, t.rank, s.scales, "one"), &s, elem, saturate, suffix);
}

onnx_value *onnx_from_small(onnx_node *n, onnx_value *x, const char *suffix)
{
    const assay_type t = onnx_type(n, x);
    const sharing s = one_for_all(&t);
    const assay_attrs a = {.float_decode = {.block = s.block}};
    return onnx_op2(n, ASSAY_OP_FLOAT_DECODE, &a, x,
                    onnx_ones(n, ONNX_FLOAT, t.rank, s.scales, "one"), suffix);
}

/* Refuses powers of two as codes, and a zero point that is anything but the number 0. */
static void check_codes(onnx_node *n, assay_elem elem)
{
    const onnx_value *zero = onnx_in(n, 2);
    assay_elem own;
    if (elem.kind == ASSAY_KIND_F8E8M0)
        onnx_refuse(n, "codes of type %s", onnx_dtype_name(ONNX_FLOAT8E8M0));
    if (!zero || n->status)
        return;
    if (!zero->constant) {
        onnx_refuse(n, "the zero point ('%s') of small floats is not known at import",
                    n->pb->input[2]);
        return;
    }
    if (!onnx_dtype_elem(zero->constant->dtype, &own) || !assay_elem_equal(own, elem)) {
        onnx_fail(n, ASSAY_ERR_INPUT, "zero point '%s' is %s, expected %s", n->pb->input[2],
                  onnx_dtype_name(zero->constant->dtype), onnx_dtype_name(onnx_elem_dtype(elem)));
        return;
    }
    const int64_t sign = elem.kind == ASSAY_KIND_F4E2M1 ? 8 : 0x80;
    const bool fnuz = elem.kind == ASSAY_KIND_F8E4M3FNUZ || elem.kind == ASSAY_KIND_F8E5M2FNUZ;
    for (int64_t i = 0; i < zero->constant->count; i++) {
        const int64_t v = onnx_get_int(zero->constant, i);
        if (v != 0 && (fnuz || v != sign)) {
            onnx_refuse(n, "zero point '%s' of small floats is not 0", n->pb->input[2]);
            return;
        }
    }
}

/* The scale, input 1, in the shape of its blocks. */
static onnx_value *shaped_scale(onnx_node *n, const assay_type *x, sharing *s)
{
    onnx_value *scale = onnx_in(n, 1);
    const assay_type t = onnx_type(n, scale);
    if (t.elem.kind != ASSAY_KIND_F32 && t.elem.kind != ASSAY_KIND_F8E8M0)
        return onnx_refuse(n, "a scale that is neither float32, float16, bfloat16 nor float8e8m0");
    *s = sharing_of(n, x, &t);
    return n->status ? NULL : onnx_reshaped(n, scale, x->rank, s->scales, "scale");
}

/* The type that the quotient is rounded to, float16 or bfloat16, or 0. */
static int quotient_type(onnx_node *n)
{
    const onnx_value *scale = onnx_find_value(n->im, n->pb->input[1]);
    const int precision = onnx_dtype_attribute(n, "precision", ONNX_UNDEFINED);
    if (precision == ONNX_UNDEFINED)
        return scale ? scale->narrow : ONNX_UNDEFINED;
    if (precision != ONNX_FLOAT && !onnx_is_narrow(precision))
        onnx_refuse(n, "attribute 'precision' is %lld",
                    (long long)onnx_int(n, "precision", ONNX_UNDEFINED));
    return precision == ONNX_FLOAT ? ONNX_UNDEFINED : precision;
}

/* x / scale, rounded to a narrow type where there is one. A quotient of float32 rounded to 11
 * digits or fewer is that of their own arithmetic: 24 are at least twice as many and two. */
static onnx_value *quotient(onnx_node *n, onnx_value *x, onnx_value *scale, int narrow)
{
    const assay_attrs cast = {
        .cast = {.to = narrow == ONNX_FLOAT16 ? ASSAY_CAST_F16 : ASSAY_CAST_BF16}};
    if (onnx_int(n, "block_size", 0) > 0 || onnx_type(n, scale).elem.kind != ASSAY_KIND_F32)
        return onnx_refuse(n, "a quotient of scales of blocks or of float8e8m0 that is rounded or "
                              "bounded before it is encoded");
    x = onnx_op2(n, ASSAY_OP_DIV, NULL, x, scale, "scaled");
    return narrow != ONNX_UNDEFINED ? onnx_op1(n, ASSAY_OP_CAST, &cast, x, "narrow") : x;
}

void onnx_quantize_small(onnx_node *n, assay_elem elem)
{
    onnx_value *x = onnx_in(n, 0);
    const assay_type t = onnx_type(n, x);
    const bool saturate = onnx_int(n, "saturate", 1) != 0;
    sharing s;
    check_codes(n, elem);
    const int narrow = quotient_type(n);
    if (!n->status && t.elem.kind != ASSAY_KIND_F32)
        onnx_refuse(n, "an input that is not float32");
    onnx_value *scale = n->status ? NULL : shaped_scale(n, &t, &s);
    if (!scale)
        return;
    if (narrow != ONNX_UNDEFINED || keeps_within(n, elem, saturate)) {
        x = kept_within(n, quotient(n, x, scale, narrow), elem, saturate);
        s = one_for_all(&t);
        scale = onnx_ones(n, ONNX_FLOAT, t.rank, s.scales, "one");
    }
    encoded(n, x, scale, &s, elem, saturate, NULL);
}

void onnx_dequantize_small(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    const assay_type t = onnx_type(n, x);
    sharing s;
    check_codes(n, t.elem);
    onnx_value *scale = n->status ? NULL : shaped_scale(n, &t, &s);
    if (!scale)
        return;
    const assay_attrs a = {.float_decode = {.block = s.block}};
    onnx_op2(n, ASSAY_OP_FLOAT_DECODE, &a, x, scale, NULL);
}
