/* Nodes that move elements as operators; what they need beside the data are constants. */
#include <math.h>
#include <string.h>

#include "graph/tflite/export/emit.h"

static const assay_type *in_type(const tfl_export *x, const assay_node *n, int i)
{
    return &x->g->value[n->in[i]].type;
}

static const assay_type *out_type(const tfl_export *x, const assay_node *n)
{
    return &x->g->value[n->out[0]].type;
}

/* An operator on input 0 and, unless negative, one or two constants. */
static void moved(tfl_export *x, const assay_node *n, int builtin, int second, int third)
{
    int in[3] = {tfl_add_tensor(x, n->in[0]), second, third}, y = tfl_add_tensor(x, n->out[0]);
    tfl_add_operator(x, builtin, in, third >= 0 ? 3 : second >= 0 ? 2 : 1, &y, 1);
}

static int numbers(tfl_export *x, const assay_node *n, const char *what, const assay_list *list)
{
    return tfl_numbers(x, n, what, list->v, list->n);
}

static int shape(tfl_export *x, const assay_node *n)
{
    return tfl_numbers(x, n, "shape", out_type(x, n)->dim, out_type(x, n)->rank);
}

static void concat(tfl_export *x, const assay_node *n)
{
    int *in = tfl_room(x, (size_t)n->n_in * sizeof *in), y = tfl_add_tensor(x, n->out[0]);

    for (int i = 0; in && i < n->n_in; ++i)
        in[i] = tfl_add_tensor(x, n->in[i]);
    if (!in)
        return;
    tfl_add_operator(x, BUILTIN_CONCATENATION, in, n->n_in, &y, 1);
    tfl_option(x, 0, 4, (int32_t)n->attr.axis.axis);
}

static void split(tfl_export *x, const assay_node *n)
{
    int *out = tfl_room(x, (size_t)n->n_out * sizeof *out);
    int64_t *size = tfl_room(x, (size_t)n->n_out * sizeof *size);
    int in[3];

    if (!out || !size)
        return;
    for (int i = 0; i < n->n_out; ++i) {
        out[i] = tfl_add_tensor(x, n->out[i]);
        size[i] = x->g->value[n->out[i]].type.dim[n->attr.split.axis];
    }
    in[0] = tfl_add_tensor(x, n->in[0]);
    in[1] = tfl_numbers(x, n, "sizes", size, n->n_out);
    in[2] = tfl_number(x, n, "axis", n->attr.split.axis);
    tfl_add_operator(x, BUILTIN_SPLIT_V, in, 3, out, n->n_out);
    tfl_option(x, 0, 4, n->n_out);
}

/* An end in front of the first element is said by a mask. */
static void slice(tfl_export *x, const assay_node *n)
{
    const assay_attr_slice *a = &n->attr.slice;
    assay_list end = a->begin;
    int in[4], y, mask = 0;
    bool strided = false;

    for (int i = 0; i < a->begin.n; ++i) {
        strided = strided || a->step.v[i] != 1;
        end.v[i] += a->step.v[i] * a->size.v[i];
        if (end.v[i] < 0) {
            mask |= 1 << i;
            end.v[i] = 0;
        }
    }
    in[0] = tfl_add_tensor(x, n->in[0]);
    in[1] = numbers(x, n, "begin", &a->begin);
    in[2] = strided ? numbers(x, n, "end", &end) : numbers(x, n, "size", &a->size);
    in[3] = strided ? numbers(x, n, "strides", &a->step) : -1;
    y = tfl_add_tensor(x, n->out[0]);
    tfl_add_operator(x, strided ? BUILTIN_STRIDED_SLICE : BUILTIN_SLICE, in, strided ? 4 : 3, &y,
                     1);
    if (strided)
        tfl_option(x, STRIDED_END_MASK, 4, mask);
}

static int pads_of(tfl_export *x, const assay_node *n)
{
    const assay_attr_pad *a = &n->attr.pad;
    int64_t pads[2 * ASSAY_MAX_RANK];
    int t;

    for (int i = 0; i < a->begin.n; ++i) {
        pads[2 * i] = a->begin.v[i];
        pads[2 * i + 1] = a->end.v[i];
        if (a->begin.v[i] < 0 || a->end.v[i] < 0)
            tfl_refuse(x, n, "a negative pad");
    }
    t = tfl_numbers(x, n, "pads", pads, 2 * a->begin.n);
    if (t >= 0) {
        x->tensor[t].type.rank = 2;
        x->tensor[t].type.dim[0] = a->begin.n;
        x->tensor[t].type.dim[1] = 2;
    }
    return t;
}

/* The padding of PADV2, as an element of the output. */
static int pad_value(tfl_export *x, const assay_node *n)
{
    assay_type type = *out_type(x, n);
    float value = n->attr.pad.value;
    int64_t code = n->attr.pad.has_code ? n->attr.pad.code : (int64_t)value;
    void *data = tfl_room(x, sizeof(int64_t));

    type.rank = 0;
    if (!data)
        return -1;
    if (type.q.granularity == ASSAY_Q_TENSOR && !n->attr.pad.has_code) {
        float q = roundf(value / type.q.scale[0]) + (float)type.q.zero_point[0];
        code = (int64_t)fminf(fmaxf(q, (float)assay_elem_min(type.elem)),
                              (float)assay_elem_max(type.elem));
    }
    if (type.elem.kind == ASSAY_KIND_F32)
        memcpy(data, &value, sizeof value);
    else
        assay_elem_set(type.elem, data, 0, code);
    return tfl_extra(x, n, "pad_value", &type, data);
}

static void pad(tfl_export *x, const assay_node *n)
{
    switch (n->attr.pad.mode) {
    case ASSAY_PAD_CONSTANT:
        if (n->attr.pad.value == 0 && !n->attr.pad.has_code)
            moved(x, n, BUILTIN_PAD, pads_of(x, n), -1);
        else
            moved(x, n, BUILTIN_PADV2, pads_of(x, n), pad_value(x, n));
        break;
    case ASSAY_PAD_REFLECT:
    case ASSAY_PAD_SYMMETRIC:
        moved(x, n, BUILTIN_MIRROR_PAD, pads_of(x, n), -1);
        tfl_option(x, 0, 1, n->attr.pad.mode == ASSAY_PAD_SYMMETRIC);
        break;
    default:
        tfl_refuse(x, n, "edge or circular padding");
    }
}

static void block(tfl_export *x, const assay_node *n)
{
    const assay_attr_block *a = &n->attr.block;
    bool deep = n->op == ASSAY_OP_DEPTH_TO_SPACE;

    if (a->layout != ASSAY_LAYOUT_NHWC || in_type(x, n, 0)->rank != 4 ||
        a->order != ASSAY_D2S_DCR) {
        tfl_refuse(x, n, "columns in front of rows, or channels that are not last");
        return;
    }
    moved(x, n, deep ? BUILTIN_DEPTH_TO_SPACE : BUILTIN_SPACE_TO_DEPTH, -1, -1);
    tfl_option(x, 0, 4, (int32_t)a->block);
}

/* Scales that a network gives beside extents: TFLite divides the extents, which is the same where
 * it is exact (nearest), or gives the same step in 1/1024 (linear). */
static bool scales_follow(const tfl_export *x, const assay_node *n)
{
    const assay_attr_resize *a = &n->attr.resize;
    bool corners = a->coordinate == ASSAY_COORD_ALIGN_CORNERS;

    for (int i = 1; i < 3 && i < a->scales.n && !corners; ++i) {
        int64_t in = in_type(x, n, 0)->dim[i], out = out_type(x, n)->dim[i];
        float s = a->scales.v[i];
        int e;
        if (a->mode == ASSAY_RESIZE_LINEAR ? (in * 1024 + out / 2) / out != lroundf(1024 / s)
                                           : s * (float)in != (float)out || frexpf(s, &e) != 0.5F)
            return false;
    }
    return true;
}

static void resize(tfl_export *x, const assay_node *n)
{
    const assay_attr_resize *a = &n->attr.resize;
    const assay_type *from = in_type(x, n, 0), *to = out_type(x, n);
    bool linear = a->mode == ASSAY_RESIZE_LINEAR;
    bool both = !linear && a->coordinate == ASSAY_COORD_TFLITE_HALF_PIXEL_CORNERS;
    bool corners = a->coordinate == ASSAY_COORD_ALIGN_CORNERS || both;
    bool half =
        both ||
        a->coordinate == (linear ? ASSAY_COORD_HALF_PIXEL : ASSAY_COORD_TFLITE_HALF_PIXEL) ||
        (linear && a->coordinate == ASSAY_COORD_PYTORCH_HALF_PIXEL && to->dim[1] > 1 &&
         to->dim[2] > 1);
    bool rounds =
        linear || a->nearest == (corners ? ASSAY_NEAREST_ROUND_PREFER_CEIL : ASSAY_NEAREST_FLOOR);

    if (a->layout != ASSAY_LAYOUT_NHWC || from->rank != 4 || a->mode == ASSAY_RESIZE_CUBIC ||
        from->dim[0] != to->dim[0] || from->dim[3] != to->dim[3] ||
        !assay_qparams_equal(&from->q, &to->q) || !rounds || !scales_follow(x, n) ||
        !(corners || half || a->coordinate == ASSAY_COORD_ASYMMETRIC)) {
        tfl_refuse(x, n, "TFLite has no resize with these coordinates and roundings");
        return;
    }
    moved(x, n, linear ? BUILTIN_RESIZE_BILINEAR : BUILTIN_RESIZE_NEAREST_NEIGHBOR,
          tfl_numbers(x, n, "size", &to->dim[1], 2), -1);
    if (linear) {
        tfl_option(x, BILINEAR_ALIGN, 1, corners);
        tfl_option(x, BILINEAR_HALF_PIXEL, 1, half);
    } else {
        tfl_option(x, NEAREST_ALIGN, 1, corners);
        tfl_option(x, NEAREST_HALF_PIXEL, 1, half);
    }
}

bool tfl_export_move(tfl_export *x, const assay_node *n)
{
    switch (n->op) {
    case ASSAY_OP_RESHAPE:
    case ASSAY_OP_RELABEL:
        moved(x, n, BUILTIN_RESHAPE, shape(x, n), -1);
        return true;
    case ASSAY_OP_EXPAND:
        moved(x, n, BUILTIN_BROADCAST_TO, shape(x, n), -1);
        return true;
    case ASSAY_OP_TRANSPOSE:
        moved(x, n, BUILTIN_TRANSPOSE, numbers(x, n, "perm", &n->attr.perm.perm), -1);
        return true;
    case ASSAY_OP_TILE:
        moved(x, n, BUILTIN_TILE, numbers(x, n, "repeats", &n->attr.tile.repeats), -1);
        return true;
    case ASSAY_OP_REVERSE:
        moved(x, n, BUILTIN_REVERSE_V2, numbers(x, n, "axes", &n->attr.axes.axes), -1);
        return true;
    case ASSAY_OP_GATHER:
        moved(x, n, BUILTIN_GATHER, tfl_add_tensor(x, n->in[1]), -1);
        tfl_option(x, GATHER_AXIS, 4, (int32_t)n->attr.gather.axis);
        tfl_option(x, GATHER_BATCH_DIMS, 4, (int32_t)n->attr.gather.batch_dims);
        return true;
    case ASSAY_OP_GATHER_ND:
        moved(x, n, BUILTIN_GATHER_ND, tfl_add_tensor(x, n->in[1]), -1);
        return true;
    case ASSAY_OP_CONCAT:
        concat(x, n);
        return true;
    case ASSAY_OP_SPLIT:
        split(x, n);
        return true;
    case ASSAY_OP_SLICE:
        slice(x, n);
        return true;
    case ASSAY_OP_PAD:
        pad(x, n);
        return true;
    case ASSAY_OP_DEPTH_TO_SPACE:
    case ASSAY_OP_SPACE_TO_DEPTH:
        block(x, n);
        return true;
    case ASSAY_OP_RESIZE:
        resize(x, n);
        return true;
    default:
        return false;
    }
}
