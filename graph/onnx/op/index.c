/* Operators that pick, repeat or join elements: concat, split, slice, gather, pad, tile. */
#include <string.h>

#include "graph/onnx/op/op.h"

void onnx_import_concat(onnx_node *n)
{
    assay_attrs a = {.axis = {.axis = 0}};
    onnx_value **in;

    if (n->pb->n_input == 0 || !onnx_attribute(n, "axis", ONNX_ATTR_INT)) {
        onnx_fail(n, ASSAY_ERR_INPUT, "inputs or attribute 'axis' are missing");
        return;
    }
    a.axis.axis = onnx_axis(n, onnx_int(n, "axis", 0), onnx_type(n, onnx_in(n, 0)).rank);
    in = assay_arena_array(n->im->temp, n->pb->n_input, sizeof(onnx_value *));
    if (!in) {
        onnx_no_memory(n);
        return;
    }
    for (size_t i = 0; i < n->pb->n_input; i++) {
        in[i] = onnx_in(n, i);
        if (!in[i])
            onnx_fail(n, ASSAY_ERR_INPUT, "input %zu is missing", i);
    }
    onnx_op(n, ASSAY_OP_CONCAT, &a, in, (int)n->pb->n_input, NULL);
}

onnx_value *onnx_part(onnx_node *n, onnx_value *x, int axis, int64_t begin, int64_t size,
                      const char *suffix)
{
    assay_type t = onnx_type(n, x);
    assay_attrs a = {.slice = {.begin = {.n = t.rank}, .step = {.n = t.rank}}};

    if (n->status)
        return NULL;
    if (axis >= t.rank || begin + size > t.dim[axis])
        return onnx_fail(n, ASSAY_ERR_INPUT, "%lld elements along axis %d are more than '%s' has",
                         (long long)(begin + size), axis, x->name);
    a.slice.size.n = t.rank;
    for (int i = 0; i < t.rank; i++) {
        a.slice.step.v[i] = 1;
        a.slice.size.v[i] = t.dim[i];
    }
    a.slice.begin.v[axis] = begin;
    a.slice.size.v[axis] = size;
    return onnx_op1(n, ASSAY_OP_SLICE, &a, x, suffix);
}

onnx_value *onnx_joined(onnx_node *n, onnx_value *const *in, int n_in, int64_t axis,
                        const char *suffix)
{
    const assay_attrs a = {.axis = {.axis = axis}};

    return n_in == 1 ? in[0] : onnx_op(n, ASSAY_OP_CONCAT, &a, in, n_in, suffix);
}

onnx_value *onnx_row(onnx_node *n, onnx_value *v, int64_t axis)
{
    assay_type t = onnx_type(n, onnx_resolve(v));

    axis = onnx_axis(n, axis, t.rank + 1);
    if (t.rank == ASSAY_MAX_RANK)
        onnx_refuse(n, "rows of rank %d, the highest supported", t.rank);
    if (n->status)
        return NULL;
    memmove(t.dim + axis + 1, t.dim + axis, (size_t)(t.rank - axis) * sizeof *t.dim);
    t.dim[axis] = 1;
    return onnx_reshaped(n, onnx_resolve(v), t.rank + 1, t.dim, "row");
}

onnx_value *onnx_counted(onnx_node *n, int dtype, int rank, const int64_t *dim, const char *suffix)
{
    onnx_const *c = onnx_new_const(n->im, dtype, rank, dim);

    for (int64_t i = 0; c && i < c->count; i++)
        if (onnx_is_float(dtype))
            onnx_set_real(c, i, (double)i);
        else
            onnx_set_int(c, i, i);
    return c ? onnx_constant(n, c, suffix) : onnx_no_memory(n);
}

onnx_value *onnx_ones(onnx_node *n, int dtype, int rank, const int64_t *dim, const char *suffix)
{
    onnx_const *c = n->status ? NULL : onnx_new_const(n->im, dtype, rank, dim);

    if (!c)
        return n->status ? NULL : onnx_no_memory(n);
    for (int64_t i = 0; i < c->count; i++)
        onnx_set_real(c, i, 1);
    return onnx_constant(n, c, suffix);
}

/* Slices of constants fold; and more parts than an attribute holds are slices too. */
static void split_by_slices(onnx_node *n, int64_t axis, const assay_type *x, const int64_t *size,
                            size_t parts)
{
    assay_attrs a = {.slice = {.begin = {.n = x->rank}, .step = {.n = x->rank}}};

    a.slice.size.n = x->rank;
    for (int i = 0; i < x->rank; i++) {
        a.slice.step.v[i] = 1;
        a.slice.size.v[i] = x->dim[i];
    }
    for (size_t k = 0; k < parts && !n->status; k++) {
        a.slice.size.v[axis] = size[k];
        onnx_op_out(n, ASSAY_OP_SLICE, &a, onnx_in(n, 0), k);
        a.slice.begin.v[axis] += size[k];
    }
}

/* Sizes: an attribute before opset 13, an input since; absent, equal parts, where num_outputs (18)
 * allows the last to be smaller. */
void onnx_import_split(onnx_node *n)
{
    assay_type x = onnx_type(n, onnx_in(n, 0));
    int64_t axis = onnx_axis(n, onnx_int(n, "axis", 0), x.rank), total = 0;
    size_t parts = n->pb->n_output;
    int64_t *size = assay_arena_array(n->im->temp, parts, sizeof *size);
    const onnx_const *given = onnx_known(n, 1, "sizes");
    const pb_attribute *attribute = onnx_attribute(n, "split", ONNX_ATTR_INTS);
    size_t n_given = given ? (size_t)given->count : attribute ? attribute->n_ints : 0;

    if (!size)
        onnx_no_memory(n);
    if (n->status)
        return;
    if ((given || attribute) && n_given != parts) {
        onnx_fail(n, ASSAY_ERR_INPUT, "%zu sizes for %zu outputs", n_given, parts);
        return;
    }
    if (onnx_int(n, "num_outputs", (int64_t)parts) != (int64_t)parts) {
        onnx_fail(n, ASSAY_ERR_INPUT, "attribute 'num_outputs' is not the number of outputs, %zu",
                  parts);
        return;
    }
    for (size_t k = 0; k < parts; k++) {
        int64_t part = (x.dim[axis] + (int64_t)parts - 1) / (int64_t)parts;
        int64_t left = x.dim[axis] - total;
        size[k] = given       ? onnx_get_int(given, (int64_t)k)
                  : attribute ? attribute->ints[k]
                              : (left < part ? left : part);
        if (size[k] < 0 || size[k] > left) {
            onnx_fail(n, ASSAY_ERR_INPUT, "part %zu has size %lld, but only %lld elements are left",
                      k, (long long)size[k], (long long)left);
            return;
        }
        total += size[k];
    }
    if (total != x.dim[axis]) {
        onnx_fail(n, ASSAY_ERR_INPUT, "the parts hold %lld of the axis's %lld elements",
                  (long long)total, (long long)x.dim[axis]);
        return;
    }
    if (onnx_in(n, 0)->constant || parts > ASSAY_ATTR_LIST) {
        split_by_slices(n, axis, &x, size, parts);
        return;
    }
    assay_attrs a = {.split = {.axis = axis, .sizes = {.n = (int)parts}}};
    memcpy(a.split.sizes.v, size, parts * sizeof *size);
    onnx_op_multi(n, ASSAY_OP_SPLIT, &a, onnx_in(n, 0), (int)parts);
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

/* Bounds are attributes before opset 10 and inputs since. As in Python: negative ones count from
 * the end, those outside are clamped, a negative step walks backwards. */
void onnx_import_slice(onnx_node *n)
{
    assay_type x = onnx_type(n, onnx_in(n, 0));
    assay_attrs a = {.slice = {.begin = {.n = x.rank}, .step = {.n = x.rank}}};
    assay_list starts, ends, axes, steps = {0};
    bool inputs = n->opset >= 10;

    if (inputs) {
        onnx_int_list(n, 1, "starts", &starts);
        onnx_int_list(n, 2, "ends", &ends);
        onnx_int_list(n, 3, "axes", &axes);
        onnx_int_list(n, 4, "steps", &steps);
    } else {
        onnx_ints(n, "starts", &starts);
        onnx_ints(n, "ends", &ends);
        onnx_ints(n, "axes", &axes);
    }
    if (!n->status && (starts.n == 0 || starts.n != ends.n || (axes.n && axes.n != starts.n) ||
                       (steps.n && steps.n != starts.n)))
        onnx_fail(n, ASSAY_ERR_INPUT,
                  "%d starts, %d ends, %d axes and %d steps, expected as many of each", starts.n,
                  ends.n, axes.n, steps.n);
    a.slice.size.n = x.rank;
    for (int i = 0; i < x.rank; i++) {
        a.slice.step.v[i] = 1;
        a.slice.size.v[i] = x.dim[i];
    }
    for (int i = 0; i < starts.n && !n->status; i++) {
        int64_t axis = onnx_axis(n, axes.n ? axes.v[i] : i, x.rank), d = x.dim[axis];
        int64_t step = steps.n ? steps.v[i] : 1, begin = starts.v[i], end = ends.v[i], span;
        if (step == 0 || step < -INT64_MAX)
            onnx_fail(n, ASSAY_ERR_INPUT, "step %lld", (long long)step);
        if (n->status)
            return;
        begin = clamp(begin < 0 ? begin + d : begin, 0, step > 0 ? d : d - 1);
        end = clamp(end < 0 ? end + d : end, step > 0 ? 0 : -1, d);
        span = step > 0 ? end - begin : begin - end;
        step = clamp(step, -(d + 1), d + 1); /* longer steps take one element as well */
        a.slice.step.v[axis] = step;
        a.slice.size.v[axis] = span <= 0 || d == 0 ? 0 : (span - 1) / (step > 0 ? step : -step) + 1;
        a.slice.begin.v[axis] = a.slice.size.v[axis] == 0 ? 0 : begin;
    }
    onnx_op1(n, ASSAY_OP_SLICE, &a, onnx_in(n, 0), NULL);
}

/* Negative constant indices count from the end: make them positive. */
static onnx_value *positive_indices(onnx_node *n, onnx_value *v, int64_t extent)
{
    onnx_const *c;
    bool changed = false;

    if (n->status || !v->constant)
        return v;
    c = onnx_new_const(n->im, v->constant->dtype, v->constant->rank, v->constant->dim);
    if (!c)
        return onnx_no_memory(n);
    for (int64_t i = 0; i < c->count; i++) {
        int64_t k = onnx_get_int(v->constant, i);
        if (k < -extent || k >= extent)
            return onnx_fail(n, ASSAY_ERR_INPUT, "index %lld is outside an axis of extent %lld",
                             (long long)k, (long long)extent);
        onnx_set_int(c, i, k < 0 ? k + extent : k);
        changed = changed || k < 0;
    }
    if (!changed)
        return v;
    onnx_value *positive = onnx_constant(n, c, "indices");
    onnx_inherit_name(positive, v);
    return positive;
}

void onnx_picked(onnx_node *n, onnx_value *x, onnx_value *index, int64_t axis)
{
    const assay_type t = onnx_type(n, x);
    const assay_attrs a = {.gather = {.axis = axis}};

    if (index->constant && index->constant->dtype != ONNX_INT32 &&
        index->constant->dtype != ONNX_INT64)
        onnx_fail(n, ASSAY_ERR_INPUT, "indices are %s", onnx_dtype_name(index->constant->dtype));
    onnx_op2(n, ASSAY_OP_GATHER, &a, x, positive_indices(n, index, t.dim[axis]), NULL);
}

void onnx_import_gather(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);

    onnx_picked(n, x, onnx_in(n, 1), onnx_axis(n, onnx_int(n, "axis", 0), onnx_type(n, x).rank));
}

onnx_value *onnx_rows(onnx_node *n, onnx_value *table, onnx_value *index, const char *suffix)
{
    assay_type t = onnx_type(n, table);
    assay_attrs a = {.gather = {.axis = 0}};

    if (!n->status && t.rank == 0)
        return onnx_fail(n, ASSAY_ERR_INPUT, "table of rank 0");
    return n->status ? NULL
                     : onnx_op2(n, ASSAY_OP_GATHER, &a, table, positive_indices(n, index, t.dim[0]),
                                suffix);
}

/* The amounts for every axis: attribute or input; with axes (18) only some are given. */
static bool pad_amounts(onnx_node *n, int rank, int64_t *begin, int64_t *end)
{
    assay_list pads, axes = {0};
    int count;

    if (n->opset < 11)
        onnx_ints(n, "pads", &pads);
    else
        onnx_int_list(n, 1, "pads", &pads);
    if (onnx_has(n, 3))
        onnx_int_list(n, 3, "axes", &axes);
    count = onnx_has(n, 3) ? axes.n : rank;
    if (!n->status && pads.n != 2 * count)
        onnx_fail(n, ASSAY_ERR_INPUT, "%d pads for %d axes, expected two per axis", pads.n, count);
    for (int i = 0; i < count && !n->status; i++) {
        int64_t axis = onnx_has(n, 3) ? onnx_axis(n, axes.v[i], rank) : i;
        begin[axis] = pads.v[i];
        end[axis] = pads.v[count + i];
    }
    return !n->status;
}

/* The fill of a constant pad; of integers a code as it stands, whatever 0 is among them. */
static void pad_fill(onnx_node *n, const assay_type *t, assay_attr_pad *a)
{
    const bool given = n->opset >= 11 && onnx_has(n, 2);

    a->has_code = t->elem.kind == ASSAY_KIND_INT;
    if (given && a->has_code)
        onnx_one_int(n, 2, "constant value", &a->code);
    else if (given)
        onnx_one_float(n, 2, "constant value", &a->value);
}

/* Negative amounts crop: that is a slice before the padding. */
void onnx_import_pad(onnx_node *n)
{
    static const char *const modes[] = {"constant", "reflect", "edge", "wrap", NULL};
    static const int ours[] = {ASSAY_PAD_CONSTANT, ASSAY_PAD_REFLECT, ASSAY_PAD_EDGE,
                               ASSAY_PAD_WRAP};
    onnx_value *x = onnx_in(n, 0);
    assay_type t = onnx_type(n, x);
    int64_t begin[ASSAY_MAX_RANK] = {0}, end[ASSAY_MAX_RANK] = {0};
    assay_attrs a = {.pad = {.mode = ours[onnx_choice(n, "mode", modes, 0)],
                             .value = onnx_float(n, "value", 0)}};
    assay_attrs crop = {.slice = {.begin = {.n = t.rank}, .step = {.n = t.rank}}};
    bool crops = false;

    if (a.pad.mode == ASSAY_PAD_CONSTANT)
        pad_fill(n, &t, &a.pad);
    if (!pad_amounts(n, t.rank, begin, end))
        return;
    crop.slice.size.n = a.pad.begin.n = a.pad.end.n = t.rank;
    for (int i = 0; i < t.rank; i++) {
        int64_t cut_begin = begin[i] < 0 ? begin[i] : 0, cut_end = end[i] < 0 ? end[i] : 0;
        if (cut_begin < -t.dim[i] || cut_end < -t.dim[i] || cut_begin + cut_end < -t.dim[i]) {
            onnx_fail(n, ASSAY_ERR_INPUT, "pads %lld and %lld of axis %d, which has %lld",
                      (long long)begin[i], (long long)end[i], i, (long long)t.dim[i]);
            return;
        }
        crops = crops || cut_begin || cut_end;
        crop.slice.begin.v[i] = -cut_begin;
        crop.slice.step.v[i] = 1;
        crop.slice.size.v[i] = t.dim[i] + cut_begin + cut_end;
        a.pad.begin.v[i] = begin[i] - cut_begin;
        a.pad.end.v[i] = end[i] - cut_end;
    }
    if (crops)
        x = onnx_op1(n, ASSAY_OP_SLICE, &crop, x, "cropped");
    onnx_op1(n, ASSAY_OP_PAD, &a, x, NULL);
}

void onnx_import_tile(onnx_node *n)
{
    assay_type x = onnx_type(n, onnx_in(n, 0));
    assay_attrs a = {.tile = {.repeats = {.n = 0}}};

    if (!onnx_int_list(n, 1, "repeats", &a.tile.repeats))
        return;
    if (a.tile.repeats.n != x.rank)
        onnx_fail(n, ASSAY_ERR_INPUT, "%d repeats for rank %d, expected one per axis",
                  a.tile.repeats.n, x.rank);
    for (int i = 0; i < a.tile.repeats.n; i++)
        if (a.tile.repeats.v[i] < 0)
            onnx_fail(n, ASSAY_ERR_INPUT, "repeat %lld", (long long)a.tile.repeats.v[i]);
    onnx_op1(n, ASSAY_OP_TILE, &a, onnx_in(n, 0), NULL);
}

/* As many elements along each axis as are asked for, from the middle, or with zeros around. */
void onnx_import_center(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    const assay_type t = onnx_type(n, x);
    assay_attrs pad = {.pad = {.begin = {.n = t.rank},
                               .end = {.n = t.rank},
                               .has_code = t.elem.kind == ASSAY_KIND_INT}};
    assay_list shape, axes;

    onnx_int_list(n, 1, "shape", &shape);
    onnx_ints(n, "axes", &axes);
    const int count = axes.n ? axes.n : t.rank;
    if (!n->status && shape.n != count)
        onnx_fail(n, ASSAY_ERR_INPUT, "%d extents for %d axes, expected one per axis", shape.n,
                  count);
    for (int i = 0; i < count && !n->status; i++) {
        const int axis = (int)onnx_axis(n, axes.n ? axes.v[i] : i, t.rank);
        if (shape.v[i] < 0)
            onnx_fail(n, ASSAY_ERR_INPUT, "extent %lld", (long long)shape.v[i]);
        if (n->status)
            return;
        const int64_t more = shape.v[i] - t.dim[axis];
        if (more < 0)
            x = onnx_part(n, x, axis, -more / 2, shape.v[i], "middle");
        pad.pad.begin.v[axis] = more > 0 ? more / 2 : 0;
        pad.pad.end.v[axis] = more > 0 ? more - more / 2 : 0;
    }
    onnx_op1(n, ASSAY_OP_PAD, &pad, x, NULL);
}
