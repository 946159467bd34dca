/* Windows: reading attributes into three spatial axes, and where taps fall inside. */
#include "interp/float/window.h"

static int64_t item(const assay_list *l, int i, int64_t otherwise)
{
    return i < l->n ? l->v[i] : otherwise;
}

static void set_window(assay_window *w, const assay_type *x, const assay_type *y,
                       const assay_list *kernel, const assay_list *stride,
                       const assay_list *dilation, const assay_list *begin, const assay_list *end)
{
    int spatial = x->rank - 2, first = w->nhwc ? 1 : 2;

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

void assay_window_of_pool(assay_window *w, const assay_attr_pool *a, const assay_type *x,
                          const assay_type *y)
{
    w->nhwc = a->layout == ASSAY_LAYOUT_NHWC;
    set_window(w, x, y, &a->kernel, &a->stride, &a->dilation, &a->pad_begin, &a->pad_end);
}

void assay_window_of_conv(assay_window *w, const assay_attr_conv *a, const assay_type *x,
                          const assay_type *y)
{
    w->nhwc = a->layout == ASSAY_LAYOUT_NHWC;
    set_window(w, x, y, &a->kernel, &a->stride, &a->dilation, &a->pad_begin, &a->pad_end);
}

static int64_t divide_up(int64_t a, int64_t b) /* b > 0 */
{
    return a > 0 ? (a + b - 1) / b : -(-a / b);
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

void assay_window_valid(const assay_window *w, int axis, int64_t t, int64_t *first, int64_t *last)
{
    int64_t at = t * w->dilation[axis] - w->pad[axis]; /* read by output 0 */
    *first = clamp(divide_up(-at, w->stride[axis]), 0, w->out[axis]);
    *last = clamp(divide_up(w->in[axis] - at, w->stride[axis]), *first, w->out[axis]);
}

void assay_window_taps(const assay_window *w, int axis, int64_t o, int64_t *first, int64_t *last)
{
    int64_t at = o * w->stride[axis] - w->pad[axis]; /* read by tap 0 */
    *first = clamp(divide_up(-at, w->dilation[axis]), 0, w->kernel[axis]);
    *last = clamp(divide_up(w->in[axis] - at, w->dilation[axis]), *first, w->kernel[axis]);
}
