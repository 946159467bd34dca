/* Boxes of images: two opposite corners, four numbers. */
#ifndef ASSAY_INTERP_FLOAT_BOXES_H
#define ASSAY_INTERP_FLOAT_BOXES_H

#include <stdbool.h>
#include <stdint.h>

/* Common area / (area + area - common area), corners in any order; 0 where either has no area. */
float float_boxes_overlap(const float a[4], const float b[4]);

typedef struct boxes_candidate {
    float score;
    int64_t box;
} boxes_candidate;

/* From the greatest score down; of equal scores the first box. */
void float_boxes_sort(boxes_candidate *c, int64_t n);

/* Of sorted candidates those that overlap none kept before by more than `iou`, at most `max`: how
 * many; their boxes' numbers in kept. box: four numbers each. */
int64_t float_boxes_keep(const float *box, const boxes_candidate *c, int64_t n, float iou,
                         int64_t max, int64_t *kept);

#endif
