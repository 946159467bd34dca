/* soft_nms: boxes[B,4] (two corners), scores[B] -> boxes kept i32[most], their scores f32[most],
 * how many i32[]; what stands behind those is 0.
 *
 * The candidate with the greatest score (of equal ones the first box) is compared with the boxes
 * kept since it was last looked at, the latest first: where an overlap is iou or more it is
 * dropped; with a sigma its score becomes score * exp(-overlap * overlap / (2 sigma)) for each of
 * them. When its score is still the same it is kept. It goes back among the candidates, even so,
 * while its score is greater than `score`: a box without area overlaps not even itself and is kept
 * again.
 *
 * Source: NonMaxSuppression, tensorflow/lite/kernels/internal/reference/non_max_suppression.h. */
#include <math.h>
#include <stdlib.h>

#include "graph/memory.h"
#include "interp/float/boxes.h"
#include "interp/float/float.h"

typedef struct candidate {
    float score;   /* -INFINITY: none any more */
    int64_t since; /* boxes kept when it was last looked at */
} candidate;

static int64_t greatest(const candidate *c, int64_t n)
{
    int64_t best = -1;
    for (int64_t i = 0; i < n; i++)
        if (c[i].score > -INFINITY && (best < 0 || c[i].score > c[best].score))
            best = i;
    return best;
}

/* Its score beside the boxes kept; false where one drops it. */
static bool fade(const assay_attr_soft_nms *a, const float *box, const int32_t *kept, int64_t n,
                 int64_t i, candidate *c)
{
    const float scale = a->sigma > 0 ? (float)(-0.5 / (double)a->sigma) : 0;
    for (int64_t k = n - 1; k >= c->since; k--) {
        const float overlap = float_boxes_overlap(box + 4 * i, box + 4 * (int64_t)kept[k]);
        if (overlap >= a->iou)
            return false;
        if (a->sigma > 0)
            c->score = c->score * expf(scale * overlap * overlap);
        if (c->score <= a->score)
            break;
    }
    return true;
}

static int64_t select_boxes(const assay_attr_soft_nms *a, const float *box, candidate *c, int64_t n,
                            int64_t max, int32_t *kept, float *score)
{
    int64_t found = 0, i;
    while (found < max && (i = greatest(c, n)) >= 0) {
        const float before = c[i].score;
        const bool stays = fade(a, box, kept, found, i, &c[i]);
        c[i].since = found;
        if (stays && c[i].score == before) {
            kept[found] = (int32_t)i;
            score[found++] = before;
        }
        if (!stays || !(c[i].score > a->score))
            c[i].score = -INFINITY;
    }
    return found;
}

assay_status float_soft_nms(assay_call *call, assay_error *err)
{
    const assay_attr_soft_nms *a = &call->node->attr.soft_nms;
    const int64_t n = call->in[1].type->dim[0];
    candidate *c = malloc(((size_t)n + 1) * sizeof *c);
    int32_t *kept = call->out[0].data;
    float *score = call->out[1].data;
    int64_t candidates = 0;

    if (!c)
        return assay_out_of_memory(err);
    for (int64_t i = 0; i < n; i++) {
        const float v = ((const float *)call->in[1].data)[i];
        c[i] = (candidate){v > a->score ? v : -INFINITY, 0};
        candidates += v > a->score;
    }
    const int64_t found = select_boxes(a, call->in[0].data, c, n,
                                       candidates < a->most ? candidates : a->most, kept, score);
    free(c);
    *(int32_t *)call->out[2].data = (int32_t)found;
    for (int64_t i = found; i < a->most; i++) {
        kept[i] = 0;
        score[i] = 0;
    }
    return ASSAY_OK;
}
