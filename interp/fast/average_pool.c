/* Averages of codes of at most 16 bits under a window: exact sums, in longer rows than the
 * reference's. */
#include <stdlib.h>
#include <string.h>

#include "interp/fast/sums.h"
#include "interp/ref/ref.h"
#include "interp/ref/slide.h"

typedef struct average {
    assay_fast base;
    assay_window w;
    bool include_pad;
    assay_elem elem;
    assay_fast_sums sums;
} average;

static void free_average(assay_fast *f)
{
    average *p = (average *)f;
    fast_sums_free(&p->sums);
    free(p);
}

static void arrange(assay_fast *f, bool in_last, bool out_last)
{
    average *p = (average *)f;
    (void)out_last; /* as the input, or a single cell, which is both */
    p->w.nhwc = p->w.nhwc || in_last;
}

typedef struct average_scratch {
    int64_t *tap, *sum;
    int32_t *count, *y, *partial;
    int32_t *padding; /* by cell: what cells of padding that count add to its sum */
} average_scratch;

static size_t carve(const average *p, char *memory, average_scratch *s)
{
    const int64_t c = p->w.in_channels, n = c > p->w.out_area ? c : p->w.out_area; /* either way */
    size_t used = 0;
    s->tap = ref_carve(memory, &used, p->w.taps, sizeof *s->tap);
    s->sum = ref_carve(memory, &used, n, sizeof *s->sum);
    s->count = ref_carve(memory, &used, n, sizeof *s->count);
    s->y = ref_carve(memory, &used, n, sizeof *s->y);
    s->partial = ref_carve(memory, &used, n > p->w.in[2] ? n : p->w.in[2], sizeof *s->partial);
    s->padding = ref_carve(memory, &used, p->w.out_area, sizeof *s->padding);
    return used;
}

/* Cell by cell, all channels of one at a time. */
static void average_last(const average *p, assay_call *call, int64_t image,
                         const average_scratch *s)
{
    const assay_window *w = &p->w;
    const int64_t channels = w->in_channels, size = (int64_t)assay_elem_size(p->elem);
    const char *x = (const char *)call->in[0].data + image * kernel_strides_in(w).image * size;
    const int32_t zx = ref_zero_point(call->in[0].type, 0);
    for (int64_t cell = 0; cell < w->out_area; cell++) {
        const int64_t inside = ref_slide_taps(w, cell, s->tap);
        const int64_t count = p->include_pad ? ref_slide_padded_count(w, cell) : inside;
        memset(s->partial, 0, (size_t)channels * sizeof *s->partial);
        for (int64_t k = 0; k < w->taps; k++)
            if (s->tap[k] >= 0)
                fast_sums_add(&p->sums, p->elem, x + s->tap[k] * size, (size_t)channels,
                              s->partial);
        for (int64_t c = 0; c < channels; c++) {
            s->sum[c] = s->partial[c] + (count - inside) * zx;
            s->count[c] = (int32_t)count;
        }
        fast_sums_finish(&p->sums, call, image * kernel_strides_out(w).image + cell * channels,
                         (size_t)channels, s->sum, s->count, s->y);
    }
}

/* How many codes each cell's window holds, the same in every plane. */
static void count_cells(const average *p, const assay_call *call, const average_scratch *s)
{
    const int32_t zx = ref_zero_point(call->in[0].type, 0);
    for (int64_t cell = 0; cell < p->w.out_area; cell++) {
        const int64_t inside = ref_slide_taps(&p->w, cell, s->tap);
        const int64_t count = p->include_pad ? ref_slide_padded_count(&p->w, cell) : inside;
        s->count[cell] = (int32_t)count;
        s->padding[cell] = (int32_t)((count - inside) * zx);
    }
}

/* Where kernel cell k of axis i meets the input for output index o, or -1. */
static int64_t meet(const assay_window *w, int i, int64_t o, int64_t k)
{
    const int64_t at = o * w->stride[i] - w->pad[i] + k * w->dilation[i];
    return at >= 0 && at < w->in[i] ? at : -1;
}

/* The sums of row (o0, o1) of output cells of plane x: down the rows under the kernel first. */
static void sum_cells(const average *p, const char *x, int64_t o0, int64_t o1,
                      const average_scratch *s, int64_t *sum)
{
    const assay_window *w = &p->w;
    const int64_t row = w->in[2] * (int64_t)assay_elem_size(p->elem);
    memset(s->partial, 0, (size_t)w->in[2] * sizeof *s->partial);
    for (int64_t k = 0; k < w->kernel[0] * w->kernel[1]; k++) {
        const int64_t i0 = meet(w, 0, o0, k / w->kernel[1]);
        const int64_t i1 = meet(w, 1, o1, k % w->kernel[1]);
        if (i0 >= 0 && i1 >= 0)
            fast_sums_add(&p->sums, p->elem, x + (i0 * w->in[1] + i1) * row, (size_t)w->in[2],
                          s->partial);
    }
    for (int64_t o = 0; o < w->out[2]; o++)
        for (int64_t k = 0; k < w->kernel[2]; k++) {
            const int64_t i = meet(w, 2, o, k);
            sum[o] += i >= 0 ? s->partial[i] : 0;
        }
}

/* Plane by plane, all cells of one at a time. */
static void average_first(const average *p, assay_call *call, int64_t image,
                          const average_scratch *s)
{
    const assay_window *w = &p->w;
    const int64_t size = (int64_t)assay_elem_size(p->elem);
    for (int64_t c = 0; c < w->in_channels; c++) {
        const char *x = (const char *)call->in[0].data +
                        (image * kernel_strides_in(w).image + c * w->in_area) * size;
        for (int64_t cell = 0; cell < w->out_area; cell++)
            s->sum[cell] = s->padding[cell];
        if (w->out_area == 1 && s->count[0] == w->in_area && !p->include_pad)
            s->sum[0] = fast_sums_total(&p->sums, p->elem, x, (size_t)w->in_area);
        else
            for (int64_t r = 0; r < w->out[0] * w->out[1]; r++)
                sum_cells(p, x, r / w->out[1], r % w->out[1], s, s->sum + r * w->out[2]);
        fast_sums_finish(&p->sums, call, image * kernel_strides_out(w).image + c * w->out_area,
                         (size_t)w->out_area, s->sum, s->count, s->y);
    }
}

static assay_status run_average(const assay_fast *f, assay_call *call, assay_error *err)
{
    const average *p = (const average *)f;
    average_scratch s;
    (void)err;
    carve(p, call->scratch, &s);
    if (!p->w.nhwc)
        count_cells(p, call, &s);
    for (int64_t n = 0; n < p->w.batch; n++)
        if (p->w.nhwc)
            average_last(p, call, n, &s);
        else
            average_first(p, call, n, &s);
    return ASSAY_OK;
}

static void find_window(const assay_fast_setup *s, average *p)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    if (s->node->op == ASSAY_OP_GLOBAL_AVG_POOL) { /* one window that covers the image */
        kernel_window_of_layout(&p->w, s->node->attr.layout.layout, x, y);
        memcpy(p->w.kernel, p->w.in, sizeof p->w.kernel);
        p->w.taps = p->w.in_area;
        p->base.layouts = ASSAY_LAYOUTS_FREE;
    } else {
        kernel_window_of_pool(&p->w, &s->node->attr.pool, x, y);
        p->include_pad = s->node->attr.pool.count_include_pad;
        p->base.layouts = ASSAY_LAYOUTS_ALIKE;
    }
    if (p->w.nhwc)
        p->base.layouts = ASSAY_LAYOUTS_FIXED;
    p->elem = x->elem;
}

/* Partial sums are int32: windows of so many cells that they might not hold them are the
 * reference's. */
assay_status fast_avg_pool(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    average_scratch unused;
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    if (!fast_sums_has(x) || fast_sums_ordered(s))
        return ASSAY_OK;
    average *p = fast_alloc(sizeof *p);
    if (!p)
        return fast_memory(s, err);
    p->base = (assay_fast){
        .run = run_average, .free = free_average, .threads = s->threads, .arrange = arrange};
    find_window(s, p);
    if (p->w.taps > fast_sums_max(x)) {
        free_average(&p->base);
        return ASSAY_OK;
    }
    const int64_t outputs = p->w.batch * p->w.in_channels * p->w.out_area;
    assay_status status = fast_sums_make(s, p->w.taps, outputs, &p->sums, err);
    if (status) {
        free_average(&p->base);
        return status;
    }
    p->base.scratch = carve(p, NULL, &unused);
    *out = &p->base;
    return ASSAY_OK;
}
