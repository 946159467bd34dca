/* patches: what each window of a convolution sees, as rows of a matrix.
 *
 *   y[n, g, p, (k, c)] = x[n, g*C/G + c, p*stride - pad + k*dilation], zero beyond the borders
 *
 * p counts windows and k the kernel's cells, both in C order; c the channels of a group, which run
 * fastest: the order in which a matrix unit adds the products of a convolution. */
#include <string.h>

#include "interp/kernel/window.h"
#include "interp/move/move.h"

/* The window's cell under tap k of window p, or -1. */
static int64_t cell_of(const assay_window *w, int64_t p, int64_t k)
{
    int64_t cell = 0, step = 1;
    for (int d = ASSAY_SPATIAL - 1; d >= 0; d--) {
        const int64_t i =
            p % w->out[d] * w->stride[d] - w->pad[d] + k % w->kernel[d] * w->dilation[d];
        if (i < 0 || i >= w->in[d])
            return -1;
        cell += i * step;
        step *= w->in[d];
        p /= w->out[d];
        k /= w->kernel[d];
    }
    return cell;
}

/* The extents that the windows have along each axis, as a type. */
static assay_type windows_of(const assay_attr_conv *a, const assay_type *x)
{
    assay_type y = *x;
    const int first = a->layout == ASSAY_LAYOUT_NHWC ? 1 : 2;
    for (int i = 0; i < a->kernel.n; i++)
        y.dim[first + i] = (x->dim[first + i] + a->pad_begin.v[i] + a->pad_end.v[i] -
                            (a->kernel.v[i] - 1) * a->dilation.v[i] - 1) /
                               a->stride.v[i] +
                           1;
    return y;
}

assay_status move_patches(assay_call *call, assay_error *err)
{
    const assay_attr_conv *a = &call->node->attr.conv;
    const assay_type *x = call->in[0].type, windows = windows_of(a, x);
    const size_t size = assay_elem_size(x->elem);
    assay_window w;
    (void)err;

    kernel_window_of_conv(&w, a, x, &windows);
    const assay_strides in = kernel_strides_in(&w);
    const int64_t channels = w.in_channels / a->group;
    char *to = call->out[0].data;
    const char *from = call->in[0].data;
    for (int64_t i = 0; i < w.batch * a->group * w.out_area; i++) {
        const int64_t n = i / (a->group * w.out_area), g = i / w.out_area % a->group;
        for (int64_t k = 0; k < w.taps; k++) {
            const int64_t cell = cell_of(&w, i % w.out_area, k);
            for (int64_t c = 0; c < channels; c++, to += size) {
                const int64_t at = n * in.image + (g * channels + c) * in.channel + cell * in.cell;
                if (cell < 0)
                    memset(to, 0, size);
                else
                    memcpy(to, from + (size_t)at * size, size);
            }
        }
    }
    return ASSAY_OK;
}
