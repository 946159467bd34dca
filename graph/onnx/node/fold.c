/* Folding: our ops over constants, evaluated at import. This is what turns exported shape
 * arithmetic (Shape, Gather, Concat, Reshape, ...) into constants, and transposes weights. Float
 * operations are done in double and rounded once to the element type, which for + - * / sqrt gives
 * the IEEE result.
 *
 * Heavy arithmetic on weights is left to the optimizer, which evaluates it by the float engine. */
#include <math.h>
#include <string.h>

#include "graph/core/integers.h"
#include "graph/onnx/node/fold.h"

/* Computable element types: uint64 constants can be moved and cast only, small floats moved. */
static bool computable(int dtype)
{
    return dtype != ONNX_UINT64 && !onnx_is_small(dtype);
}

/* Walks the indices of `dim` in C order, keeping an element offset under given strides. */
typedef struct walk {
    int rank;
    const int64_t *dim;
    int64_t at[ASSAY_MAX_RANK];
} walk;

static void step(walk *w, const int64_t *stride_a, int64_t *a, const int64_t *stride_b, int64_t *b)
{
    for (int d = w->rank - 1; d >= 0; d--) {
        *a += stride_a[d];
        *b += stride_b[d];
        if (++w->at[d] < w->dim[d])
            return;
        *a -= stride_a[d] * w->dim[d];
        *b -= stride_b[d] * w->dim[d];
        w->at[d] = 0;
    }
}

/* Strides of c seen under the broadcast shape of `rank` dimensions. */
static void broadcast_strides(const onnx_const *c, int rank, int64_t *stride)
{
    int64_t own[ASSAY_MAX_RANK];

    onnx_strides(c->dim, c->rank, own);
    for (int i = 0; i < rank; i++) {
        int k = i - (rank - c->rank);
        stride[i] = k >= 0 && c->dim[k] != 1 ? own[k] : 0;
    }
}

/* A function that is known: its value. */
#define IS(ID, value)                                                                              \
    case ASSAY_OP_##ID:                                                                            \
        *y = value;                                                                                \
        return true;

/* False: op is no function of two real numbers that is known here. */
static bool binary_real(assay_op op, double a, double b, double *y)
{
    switch (op) {
        IS(ADD, a + b)
        IS(SUB, a - b)
        IS(MUL, a * b)
        IS(DIV, a / b)
        IS(MIN, a < b ? a : b)
        IS(MAX, a > b ? a : b)
        IS(POW, pow(a, b))
        IS(EQUAL, a == b)
        IS(NOT_EQUAL, !(a == b))
        IS(LESS, a < b)
        IS(LESS_EQUAL, a <= b)
        IS(GREATER, a > b)
        IS(GREATER_EQUAL, a >= b)
    default:
        return false;
    }
}

static bool is_binary(assay_op op, bool real)
{
    int64_t i;
    double r;
    return real ? binary_real(op, 1, 1, &r) : assay_integers_binary(op, false, 1, 1, &i);
}

/* Element i of y is op of one of a and one of b; an op that is_binary knows. */
static void set_binary(onnx_node *n, assay_op op, const onnx_const *a, int64_t at_a,
                       const onnx_const *b, int64_t at_b, onnx_const *y, int64_t i)
{
    double real = 0;
    int64_t whole = 0;
    if (onnx_is_float(a->dtype)) {
        binary_real(op, onnx_get_real(a, at_a), onnx_get_real(b, at_b), &real);
        onnx_set_real(y, i, real);
    } else if (assay_integers_divide(op) && onnx_get_int(b, at_b) == 0) {
        onnx_fail(n, ASSAY_ERR_INPUT, "division by zero among constants");
    } else {
        assay_integers_binary(op, false, onnx_get_int(a, at_a), onnx_get_int(b, at_b), &whole);
        onnx_set_int(y, i, whole);
    }
}

static const onnx_const *fold_binary(onnx_node *n, assay_op op, const onnx_const *a,
                                     const onnx_const *b)
{
    int64_t dim[ASSAY_MAX_RANK], stride_a[ASSAY_MAX_RANK], stride_b[ASSAY_MAX_RANK];
    int64_t at_a = 0, at_b = 0;
    bool compares = (assay_op_get(op)->traits & ASSAY_T_COMPARE) != 0;
    onnx_const *y;
    int rank;

    if (a->dtype != b->dtype)
        return onnx_fail(n, ASSAY_ERR_INPUT, "operands are %s and %s, expected equal types",
                         onnx_dtype_name(a->dtype), onnx_dtype_name(b->dtype));
    if (!onnx_broadcast(a->dim, a->rank, b->dim, b->rank, dim, &rank))
        return onnx_fail(n, ASSAY_ERR_INPUT, "shapes of the operands cannot be broadcast together");
    y = onnx_fold_result(n, compares ? ONNX_BOOL : a->dtype, rank, dim, a->count + b->count);
    if (!y)
        return NULL;
    broadcast_strides(a, rank, stride_a);
    broadcast_strides(b, rank, stride_b);
    walk w = {.rank = rank, .dim = dim};
    for (int64_t i = 0; i < y->count && !n->status; i++) {
        set_binary(n, op, a, at_a, b, at_b, y, i);
        step(&w, stride_a, &at_a, stride_b, &at_b);
    }
    return y;
}

static const onnx_const *fold_select(onnx_node *n, const onnx_const *cond, const onnx_const *a,
                                     const onnx_const *b)
{
    int64_t dim[ASSAY_MAX_RANK], inner[ASSAY_MAX_RANK], stride_c[ASSAY_MAX_RANK];
    int64_t stride_a[ASSAY_MAX_RANK], stride_b[ASSAY_MAX_RANK], at_c = 0, at_a = 0, at_b = 0;
    size_t size = onnx_dtype_size(a->dtype);
    onnx_const *y;
    int rank;

    if (cond->dtype != ONNX_BOOL || a->dtype != b->dtype)
        return onnx_fail(
            n, ASSAY_ERR_INPUT, "operands are %s, %s and %s, expected bool and two of equal type",
            onnx_dtype_name(cond->dtype), onnx_dtype_name(a->dtype), onnx_dtype_name(b->dtype));
    if (!onnx_broadcast(a->dim, a->rank, b->dim, b->rank, inner, &rank) ||
        !onnx_broadcast(inner, rank, cond->dim, cond->rank, dim, &rank))
        return onnx_fail(n, ASSAY_ERR_INPUT, "shapes of the operands cannot be broadcast together");
    y = onnx_fold_result(n, a->dtype, rank, dim, a->count + b->count + cond->count);
    if (!y)
        return NULL;
    broadcast_strides(cond, rank, stride_c);
    broadcast_strides(a, rank, stride_a);
    broadcast_strides(b, rank, stride_b);
    walk w = {.rank = rank, .dim = dim}, wc = w;
    for (int64_t i = 0; i < y->count; i++) {
        int64_t unused = 0;
        const onnx_const *from = onnx_get_int(cond, at_c) ? a : b;
        onnx_copy_element(y, i, from, from == a ? at_a : at_b, size);
        step(&w, stride_a, &at_a, stride_b, &at_b);
        step(&wc, stride_c, &at_c, stride_c, &unused);
    }
    return y;
}

/* False: op is no function of one real number that is known here. */
static bool unary_real(assay_op op, double x, double *y)
{
    switch (op) {
        IS(NEG, -x)
        IS(ABS, fabs(x))
        IS(FLOOR, floor(x))
        IS(CEIL, ceil(x))
        IS(ROUND, fabs(x - trunc(x)) == 0.5
                      ? 2 * round(x / 2)
                      : round(x)) /* half to even, without asking the rounding mode */
        IS(SQRT, sqrt(x))
        IS(RECIPROCAL, 1 / x)
        IS(SIGN, (x > 0) - (x < 0))
    default:
        return false;
    }
}

/* The same of an integer. */
static bool unary_int(assay_op op, int64_t x, int64_t *y)
{
    uint64_t minus = 0 - (uint64_t)x;

    switch (op) {
        IS(NEG, (int64_t)minus)
        IS(ABS, x < 0 ? (int64_t)minus : x)
        IS(LOGICAL_NOT, !x)
        IS(SIGN, (x > 0) - (x < 0))
    default:
        return false;
    }
}

#undef IS

static bool is_unary(assay_op op, bool real)
{
    int64_t i;
    double r;
    return real ? unary_real(op, 1, &r) : unary_int(op, 1, &i);
}

static const onnx_const *fold_unary(onnx_node *n, assay_op op, const onnx_const *x)
{
    onnx_const *y = onnx_fold_result(n, x->dtype, x->rank, x->dim, x->count);

    double real = 0;
    int64_t whole = 0;

    for (int64_t i = 0; y && i < y->count; i++) {
        if (onnx_is_float(x->dtype) && unary_real(op, onnx_get_real(x, i), &real))
            onnx_set_real(y, i, real);
        else if (unary_int(op, onnx_get_int(x, i), &whole))
            onnx_set_int(y, i, whole);
    }
    return y;
}

/* Sum, product, maximum, minimum and mean; ints wrap in 64 bits and mean truncates. */
static const onnx_const *fold_reduce(onnx_node *n, assay_op op, const assay_attr_reduce *attr,
                                     const onnx_const *x)
{
    int64_t kept[ASSAY_MAX_RANK], out[ASSAY_MAX_RANK], own[ASSAY_MAX_RANK];
    int64_t stride_x[ASSAY_MAX_RANK], stride_y[ASSAY_MAX_RANK], at_x = 0, at_y = 0;
    bool reduced[ASSAY_MAX_RANK] = {false}, real = onnx_is_float(x->dtype);
    int rank = 0;
    onnx_const *y;

    for (int i = 0; i < attr->axes.n; i++)
        reduced[attr->axes.v[i]] = true;
    for (int i = 0; i < x->rank; i++) {
        kept[i] = reduced[i] ? 1 : x->dim[i];
        if (!reduced[i] || attr->keepdims)
            out[rank++] = kept[i];
    }
    y = onnx_fold_result(n, x->dtype, rank, out, x->count);
    if (!y || y->count == 0 || x->count % y->count != 0 || x->count == 0)
        return NULL;
    onnx_strides(x->dim, x->rank, stride_x);
    onnx_strides(kept, x->rank, own);
    for (int i = 0; i < x->rank; i++)
        stride_y[i] = reduced[i] ? 0 : own[i];
    /* Where the reduced coordinates are all zero an output element starts with its first input. */
    walk w = {.rank = x->rank, .dim = x->dim};
    const assay_op merge = assay_op_merge(op);
    for (int64_t i = 0; i < x->count; i++) {
        bool first = true;
        for (int d = 0; d < x->rank; d++)
            first = first && (!reduced[d] || w.at[d] == 0);
        if (first)
            onnx_copy_element(y, at_y, x, at_x, onnx_dtype_size(x->dtype));
        else
            set_binary(n, merge, y, at_y, x, at_x, y, at_y);
        step(&w, stride_x, &at_x, stride_y, &at_y);
    }
    for (int64_t i = 0; op == ASSAY_OP_REDUCE_MEAN && i < y->count; i++) {
        int64_t count = x->count / y->count;
        if (real)
            onnx_set_real(y, i, onnx_get_real(y, i) / (double)count);
        else
            onnx_set_int(y, i, onnx_get_int(y, i) / count);
    }
    return y;
}

/* Whether some float of x is, toward zero, none of the integers of a type. */
static bool leaves_integers(const onnx_const *x, int dtype)
{
    assay_elem to;
    if (!onnx_is_float(x->dtype) || !onnx_dtype_elem(dtype, &to) || to.kind != ASSAY_KIND_INT)
        return false;
    const double least = (double)assay_elem_min(to);
    const double end = least + ldexp(1, to.bits); /* the first above */
    for (int64_t i = 0; i < x->count; i++) {
        const double v = trunc(onnx_get_real(x, i));
        if (!(v >= least && v < end)) /* NaN neither */
            return true;
    }
    return false;
}

const onnx_const *onnx_cast_const(onnx_node *n, const onnx_const *x, int dtype)
{
    if (leaves_integers(x, dtype))
        return NULL;
    onnx_const *y = onnx_fold_result(n, dtype, x->rank, x->dim, x->count);

    for (int64_t i = 0; y && i < y->count; i++) {
        if (onnx_is_float(x->dtype) || onnx_is_float(dtype))
            onnx_set_real(y, i, onnx_get_real(x, i));
        else
            onnx_set_int(y, i, onnx_get_int(x, i));
    }
    return y;
}

void onnx_fold(onnx_node *n, assay_op op, const assay_attrs *attr, onnx_value *const *in, int n_in,
               const onnx_const **out)
{
    const onnx_const *x;
    bool real;

    *out = NULL;
    for (int i = 0; i < n_in; i++)
        if (!in[i] || !in[i]->constant)
            return;
    if (n_in == 0 || (op == ASSAY_OP_MOD && attr && attr->mod.truncated))
        return;
    x = in[0]->constant;
    real = onnx_is_float(x->dtype);
    if (assay_op_get(op)->traits & ASSAY_T_MOVE) {
        *out = onnx_fold_move(n, op, attr, in, n_in);
        return;
    }
    for (int i = 0; i < n_in; i++)
        if (!computable(in[i]->constant->dtype) && op != ASSAY_OP_SELECT)
            return;
    if (n_in == 2 && is_binary(op, real))
        *out = fold_binary(n, op, x, in[1]->constant);
    else if (n_in == 1 && is_unary(op, real))
        *out = fold_unary(n, op, x);
    else if (op == ASSAY_OP_SELECT)
        *out = fold_select(n, x, in[1]->constant, in[2]->constant);
    else if (assay_op_merge(op) != ASSAY_OP_COUNT)
        *out = fold_reduce(n, op, &attr->reduce, x);
}
