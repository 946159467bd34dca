/* Norms: LpPool and GlobalLpPool, (sum of |x|^p)^(1/p) of windows, and LpNormalization, x by the
 * norm of its row, 0 where that is 0. */
#include "graph/onnx/op/op.h"

/* |x|^p */
static onnx_value *raised(onnx_node *n, onnx_value *x, int64_t p)
{
    if (p == 2)
        return onnx_op1(n, ASSAY_OP_SQUARE, NULL, x, "square");
    x = onnx_op1(n, ASSAY_OP_ABS, NULL, x, "abs");
    return p == 1 ? x
                  : onnx_op2(n, ASSAY_OP_POW, NULL, x, onnx_scalar(n, x, (double)p, "p"), "power");
}

/* sum^(1/p), under the suffix's name */
static onnx_value *root(onnx_node *n, onnx_value *sum, int64_t p, const char *suffix)
{
    if (p == 2)
        return onnx_op1(n, ASSAY_OP_SQRT, NULL, sum, suffix);
    if (p == 1)
        return sum;
    return onnx_op2(n, ASSAY_OP_POW, NULL, sum, onnx_scalar(n, sum, 1 / (double)p, "root"), suffix);
}

/* The mean of windows times their size, behind zeros, which add nothing. */
void onnx_import_lp_pool(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    const assay_type t = onnx_type(n, x);
    const int64_t p = onnx_int(n, "p", 2);
    assay_attrs a = onnx_pool_attrs(n, &t, false);
    assay_attrs pad = {.pad = {.begin = {.n = t.rank}, .end = {.n = t.rank}}};
    double cells = 1;

    if (!n->status && p < 1)
        onnx_fail(n, ASSAY_ERR_INPUT, "attribute 'p' is %lld", (long long)p);
    if (n->status)
        return;
    a.pool.count_include_pad = true; /* zeros behind the end, too */
    assay_pool_count_overhang(&t, &a.pool);
    for (int i = 0; i < a.pool.kernel.n; i++) {
        pad.pad.begin.v[i + 2] = a.pool.pad_begin.v[i];
        pad.pad.end.v[i + 2] = a.pool.pad_end.v[i];
        a.pool.pad_begin.v[i] = a.pool.pad_end.v[i] = 0;
        cells *= (double)a.pool.kernel.v[i];
    }
    a.pool.ceil_mode = a.pool.count_include_pad = false;
    x = onnx_op1(n, ASSAY_OP_PAD, &pad, raised(n, x, p), "padded");
    x = onnx_op1(n, ASSAY_OP_AVG_POOL, &a, x, "mean");
    x = onnx_op2(n, ASSAY_OP_MUL, NULL, x, onnx_scalar(n, x, cells, "cells"),
                 p == 1 ? NULL : "sum");
    root(n, x, p, NULL);
}

void onnx_import_global_lp_pool(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    const assay_type t = onnx_type(n, x);
    const int64_t p = onnx_int(n, "p", 2);
    assay_attrs a = {.reduce = {.keepdims = true}};

    if (!n->status && (t.rank < 3 || p < 1))
        onnx_fail(n, ASSAY_ERR_INPUT, "input of rank %d, attribute 'p' of %lld", t.rank,
                  (long long)p);
    for (int i = 2; i < t.rank; i++)
        a.reduce.axes.v[a.reduce.axes.n++] = i;
    x = onnx_op1(n, ASSAY_OP_REDUCE_SUM, &a, n->status ? NULL : raised(n, x, p),
                 p == 1 ? NULL : "sum");
    root(n, x, p, NULL);
}

void onnx_import_lp_norm(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    const int64_t p = onnx_int(n, "p", 2);
    assay_attrs a = {.reduce = {.axes = {.n = 1}, .keepdims = true}};

    a.reduce.axes.v[0] = onnx_axis(n, onnx_int(n, "axis", -1), onnx_type(n, x).rank);
    if (!n->status && p != 1 && p != 2)
        onnx_fail(n, ASSAY_ERR_INPUT, "attribute 'p' is %lld", (long long)p);
    if (n->status)
        return;
    onnx_value *norm = onnx_op1(n, ASSAY_OP_REDUCE_SUM, &a, raised(n, x, p), "sum");
    norm = root(n, norm, p, "norm");
    onnx_value *zero = onnx_scalar(n, x, 0, "zero");
    onnx_value *in[3] = {onnx_op2(n, ASSAY_OP_EQUAL, NULL, norm, zero, "none"), zero,
                         onnx_op2(n, ASSAY_OP_DIV, NULL, x, norm, "divided")};
    onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, NULL);
}
