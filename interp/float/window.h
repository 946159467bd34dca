/* Windows of the float engine: ranges of taps inside the input, and patch matrices (im2col). */
#ifndef ASSAY_INTERP_FLOAT_WINDOW_H
#define ASSAY_INTERP_FLOAT_WINDOW_H

#include "interp/float/finish.h"
#include "interp/kernel/window.h"

/* Output positions [first, last) along `axis` for which tap t reads inside the input. */
void float_window_valid(const assay_window *w, int axis, int64_t t, int64_t *first, int64_t *last);

/* Taps [first, last) along `axis` that read inside the input at output position o. */
void float_window_taps(const assay_window *w, int axis, int64_t o, int64_t *first, int64_t *last);

/* ---- planes.c: depthwise, an output channel of each input channel, nchw ---- */
/* Floats of scratch; 0 when there are too many taps, or a row is too long. */
int64_t float_plane_floats(const assay_window *w);
/* One image, finished. */
void float_conv_planes(const assay_window *w, const float *x, const float *weight,
                       const float_finish *f, float *scratch, float *y);

/* ---- direct.c: a group of one image, nchw ---- */
typedef struct float_direct {
    const assay_window *w;
    int64_t channels, outputs, first_output; /* the group's, and its first output channel */
    const float *weight;                     /* the group's */
    const float_finish *finish;
} float_direct;
/* Floats of scratch; 0 where it does not serve: channels last, one tap, one output channel or
 * position (sums of another order), too many taps, rows too long. */
int64_t float_direct_floats(const assay_window *w, int64_t channels, int64_t outputs);
/* x and y: the group's first channels. */
void float_conv_direct(const float_direct *d, const float *x, float *scratch, float *y);

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
void float_im2col(const assay_patches *p, const float *x, float *column);
/* Adds a patch matrix back onto the image; the transpose of im2col. */
void float_col2im(const assay_patches *p, const float *column, float *x);

/* Output positions handled at once, so that a patch matrix of `rows` floats a position stays near
 * a megabyte whatever the image. */
int64_t float_patch_tile(int64_t rows, int64_t positions);

#endif
