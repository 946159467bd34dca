/* Parameters of codes of 8 signed bits that are made of numbers in each run, from their range.
 * Source: PortableSymmetricQuantizeFloats and PortableAsymmetricQuantizeFloats,
 * tensorflow/lite/kernels/internal/reference/portable_tensor_utils.cc. */
#ifndef ASSAY_SCHEMES_DERIVE_DYNAMIC_H
#define ASSAY_SCHEMES_DERIVE_DYNAMIC_H

#include <stdbool.h>

/* A number's code is round(x * factor + zero). */
typedef struct derive_dynamic {
    float scale, factor, zero;
} derive_dynamic;

/* Of numbers from min to max, min <= 0 <= max; 1, 1, 0 where both are 0.
 *
 *   symmetric   scale = m / 127, factor = 127 / m, zero = 0, m the greatest magnitude
 *   else        scale = (max - min) / 255 in binary64, rounded; factor = 1 / scale;
 *               zero = the integer nearest to -128 - min / scale or to 127 - max / scale, of the
 *               two the one whose terms are smaller
 *
 * Binary32 where nothing else is said. */
derive_dynamic derive_dynamic_of(float min, float max, bool symmetric);

#endif
