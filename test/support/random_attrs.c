/* Attributes for test_random_layers. */
#include "test/support/random_layers.h"

#include <math.h>

static int64_t upto(test_rng *r, int64_t n)
{
    return test_between(r, 0, n);
}

/* An axis, counted from either end. */
static int64_t draw_axis(test_rng *r, int rank)
{
    const int64_t axis = upto(r, rank > 0 ? rank - 1 : 0);
    return upto(r, 2) ? axis : axis - rank;
}

static void fill(assay_list *l, int n, int64_t v)
{
    l->n = n;
    for (int i = 0; i < n; i++)
        l->v[i] = v;
}

static void draw_list(test_rng *r, assay_list *l, int n, int64_t lo, int64_t hi)
{
    l->n = n;
    for (int i = 0; i < n; i++)
        l->v[i] = test_between(r, lo, hi);
}

static int draw_layout(test_rng *r)
{
    return upto(r, 1) ? ASSAY_LAYOUT_NCHW : ASSAY_LAYOUT_NHWC;
}

/* Of windows over x's spatial axes, one in nine of them out of the ordinary. */
static void draw_window(test_rng *r, const assay_type *x, int layout, assay_list *kernel,
                        assay_list *stride, assay_list *dilation, assay_list *begin,
                        assay_list *end)
{
    const int spatial = x->rank > 2 ? x->rank - 2 : 1, first = layout == ASSAY_LAYOUT_NCHW ? 2 : 1;
    const int64_t way = upto(r, 26);
    draw_list(r, kernel, spatial, 1, spatial == 3 ? 2 : 4);
    draw_list(r, stride, spatial, 1, 3);
    draw_list(r, dilation, spatial, 1, upto(r, 2) ? 1 : 3);
    fill(begin, spatial, 0);
    fill(end, spatial, 0);
    for (int i = 0; i < spatial && upto(r, 1); i++) {
        begin->v[i] = upto(r, kernel->v[i] - 1);
        end->v[i] = upto(r, kernel->v[i] - 1);
    }
    for (int i = 0; i < spatial && x->rank > 2; i++) {
        const int64_t extent = x->dim[first + i];
        if (way == 0 && extent > 0 && extent < 40) { /* sees all */
            kernel->v[i] = extent;
            dilation->v[i] = 1;
        } else if (way == 1) { /* passes over cells */
            stride->v[i] = test_between(r, kernel->v[i] + 1, 9);
        } else if (way == 2) { /* taps further apart than the image is wide */
            dilation->v[i] = extent + upto(r, 3);
            begin->v[i] = upto(r, dilation->v[i] * kernel->v[i]);
            end->v[i] = dilation->v[i] * kernel->v[i];
        }
    }
}

static void draw_resize(test_rng *r, const assay_type *x, assay_attr_resize *a)
{
    a->layout = draw_layout(r);
    a->mode = upto(r, 1) ? ASSAY_RESIZE_NEAREST : ASSAY_RESIZE_LINEAR;
    a->coordinate = (int)upto(r, ASSAY_COORD_TFLITE_HALF_PIXEL_CORNERS);
    a->nearest = (int)upto(r, ASSAY_NEAREST_CEIL);
    a->size.n = x->rank;
    const bool anywhere = a->mode == ASSAY_RESIZE_NEAREST && upto(r, 3) == 0;
    const bool scaled = upto(r, 3) == 0;
    for (int i = 0; i < x->rank; i++) {
        const bool spatial = a->layout == ASSAY_LAYOUT_NHWC ? i > 0 && i < x->rank - 1 : i > 1;
        a->size.v[i] = x->dim[i];
        if ((spatial && upto(r, 5)) || anywhere)
            a->size.v[i] = test_between(r, 1, 2 * x->dim[i] + 2);
        if (scaled && x->dim[i] > 0) {
            a->scales.n = x->rank;
            a->scales.v[i] = (float)a->size.v[i] / (float)x->dim[i];
        }
    }
}

static void draw_shape(test_rng *r, assay_op op, const assay_type *x, assay_list *shape)
{
    int64_t count = assay_shape_count(x);
    if (op == ASSAY_OP_EXPAND) {
        const int more = x->rank < 5 ? (int)upto(r, 1) : 0;
        shape->n = x->rank + more;
        for (int i = 0; i < shape->n; i++)
            shape->v[i] = i < more               ? test_between(r, 1, 3)
                          : x->dim[i - more] > 1 ? x->dim[i - more]
                                                 : test_between(r, 1, 5);
        return;
    }
    shape->n = (int)test_between(r, 1, 5);
    for (int i = 0; i < shape->n - 1; i++) {
        int64_t divisor = upto(r, 1) ? test_between(r, 1, 8) : 1;
        while (divisor > 1 && count % divisor)
            divisor--;
        shape->v[i] = divisor;
        count /= divisor;
    }
    shape->v[shape->n - 1] = count > 0 && upto(r, 1) ? -1 : count;
}

static void draw_permutation(test_rng *r, int rank, assay_list *l)
{
    l->n = rank;
    for (int i = 0; i < rank; i++) {
        const int k = (int)upto(r, i);
        l->v[i] = l->v[k];
        l->v[k] = i;
    }
}

/* Some axes, each once, as often as not all neighbours. */
static void draw_axes(test_rng *r, int rank, assay_list *l)
{
    const int first = (int)upto(r, rank > 0 ? rank - 1 : 0);
    l->n = 0;
    for (int i = first; i < rank && upto(r, 2); i++)
        if (upto(r, 4))
            l->v[l->n++] = upto(r, 2) ? i : i - rank;
}

static void draw_slice(test_rng *r, const assay_type *x, assay_attr_slice *a)
{
    a->begin.n = a->step.n = a->size.n = x->rank;
    for (int i = 0; i < x->rank; i++) {
        const int64_t last = x->dim[i] - 1, step = upto(r, 2) ? 1 : test_between(r, -2, 2);
        a->step.v[i] = step ? step : 1;
        a->begin.v[i] = last < 0 ? 0 : upto(r, 1) ? (a->step.v[i] < 0 ? last : 0) : upto(r, last);
        const int64_t room = a->step.v[i] < 0 ? a->begin.v[i] : last - a->begin.v[i];
        const int64_t max = last < 0 ? 0 : room / (step < 0 ? -step : a->step.v[i]) + 1;
        a->size.v[i] = upto(r, 2) ? max : upto(r, max);
    }
}

static void draw_split(test_rng *r, const assay_type *x, assay_attr_split *a)
{
    a->axis = draw_axis(r, x->rank);
    const int64_t extent = x->rank ? x->dim[a->axis < 0 ? a->axis + x->rank : a->axis] : 0;
    int64_t left = extent;
    a->sizes.n = (int)test_between(r, 1, 4);
    for (int i = 0; i < a->sizes.n; i++) {
        a->sizes.v[i] = i + 1 < a->sizes.n ? upto(r, left) : left;
        left -= a->sizes.v[i];
    }
}

static void draw_pad(test_rng *r, const assay_type *x, assay_attr_pad *a)
{
    draw_list(r, &a->begin, x->rank, 0, 2);
    draw_list(r, &a->end, x->rank, 0, 2);
    a->mode = upto(r, 1) ? ASSAY_PAD_CONSTANT : (int)upto(r, ASSAY_PAD_WRAP);
    a->value = upto(r, 3) ? 0 : upto(r, 1) ? -INFINITY : 0.5F;
    a->has_code = upto(r, 3) == 0;
    a->code = a->has_code ? test_between(r, 0, 100) : 0;
}

static void draw_window_of(test_rng *r, assay_op op, const assay_type *x, assay_attrs *a)
{
    if (assay_op_get(op)->attrs == ASSAY_ATTRS_conv) {
        assay_attr_conv *c = &a->conv;
        c->layout = draw_layout(r);
        draw_window(r, x, c->layout, &c->kernel, &c->stride, &c->dilation, &c->pad_begin,
                    &c->pad_end);
        return;
    }
    assay_attr_pool *p = &a->pool;
    p->layout = draw_layout(r);
    draw_window(r, x, p->layout, &p->kernel, &p->stride, &p->dilation, &p->pad_begin, &p->pad_end);
    p->ceil_mode = upto(r, 3) == 0;
    p->count_include_pad = upto(r, 1);
}

/* Of functions of rows and windows. */
static void draw_row_function(test_rng *r, assay_op op, const assay_type *x, assay_attrs *a)
{
    switch (assay_op_get(op)->attrs) {
    case ASSAY_ATTRS_softmax:
        a->softmax.axis = upto(r, 1) ? -1 : draw_axis(r, x->rank);
        a->softmax.beta = upto(r, 2) ? 1 : (float)test_unit(r) + 0.25F;
        break;
    case ASSAY_ATTRS_norm:
        a->norm.axis = upto(r, 1) ? -1 : draw_axis(r, x->rank);
        a->norm.epsilon = upto(r, 2) ? 1e-5F : 0.1F;
        break;
    case ASSAY_ATTRS_lrn:
        a->lrn.layout = draw_layout(r);
        a->lrn.size = test_between(r, 1, 7);
        a->lrn.alpha = (float)test_unit(r) / 10;
        break;
    case ASSAY_ATTRS_reduce:
        draw_axes(r, x->rank, &a->reduce.axes);
        a->reduce.keepdims = upto(r, 1);
        break;
    case ASSAY_ATTRS_cumsum:
        a->cumsum.axis = draw_axis(r, x->rank);
        a->cumsum.exclusive = upto(r, 1);
        a->cumsum.reverse = upto(r, 1);
        break;
    default:
        break;
    }
}

/* Of other functions. */
static void draw_function(test_rng *r, assay_op op, assay_attrs *a)
{
    switch (assay_op_get(op)->attrs) {
    case ASSAY_ATTRS_matmul:
        a->matmul.transpose_a = upto(r, 3) == 0;
        a->matmul.transpose_b = upto(r, 1);
        break;
    case ASSAY_ATTRS_clip:
        a->clip.lo = (float)test_between(r, -5, 0);
        a->clip.hi = (float)test_between(r, 1, 9);
        break;
    case ASSAY_ATTRS_alpha:
        a->alpha.alpha = (float)test_unit(r) * 2;
        break;
    case ASSAY_ATTRS_gelu:
        a->gelu.approximate = (int)upto(r, 1);
        break;
    case ASSAY_ATTRS_layout:
        a->layout.layout = draw_layout(r);
        break;
    case ASSAY_ATTRS_cast:
        a->cast.to = (int)upto(r, ASSAY_CAST_U2);
        break;
    case ASSAY_ATTRS_mod:
        a->mod.truncated = upto(r, 1);
        break;
    case ASSAY_ATTRS_batch_norm:
        a->batch_norm.layout = draw_layout(r);
        break;
    default:
        break;
    }
}

/* Of boxes. */
static void draw_boxes(test_rng *r, assay_op op, assay_attrs *a)
{
    switch (assay_op_get(op)->attrs) {
    case ASSAY_ATTRS_roi:
        a->roi.height = test_between(r, 1, 4);
        a->roi.width = test_between(r, 1, 4);
        a->roi.ratio = upto(r, 2);
        a->roi.aligned = upto(r, 1);
        break;
    case ASSAY_ATTRS_nms:
        a->nms.most = test_between(r, 0, 3);
        a->nms.iou = (float)upto(r, 4) / 4;
        a->nms.center = upto(r, 1);
        break;
    case ASSAY_ATTRS_soft_nms:
        a->soft_nms.most = test_between(r, 0, 3);
        a->soft_nms.iou = (float)upto(r, 4) / 4;
        a->soft_nms.sigma = (float)upto(r, 2) / 4;
        break;
    case ASSAY_ATTRS_detection:
        a->detection.most = test_between(r, 1, 3);
        a->detection.per_box = test_between(r, 1, 3);
        a->detection.classes = 2;
        a->detection.by_class = upto(r, 1);
        a->detection.scale.n = 4;
        for (int i = 0; i < 4; i++)
            a->detection.scale.v[i] = (float)test_between(r, 1, 10);
        break;
    default:
        break;
    }
}

/* Of what is chosen: by value, by place. */
static void draw_selection(test_rng *r, assay_op op, const assay_type *x, assay_attrs *a)
{
    switch (assay_op_get(op)->attrs) {
    case ASSAY_ATTRS_arg:
        a->arg.axis = draw_axis(r, x->rank);
        a->arg.keepdims = upto(r, 1);
        a->arg.select_last = upto(r, 1);
        a->arg.index_bits = upto(r, 1) ? 64 : 32;
        break;
    case ASSAY_ATTRS_topk:
        a->topk.axis = draw_axis(r, x->rank);
        a->topk.k =
            upto(r, x->rank ? x->dim[a->topk.axis < 0 ? a->topk.axis + x->rank : a->topk.axis] : 0);
        a->topk.largest = upto(r, 1);
        a->topk.index_bits = upto(r, 1) ? 64 : 32;
        break;
    case ASSAY_ATTRS_scatter:
        a->scatter.reduction = (int)upto(r, ASSAY_REDUCTION_MAX);
        break;
    case ASSAY_ATTRS_grid:
        a->grid.mode = (int)upto(r, ASSAY_RESIZE_CUBIC);
        a->grid.padding = (int)upto(r, ASSAY_GRID_REFLECTION);
        a->grid.align_corners = upto(r, 1);
        break;
    case ASSAY_ATTRS_dynamic:
        a->dynamic.axis = upto(r, x->rank);
        a->dynamic.symmetric = upto(r, 1);
        break;
    default:
        break;
    }
}

/* Of what moves elements. */
static void draw_movement(test_rng *r, assay_op op, const assay_type *x, assay_attrs *a)
{
    switch (assay_op_get(op)->attrs) {
    case ASSAY_ATTRS_shape:
        draw_shape(r, op, x, &a->shape.shape);
        break;
    case ASSAY_ATTRS_perm:
        draw_permutation(r, x->rank, &a->perm.perm);
        break;
    case ASSAY_ATTRS_axis:
        a->axis.axis = draw_axis(r, x->rank);
        break;
    case ASSAY_ATTRS_gather:
        a->gather.axis = draw_axis(r, x->rank);
        break;
    case ASSAY_ATTRS_axes:
        draw_axes(r, x->rank, &a->axes.axes);
        break;
    case ASSAY_ATTRS_split:
        draw_split(r, x, &a->split);
        break;
    case ASSAY_ATTRS_slice:
        draw_slice(r, x, &a->slice);
        break;
    case ASSAY_ATTRS_pad:
        draw_pad(r, x, &a->pad);
        break;
    case ASSAY_ATTRS_tile:
        draw_list(r, &a->tile.repeats, x->rank, 1, 2);
        break;
    case ASSAY_ATTRS_block:
        a->block.layout = draw_layout(r);
        a->block.block = test_between(r, 1, 3);
        a->block.order = (int)upto(r, 1);
        break;
    case ASSAY_ATTRS_resize:
        draw_resize(r, x, &a->resize);
        break;
    default:
        break;
    }
}

void test_random_attrs(test_rng *r, assay_op op, const assay_type *x, assay_attrs *a)
{
    const int kind = assay_op_get(op)->attrs;
    assay_attrs_defaults(assay_op_get(op)->attrs, a);
    if (kind == ASSAY_ATTRS_conv || kind == ASSAY_ATTRS_pool)
        draw_window_of(r, op, x, a);
    draw_function(r, op, a); /* each draws for the kinds that it lists */
    draw_row_function(r, op, x, a);
    draw_selection(r, op, x, a);
    draw_boxes(r, op, a);
    draw_movement(r, op, x, a);
}
