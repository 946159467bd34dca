/* Images read at places that a network computes: GridSample, AffineGrid, which makes such places,
 * and RoiAlign. */
#include <string.h>

#include "graph/onnx/op/op.h"

void onnx_import_grid_sample(onnx_node *n)
{
    static const char *const modes[] = {
        "nearest",  "linear",  "cubic", /* as ours, since opset 20 */
        "bilinear", "bicubic", NULL};
    static const int mode[] = {ASSAY_RESIZE_NEAREST, ASSAY_RESIZE_LINEAR, ASSAY_RESIZE_CUBIC,
                               ASSAY_RESIZE_LINEAR, ASSAY_RESIZE_CUBIC};
    static const char *const paddings[] = {"zeros", "border", "reflection", NULL};
    const int choice = onnx_choice(n, "mode", modes, 1),
              padding = onnx_choice(n, "padding_mode", paddings, 0);

    if (n->status)
        return;
    const assay_attrs a = {.grid = {.mode = mode[choice],
                                    .padding = padding,
                                    .align_corners = onnx_int(n, "align_corners", 0) != 0}};
    onnx_op2(n, ASSAY_OP_GRID_SAMPLE, &a, onnx_in(n, 0), onnx_in(n, 1), NULL);
}

/* Greatest values are refused: ONNX Runtime takes the greatest of the weighted neighbours, which is
 * no sample of the image. */
void onnx_import_roi_align(onnx_node *n)
{
    static const char *const modes[] = {"avg", NULL};
    static const char *const coordinates[] = {"output_half_pixel", "half_pixel", NULL};
    const int aligned =
        onnx_choice(n, "coordinate_transformation_mode", coordinates, n->opset >= 16);
    onnx_value *in[3] = {onnx_in(n, 0), onnx_in(n, 1), onnx_in(n, 2)};

    onnx_choice(n, "mode", modes, 0);
    if (n->status)
        return;
    const assay_attrs a = {.roi = {.height = onnx_int(n, "output_height", 1),
                                   .width = onnx_int(n, "output_width", 1),
                                   .ratio = onnx_int(n, "sampling_ratio", 0),
                                   .scale = onnx_float(n, "spatial_scale", 1),
                                   .aligned = aligned != 0}};
    onnx_op(n, ASSAY_OP_ROI_ALIGN, &a, in, 3, NULL);
}

/* Where sample i of an axis of `extent` lies between -1 and 1. */
static double coordinate(int64_t i, int64_t extent, bool align_corners)
{
    if (align_corners)
        return extent > 1 ? 2 * (double)i / (double)(extent - 1) - 1 : 0;
    return (2 * (double)i + 1) / (double)extent - 1;
}

/* grid[b, i.., :] = theta[b] (x, y, .., 1), the last axis first, for GridSample. */
void onnx_import_affine_grid(onnx_node *n)
{
    static const assay_attrs transposed = {.matmul = {.transpose_b = true}};
    const bool align_corners = onnx_int(n, "align_corners", 0) != 0;
    const assay_type theta = onnx_type(n, onnx_in(n, 0));
    int64_t dim[ASSAY_MAX_RANK], places = 1;
    assay_list size;

    if (!onnx_int_list(n, 1, "size", &size))
        return;
    const int axes = size.n - 2;
    if (axes < 2 || axes > 3 || theta.rank != 3 || theta.dim[0] != size.v[0] ||
        theta.dim[1] != axes || theta.dim[2] != axes + 1)
        onnx_fail(n, ASSAY_ERR_INPUT, "%d sizes for matrices of rank %d", size.n, theta.rank);
    for (int i = 0; i < axes && !n->status; i++) {
        if (size.v[i + 2] < 1 || size.v[i + 2] > (1 << 20) / places)
            onnx_refuse(n, "a grid of more than 2^20 places, or of none");
        else
            places *= size.v[i + 2];
    }
    if (n->status)
        return;
    const int64_t shape[3] = {1, places, axes + 1};
    onnx_const *c = onnx_new_const(n->im, ONNX_FLOAT, 3, shape);
    for (int64_t i = 0; c && i < places; i++) {
        int64_t rest = i;
        for (int a = axes - 1; a >= 0; a--) {
            const int64_t extent = size.v[a + 2];
            onnx_set_real(c, i * (axes + 1) + axes - 1 - a,
                          coordinate(rest % extent, extent, align_corners));
            rest /= extent;
        }
        onnx_set_real(c, i * (axes + 1) + axes, 1);
    }
    onnx_value *y = c ? onnx_constant(n, c, "places") : onnx_no_memory(n);
    y = onnx_op2(n, ASSAY_OP_MATMUL, &transposed, y, onnx_in(n, 0), "moved");
    dim[0] = size.v[0];
    memcpy(dim + 1, size.v + 2, (size_t)axes * sizeof *dim);
    dim[axes + 1] = axes;
    onnx_reshaped(n, y, axes + 2, dim, NULL);
}
