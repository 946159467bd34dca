/* Images read at places that a network computes: GridSample and RoiAlign. */
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
