/* Conversions from floats to codes and back, and products of codes without an output scale. */
#include <string.h>

#include "graph/onnx/op/op.h"

/* Codes that stand for themselves. */
static const float unit_scale = 1;
static const int32_t origin = 0;
static const assay_qparams plain = {
    .granularity = ASSAY_Q_TENSOR, .count = 1, .scale = &unit_scale, .zero_point = &origin};

/* ---- parameters that are values of the run: floats compute what the operator says ---- */

static bool is_late(onnx_node *n)
{
    onnx_value *scale = onnx_in(n, 1), *zero = onnx_in(n, 2);
    return (scale && !scale->constant) || (zero && !zero->constant);
}

/* Refuses a zero point of the run, input `zero`, of another kind than its codes. */
static void check_late_kind(onnx_node *n, size_t zero, assay_elem codes)
{
    const assay_elem own = onnx_type(n, onnx_in(n, zero)).elem;
    char is[8], expected[8];

    if (!assay_elem_equal(own, codes))
        onnx_refuse(n, "zero point '%s' is %s, expected %s as its codes", n->pb->input[zero],
                    assay_elem_print(own, is), assay_elem_print(codes, expected));
}

/* Refuses what is not float32 scales and zero points, one for all or one for each index of an axis.
 */
static void check_late(onnx_node *n, assay_elem codes)
{
    onnx_value *zero = onnx_in(n, 2);
    assay_type x = onnx_type(n, onnx_in(n, 0)), s = onnx_type(n, onnx_in(n, 1));
    assay_type z = zero ? onnx_type(n, zero) : s;
    int64_t axis = onnx_int(n, "axis", 1), along = 1;

    if (axis >= -x.rank && axis < x.rank)
        along = x.dim[axis < 0 ? axis + x.rank : axis];
    if (s.elem.kind != ASSAY_KIND_F32 || onnx_int(n, "block_size", 0) != 0 ||
        (onnx_count(&s) != 1 && onnx_count(&s) != along) ||
        (onnx_count(&z) != 1 && onnx_count(&z) != along))
        onnx_refuse(n, "parameters that are not known at import, other than one for all or one for "
                       "each index of an axis, in float32");
    if (zero)
        check_late_kind(n, 2, codes);
}

/* A value of one element so that it broadcasts with values of that rank and adds no axis. */
static onnx_value *late_one(onnx_node *n, onnx_value *v, int rank, const char *suffix)
{
    const int64_t none[1] = {0};
    return onnx_type(n, v).rank > rank ? onnx_reshaped(n, v, 0, none, suffix) : v;
}

/* A parameter so that it broadcasts with x: one for all, or along the attribute's axis. */
static onnx_value *spread_late(onnx_node *n, onnx_value *v, const char *suffix)
{
    assay_type x = onnx_type(n, onnx_in(n, 0)), t = onnx_type(n, v);
    int64_t dim[ASSAY_MAX_RANK];

    if (n->status || onnx_count(&t) == 1)
        return n->status ? NULL : late_one(n, v, x.rank, suffix);
    for (int i = 0; i < x.rank; i++)
        dim[i] = 1;
    dim[onnx_axis(n, onnx_int(n, "axis", 1), x.rank)] = onnx_count(&t);
    return onnx_reshaped(n, v, x.rank, dim, suffix);
}

static onnx_value *late_scale(onnx_node *n)
{
    return spread_late(n, onnx_in(n, 1), "scale");
}

/* The zero point of input 2 as a float, or NULL for 0. */
static onnx_value *late_zero(onnx_node *n)
{
    const assay_attrs cast = {.cast = {.to = ASSAY_CAST_F32}};
    onnx_value *zero = onnx_in(n, 2);

    return zero && !n->status
               ? spread_late(n, onnx_op1(n, ASSAY_OP_CAST, &cast, zero, "zero"), "zeros")
               : NULL;
}

/* round(x / scale) + zero, clipped, as codes. */
static void late_quantize(onnx_node *n, assay_elem elem)
{
    const assay_attrs ends = {
        .clip = {.lo = (float)assay_elem_min(elem), .hi = (float)assay_elem_max(elem)}};
    onnx_value *y, *zero;

    check_late(n, elem);
    if (n->status)
        return;
    zero = late_zero(n);
    y = onnx_op2(n, ASSAY_OP_DIV, NULL, onnx_in(n, 0), late_scale(n), "scaled");
    y = onnx_op1(n, ASSAY_OP_ROUND, NULL, y, "rounded");
    if (zero)
        y = onnx_op2(n, ASSAY_OP_ADD, NULL, y, zero, "shifted");
    y = onnx_op1(n, ASSAY_OP_CLIP, &ends, y, "codes");
    if (!n->status)
        onnx_convert(n, ASSAY_OP_QUANTIZE, y, elem, &plain, NULL);
}

/* (x - zero) * scale. */
static void late_dequantize(onnx_node *n)
{
    onnx_value *x, *zero;

    check_late(n, onnx_type(n, onnx_in(n, 0)).elem);
    if (n->status)
        return;
    zero = late_zero(n);
    x = onnx_convert(n, ASSAY_OP_DEQUANTIZE, onnx_quantized(n, onnx_in(n, 0), &plain), assay_f32(),
                     NULL, "codes");
    if (zero && !n->status)
        x = onnx_op2(n, ASSAY_OP_SUB, NULL, x, zero, "centred");
    if (!n->status)
        onnx_op2(n, ASSAY_OP_MUL, NULL, x, late_scale(n), NULL);
}

/* ---- QuantizeLinear, DequantizeLinear ---- */

/* Parameters along an axis or in blocks, for codes of x's shape; `any`: with scales of any sign. */
static bool read_linear(onnx_node *n, const assay_type *x, assay_elem elem, bool any,
                        assay_qparams *q)
{
    int64_t block = onnx_int(n, "block_size", 0);
    bool several = false;
    int axis = 0;

    if (n->status || !(any ? onnx_read_any_params : onnx_read_params)(n, 1, 2, elem, -1, q))
        return false;
    several = q->count > 1 || block > 0;
    if (several)
        axis = (int)onnx_axis(n, onnx_int(n, "axis", 1), x->rank);
    if (block < 0)
        onnx_fail(n, ASSAY_ERR_INPUT, "attribute 'block_size' is %lld", (long long)block);
    if (several) {
        assay_type t = *x;
        q->granularity = block > 0 ? ASSAY_Q_BLOCK : ASSAY_Q_AXIS;
        q->axis = axis;
        q->block = block;
        t.q = *q;
        if (!n->status && assay_qparams_count(&t) != (int64_t)q->count)
            onnx_fail(n, ASSAY_ERR_INPUT, "scale '%s' has %zu elements, expected %lld",
                      n->pb->input[1], q->count, (long long)assay_qparams_count(&t));
    }
    return !n->status;
}

/* A node that converts x by q, with a note of how the parameters are written. */
static void convert_linear(onnx_node *n, assay_op op, onnx_value *x, assay_elem elem,
                           const assay_qparams *q)
{
    const onnx_value *zero = onnx_in(n, 2);
    const int lists = onnx_in(n, 1)->constant->rank + (zero ? zero->constant->rank : 0);
    const onnx_value *y = onnx_convert(n, op, x, elem, op == ASSAY_OP_QUANTIZE ? q : NULL, NULL);
    if (y && y->id != ASSAY_NO_VALUE)
        n->im->graph->node[n->im->graph->value[y->id].producer].attr.convert =
            (assay_attr_convert){.in_list = q->count == 1 && lists > 0, .no_zero_point = !zero};
}

void onnx_import_quantize_linear(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *zero = onnx_in(n, 2);
    int dtype = onnx_dtype_attribute(n, "output_dtype", ONNX_UNDEFINED);
    int64_t precision = onnx_int(n, "precision", ONNX_UNDEFINED); /* of the division; opset 23 */
    assay_type t = onnx_type(n, x);
    assay_elem elem;
    assay_qparams q;

    if (zero)
        dtype = zero->constant ? zero->constant->dtype : onnx_elem_dtype(onnx_type(n, zero).elem);
    else if (dtype == ONNX_UNDEFINED)
        dtype = ONNX_UINT8;
    if (onnx_is_small(dtype)) {
        (void)onnx_dtype_elem(dtype, &elem);
        onnx_quantize_small(n, elem);
        return;
    }
    if (precision != ONNX_UNDEFINED && precision != ONNX_FLOAT)
        onnx_refuse(n, "attribute 'precision' is %lld, not float32", (long long)precision);
    if (!onnx_dtype_elem(dtype, &elem) || elem.kind != ASSAY_KIND_INT || elem.bits > 16)
        onnx_refuse(n, "codes of type %s", onnx_dtype_name(dtype));
    else if (t.elem.kind != ASSAY_KIND_F32)
        onnx_refuse(n, "an input that is not float32");
    else if (is_late(n))
        late_quantize(n, elem);
    else if (read_linear(n, &t, elem, false, &q))
        convert_linear(n, ASSAY_OP_QUANTIZE, x, elem, &q);
}

void onnx_import_dequantize_linear(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *y = onnx_find_value(n->im, n->pb->output[0]);
    const int dtype = onnx_dtype_attribute(n, "output_dtype", ONNX_FLOAT);
    assay_type t = onnx_type(n, x);
    assay_qparams q;
    if (dtype != ONNX_FLOAT && !onnx_is_narrow(dtype) && dtype != ONNX_UNDEFINED)
        onnx_refuse(n, "an output that is not float32, float16 or bfloat16");
    else if (assay_is_small_float(t.elem)) {
        onnx_dequantize_small(n);
        return;
    } else if (t.elem.kind != ASSAY_KIND_INT || t.elem.bits > 32)
        onnx_refuse(n, "codes that are not integers of at most 32 bits");
    else if (is_late(n)) {
        late_dequantize(n);
        return;
    }
    const bool fixed = x->constant && t.elem.bits <= 16;
    if (!read_linear(n, &t, t.elem, fixed, &q))
        return;
    if (fixed && !(x = onnx_mirror(n, x, n->pb->input[1], &q)))
        return;
    if (x->constant && y && !y->is_output) { /* y is NULL for an output without a name */
        onnx_codes *codes = onnx_alloc(n->im, sizeof *codes);
        if (!codes) {
            onnx_no_memory(n);
            return;
        }
        *codes = (onnx_codes){x, q, n->narrow, !onnx_in(n, 2)};
        y->codes = codes;
        return;
    }
    convert_linear(n, ASSAY_OP_DEQUANTIZE, onnx_quantized(n, x, &q), assay_f32(), &q);
}

/* ---- DynamicQuantizeLinear: the parameters are values of the run ---- */

static onnx_value *number(onnx_node *n, double v)
{
    const int64_t none[1] = {0};
    onnx_const *c = onnx_new_const(n->im, ONNX_FLOAT, 0, none);

    if (!c)
        return onnx_no_memory(n);
    onnx_set_real(c, 0, v);
    return onnx_constant(n, c, "number");
}

static onnx_value *extreme(onnx_node *n, assay_op reduce, assay_op with_zero)
{
    assay_attrs all = {.reduce = {.keepdims = false}};

    return onnx_op2(n, with_zero, NULL, onnx_op1(n, reduce, &all, onnx_in(n, 0), "extreme"),
                    number(n, 0), "end");
}

/* scale = (max - min) / 255, or 1 for 0; zero = round(clip(0 - min / scale, 0, 255));
 * y = clip(round(x / scale), 0 - zero, 255 - zero) + zero. */
onnx_value *onnx_dynamic_codes(onnx_node *n, onnx_value **scale, onnx_value **zero)
{
    const assay_attrs codes = {.clip = {.lo = 0, .hi = 255}};
    onnx_value *x = onnx_in(n, 0), *y;
    onnx_value *min = extreme(n, ASSAY_OP_REDUCE_MIN, ASSAY_OP_MIN);
    onnx_value *max = extreme(n, ASSAY_OP_REDUCE_MAX, ASSAY_OP_MAX);
    onnx_value *range = onnx_op2(n, ASSAY_OP_SUB, NULL, max, min, "range");
    onnx_value *choice[3] = {onnx_op2(n, ASSAY_OP_EQUAL, NULL, range, number(n, 0), "flat"),
                             number(n, 1),
                             onnx_op2(n, ASSAY_OP_DIV, NULL, range, number(n, 255), "step")};
    *scale = onnx_op(n, ASSAY_OP_SELECT, NULL, choice, 3, "scale");
    *zero = onnx_op2(n, ASSAY_OP_SUB, NULL, number(n, 0),
                     onnx_op2(n, ASSAY_OP_DIV, NULL, min, *scale, "offset"), "origin");
    *zero = onnx_op1(n, ASSAY_OP_ROUND, NULL, onnx_op1(n, ASSAY_OP_CLIP, &codes, *zero, "clipped"),
                     "zero");
    y = onnx_op1(n, ASSAY_OP_ROUND, NULL, onnx_op2(n, ASSAY_OP_DIV, NULL, x, *scale, "scaled"),
                 "rounded");
    return onnx_op1(n, ASSAY_OP_CLIP, &codes, onnx_op2(n, ASSAY_OP_ADD, NULL, y, *zero, "shifted"),
                    "codes");
}

/* Codes whose own parameters are 1 and 0. */
void onnx_import_dynamic_quantize_linear(onnx_node *n)
{
    assay_attrs cast = {.cast = {.to = ASSAY_CAST_U8}};
    onnx_value *scale, *zero, *y = onnx_dynamic_codes(n, &scale, &zero);

    if (n->status)
        return;
    onnx_convert(n, ASSAY_OP_QUANTIZE, y, assay_int(8, false), &plain, NULL);
    onnx_bind(n, 1, scale);
    if (n->pb->n_output > 2 && *n->pb->output[2])
        onnx_op_out(n, ASSAY_OP_CAST, &cast, zero, 2);
}

/* ---- integer products ---- */

/* Input i as codes with scale 1 and its zero point; a zero point that is not known yet is left to
 * correction(), codes that have parameters already keep their scale. */
static onnx_value *raw_codes(onnx_node *n, size_t i, size_t zero, int axis)
{
    onnx_value *v = onnx_in(n, i), *z = onnx_in(n, zero);
    assay_type t = onnx_type(n, v);
    assay_qparams q;

    if (n->status)
        return NULL;
    if (!onnx_read_params(n, ONNX_NO_INPUT, z && z->constant ? zero : ONNX_NO_INPUT, t.elem,
                          axis < 0 ? 1 : t.dim[axis], &q))
        return NULL;
    if (q.count > 1) {
        q.granularity = ASSAY_Q_AXIS;
        q.axis = axis;
    } else if (v->id != ASSAY_NO_VALUE) {
        const assay_qparams *own = &n->im->graph->value[v->id].type.q;
        if (own->granularity == ASSAY_Q_TENSOR && own->zero_point[0] == q.zero_point[0])
            q = *own;
    }
    return onnx_quantized(n, v, &q);
}

static const assay_elem i32 = {ASSAY_KIND_INT, 32, true};

/* acc - zero * sums, zero the first operand's zero point that is only known in the run, sums the
 * same product of ones. */
static void correction(onnx_node *n, onnx_value *acc, onnx_value *sums)
{
    const assay_attrs cast = {.cast = {.to = ASSAY_CAST_I32}};
    onnx_value *zero = n->status ? NULL : late_one(n, onnx_in(n, 2), onnx_type(n, acc).rank, "one");

    zero = onnx_op1(n, ASSAY_OP_CAST, &cast, zero, "zero");
    onnx_op2(n, ASSAY_OP_SUB, NULL, acc, onnx_op2(n, ASSAY_OP_MUL, NULL, sums, zero, "share"),
             NULL);
}

/* Codes that are all 1, of the shape. */
static onnx_value *ones(onnx_node *n, int rank, const int64_t *dim)
{
    onnx_value *y = onnx_ones(n, ONNX_UINT8, rank, dim, "ones");
    return y ? onnx_quantized(n, y, &plain) : NULL;
}

/* Whether the first operand's zero point is a value of the run. Refuses one for each row. */
static bool has_late_zero(onnx_node *n)
{
    onnx_value *z = onnx_in(n, 2);

    if (!z)
        return false;
    const assay_type t = onnx_type(n, z);
    if (onnx_count(&t) > 1)
        onnx_refuse(n, "'%s' has %lld zero points, only one for the whole operand is supported",
                    n->pb->input[2], (long long)onnx_count(&t));
    else if (!z->constant)
        check_late_kind(n, 2, onnx_type(n, onnx_in(n, 0)).elem);
    return !z->constant;
}

static void refuse_late_weights(onnx_node *n)
{
    onnx_value *z = onnx_in(n, 3);
    if (z && !z->constant)
        onnx_refuse(n, "the weights' zero point ('%s') is not known at import", n->pb->input[3]);
}

void onnx_import_conv_integer(onnx_node *n)
{
    assay_type x = onnx_type(n, onnx_in(n, 0)), w = onnx_type(n, onnx_in(n, 1));
    assay_attrs a = onnx_conv_attrs(n, &x, &w);
    bool late = has_late_zero(n);

    refuse_late_weights(n);
    onnx_value *in[2] = {raw_codes(n, 0, 2, -1), raw_codes(n, 1, 3, 0)};
    onnx_value *acc =
        onnx_quantized_op(n, ASSAY_OP_CONV, &a, in, 2, i32, NULL, late ? "raw" : NULL);
    if (!late || n->status)
        return;
    in[0] = ones(n, x.rank, x.dim);
    correction(n, acc, onnx_quantized_op(n, ASSAY_OP_CONV, &a, in, 2, i32, NULL, "sums"));
}

void onnx_import_matmul_integer(onnx_node *n)
{
    assay_type a = onnx_type(n, onnx_in(n, 0)), b = onnx_type(n, onnx_in(n, 1));
    bool late = has_late_zero(n);
    int64_t row[2] = {1, 1};

    refuse_late_weights(n);
    if (n->status)
        return;
    if (a.rank < 1 || b.rank < 1) {
        onnx_fail(n, ASSAY_ERR_INPUT, "operands of rank %d and %d, expected at least 1", a.rank,
                  b.rank);
        return;
    }
    row[1] = a.dim[a.rank - 1];
    onnx_value *in[2] = {raw_codes(n, 0, 2, -1), raw_codes(n, 1, 3, b.rank - 1)};
    onnx_value *acc =
        onnx_quantized_op(n, ASSAY_OP_MATMUL, NULL, in, 2, i32, NULL, late ? "raw" : NULL);
    if (!late || n->status)
        return;
    in[0] = a.rank == 1 ? ones(n, 1, row + 1) : ones(n, 2, row);
    correction(n, acc, onnx_quantized_op(n, ASSAY_OP_MATMUL, NULL, in, 2, i32, NULL, "sums"));
}
