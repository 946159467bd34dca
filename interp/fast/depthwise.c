#include "interp/fast/depthwise.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = ASSAY_DEPTHWISE,
    GROUP = 4,  /* taps of a unit of bytes */
    BLOCKS = 8, /* that are narrowed at once */
};

/* Cells that share a block: where windows follow each other cell by cell, so do the bytes under one
 * tap, and a block holds as many cells as fill it. */
static int64_t cells_of(const assay_window *w)
{
    return w->stride[2] == 1 && w->in_channels < BLOCK && BLOCK % w->in_channels == 0
               ? BLOCK / w->in_channels
               : 1;
}

/* A kernel of one row is one column of its taps: they fill units. Else columns run down the
 * kernel's last axis. */
static void find_columns(const assay_window *w, const int32_t *run, assay_depthwise *d)
{
    const int64_t down = w->kernel[0] * w->kernel[1];
    const bool one_row = down == 1;
    const int64_t taps = one_row ? w->taps : down, width = one_row ? 1 : w->kernel[2];
    const int64_t groups = (taps + GROUP - 1) / GROUP;
    const bool shared = w->dilation[2] == 1 && !one_row;
    for (int64_t t = 0; t < groups * GROUP; t++)
        d->tap[t] = run[t < taps ? t * width : 0];
    d->columns = (assay_columns){.tap = d->tap,
                                 .n_groups = (int)groups,
                                 .width = (int)width,
                                 .stride = (int)(w->stride[2] * d->cells),
                                 .column_step = w->dilation[2] * w->in_channels,
                                 .three = groups == 1 && taps != GROUP};
    d->window_step = w->stride[2] * w->in_channels;
    d->windows = shared && d->columns.stride < width ? d->cells * ASSAY_CELLS : d->cells;
}

/* Where the weight of tap k, channel c of a block stands. */
static int64_t packed_at(const assay_depthwise *d, int64_t k, int64_t c)
{
    if (!d->form.bytes)
        return (k * BLOCK + c) * d->form.element;
    const int64_t width = d->columns.width, tap = k / width, column = k % width;
    return ((tap / GROUP * width + column) * BLOCK + c) * ASSAY_UNIT + tap % GROUP;
}

static void pack_filter(const assay_depthwise *d, const int32_t *filter, char *block, int64_t lane)
{
    for (int64_t k = 0; k < d->n_taps; k++) {
        char *to = block + packed_at(d, k, lane);
        if (d->form.bytes)
            *(int8_t *)to = (int8_t)filter[k];
        else
            memcpy(to, &(int16_t){(int16_t)filter[k]}, sizeof(int16_t));
    }
}

assay_status assay_depthwise_make(const assay_fast_setup *s, const assay_filters *f,
                                  const assay_window *w, const assay_form *form, const int32_t *run,
                                  assay_depthwise *d, assay_error *err)
{
    const int64_t cells = f->cells, blocks = (f->outputs + BLOCK - 1) / BLOCK;
    int32_t *row = malloc((size_t)cells * sizeof *row);
    *d = (assay_depthwise){
        .kernels = s->kernels, .form = *form, .channels = f->outputs, .n_taps = cells};
    d->tap = assay_fast_alloc((size_t)(cells * GROUP) * sizeof *d->tap);
    d->cells = form->bytes ? cells_of(w) : 1;
    if (d->tap && form->bytes)
        find_columns(w, run, d);
    else if (d->tap)
        memcpy(d->tap, run, (size_t)cells * sizeof *run);
    d->block_bytes = form->bytes
                         ? (int64_t)d->columns.n_groups * d->columns.width * BLOCK * ASSAY_UNIT
                         : cells * BLOCK * form->element;
    d->packed = assay_fast_alloc((size_t)(blocks * d->block_bytes));
    d->start = assay_fast_alloc((size_t)(blocks * BLOCK) * sizeof *d->start);
    if (!row || !d->tap || !d->packed || !d->start) {
        free(row);
        assay_depthwise_free(d);
        return assay_fast_memory(s, err);
    }
    for (int64_t c = 0; c < f->outputs; c++) {
        assay_filter_load(f, c, row);
        for (int64_t i = 0; i < d->cells; i++) {
            const int64_t lane = i * f->outputs + c;
            d->start[lane] = assay_filter_start(f, form, c, row);
            pack_filter(d, row, d->packed + lane / BLOCK * d->block_bytes, lane % BLOCK);
        }
    }
    free(row);
    return ASSAY_OK;
}

void assay_depthwise_free(assay_depthwise *d)
{
    free(d->tap);
    free(d->packed);
    free(d->start);
    d->tap = d->start = NULL;
    d->packed = NULL;
}

/* How many of the n windows from row[0] on, at most those of one call, stand side by side. */
static int64_t neighbours(const assay_depthwise *d, const int32_t *row, int64_t n)
{
    int64_t i = 1;
    while (i < n && i < d->windows && row[i] - row[i - 1] == d->window_step)
        i++;
    return i;
}

/* Accumulators of one output cell in a block. */
static int64_t cell_lanes(const assay_depthwise *d)
{
    return BLOCK / d->cells;
}

static void run_words(const assay_depthwise *d, const char *left, const int32_t *row, int64_t rows,
                      int64_t block, int32_t *acc)
{
    assay_taps t = {.tap = d->tap,
                    .n_taps = d->n_taps,
                    .right = d->packed + block * d->block_bytes,
                    .start = d->start + block * BLOCK};
    for (int64_t i = 0; i < rows; i++) {
        t.left = left + row[i];
        t.acc = acc + i * BLOCK;
        d->kernels->word_taps(&t);
    }
}

/* The last block of neighbours may hold cells that are none: what follows is written after it. */
static void run_bytes(const assay_depthwise *d, const char *left, const int32_t *row, int64_t rows,
                      int64_t block, int32_t *acc)
{
    assay_columns t = d->columns;
    t.right = d->packed + block * d->block_bytes;
    t.start = d->start + block * BLOCK;
    for (int64_t i = 0, n; i < rows; i += n) {
        n = neighbours(d, row + i, rows - i);
        t.left = left + row[i];
        t.acc = acc + i * cell_lanes(d);
        d->kernels->byte_columns(&t, (int)((n + d->cells - 1) / d->cells));
    }
}

typedef struct work {
    const assay_depthwise *d;
    const char *left;
    const int32_t *row;
    int64_t rows;
    const assay_sink *sink;
} work;

static void run_block(const work *k, int64_t from, int64_t to, int64_t block)
{
    const assay_depthwise *d = k->d;
    int32_t acc[(BLOCKS + 1) * BLOCK];
    const int64_t channel = block * BLOCK, rest = d->channels - channel;
    const char *first = k->left + channel * d->form.element;
    (d->form.bytes ? run_bytes : run_words)(d, first, k->row + from, to - from, block, acc);
    assay_sink_take(k->sink, acc, cell_lanes(d), from, (int)(to - from), channel,
                    (int)(rest < BLOCK ? rest : BLOCK));
}

/* Some rows, all channels. */
static void run_part(void *user, int64_t i)
{
    const work *k = user;
    const int64_t part = BLOCKS * k->d->cells, from = i * part;
    const int64_t to = from + part < k->rows ? from + part : k->rows;
    for (int64_t block = 0; block * BLOCK < k->d->channels; block++)
        run_block(k, from, to, block);
}

void assay_depthwise_run(const assay_depthwise *d, const char *left, const int32_t *row,
                         int64_t rows, const assay_sink *sink, int threads)
{
    const int64_t part = BLOCKS * d->cells;
    work k = {d, left, row, rows, sink};
    assay_fast_each(assay_fast_threads(threads, rows * d->channels * d->n_taps / 16),
                    (rows + part - 1) / part, run_part, &k);
}
