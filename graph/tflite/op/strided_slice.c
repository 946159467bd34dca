/* STRIDED_SLICE: masks, negative indices, new and dropped axes. */
#include <string.h>

#include "graph/tflite/op/op.h"

typedef struct strided {
    int n; /* entries of begin, end and strides */
    int64_t begin[2 * ASSAY_MAX_RANK], end[2 * ASSAY_MAX_RANK], stride[2 * ASSAY_MAX_RANK];
    int32_t begin_mask, end_mask, ellipsis, new_axis, shrink;
    bool offset;
} strided;

static assay_status read_strided(const tfl_op *o, strided *d)
{
    int n_end, n_stride;
    assay_status s;
    if ((s = tfl_ints(o, 1, 2 * ASSAY_MAX_RANK, d->begin, &d->n)) ||
        (s = tfl_ints(o, 2, 2 * ASSAY_MAX_RANK, d->end, &n_end)) ||
        (s = tfl_ints(o, 3, 2 * ASSAY_MAX_RANK, d->stride, &n_stride)))
        return s;
    if (n_end != d->n || n_stride != d->n)
        return tfl_fail(o, "begin, end and strides differ in length");
    for (int i = 0; i < d->n; ++i)
        if (d->begin[i] < INT32_MIN || d->begin[i] > INT32_MAX || d->end[i] < INT32_MIN ||
            d->end[i] > INT32_MAX || d->stride[i] < INT32_MIN || d->stride[i] > INT32_MAX)
            return tfl_fail(o, "an entry of begin, end or strides is beyond 32 bits");
    d->begin_mask = tfl_flat_i32(o->options, STRIDED_BEGIN_MASK, 0);
    d->end_mask = tfl_flat_i32(o->options, STRIDED_END_MASK, 0);
    d->ellipsis = tfl_flat_i32(o->options, STRIDED_ELLIPSIS_MASK, 0);
    d->new_axis = tfl_flat_i32(o->options, STRIDED_NEW_AXIS_MASK, 0);
    d->shrink = tfl_flat_i32(o->options, STRIDED_SHRINK_MASK, 0);
    d->offset = tfl_flat_bool(o->options, STRIDED_OFFSET);
    return ASSAY_OK;
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* One axis of extent `extent`: where it starts and how many elements it takes (numpy's rules for
 * slices; kernels/internal/strided_slice_logic.h for masks). */
static assay_status slice_axis(const tfl_op *o, const strided *d, int i, int64_t extent,
                               int64_t *begin, int64_t *size)
{
    int64_t stride = d->stride[i], lo = stride > 0 ? 0 : -1, hi = stride > 0 ? extent : extent - 1;
    int64_t from = d->begin[i], to = d->end[i];

    if (stride == 0)
        return tfl_fail(o, "stride %d is zero", i);
    from = d->begin_mask >> i & 1 ? (stride > 0 ? 0 : extent - 1)
                                  : clamp(from < 0 ? from + extent : from, lo, hi);
    to += d->offset ? from : 0;
    to = d->end_mask >> i & 1 ? (stride > 0 ? extent : -1)
                              : clamp(to < 0 ? to + extent : to, lo, hi);
    if (d->shrink >> i & 1)
        *size = 1;
    else if (stride > 0)
        *size = to > from ? (to - from - 1) / stride + 1 : 0;
    else
        *size = from > to ? (from - to - 1) / -stride + 1 : 0;
    *begin = *size ? from : 0;
    return ASSAY_OK;
}

/* Walks the entries along the input's axes: new axes take none, the ellipsis takes what is left. */
static assay_status slice_axes(const tfl_op *o, const strided *d, const assay_type *x,
                               assay_attr_slice *a)
{
    int left = x->rank, axis = 0;
    assay_status s = ASSAY_OK;

    for (int i = 0; i < d->n; ++i)
        left -= !(d->ellipsis >> i & 1) && !(d->new_axis >> i & 1);
    a->begin.n = a->step.n = a->size.n = x->rank;
    for (int i = 0; i < x->rank; ++i) {
        a->begin.v[i] = 0;
        a->step.v[i] = 1;
        a->size.v[i] = x->dim[i];
    }
    for (int i = 0; !s && i < d->n; ++i) {
        if (d->ellipsis >> i & 1) {
            axis += left > 0 ? left : 0;
            left = 0;
        } else if (!(d->new_axis >> i & 1)) {
            if (axis >= x->rank)
                return tfl_fail(o, "more entries than the input has dimensions");
            a->step.v[axis] = d->stride[i];
            s = slice_axis(o, d, i, x->dim[axis], &a->begin.v[axis], &a->size.v[axis]);
            ++axis;
        }
    }
    return s;
}

assay_status tfl_op_strided_slice(const tfl_op *o)
{
    strided d = {0};
    assay_attrs a = {0};
    assay_type part;
    int x, y, sliced;
    assay_status s = tfl_expect(o, 4);

    if (s || (s = read_strided(o, &d)) || (s = slice_axes(o, &d, &tfl_in(o, 0)->type, &a.slice)))
        return s;
    if (d.new_axis == 0 && d.shrink == 0)
        return tfl_only_input(o, 0, &a);
    part = tfl_out(o, 0)->type;
    part.rank = a.slice.size.n;
    memcpy(part.dim, a.slice.size.v, sizeof part.dim);
    if ((s = tfl_value(o, 0, &x)) || (s = tfl_result(o, 0, &y)) ||
        (s = tfl_part(o, "slice", &part, &sliced)) ||
        (s = tfl_node(o, ASSAY_OP_SLICE, &x, 1, &sliced, 1, &a, NULL)))
        return s;
    return tfl_reshape(o, sliced, y);
}
