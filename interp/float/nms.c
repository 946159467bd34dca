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
#include <math.h>
#include <stdlib.h>

#include "graph/memory.h"
#include "interp/float/float.h"

typedef struct candidate {
    float score;
    int64_t box;
} candidate;

typedef struct rectangle {
    float from[2], to[2];
} rectangle;

static int by_score(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->box < y->box ? -1 : x->box > y->box;
}

static rectangle rectangle_of(const float *box, bool center)
{
    rectangle r;
    for (int i = 0; i < 2; i++) {
        r.from[i] = center ? box[i] - box[i + 2] / 2 : fminf(box[i], box[i + 2]);
        r.to[i] = center ? box[i] + box[i + 2] / 2 : fmaxf(box[i], box[i + 2]);
    }
    return r;
}

static float area(const rectangle *r)
{
    return (r->to[0] - r->from[0]) * (r->to[1] - r->from[1]);
}

static bool overlap_more(const rectangle *a, const rectangle *b, float iou)
{
    float common = 1;
    for (int i = 0; i < 2; i++) {
        const float extent = fminf(a->to[i], b->to[i]) - fmaxf(a->from[i], b->from[i]);
        if (!(extent > 0))
            return false;
        common *= extent;
    }
    const float both = area(a) + area(b) - common;
    return area(a) > 0 && area(b) > 0 && both > 0 && common / both > iou;
}

static bool is_free(const rectangle *kept, int64_t n, const rectangle *r, float iou)
{
    for (int64_t i = 0; i < n; i++)
        if (overlap_more(&kept[i], r, iou))
            return false;
    return true;
}

/* The boxes of one batch and class, as rows from y on; how many there are. */
static int64_t keep(const assay_attr_nms *a, const float *box, const float *score, int64_t boxes,
                    candidate *c, rectangle *kept, int64_t at[2], int64_t *y)
{
    int64_t n = 0, found = 0;
    for (int64_t i = 0; i < boxes; i++)
        if (score[i] > a->score)
            c[n++] = (candidate){score[i], i};
    qsort(c, (size_t)n, sizeof *c, by_score);
    for (int64_t i = 0; i < n && found < a->most; i++) {
        const rectangle r = rectangle_of(box + 4 * c[i].box, a->center);
        if (!is_free(kept, found, &r, a->iou))
            continue;
        kept[found] = r;
        y[3 * found] = at[0];
        y[3 * found + 1] = at[1];
        y[3 * found + 2] = c[i].box;
        found++;
    }
    return found;
}

assay_status float_nms(assay_call *call, assay_error *err)
{
    const assay_attr_nms *a = &call->node->attr.nms;
    const int64_t *dim = call->in[1].type->dim, boxes = dim[2];
    const int64_t rows = call->out[0].type->dim[0];
    candidate *c = malloc(((size_t)boxes + 1) * sizeof *c);
    rectangle *kept = malloc(((size_t)boxes + 1) * sizeof *kept);
    int64_t *y = call->out[0].data, found = 0, at[2];

    for (at[0] = 0; c && kept && at[0] < dim[0]; at[0]++)
        for (at[1] = 0; at[1] < dim[1]; at[1]++)
            found += keep(a, (const float *)call->in[0].data + at[0] * boxes * 4,
                          (const float *)call->in[1].data + (at[0] * dim[1] + at[1]) * boxes, boxes,
                          c, kept, at, y + 3 * found);
    const bool whole = c && kept;
    free(c);
    free(kept);
    for (int64_t i = 3 * found; i < 3 * rows; i++)
        y[i] = -1;
    return whole ? ASSAY_OK : assay_out_of_memory(err);
}
