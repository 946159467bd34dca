/* DeformConv: a convolution whose taps are read beside their places, each moved by an offset of its
 * own and, where there is a mask, weighted by it.
 *
 * What grid_sample reads at the taps' places is [N, C*taps, rows, columns], and a convolution of
 * kernel 1 adds it up. A place p of an axis of L pixels is (2p + 1) / L - 1 there. Source:
 * Operators.md of github.com/onnx/onnx. */
#include "graph/onnx/op/op.h"

#define MAX_COLUMNS (INT64_C(1) << 40) /* channels times taps */

typedef struct deform {
    onnx_node *n;
    assay_attr_conv a;
    assay_type x, w, offset;
    int64_t groups; /* of offsets */
    int64_t taps, out[2];
} deform;

static bool begin(deform *d, onnx_node *n)
{
    *d = (deform){.n = n,
                  .x = onnx_type(n, onnx_in(n, 0)),
                  .w = onnx_type(n, onnx_in(n, 1)),
                  .offset = onnx_type(n, onnx_in(n, 2)),
                  .groups = onnx_int(n, "offset_group", 1)};
    if (n->status)
        return false;
    if (d->x.rank != 4 || d->w.rank != 4 || d->offset.rank != 4)
        return onnx_refuse(
            n,
            "input of rank %d, weights of rank %d and offsets of rank %d; only rank 4 is supported",
            d->x.rank, d->w.rank, d->offset.rank);
    d->a = onnx_conv_attrs(n, &d->x, &d->w).conv;
    d->taps = d->w.dim[2] * d->w.dim[3];
    if (!n->status && (d->taps < 1 || d->taps > MAX_COLUMNS / (d->x.dim[1] + 1)))
        return onnx_refuse(n, "a kernel of %lld elements", (long long)d->taps);
    for (int i = 0; i < 2 && !n->status; i++)
        d->out[i] = (d->x.dim[i + 2] + d->a.pad_begin.v[i] + d->a.pad_end.v[i] -
                     d->a.dilation.v[i] * (d->w.dim[i + 2] - 1) - 1) /
                        d->a.stride.v[i] +
                    1;
    if (!n->status &&
        (d->groups < 1 || d->groups > d->x.dim[1] || d->x.dim[1] % d->groups != 0 ||
         d->offset.dim[0] != d->x.dim[0] || d->offset.dim[1] != 2 * d->groups * d->taps ||
         d->offset.dim[2] != d->out[0] || d->offset.dim[3] != d->out[1] || d->out[0] < 1 ||
         d->out[1] < 1))
        onnx_fail(n, ASSAY_ERR_INPUT,
                  "expected offsets of shape [N, 2 * groups * taps, output height, output width]");
    return !n->status;
}

/* [taps, rows, columns, 2]: where the taps are without offsets, in the coordinates of a grid. */
static onnx_value *unmoved(const deform *d)
{
    const int64_t dim[4] = {d->taps, d->out[0], d->out[1], 2};
    onnx_const *c = onnx_new_const(d->n->im, ONNX_FLOAT, 4, dim);

    for (int64_t i = 0; c && i < c->count; i++) {
        const int axis = (int)(i % 2);
        const int64_t out = axis ? i / 2 % dim[2] : i / 2 / dim[2] % dim[1];
        const int64_t tap = i / (2 * dim[1] * dim[2]);
        const int64_t k = axis ? tap % d->w.dim[3] : tap / d->w.dim[3];
        const int64_t p =
            out * d->a.stride.v[axis] + k * d->a.dilation.v[axis] - d->a.pad_begin.v[axis];
        onnx_set_real(c, i, (2 * (double)p + 1) / (double)d->x.dim[axis + 2] - 1);
    }
    return c ? onnx_constant(d->n, c, "taps") : onnx_no_memory(d->n);
}

/* [N*groups, taps*rows, columns, 2] of the offsets, columns before rows as a grid has them. */
static onnx_value *grid_of(const deform *d)
{
    static const int64_t perm[5] = {0, 1, 3, 4, 2}, two = 2;
    static const assay_attrs last = {.axes = {.axes = {.n = 1, .v = {4}}}};
    const int64_t images = d->x.dim[0] * d->groups;
    const int64_t apart[5] = {images, d->taps, 2, d->out[0], d->out[1]};
    const int64_t grid[4] = {images, d->taps * d->out[0], d->out[1], 2};
    onnx_const *c = onnx_new_const(d->n->im, ONNX_FLOAT, 1, &two);
    onnx_value *y = onnx_reshaped(d->n, onnx_in(d->n, 2), 5, apart, "offsets");

    for (int axis = 0; c && axis < 2; axis++)
        onnx_set_real(c, axis, 2 / (double)d->x.dim[axis + 2]);
    y = onnx_transposed(d->n, y, perm, "turned");
    y = onnx_op2(d->n, ASSAY_OP_MUL, NULL, y,
                 c ? onnx_constant(d->n, c, "pixel") : onnx_no_memory(d->n), "scaled");
    y = onnx_op2(d->n, ASSAY_OP_ADD, NULL, y, unmoved(d), "moved");
    return onnx_reshaped(d->n, onnx_op1(d->n, ASSAY_OP_REVERSE, &last, y, "places"), 4, grid,
                         "grid");
}

/* What is read at the taps: [N, C*taps, rows, columns]. */
static onnx_value *taps_of(const deform *d)
{
    static const assay_attrs linear = {.grid = {.mode = ASSAY_RESIZE_LINEAR}};
    const int64_t images = d->x.dim[0] * d->groups, channels = d->x.dim[1] / d->groups;
    const int64_t own[4] = {images, channels, d->x.dim[2], d->x.dim[3]};
    const int64_t cells = d->out[0] * d->out[1], each[4] = {images, channels, d->taps, cells};
    const int64_t mask[4] = {images, 1, d->taps, cells};
    const int64_t flat[4] = {d->x.dim[0], d->x.dim[1] * d->taps, d->out[0], d->out[1]};
    onnx_value *y = onnx_reshaped(d->n, onnx_in(d->n, 0), 4, own, "images");

    y = onnx_op2(d->n, ASSAY_OP_GRID_SAMPLE, &linear, y, grid_of(d), "read");
    if (onnx_has(d->n, 4)) {
        y = onnx_reshaped(d->n, y, 4, each, "read");
        y = onnx_op2(d->n, ASSAY_OP_MUL, NULL, y,
                     onnx_reshaped(d->n, onnx_in(d->n, 4), 4, mask, "mask"), "masked");
    }
    return onnx_reshaped(d->n, y, 4, flat, "columns");
}

void onnx_import_deform_conv(onnx_node *n)
{
    deform d;

    if (!begin(&d, n))
        return;
    const int64_t weights[4] = {d.w.dim[0], d.w.dim[1] * d.taps, 1, 1};
    const assay_attrs a = {.conv = {.layout = ASSAY_LAYOUT_NCHW, .group = d.a.group}};
    onnx_value *in[3] = {taps_of(&d), onnx_reshaped(n, onnx_in(n, 1), 4, weights, "weights"),
                         onnx_in(n, 3)};
    onnx_op(n, ASSAY_OP_CONV, &a, in, onnx_has(n, 3) ? 3 : 2, NULL);
}
