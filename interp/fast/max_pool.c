/* Maxima of 8-bit codes under a window, read where they stand: taken of bytes whose order is that
 * of the codes (the sign bit of signed ones flipped); what follows, an activation or a rescale, is
 * a table of the maximum. */
#include <stdlib.h>
#include <string.h>

#include "interp/fast/table.h"
#include "interp/window.h"

typedef struct pool {
    assay_fast base;
    const assay_rows *rows;
    assay_window w;
    bool identity;
    uint8_t flip;       /* from a code's byte to one that sorts as unsigned */
    uint8_t table[256]; /* by flipped maximum */
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

/* A worker's part of the scratch; enough in either layout. */
static size_t down_bytes(const pool *p)
{
    return (size_t)(p->w.in[2] * p->w.in_channels + 63) / 64 * 64;
}

static void look_up(const pool *p, uint8_t *y, int64_t n)
{
    if (!p->identity)
        for (int64_t i = 0; i < n; i++)
            y[i] = p->table[y[i]];
    else if (p->flip)
        for (int64_t i = 0; i < n; i++)
            y[i] ^= p->flip;
}

/* Where kernel cell k of axis i meets the input for output index o, or -1. */
static int64_t meet(const assay_window *w, int i, int64_t o, int64_t k)
{
    const int64_t at = o * w->stride[i] - w->pad[i] + k * w->dilation[i];
    return at >= 0 && at < w->in[i] ? at : -1;
}

/* The maxima of each column under the kernel, for row (o0, o1) of output cells: first down the
 * rows. A cell is `size` bytes. */
static void max_down(const pool *p, const uint8_t *x, int64_t o0, int64_t o1, int64_t size,
                     uint8_t *down)
{
    const assay_window *w = &p->w;
    const int64_t row = w->in[2] * size;
    memset(down, 0, (size_t)row); /* the least, flipped */
    for (int64_t k = 0; k < w->kernel[0] * w->kernel[1]; k++) {
        const int64_t i0 = meet(w, 0, o0, k / w->kernel[1]);
        const int64_t i1 = meet(w, 1, o1, k % w->kernel[1]);
        if (i0 >= 0 && i1 >= 0)
            p->rows->max(x + (i0 * w->in[1] + i1) * row, (size_t)row, p->flip, down);
    }
}

/* Then along them: channels last. */
static void max_along_last(const pool *p, const uint8_t *down, uint8_t *y)
{
    const assay_window *w = &p->w;
    const int64_t channels = w->in_channels;
    for (int64_t o = 0; o < w->out[2]; o++, y += channels) {
        memset(y, 0, (size_t)channels);
        for (int64_t k = 0; k < w->kernel[2]; k++) {
            const int64_t i = meet(w, 2, o, k);
            if (i >= 0)
                p->rows->max(down + i * channels, (size_t)channels, 0, y);
        }
    }
}

/* And of one plane. */
static void max_along_first(const pool *p, const uint8_t *down, uint8_t *y)
{
    const assay_window *w = &p->w;
    for (int64_t o = 0; o < w->out[2]; o++) {
        uint8_t best = 0;
        for (int64_t k = 0; k < w->kernel[2]; k++) {
            const int64_t i = meet(w, 2, o, k);
            if (i >= 0 && best < down[i])
                best = down[i];
        }
        y[o] = best;
    }
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
    const int64_t plane = row / rows, r = row % rows, size = w->nhwc ? w->in_channels : 1;
    const uint8_t *x = (const uint8_t *)k->call->in[0].data + plane * w->in_area * size;
    uint8_t *y = (uint8_t *)k->call->out[0].data + row * w->out[2] * size;
    uint8_t *down = (uint8_t *)k->call->scratch + assay_fast_worker(k->workers) * down_bytes(k->p);
    max_down(k->p, x, r / high, r % high, size, down);
    (w->nhwc ? max_along_last : max_along_first)(k->p, down, y);
    look_up(k->p, y, w->out[2] * size);
}

static assay_status run_max(const assay_fast *f, assay_call *call, assay_error *err)
{
    const pool *p = (const pool *)f;
    const assay_window *w = &p->w;
    const int64_t planes = w->nhwc ? w->batch : w->batch * w->in_channels;
    const int64_t rows = planes * w->out[0] * w->out[1];
    work k = {p, call, assay_fast_threads(f->threads, rows * w->in[2])};
    (void)err;
    assay_fast_each(k.workers, rows, run_row, &k);
    return ASSAY_OK;
}

assay_status assay_fast_max_pool(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    uint8_t by_code[256];
    if (!assay_is_byte(x) || !assay_is_byte(y))
        return ASSAY_OK;
    pool *p = assay_fast_alloc(sizeof *p);
    if (!p)
        return assay_fast_memory(s, err);
    assay_window_of_pool(&p->w, &s->node->attr.pool, x, y);
    p->base = (assay_fast){.run = run_max,
                           .free = free_pool,
                           .threads = s->threads,
                           .layouts = p->w.nhwc ? ASSAY_LAYOUTS_FIXED : ASSAY_LAYOUTS_ALIKE,
                           .arrange = arrange};
    p->rows = s->kernels->rows_of_bytes;
    p->flip = x->elem.is_signed ? 0x80 : 0;
    p->identity = assay_table_bytes(s, x->elem, by_code);
    for (int i = 0; i < 256; i++)
        p->table[i] = by_code[i ^ p->flip];
    p->base.scratch = down_bytes(p) * (size_t)s->threads;
    *out = &p->base;
    return ASSAY_OK;
}
