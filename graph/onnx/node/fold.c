/* Folding: our ops over constants, evaluated at import. This is what turns exported shape
 * arithmetic (Shape, Gather, Concat, Reshape, ...) into constants, and transposes weights. Float
 * operations are done in double and rounded once to the element type, which for + - * / sqrt gives
 * the IEEE result.
 *
 * Heavy arithmetic on weights is left to the optimizer, which evaluates it by the float engine. */
#include <math.h>
#include <string.h>

#include "graph/onnx/node/fold.h"

/* Computable element types: uint64 constants can be moved and cast only. */
static bool computable(int dtype)
{
    return dtype != ONNX_UINT64;
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

static int64_t int_power(int64_t base, int64_t exponent)
{
    uint64_t r = 1, b = (uint64_t)base;

    if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    for (uint64_t e = (uint64_t)exponent; e; e >>= 1, b *= b)
        if (e & 1)
            r *= b;
    return (int64_t)r;
}

static int64_t binary_int(onnx_node *n, assay_op op, int64_t a, int64_t b)
{
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

    if ((op == ASSAY_OP_DIV || op == ASSAY_OP_MOD) && b == 0) {
        onnx_fail(n, ASSAY_ERR_INPUT, "division by zero among constants");
        return 0;
    }
    switch (op) {
    case ASSAY_OP_ADD:
        return (int64_t)(ua + ub);
    case ASSAY_OP_SUB:
        return (int64_t)(ua - ub);
    case ASSAY_OP_MUL:
        return (int64_t)(ua * ub);
    case ASSAY_OP_DIV: /* toward zero */
        return b == -1 ? (int64_t)(0 - ua) : a / b;
    case ASSAY_OP_MOD: /* the sign of the divisor */
        return b == -1 ? 0 : (a % b != 0 && (a % b < 0) != (b < 0)) ? a % b + b : a % b;
    case ASSAY_OP_MIN:
        return a < b ? a : b;
    case ASSAY_OP_MAX:
        return a > b ? a : b;
    case ASSAY_OP_POW:
        return int_power(a, b);
    case ASSAY_OP_EQUAL:
        return a == b;
    case ASSAY_OP_NOT_EQUAL:
        return a != b;
    case ASSAY_OP_LESS:
        return a < b;
    case ASSAY_OP_LESS_EQUAL:
        return a <= b;
    case ASSAY_OP_GREATER:
        return a > b;
    case ASSAY_OP_GREATER_EQUAL:
        return a >= b;
    case ASSAY_OP_LOGICAL_AND:
        return a && b;
    default:
        return a || b;
    }
}

static double binary_real(assay_op op, double a, double b)
{
    switch (op) {
    case ASSAY_OP_ADD:
        return a + b;
    case ASSAY_OP_SUB:
        return a - b;
    case ASSAY_OP_MUL:
        return a * b;
    case ASSAY_OP_DIV:
        return a / b;
    case ASSAY_OP_MIN:
        return a < b ? a : b;
    case ASSAY_OP_MAX:
        return a > b ? a : b;
    case ASSAY_OP_POW:
        return pow(a, b);
    case ASSAY_OP_EQUAL:
        return a == b;
    case ASSAY_OP_NOT_EQUAL:
        return !(a == b);
    case ASSAY_OP_LESS:
        return a < b;
    case ASSAY_OP_LESS_EQUAL:
        return a <= b;
    case ASSAY_OP_GREATER:
        return a > b;
    default:
        return a >= b;
    }
}

static bool is_binary(assay_op op, bool real)
{
    switch (op) {
    case ASSAY_OP_ADD:
    case ASSAY_OP_SUB:
    case ASSAY_OP_MUL:
    case ASSAY_OP_DIV:
    case ASSAY_OP_MIN:
    case ASSAY_OP_MAX:
    case ASSAY_OP_POW:
    case ASSAY_OP_EQUAL:
    case ASSAY_OP_NOT_EQUAL:
    case ASSAY_OP_LESS:
    case ASSAY_OP_LESS_EQUAL:
    case ASSAY_OP_GREATER:
    case ASSAY_OP_GREATER_EQUAL:
        return true;
    case ASSAY_OP_MOD:
    case ASSAY_OP_LOGICAL_AND:
    case ASSAY_OP_LOGICAL_OR:
        return !real;
    default:
        return false;
    }
}

static const onnx_const *fold_binary(onnx_node *n, assay_op op, const onnx_const *a,
                                     const onnx_const *b)
{
    int64_t dim[ASSAY_MAX_RANK], stride_a[ASSAY_MAX_RANK], stride_b[ASSAY_MAX_RANK];
    int64_t at_a = 0, at_b = 0;
    bool real = onnx_is_float(a->dtype);
    bool compares = (assay_op_get(op)->traits & ASSAY_T_COMPARE) != 0;
    onnx_const *y;
    int rank;

    if (a->dtype != b->dtype)
        return onnx_fail(n, ASSAY_ERR_INPUT, "operands are %s and %s", onnx_dtype_name(a->dtype),
                         onnx_dtype_name(b->dtype));
    if (!onnx_broadcast(a->dim, a->rank, b->dim, b->rank, dim, &rank))
        return onnx_fail(n, ASSAY_ERR_INPUT, "shapes of the operands cannot be broadcast together");
    y = onnx_fold_result(n, compares ? ONNX_BOOL : a->dtype, rank, dim, a->count + b->count);
    if (!y)
        return NULL;
    broadcast_strides(a, rank, stride_a);
    broadcast_strides(b, rank, stride_b);
    walk w = {.rank = rank, .dim = dim};
    for (int64_t i = 0; i < y->count && !n->status; i++) {
        if (real)
            onnx_set_real(y, i, binary_real(op, onnx_get_real(a, at_a), onnx_get_real(b, at_b)));
        else
            onnx_set_int(y, i, binary_int(n, op, onnx_get_int(a, at_a), onnx_get_int(b, at_b)));
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
        return onnx_fail(n, ASSAY_ERR_INPUT, "operands are %s, %s and %s",
                         onnx_dtype_name(cond->dtype), onnx_dtype_name(a->dtype),
                         onnx_dtype_name(b->dtype));
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

static double unary_real(assay_op op, double x)
{
    switch (op) {
    case ASSAY_OP_NEG:
        return -x;
    case ASSAY_OP_ABS:
        return fabs(x);
    case ASSAY_OP_FLOOR:
        return floor(x);
    case ASSAY_OP_CEIL:
        return ceil(x);
    case ASSAY_OP_ROUND: /* half to even, without asking the rounding mode */
        return fabs(x - trunc(x)) == 0.5 ? 2 * round(x / 2) : round(x);
    case ASSAY_OP_SQRT:
        return sqrt(x);
    case ASSAY_OP_RECIPROCAL:
        return 1 / x;
    default:
        return (x > 0) - (x < 0);
    }
}

static int64_t unary_int(assay_op op, int64_t x)
{
    uint64_t minus = 0 - (uint64_t)x;

    switch (op) {
    case ASSAY_OP_NEG:
        return (int64_t)minus;
    case ASSAY_OP_ABS:
        return x < 0 ? (int64_t)minus : x;
    case ASSAY_OP_LOGICAL_NOT:
        return !x;
    default:
        return (x > 0) - (x < 0);
    }
}

static bool is_unary(assay_op op, bool real)
{
    switch (op) {
    case ASSAY_OP_NEG:
    case ASSAY_OP_ABS:
    case ASSAY_OP_SIGN:
        return true;
    case ASSAY_OP_FLOOR:
    case ASSAY_OP_CEIL:
    case ASSAY_OP_ROUND:
    case ASSAY_OP_SQRT:
    case ASSAY_OP_RECIPROCAL:
        return real;
    case ASSAY_OP_LOGICAL_NOT:
        return !real;
    default:
        return false;
    }
}

static const onnx_const *fold_unary(onnx_node *n, assay_op op, const onnx_const *x)
{
    onnx_const *y = onnx_fold_result(n, x->dtype, x->rank, x->dim, x->count);

    for (int64_t i = 0; y && i < y->count; i++) {
        if (onnx_is_float(x->dtype))
            onnx_set_real(y, i, unary_real(op, onnx_get_real(x, i)));
        else
            onnx_set_int(y, i, unary_int(op, onnx_get_int(x, i)));
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
    assay_op merge = op == ASSAY_OP_REDUCE_PROD  ? ASSAY_OP_MUL
                     : op == ASSAY_OP_REDUCE_MAX ? ASSAY_OP_MAX
                     : op == ASSAY_OP_REDUCE_MIN ? ASSAY_OP_MIN
                                                 : ASSAY_OP_ADD;
    for (int64_t i = 0; i < x->count; i++) {
        bool first = true;
        for (int d = 0; d < x->rank; d++)
            first = first && (!reduced[d] || w.at[d] == 0);
        if (first)
            onnx_copy_element(y, at_y, x, at_x, onnx_dtype_size(x->dtype));
        else if (real)
            onnx_set_real(y, at_y,
                          binary_real(merge, onnx_get_real(y, at_y), onnx_get_real(x, at_x)));
        else
            onnx_set_int(y, at_y,
                         binary_int(n, merge, onnx_get_int(y, at_y), onnx_get_int(x, at_x)));
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

const onnx_const *onnx_cast_const(onnx_node *n, const onnx_const *x, int dtype)
{
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
    else if (op == ASSAY_OP_REDUCE_SUM || op == ASSAY_OP_REDUCE_PROD || op == ASSAY_OP_REDUCE_MAX ||
             op == ASSAY_OP_REDUCE_MIN || op == ASSAY_OP_REDUCE_MEAN)
        *out = fold_reduce(n, op, &attr->reduce, x);
}
