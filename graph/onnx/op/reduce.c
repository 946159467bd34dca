/* Reductions, ArgMax/ArgMin, TopK, CumSum and CumProd. */
#include <string.h>

#include "graph/onnx/op/op.h"

enum { MAX_PRODUCTS = 4096 };

/* Sorted, unique axes counted from the front; all axes when none is given. Axes are an attribute
 * before opset 13 (ReduceSum) or 18 (the others) and an input since. */
static assay_attrs reduce_attrs(onnx_node *n, bool *is_identity)
{
    assay_attrs a = {.reduce = {.keepdims = onnx_int(n, "keepdims", 1) != 0}};
    int rank = onnx_type(n, onnx_in(n, 0)).rank;
    bool wanted[ASSAY_MAX_RANK] = {false};
    assay_list axes;

    if (onnx_has(n, 1))
        onnx_int_list(n, 1, "axes", &axes);
    else
        onnx_ints(n, "axes", &axes);
    *is_identity = axes.n == 0 && onnx_int(n, "noop_with_empty_axes", 0) != 0;
    for (int i = 0; i < axes.n && !n->status; i++) {
        int64_t axis = onnx_axis(n, axes.v[i], rank);
        if (wanted[axis])
            onnx_fail(n, ASSAY_ERR_INPUT, "axis %lld is given twice", (long long)axis);
        wanted[axis] = true;
    }
    for (int i = 0; i < rank; i++)
        if (axes.n == 0 || wanted[i])
            a.reduce.axes.v[a.reduce.axes.n++] = i;
    return a;
}

/* The reduction itself; with noop_with_empty_axes and no axes there is none. */
static onnx_value *reduced(onnx_node *n, assay_op op, onnx_value *x, const char *suffix)
{
    bool is_identity;
    assay_attrs a = reduce_attrs(n, &is_identity);
    const assay_type t = onnx_type(n, x);

    /* ONNX Runtime has its quick orders for the plain sum, mean and extremes only, and where all
     * axes go; one of a single element that stays counts. */
    a.reduce.in_turn = op == ASSAY_OP_REDUCE_SUM && n->row->import != onnx_import_reduce &&
                       a.reduce.axes.n < t.rank;

    /* An empty list of axes means all of them: on a scalar there is nothing to reduce. */
    if (n->status || is_identity || a.reduce.axes.n == 0)
        return x;
    return onnx_op1(n, op, &a, x, suffix);
}

void onnx_import_reduce(onnx_node *n)
{
    onnx_bind(n, 0, reduced(n, n->row->op, onnx_in(n, 0), NULL));
}

void onnx_import_reduce_l1(onnx_node *n)
{
    onnx_value *x = onnx_op1(n, ASSAY_OP_ABS, NULL, onnx_in(n, 0), "abs");
    onnx_bind(n, 0, reduced(n, ASSAY_OP_REDUCE_SUM, x, NULL));
}

void onnx_import_reduce_l2(onnx_node *n)
{
    onnx_value *x = onnx_op1(n, ASSAY_OP_SQUARE, NULL, onnx_in(n, 0), "square");
    x = reduced(n, ASSAY_OP_REDUCE_SUM, x, "sum");
    onnx_op1(n, ASSAY_OP_SQRT, NULL, x, NULL);
}

void onnx_import_reduce_sum_square(onnx_node *n)
{
    onnx_value *x = onnx_op1(n, ASSAY_OP_SQUARE, NULL, onnx_in(n, 0), "square");
    onnx_bind(n, 0, reduced(n, ASSAY_OP_REDUCE_SUM, x, NULL));
}

void onnx_import_reduce_log_sum(onnx_node *n)
{
    onnx_value *x = reduced(n, ASSAY_OP_REDUCE_SUM, onnx_in(n, 0), "sum");
    onnx_op1(n, ASSAY_OP_LOG, NULL, x, NULL);
}

/* max + log(sum(exp(x - max))): the exponentials cannot overflow. */
void onnx_import_reduce_log_sum_exp(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *max, *kept, *s;
    bool is_identity;
    assay_attrs a = reduce_attrs(n, &is_identity), keep = a;

    if (n->status || is_identity || a.reduce.axes.n == 0) {
        onnx_bind(n, 0, x);
        return;
    }
    keep.reduce.keepdims = true;
    kept = onnx_op1(n, ASSAY_OP_REDUCE_MAX, &keep, x, "max");
    s = onnx_op2(n, ASSAY_OP_SUB, NULL, x, kept, "shifted");
    s = onnx_op1(n, ASSAY_OP_EXP, NULL, s, "exp");
    s = onnx_op1(n, ASSAY_OP_REDUCE_SUM, &a, s, "sum");
    s = onnx_op1(n, ASSAY_OP_LOG, NULL, s, "log");
    max = a.reduce.keepdims ? kept : onnx_op1(n, ASSAY_OP_REDUCE_MAX, &a, x, "max_dropped");
    onnx_op2(n, ASSAY_OP_ADD, NULL, s, max, NULL);
}

void onnx_import_arg(onnx_node *n)
{
    int rank = onnx_type(n, onnx_in(n, 0)).rank;
    assay_attrs a = {.arg = {.axis = onnx_axis(n, onnx_int(n, "axis", 0), rank),
                             .keepdims = onnx_int(n, "keepdims", 1) != 0,
                             .select_last = onnx_int(n, "select_last_index", 0) != 0,
                             .index_bits = 64}};
    onnx_op1(n, n->row->op, &a, onnx_in(n, 0), NULL);
}

/* k is an attribute before opset 10. The order of an unsorted result is free: ours is sorted. */
void onnx_import_topk(onnx_node *n)
{
    assay_type x = onnx_type(n, onnx_in(n, 0));
    assay_attrs a = {.topk = {.k = onnx_int(n, "k", -1),
                              .axis = onnx_axis(n, onnx_int(n, "axis", -1), x.rank),
                              .largest = onnx_int(n, "largest", 1) != 0,
                              .index_bits = 64}};

    if (onnx_has(n, 1))
        onnx_one_int(n, 1, "k", &a.topk.k);
    if (!n->status && (a.topk.k < 0 || a.topk.k > x.dim[a.topk.axis]))
        onnx_fail(n, ASSAY_ERR_INPUT, "k is %lld, the axis has %lld", (long long)a.topk.k,
                  (long long)x.dim[a.topk.axis]);
    if (!n->status)
        onnx_op_multi(n, ASSAY_OP_TOPK, &a, onnx_in(n, 0), 2);
}

void onnx_import_cumsum(onnx_node *n)
{
    int rank = onnx_type(n, onnx_in(n, 0)).rank;
    int64_t axis = 0;
    assay_attrs a = {.cumsum = {.exclusive = onnx_int(n, "exclusive", 0) != 0,
                                .reverse = onnx_int(n, "reverse", 0) != 0}};

    onnx_one_int(n, 1, "axis", &axis);
    a.cumsum.axis = onnx_axis(n, axis, rank);
    onnx_op1(n, ASSAY_OP_CUMSUM, &a, onnx_in(n, 0), NULL);
}

/* y[i] = x[0] * ... * x[i] along an axis, a product each; without x[i] itself where exclusive, and
 * from the end where reverse. */
void onnx_import_cumprod(onnx_node *n)
{
    const assay_type t = onnx_type(n, onnx_in(n, 0));
    const bool exclusive = onnx_int(n, "exclusive", 0) != 0,
               reverse = onnx_int(n, "reverse", 0) != 0;
    assay_attrs one = {.shape = {.shape = {.n = t.rank}}};
    int64_t given = 0;

    onnx_one_int(n, 1, "axis", &given);
    const int axis = (int)onnx_axis(n, given, t.rank);
    const int64_t extent = n->status ? 0 : t.dim[axis];
    if (!n->status && (extent < 1 || extent > MAX_PRODUCTS))
        onnx_refuse(n, "%lld products; 1 to %d can be unrolled", (long long)extent, MAX_PRODUCTS);
    onnx_value **y = assay_arena_array(n->im->temp, (size_t)extent + 1, sizeof(onnx_value *));
    if (!y)
        onnx_no_memory(n);
    if (n->status)
        return;
    memcpy(one.shape.shape.v, t.dim, sizeof t.dim);
    one.shape.shape.v[axis] = 1;
    onnx_value *product =
        onnx_op1(n, ASSAY_OP_EXPAND, &one, onnx_scalar(n, onnx_in(n, 0), 1, "one"), "ones");
    for (int64_t k = 0; k < extent && !n->status; k++) {
        const int64_t i = reverse ? extent - 1 - k : k;
        y[i] = product;
        if (!exclusive || k + 1 < extent)
            product = onnx_op2(n, ASSAY_OP_MUL, NULL, product,
                               onnx_part(n, onnx_in(n, 0), axis, i, 1, "factor"), "product");
        if (!exclusive)
            y[i] = product;
    }
    onnx_bind(n, 0, n->status ? NULL : onnx_joined(n, y, (int)extent, axis, "products"));
}
