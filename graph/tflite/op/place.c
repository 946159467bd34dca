/* Operators that scatter or gather elements by index: ONE_HOT, SCATTER_ND, REVERSE_SEQUENCE. */
#include <string.h>

#include "graph/tflite/op/op.h"

/* A constant "OUTPUT/part" of the extents and integer kind of *type: where each element stands
 * along axis `axis`. */
static assay_status counted(const tfl_op *o, const char *part, const assay_type *type, int axis,
                            int *value)
{
    const int64_t count = assay_shape_count(type);
    int64_t stride = 1;
    assay_status s = tfl_filled(o, part, type, 0, value);

    for (int i = axis + 1; i < type->rank; ++i)
        stride *= type->dim[i];
    for (int64_t i = 0; !s && i < count; ++i)
        assay_elem_set(type->elem, (void *)(uintptr_t)o->m->g->value[*value].data, (size_t)i,
                       i / stride % type->dim[axis]);
    return s;
}

static bool is_index(const assay_type *t)
{
    return t->elem.kind == ASSAY_KIND_INT && !assay_is_quantized(t) && t->elem.bits >= 32;
}

/* ONE_HOT: indices, depth, on, off. On where the place along the new axis is the index, else off
 * (reference: tensorflow/lite/kernels/one_hot.cc, which compares and counts from no end). */
assay_status tfl_op_one_hot(const tfl_op *o)
{
    assay_type along = {0}, index = {0}, hot;
    int64_t depth;
    int in[3], pair[2], y;
    assay_status s = tfl_expect(o, 4);

    if (s || (s = tfl_int(o, 1, &depth)))
        return s;
    const assay_type *x = &tfl_in(o, 0)->type;
    const int option = tfl_flat_i32(o->options, ONE_HOT_AXIS, 0);
    const int axis = option == -1 ? x->rank : option;
    if (!is_index(x) || x->rank == ASSAY_MAX_RANK || depth < 1 || depth > INT32_MAX)
        return tfl_unsupported(o, "of rank %d and depth %lld", x->rank, (long long)depth);
    if (axis < 0 || axis > x->rank)
        return tfl_fail(o, "axis %d is outside %d dimensions", option, x->rank + 1);
    along.rank = index.rank = x->rank + 1;
    along.elem = index.elem = x->elem;
    for (int i = 0; i <= x->rank; ++i) {
        index.dim[i] = i == axis ? 1 : x->dim[i - (i > axis)];
        along.dim[i] = i == axis ? depth : 1;
    }
    hot = index;
    hot.dim[axis] = depth;
    hot.elem = (assay_elem){.kind = ASSAY_KIND_BOOL, .bits = 8};
    int from;
    if ((s = tfl_value(o, 0, &from)) || (s = tfl_part(o, "index", &index, &pair[0])) ||
        (s = tfl_reshape(o, from, pair[0])) || (s = counted(o, "count", &along, axis, &pair[1])) ||
        (s = tfl_step(o, ASSAY_OP_EQUAL, pair, 2, "hot", &hot, &in[0])) ||
        (s = tfl_value(o, 2, &in[1])) || (s = tfl_value(o, 3, &in[2])) ||
        (s = tfl_result(o, 0, &y)))
        return s;
    return tfl_node(o, ASSAY_OP_SELECT, in, 3, &y, 1, NULL, NULL);
}

/* SCATTER_ND: indices, updates, shape. Updates onto zeros; where several meet they add up
 * (reference_ops.h, ScatterNd). */
assay_status tfl_op_scatter_nd(const tfl_op *o)
{
    const assay_attrs a = {.scatter = {.reduction = ASSAY_REDUCTION_ADD}};
    assay_type zeros;
    int64_t dim[ASSAY_MAX_RANK];
    int in[3], n, y;
    assay_status s = tfl_expect(o, 3);

    if (s || (s = tfl_ints(o, 2, ASSAY_MAX_RANK, dim, &n)))
        return s;
    zeros = tfl_in(o, 1)->type;
    if (zeros.elem.kind != ASSAY_KIND_F32 && !is_index(&zeros))
        return tfl_unsupported(o, "on elements other than float32, int32 and int64");
    zeros.rank = n;
    memcpy(zeros.dim, dim, (size_t)n * sizeof *dim);
    if ((s = tfl_filled(o, "zeros", &zeros, 0, &in[0])) || (s = tfl_value(o, 0, &in[1])) ||
        (s = tfl_value(o, 1, &in[2])) || (s = tfl_result(o, 0, &y)))
        return s;
    return tfl_node(o, ASSAY_OP_SCATTER_REDUCE, in, 3, &y, 1, &a, NULL);
}

/* Of each step of each list the one that it is made of: length - 1 - step where that is inside the
 * list, else itself; *place is [d0, d1, 1]. */
static assay_status reversed(const tfl_op *o, int steps, int lists, assay_type *place, int *value)
{
    assay_type along = *place, each = *place, inside = *place;
    int length, flat, step, one, last, in[3];
    assay_status s;

    along.dim[lists] = 1;
    each.dim[steps] = 1;
    inside.elem = (assay_elem){.kind = ASSAY_KIND_BOOL, .bits = 8};
    if ((s = tfl_value(o, 1, &length)) || (s = tfl_part(o, "lengths", &each, &flat)) ||
        (s = tfl_reshape(o, length, flat)) || (s = counted(o, "step", &along, steps, &step)) ||
        (s = tfl_filled(o, "one", &each, 1, &one)) ||
        (s = tfl_step(o, ASSAY_OP_SUB, (int[]){flat, one}, 2, "last", &each, &last)) ||
        (s = tfl_step(o, ASSAY_OP_LESS, (int[]){step, flat}, 2, "inside", &inside, &in[0])) ||
        (s = tfl_step(o, ASSAY_OP_SUB, (int[]){last, step}, 2, "turned", place, &in[1])))
        return s;
    in[2] = step;
    return tfl_step(o, ASSAY_OP_SELECT, in, 3, "from", place, value);
}

/* REVERSE_SEQUENCE: x, lengths. The first lengths[b] steps of each b, the last one first; steps and
 * b are the first two axes in either order. */
assay_status tfl_op_reverse_sequence(const tfl_op *o)
{
    static const assay_attrs last = {.axis = {.axis = 2}};
    const int steps = tfl_flat_i32(o->options, REVERSE_SEQUENCE_STEPS, 0);
    const int lists = tfl_flat_i32(o->options, REVERSE_SEQUENCE_BATCH, 0);
    assay_type place, both;
    int in[2], pair[2], y;
    assay_status s = tfl_expect(o, 2);

    if (s)
        return s;
    const assay_type *x = &tfl_in(o, 0)->type, *lengths = &tfl_in(o, 1)->type;
    if (steps < 0 || steps > 1 || lists != 1 - steps || x->rank < 2)
        return tfl_unsupported(o, "along axis %d with sequences along axis %d", steps, lists);
    if (!is_index(lengths) || lengths->rank != 1 || lengths->dim[0] != x->dim[lists])
        return tfl_fail(o, "lengths do not hold one integer per sequence");
    place = (assay_type){.elem = lengths->elem, .rank = 3, .dim = {x->dim[0], x->dim[1], 1}};
    both = place;
    both.dim[2] = 2;
    if ((s = reversed(o, steps, lists, &place, &pair[steps])) ||
        (s = counted(o, "list", &place, lists, &pair[lists])) || (s = tfl_value(o, 0, &in[0])) ||
        (s = tfl_part(o, "places", &both, &in[1])) ||
        (s = tfl_node(o, ASSAY_OP_CONCAT, pair, 2, &in[1], 1, &last, NULL)) ||
        (s = tfl_result(o, 0, &y)))
        return s;
    return tfl_node(o, ASSAY_OP_GATHER_ND, in, 2, &y, 1, NULL, NULL);
}
