/* Folding of data movement: output elements are input elements. */
#include <string.h>

#include "graph/onnx/node/fold.h"

/* Results stay within a fraction of the memory that the import may still use; and more
 * elements than the operands hold together are made only up to this. */
#define GROWTH_LIMIT ((int64_t)1 << 20)

onnx_const *onnx_fold_result(onnx_node *n, int dtype, int rank, const int64_t *dim,
                             int64_t operands)
{
    assay_type shape = {.elem = {ASSAY_KIND_INT, 64, true}, .rank = rank};
    onnx_const *c;

    memcpy(shape.dim, dim, (size_t)rank * sizeof *dim);
    if (assay_shape_check(&shape, "", NULL))
        return NULL;
    if ((assay_shape_count(&shape) > GROWTH_LIMIT && assay_shape_count(&shape) > operands) ||
        (size_t)assay_shape_count(&shape) > n->im->left / 16)
        return NULL;
    c = onnx_new_const(n->im, dtype, rank, dim);
    return c ? c : onnx_no_memory(n);
}

void onnx_copy_element(onnx_const *y, int64_t to, const onnx_const *x, int64_t from, size_t size)
{
    memcpy((char *)(uintptr_t)y->data + (size_t)to * size,
           (const char *)x->data + (size_t)from * size, size);
}

/* y = transpose of the matrix x of 4-byte elements, in tiles that stay in the cache: weights pass
 * through here. */
static void transpose_words(const onnx_const *y, const onnx_const *x)
{
    enum { TILE = 32, WORD = 4 };
    char *to = (char *)(uintptr_t)y->data;
    const char *from = x->data;
    int64_t rows = x->dim[0], columns = x->dim[1];

    for (int64_t r = 0; r < rows; r += TILE)
        for (int64_t c = 0; c < columns; c += TILE)
            for (int64_t j = c; j < columns && j < c + TILE; j++)
                for (int64_t i = r; i < rows && i < r + TILE; i++)
                    memcpy(to + (j * rows + i) * WORD, from + (i * columns + j) * WORD, WORD);
}

/* y[i0, i1, ...] = x[base + i0*stride[0] + i1*stride[1] + ...] */
static void copy_strided(onnx_const *y, const onnx_const *x, int64_t base, const int64_t *stride)
{
    size_t size = onnx_dtype_size(x->dtype);
    int64_t at[ASSAY_MAX_RANK] = {0}, from = base;

    for (int64_t i = 0; i < y->count; i++) {
        onnx_copy_element(y, i, x, from, size);
        for (int d = y->rank - 1; d >= 0; d--) {
            from += stride[d];
            if (++at[d] < y->dim[d])
                break;
            from -= stride[d] * y->dim[d];
            at[d] = 0;
        }
    }
}

/* The same elements under another shape. */
static const onnx_const *fold_reshape(onnx_node *n, const assay_list *shape, const onnx_const *x)
{
    assay_type t = {.elem = {ASSAY_KIND_INT, 64, true}, .rank = shape->n};
    onnx_const *y = onnx_alloc(n->im, sizeof *y);

    if (!y)
        return onnx_no_memory(n);
    memcpy(t.dim, shape->v, (size_t)shape->n * sizeof *shape->v);
    if (assay_shape_check(&t, "", NULL) || assay_shape_count(&t) != x->count)
        return onnx_fail(n, ASSAY_ERR_INPUT, "the new shape does not hold %lld elements",
                         (long long)x->count);
    *y = *x;
    y->rank = shape->n;
    memcpy(y->dim, t.dim, sizeof t.dim);
    return y;
}

const onnx_const *onnx_expand_const(onnx_node *n, const onnx_const *x, const assay_list *shape)
{
    onnx_const *y = onnx_fold_result(n, x->dtype, shape->n, shape->v, x->count);
    int64_t own[ASSAY_MAX_RANK], stride[ASSAY_MAX_RANK];

    if (!y)
        return NULL;
    onnx_strides(x->dim, x->rank, own);
    for (int i = 0; i < y->rank; i++) {
        int k = i - (y->rank - x->rank);
        stride[i] = k >= 0 && x->dim[k] != 1 ? own[k] : 0;
    }
    copy_strided(y, x, 0, stride);
    return y;
}

static const onnx_const *fold_transpose(onnx_node *n, const assay_list *perm, const onnx_const *x)
{
    int64_t own[ASSAY_MAX_RANK], stride[ASSAY_MAX_RANK], dim[ASSAY_MAX_RANK];
    onnx_const *y;

    onnx_strides(x->dim, x->rank, own);
    for (int i = 0; i < x->rank; i++) {
        dim[i] = x->dim[perm->v[i]];
        stride[i] = own[perm->v[i]];
    }
    y = onnx_fold_result(n, x->dtype, x->rank, dim, x->count);
    if (y && x->rank == 2 && perm->v[0] == 1 && onnx_dtype_size(x->dtype) == 4)
        transpose_words(y, x);
    else if (y)
        copy_strided(y, x, 0, stride);
    onnx_forget(n->im, x);
    return y;
}

static const onnx_const *fold_slice(onnx_node *n, const assay_attr_slice *a, const onnx_const *x)
{
    int64_t own[ASSAY_MAX_RANK], stride[ASSAY_MAX_RANK], base = 0;
    onnx_const *y = onnx_fold_result(n, x->dtype, x->rank, a->size.v, x->count);

    if (!y)
        return NULL;
    onnx_strides(x->dim, x->rank, own);
    for (int i = 0; i < x->rank; i++) {
        base += a->begin.v[i] * own[i];
        stride[i] = a->size.v[i] > 1 ? a->step.v[i] * own[i] : 0;
    }
    copy_strided(y, x, base, stride);
    return y;
}

static const onnx_const *fold_tile(onnx_node *n, const assay_list *repeats, const onnx_const *x)
{
    int64_t own[ASSAY_MAX_RANK], dim[ASSAY_MAX_RANK], at[ASSAY_MAX_RANK] = {0};
    size_t size = onnx_dtype_size(x->dtype);
    onnx_const *y;

    for (int i = 0; i < x->rank; i++)
        if (__builtin_mul_overflow(x->dim[i], repeats->v[i], &dim[i]))
            return NULL;
    y = onnx_fold_result(n, x->dtype, x->rank, dim, x->count);
    onnx_strides(x->dim, x->rank, own);
    for (int64_t i = 0; y && i < y->count; i++) {
        int64_t from = 0;
        for (int d = 0; d < x->rank; d++)
            from += at[d] % x->dim[d] * own[d];
        onnx_copy_element(y, i, x, from, size);
        for (int d = x->rank - 1; d >= 0 && ++at[d] == dim[d]; d--)
            at[d] = 0;
    }
    return y;
}

/* Product of dim[from..to). */
static int64_t extent(const int64_t *dim, int from, int to)
{
    int64_t p = 1;
    for (int i = from; i < to; i++)
        p *= dim[i];
    return p;
}

static const onnx_const *fold_concat(onnx_node *n, int64_t axis, onnx_value *const *in, int n_in)
{
    const onnx_const *x = in[0]->constant;
    size_t size = onnx_dtype_size(x->dtype);
    int64_t dim[ASSAY_MAX_RANK], outer, inner, total = 0, filled = 0;
    onnx_const *y;

    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = 0;
    for (int k = 0; k < n_in; k++) {
        const onnx_const *c = in[k]->constant;
        bool fits = c->rank == x->rank && c->dtype == x->dtype;
        for (int i = 0; fits && i < c->rank; i++)
            fits = i == axis || c->dim[i] == x->dim[i];
        if (!fits)
            return onnx_fail(
                n, ASSAY_ERR_INPUT,
                "input %d differs from the others in type, or in shape beside the joined axis", k);
        dim[axis] += c->dim[axis];
        total += c->count;
    }
    y = onnx_fold_result(n, x->dtype, x->rank, dim, total);
    if (!y)
        return NULL;
    outer = extent(dim, 0, (int)axis);
    inner = extent(dim, (int)axis + 1, x->rank);
    for (int k = 0; k < n_in; k++) {
        const onnx_const *c = in[k]->constant;
        int64_t run = c->dim[axis] * inner;
        for (int64_t o = 0; run > 0 && o < outer; o++)
            memcpy((char *)(uintptr_t)y->data + (size_t)(o * dim[axis] * inner + filled) * size,
                   (const char *)c->data + (size_t)(o * run) * size, (size_t)run * size);
        filled += run;
    }
    return y;
}

static const onnx_const *fold_gather(onnx_node *n, int64_t axis, const onnx_const *x,
                                     const onnx_const *index)
{
    size_t size = onnx_dtype_size(x->dtype);
    int64_t dim[2 * ASSAY_MAX_RANK], outer, inner, extent_axis = x->dim[axis];
    int rank = 0;
    onnx_const *y;

    if (x->rank - 1 + index->rank > ASSAY_MAX_RANK)
        return onnx_refuse(n, "the result has rank %d", x->rank - 1 + index->rank);
    for (int i = 0; i < axis; i++)
        dim[rank++] = x->dim[i];
    for (int i = 0; i < index->rank; i++)
        dim[rank++] = index->dim[i];
    for (int i = (int)axis + 1; i < x->rank; i++)
        dim[rank++] = x->dim[i];
    y = onnx_fold_result(n, x->dtype, rank, dim, x->count + index->count);
    if (!y || y->count == 0)
        return y;
    outer = extent(x->dim, 0, (int)axis);
    inner = extent(x->dim, (int)axis + 1, x->rank);
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t k = 0; k < index->count; k++) {
            int64_t i = onnx_get_int(index, k);
            if (i < 0)
                i += extent_axis;
            if (i < 0 || i >= extent_axis)
                return onnx_fail(n, ASSAY_ERR_INPUT, "index %lld is outside an axis of extent %lld",
                                 (long long)onnx_get_int(index, k), (long long)extent_axis);
            memcpy((char *)(uintptr_t)y->data + (size_t)((o * index->count + k) * inner) * size,
                   (const char *)x->data + (size_t)((o * extent_axis + i) * inner) * size,
                   (size_t)inner * size);
        }
    }
    return y;
}

const onnx_const *onnx_fold_move(onnx_node *n, assay_op op, const assay_attrs *attr,
                                 onnx_value *const *in, int n_in)
{
    const onnx_const *x = in[0]->constant;

    switch (op) {
    case ASSAY_OP_RESHAPE:
        return fold_reshape(n, &attr->shape.shape, x);
    case ASSAY_OP_EXPAND:
        return onnx_expand_const(n, x, &attr->shape.shape);
    case ASSAY_OP_TRANSPOSE:
        return fold_transpose(n, &attr->perm.perm, x);
    case ASSAY_OP_SLICE:
        return fold_slice(n, &attr->slice, x);
    case ASSAY_OP_TILE:
        return fold_tile(n, &attr->tile.repeats, x);
    case ASSAY_OP_CONCAT:
        return fold_concat(n, attr->axis.axis, in, n_in);
    case ASSAY_OP_GATHER:
        return fold_gather(n, attr->gather.axis, x, in[1]->constant);
    default:
        return NULL;
    }
}
