/* The geometry of windowed ops (conv, conv_transpose, pools, resize) in both layouts, for both
 * engines.
 *
 * One to three spatial axes are brought to three by leading axes of extent 1, so that a kernel has
 * one set of loops. Along each axis, tap t of output o reads input o*stride - pad + t*dilation. A
 * cell is a spatial position, numbered in C order. Compiled without floating point. */
#ifndef ASSAY_INTERP_WINDOW_H
#define ASSAY_INTERP_WINDOW_H

#include "interp/kernel/kernel.h"

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
 * and `y` the one with an element a window: for conv_transpose in the float engine, its output and
 * input. */
void kernel_window_of_pool(assay_window *w, const assay_attr_pool *a, const assay_type *x,
                           const assay_type *y);
void kernel_window_of_conv(assay_window *w, const assay_attr_conv *a, const assay_type *x,
                           const assay_type *y);
/* Without a kernel: one tap, stride 1. */
void kernel_window_of_layout(assay_window *w, int layout, const assay_type *x, const assay_type *y);

/* Element (n, c, cell) of a tensor stands at n * image + c * channel + cell * cell_step. */
typedef struct assay_strides {
    int64_t image, channel, cell;
} assay_strides;

static inline assay_strides kernel_strides_in(const assay_window *w)
{
    int64_t image = w->in_channels * w->in_area;
    return w->nhwc ? (assay_strides){image, 1, w->in_channels}
                   : (assay_strides){image, w->in_area, 1};
}
static inline assay_strides kernel_strides_out(const assay_window *w)
{
    int64_t image = w->out_channels * w->out_area;
    return w->nhwc ? (assay_strides){image, 1, w->out_channels}
                   : (assay_strides){image, w->out_area, 1};
}

#endif
