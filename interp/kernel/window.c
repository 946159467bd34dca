/* Windows: reading types and attributes into three spatial axes. */
#include <assert.h>

#include "interp/kernel/window.h"

static int64_t item(const assay_list *l, int i, int64_t otherwise)
{
    return i < l->n ? l->v[i] : otherwise;
}

static void set_window(assay_window *w, const assay_type *x, const assay_type *y,
                       const assay_list *kernel, const assay_list *stride,
                       const assay_list *dilation, const assay_list *begin, const assay_list *end)
{
    int spatial = x->rank - 2, first = w->nhwc ? 1 : 2;

    assert(spatial <= ASSAY_SPATIAL && x->rank == y->rank);
    w->batch = x->dim[0];
    w->in_channels = x->dim[w->nhwc ? x->rank - 1 : 1];
    w->out_channels = y->dim[w->nhwc ? y->rank - 1 : 1];
    w->in_area = w->out_area = w->taps = 1;
    for (int d = 0; d < ASSAY_SPATIAL; d++) {
        int i = d - (ASSAY_SPATIAL - spatial);
        w->in[d] = i < 0 ? 1 : x->dim[first + i];
        w->out[d] = i < 0 ? 1 : y->dim[first + i];
        w->kernel[d] = i < 0 ? 1 : item(kernel, i, 1);
        w->stride[d] = i < 0 ? 1 : item(stride, i, 1);
        w->dilation[d] = i < 0 ? 1 : item(dilation, i, 1);
        w->pad[d] = i < 0 ? 0 : item(begin, i, 0);
        w->pad_end[d] = i < 0 ? 0 : item(end, i, 0);
        w->in_area *= w->in[d];
        w->out_area *= w->out[d];
        w->taps *= w->kernel[d];
    }
}

void kernel_window_of_layout(assay_window *w, int layout, const assay_type *x, const assay_type *y)
{
    const assay_list none = {.n = 0};
    w->nhwc = layout == ASSAY_LAYOUT_NHWC;
    set_window(w, x, y, &none, &none, &none, &none, &none);
}

void kernel_window_of_pool(assay_window *w, const assay_attr_pool *a, const assay_type *x,
                           const assay_type *y)
{
    w->nhwc = a->layout == ASSAY_LAYOUT_NHWC;
    set_window(w, x, y, &a->kernel, &a->stride, &a->dilation, &a->pad_begin, &a->pad_end);
}

void kernel_window_of_conv(assay_window *w, const assay_attr_conv *a, const assay_type *x,
                           const assay_type *y)
{
    w->nhwc = a->layout == ASSAY_LAYOUT_NHWC;
    set_window(w, x, y, &a->kernel, &a->stride, &a->dilation, &a->pad_begin, &a->pad_end);
}
