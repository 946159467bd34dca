/* NonMaxSuppression: nms fills as many rows as there may be; those that are boxes are picked, as
 * many as the sample has that the model is imported for. */
#include <float.h>

#include "graph/onnx/op/op.h"

/* The rows of y, [R,3], that do not begin with -1. */
static void picked(onnx_node *n, onnx_value *y, int64_t count)
{
    const assay_attrs rows = {.gather = {.axis = 0}};
    const int64_t all = onnx_type(n, y).dim[0];
    onnx_value *first = onnx_reshaped(n, onnx_part(n, y, 1, 0, 1, "images"), 1, &all, "images");
    onnx_value *set =
        onnx_op2(n, ASSAY_OP_GREATER_EQUAL, NULL, first, onnx_scalar(n, first, 0, "zero"), "set");

    set = onnx_reshaped(n, onnx_set_places(n, set, count, "kept"), 1, &count, "rows");
    onnx_op2(n, ASSAY_OP_GATHER, &rows, y, set, NULL);
}

void onnx_import_non_max_suppression(onnx_node *n)
{
    assay_attrs a = {.nms = {.score = -FLT_MAX, .center = onnx_int(n, "center_point_box", 0) != 0}};
    onnx_value *boxes = onnx_in(n, 0);
    const assay_type t = onnx_type(n, boxes);
    const onnx_const *c;
    int64_t count = 0;

    if (onnx_has(n, 2))
        onnx_one_int(n, 2, "max_output_boxes_per_class", &a.nms.most);
    if (onnx_has(n, 3))
        onnx_one_float(n, 3, "iou_threshold", &a.nms.iou);
    if (onnx_has(n, 4))
        onnx_one_float(n, 4, "score_threshold", &a.nms.score);
    if (!n->status && t.rank != 3)
        onnx_fail(n, ASSAY_ERR_INPUT, "boxes of rank %d", t.rank);
    if (n->status)
        return;
    a.nms.most = a.nms.most < 0 ? 0 : a.nms.most < t.dim[1] ? a.nms.most : t.dim[1];
    onnx_value *y = onnx_op2(n, ASSAY_OP_NMS, &a, boxes, onnx_in(n, 1), "padded");
    if (!(c = onnx_elements(n, y))) {
        if (!n->status)
            onnx_refuse(n, "how many boxes are kept is known for one sample only (`sample`)");
        return;
    }
    for (int64_t i = 0; i < c->count; i += 3)
        count += onnx_get_int(c, i) >= 0;
    picked(n, y, count);
}
