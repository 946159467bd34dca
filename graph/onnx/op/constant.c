/* Operators that can be imported only when they are known at import: Constant, Shape, Size, Range,
 * ConstantOfShape, NonZero, Trilu. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/onnx/node/fold.h"
#include "graph/onnx/op/op.h"

/* A tensor attribute; NULL when absent or after a failure. */
static onnx_const *tensor_attribute(onnx_node *n, const char *name)
{
    const pb_attribute *a = onnx_attribute(n, name, ONNX_ATTR_TENSOR);
    onnx_const *c = a && a->t ? onnx_alloc(n->im, sizeof *c) : NULL;
    assay_error cause = {.status = ASSAY_ERR_MEMORY, .text = "out of memory"};

    if (!a)
        return NULL;
    if (!a->t)
        return onnx_fail(n, ASSAY_ERR_INPUT, "attribute '%s' has no tensor", name);
    if (!c || onnx_read_tensor(n->im, a->t, n->name, c, &cause))
        return onnx_fail(n, cause.status, "%.300s", cause.text);
    return c;
}

static onnx_const *int_list(onnx_node *n, const int64_t *v, size_t count)
{
    int64_t dim = (int64_t)count;
    onnx_const *c = onnx_new_const(n->im, ONNX_INT64, 1, &dim);

    for (size_t i = 0; c && i < count; i++)
        onnx_set_int(c, (int64_t)i, v[i]);
    return c;
}

static onnx_const *float_list(onnx_node *n, const float *v, size_t count)
{
    int64_t dim = (int64_t)count;
    onnx_const *c = onnx_new_const(n->im, ONNX_FLOAT, 1, &dim);

    for (size_t i = 0; c && i < count; i++)
        onnx_set_real(c, (int64_t)i, (double)v[i]);
    return c;
}

void onnx_import_constant(onnx_node *n)
{
    const char *name = n->pb->n_attribute == 1 ? n->pb->attribute[0]->name : "";
    const pb_attribute *a;
    onnx_const *c;

    if (strcmp(name, "value") == 0) {
        c = tensor_attribute(n, name);
    } else if (strcmp(name, "value_float") == 0) {
        a = onnx_attribute(n, name, ONNX_ATTR_FLOAT);
        c = float_list(n, a ? &a->f : NULL, a ? 1 : 0);
        if (c)
            c->rank = 0;
    } else if (strcmp(name, "value_floats") == 0) {
        a = onnx_attribute(n, name, ONNX_ATTR_FLOATS);
        c = float_list(n, a ? a->floats : NULL, a ? a->n_floats : 0);
    } else if (strcmp(name, "value_int") == 0) {
        a = onnx_attribute(n, name, ONNX_ATTR_INT);
        c = int_list(n, a ? &a->i : NULL, a ? 1 : 0);
        if (c)
            c->rank = 0;
    } else if (strcmp(name, "value_ints") == 0) {
        a = onnx_attribute(n, name, ONNX_ATTR_INTS);
        c = int_list(n, a ? a->ints : NULL, a ? a->n_ints : 0);
    } else if (n->pb->n_attribute == 1) {
        onnx_refuse(n, "attribute '%s'", name);
        return;
    } else {
        onnx_fail(n, ASSAY_ERR_INPUT, "%zu attributes, expected 1", n->pb->n_attribute);
        return;
    }
    onnx_constant(n, c, NULL);
}

/* A tensor of one repeated element, float 0 unless `value` says otherwise. */
void onnx_import_constant_of_shape(onnx_node *n)
{
    onnx_const *element = tensor_attribute(n, "value");
    const onnx_const *c;
    onnx_const zero = {.dtype = ONNX_FLOAT, .count = 1, .data = &(float){0}};
    assay_attrs a = {.shape = {.shape = {.n = 0}}};

    if (!onnx_int_list(n, 0, "shape", &a.shape.shape))
        return;
    if (!element)
        element = &zero;
    if (element->count != 1 || a.shape.shape.n > ASSAY_MAX_RANK) {
        onnx_fail(n, ASSAY_ERR_INPUT, "a value of %lld elements for a shape of rank %d",
                  (long long)element->count, a.shape.shape.n);
        return;
    }
    for (int i = 0; i < a.shape.shape.n; i++)
        if (a.shape.shape.v[i] < 0)
            onnx_fail(n, ASSAY_ERR_INPUT, "entry %d of the shape is %lld", i,
                      (long long)a.shape.shape.v[i]);
    if (n->status)
        return;
    element->rank = 0;
    c = onnx_expand_const(n, element, &a.shape.shape);
    if (!c)
        onnx_refuse(n, "a constant of more than 2^20 elements");
    else
        onnx_constant(n, c, NULL);
}

/* The input's shape, or the part of it from `start` to `end` (15), clamped as a slice. */
void onnx_import_shape(onnx_node *n)
{
    assay_type x = onnx_type(n, onnx_in(n, 0));
    int64_t start = onnx_int(n, "start", 0), end = onnx_int(n, "end", x.rank);

    start += start < 0 ? x.rank : 0;
    end += end < 0 ? x.rank : 0;
    start = start < 0 ? 0 : start > x.rank ? x.rank : start;
    end = end < start ? start : end > x.rank ? x.rank : end;
    onnx_constant(n, int_list(n, x.dim + start, (size_t)(end - start)), NULL);
}

void onnx_import_size(onnx_node *n)
{
    assay_type x = onnx_type(n, onnx_in(n, 0));
    int64_t count = onnx_count(&x);
    onnx_const *c = int_list(n, &count, 1);

    if (c)
        c->rank = 0;
    onnx_constant(n, c, NULL);
}

/* start, start + delta, ... below (above) limit: max(ceil((limit - start) / delta), 0) elements. */
/* Ones on the diagonal k columns to the right of the main one. */
void onnx_import_eye_like(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    const assay_type t = onnx_type(n, x);
    const int64_t k = onnx_int(n, "k", 0);
    const int dtype = onnx_dtype_attribute(
        n, "dtype", x->constant ? x->constant->dtype : onnx_elem_dtype(t.elem));
    assay_elem elem;

    if (!n->status && t.rank != 2)
        onnx_fail(n, ASSAY_ERR_INPUT, "an input of rank %d, expected 2", t.rank);
    if (!n->status && (!onnx_dtype_elem(dtype, &elem) || elem.bits < 8))
        onnx_refuse(n, "a matrix of %s", onnx_dtype_name(dtype));
    if (n->status)
        return;
    onnx_const *c = onnx_new_const(n->im, dtype, 2, t.dim);
    for (int64_t i = 0; c && i < t.dim[0]; i++) {
        if (k < -i || k >= t.dim[1] - i)
            continue;
        if (onnx_is_float(dtype))
            onnx_set_real(c, i * t.dim[1] + i + k, 1);
        else
            onnx_set_int(c, i * t.dim[1] + i + k, 1);
    }
    onnx_constant(n, c, NULL);
}

/* How many elements a range has whose ends and step are these; -1 after refusing. */
static int64_t range_extent(onnx_node *n, const onnx_const *const part[3])
{
    const double count =
        ceil((onnx_get_real(part[1], 0) - onnx_get_real(part[0], 0)) / onnx_get_real(part[2], 0));

    if (!(count <= 1 << 20)) {
        onnx_refuse(n, "a range of %g elements", count);
        return -1;
    }
    return count > 0 ? (int64_t)count : 0;
}

/* y[i] = start + i*step, of which the run computes one or both. */
static void computed_range(onnx_node *n, int dtype, int64_t extent)
{
    onnx_value *y = onnx_counted(n, dtype, 1, &extent, "counted");

    y = onnx_op2(n, ASSAY_OP_MUL, NULL, y, onnx_in(n, 2), "steps");
    onnx_op2(n, ASSAY_OP_ADD, NULL, y, onnx_in(n, 0), NULL);
}

void onnx_import_range(onnx_node *n)
{
    static const char *const what[] = {"start", "limit", "delta"};
    const onnx_const *part[3];
    int64_t extent;
    onnx_const *c;

    for (size_t i = 0; i < 3; i++) {
        part[i] = onnx_known(n, i, what[i]);
        if (!part[i])
            return;
        if (part[i]->count != 1 ||
            (part[i]->dtype != part[0]->dtype &&
             !(onnx_is_float(part[i]->dtype) && onnx_is_float(part[0]->dtype)))) {
            onnx_fail(n, ASSAY_ERR_INPUT, "inputs are not scalars of one type");
            return;
        }
    }
    if ((extent = range_extent(n, part)) < 0)
        return;
    if (!onnx_in(n, 0)->constant || !onnx_in(n, 2)->constant) {
        computed_range(n, part[0]->dtype, extent);
        return;
    }
    c = onnx_new_const(n->im, part[0]->dtype, 1, &extent);
    for (int64_t i = 0; c && i < extent; i++) {
        if (onnx_is_float(c->dtype))
            onnx_set_real(c, i, onnx_get_real(part[0], 0) + (double)i * onnx_get_real(part[2], 0));
        else
            onnx_set_int(c, i,
                         (int64_t)((uint64_t)onnx_get_int(part[0], 0) +
                                   (uint64_t)i * (uint64_t)onnx_get_int(part[2], 0)));
    }
    onnx_constant(n, c, NULL);
}

/* [rank,count]: the indices of what is not zero in c, a column each. */
static void constant_places(onnx_node *n, const onnx_const *x, int64_t count)
{
    const int64_t dim[2] = {x->rank, count};
    onnx_const *c = onnx_new_const(n->im, ONNX_INT64, 2, dim);

    for (int64_t i = 0, column = 0; c && i < x->count; i++) {
        int64_t rest = i;
        if (onnx_get_real(x, i) == 0)
            continue;
        for (int d = x->rank - 1; d >= 0; d--) {
            onnx_set_int(c, d * count + column, rest % x->dim[d]);
            rest /= x->dim[d];
        }
        column++;
    }
    onnx_constant(n, c, NULL);
}

onnx_value *onnx_set_places(onnx_node *n, onnx_value *x, int64_t count, const char *suffix)
{
    const assay_attrs a = {.where = {.count = count}};
    const int64_t one = 1;

    if (!n->status && onnx_type(n, x).rank == 0)
        x = onnx_reshaped(n, x, 1, &one, "row");
    return onnx_op1(n, ASSAY_OP_WHERE, &a, x, suffix);
}

int64_t onnx_count_set(const onnx_const *c)
{
    int64_t count = 0;

    for (int64_t i = 0; i < c->count; i++)
        count += onnx_get_real(c, i) != 0;
    return count;
}

/* The indices of the elements that are not zero, a column each; how many there are is known. */
void onnx_import_non_zero(onnx_node *n)
{
    static const int64_t swapped[2] = {1, 0};
    const onnx_const *x = onnx_known(n, 0, "input");
    const int64_t count = x ? onnx_count_set(x) : 0;

    if (!x)
        return;
    if (onnx_in(n, 0)->constant)
        constant_places(n, x, count);
    else
        onnx_transposed(n, onnx_set_places(n, onnx_in(n, 0), count, "rows"), swapped, NULL);
}
