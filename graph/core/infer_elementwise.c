/* Shape rules of element-wise ops, rows, reductions and conversions. */
#include <assert.h>

#include "graph/core/infer.h"

assay_status assay_shape_add_n(const assay_inference *c)
{
    for (int i = 1; i < c->n->n_in; ++i) {
        const assay_type *t = assay_infer_in(c, i);
        if (!assay_elem_equal(t->elem, c->x->elem) || !assay_shape_equal(t, c->x) ||
            !assay_qparams_equal(&t->q, &c->x->q))
            return assay_infer_fail(c, "input %d differs in type from the first", i);
    }
    assay_infer_shape(c->out, c->x);
    return ASSAY_OK;
}

assay_status assay_shape_same(const assay_inference *c)
{
    assay_infer_shape(c->out, c->x);
    return ASSAY_OK;
}

assay_status assay_shape_broadcast(const assay_inference *c)
{
    assay_status s = assay_infer_alike(c, 0, 1);
    return s ? s : assay_infer_broadcast(c, c->x, assay_infer_in(c, 1), c->out);
}

/* The slope broadcasts to x, not both ways. */
assay_status assay_shape_prelu(const assay_inference *c)
{
    assay_status s = assay_shape_broadcast(c);
    if (!s && !assay_shape_equal(c->out, c->x))
        s = assay_infer_fail(
            c,
            "the slope is larger than the input; expected a shape that broadcasts to the input's");
    return s;
}

assay_status assay_shape_compare(const assay_inference *c)
{
    assay_status s = assay_shape_broadcast(c);
    c->out->elem = assay_bool();
    return s;
}

assay_status assay_shape_logical(const assay_inference *c)
{
    for (int i = 0; i < c->n->n_in; ++i)
        if (assay_infer_in(c, i)->elem.kind != ASSAY_KIND_BOOL)
            return assay_infer_fail(c, "input %d is not bool", i);
    if (c->n->n_in == 1)
        return assay_shape_same(c);
    return assay_infer_broadcast(c, c->x, assay_infer_in(c, 1), c->out);
}

assay_status assay_shape_select(const assay_inference *c)
{
    const assay_type *a = assay_infer_in(c, 1), *b = assay_infer_in(c, 2);
    assay_status s;
    if (c->x->elem.kind != ASSAY_KIND_BOOL)
        return assay_infer_fail(c, "the condition is not bool");
    c->out->elem = a->elem;
    if ((s = assay_infer_alike(c, 1, 2)) || (s = assay_infer_broadcast(c, a, b, c->out)))
        return s;
    if (!assay_elem_equal(a->elem, b->elem) || !assay_qparams_equal(&a->q, &b->q))
        return assay_infer_fail(c, "the choices differ in element kind or parameters");
    return assay_infer_broadcast(c, c->x, c->out, c->out);
}

assay_status assay_shape_softmax(const assay_inference *c)
{
    assay_infer_shape(c->out, c->x);
    return assay_infer_axis(c, c->n->attr.softmax.axis);
}

/* Scale and bias, when present, broadcast to the normalized axes: axis to the last. */
assay_status assay_shape_norm(const assay_inference *c)
{
    const assay_attr_norm *a = &c->n->attr.norm;
    assay_status s = assay_infer_axis(c, a->axis);
    for (int i = 1; !s && i < c->n->n_in; ++i) {
        const assay_type *t = assay_infer_in(c, i);
        assay_type both;
        if (!t)
            continue;
        s = assay_infer_broadcast(c, c->x, t, &both);
        if (!s && (!assay_shape_equal(&both, c->x) || t->rank > c->x->rank - a->axis))
            s = assay_infer_fail(c, "input %d has dimensions beyond the normalized axes", i);
    }
    assay_infer_shape(c->out, c->x);
    return s ? s : assay_infer_alike(c, 0, 2);
}

assay_status assay_shape_cumsum(const assay_inference *c)
{
    assay_infer_shape(c->out, c->x);
    return assay_infer_axis(c, c->n->attr.cumsum.axis);
}

/* Drops the marked axes, or keeps them as 1. */
static void reduce_axes(const assay_inference *c, unsigned axes, bool keepdims)
{
    c->out->rank = 0;
    for (int i = 0; i < c->x->rank; ++i) {
        if (!(axes >> i & 1U))
            c->out->dim[c->out->rank++] = c->x->dim[i];
        else if (keepdims)
            c->out->dim[c->out->rank++] = 1;
    }
}

/* Of each axis from the attribute's on 1 is left. */
assay_status assay_shape_dynamic_params(const assay_inference *c)
{
    const int64_t axis = c->n->attr.dynamic.axis;

    if (axis < 0 || axis > c->x->rank)
        return assay_infer_fail(c, "axis is %lld, expected 0 to %d", (long long)axis, c->x->rank);
    for (int i = 0; i < 3; i++) {
        assay_infer_shape(&c->out[i], c->x);
        c->out[i].elem = assay_f32();
        for (int k = (int)axis; k < c->x->rank; k++)
            c->out[i].dim[k] = 1;
    }
    return ASSAY_OK;
}

assay_status assay_shape_reduce(const assay_inference *c)
{
    const assay_attr_reduce *a = &c->n->attr.reduce;
    unsigned axes = 0;
    assay_status s = assay_infer_axes(c, &a->axes);
    if (s)
        return s;
    for (int i = 0; i < a->axes.n; ++i) {
        assert(a->axes.v[i] >= 0 && a->axes.v[i] < ASSAY_MAX_RANK); /* assay_infer_axes */
        axes |= 1U << a->axes.v[i];
    }
    reduce_axes(c, axes, a->keepdims);
    return ASSAY_OK;
}

static assay_status check_index_bits(const assay_inference *c, int64_t bits)
{
    if (bits != 32 && bits != 64)
        return assay_infer_fail(c, "index_bits is %lld, expected 32 or 64", (long long)bits);
    return ASSAY_OK;
}

assay_status assay_shape_arg(const assay_inference *c)
{
    const assay_attr_arg *a = &c->n->attr.arg;
    assay_status s;
    if ((s = assay_infer_axis(c, a->axis)) || (s = check_index_bits(c, a->index_bits)))
        return s;
    if (c->x->dim[a->axis] < 1)
        return assay_infer_fail(c, "axis %lld is empty", (long long)a->axis);
    assert(a->axis >= 0 && a->axis < ASSAY_MAX_RANK); /* assay_infer_axis */
    reduce_axes(c, 1U << a->axis, a->keepdims);
    c->out->elem = assay_int((unsigned)a->index_bits, true);
    return ASSAY_OK;
}

assay_status assay_shape_topk(const assay_inference *c)
{
    const assay_attr_topk *a = &c->n->attr.topk;
    assay_status s;
    if ((s = assay_infer_axis(c, a->axis)) || (s = check_index_bits(c, a->index_bits)))
        return s;
    if (a->k < 0 || a->k > c->x->dim[a->axis])
        return assay_infer_fail(c, "k is %lld, expected 0 to %lld", (long long)a->k,
                                (long long)c->x->dim[a->axis]);
    for (int i = 0; i < 2; ++i) {
        assay_infer_shape(&c->out[i], c->x);
        c->out[i].dim[a->axis] = a->k;
    }
    c->out[1].elem = assay_int((unsigned)a->index_bits, true);
    return ASSAY_OK;
}

assay_status assay_shape_where(const assay_inference *c)
{
    int64_t count = c->n->attr.where.count;
    if (count < 0 || count > assay_shape_count(c->x))
        return assay_infer_fail(c, "count is %lld, expected 0 to %lld", (long long)count,
                                (long long)assay_shape_count(c->x));
    c->out->elem = assay_int(64, true);
    c->out->rank = 2;
    c->out->dim[0] = count;
    c->out->dim[1] = c->x->rank;
    return ASSAY_OK;
}

assay_status assay_shape_cast(const assay_inference *c)
{
    static const assay_elem to[] = {
        [ASSAY_CAST_F32] = {ASSAY_KIND_F32, 32, true},
        [ASSAY_CAST_BOOL] = {ASSAY_KIND_BOOL, 8, false},
        [ASSAY_CAST_I8] = {ASSAY_KIND_INT, 8, true},
        [ASSAY_CAST_U8] = {ASSAY_KIND_INT, 8, false},
        [ASSAY_CAST_I16] = {ASSAY_KIND_INT, 16, true},
        [ASSAY_CAST_U16] = {ASSAY_KIND_INT, 16, false},
        [ASSAY_CAST_I32] = {ASSAY_KIND_INT, 32, true},
        [ASSAY_CAST_U32] = {ASSAY_KIND_INT, 32, false},
        [ASSAY_CAST_I64] = {ASSAY_KIND_INT, 64, true},
        [ASSAY_CAST_F16] = {ASSAY_KIND_F32, 32, true},
        [ASSAY_CAST_BF16] = {ASSAY_KIND_F32, 32, true},
        [ASSAY_CAST_I4] = {ASSAY_KIND_INT, 4, true},
        [ASSAY_CAST_U4] = {ASSAY_KIND_INT, 4, false},
        [ASSAY_CAST_I2] = {ASSAY_KIND_INT, 2, true},
        [ASSAY_CAST_U2] = {ASSAY_KIND_INT, 2, false},
    };
    assay_infer_shape(c->out, c->x);
    c->out->elem = to[c->n->attr.cast.to];
    return ASSAY_OK;
}

/* Quantize, dequantize, rescale, relabel: the output's kind and parameters are the node's meaning,
 * so they come from the output value. A relabel makes codes of plain integers too. */
assay_status assay_shape_given(const assay_inference *c)
{
    const assay_type *y = c->n->out ? &assay_node_out(c->g, c->n, 0)->type : NULL;
    bool from_codes = c->n->op != ASSAY_OP_QUANTIZE, to_codes = c->n->op != ASSAY_OP_DEQUANTIZE;

    if (!y)
        return assay_infer_fail(c, "the output's type cannot be inferred; add the value first");
    bool plain = c->n->op == ASSAY_OP_RELABEL && c->x->elem.kind == ASSAY_KIND_INT;
    if (from_codes ? !assay_is_quantized(c->x) && !plain : c->x->elem.kind != ASSAY_KIND_F32)
        return assay_infer_fail(c, "the input is not %s",
                                from_codes ? "an integer with parameters" : "f32");
    if (to_codes ? !assay_is_quantized(y) && !plain : y->elem.kind != ASSAY_KIND_F32)
        return assay_infer_fail(c, "the output is not %s",
                                to_codes ? "an integer with parameters" : "f32");
    assay_infer_shape(c->out, c->x);
    c->out->elem = y->elem;
    c->out->q = y->q;
    return ASSAY_OK;
}

assay_status assay_shape_relabel(const assay_inference *c)
{
    assay_status s = assay_shape_given(c);
    if (!s && !assay_elem_equal(c->out->elem, c->x->elem))
        s = assay_infer_fail(c, "the output's element kind differs from the input's");
    return s;
}

assay_status assay_shape_lookup(const assay_inference *c)
{
    const assay_type *table = assay_infer_in(c, 1);
    if (!assay_is_quantized(c->x) || c->x->q.granularity != ASSAY_Q_TENSOR || c->x->elem.bits > 16)
        return assay_infer_fail(c,
                                "the input does not hold codes of at most 16 bits with one scale");
    if (table->elem.kind != ASSAY_KIND_INT || assay_is_quantized(table) || table->rank != 1 ||
        table->dim[0] != INT64_C(1) << c->x->elem.bits)
        return assay_infer_fail(c, "the table does not hold %lld plain integers",
                                1LL << c->x->elem.bits);
    if (c->n->out && !assay_elem_equal(assay_node_out(c->g, c->n, 0)->type.elem, table->elem))
        return assay_infer_fail(c, "the table's integer kind differs from the output's");
    assay_infer_shape(c->out, c->x);
    c->out->elem = table->elem;
    return ASSAY_OK;
}
