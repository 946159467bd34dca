/* Shape rules of the ops that move elements. */
#include <math.h>

#include "graph/core/infer.h"

#define EXTENT_MAX ((int64_t)1 << 40)

/* Takes rank and dimensions from an attribute. */
static assay_status take_shape(const assay_inference *c, const assay_list *shape, assay_type *out)
{
    assay_status s;
    if (shape->n > ASSAY_MAX_RANK)
        return assay_infer_fail(c, "shape has %d dimensions, at most %d are supported", shape->n,
                                ASSAY_MAX_RANK);
    if ((s = assay_infer_list(c, "shape", shape, shape->n, 0, EXTENT_MAX)))
        return s;
    out->rank = shape->n;
    for (int i = 0; i < shape->n; ++i)
        out->dim[i] = shape->v[i];
    return ASSAY_OK;
}

assay_status assay_shape_reshape(const assay_inference *c)
{
    char from[128], to[128];
    assay_status s = take_shape(c, &c->n->attr.shape.shape, c->out);
    if (!s)
        s = assay_infer_size(c, c->out);
    if (!s && assay_shape_count(c->out) != assay_shape_count(c->x))
        s = assay_infer_fail(c, "cannot reshape %s to %s",
                             assay_shape_print(c->x, from, sizeof from),
                             assay_shape_print(c->out, to, sizeof to));
    return s;
}

assay_status assay_shape_expand(const assay_inference *c)
{
    assay_type to = {0};
    assay_status s = take_shape(c, &c->n->attr.shape.shape, &to);
    return s ? s : assay_infer_broadcast(c, c->x, &to, c->out);
}

assay_status assay_shape_transpose(const assay_inference *c)
{
    const assay_list *perm = &c->n->attr.perm.perm;
    assay_status s;
    if ((s = assay_infer_list(c, "perm", perm, c->x->rank, 0, c->x->rank - 1)) ||
        (s = assay_infer_axes(c, perm)))
        return s;
    c->out->rank = c->x->rank;
    for (int i = 0; i < perm->n; ++i)
        c->out->dim[i] = c->x->dim[perm->v[i]];
    return ASSAY_OK;
}

/* Joins codes as they are: all inputs are of one kind and share their parameters. */
assay_status assay_shape_concat(const assay_inference *c)
{
    int64_t axis = c->n->attr.axis.axis;
    assay_status s;
    if ((s = assay_infer_axis(c, axis)))
        return s;
    assay_infer_shape(c->out, c->x);
    for (int i = 1; i < c->n->n_in; ++i) {
        const assay_type *t = assay_infer_in(c, i);
        bool fits = t->rank == c->x->rank;
        for (int k = 0; fits && k < t->rank; ++k)
            fits = k == axis || t->dim[k] == c->x->dim[k];
        if (!fits) {
            char sx[128], st[128];
            return assay_infer_fail(c,
                                    "input %d is %s and input 0 is %s: only axis %lld may differ",
                                    i, assay_shape_print(t, st, sizeof st),
                                    assay_shape_print(c->x, sx, sizeof sx), (long long)axis);
        }
        if (!assay_elem_equal(t->elem, c->x->elem) || !assay_qparams_equal(&t->q, &c->x->q))
            return assay_infer_fail(c, "kind or parameters of input %d differ from the first's", i);
        if (__builtin_add_overflow(c->out->dim[axis], t->dim[axis], &c->out->dim[axis]))
            return assay_infer_fail(c, "the output's extent overflows");
    }
    return ASSAY_OK;
}

/* Sizes may stay empty when there are more outputs than a list holds: equal parts then. */
assay_status assay_shape_split(const assay_inference *c)
{
    const assay_attr_split *a = &c->n->attr.split;
    int64_t sum = 0, extent;
    assay_status s = assay_infer_axis(c, a->axis);
    if (s)
        return s;
    extent = c->x->dim[a->axis];
    if (a->sizes.n == 0 && extent % c->n->n_out != 0)
        return assay_infer_fail(c, "extent %lld is not divisible into %d equal parts",
                                (long long)extent, c->n->n_out);
    if (a->sizes.n != 0 &&
        (s = assay_infer_list(c, "sizes", &a->sizes, c->n->n_out, 0, EXTENT_MAX)))
        return s;
    for (int i = 0; i < c->n->n_out; ++i) {
        assay_infer_shape(&c->out[i], c->x);
        c->out[i].dim[a->axis] = a->sizes.n ? a->sizes.v[i] : extent / c->n->n_out;
        sum += c->out[i].dim[a->axis];
    }
    if (sum != extent)
        return assay_infer_fail(c, "sizes add up to %lld, the axis has %lld", (long long)sum,
                                (long long)extent);
    return ASSAY_OK;
}

assay_status assay_shape_slice(const assay_inference *c)
{
    const assay_attr_slice *a = &c->n->attr.slice;
    int rank = c->x->rank;
    assay_status s;
    if ((s = assay_infer_list(c, "begin", &a->begin, rank, 0, EXTENT_MAX)) ||
        (s = assay_infer_list(c, "step", &a->step, rank, -EXTENT_MAX, EXTENT_MAX)) ||
        (s = assay_infer_list(c, "size", &a->size, rank, 0, EXTENT_MAX)))
        return s;
    c->out->rank = rank;
    for (int i = 0; i < rank; ++i) {
        int64_t span, last;
        if (a->step.v[i] == 0)
            return assay_infer_fail(c, "the step of axis %d is zero", i);
        c->out->dim[i] = a->size.v[i];
        if (a->size.v[i] == 0)
            continue;
        if (__builtin_mul_overflow(a->size.v[i] - 1, a->step.v[i], &span) ||
            __builtin_add_overflow(a->begin.v[i], span, &last) || a->begin.v[i] >= c->x->dim[i] ||
            last < 0 || last >= c->x->dim[i])
            return assay_infer_fail(c,
                                    "axis %d has extent %lld: %lld elements from index %lld in "
                                    "steps of %lld run outside it",
                                    i, (long long)c->x->dim[i], (long long)a->size.v[i],
                                    (long long)a->begin.v[i], (long long)a->step.v[i]);
    }
    return ASSAY_OK;
}

assay_status assay_shape_pad(const assay_inference *c)
{
    const assay_attr_pad *a = &c->n->attr.pad;
    int rank = c->x->rank;
    assay_status s;
    if ((s = assay_infer_list(c, "begin", &a->begin, rank, 0, EXTENT_MAX)) ||
        (s = assay_infer_list(c, "end", &a->end, rank, 0, EXTENT_MAX)))
        return s;
    if (a->has_code && (c->x->elem.kind != ASSAY_KIND_INT || a->code < assay_elem_min(c->x->elem) ||
                        a->code > assay_elem_max(c->x->elem)))
        return assay_infer_fail(c, "the fill %lld is not a code of the input", (long long)a->code);
    c->out->rank = rank;
    for (int i = 0; i < rank; ++i) {
        int64_t extent = c->x->dim[i], max = INT64_MAX;
        int64_t widest = a->begin.v[i] > a->end.v[i] ? a->begin.v[i] : a->end.v[i];
        if (a->mode == ASSAY_PAD_REFLECT) /* the edge is not repeated */
            max = extent ? extent - 1 : 0;
        else if (a->mode == ASSAY_PAD_SYMMETRIC)
            max = extent;
        else if (a->mode != ASSAY_PAD_CONSTANT && extent == 0)
            max = 0;
        if (widest > max)
            return assay_infer_fail(c,
                                    "axis %d of extent %lld is padded by %lld, more than the %lld "
                                    "elements that it can repeat",
                                    i, (long long)extent, (long long)widest, (long long)max);
        c->out->dim[i] = extent + a->begin.v[i] + a->end.v[i];
    }
    return ASSAY_OK;
}

assay_status assay_shape_tile(const assay_inference *c)
{
    const assay_list *repeats = &c->n->attr.tile.repeats;
    assay_status s = assay_infer_list(c, "repeats", repeats, c->x->rank, 0, EXTENT_MAX);
    c->out->rank = c->x->rank;
    for (int i = 0; !s && i < c->x->rank; ++i)
        if (__builtin_mul_overflow(c->x->dim[i], repeats->v[i], &c->out->dim[i]))
            s = assay_infer_fail(c, "the output's extent overflows");
    return s;
}

assay_status assay_shape_reverse(const assay_inference *c)
{
    assay_infer_shape(c->out, c->x);
    return assay_infer_axes(c, &c->n->attr.axes.axes);
}

/* The axes of height, width and channels, after checks of rank and block. */
static assay_status block_axes(const assay_inference *c, int *h, int *w, int *channels)
{
    const assay_attr_block *a = &c->n->attr.block;
    bool nchw = a->layout == ASSAY_LAYOUT_NCHW;
    if (c->x->rank != 4)
        return assay_infer_fail(c, "input has rank %d, expected 4", c->x->rank);
    if (a->block < 1 || a->block > 65536)
        return assay_infer_fail(c, "block is %lld, expected 1 to 65536", (long long)a->block);
    *h = nchw ? 2 : 1;
    *w = nchw ? 3 : 2;
    *channels = nchw ? 1 : 3;
    assay_infer_shape(c->out, c->x);
    return ASSAY_OK;
}

assay_status assay_shape_depth_to_space(const assay_inference *c)
{
    int64_t block = c->n->attr.block.block, *d = c->out->dim;
    int h = 0, w = 0, channels = 0; /* gcc -O3 does not see that they are set */
    assay_status s = block_axes(c, &h, &w, &channels);
    if (s)
        return s;
    if (d[channels] % (block * block) != 0)
        return assay_infer_fail(c, "%lld channels are not divisible by %lld",
                                (long long)d[channels], (long long)(block * block));
    d[channels] /= block * block;
    if (__builtin_mul_overflow(d[h], block, &d[h]) || __builtin_mul_overflow(d[w], block, &d[w]))
        return assay_infer_fail(c, "the output's extent overflows");
    return ASSAY_OK;
}

assay_status assay_shape_space_to_depth(const assay_inference *c)
{
    int64_t block = c->n->attr.block.block, *d = c->out->dim;
    int h = 0, w = 0, channels = 0; /* gcc -O3 does not see that they are set */
    assay_status s = block_axes(c, &h, &w, &channels);
    if (s)
        return s;
    if (d[h] % block != 0 || d[w] % block != 0)
        return assay_infer_fail(c, "extents %lld and %lld are not divisible by %lld",
                                (long long)d[h], (long long)d[w], (long long)block);
    d[h] /= block;
    d[w] /= block;
    if (__builtin_mul_overflow(d[channels], block * block, &d[channels]))
        return assay_infer_fail(c, "the output's extent overflows");
    return ASSAY_OK;
}

assay_status assay_shape_resize(const assay_inference *c)
{
    const assay_attr_resize *a = &c->n->attr.resize;
    assay_status s = assay_infer_list(c, "size", &a->size, c->x->rank, 1, EXTENT_MAX);
    if (s)
        return s;
    if (a->scales.n != 0 && a->scales.n != c->x->rank)
        return assay_infer_fail(c, "scales has %d entries, expected %d or none", a->scales.n,
                                c->x->rank);
    for (int i = 0; i < a->scales.n; ++i)
        if (!(a->scales.v[i] > 0 && isfinite(a->scales.v[i])))
            return assay_infer_fail(c, "a scale is %g, expected finite and above 0",
                                    (double)a->scales.v[i]);
    c->out->rank = c->x->rank;
    for (int i = 0; i < c->x->rank; ++i) {
        if (c->x->dim[i] < 1)
            return assay_infer_fail(c, "axis %d is empty", i);
        c->out->dim[i] = a->size.v[i];
    }
    return ASSAY_OK;
}

static assay_status check_variable(const assay_inference *c)
{
    const assay_value *v = assay_node_in(c->g, c->n, 0);
    if (!v->is_variable)
        return assay_infer_fail(c, "input 0 '%.200s' is not a variable", v->name);
    assay_infer_shape(c->out, c->x);
    c->out->q = c->x->q;
    return ASSAY_OK;
}

assay_status assay_shape_read(const assay_inference *c)
{
    return check_variable(c);
}

assay_status assay_shape_assign(const assay_inference *c)
{
    const assay_type *t = assay_infer_in(c, 1);
    assay_status s = check_variable(c);
    if (!s && (!assay_shape_equal(t, c->x) || !assay_elem_equal(t->elem, c->x->elem) ||
               !assay_qparams_equal(&t->q, &c->x->q)))
        s = assay_infer_fail(c, "the value's type differs from the variable's");
    return s;
}
