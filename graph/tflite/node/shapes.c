/* Behind a shape that depended on data: the shapes that operators give their outputs, where their
 * import will ask the output tensor. */
#include <string.h>

#include "graph/tflite/node/node.h"

/* Builtin codes (ops.def) of the operators whose import asks the output tensor for its shape. */
enum {
    CODE_FULLY_CONNECTED = 9,
    CODE_RESHAPE = 22,
    CODE_RESIZE_BILINEAR = 23,
    CODE_SQUEEZE = 43,
    CODE_SLICE = 65,
    CODE_EXPAND_DIMS = 70,
    CODE_PACK = 83,
    CODE_UNPACK = 88,
    CODE_ZEROS_LIKE = 93,
    CODE_FILL = 94,
    CODE_RESIZE_NEAREST = 97,
    CODE_SPLIT_V = 102,
    CODE_BROADCAST_TO = 130
};
enum { FC_KEEP_DIMS = 2 };

static assay_status set_shape(const tfl_op *o, int i, const int64_t *dim, int rank)
{
    tfl_tensor *y = tfl_out(o, i);

    if (rank > ASSAY_MAX_RANK)
        return tfl_unsupported(o, "a tensor of more than %d dimensions", ASSAY_MAX_RANK);
    if (y->value >= 0)
        return ASSAY_OK;
    y->type.rank = rank;
    memcpy(y->type.dim, dim, (size_t)rank * sizeof *dim);
    return assay_shape_check(&y->type, y->name, o->m->err);
}

/* A vector among the options. */
static assay_status option_list(const tfl_op *o, int slot, int64_t *v, int *n)
{
    flat_vector list = tfl_flat_list(o->options, slot, 4);

    if (list.count > ASSAY_MAX_RANK)
        return tfl_fail(o, "a list of %u dimensions", list.count);
    *n = (int)list.count;
    for (int i = 0; i < *n; ++i)
        v[i] = tfl_flat_list_i32(list, (uint32_t)i);
    return tfl_flat_status(&o->m->file, o->m->err);
}

/* An entry of -1 is what is left. */
static assay_status infer_reshape(const tfl_op *o, const assay_type *x)
{
    int64_t v[ASSAY_MAX_RANK], known = 1;
    int n, open = -1;
    assay_status s =
        tfl_has(o, 1) ? tfl_ints(o, 1, ASSAY_MAX_RANK, v, &n) : option_list(o, 0, v, &n);

    for (int i = 0; !s && i < n; ++i) {
        if (v[i] < 0 && open < 0)
            open = i;
        else if (v[i] < 0 || __builtin_mul_overflow(known, v[i], &known))
            return tfl_fail(o, "%lld is not a valid extent", (long long)v[i]);
    }
    if (!s && open >= 0)
        v[open] = known ? assay_shape_count(x) / known : 0;
    return s ? s : set_shape(o, 0, v, n);
}

/* Without a list all axes of extent 1 go. */
static assay_status infer_squeeze(const tfl_op *o, const assay_type *x)
{
    int64_t axis[ASSAY_MAX_RANK], dim[ASSAY_MAX_RANK];
    bool named[ASSAY_MAX_RANK] = {false};
    int n = 0, rank = 0;
    assay_status s = option_list(o, 0, axis, &n);

    for (int i = 0; !s && i < n; ++i) {
        int64_t a = axis[i] < 0 ? axis[i] + x->rank : axis[i];
        if (a < 0 || a >= x->rank)
            return tfl_fail(o, "axis %lld does not exist", (long long)axis[i]);
        named[a] = true;
    }
    for (int i = 0; i < x->rank; ++i)
        if (n ? !named[i] : x->dim[i] != 1)
            dim[rank++] = x->dim[i];
    return s ? s : set_shape(o, 0, dim, rank);
}

/* x's shape with one axis of extent `extent` more: EXPAND_DIMS, PACK. */
static assay_status infer_wider(const tfl_op *o, const assay_type *x, int64_t axis, int64_t extent)
{
    int64_t dim[ASSAY_MAX_RANK + 1];

    axis += axis < 0 ? x->rank + 1 : 0;
    if (axis < 0 || axis > x->rank)
        return tfl_fail(o, "the axis is outside the output's dimensions");
    for (int i = 0; i <= x->rank; ++i)
        dim[i] = i < axis ? x->dim[i] : i == axis ? extent : x->dim[i - 1];
    return set_shape(o, 0, dim, x->rank + 1);
}

static assay_status infer_unpack(const tfl_op *o, const assay_type *x)
{
    int64_t axis = tfl_flat_i32(o->options, PACK_AXIS, 0), dim[ASSAY_MAX_RANK];
    int rank = 0;
    assay_status s = ASSAY_OK;

    axis += axis < 0 ? x->rank : 0;
    for (int i = 0; i < x->rank; ++i)
        if (i != axis)
            dim[rank++] = x->dim[i];
    for (int i = 0; !s && i < o->n_out; ++i)
        s = set_shape(o, i, dim, rank);
    return s;
}

static assay_status infer_slice(const tfl_op *o, const assay_type *x)
{
    int64_t begin[ASSAY_MAX_RANK], size[ASSAY_MAX_RANK];
    int n, n_size;
    assay_status s = tfl_ints(o, 1, ASSAY_MAX_RANK, begin, &n);

    if (s || (s = tfl_ints(o, 2, ASSAY_MAX_RANK, size, &n_size)))
        return s;
    if (n != x->rank || n_size != x->rank)
        return tfl_fail(o, "begin and size do not have an entry for each of %d dimensions",
                        x->rank);
    for (int i = 0; i < n; ++i)
        if (size[i] == -1)
            size[i] = x->dim[i] - begin[i];
    return set_shape(o, 0, size, n);
}

static assay_status infer_split(const tfl_op *o, const assay_type *x)
{
    int64_t size[ASSAY_ATTR_LIST], axis, left;
    int n, open = -1;
    assay_type part = *x;
    assay_status s = tfl_ints(o, 1, ASSAY_ATTR_LIST, size, &n);

    if (s || (s = tfl_int(o, 2, &axis)))
        return s;
    axis += axis < 0 ? x->rank : 0;
    if (axis < 0 || axis >= x->rank || n != o->n_out)
        return tfl_fail(o, "%d sizes for %d outputs, or an axis outside the input", n, o->n_out);
    left = x->dim[axis];
    for (int i = 0; i < n; ++i) {
        open = size[i] < 0 ? i : open;
        left -= size[i] < 0 ? 0 : size[i];
    }
    for (int i = 0; !s && i < n; ++i) {
        part.dim[axis] = i == open ? left : size[i];
        s = set_shape(o, i, part.dim, part.rank);
    }
    return s;
}

static assay_status infer_rows(const tfl_op *o, const assay_type *x)
{
    const assay_type *w = &tfl_in(o, 1)->type;
    int64_t dim[ASSAY_MAX_RANK];

    if (w->rank != 2 || w->dim[1] < 1 || x->rank < 1)
        return tfl_fail(o, "expected weights of 2 dimensions");
    memcpy(dim, x->dim, sizeof dim);
    if (tfl_flat_bool(o->options, FC_KEEP_DIMS)) {
        dim[x->rank - 1] = w->dim[0];
        return set_shape(o, 0, dim, x->rank);
    }
    dim[0] = assay_shape_count(x) / w->dim[1];
    dim[1] = w->dim[0];
    return set_shape(o, 0, dim, 2);
}

/* Height and width are input 1. */
static assay_status infer_resize(const tfl_op *o, const assay_type *x)
{
    int64_t size[2], dim[ASSAY_MAX_RANK];
    int n;
    assay_status s = tfl_ints(o, 1, 2, size, &n);

    if (s || n != 2 || x->rank != 4)
        return s ? s : tfl_fail(o, "expected an image and its new size");
    memcpy(dim, x->dim, sizeof dim);
    dim[1] = size[0];
    dim[2] = size[1];
    return set_shape(o, 0, dim, 4);
}

static assay_status infer_numbers(const tfl_op *o, int i)
{
    int64_t dim[ASSAY_MAX_RANK];
    int n;
    assay_status s = tfl_ints(o, i, ASSAY_MAX_RANK, dim, &n);
    return s ? s : set_shape(o, 0, dim, n);
}

static bool is_computed(const tfl_op *o, int i)
{
    return tfl_has(o, i) && tfl_in(o, i)->value >= 0 && !tfl_in(o, i)->data;
}

/* Does the file not know the output's shape? Behind a computed one it never does; else where the
 * tensor says so. A RESHAPE that fits is taken as it stands: batches are often open. */
static bool is_uninferred(const tfl_op *o)
{
    const tfl_tensor *y = tfl_out(o, 0);

    if (o->m->follows_data)
        return true;
    if (!o->m->options || !o->m->options->sample.compute)
        return false;
    if (o->builtin == CODE_RESHAPE)
        return y->is_open && assay_shape_count(&y->type) != assay_shape_count(&tfl_in(o, 0)->type);
    return y->is_open || (o->builtin == CODE_SLICE && (is_computed(o, 1) || is_computed(o, 2)));
}

assay_status tfl_infer_outputs(const tfl_op *o)
{
    const assay_type *x;
    int64_t axis;
    assay_status s;

    if (!tfl_has(o, 0) || o->n_out < 1 || !is_uninferred(o))
        return ASSAY_OK;
    x = &tfl_in(o, 0)->type;
    switch (o->builtin) {
    case CODE_RESHAPE:
        return infer_reshape(o, x);
    case CODE_SQUEEZE:
        return infer_squeeze(o, x);
    case CODE_EXPAND_DIMS:
        s = tfl_int(o, 1, &axis);
        return s ? s : infer_wider(o, x, axis, 1);
    case CODE_PACK:
        return infer_wider(o, x, tfl_flat_i32(o->options, PACK_AXIS, 0), o->n_in);
    case CODE_UNPACK:
        return infer_unpack(o, x);
    case CODE_SLICE:
        return infer_slice(o, x);
    case CODE_SPLIT_V:
        return infer_split(o, x);
    case CODE_FULLY_CONNECTED:
        return tfl_has(o, 1) ? infer_rows(o, x) : ASSAY_OK;
    case CODE_RESIZE_BILINEAR:
    case CODE_RESIZE_NEAREST:
        return infer_resize(o, x);
    case CODE_ZEROS_LIKE:
        return set_shape(o, 0, x->dim, x->rank);
    case CODE_FILL:
        return infer_numbers(o, 0);
    case CODE_BROADCAST_TO:
        return infer_numbers(o, 1);
    default:
        return ASSAY_OK;
    }
}
