/* Operators that move, repeat or choose elements. */
#include <stdio.h>
#include <string.h>

#include "graph/tflite/op/op.h"

enum { CODE_SPLIT_V = 102, CODE_PADV2 = 60, CODE_MIRROR_PAD = 100, CODE_RESIZE_BILINEAR = 23 };

static void shape_of(const assay_type *t, assay_list *out)
{
    out->n = t->rank;
    for (int i = 0; i < t->rank; ++i)
        out->v[i] = t->dim[i];
}

/* RESHAPE, SQUEEZE, EXPAND_DIMS: what they say about the shape, the output tensor says too. */
assay_status tfl_op_reshape(const tfl_op *o)
{
    assay_attrs a = {0};
    assay_status s = tfl_expect(o, 1);
    if (s)
        return s;
    shape_of(&tfl_out(o, 0)->type, &a.shape.shape);
    return tfl_only_input(o, 0, &a);
}

assay_status tfl_op_expand(const tfl_op *o)
{
    return tfl_op_reshape(o);
}

assay_status tfl_op_transpose(const tfl_op *o)
{
    assay_attrs a = {0};
    assay_status s = tfl_expect(o, 2);
    if (s)
        return s;
    if ((s = tfl_ints(o, 1, ASSAY_MAX_RANK, a.perm.perm.v, &a.perm.perm.n)))
        return s;
    return a.perm.perm.n ? tfl_only_input(o, 0, &a) : tfl_op_reshape(o);
}

/* SPLIT: axis, x.  SPLIT_V: x, sizes, axis.  The sizes are those of the output tensors. */
assay_status tfl_op_split(const tfl_op *o)
{
    bool v = o->builtin == CODE_SPLIT_V;
    assay_attrs a = {0};
    assay_status s = tfl_expect(o, v ? 3 : 2);

    if (s || (s = tfl_int(o, v ? 2 : 0, &a.split.axis)))
        return s;
    int rank = tfl_in(o, v ? 0 : 1)->type.rank;
    int64_t axis = a.split.axis < 0 ? a.split.axis + rank : a.split.axis;
    for (int i = 0; v && axis >= 0 && i < o->n_out; ++i) {
        const assay_type *part = &tfl_out(o, i)->type;
        if (o->n_out > ASSAY_ATTR_LIST)
            return tfl_unsupported(o, "into more than %d parts", ASSAY_ATTR_LIST);
        if (axis >= part->rank)
            return tfl_fail(o, "axis %lld is outside output %d", (long long)a.split.axis, i);
        a.split.sizes.v[a.split.sizes.n++] = part->dim[axis];
    }
    return tfl_only_input(o, v ? 0 : 1, &a);
}

/* A size of -1 reaches to the end: the output tensor says how far that is. */
assay_status tfl_op_slice(const tfl_op *o)
{
    assay_attrs a = {0};
    assay_status s = tfl_expect(o, 3);

    if (!s)
        s = tfl_ints(o, 1, ASSAY_MAX_RANK, a.slice.begin.v, &a.slice.begin.n);
    if (s)
        return s;
    shape_of(&tfl_out(o, 0)->type, &a.slice.size);
    return tfl_only_input(o, 0, &a);
}

/* ---- padding ---- */

/* The fill of PADV2: a float, or a code of the output. */
static assay_status pad_value(const tfl_op *o, assay_attr_pad *a)
{
    tfl_tensor *t = tfl_in(o, 2);
    const void *data;
    assay_status s;

    if (t->why || !assay_tfl_is_constant(t) || assay_shape_count(&t->type) != 1)
        return tfl_unsupported(o, "a value that is not a single constant");
    a->has_code = t->type.elem.kind == ASSAY_KIND_INT;
    if (a->has_code && t->raw != TFL_UINT8)
        return tfl_int(o, 2, &a->code);
    if ((s = tfl_elements(o->m, t, &data)))
        return s;
    if (t->raw == TFL_UINT8)
        a->code = *(const uint8_t *)data;
    else if (t->type.elem.kind == ASSAY_KIND_F32)
        memcpy(&a->value, data, sizeof a->value);
    else
        a->value = *(const bool *)data;
    return ASSAY_OK;
}

assay_status tfl_op_pad(const tfl_op *o)
{
    int64_t pads[2 * ASSAY_MAX_RANK];
    assay_attrs a;
    int n;
    assay_status s = tfl_expect(o, o->builtin == CODE_PADV2 ? 3 : 2);

    if (s || (s = tfl_ints(o, 1, 2 * ASSAY_MAX_RANK, pads, &n)))
        return s;
    assay_attrs_defaults(ASSAY_ATTRS_pad, &a);
    a.pad.begin.n = a.pad.end.n = n / 2;
    for (int i = 0; i < n / 2; ++i) {
        a.pad.begin.v[i] = pads[2 * i];
        a.pad.end.v[i] = pads[2 * i + 1];
    }
    if (o->builtin == CODE_MIRROR_PAD)
        a.pad.mode = tfl_flat_i8(o->options, 0, 0) ? ASSAY_PAD_SYMMETRIC : ASSAY_PAD_REFLECT;
    else if (o->builtin == CODE_PADV2 && (s = pad_value(o, &a.pad)))
        return s;
    return tfl_only_input(o, 0, &a);
}

/* ---- gathering and repeating ---- */

assay_status tfl_op_gather(const tfl_op *o)
{
    assay_attrs a = {.gather = {.axis = tfl_flat_i32(o->options, GATHER_AXIS, 0),
                                .batch_dims = tfl_flat_i32(o->options, GATHER_BATCH_DIMS, 0)}};
    assay_status s = tfl_expect(o, 2);
    if (!s && a.gather.batch_dims < 0)
        a.gather.batch_dims += tfl_in(o, 1)->type.rank;
    return s ? s : tfl_straight(o, &a, NULL);
}

/* Rows of a table (input 1) by their numbers (input 0). A table of codes under a float result is
 * dequantized behind the look-up (micro/kernels/embedding_lookup.cc). */
assay_status tfl_op_embedding_lookup(const tfl_op *o)
{
    assay_attrs a = {0};
    assay_type rows;
    int in[2], y, codes;
    assay_status s = tfl_expect(o, 2);

    if (!s && tfl_in(o, 1)->type.q.granularity == ASSAY_Q_AXIS && tfl_in(o, 1)->data &&
        tfl_out(o, 0)->type.elem.kind == ASSAY_KIND_F32) /* a scale for each row */
        s = tfl_to_real(o->m, tfl_in(o, 1));
    if (s || (s = tfl_value(o, 1, &in[0])) || (s = tfl_value(o, 0, &in[1])) ||
        (s = tfl_result(o, 0, &y)))
        return s;
    rows = tfl_out(o, 0)->type;
    if (assay_elem_equal(rows.elem, tfl_in(o, 1)->type.elem))
        return tfl_node(o, ASSAY_OP_GATHER, in, 2, &y, 1, &a, NULL);
    rows.elem = tfl_in(o, 1)->type.elem;
    rows.q = tfl_in(o, 1)->type.q;
    if ((s = tfl_part(o, "codes", &rows, &codes)) ||
        (s = tfl_node(o, ASSAY_OP_GATHER, in, 2, &codes, 1, &a, NULL)))
        return s;
    return tfl_node(o, ASSAY_OP_DEQUANTIZE, &codes, 1, &y, 1, NULL, NULL);
}

assay_status tfl_op_gather_nd(const tfl_op *o)
{
    assay_status s = tfl_expect(o, 2);
    return s ? s : tfl_straight(o, NULL, NULL);
}

assay_status tfl_op_update_slice(const tfl_op *o)
{
    assay_status s = tfl_expect(o, 3);
    return s ? s : tfl_straight(o, NULL, NULL);
}

assay_status tfl_op_tile(const tfl_op *o)
{
    assay_attrs a = {0};
    assay_status s = tfl_expect(o, 2);
    if (!s)
        s = tfl_ints(o, 1, ASSAY_MAX_RANK, a.tile.repeats.v, &a.tile.repeats.n);
    return s ? s : tfl_only_input(o, 0, &a);
}

assay_status tfl_op_reverse(const tfl_op *o)
{
    assay_attrs a = {0};
    assay_status s = tfl_expect(o, 2);
    if (!s)
        s = tfl_axes(o, 1, tfl_in(o, 0)->type.rank, &a.axes.axes);
    return s ? s : tfl_only_input(o, 0, &a);
}

assay_status tfl_op_block(const tfl_op *o)
{
    assay_attrs a = {.block = {.layout = ASSAY_LAYOUT_NHWC,
                               .block = tfl_flat_i32(o->options, 0, 0),
                               .order = ASSAY_D2S_DCR}};
    assay_status s = tfl_expect(o, 1);
    return s ? s : tfl_straight(o, &a, NULL);
}

/* The axis of PACK and UNPACK, and one part of the whole along it. */
static assay_status cut(const tfl_op *o, const assay_type *whole, const char *which, int64_t *axis,
                        assay_type *part)
{
    *axis = tfl_flat_i32(o->options, PACK_AXIS, 0);
    *axis += *axis < 0 ? whole->rank : 0;
    if (*axis < 0 || *axis >= whole->rank)
        return tfl_fail(o, "the axis is outside the %s's %d dimensions", which, whole->rank);
    *part = *whole;
    part->dim[*axis] = 1;
    return ASSAY_OK;
}

/* PACK: each input gets the new axis, then they are joined along it. */
assay_status tfl_op_pack(const tfl_op *o)
{
    assay_attrs a = {0};
    assay_type part;
    int *in, y;
    assay_status s = tfl_expect(o, 1);

    if (s || (s = cut(o, &tfl_out(o, 0)->type, "output", &a.axis.axis, &part)))
        return s;
    in = assay_arena_array(o->m->temp, (size_t)o->n_in, sizeof *in);
    if (!in)
        return tfl_no_memory(o->m);
    for (int i = 0; i < o->n_in; ++i) {
        char name[24];
        int x;
        snprintf(name, sizeof name, "part%d", i);
        if ((s = tfl_value(o, i, &x)))
            return s;
        if (x == ASSAY_NO_VALUE)
            return tfl_fail(o, "input %d is missing", i);
        if ((s = tfl_part(o, name, &part, &in[i])) || (s = tfl_reshape(o, x, in[i])))
            return s;
    }
    if ((s = tfl_result(o, 0, &y)))
        return s;
    return tfl_node(o, ASSAY_OP_CONCAT, in, o->n_in, &y, 1, &a, NULL);
}

/* UNPACK: split along the axis, which then goes. */
assay_status tfl_op_unpack(const tfl_op *o)
{
    assay_attrs a = {0};
    assay_type part;
    int *out, vx, y;
    assay_status s = tfl_expect(o, 1);

    if (s || (s = cut(o, &tfl_in(o, 0)->type, "input", &a.split.axis, &part)))
        return s;
    out = assay_arena_array(o->m->temp, (size_t)o->n_out, sizeof *out);
    if (!out)
        return tfl_no_memory(o->m);
    for (int i = 0; !s && i < o->n_out; ++i) {
        char name[24];
        snprintf(name, sizeof name, "part%d", i);
        s = tfl_part(o, name, &part, &out[i]);
    }
    if (s || (s = tfl_value(o, 0, &vx)) ||
        (s = tfl_node(o, ASSAY_OP_SPLIT, &vx, 1, out, o->n_out, &a, NULL)))
        return s;
    for (int i = 0; !s && i < o->n_out; ++i)
        if (!(s = tfl_result(o, i, &y)))
            s = tfl_reshape(o, out[i], y);
    return s;
}

/* Half-pixel nearest takes the cell that holds the centre (reference/resize_nearest_neighbor.h);
 * half-pixel bilinear is ONNX' half_pixel. */
assay_status tfl_op_resize(const tfl_op *o)
{
    bool linear = o->builtin == CODE_RESIZE_BILINEAR;
    const flat_table t = o->options;
    bool align = linear ? tfl_flat_bool(t, BILINEAR_ALIGN) : tfl_flat_bool(t, NEAREST_ALIGN);
    bool half =
        linear ? tfl_flat_bool(t, BILINEAR_HALF_PIXEL) : tfl_flat_bool(t, NEAREST_HALF_PIXEL);
    assay_attrs a;
    assay_status s = tfl_expect(o, 1);

    if (s)
        return s;
    if (align && half && linear)
        return tfl_fail(o, "align_corners and half_pixel_centers are both set");
    assay_attrs_defaults(ASSAY_ATTRS_resize, &a);
    a.resize.layout = ASSAY_LAYOUT_NHWC;
    a.resize.mode = linear ? ASSAY_RESIZE_LINEAR : ASSAY_RESIZE_NEAREST;
    a.resize.nearest = align ? ASSAY_NEAREST_ROUND_PREFER_CEIL : ASSAY_NEAREST_FLOOR;
    a.resize.coordinate = align && half ? ASSAY_COORD_TFLITE_HALF_PIXEL_CORNERS
                          : align       ? ASSAY_COORD_ALIGN_CORNERS
                          : !half       ? ASSAY_COORD_ASYMMETRIC
                          : linear      ? ASSAY_COORD_HALF_PIXEL
                                        : ASSAY_COORD_TFLITE_HALF_PIXEL;
    shape_of(&tfl_out(o, 0)->type, &a.resize.size);
    return tfl_only_input(o, 0, &a);
}
