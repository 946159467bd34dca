/* Attributes of the ops of random integer networks. */
#include <math.h>

#include "graph/core/type.h"
#include "test/support/random_codes.h"

static int64_t upto(test_rng *r, int64_t n)
{
    return test_between(r, 0, n);
}

static void fill(assay_list *l, int n, int64_t v)
{
    l->n = n;
    for (int i = 0; i < n; i++)
        l->v[i] = v;
}

static void shuffle(test_rng *r, assay_list *l, int n)
{
    l->n = n;
    for (int i = 0; i < n; i++) {
        int k = (int)upto(r, i);
        l->v[i] = l->v[k];
        l->v[k] = i;
    }
}

static int draw_layout(test_rng *r)
{
    return upto(r, 2) ? ASSAY_LAYOUT_NCHW : ASSAY_LAYOUT_NHWC;
}

static void draw_window(test_rng *r, assay_attr_pool *p)
{
    p->layout = draw_layout(r);
    p->ceil_mode = upto(r, 4) == 0;
    const int64_t side = test_between(r, 1, 3);
    fill(&p->kernel, 2, side);
    fill(&p->stride, 2, test_between(r, 1, 2));
    fill(&p->pad_begin, 2, upto(r, side > 1));
    fill(&p->pad_end, 2, upto(r, side > 1));
    p->count_include_pad = upto(r, 1);
}

static void draw_movement(test_rng *r, assay_op op, const assay_type *x, assay_attrs *a)
{
    switch (op) {
    case ASSAY_OP_RESHAPE:
        a->shape.shape.n = x->rank;
        for (int i = 0; i < x->rank; i++)
            a->shape.shape.v[i] = x->dim[x->rank - 1 - i];
        break;
    case ASSAY_OP_EXPAND:
        a->shape.shape.n = x->rank;
        for (int i = 0; i < x->rank; i++)
            a->shape.shape.v[i] = x->dim[i] == 1 ? test_between(r, 1, 2) : x->dim[i];
        break;
    case ASSAY_OP_TRANSPOSE:
        shuffle(r, &a->perm.perm, x->rank);
        break;
    case ASSAY_OP_SLICE:
        a->slice.begin.n = a->slice.step.n = a->slice.size.n = x->rank;
        for (int i = 0; i < x->rank; i++) {
            a->slice.begin.v[i] = upto(r, 1) ? 0 : upto(r, x->dim[i] - 1);
            a->slice.step.v[i] = 1;
            a->slice.size.v[i] = x->dim[i] - a->slice.begin.v[i];
        }
        break;
    case ASSAY_OP_PAD:
        fill(&a->pad.begin, x->rank, 0);
        fill(&a->pad.end, x->rank, 0);
        for (int i = 2; i < x->rank; i++)
            a->pad.begin.v[i] = a->pad.end.v[i] = upto(r, 1);
        a->pad.value = upto(r, 2) ? 0 : -INFINITY;
        a->pad.mode = upto(r, 3) ? ASSAY_PAD_CONSTANT : ASSAY_PAD_EDGE;
        if (upto(r, 3) == 0) {
            a->pad.has_code = true;
            a->pad.code = test_between(r, 0, 127);
        }
        break;
    case ASSAY_OP_TILE:
        fill(&a->tile.repeats, x->rank, 1);
        a->tile.repeats.v[upto(r, x->rank - 1)] = 2;
        break;
    case ASSAY_OP_REVERSE:
        fill(&a->axes.axes, 1, upto(r, x->rank - 1));
        break;
    default:
        break;
    }
}

void test_random_codes_attributes(test_rng *r, assay_op op, const assay_type *x, assay_attrs *a)
{
    assay_attrs_defaults(assay_op_get(op)->attrs, a);
    switch (assay_op_get(op)->attrs) {
    case ASSAY_ATTRS_pool:
        draw_window(r, &a->pool);
        break;
    case ASSAY_ATTRS_axis:
    case ASSAY_ATTRS_split:
        a->axis.axis = upto(r, x->rank - 1);
        break;
    case ASSAY_ATTRS_gather:
        a->gather.axis = upto(r, x->rank - 1);
        break;
    case ASSAY_ATTRS_reduce:
        fill(&a->reduce.axes, 1, upto(r, x->rank - 1));
        break;
    case ASSAY_ATTRS_clip:
        a->clip.lo = (float)test_between(r, -5, 0);
        a->clip.hi = (float)test_between(r, 1, 9);
        break;
    case ASSAY_ATTRS_lrn:
        a->lrn.size = 3;
        a->lrn.alpha = 0.01F;
        a->lrn.layout = draw_layout(r);
        break;
    case ASSAY_ATTRS_layout:
        a->layout.layout = draw_layout(r);
        break;
    case ASSAY_ATTRS_matmul:
        a->matmul.transpose_b = upto(r, 1);
        break;
    case ASSAY_ATTRS_resize:
        a->resize.layout = draw_layout(r);
        a->resize.size = (assay_list){4, {x->dim[0], x->dim[1], x->dim[2], x->dim[3]}};
        for (int i = 0, first = a->resize.layout == ASSAY_LAYOUT_NHWC ? 1 : 2; i < 2; i++)
            a->resize.size.v[first + i] = test_between(r, 1, 2 * x->dim[first + i]);
        a->resize.mode = upto(r, 1) ? ASSAY_RESIZE_NEAREST : ASSAY_RESIZE_LINEAR;
        a->resize.coordinate = upto(r, 1) ? ASSAY_COORD_HALF_PIXEL : ASSAY_COORD_ALIGN_CORNERS;
        break;
    default:
        draw_movement(r, op, x, a);
    }
}
