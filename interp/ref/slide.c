#include "interp/ref/slide.h"

assay_field assay_field_of(const assay_type *t, int layout)
{
    bool nhwc = layout == ASSAY_LAYOUT_NHWC;
    int spatial = t->rank - 2, first = nhwc ? 1 : 2;
    assay_field f = {.extent = {1, 1, 1}, .cells = 1};
    for (int i = 0; i < spatial; i++) {
        f.extent[ASSAY_SPATIAL - spatial + i] = t->dim[first + i];
        f.cells *= t->dim[first + i];
    }
    f.channels = t->dim[nhwc ? t->rank - 1 : 1];
    f.image = f.channels * f.cells;
    f.channel_step = nhwc ? 1 : f.cells;
    f.cell_step = nhwc ? f.channels : 1;
    return f;
}

/* Right-aligns an attribute's list; axes that it does not name get `otherwise`. */
static void spread(const assay_list *l, int64_t otherwise, int64_t to[ASSAY_SPATIAL])
{
    for (int i = 0; i < ASSAY_SPATIAL; i++) {
        int from = l->n - ASSAY_SPATIAL + i;
        to[i] = from >= 0 ? l->v[from] : otherwise;
    }
}

static assay_slide slide_of(const assay_graph *g, const assay_node *n, int layout,
                            const assay_list *kernel, const assay_list *stride,
                            const assay_list *dilation, const assay_list *pad_begin,
                            const assay_list *pad_end)
{
    const assay_type *x = &assay_node_in(g, n, 0)->type, *y = &assay_node_out(g, n, 0)->type;
    assay_slide w = {.batch = y->dim[0]};
    w.in = assay_field_of(x, layout);
    w.out = assay_field_of(y, layout);
    spread(kernel, 1, w.kernel);
    spread(stride, 1, w.stride);
    spread(dilation, 1, w.dilation);
    spread(pad_begin, 0, w.pad_begin);
    spread(pad_end, 0, w.pad_end);
    w.kernel_cells = w.kernel[0] * w.kernel[1] * w.kernel[2];
    return w;
}

assay_slide assay_slide_conv(const assay_graph *g, const assay_node *n)
{
    const assay_attr_conv *a = &n->attr.conv;
    return slide_of(g, n, a->layout, &a->kernel, &a->stride, &a->dilation, &a->pad_begin,
                    &a->pad_end);
}

assay_slide assay_slide_pool(const assay_graph *g, const assay_node *n)
{
    const assay_attr_pool *a = &n->attr.pool;
    return slide_of(g, n, a->layout, &a->kernel, &a->stride, &a->dilation, &a->pad_begin,
                    &a->pad_end);
}

assay_slide assay_slide_global(const assay_graph *g, const assay_node *n)
{
    const assay_list none = {.n = 0};
    assay_slide w = slide_of(g, n, n->attr.layout.layout, &none, &none, &none, &none, &none);
    for (int i = 0; i < ASSAY_SPATIAL; i++)
        w.kernel[i] = w.in.extent[i];
    w.kernel_cells = w.in.cells;
    return w;
}

/* A cell's coordinates. */
static void coordinates(const int64_t extent[ASSAY_SPATIAL], int64_t cell,
                        int64_t at[ASSAY_SPATIAL])
{
    at[2] = cell % extent[2];
    at[1] = cell / extent[2] % extent[1];
    at[0] = cell / extent[2] / extent[1];
}

int64_t assay_slide_taps(const assay_slide *w, int64_t cell, int64_t *tap)
{
    int64_t origin[ASSAY_SPATIAL], inside = 0;
    coordinates(w->out.extent, cell, origin);
    for (int i = 0; i < ASSAY_SPATIAL; i++)
        origin[i] = origin[i] * w->stride[i] - w->pad_begin[i];
    for (int64_t k0 = 0; k0 < w->kernel[0]; k0++) {
        int64_t i0 = origin[0] + k0 * w->dilation[0];
        bool in0 = i0 >= 0 && i0 < w->in.extent[0];
        for (int64_t k1 = 0; k1 < w->kernel[1]; k1++) {
            int64_t i1 = origin[1] + k1 * w->dilation[1];
            bool in1 = in0 && i1 >= 0 && i1 < w->in.extent[1];
            for (int64_t k2 = 0; k2 < w->kernel[2]; k2++) {
                int64_t i2 = origin[2] + k2 * w->dilation[2];
                bool in2 = in1 && i2 >= 0 && i2 < w->in.extent[2];
                int64_t in_cell = (i0 * w->in.extent[1] + i1) * w->in.extent[2] + i2;
                *tap++ = in2 ? in_cell * w->in.cell_step : -1;
                inside += in2;
            }
        }
    }
    return inside;
}

int64_t assay_slide_taps_transposed(const assay_slide *w, int64_t cell, int64_t *tap)
{
    int64_t o[ASSAY_SPATIAL], k[ASSAY_SPATIAL], inside = 0;
    coordinates(w->out.extent, cell, o);
    for (int64_t c = 0; c < w->kernel_cells; c++) {
        int64_t in_cell = 0;
        bool valid = true;
        coordinates(w->kernel, c, k);
        for (int i = 0; i < ASSAY_SPATIAL; i++) {
            int64_t from = o[i] + w->pad_begin[i] - k[i] * w->dilation[i];
            int64_t at = from / w->stride[i];
            valid = valid && from >= 0 && from % w->stride[i] == 0 && at < w->in.extent[i];
            in_cell = in_cell * w->in.extent[i] + at;
        }
        tap[c] = valid ? in_cell * w->in.cell_step : -1;
        inside += valid;
    }
    return inside;
}

int64_t assay_slide_padded_count(const assay_slide *w, int64_t cell)
{
    int64_t o[ASSAY_SPATIAL], count = 1;
    coordinates(w->out.extent, cell, o);
    for (int i = 0; i < ASSAY_SPATIAL; i++) {
        int64_t along = 0, end = w->in.extent[i] + w->pad_end[i];
        for (int64_t k = 0; k < w->kernel[i]; k++)
            along += o[i] * w->stride[i] - w->pad_begin[i] + k * w->dilation[i] < end;
        count *= along;
    }
    return count;
}
