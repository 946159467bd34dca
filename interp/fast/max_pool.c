/* Maxima of codes of at most 16 bits under a window (max.h), read where they stand. */
#include <stdlib.h>
#include <string.h>

#include "interp/fast/max.h"
#include "interp/kernel/window.h"

typedef struct pool {
    assay_fast base;
    assay_fast_max max;
    assay_window w;
} pool;

static void free_pool(assay_fast *f)
{
    free(f);
}

static void arrange(assay_fast *f, bool in_last, bool out_last)
{
    pool *p = (pool *)f;
    (void)out_last; /* as the input */
    p->w.nhwc = p->w.nhwc || in_last;
}

/* A worker's part of the scratch, enough in either layout: columns' maxima, then a row of windows'.
 */
static size_t down_bytes(const pool *p)
{
    return (size_t)(p->w.in[2] * p->w.in_channels * p->max.size + 63) / 64 * 64;
}

static size_t worker_bytes(const pool *p)
{
    const size_t along = (size_t)(p->w.out[2] * p->w.in_channels * p->max.size + 63) / 64 * 64;
    return down_bytes(p) + along;
}

/* Where kernel cell k of axis i meets the input for output index o, or -1. */
static int64_t meet(const assay_window *w, int i, int64_t o, int64_t k)
{
    const int64_t at = o * w->stride[i] - w->pad[i] + k * w->dilation[i];
    return at >= 0 && at < w->in[i] ? at : -1;
}

/* The maxima of each column under the kernel, for row (o0, o1) of output cells: first down the
 * rows. A cell is `n` codes. */
static void max_down(const pool *p, const char *x, int64_t o0, int64_t o1, int64_t n, char *down)
{
    const assay_window *w = &p->w;
    const int64_t row = w->in[2] * n, bytes = row * p->max.size;
    memset(down, 0, (size_t)bytes); /* the least, flipped */
    for (int64_t k = 0; k < w->kernel[0] * w->kernel[1]; k++) {
        const int64_t i0 = meet(w, 0, o0, k / w->kernel[1]);
        const int64_t i1 = meet(w, 1, o1, k % w->kernel[1]);
        if (i0 >= 0 && i1 >= 0)
            fast_max_row(&p->max, x + (i0 * w->in[1] + i1) * bytes, false, row, down);
    }
}

/* Then along them: channels last. */
static void max_along_last(const pool *p, const char *down, char *along)
{
    const assay_window *w = &p->w;
    const int64_t channels = w->in_channels, cell = channels * p->max.size;
    memset(along, 0, (size_t)(w->out[2] * cell));
    for (int64_t o = 0; o < w->out[2]; o++, along += cell)
        for (int64_t k = 0; k < w->kernel[2]; k++) {
            const int64_t i = meet(w, 2, o, k);
            if (i >= 0)
                fast_max_row(&p->max, down + i * cell, true, channels, along);
        }
}

#define ALONG_FIRST(T)                                                                             \
    for (int64_t o = 0; o < w->out[2]; o++) {                                                      \
        T best = 0;                                                                                \
        for (int64_t k = 0; k < w->kernel[2]; k++) {                                               \
            const int64_t i = meet(w, 2, o, k);                                                    \
            if (i >= 0 && best < ((const T *)down)[i])                                             \
                best = ((const T *)down)[i];                                                       \
        }                                                                                          \
        ((T *)along)[o] = best;                                                                    \
    }

/* And of one plane. */
static void max_along_first(const pool *p, const void *down, void *along)
{
    const assay_window *w = &p->w;
    if (p->max.size == 1)
        ALONG_FIRST(uint8_t)
    else
        ALONG_FIRST(uint16_t)
}

typedef struct work {
    const pool *p;
    assay_call *call;
    int workers;
} work;

/* One row of output cells of an image, or of a plane. */
static void run_row(void *user, int64_t row)
{
    const work *k = user;
    const assay_window *w = &k->p->w;
    const int64_t rows = w->out[0] * w->out[1], high = w->out[1];
    const int64_t plane = row / rows, r = row % rows, n = w->nhwc ? w->in_channels : 1;
    const char *x = (const char *)k->call->in[0].data + plane * w->in_area * n * k->p->max.size;
    char *down = (char *)k->call->scratch + fast_worker(k->workers) * worker_bytes(k->p);
    char *along = down + down_bytes(k->p);
    max_down(k->p, x, r / high, r % high, n, down);
    if (w->nhwc)
        max_along_last(k->p, down, along);
    else
        max_along_first(k->p, down, along);
    fast_max_finish(&k->p->max, k->call, along, w->out[2] * n, row * w->out[2] * n);
}

static assay_status run_max(const assay_fast *f, assay_call *call, assay_error *err)
{
    const pool *p = (const pool *)f;
    const assay_window *w = &p->w;
    const int64_t planes = w->nhwc ? w->batch : w->batch * w->in_channels;
    const int64_t rows = planes * w->out[0] * w->out[1];
    work k = {p, call, fast_threads(f->threads, rows * w->in[2])};
    (void)err;
    fast_each(k.workers, rows, run_row, &k);
    return ASSAY_OK;
}

assay_status fast_max_pool(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    assay_fast_max max;
    if (!fast_max_make(s, false, &max))
        return ASSAY_OK;
    pool *p = fast_alloc(sizeof *p);
    if (!p)
        return fast_memory(s, err);
    p->max = max;
    kernel_window_of_pool(&p->w, &s->node->attr.pool, x, y);
    p->base = (assay_fast){.run = run_max,
                           .free = free_pool,
                           .threads = s->threads,
                           .layouts = p->w.nhwc ? ASSAY_LAYOUTS_FIXED : ASSAY_LAYOUTS_ALIKE,
                           .arrange = arrange};
    p->base.scratch = worker_bytes(p) * (size_t)s->threads;
    *out = &p->base;
    return ASSAY_OK;
}
