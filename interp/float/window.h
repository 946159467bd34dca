/* The geometry of windowed ops (conv, conv_transpose, pools) in both layouts.
 *
 * One to three spatial axes are brought to three by leading axes of extent 1, so that a kernel has
 * one set of loops. Along each axis, tap t of output o reads input o*stride - pad + t*dilation. */
#ifndef ASSAY_INTERP_FLOAT_WINDOW_H
#define ASSAY_INTERP_FLOAT_WINDOW_H

#include "interp/kernel.h"

#define ASSAY_SPATIAL 3

typedef struct assay_window {
    bool nhwc;
    int64_t batch, in_channels, out_channels;
    int64_t in[ASSAY_SPATIAL], out[ASSAY_SPATIAL];
    int64_t kernel[ASSAY_SPATIAL], stride[ASSAY_SPATIAL], dilation[ASSAY_SPATIAL];
    int64_t pad[ASSAY_SPATIAL], pad_end[ASSAY_SPATIAL];
    int64_t in_area, out_area, taps; /* products of in, out, kernel */
} assay_window;

/* From a pool's or a convolution's types and attributes. `x` is the tensor that windows slide over
 * and `y` the one with an element a window: for conv_transpose, its output and input. */
void assay_window_of_pool(assay_window *w, const assay_attr_pool *a, const assay_type *x,
                          const assay_type *y);
void assay_window_of_conv(assay_window *w, const assay_attr_conv *a, const assay_type *x,
                          const assay_type *y);

/* Output positions [first, last) along `axis` for which tap t reads inside the input. */
void assay_window_valid(const assay_window *w, int axis, int64_t t, int64_t *first, int64_t *last);

/* Taps [first, last) along `axis` that read inside the input at output position o. */
void assay_window_taps(const assay_window *w, int axis, int64_t o, int64_t *first, int64_t *last);

/* ---- im2col.c ----
 * A patch matrix holds, for output positions p of one image and a group's channels c, the input
 * under each tap t, zero where that lies outside:
 *   nchw  column[(c*taps + t) * n + p],  nhwc  column[(p*taps + t) * channels + c]. */
typedef struct assay_patches {
    const assay_window *w;
    int64_t channel, channels; /* the group's first input channel and how many */
    int64_t first, n;          /* output positions first..first+n-1 in C order */
} assay_patches;
/* From the image at `x` (all channels). */
void assay_im2col(const assay_patches *p, const float *x, float *column);
/* Adds a patch matrix back onto the image; the transpose of im2col. */
void assay_col2im(const assay_patches *p, const float *column, float *x);

/* Output positions handled at once, so that a patch matrix of `rows` floats a position stays near
 * a megabyte whatever the image. */
int64_t assay_patch_tile(int64_t rows, int64_t positions);

#endif
