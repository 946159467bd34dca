/* Cells under a window at one output cell: the taps of convolution and pooling. */
#ifndef ASSAY_INTERP_REF_SLIDE_H
#define ASSAY_INTERP_REF_SLIDE_H

#include "interp/kernel/window.h"

/* For output cell `cell`, writes for every kernel cell the place of the input cell under it
 * (element of channel 0 in its image), or -1 where that lies in the padding. Returns how many are
 * inside. in = out * stride - pad + k * dilation. */
int64_t ref_slide_taps(const assay_window *w, int64_t cell, int64_t *tap);

/* The same for a transposed convolution, where  out = in * stride - pad + k * dilation:
 * -1 also where no input cell meets the kernel cell. */
int64_t ref_slide_taps_transposed(const assay_window *w, int64_t cell, int64_t *tap);

/* Kernel cells that lie in the image or its declared padding: what counts when an average includes
 * padding (a window rounded up by ceil_mode can hang over it). */
int64_t ref_slide_padded_count(const assay_window *w, int64_t cell);

#endif
