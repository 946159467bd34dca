/* PNG images as they are stored: 8-bit or 16-bit samples, gray or RGB.
 *
 * Palettes and gray of fewer bits are expanded, which loses nothing. Transparent pixels are
 * refused, as no background is known to blend them with; alpha that is opaque everywhere is
 * dropped. Gamma and colour profiles are ignored. */
#ifndef ASSAY_DATASETS_PNG_H
#define ASSAY_DATASETS_PNG_H

#include <stddef.h>
#include <stdint.h>

#include "graph/base.h"

typedef struct assay_image {
    int height, width;
    int channels;    /* 1 gray, 3 RGB */
    int bytes;       /* of a sample: 1, or 2, which are a uint16_t */
    uint8_t *pixels; /* [height, width, channels], malloc'd */
} assay_image;

/* Decode a PNG; free(out->pixels) after success. ASSAY_ERR_INPUT for a truncated or corrupt image,
 * a palette without some index's colour, _UNSUPPORTED for transparency (and 16 bits of indices),
 * _LIMIT beyond 2^14 pixels a side or 2^26 in all, _IO, _MEMORY. `name` is for messages. */
assay_status dataset_png_read_file(const char *path, assay_image *out, assay_error *err);
assay_status dataset_png_read_memory(const void *bytes, size_t size, const char *name,
                                     assay_image *out, assay_error *err);

/* The same where pixels are numbers and no colours: a palette's indices, gray as it is stored at
 * any depth up to 8 bits; channels is 1 for both. */
assay_status dataset_png_read_indices(const char *path, assay_image *out, assay_error *err);

#endif
