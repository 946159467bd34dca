/* Col2Im: blocks of an image laid where they were cut out, overlaps added up. Every element of
 * every block has a place in the padded image that is known at import, so that it is a sum at
 * places. */
#include <string.h>

#include "graph/onnx/op/op.h"

#define MAX_AXES (ASSAY_MAX_RANK - 2)

/* Along each axis: of the image, of a block, and of the positions of blocks. */
typedef struct folding {
    int axes;
    assay_list image, block, stride, dilation, begin;
    int64_t padded[MAX_AXES], steps[MAX_AXES];
    int64_t block_count, step_count, padded_count; /* products */
} folding;

/* The attribute, or n times `value`. */
static void ints_or(onnx_node *node, const char *name, int n, int64_t value, assay_list *l)
{
    if (onnx_ints(node, name, l))
        return;
    l->n = n;
    for (int i = 0; i < n; i++)
        l->v[i] = value;
}

static bool is_within(int64_t v, int64_t least)
{
    return v >= least && v <= INT32_MAX;
}

/* Whether all numbers of axis i are extents, and a block lies within the padded image. */
static bool fits_along(const folding *f, const assay_list *pads, int i)
{
    const int64_t before = pads->v[i], behind = pads->v[f->axes + i];
    if (!is_within(f->image.v[i], 1) || !is_within(f->block.v[i], 1) ||
        !is_within(f->stride.v[i], 1) || !is_within(f->dilation.v[i], 1) || !is_within(before, 0) ||
        !is_within(behind, 0))
        return false;
    return is_within(f->image.v[i] + before + behind, f->dilation.v[i] * (f->block.v[i] - 1) + 1);
}

static bool read_attributes(onnx_node *n, folding *f)
{
    assay_list pads;
    const int axes = f->axes;

    ints_or(n, "strides", axes, 1, &f->stride);
    ints_or(n, "dilations", axes, 1, &f->dilation);
    ints_or(n, "pads", 2 * axes, 0, &pads);
    if (!n->status &&
        (f->block.n != axes || f->stride.n != axes || f->dilation.n != axes || pads.n != 2 * axes))
        onnx_fail(n, ASSAY_ERR_INPUT,
                  "the image has %d axes; expected block_shape, strides and dilations of that "
                  "length, pads of twice it",
                  axes);
    f->begin.n = axes;
    f->block_count = f->step_count = f->padded_count = 1;
    for (int i = 0; i < axes && !n->status; i++) {
        if (!fits_along(f, &pads, i))
            return onnx_fail(n, ASSAY_ERR_INPUT, "no block fits along axis %d", i);
        const int64_t reach = f->dilation.v[i] * (f->block.v[i] - 1) + 1;
        f->begin.v[i] = pads.v[i];
        f->padded[i] = f->image.v[i] + pads.v[i] + pads.v[axes + i];
        f->steps[i] = (f->padded[i] - reach) / f->stride.v[i] + 1;
        f->block_count *= f->block.v[i];
        f->step_count *= f->steps[i];
        f->padded_count *= f->padded[i];
        if (f->padded_count > INT32_MAX || f->block_count > INT32_MAX)
            return onnx_refuse(n, "an image of more than 2^31 elements");
    }
    return !n->status;
}

/* [block elements * blocks, 1]: where each lies in the padded image. */
static onnx_value *places(onnx_node *n, const folding *f)
{
    const int64_t dim[2] = {f->block_count * f->step_count, 1};
    onnx_const *c = onnx_new_const(n->im, ONNX_INT64, 2, dim);

    if (!c)
        return onnx_no_memory(n);
    for (int64_t i = 0; i < dim[0]; i++) {
        int64_t element = i / f->step_count, step = i % f->step_count, place = 0, stride = 1;
        for (int a = f->axes - 1; a >= 0; a--) {
            const int64_t at =
                step % f->steps[a] * f->stride.v[a] + element % f->block.v[a] * f->dilation.v[a];
            place += at * stride;
            stride *= f->padded[a];
            step /= f->steps[a];
            element /= f->block.v[a];
        }
        onnx_set_int(c, i, place);
    }
    return onnx_constant(n, c, "places");
}

/* From [places of the padded image, batch * channels] to the image with batch and channels in
 * front. */
static void cut_out(onnx_node *n, const folding *f, onnx_value *sums, int64_t batch,
                    int64_t channels)
{
    int64_t dim[ASSAY_MAX_RANK], perm[ASSAY_MAX_RANK];
    const int axes = f->axes;
    assay_attrs a = {.slice = {.begin = f->begin, .size = f->image}};

    memcpy(dim, f->padded, (size_t)axes * sizeof *dim);
    dim[axes] = a.slice.size.v[axes] = batch;
    dim[axes + 1] = a.slice.size.v[axes + 1] = channels;
    a.slice.begin.v[axes] = a.slice.begin.v[axes + 1] = 0;
    a.slice.begin.n = a.slice.size.n = axes + 2;
    for (int i = 0; i < axes + 2; i++)
        perm[i] = i < 2 ? axes + i : i - 2;
    onnx_value *padded = onnx_reshaped(n, sums, axes + 2, dim, "padded");
    onnx_transposed(n, onnx_op1(n, ASSAY_OP_SLICE, &a, padded, "image"), perm, NULL);
}

void onnx_import_col2im(onnx_node *n)
{
    static const int64_t perm[4] = {2, 3, 0, 1};
    const assay_attrs add = {.scatter = {.reduction = ASSAY_REDUCTION_ADD}};
    onnx_value *x = onnx_in(n, 0);
    const assay_type t = onnx_type(n, x);
    folding f = {0};

    if (n->status || !onnx_int_list(n, 1, "image_shape", &f.image) ||
        !onnx_int_list(n, 2, "block_shape", &f.block))
        return;
    f.axes = f.image.n;
    if (f.axes < 1 || f.axes > MAX_AXES)
        onnx_refuse(n, "an image of %d axes", f.axes);
    if (n->status || !read_attributes(n, &f))
        return;
    if (t.rank != 3 || t.dim[1] % f.block_count != 0 || t.dim[2] != f.step_count) {
        onnx_fail(
            n, ASSAY_ERR_INPUT,
            "the input does not have %lld elements per block for each of %lld block positions",
            (long long)f.block_count, (long long)f.step_count);
        return;
    }
    const int64_t channels = t.dim[1] / f.block_count;
    const int64_t blocks[4] = {t.dim[0], channels, f.block_count, f.step_count};
    const int64_t rows[2] = {f.block_count * f.step_count, t.dim[0] * channels};
    const int64_t whole[2] = {f.padded_count, rows[1]};
    onnx_value *updates =
        onnx_transposed(n, onnx_reshaped(n, x, 4, blocks, "blocks"), perm, "turned");
    onnx_const *zeros = n->status ? NULL : onnx_new_const(n->im, onnx_elem_dtype(t.elem), 2, whole);
    if (!n->status && !zeros)
        onnx_no_memory(n);
    if (n->status)
        return;
    onnx_value *in[3] = {onnx_constant(n, zeros, "zeros"), places(n, &f),
                         onnx_reshaped(n, updates, 2, rows, "rows")};
    cut_out(n, &f, onnx_op(n, ASSAY_OP_SCATTER_REDUCE, &add, in, 3, "sums"), t.dim[0], channels);
}
