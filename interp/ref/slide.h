/* Sliding windows over 1 to 3 spatial axes, in both layouts: what convolution and pooling share.
 *
 * Missing leading spatial axes are 1, so that a kernel has one loop for all ranks. A cell is a
 * spatial position, numbered in C order; element (n, c, cell) of a tensor stands at
 * n * image + c * channel_step + cell * cell_step (nchw: cells together; nhwc: channels together).
 */
#ifndef ASSAY_INTERP_REF_SLIDE_H
#define ASSAY_INTERP_REF_SLIDE_H

#include "graph/graph.h"

#define ASSAY_SPATIAL 3

typedef struct assay_field {
    int64_t extent[ASSAY_SPATIAL];
    int64_t cells;    /* product of the extents */
    int64_t channels; /* of one image */
    int64_t image, channel_step, cell_step;
} assay_field;

typedef struct assay_slide {
    int64_t batch;
    assay_field in, out;
    int64_t kernel[ASSAY_SPATIAL], stride[ASSAY_SPATIAL], dilation[ASSAY_SPATIAL];
    int64_t pad_begin[ASSAY_SPATIAL], pad_end[ASSAY_SPATIAL];
    int64_t kernel_cells;
} assay_slide;

/* The layout of an activation. */
assay_field assay_field_of(const assay_type *t, int layout);

assay_slide assay_slide_conv(const assay_graph *g, const assay_node *n);
assay_slide assay_slide_pool(const assay_graph *g, const assay_node *n);
/* One window that covers the image: global pooling. */
assay_slide assay_slide_global(const assay_graph *g, const assay_node *n);

/* For output cell `cell`, writes for every kernel cell the place of the input cell under it
 * (element of channel 0 in its image), or -1 where that lies in the padding. Returns how many are
 * inside. in = out * stride - pad_begin + k * dilation. */
int64_t assay_slide_taps(const assay_slide *w, int64_t cell, int64_t *tap);

/* The same for a transposed convolution, where  out = in * stride - pad_begin + k * dilation:
 * -1 also where no input cell meets the kernel cell. */
int64_t assay_slide_taps_transposed(const assay_slide *w, int64_t cell, int64_t *tap);

/* Kernel cells that lie in the image or its declared padding: what counts when an average includes
 * padding (a window rounded up by ceil_mode can hang over it). */
int64_t assay_slide_padded_count(const assay_slide *w, int64_t cell);

#endif
