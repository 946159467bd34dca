/* Operators that pick or put elements by places: GatherND, GatherElements, ScatterND,
 * ScatterElements, TensorScatter, OneHot, Hardmax, ReverseSequence, Compress, Trilu, MaxUnpool.
 * Places that are known at import are constants beside those that a network computes. */
#include <string.h>

#include "graph/onnx/op/op.h"

#define MAX_EXTENT (INT64_C(1) << 20) /* of what MaxUnpool gives */

/* A constant of the shape `dim` and one axis more: where each element stands along the axes
 * [first, end), of the element type of `like`. NULL when there are no such axes. */
static onnx_value *places(onnx_node *n, onnx_value *like, int rank, const int64_t *dim, int first,
                          int end)
{
    int64_t shape[ASSAY_MAX_RANK], stride[ASSAY_MAX_RANK];
    assay_type t = onnx_type(n, like);
    onnx_const *c;

    if (n->status || first >= end)
        return NULL;
    memcpy(shape, dim, (size_t)rank * sizeof *dim);
    shape[rank] = end - first;
    c = onnx_new_const(n->im, like->constant ? like->constant->dtype : onnx_elem_dtype(t.elem),
                       rank + 1, shape);
    if (!c)
        return onnx_no_memory(n);
    onnx_strides(dim, rank, stride);
    for (int64_t i = 0; i < c->count; i++) {
        const int64_t axis = first + i % (end - first), at = i / (end - first);
        onnx_set_int(c, i, at / stride[axis] % dim[axis]);
    }
    return onnx_constant(n, c, "places");
}

/* Values joined along the last of `rank` axes; those that are NULL are left out. */
static onnx_value *joined(onnx_node *n, onnx_value *const *part, int parts, int rank)
{
    onnx_value *in[3];
    int n_in = 0;

    for (int i = 0; i < parts; i++)
        if (part[i])
            in[n_in++] = part[i];
    return onnx_joined(n, in, n_in, rank - 1, "places");
}

/* The first batch_dims axes are places too: those of the indices themselves. */
void onnx_import_gather_nd(onnx_node *n)
{
    const int64_t batch = onnx_int(n, "batch_dims", 0);
    onnx_value *x = onnx_in(n, 0), *index = onnx_in(n, 1);
    assay_type t = onnx_type(n, index), of = onnx_type(n, x);

    if (!n->status && (batch < 0 || batch >= t.rank || batch > of.rank))
        onnx_fail(n, ASSAY_ERR_INPUT,
                  "attribute 'batch_dims' is %lld, expected less than the rank of the indices and "
                  "at most the input's",
                  (long long)batch);
    for (int i = 0; i < batch && !n->status; i++)
        if (t.dim[i] != of.dim[i])
            onnx_fail(n, ASSAY_ERR_INPUT,
                      "batch axis %d has extent %lld in the data but %lld in the indices", i,
                      (long long)of.dim[i], (long long)t.dim[i]);
    if (n->status)
        return;
    onnx_value *const part[2] = {places(n, index, t.rank - 1, t.dim, 0, (int)batch), index};
    onnx_op2(n, ASSAY_OP_GATHER_ND, NULL, x, joined(n, part, 2, t.rank), NULL);
}

onnx_value *onnx_element_places(onnx_node *n, onnx_value *x, onnx_value *index, int axis)
{
    assay_type t = onnx_type(n, index);

    if (!n->status && t.rank != onnx_type(n, x).rank)
        onnx_fail(n, ASSAY_ERR_INPUT,
                  "indices of rank %d for an input of rank %d, expected equal ranks", t.rank,
                  onnx_type(n, x).rank);
    if (!n->status && t.rank == ASSAY_MAX_RANK)
        onnx_refuse(n, "indices of rank %d", t.rank);
    for (int i = 0; i < t.rank && !n->status; i++)
        if (i != axis && t.dim[i] > onnx_type(n, x).dim[i])
            onnx_fail(n, ASSAY_ERR_INPUT,
                      "%lld indices along axis %d, which has only %lld elements",
                      (long long)t.dim[i], i, (long long)onnx_type(n, x).dim[i]);
    if (n->status)
        return NULL;
    int64_t dim[ASSAY_MAX_RANK];
    memcpy(dim, t.dim, (size_t)t.rank * sizeof *dim);
    dim[t.rank] = 1;
    onnx_value *const part[3] = {places(n, index, t.rank, t.dim, 0, axis),
                                 onnx_reshaped(n, index, t.rank + 1, dim, "index"),
                                 places(n, index, t.rank, t.dim, axis + 1, t.rank)};
    return joined(n, part, 3, t.rank + 1);
}

static onnx_value *element_places(onnx_node *n, onnx_value *x, onnx_value *index)
{
    const int64_t axis = onnx_axis(n, onnx_int(n, "axis", 0), onnx_type(n, x).rank);
    return onnx_element_places(n, x, index, (int)axis);
}

/* y[i, j, k] = x[i, index[i, j, k], k] for axis 1 */
void onnx_import_gather_elements(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);

    onnx_op2(n, ASSAY_OP_GATHER_ND, NULL, x, element_places(n, x, onnx_in(n, 1)), NULL);
}

/* Updates at places of x: in place of what is there, or with it. */
static void scatter(onnx_node *n, onnx_value *place)
{
    static const char *const choices[] = {"none", "add", "mul", "min", "max", NULL};
    static const int reduction[] = {0, ASSAY_REDUCTION_ADD, ASSAY_REDUCTION_MUL,
                                    ASSAY_REDUCTION_MIN, ASSAY_REDUCTION_MAX};
    const int choice = onnx_choice(n, "reduction", choices, 0);
    onnx_value *in[3] = {onnx_in(n, 0), place, onnx_in(n, 2)};

    if (n->status)
        return;
    const assay_attrs a = {.scatter = {.reduction = reduction[choice]}};
    onnx_op(n, choice == 0 ? ASSAY_OP_SCATTER_ND : ASSAY_OP_SCATTER_REDUCE, choice == 0 ? NULL : &a,
            in, 3, NULL);
}

void onnx_import_scatter_nd(onnx_node *n)
{
    scatter(n, onnx_in(n, 1));
}

/* y[i, index[i, j, k], k] = updates[i, j, k] for axis 1 */
void onnx_import_scatter_elements(onnx_node *n)
{
    scatter(n, element_places(n, onnx_in(n, 0), onnx_in(n, 1)));
}

/* `on` where an index says so along a new axis of `depth`, else `off`; an index outside says
 * nothing, a negative one counts from the end. */
void onnx_import_one_hot(onnx_node *n)
{
    static const assay_attrs to = {.cast = {.to = ASSAY_CAST_I64}};
    onnx_value *index = onnx_in(n, 0), *values = onnx_in(n, 2);
    assay_type t = onnx_type(n, index);
    int64_t depth = 0, dim[ASSAY_MAX_RANK], along[ASSAY_MAX_RANK];
    float real = 0;

    if (onnx_type(n, onnx_in(n, 1)).elem.kind == ASSAY_KIND_F32) {
        onnx_one_float(n, 1, "depth", &real);
        depth = real > -0x1p62F && real < 0x1p62F ? (int64_t)real : 0;
    } else {
        onnx_one_int(n, 1, "depth", &depth);
    }
    const int64_t axis = onnx_axis(n, onnx_int(n, "axis", -1), t.rank + 1);
    if (!n->status && (t.rank == ASSAY_MAX_RANK || depth < 1))
        onnx_refuse(n, "indices of rank %d and depth %lld", t.rank, (long long)depth);
    if (n->status)
        return;
    for (int i = 0; i <= t.rank; i++) {
        dim[i] = i == axis ? 1 : t.dim[i - (i > axis)];
        along[i] = i == axis ? depth : 1;
    }
    if (t.elem.bits != 64)
        index = onnx_op1(n, ASSAY_OP_CAST, &to, index, "index");
    index = onnx_reshaped(n, index, t.rank + 1, dim, "index");
    onnx_value *fold[3] = {
        onnx_op2(n, ASSAY_OP_LESS, NULL, index, onnx_scalar(n, index, 0, "zero"), "negative"),
        onnx_op2(n, ASSAY_OP_ADD, NULL, index, onnx_scalar(n, index, (double)depth, "depth"),
                 "from_end"),
        index};
    index = onnx_op(n, ASSAY_OP_SELECT, NULL, fold, 3, "place");
    onnx_value *in[3] = {onnx_op2(n, ASSAY_OP_EQUAL, NULL, index,
                                  onnx_counted(n, ONNX_INT64, t.rank + 1, along, "count"), "hot"),
                         onnx_reshaped(n, onnx_part(n, values, 0, 1, 1, "on"), 0, dim, "on"),
                         onnx_reshaped(n, onnx_part(n, values, 0, 0, 1, "off"), 0, dim, "off")};
    onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, NULL);
}

/* 1 where the greatest element of a row stands for the first time, else 0. Before opset 13 the axes
 * from `axis` on are one. */
void onnx_import_hardmax(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    const assay_type t = onnx_type(n, x);
    const int64_t axis = onnx_axis(n, onnx_int(n, "axis", n->opset < 13 ? 1 : -1), t.rank);
    int64_t flat[2] = {1, 1}, dim[ASSAY_MAX_RANK], along[ASSAY_MAX_RANK];

    if (n->status)
        return;
    for (int i = 0; i < t.rank; i++)
        flat[i >= axis] *= t.dim[i];
    const bool rows = n->opset < 13 && flat[1] != t.dim[axis];
    const assay_attrs arg = {.arg = {.axis = rows ? 1 : axis, .keepdims = true, .index_bits = 64}};
    const int rank = rows ? 2 : t.rank;
    memcpy(dim, rows ? flat : t.dim, (size_t)rank * sizeof *dim);
    for (int i = 0; i < rank; i++)
        along[i] = i == arg.arg.axis ? dim[i] : 1;
    if (rows)
        x = onnx_reshaped(n, x, 2, flat, "rows");
    onnx_value *in[3] = {onnx_op2(n, ASSAY_OP_EQUAL, NULL,
                                  onnx_op1(n, ASSAY_OP_ARG_MAX, &arg, x, "place"),
                                  onnx_counted(n, ONNX_INT64, rank, along, "count"), "hot"),
                         onnx_scalar(n, x, 1, "one"), onnx_scalar(n, x, 0, "zero")};
    onnx_value *y = onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, rows ? "hardmax" : NULL);
    if (rows)
        onnx_reshaped(n, y, t.rank, t.dim, NULL);
}

/* The first lens[b] steps of each b, the last one first: one of the first two axes counts the
 * steps, the other b. */
void onnx_import_reverse_sequence(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *lens = onnx_in(n, 1);
    const assay_type t = onnx_type(n, x), l = onnx_type(n, lens);
    const int64_t time = onnx_int(n, "time_axis", 0), batch = onnx_int(n, "batch_axis", 1);

    if (!n->status && (t.rank < 2 || time + batch != 1 || time * batch != 0))
        onnx_fail(n, ASSAY_ERR_INPUT, "time_axis and batch_axis are not 0 and 1");
    if (!n->status && (l.rank != 1 || l.dim[0] != t.dim[batch] || l.elem.bits != 64))
        onnx_fail(n, ASSAY_ERR_INPUT, "lengths do not hold one int64 per sequence");
    if (n->status)
        return;
    const int64_t steps[3] = {time ? 1 : t.dim[0], time ? t.dim[1] : 1, 1};
    const int64_t lists[3] = {time ? t.dim[0] : 1, time ? 1 : t.dim[1], 1};
    onnx_value *step = onnx_counted(n, ONNX_INT64, 3, steps, "step");
    lens = onnx_reshaped(n, lens, 3, lists, "lengths");
    onnx_value *last =
        onnx_op2(n, ASSAY_OP_SUB, NULL, lens, onnx_scalar(n, step, 1, "one"), "last");
    onnx_value *in[3] = {onnx_op2(n, ASSAY_OP_LESS, NULL, step, lens, "inside"),
                         onnx_op2(n, ASSAY_OP_SUB, NULL, last, step, "turned"), step};
    step = onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, "place");
    onnx_value *const own = places(n, step, 2, t.dim, (int)batch, (int)batch + 1);
    onnx_value *const part[2] = {time ? own : step, time ? step : own};
    onnx_op2(n, ASSAY_OP_GATHER_ND, NULL, x, joined(n, part, 2, 3), NULL);
}

/* What of an axis, or of all elements in a row, a condition keeps: a constant's places, or those
 * that the run finds. */
static onnx_value *kept_places(onnx_node *n, const onnx_const *keep)
{
    const int64_t kept = onnx_count_set(keep);

    if (!onnx_in(n, 1)->constant)
        return onnx_reshaped(n, onnx_set_places(n, onnx_in(n, 1), kept, "set"), 1, &kept, "kept");
    onnx_const *c = onnx_new_const(n->im, ONNX_INT64, 1, &kept);
    for (int64_t i = 0, k = 0; c && i < keep->count; i++)
        if (onnx_get_int(keep, i) != 0)
            onnx_set_int(c, k++, i);
    return c ? onnx_constant(n, c, "kept") : onnx_no_memory(n);
}

void onnx_import_compress(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    const onnx_const *keep = onnx_known(n, 1, "condition");
    const assay_type t = onnx_type(n, x);
    const bool flat = !onnx_attribute(n, "axis", ONNX_ATTR_INT);
    assay_attrs a = {.gather = {.axis = 0}};
    const int64_t count = onnx_count(&t);

    if (!flat)
        a.gather.axis = onnx_axis(n, onnx_int(n, "axis", 0), t.rank);
    if (n->status)
        return;
    if (flat)
        x = onnx_reshaped(n, x, 1, &count, "flat");
    onnx_op2(n, ASSAY_OP_GATHER, &a, x, kept_places(n, keep), NULL);
}

/* What is kept of a matrix: at and above diagonal k, or at and below it. */
static onnx_value *triangle(onnx_node *n, const assay_type *t, bool upper, int64_t k)
{
    const int64_t rows = t->dim[t->rank - 2], columns = t->dim[t->rank - 1];
    onnx_const *c = onnx_new_const(n->im, ONNX_BOOL, 2, t->dim + t->rank - 2);

    for (int64_t i = 0; c && i < rows * columns; i++) {
        const int64_t along = i % columns - i / columns;
        onnx_set_int(c, i, upper ? along >= k : along <= k);
    }
    return c ? onnx_constant(n, c, "triangle") : onnx_no_memory(n);
}

void onnx_import_trilu(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    assay_type t = onnx_type(n, x);
    int64_t k = 0;

    if (onnx_has(n, 1))
        onnx_one_int(n, 1, "k", &k);
    if (!n->status && t.rank < 2)
        onnx_fail(n, ASSAY_ERR_INPUT, "input of rank %d", t.rank);
    if (n->status)
        return;
    onnx_value *in[3] = {triangle(n, &t, onnx_int(n, "upper", 1) != 0, k), x,
                         onnx_scalar(n, x, 0, "zero")};
    onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, NULL);
}

/* Rows of a cache along an axis, from the one that write_indices has for each batch (0 where it is
 * absent) on; in a circle, behind the last comes the first. */
void onnx_import_tensor_scatter(onnx_node *n)
{
    static const char *const modes[] = {"linear", "circular", NULL};
    onnx_value *x = onnx_in(n, 0), *update = onnx_in(n, 1);
    const assay_type t = onnx_type(n, x), u = onnx_type(n, update);
    const int axis = (int)onnx_axis(n, onnx_int(n, "axis", -2), t.rank);
    const bool circular = onnx_choice(n, "mode", modes, 0) == 1;
    int64_t dim[ASSAY_MAX_RANK] = {1, 1, 1, 1, 1, 1}, batch[ASSAY_MAX_RANK] = {1, 1, 1, 1, 1, 1};
    assay_attrs whole = {.shape = {.shape = {.n = u.rank}}};

    if (!n->status && (axis == 0 || t.rank != u.rank || u.dim[axis] > t.dim[axis]))
        onnx_fail(n, ASSAY_ERR_INPUT, "an update of rank %d along axis %d of a cache of rank %d",
                  u.rank, axis, t.rank);
    if (n->status)
        return;
    dim[axis] = u.dim[axis];
    batch[0] = u.dim[0];
    memcpy(whole.shape.shape.v, u.dim, sizeof u.dim);
    onnx_value *row = onnx_counted(n, ONNX_INT64, u.rank, dim, "rows");
    if (onnx_has(n, 2))
        row = onnx_op2(n, ASSAY_OP_ADD, NULL, row,
                       onnx_reshaped(n, onnx_in(n, 2), u.rank, batch, "begin"), "from");
    if (circular)
        row = onnx_op2(n, ASSAY_OP_MOD, NULL, row,
                       onnx_scalar(n, row, (double)t.dim[axis], "extent"), "round");
    row = onnx_op1(n, ASSAY_OP_EXPAND, &whole, row, "each");
    onnx_value *in[3] = {x, onnx_element_places(n, x, row, axis), update};
    onnx_op(n, ASSAY_OP_SCATTER_ND, NULL, in, 3, NULL);
}

/* The extents that a MaxPool without padding beyond them had in front of it. */
static bool unpooled(onnx_node *n, const assay_type *t, int64_t *dim)
{
    assay_list kernel;

    onnx_ints(n, "kernel_shape", &kernel);
    if (!n->status && kernel.n != t->rank - 2)
        onnx_fail(n, ASSAY_ERR_INPUT, "a kernel of %d axes, input of rank %d", kernel.n, t->rank);
    const assay_attr_pool a = onnx_pool_attrs(n, t, false).pool;
    memcpy(dim, t->dim, sizeof t->dim);
    for (int i = 0; i < t->rank - 2 && !n->status; i++) {
        if (dim[i + 2] <= MAX_EXTENT)
            dim[i + 2] = (t->dim[i + 2] - 1) * a.stride.v[i] + a.kernel.v[i] - a.pad_begin.v[i] -
                         a.pad_end.v[i];
        if (dim[i + 2] < 1 || dim[i + 2] > MAX_EXTENT)
            onnx_fail(n, ASSAY_ERR_INPUT, "%lld elements along axis %d", (long long)dim[i + 2],
                      i + 2);
    }
    return !n->status;
}

/* Elements of x where its MaxPool found them, in a row of all elements; zeros elsewhere, and behind
 * the ends where output_shape says that there is more. */
void onnx_import_max_unpool(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *at = onnx_in(n, 1);
    const assay_type t = onnx_type(n, x), of = onnx_type(n, at);
    const int64_t rows[2] = {onnx_count(&t), 1};
    int64_t dim[ASSAY_MAX_RANK], count = 1;
    assay_attrs pad = {.pad = {.begin = {.n = t.rank}, .end = {.n = t.rank}}};
    assay_list shape = {.n = t.rank};

    if (n->status || !unpooled(n, &t, dim))
        return;
    memcpy(shape.v, dim, sizeof dim);
    if (onnx_has(n, 2) && !onnx_int_list(n, 2, "output_shape", &shape))
        return;
    for (int i = 0; i < t.rank; i++) {
        pad.pad.end.v[i] = shape.n == t.rank && shape.v[i] >= dim[i] ? shape.v[i] - dim[i] : -1;
        count = count > (INT64_C(1) << 40) / (dim[i] + 1) ? -1 : count * dim[i];
        if (count < 0 || pad.pad.end.v[i] < 0 || of.rank != t.rank || of.dim[i] != t.dim[i]) {
            onnx_fail(n, ASSAY_ERR_INPUT, "indices or output_shape do not fit the input");
            return;
        }
    }
    onnx_const *zeros = onnx_new_const(n->im, onnx_elem_dtype(t.elem), 1, &count);
    onnx_value *in[3] = {zeros ? onnx_constant(n, zeros, "zeros") : onnx_no_memory(n),
                         onnx_reshaped(n, at, 2, rows, "places"),
                         onnx_reshaped(n, x, 1, rows, "row")};
    x = onnx_op(n, ASSAY_OP_SCATTER_ND, NULL, in, 3, "spread");
    x = onnx_reshaped(n, x, t.rank, dim, onnx_has(n, 2) ? "unpooled" : NULL);
    if (onnx_has(n, 2))
        onnx_op1(n, ASSAY_OP_PAD, &pad, x, NULL);
}
