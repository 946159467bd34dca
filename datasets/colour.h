/* Gray of colours, and colours of gray.
 *
 *   pillow   (19595 R + 38470 G + 7471 B + 2^15) >> 16    Pillow's convert("L"), of 8 bits
 *   opencv   (9798 R + 19235 G + 3735 B + 2^14) >> 15     OpenCV's cvtColor, of 8 bits
 *   weights  r R + g G + b B, in double; integers are rounded to the nearest, ties to even, and
 *            saturate
 *
 * Both integer forms were compared with Pillow 9.4.0 and OpenCV 4.6.0 on four million pixels each.
 * Colours of gray are three times the same. */
#ifndef ASSAY_DATASETS_COLOUR_H
#define ASSAY_DATASETS_COLOUR_H

#include "datasets/preprocess.h"
#include "datasets/resize.h"

/* `in` with the other number of channels: 1 instead of 3, or 3 instead of 1. */
assay_sample_type dataset_recoloured(const assay_sample_type *in, int64_t channels);

/* One image of type `in`, of u8, i8, u16 or f32, to `out`, which dataset_recoloured gave. */
void dataset_recolour(const assay_preprocess *p, const assay_sample_type *in, const void *from,
                      const assay_sample_type *out, void *to);

#endif
