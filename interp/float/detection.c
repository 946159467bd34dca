/* detection: encodings[1,B,4..], scores[1,B,C], anchors[B,4] -> boxes[1,N,4], classes[1,N],
 * scores[1,N], how many [1]; N = most * per_box, what stands behind those found is 0.
 *
 *   center    y: e / scale_y * anchor_h + anchor_y; x alike
 *   half      0.5 * exp(e_h / scale_h) * anchor_h; in binary64, rounded; box = center -+ half
 *
 * e and anchors are y, x, h, w. A first score that is of no class (C is classes + 1) does not
 * count. Boxes of a score of `score` or more are taken from the greatest down, those dropped that
 * overlap one taken by more than `iou` (equal scores: the first box). by_class: each class alone,
 * at most per_class; then of all the `most` of the greatest scores, of equal ones the first class.
 * Else each box by its greatest score, at most `most`, with its per_box classes from the greatest
 * score down.
 *
 * No code is made here: codes are dequantized by nodes in front, and what is rounded are the steps
 * of float arithmetic, as the kernel has them. Source:
 * tensorflow/lite/kernels/detection_postprocess.cc. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/float/boxes.h"
#include "interp/float/float.h"

typedef struct found {
    float score;
    int64_t box, class;
} found;

typedef struct work {
    const assay_attr_detection *a;
    int64_t boxes, columns; /* scores of a box */
    const float *score;     /* of the first class */
    float *box;             /* decoded: ymin, xmin, ymax, xmax */
    boxes_candidate *c;
    int64_t *kept;
    found *found;
} work;

static void decode(const float *e, const float *anchor, const double scale[4], float box[4])
{
    for (int i = 0; i < 2; i++) {
        const double center = (double)e[i] / scale[i] * (double)anchor[i + 2] + (double)anchor[i];
        const double half = 0.5 * exp((double)e[i + 2] / scale[i + 2]) * (double)anchor[i + 2];
        box[i] = (float)center - (float)half;
        box[i + 2] = (float)center + (float)half;
    }
}

static assay_status decode_all(const assay_call *call, const work *w, assay_error *err)
{
    const int64_t width = call->in[0].type->dim[2];
    double scale[4];

    for (int i = 0; i < 4; i++)
        scale[i] = (double)w->a->scale.v[i];
    for (int64_t i = 0; i < w->boxes; i++) {
        float *box = w->box + 4 * i;
        decode((const float *)call->in[0].data + i * width, (const float *)call->in[2].data + i * 4,
               scale, box);
        if (box[0] > box[2] || box[1] > box[3])
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s: box %lld ends before it begins (a negative anchor)",
                              call->node->name, (long long)i);
    }
    return ASSAY_OK;
}

/* The boxes taken of the first n candidates. */
static int64_t take(const work *w, int64_t n, int64_t max)
{
    float_boxes_sort(w->c, n);
    return float_boxes_keep(w->box, w->c, n, w->a->iou, max, w->kept);
}

/* A list of n by score and one of `more` behind it become one, at most `max` long. */
static int64_t merge(found *list, int64_t n, int64_t more, int64_t max)
{
    for (int64_t i = n; i < n + more; i++) {
        const found next = list[i];
        int64_t k = i;
        for (; k > 0 && list[k - 1].score < next.score; k--)
            list[k] = list[k - 1];
        list[k] = next;
    }
    return n + more < max ? n + more : max;
}

static int64_t by_class(const work *w)
{
    const assay_attr_detection *a = w->a;
    const int64_t each = a->per_class < a->most ? a->per_class : a->most;
    int64_t total = 0;

    for (int64_t class = 0; class < a->classes; class ++) {
        int64_t n = 0;
        for (int64_t i = 0; i < w->boxes; i++)
            if (w->score[i * w->columns + class] >= a->score)
                w->c[n++] = (boxes_candidate){w->score[i * w->columns + class], i};
        n = take(w, n, each);
        for (int64_t i = 0; i < n; i++)
            w->found[total + i] =
                (found){w->score[w->kept[i] * w->columns + class], w->kept[i], class};
        total = merge(w->found, total, n, a->most);
    }
    return total;
}

/* The class of the `rank` greatest score of a box, the first of equal ones. */
static int64_t class_of(const float *score, int64_t classes, int64_t rank)
{
    for (int64_t i = 0; i < classes; i++) {
        int64_t before = 0;
        for (int64_t k = 0; k < classes; k++)
            before += score[k] > score[i] || (score[k] == score[i] && k < i);
        if (before == rank)
            return i;
    }
    return 0; /* a score is NaN */
}

/* Rows of per_box; how many. */
static int64_t by_box(const work *w)
{
    const assay_attr_detection *a = w->a;
    const int64_t each = a->per_box < a->classes ? a->per_box : a->classes;
    int64_t n = 0;

    for (int64_t i = 0; i < w->boxes; i++) {
        const float *score = w->score + i * w->columns;
        float max = score[0];
        for (int64_t k = 1; k < a->classes; k++)
            max = score[k] > max ? score[k] : max;
        if (max >= a->score)
            w->c[n++] = (boxes_candidate){max, i};
    }
    n = take(w, n, a->most);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < each; k++) {
            const float *score = w->score + w->kept[i] * w->columns;
            const int64_t class = class_of(score, a->classes, k);
            w->found[i * a->per_box + k] = (found){score[class], w->kept[i], class};
        }
    return n;
}

static void write(const assay_call *call, const work *w, int64_t n)
{
    const int64_t rows = call->out[1].type->dim[1], per_box = w->a->by_class ? 1 : w->a->per_box;
    float *box = call->out[0].data, *class = call->out[1].data, *score = call->out[2].data;

    memset(box, 0, (size_t)rows * 4 * sizeof *box);
    memset(class, 0, (size_t)rows * sizeof *class);
    memset(score, 0, (size_t)rows * sizeof *score);
    for (int64_t i = 0; i < n * per_box; i++) {
        if (w->found[i].box < 0) /* fewer classes than per_box */
            continue;
        memcpy(box + 4 * i, w->box + 4 * w->found[i].box, 4 * sizeof *box);
        class[i] = (float)w->found[i].class;
        score[i] = w->found[i].score;
    }
    *(float *)call->out[3].data = (float)n;
}

assay_status float_detection(assay_call *call, assay_error *err)
{
    const assay_attr_detection *a = &call->node->attr.detection;
    const int64_t *dim = call->in[1].type->dim;
    const size_t boxes = (size_t)dim[1] + 1, room = (size_t)(a->most * (a->per_box + 1)) + boxes;
    work w = {.a = a,
              .boxes = dim[1],
              .columns = dim[2],
              .score = (const float *)call->in[1].data + (dim[2] - a->classes),
              .box = malloc(boxes * 4 * sizeof(float)),
              .c = malloc(boxes * sizeof *w.c),
              .kept = malloc(boxes * sizeof *w.kept),
              .found = malloc(room * sizeof *w.found)};
    assay_status s =
        w.box && w.c && w.kept && w.found ? decode_all(call, &w, err) : assay_out_of_memory(err);

    for (size_t i = 0; !s && i < room; i++)
        w.found[i].box = -1;
    if (!s)
        write(call, &w, a->by_class ? by_class(&w) : by_box(&w));
    free(w.box);
    free(w.c);
    free(w.kept);
    free(w.found);
    return s;
}
