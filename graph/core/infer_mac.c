/* Shape rules of the ops of matrix units: scales of blocks, patterns, their products, patches. */
#include "graph/core/infer.h"

static assay_elem elem_of(int float_elem)
{
    return float_elem == ASSAY_FLOAT_F32
               ? assay_f32()
               : assay_small_float((assay_kind)(ASSAY_KIND_BOOL + float_elem));
}

static bool is_float(const assay_type *t)
{
    return t->elem.kind == ASSAY_KIND_F32 || assay_is_small_float(t->elem);
}

/* Blocks of `block` elements along each axis of x: how many, into rank and dimensions of *out. */
static assay_status blocks_of(const assay_inference *c, const char *name, const assay_list *block,
                              const assay_type *x, assay_type *out)
{
    assay_status s = assay_infer_list(c, name, block, x->rank, 1, INT64_MAX);
    out->rank = x->rank;
    for (int i = 0; !s && i < x->rank; ++i)
        out->dim[i] = x->dim[i] / block->v[i] + (x->dim[i] % block->v[i] != 0);
    return s;
}

/* Input i holds floats, one per block of x. */
static assay_status check_scales(const assay_inference *c, int i, const char *name,
                                 const assay_list *block, const assay_type *x)
{
    const assay_type *scale = assay_infer_in(c, i);
    assay_type expected = {.rank = 0};
    char found[128], wanted[128];
    const assay_status s = blocks_of(c, name, block, x, &expected);
    if (s)
        return s;
    if (!is_float(scale) || !assay_shape_equal(scale, &expected))
        return assay_infer_fail(c, "scales of %s, expected floats of %s",
                                assay_shape_print(scale, found, sizeof found),
                                assay_shape_print(&expected, wanted, sizeof wanted));
    return ASSAY_OK;
}

/* Input i, where present, is one f32. */
static assay_status check_second(const assay_inference *c, int i)
{
    const assay_type *t = assay_infer_in(c, i);
    if (t && (t->elem.kind != ASSAY_KIND_F32 || assay_shape_count(t) != 1))
        return assay_infer_fail(c, "input %d is not a single f32", i);
    return ASSAY_OK;
}

static assay_status expect_f32(const assay_inference *c)
{
    return c->x->elem.kind == ASSAY_KIND_F32 ? ASSAY_OK
                                             : assay_infer_fail(c, "the input is not f32");
}

assay_status assay_shape_block_scale(const assay_inference *c)
{
    const assay_attr_block_scale *a = &c->n->attr.block_scale;
    assay_status s = expect_f32(c);
    if (!s && a->elements == ASSAY_FLOAT_F8E8M0)
        s = assay_infer_fail(c, "f8e8m0 is a format of scales, not of elements");
    if (!s && a->to == ASSAY_FLOAT_INT8MX)
        s = assay_infer_fail(c, "int8mx is a format of elements, not of scales");
    if (!s && (a->rule != ASSAY_SCALE_AMAX) != (a->to == ASSAY_FLOAT_F8E8M0))
        s = assay_infer_fail(
            c, "rule amax takes scales that are not powers of two, the other rules take f8e8m0");
    if (!s)
        s = check_second(c, 1);
    c->out->elem = elem_of(a->to);
    return s ? s : blocks_of(c, "block", &a->block, c->x, c->out);
}

assay_status assay_shape_float_encode(const assay_inference *c)
{
    const assay_attr_float_encode *a = &c->n->attr.float_encode;
    assay_status s = expect_f32(c);
    if (!s && a->to == ASSAY_FLOAT_F32)
        s = assay_infer_fail(c, "elements are small floats");
    if (!s)
        s = check_scales(c, 1, "block", &a->block, c->x);
    if (!s)
        s = check_second(c, 2);
    assay_infer_shape(c->out, c->x);
    c->out->elem = elem_of(a->to);
    return s;
}

assay_status assay_shape_float_decode(const assay_inference *c)
{
    assay_status s = !assay_is_small_float(c->x->elem)
                         ? assay_infer_fail(c, "the input is not a small float")
                         : check_scales(c, 1, "block", &c->n->attr.float_decode.block, c->x);
    if (!s)
        s = check_second(c, 2);
    assay_infer_shape(c->out, c->x);
    c->out->elem = assay_f32();
    return s;
}

/* A block of an operand may take any of its rows, but lies in one matrix or takes all of them. */
assay_status assay_shape_scaled_matmul(const assay_inference *c)
{
    const assay_attr_scaled_matmul *m = &c->n->attr.scaled_matmul;
    const assay_type *a = c->x, *b = assay_infer_in(c, 1);
    assay_type batch_a = *a, batch_b = *b;
    char sa[128], sb[128];
    assay_status s;

    if (!is_float(a) || !is_float(b))
        return assay_infer_fail(c, "the operands are not floats");
    if (a->rank < 2 || b->rank < 2 || a->dim[a->rank - 1] != b->dim[b->rank - 1])
        return assay_infer_fail(c, "operands %s and %s: expected [..,M,K] and [..,N,K]",
                                assay_shape_print(a, sa, sizeof sa),
                                assay_shape_print(b, sb, sizeof sb));
    if ((s = check_scales(c, 2, "a_block", &m->a_block, a)) ||
        (s = check_scales(c, 3, "b_block", &m->b_block, b)) || (s = check_second(c, 4)) ||
        (s = check_second(c, 5)))
        return s;
    batch_a.rank -= 2;
    batch_b.rank -= 2;
    if ((s = assay_infer_broadcast(c, &batch_a, &batch_b, c->out)))
        return s;
    if (c->out->rank + 2 > ASSAY_MAX_RANK)
        return assay_infer_fail(c, "more than %d dimensions", ASSAY_MAX_RANK);
    c->out->dim[c->out->rank++] = a->dim[a->rank - 2];
    c->out->dim[c->out->rank++] = b->dim[b->rank - 2];
    c->out->elem = assay_f32();
    return assay_infer_vector(c, 6, "bias", b->dim[b->rank - 2]);
}

assay_status assay_shape_patches(const assay_inference *c)
{
    const assay_attr_conv *a = &c->n->attr.conv;
    const assay_type *x = c->x;
    const int spatial = x->rank - 2, first = a->layout == ASSAY_LAYOUT_NHWC ? 1 : 2;
    int64_t windows = 1, cells = 1;
    assay_status s;

    if (!is_float(x))
        return assay_infer_fail(
            c,
            "the input does not hold floats, which it must, as elements beyond its borders are 0");
    if (spatial < 1 || spatial > 3)
        return assay_infer_fail(c, "the input has %d dimensions, expected 3 to 5", x->rank);
    const int64_t channels = x->dim[a->layout == ASSAY_LAYOUT_NHWC ? x->rank - 1 : 1];
    if ((s = assay_infer_list(c, "kernel", &a->kernel, spatial, 1, INT32_MAX)) ||
        (s = assay_infer_list(c, "stride", &a->stride, spatial, 1, INT32_MAX)) ||
        (s = assay_infer_list(c, "dilation", &a->dilation, spatial, 1, INT32_MAX)) ||
        (s = assay_infer_list(c, "pad_begin", &a->pad_begin, spatial, 0, INT32_MAX)) ||
        (s = assay_infer_list(c, "pad_end", &a->pad_end, spatial, 0, INT32_MAX)))
        return s;
    if (a->group < 1 || channels % a->group != 0)
        return assay_infer_fail(c, "%lld channels are not divisible into %lld groups",
                                (long long)channels, (long long)a->group);
    for (int i = 0; i < spatial; ++i) {
        const int64_t reach = (a->kernel.v[i] - 1) * a->dilation.v[i] + 1;
        const int64_t room = x->dim[first + i] + a->pad_begin.v[i] + a->pad_end.v[i] - reach;
        if (room < 0 || __builtin_mul_overflow(windows, room / a->stride.v[i] + 1, &windows) ||
            __builtin_mul_overflow(cells, a->kernel.v[i], &cells))
            return assay_infer_fail(c, "the kernel does not fit into axis %d", first + i);
    }
    c->out->rank = 4;
    c->out->dim[0] = x->dim[0];
    c->out->dim[1] = a->group;
    c->out->dim[2] = windows;
    if (__builtin_mul_overflow(cells, channels / a->group, &c->out->dim[3]))
        return assay_infer_fail(c, "the output's extent overflows");
    return ASSAY_OK;
}
