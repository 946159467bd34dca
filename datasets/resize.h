/* Resizing of images, before any other preprocessing.
 *
 * Pixel y of `out` rows has its centre at (y + 1/2) * in / out - 1/2 of `in` rows, kept inside;
 * columns likewise. Nearest takes the pixel that holds the centre; bilinear weighs the four around
 * it, in double, without antialiasing (ONNX Resize: half_pixel, linear; OpenCV: INTER_LINEAR).
 * Integers are rounded to the nearest, ties to even. */
#ifndef ASSAY_DATASETS_RESIZE_H
#define ASSAY_DATASETS_RESIZE_H

#include "datasets/dataset.h"

/* Height, width and channels of [H,W,C], [C,H,W] (planar) or [H,W]. */
typedef struct assay_extent {
    int64_t height, width, channels;
} assay_extent;

/* False when t is not an image. */
bool dataset_extent_of(const assay_sample_type *t, assay_extent *out);

/* Element i of `to` becomes v: f32, or an integer of u8, i8 or u16, the nearest, ties to even, that
 * the type holds. */
void dataset_store_rounded(assay_npy_type type, void *to, size_t i, double v);

/* One image of type `in`, u8, i8 or f32, to one of type `out`, which differs in height and width
 * alone. */
void dataset_resize(const assay_sample_type *in, const void *from, bool nearest,
                    const assay_sample_type *out, void *to);

#endif
