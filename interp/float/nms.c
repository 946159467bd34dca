/* nms: boxes[N,B,4], scores[N,C,B] -> y[R,3], R = N*C*most: (n, c, b) of the boxes that are kept,
 * one batch and class after another, each from its greatest score down (equal scores: the first
 * box); rows behind them are -1.
 *
 *   kept      while fewer than `most` of that batch and class: each box whose score is greater than
 *             `score`, and whose overlap with every box kept before is not greater than `iou`
 *   overlap   common area / (area + area - common area); none where either has no area
 *
 * A box is two opposite corners, in any order, or where `center` its middle and its extents (x, y,
 * width, height). Everything is binary32. Source: NonMaxSuppression in Operators.md of
 * github.com/onnx/onnx. */
#include <stdlib.h>

#include "graph/memory.h"
#include "interp/float/boxes.h"
#include "interp/float/float.h"

/* The corners of a box. */
static void corners_of(const float *box, bool center, float corner[4])
{
    for (int i = 0; i < 2; i++) {
        corner[i] = center ? box[i] - box[i + 2] / 2 : box[i];
        corner[i + 2] = center ? box[i] + box[i + 2] / 2 : box[i + 2];
    }
}

typedef struct room {
    boxes_candidate *c;
    float *corner; /* of all boxes of a batch */
    int64_t *kept;
} room;

/* The boxes of one batch and class, as rows from y on; how many there are. */
static int64_t keep(const assay_attr_nms *a, const float *score, int64_t boxes, const room *r,
                    const int64_t at[2], int64_t *y)
{
    int64_t n = 0;
    for (int64_t i = 0; i < boxes; i++)
        if (score[i] > a->score)
            r->c[n++] = (boxes_candidate){score[i], i};
    float_boxes_sort(r->c, n);
    const int64_t found = float_boxes_keep(r->corner, r->c, n, a->iou, a->most, r->kept);
    for (int64_t i = 0; i < found; i++) {
        y[3 * i] = at[0];
        y[3 * i + 1] = at[1];
        y[3 * i + 2] = r->kept[i];
    }
    return found;
}

/* All rows of the output. */
static void keep_all(const assay_call *call, const room *r)
{
    const assay_attr_nms *a = &call->node->attr.nms;
    const int64_t *dim = call->in[1].type->dim, boxes = dim[2];
    const float *box = call->in[0].data, *score = call->in[1].data;
    const int64_t rows = call->out[0].type->dim[0];
    int64_t *y = call->out[0].data, found = 0, at[2];

    for (at[0] = 0; at[0] < dim[0]; at[0]++) {
        for (int64_t i = 0; i < boxes; i++)
            corners_of(box + (at[0] * boxes + i) * 4, a->center, r->corner + 4 * i);
        for (at[1] = 0; at[1] < dim[1]; at[1]++)
            found += keep(a, score + (at[0] * dim[1] + at[1]) * boxes, boxes, r, at, y + 3 * found);
    }
    for (int64_t i = 3 * found; i < 3 * rows; i++)
        y[i] = -1;
}

assay_status float_nms(assay_call *call, assay_error *err)
{
    const size_t boxes = (size_t)call->in[1].type->dim[2] + 1;
    const room r = {malloc(boxes * sizeof *r.c), malloc(boxes * 4 * sizeof *r.corner),
                    malloc(boxes * sizeof *r.kept)};
    const bool whole = r.c && r.corner && r.kept;

    if (whole)
        keep_all(call, &r);
    free(r.c);
    free(r.corner);
    free(r.kept);
    return whole ? ASSAY_OK : assay_out_of_memory(err);
}
