/* A tensor of a faulty node as a picture, and the histogram of its differences, inside of a page.
 */
#ifndef ASSAY_INTERP_BLAME_PICTURE_H
#define ASSAY_INTERP_BLAME_PICTURE_H

#include "interp/blame/blame.h"

/* Planes of the row's output in a sample: the device's codes in grey, those that differ from the
 * replay in red to yellow by how far. The planes with most differences, at most 64 of them. */
void blame_draw_tensor(const blame_report *r, int row, int sample, FILE *f);
/* How many elements differ from the replay by how many codes, over all samples. */
void blame_draw_histogram(const blame_report *r, int row, FILE *f);
#endif
