/* Boxes of images: overlap, order, and those that are kept. */
#include "interp/float/boxes.h"

#include <math.h>
#include <stdlib.h>

static float extent(float a, float b)
{
    return fmaxf(a, b) - fminf(a, b);
}

static float area(const float b[4])
{
    return extent(b[0], b[2]) * extent(b[1], b[3]);
}

static float common(const float *a, const float *b)
{
    const float from = fmaxf(fminf(a[0], a[2]), fminf(b[0], b[2]));
    const float to = fminf(fmaxf(a[0], a[2]), fmaxf(b[0], b[2]));
    return fmaxf(to - from, 0);
}

float float_boxes_overlap(const float a[4], const float b[4])
{
    const float of_a = area(a), of_b = area(b);
    if (!(of_a > 0) || !(of_b > 0))
        return 0;
    const float both = common(a, b) * common(a + 1, b + 1);
    return both / (of_a + of_b - both);
}

static int by_score(const void *a, const void *b)
{
    const boxes_candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->box < y->box ? -1 : x->box > y->box;
}

void float_boxes_sort(boxes_candidate *c, int64_t n)
{
    qsort(c, (size_t)n, sizeof *c, by_score);
}

static bool is_free(const float *box, const int64_t *kept, int64_t n, int64_t next, float iou)
{
    for (int64_t i = 0; i < n; i++)
        if (float_boxes_overlap(box + 4 * kept[i], box + 4 * next) > iou)
            return false;
    return true;
}

int64_t float_boxes_keep(const float *box, const boxes_candidate *c, int64_t n, float iou,
                         int64_t max, int64_t *kept)
{
    int64_t found = 0;
    for (int64_t i = 0; i < n && found < max; i++)
        if (is_free(box, kept, found, c[i].box, iou))
            kept[found++] = c[i].box;
    return found;
}
