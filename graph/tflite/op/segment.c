/* Operators that place or sum elements in an output of one number: SPARSE_TO_DENSE, SEGMENT_SUM and
 * UNSORTED_SEGMENT_*; matrices of diagonals; BUCKETIZE. */
#include <math.h>
#include <string.h>

#include "graph/tflite/op/op.h"

enum {
    CODE_SEGMENT_SUM = 125,
    CODE_UNSORTED_PROD = 153,
    CODE_UNSORTED_MAX = 154,
    CODE_UNSORTED_MIN = 157
};

/* ---- SPARSE_TO_DENSE ---- */

/* x in the shape of *type: one element is spread, others are reshaped. */
static assay_status shaped(const tfl_op *o, int x, const char *name, const assay_type *type, int *y)
{
    const assay_type *from = &o->m->g->value[x].type;
    assay_attrs a = {.shape.shape.n = type->rank};
    assay_status s = tfl_part(o, name, type, y);

    memcpy(a.shape.shape.v, type->dim, sizeof type->dim);
    if (s)
        return s;
    return tfl_node(o, from->rank == 0 ? ASSAY_OP_EXPAND : ASSAY_OP_RESHAPE, &x, 1, y, 1, &a, NULL);
}

/* Indices (one, a list of them, or rows), output shape, values, the value elsewhere; the last of
 * several at one place counts (reference/sparse_to_dense in kernels/sparse_to_dense.cc). */
assay_status tfl_op_sparse_to_dense(const tfl_op *o)
{
    assay_type ground, rows, each;
    int in[3], index, values, rest, n, y;
    int64_t dim[ASSAY_MAX_RANK];
    assay_status s = tfl_expect(o, 4);

    if (s || (s = tfl_ints(o, 1, ASSAY_MAX_RANK, dim, &n)))
        return s;
    rows = tfl_in(o, 0)->type;
    each = ground = tfl_in(o, 2)->type;
    if (rows.rank > 2 || each.rank > 1 || tfl_in(o, 3)->type.rank != 0)
        return tfl_fail(o, "expected at most a matrix of indices, a list of values and one other");
    rows.dim[1] = rows.rank == 2 ? rows.dim[1] : 1;
    rows.dim[0] = rows.rank == 0 ? 1 : rows.dim[0];
    rows.rank = 2;
    each.rank = 1;
    each.dim[0] = rows.dim[0];
    ground.rank = n;
    memcpy(ground.dim, dim, (size_t)n * sizeof *dim);
    if ((s = tfl_value(o, 0, &index)) || (s = tfl_value(o, 2, &values)) ||
        (s = tfl_value(o, 3, &rest)) || (s = shaped(o, rest, "ground", &ground, &in[0])) ||
        (s = shaped(o, index, "rows", &rows, &in[1])) ||
        (s = shaped(o, values, "values", &each, &in[2])) || (s = tfl_result(o, 0, &y)))
        return s;
    return tfl_node(o, ASSAY_OP_SCATTER_ND, in, 3, &y, 1, NULL, NULL);
}

/* ---- segments ---- */

/* Sorted numbers, 0 first, none left out: one more than the last. */
static assay_status count_sorted(const tfl_op *o, int64_t *n)
{
    tfl_tensor *t = tfl_in(o, 1);
    const int64_t count = assay_shape_count(&t->type);
    const void *data;
    assay_status s =
        assay_tfl_is_constant(t) ? tfl_elements(o->m, t, &data) : tfl_compute(o, 1, &data);

    *n = 0;
    for (int64_t i = 0; !s && i < count; ++i) {
        const int64_t id = ((const int32_t *)data)[i];
        if (id < 0 || id < *n - 1 || id > *n)
            return tfl_fail(o, "segment %lld after %lld others, expected 0, 1, ... in order",
                            (long long)id, (long long)*n);
        *n = id + 1;
    }
    return s;
}

/* How many segments: stated in input 2, or as many as there are numbers. */
static assay_status count_segments(const tfl_op *o, int64_t *n)
{
    if (o->builtin == CODE_SEGMENT_SUM)
        return count_sorted(o, n);
    const assay_status s = tfl_int(o, 2, n);
    return !s && *n < 0
               ? tfl_fail(o, "the number of segments is %lld, expected 0 or more", (long long)*n)
               : s;
}

/* What a segment without elements is, and how others are joined to it. */
static double start_of(const tfl_op *o, int *reduction)
{
    const bool is_float = tfl_in(o, 0)->type.elem.kind == ASSAY_KIND_F32;
    const double max = is_float ? (double)3.40282347e+38F : 2147483647;

    switch (o->builtin) {
    case CODE_UNSORTED_PROD:
        *reduction = ASSAY_REDUCTION_MUL;
        return 1;
    case CODE_UNSORTED_MAX:
        *reduction = ASSAY_REDUCTION_MAX;
        return is_float ? -max : -max - 1;
    case CODE_UNSORTED_MIN:
        *reduction = ASSAY_REDUCTION_MIN;
        return max;
    default:
        *reduction = ASSAY_REDUCTION_ADD;
        return 0;
    }
}

/* Whether a number may be negative: that of a row which no segment holds. */
static assay_status has_negative(const tfl_op *o, bool *negative)
{
    tfl_tensor *t = tfl_in(o, 1);
    const void *data;
    assay_status s = ASSAY_OK;

    *negative = o->builtin != CODE_SEGMENT_SUM;
    if (!*negative || !assay_tfl_is_constant(t) || (s = tfl_elements(o->m, t, &data)))
        return s;
    *negative = false;
    for (int64_t i = 0; i < assay_shape_count(&t->type); ++i)
        *negative |= ((const int32_t *)data)[i] < 0;
    return ASSAY_OK;
}

/* Rows with a negative number become `start` in segment 0, where they change nothing. */
static assay_status put_aside(const tfl_op *o, double start, int *ids, int *x)
{
    const assay_type of_ids = o->m->g->value[*ids].type, of_x = o->m->g->value[*x].type;
    assay_type none = of_ids, row = of_x, one = of_x;
    int zero, negative, in[3] = {0, 0, *x};
    assay_status s;

    row.elem = none.elem = assay_bool();
    for (int i = of_ids.rank; i < row.rank; ++i)
        row.dim[i] = 1;
    one.rank = 0;
    if ((s = tfl_filled(o, "start", &one, start, &in[1])) ||
        (s = tfl_filled(o, "zero", &(assay_type){.elem = of_ids.elem}, 0, &zero)) ||
        (s = tfl_step(o, ASSAY_OP_LESS, (int[]){*ids, zero}, 2, "negative", &none, &negative)) ||
        (s = shaped(o, negative, "none", &row, &in[0])) ||
        (s = tfl_step(o, ASSAY_OP_SELECT, in, 3, "data", &of_x, x)))
        return s;
    return tfl_step(o, ASSAY_OP_MAX, (int[]){*ids, zero}, 2, "segment", &of_ids, ids);
}

/* Data, the segment of each row of it (kernels/segment_sum.cc, unsorted_segment.cc). */
assay_status tfl_op_segment(const tfl_op *o)
{
    const assay_elem int32 = assay_int(32, true);
    assay_attrs a = {0};
    assay_type ground, rows;
    int in[3], ids, y;
    bool negative;
    int64_t n;
    assay_status s = tfl_expect(o, o->builtin == CODE_SEGMENT_SUM ? 2 : 3);

    if (s)
        return s;
    ground = tfl_in(o, 0)->type;
    rows = tfl_in(o, 1)->type;
    if (ground.elem.kind != ASSAY_KIND_F32 &&
        (!assay_elem_equal(ground.elem, int32) || assay_is_quantized(&ground)))
        return tfl_unsupported(o, "on elements other than float32 and int32");
    if (!assay_elem_equal(rows.elem, int32))
        return tfl_unsupported(o, "with segment numbers that are not int32");
    if ((s = count_segments(o, &n)) || (s = has_negative(o, &negative)))
        return s;
    if (rows.rank < 1 || rows.rank > ground.rank || rows.rank == ASSAY_MAX_RANK)
        return tfl_fail(o, "segments of rank %d for data of rank %d", rows.rank, ground.rank);
    const int inner = ground.rank - rows.rank;
    memmove(ground.dim + 1, ground.dim + rows.rank, (size_t)inner * sizeof *ground.dim);
    ground.rank = inner + 1;
    ground.dim[0] = n;
    rows.dim[rows.rank++] = 1;
    const double start = start_of(o, &a.scatter.reduction);
    if ((s = tfl_filled(o, "ground", &ground, start, &in[0])) || (s = tfl_value(o, 1, &ids)) ||
        (s = tfl_value(o, 0, &in[2])) || (negative && (s = put_aside(o, start, &ids, &in[2]))) ||
        (s = shaped(o, ids, "rows", &rows, &in[1])) || (s = tfl_result(o, 0, &y)))
        return s;
    return tfl_node(o, ASSAY_OP_SCATTER_REDUCE, in, 3, &y, 1, &a, NULL);
}

/* ---- diagonals ---- */

/* bool[rows, columns], set where both are equal. */
static assay_status eye(const tfl_op *o, int64_t rows, int64_t columns, int *value)
{
    const assay_type type = {.elem = assay_bool(), .rank = 2, .dim = {rows, columns}};
    assay_status s = tfl_filled(o, "diagonal", &type, 0, value);

    for (int64_t i = 0; !s && i < rows && i < columns; ++i)
        ((bool *)(uintptr_t)o->m->g->value[*value].data)[i * columns + i] = true;
    return s;
}

/* The list in input i along both last axes of the output; else x. */
static assay_status on_diagonal(const tfl_op *o, int i, int x)
{
    const assay_type *y = &tfl_out(o, 0)->type;
    assay_type list = tfl_in(o, i)->type;
    int in[3] = {0, 0, x}, diagonal, out;
    const int64_t rows = y->rank < 2 ? 0 : y->dim[y->rank - 2];
    const int64_t columns = y->rank < 2 ? 0 : y->dim[y->rank - 1];
    assay_status s;

    if (y->rank < 2 || list.rank != y->rank - 1 ||
        list.dim[list.rank - 1] != (rows < columns ? rows : columns))
        return tfl_fail(o, "a diagonal that does not fit %lld rows and %lld columns",
                        (long long)rows, (long long)columns);
    list.dim[list.rank] = list.dim[list.rank - 1];
    list.dim[list.rank - (rows >= columns)] = 1;
    ++list.rank;
    if ((s = eye(o, rows, columns, &in[0])) || (s = tfl_value(o, i, &diagonal)) ||
        (s = shaped(o, diagonal, "along", &list, &in[1])) || (s = tfl_result(o, 0, &out)))
        return s;
    return tfl_node(o, ASSAY_OP_SELECT, in, 3, &out, 1, NULL, NULL);
}

/* Elsewhere it is the code 0 (kernels/matrix_diag.cc). */
assay_status tfl_op_matrix_diag(const tfl_op *o)
{
    assay_type zero;
    int x;
    assay_status s = tfl_expect(o, 1);

    if (s)
        return s;
    zero = tfl_in(o, 0)->type;
    zero.rank = 0;
    if ((s = tfl_filled(o, "zero", &zero, 0, &x)))
        return s;
    return on_diagonal(o, 0, x);
}

assay_status tfl_op_matrix_set_diag(const tfl_op *o)
{
    int x;
    assay_status s = tfl_expect(o, 2);

    if (s || (s = tfl_value(o, 0, &x)))
        return s;
    return on_diagonal(o, 1, x);
}

/* ---- BUCKETIZE ---- */

/* From the least up, as the kernel demands: those up to the first that is greater are counted. */
static assay_status boundaries(const tfl_op *o, int *value)
{
    const flat_vector list = tfl_flat_list(o->options, 0, 4);
    const assay_type type = {.elem = assay_f32(), .rank = 1, .dim = {list.count}};
    assay_status s;

    if ((s = tfl_flat_status(&o->m->file, o->m->err)) ||
        (s = tfl_filled(o, "boundaries", &type, 0, value)))
        return s;
    float *at = (float *)(uintptr_t)o->m->g->value[*value].data;
    for (uint32_t i = 0; i < list.count; ++i) {
        at[i] = tfl_flat_list_f32(list, i);
        if (i > 0 && at[i] < at[i - 1])
            return tfl_fail(o, "boundary %u is below the one before it", i);
    }
    return ASSAY_OK;
}

/* How many boundaries an element is not below: the first that is greater (kernels/bucketize.cc). */
assay_status tfl_op_bucketize(const tfl_op *o)
{
    static const assay_attrs to_i32 = {.cast = {.to = ASSAY_CAST_I32}};
    assay_attrs sum = {.reduce = {.axes = {.n = 1}}};
    assay_type wide;
    int in[2], below[2], codes, x, y;
    assay_status s = tfl_expect(o, 1);

    if (s || (s = boundaries(o, &in[1])) || (s = tfl_value(o, 0, &x)))
        return s;
    wide = tfl_in(o, 0)->type;
    if (wide.elem.kind != ASSAY_KIND_F32 || wide.rank == ASSAY_MAX_RANK)
        return tfl_unsupported(o, "on elements other than floats, or of rank %d", wide.rank);
    sum.reduce.axes.v[0] = wide.rank;
    wide.dim[wide.rank++] = 1;
    if ((s = shaped(o, x, "each", &wide, &in[0])))
        return s;
    wide.dim[wide.rank - 1] = o->m->g->value[in[1]].type.dim[0];
    wide.elem = assay_bool();
    if ((s = tfl_step(o, ASSAY_OP_LESS, in, 2, "below", &wide, &below[0])) ||
        (s = tfl_step(o, ASSAY_OP_LOGICAL_NOT, below, 1, "not_below", &wide, &below[1])))
        return s;
    wide.elem = assay_int(32, true);
    if ((s = tfl_part(o, "ones", &wide, &codes)) ||
        (s = tfl_node(o, ASSAY_OP_CAST, &below[1], 1, &codes, 1, &to_i32, NULL)) ||
        (s = tfl_result(o, 0, &y)))
        return s;
    return tfl_node(o, ASSAY_OP_REDUCE_SUM, &codes, 1, &y, 1, &sum, NULL);
}
