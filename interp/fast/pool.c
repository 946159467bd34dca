/* Pooling of 8-bit codes, read where they stand.
 *
 * Maxima are taken of bytes whose order is that of the codes (the sign bit of signed ones flipped);
 * what follows, an activation or a rescale, is a table of the maximum. Averages are exact sums that
 * the scheme settles and divides, in longer rows than the reference's. */
#include <stdlib.h>
#include <string.h>

#include "interp/fast/fast.h"
#include "interp/ref/ref.h"
#include "interp/ref/slide.h"

typedef struct pool {
    assay_fast base;
    assay_window w;
    bool identity, include_pad;
    uint8_t flip;       /* from a code's byte to one that sorts as unsigned */
    uint8_t table[256]; /* by flipped maximum */
} pool;

static void free_pool(assay_fast *f)
{
    free(f);
}

/* A network that is channels last already. */
static bool is_last(const assay_fast_setup *s)
{
    const assay_attrs *a = &s->node->attr;
    return (s->node->op == ASSAY_OP_GLOBAL_AVG_POOL ? a->layout.layout : a->pool.layout) ==
           ASSAY_LAYOUT_NHWC;
}

static void arrange(assay_fast *f, bool in_last, bool out_last)
{
    pool *p = (pool *)f;
    (void)out_last; /* as the input, or a single cell, which is both */
    p->w.nhwc = p->w.nhwc || in_last;
}

static assay_status make(const assay_fast_setup *s, pool **out, assay_error *err)
{
    pool *p = assay_fast_alloc(sizeof *p);
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    bool global = s->node->op == ASSAY_OP_GLOBAL_AVG_POOL;
    if (!p)
        return assay_fast_memory(s, err);
    p->base = (assay_fast){.free = free_pool, .threads = s->threads};
    if (!is_last(s))
        p->base.layouts = global ? ASSAY_LAYOUTS_FREE : ASSAY_LAYOUTS_ALIKE;
    p->base.arrange = arrange;
    if (global) { /* one window that covers the image */
        assay_window_of_layout(&p->w, s->node->attr.layout.layout, x, y);
        memcpy(p->w.kernel, p->w.in, sizeof p->w.kernel);
        p->w.taps = p->w.in_area;
    } else {
        assay_window_of_pool(&p->w, &s->node->attr.pool, x, y);
    }
    p->include_pad = !global && s->node->attr.pool.count_include_pad;
    p->flip = x->elem.is_signed ? 0x80 : 0;
    *out = p;
    return ASSAY_OK;
}

static bool takes(const assay_fast_setup *s)
{
    return assay_is_byte(&assay_node_in(s->graph, s->node, 0)->type) &&
           assay_is_byte(&assay_node_out(s->graph, s->node, 0)->type);
}

/* ---- maxima ---- */

/* best[i] = the greater of best[i] and x[i], flipped. */
static void take_max(uint8_t *best, const uint8_t *x, int64_t n, uint8_t flip)
{
    for (int64_t i = 0; i < n; i++) {
        const uint8_t v = x[i] ^ flip;
        best[i] = best[i] > v ? best[i] : v;
    }
}

static void look_up(const pool *p, uint8_t *y, int64_t n)
{
    if (p->identity && p->flip == 0)
        return;
    for (int64_t i = 0; i < n; i++)
        y[i] = p->table[y[i]];
}

/* Where kernel cell k of axis i meets the input for output index o, or -1. */
static int64_t meet(const assay_window *w, int i, int64_t o, int64_t k)
{
    const int64_t at = o * w->stride[i] - w->pad[i] + k * w->dilation[i];
    return at >= 0 && at < w->in[i] ? at : -1;
}

/* One row of output cells, channels last: x and y are images. */
static void max_row_last(const pool *p, const uint8_t *x, int64_t o0, int64_t o1, uint8_t *y)
{
    const assay_window *w = &p->w;
    const int64_t channels = w->in_channels, width = w->out[2];
    y += (o0 * w->out[1] + o1) * width * channels;
    for (int64_t o2 = 0; o2 < width; o2++, y += channels) {
        memset(y, 0, (size_t)channels); /* the least, flipped */
        for (int64_t k = 0; k < w->taps; k++) {
            const int64_t i0 = meet(w, 0, o0, k / w->kernel[2] / w->kernel[1]);
            const int64_t i1 = meet(w, 1, o1, k / w->kernel[2] % w->kernel[1]);
            const int64_t i2 = meet(w, 2, o2, k % w->kernel[2]);
            if (i0 >= 0 && i1 >= 0 && i2 >= 0)
                take_max(y, x + ((i0 * w->in[1] + i1) * w->in[2] + i2) * channels, channels,
                         p->flip);
        }
        look_up(p, y, channels);
    }
}

/* One row of output cells of a plane: first down the rows under the kernel, then along. */
static void max_row_first(const pool *p, const uint8_t *x, int64_t o0, int64_t o1, uint8_t *y,
                          uint8_t *down)
{
    const assay_window *w = &p->w;
    const int64_t width = w->in[2], n = w->out[2];
    memset(down, 0, (size_t)width);
    for (int64_t k = 0; k < w->kernel[0] * w->kernel[1]; k++) {
        const int64_t i0 = meet(w, 0, o0, k / w->kernel[1]);
        const int64_t i1 = meet(w, 1, o1, k % w->kernel[1]);
        if (i0 >= 0 && i1 >= 0)
            take_max(down, x + (i0 * w->in[1] + i1) * width, width, p->flip);
    }
    y += (o0 * w->out[1] + o1) * n;
    for (int64_t o = 0; o < n; o++) {
        uint8_t best = 0;
        for (int64_t k = 0; k < w->kernel[2]; k++) {
            const int64_t i = meet(w, 2, o, k);
            if (i >= 0 && best < down[i])
                best = down[i];
        }
        y[o] = best;
    }
    look_up(p, y, n);
}

static assay_status run_max(const assay_fast *f, assay_call *call, assay_error *err)
{
    const pool *p = (const pool *)f;
    const assay_window *w = &p->w;
    const int64_t rows = w->out[0] * w->out[1], high = w->out[1];
    const int64_t planes = p->w.nhwc ? w->batch : w->batch * w->in_channels;
    const int64_t in = assay_steps_in(w).image * w->batch / planes,
                  out = assay_steps_out(w).image * w->batch / planes;
    const int workers = assay_fast_threads(f->threads, planes * rows * w->in[2]);
    (void)err;
#pragma omp parallel for collapse(2) schedule(static) num_threads(workers) if (workers > 1)
    for (int64_t i = 0; i < planes; i++)
        for (int64_t r = 0; r < rows; r++) {
            const uint8_t *x = (const uint8_t *)call->in[0].data + i * in;
            uint8_t *y = (uint8_t *)call->out[0].data + i * out;
            if (p->w.nhwc)
                max_row_last(p, x, r / high, r % high, y);
            else
                max_row_first(p, x, r / high, r % high, y,
                              (uint8_t *)call->scratch + (i * rows + r) * w->in[2]);
        }
    return ASSAY_OK;
}

assay_status assay_fast_max_pool(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    uint8_t by_code[256];
    pool *p;
    if (!takes(s))
        return ASSAY_OK;
    assay_status status = make(s, &p, err);
    if (status != ASSAY_OK)
        return status;
    p->identity = assay_fast_table(s, assay_node_in(s->graph, s->node, 0)->type.elem, by_code);
    for (int i = 0; i < 256; i++)
        p->table[i] = by_code[i ^ p->flip];
    p->base.run = run_max;
    if (!p->w.nhwc)
        p->base.scratch =
            (size_t)(p->w.batch * p->w.in_channels * p->w.out[0] * p->w.out[1] * p->w.in[2]);
    *out = &p->base;
    return ASSAY_OK;
}

/* ---- averages ---- */

typedef struct average_scratch {
    int64_t *tap, *sum;
    int32_t *count, *y, *partial;
} average_scratch;

static size_t carve(const pool *p, char *memory, average_scratch *s)
{
    const int64_t c = p->w.in_channels, n = c > p->w.out_area ? c : p->w.out_area; /* either way */
    size_t used = 0;
    s->tap = assay_carve(memory, &used, p->w.taps, sizeof *s->tap);
    s->sum = assay_carve(memory, &used, n, sizeof *s->sum);
    s->count = assay_carve(memory, &used, n, sizeof *s->count);
    s->y = assay_carve(memory, &used, n, sizeof *s->y);
    s->partial = assay_carve(memory, &used, n, sizeof *s->partial);
    return used;
}

/* The sum of n consecutive codes. */
static int64_t sum_codes(const uint8_t *x, int64_t n, uint8_t flip)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (uint8_t)(x[i] ^ flip);
    return (int64_t)sum - n * flip;
}

/* Cell by cell, all channels of one at a time. */
static void average_last(const pool *p, assay_call *call, int64_t image, const average_scratch *s)
{
    const assay_window *w = &p->w;
    const uint8_t *x = (const uint8_t *)call->in[0].data + image * assay_steps_in(w).image;
    const int64_t channels = w->in_channels;
    const int32_t zx = assay_zero_point(call->in[0].type, 0);
    for (int64_t cell = 0; cell < w->out_area; cell++) {
        const int64_t inside = assay_slide_taps(w, cell, s->tap);
        const int64_t count = p->include_pad ? assay_slide_padded_count(w, cell) : inside;
        memset(s->partial, 0, (size_t)channels * sizeof *s->partial);
        for (int64_t k = 0; k < w->taps; k++)
            for (int64_t c = 0; s->tap[k] >= 0 && c < channels; c++)
                s->partial[c] += x[s->tap[k] + c] ^ p->flip;
        for (int64_t c = 0; c < channels; c++) {
            s->sum[c] = s->partial[c] - inside * p->flip + (count - inside) * zx;
            s->count[c] = (int32_t)count;
        }
        assay_finish_pool(call, image * assay_steps_out(w).image + cell * channels, 1,
                          (size_t)channels, s->sum, s->count, s->y);
    }
}

/* Plane by plane, all cells of one at a time. */
static void average_first(const pool *p, assay_call *call, int64_t image, const average_scratch *s)
{
    const assay_window *w = &p->w;
    const bool whole = w->taps == w->in_area && w->out_area == 1 && !p->include_pad;
    const int32_t zx = assay_zero_point(call->in[0].type, 0);
    for (int64_t c = 0; c < w->in_channels; c++) {
        const uint8_t *x =
            (const uint8_t *)call->in[0].data + image * assay_steps_in(w).image + c * w->in_area;
        for (int64_t cell = 0; cell < w->out_area; cell++) {
            const int64_t inside = assay_slide_taps(w, cell, s->tap);
            const int64_t count = p->include_pad ? assay_slide_padded_count(w, cell) : inside;
            int64_t sum = (count - inside) * zx;
            if (whole && inside == w->in_area)
                sum = sum_codes(x, inside, p->flip);
            else
                for (int64_t k = 0; k < w->taps; k++)
                    if (s->tap[k] >= 0)
                        sum += (x[s->tap[k]] ^ p->flip) - p->flip;
            s->sum[cell] = sum;
            s->count[cell] = (int32_t)count;
        }
        assay_finish_pool(call, image * assay_steps_out(w).image + c * w->out_area, 1,
                          (size_t)w->out_area, s->sum, s->count, s->y);
    }
}

static assay_status run_average(const assay_fast *f, assay_call *call, assay_error *err)
{
    const pool *p = (const pool *)f;
    average_scratch s;
    (void)err;
    carve(p, call->scratch, &s);
    for (int64_t n = 0; n < p->w.batch; n++)
        if (p->w.nhwc)
            average_last(p, call, n, &s);
        else
            average_first(p, call, n, &s);
    return ASSAY_OK;
}

/* Whether the scheme adds the cells of a window in their order. */
static bool is_ordered(const assay_fast_setup *s)
{
    return s->vt->size > offsetof(assay_scheme_vtable, window) && s->vt->window &&
           s->vt->window(s->unit, NULL, 0, 0, NULL);
}

/* Partial sums are int32: windows of 2^23 cells and more are the reference's. */
assay_status assay_fast_avg_pool(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    average_scratch unused;
    pool *p;
    if (!takes(s) || is_ordered(s))
        return ASSAY_OK;
    assay_status status = make(s, &p, err);
    if (status != ASSAY_OK)
        return status;
    if (p->w.taps >= INT32_MAX / 256) {
        free_pool(&p->base);
        return ASSAY_OK;
    }
    p->base.run = run_average;
    p->base.scratch = carve(p, NULL, &unused);
    *out = &p->base;
    return ASSAY_OK;
}
